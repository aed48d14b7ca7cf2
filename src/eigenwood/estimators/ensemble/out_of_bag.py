"""Predictions of learners for the rows that they did not see, added up over the learners."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.memory import lazy_zeros
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.out_of_bag import Ballot, Residuals, assessed_mean, mean_claims, mean_squares

SMALL_CODES = (np.int8, np.int16, np.int32)


class OobPrediction(NamedTuple):
    """What a learner predicts for the rows it did not see."""

    rows: np.ndarray
    values: np.ndarray


class OobResiduals:
    """Adds up how far predictions out of bag are from y: a few numbers for each row and each learner."""

    def __init__(self, y: np.ndarray, weights: np.ndarray) -> None:
        self._y, self._weights = y, weights
        self._sums, self._squares = np.zeros(y.shape), np.zeros(len(y))
        self._masses: list[float] = []
        self._errors: list[float] = []

    def add(self, rows: np.ndarray, pred: np.ndarray) -> None:
        """Add what one learner predicts for some rows."""
        off = pred - self._y[rows]  # near 0 where y is large: their squares keep their digits
        squares, weights = mean_squares(off), self._weights[rows]
        self._sums[rows] += off
        self._squares[rows] += squares
        self._masses.append(float(weights.sum()))
        self._errors.append(float((weights * squares).sum()) / self._masses[-1])

    def residuals(self, counts: np.ndarray) -> Residuals:
        """Return the sums; ``counts`` says how many learners predicted each row."""
        return Residuals(counts, self._sums, self._squares, np.array(self._masses), np.array(self._errors))


class OobAccumulator:
    """Adds up predictions out of bag; ``add`` is called in the order of the learners' numbers."""

    def __init__(
        self, n_rows: int, n_values: int, *, keeps_ballots: bool, residuals: OobResiduals | None = None
    ) -> None:
        self.sums = lazy_zeros((n_rows, n_values))
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self.ballots: list[Ballot] = []
        self._code_type = next(kind for kind in SMALL_CODES if n_values <= np.iinfo(kind).max)
        self._keeps_ballots = keeps_ballots
        self._residuals = residuals

    def add(self, oob: OobPrediction) -> None:
        """Add what one learner predicts."""
        if oob.rows.size == 0:
            return
        pred = oob.values.reshape(oob.rows.size, -1)
        self.sums[oob.rows] += pred
        self.counts[oob.rows] += 1
        if self._keeps_ballots:
            self.ballots.append(Ballot(oob.rows.astype(np.int32), pred.argmax(axis=1).astype(self._code_type)))
        if self._residuals is not None:
            self._residuals.add(oob.rows, pred)

    def means(self) -> np.ndarray:
        """Return the mean prediction for each row; NaN where no learner left it out."""
        return self.sums / np.where(self.counts > 0, self.counts, np.nan)[:, None]

    def rows(self) -> np.ndarray:
        """Return the rows that some learner left out."""
        return np.flatnonzero(self.counts)

    def mean_claims(self, weights: np.ndarray) -> list[Claim]:
        """Return what can be claimed about the mean prediction of numbers, of rows with these weights."""
        return (
            []
            if self._residuals is None
            else mean_claims(assessed_mean(self._residuals.residuals(self.counts), weights))
        )
