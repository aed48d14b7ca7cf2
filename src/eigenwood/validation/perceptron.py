"""The checks of what perceptrons are asked for, and of the numbers in their model files."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from eigenwood.errors import InputError

LAST, AVERAGED, VOTED = VOTES = ("last", "averaged", "voted")


def check_batch_weights(class_weight: Any) -> None:
    """Raise where the weights of classes need all rows, of which ``partial_fit`` has some."""
    if isinstance(class_weight, str):
        raise InputError(
            f"Perceptron: class_weight must be None or a dict in partial_fit; got {class_weight!r}, which needs all "
            "rows."
        )


def held_out_rows(codes: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from and those held out, with the same share of every class."""
    try:
        learn, held_out = train_test_split(
            np.arange(codes.size), test_size=fraction, stratify=codes, random_state=int(seed)
        )
    except ValueError as problem:
        reason = str(problem).split(". ")[0].rstrip(".")
        raise InputError(f"Perceptron: early_stopping needs more rows of every class; {reason}.") from problem
    return learn, held_out


def check_budget(max_support: int | None, vote: str) -> None:
    """Raise where only some examples are to be kept, but the rules along the way need every one."""
    if max_support is not None and vote != LAST:
        raise InputError(
            f"KernelPerceptron: max_support must be None unless vote='last'; got {max_support} with vote={vote!r}, "
            "whose rules along the way need every example."
        )


def check_history(vote: str, history: dict[str, np.ndarray | None], n_presented: float) -> None:
    """Raise unless a model file has the changes one by one, in their order, where and only where they vote."""
    missing = [name for name in sorted(history) if history[name] is None]
    if vote == VOTED and missing:
        raise InputError(f"KernelPerceptron: {missing[0]} must be there; got nothing.")
    if vote != VOTED and len(missing) < len(history):
        raise InputError(f"KernelPerceptron: there must be no history unless vote is 'voted'; got {vote!r}.")
    if vote == VOTED:
        changes, _, times = history["history_changes_"].T  # type: ignore[union-attr]
        if not changes.all() or (np.diff(times, prepend=0.0, append=n_presented) < 0.0).any():
            raise InputError("KernelPerceptron: history_changes_ must be changes in the order of their times.")
