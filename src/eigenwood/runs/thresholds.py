"""How many rows of a class, and of the others, have at least a score, for every score there is.

Whatever ranks rows follows from this: ROC and precision–recall curves, their areas, and where to put a threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class AtThresholds(NamedTuple):
    """Weights of rows at or above each threshold; thresholds fall, and each of them is the score of some row.

    threshold   0.9  0.7  0.2        scores of the class: 0.9, 0.7     of the others: 0.7, 0.2
    found         1    2    2        rows of the class at or above it
    false         0    1    2        other rows at or above it
    """

    thresholds: np.ndarray
    found: np.ndarray
    false: np.ndarray
    places: np.ndarray  # of each row: which threshold its score is

    @property
    def is_defined(self) -> bool:
        """Return whether there are rows of the class, and others."""
        return bool(self.found[-1] > 0.0 and self.false[-1] > 0.0)

    def auc(self) -> float:
        """Return the area under the ROC curve; 1/2, as by guessing, where one side has no rows."""
        if not self.is_defined:
            return 0.5
        found, false = np.append(0.0, self.found), np.append(0.0, self.false)
        area = np.sum(np.diff(false) * (found[1:] + found[:-1])) / 2.0
        return float(area / (self.found[-1] * self.false[-1]))

    def precision(self) -> np.ndarray:
        """Return which share of the rows at or above each threshold is of the class."""
        return self.found / (self.found + self.false)

    def average_precision(self) -> float:
        """Return the mean precision over all rows of the class; 0 where there is none."""
        if self.found[-1] <= 0.0:
            return 0.0
        return float((np.diff(self.found, prepend=0.0) * self.precision()).sum() / self.found[-1])

    def auc_influences(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how the AUC follows the weight of one row of the class, and of one other row, at each threshold.

        A row of the class counts the others it is ranked before, ties half (DeLong's placement values).
        """
        value = self.auc()
        lower_false = self.false[-1] - (self.false + np.append(0.0, self.false[:-1])) / 2.0
        higher_found = (self.found + np.append(0.0, self.found[:-1])) / 2.0
        of_class = (lower_false / self.false[-1] - value) / self.found[-1]
        return of_class, (higher_found / self.found[-1] - value) / self.false[-1]

    def average_precision_influences(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how the average precision follows the weight of one row of the class, and of one other row.

        A row changes the precision at its own threshold and at all lower ones.
        """
        share = np.diff(self.found, prepend=0.0) / self.found[-1]
        total_squared = (self.found + self.false) ** 2
        by_found = np.cumsum((share * self.false / total_squared)[::-1])[::-1]
        by_false = -np.cumsum((share * self.found / total_squared)[::-1])[::-1]
        own = (self.precision() - self.average_precision()) / self.found[-1]
        return own + by_found, by_false


def at_thresholds(scores: np.ndarray, is_of_class: np.ndarray, weights: np.ndarray | None = None) -> AtThresholds:
    """Return the weights at or above each score.

    >>> found = at_thresholds(np.array([0.7, 0.2, 0.9, 0.7]), np.array([True, False, True, False]))
    >>> found.found, found.false, found.places
    (array([1., 2., 2.]), array([0., 1., 2.]), array([1, 2, 0, 1]))
    """
    order = np.argsort(-scores)
    ranked = scores[order]
    is_new = ranked[1:] != ranked[:-1]
    last = np.append(np.flatnonzero(is_new), scores.size - 1)  # of the rows with equal scores
    places = np.empty(scores.size, dtype=np.intp)
    places[order] = np.append(0, np.cumsum(is_new))
    row_weights = np.ones(scores.size) if weights is None else weights
    found = np.cumsum((row_weights * is_of_class)[order])[last]
    return AtThresholds(ranked[last], found, np.cumsum((row_weights * ~is_of_class)[order])[last], places)
