"""Permutation importances: how much worse the answers get where the values of a column are shuffled.

    rows    ──► n_repeats resamples of them, side by side      one prediction for each column answers all repeats
    column  ──► shuffled within each resample                  fall of the score, against the same rows as they were

A resample of the rows, and not only another shuffle, for each repeat: the interval then tells what other blind rows
would have said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.stats import t as student

from eigenwood.estimators.watching import Deadline
from eigenwood.runs.settings import CONFIDENCE

N_REPEATS = 10
Importance = tuple[str, float, float, float]  # column, mean, ends of the interval


class Resamples(NamedTuple):
    """Rows drawn again and again, one resample after the other, and how well each was answered as it is."""

    X: pa.Table  # (n_repeats * n_rows)
    drawn: np.ndarray  # (n_repeats, n_rows) which rows
    scores: np.ndarray  # (n_repeats,)


Scored = Callable[[pa.Table, np.ndarray], np.ndarray]  # rows to answer, which rows they are → a score for each resample


def drawn_rows(n_rows: int, n_repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Return resamples of rows with replacement, (n_repeats, n_rows)."""
    return rng.integers(n_rows, size=(n_repeats, n_rows))


def importance(name: str, resamples: Resamples, scored: Scored, rng: np.random.Generator) -> Importance:
    """Return the importance of one column."""
    n_repeats, n_rows = resamples.drawn.shape
    shuffled = rng.permuted(np.arange(n_repeats * n_rows).reshape(n_repeats, n_rows), axis=1).ravel()
    X, place = resamples.X, resamples.X.column_names.index(name)
    X = X.set_column(place, X.schema.field(place), X.column(place).take(shuffled))
    return (name, *mean_and_interval(resamples.scores - scored(X, resamples.drawn)))


def mean_and_interval(falls: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of the repeats and the ends of an interval for a repeat: each is of another resample.

    >>> [round(number, 3) for number in mean_and_interval(np.array([0.1, 0.2, 0.3]))]
    [0.2, -0.23, 0.63]
    """
    mean = float(falls.mean())
    reach = float(student.ppf(0.5 + CONFIDENCE / 2.0, falls.size - 1) * falls.std(ddof=1))
    return mean, mean - reach, mean + reach


def importances(
    names: Sequence[str], resamples: Resamples, scored: Scored, deadline: Deadline, seed: int
) -> list[Importance]:
    """Return the importances of the columns, as many of them as there is time for, the largest first."""
    found, longest = list[Importance](), 0.0
    for name in names:
        left = deadline.seconds_left()
        if left is not None and left <= longest:
            break
        began = time.perf_counter()
        found.append(importance(name, resamples, scored, np.random.default_rng([seed, len(found)])))
        longest = max(longest, time.perf_counter() - began)
    return sorted(found, key=lambda entry: -entry[1])
