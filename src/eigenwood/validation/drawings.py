"""Checks of what a drawing of a tree is asked for; ``who`` is the function that was called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.errors import InputError


def check_drawable(who: str, n_outputs: int, class_lists: Sequence[np.ndarray], rows: Any) -> None:
    """Raise unless dtreeviz can draw a tree and coded rows: one output, several classes, no missing numbers."""
    if n_outputs != 1:
        raise InputError(f"{who}: the model must have 1 output; got {n_outputs}.")
    if [labels.size for labels in class_lists] == [1]:
        raise InputError(f"{who}: the model must have at least 2 classes; got 1.")
    numbers = rows.data if sparse.issparse(rows) else rows
    if np.isnan(numbers).any():
        raise InputError(
            f"{who}: X must have no missing numbers, which dtreeviz cannot draw (plots.tree can); got NaN."
        )


def check_name_count(who: str, what: str, names: Sequence[str], n: int, of: str) -> None:
    """Raise unless there is one name for each of ``n`` columns or classes."""
    if len(names) != n:
        raise InputError(f"{who}: {what} must have one for each of {n} {of}; got {len(names)}.")


def check_row_length(who: str, values: Sequence[Any], n_columns: int) -> None:
    """Raise unless a row has a value for each column."""
    if len(values) != n_columns:
        raise InputError(f"{who}: x must be a row of {n_columns} values; got {len(values)}.")


def check_drawn_category(who: str, value: Any, drawn: np.ndarray, name: str) -> None:
    """Raise unless a category is among those that were drawn for a question."""
    if value not in drawn:
        raise InputError(
            f"{who}: x must have categories that are among the drawn rows, or use fancy=False; "
            f"got {value!r} in {name!r}."
        )


def check_axes(who: str, chosen: Sequence[str], columns_of_numbers: Sequence[str]) -> None:
    """Raise unless the chosen columns can be the axes of a drawing."""
    if not chosen or not set(chosen) <= set(columns_of_numbers):
        raise InputError(f"{who}: features must be columns of numbers to be axes; got {list(chosen)}.")
