"""Rows held out, and when boosting stops: once the score on them rises no more. The best round is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.core.distinct import fingerprints
from eigenwood.core.rows import rows_of
from eigenwood.estimators.boosting.input_checks import BoostData
from eigenwood.validation.boosting import check_held_out


def row_marks(data: BoostData) -> np.ndarray:
    """Return 64 bits for each row that follow from its numbers and its target."""
    return fingerprints(rows_of(data.mixed.X), (data.y + 0.0).view(np.int64))


def validation_split(who: str, data: BoostData, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from, and those held out: about the same share of each class."""
    strata = np.zeros(data.n_rows(), dtype=np.int64) if data.labels is None else data.y.astype(np.int64)
    return split_by_marks(who, row_marks(data), data.row_weights(), strata, fraction, seed)


def split_by_marks(
    who: str, marks: np.ndarray, weights: np.ndarray, strata: np.ndarray, fraction: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to learn from, and those held out: about the same share of each stratum.

    Rows are drawn by their marks: in whatever order they come, and equal ones together, so that a weight is a repeated
    row.
    """
    share = fraction if isinstance(fraction, float) else fraction / float(weights.sum())
    is_out = np.zeros(marks.size, dtype=bool)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        is_out[rows] = drawn_rows(marks[rows], weights[rows], share, np.random.default_rng([seed, stratum]))
    learn, held_out = np.flatnonzero(~is_out), np.flatnonzero(is_out)
    are_all = np.unique(strata[learn]).size == np.unique(strata).size
    check_held_out(who, learn.size, held_out.size, are_all)
    return learn, held_out


def drawn_rows(marks: np.ndarray, weights: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return which rows are drawn, about a share of the weight; rows with equal marks stay together."""
    distinct, group = np.unique(marks, return_inverse=True)
    order, is_drawn = rng.permutation(distinct.size), np.zeros(distinct.size, dtype=bool)
    up_to = np.cumsum(np.bincount(group, weights)[order])
    is_drawn[order] = up_to <= max(np.round(share * up_to[-1]), share * up_to[-1]) * (1.0 + 1e-12)
    return is_drawn[group]


def stop_round(scores: np.ndarray, patience: int, tol: float) -> int | None:
    """Return after how many rounds boosting stops; None as long as scores rise. ``scores[0]`` is that before them.

    >>> stop_round(np.array([0.0, 1.0, 2.0, 2.0, 2.0, 2.0]), patience=2, tol=0.0)
    4
    """
    for n_rounds in range(patience + 1, scores.size):
        if scores[n_rounds - patience + 1 : n_rounds + 1].max() <= scores[: n_rounds - patience + 1].max() + tol:
            return n_rounds
    return None


def best_round(scores: np.ndarray) -> int:
    """Return after how many rounds the score was best, the first of equal ones; at least one."""
    return 1 + int(np.argmax(scores[1:]))


def patience_of(model: Any, otherwise: int) -> int:
    """Return how many rounds may pass without a gain."""
    return otherwise if model.n_iter_no_change is None else int(model.n_iter_no_change)
