"""Early stopping of AdaBoost: rows held out are asked after each round, and the best round is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from eigenwood.core.distinct import fingerprints
from eigenwood.core.rows import rows_of
from eigenwood.estimators.adaboost.input_checks import LearnerData, StumpData
from eigenwood.estimators.adaboost.medians import weighted_medians
from eigenwood.estimators.adaboost.votes import VoteSum
from eigenwood.estimators.boosting.stopping import best_round, split_by_marks, stop_round


def divided_stump_rows(model: Any, data: StumpData, seed: int) -> tuple[StumpData, StumpData | None]:
    """Return the rows to learn from, and those held out if a model stops early."""
    if not model.early_stopping:
        return data, None
    codes = data.classes.codes.astype(np.int64)
    marks = fingerprints(rows_of(data.mixed.X), codes)
    who, fraction = type(model).__name__, model.validation_fraction
    learn, held_out = split_by_marks(who, marks, data.weights, codes, fraction, seed)
    return data.taken(learn), data.taken(held_out)


def divided_learner_rows(model: Any, data: LearnerData, seed: int) -> tuple[LearnerData, LearnerData | None]:
    """Return the rows to learn from, and those held out if a model stops early.

    Each row is there once, and the order of them does not follow from the table's.
    """
    if not model.early_stopping:
        return data, None
    strata = np.zeros(data.mass.size, dtype=np.int64) if data.labels is None else data.codes.astype(np.int64)
    who, fraction, places = type(model).__name__, model.validation_fraction, np.arange(data.mass.size)
    learn, held_out = split_by_marks(who, places, data.mass, strata, fraction, seed)
    return data.taken(learn), data.taken(held_out)


class Stopping:
    """The scores of the rows held out, one after each round."""

    def __init__(self, patience: int, ask: Callable[[Any, int], list[float]]) -> None:
        """``ask`` gives the scores of the rounds of a step, but for the first ones: so many as are known."""
        self.scores, self._ask, self._patience = list[float](), ask, patience

    def scored(self, steps: Iterator[Any]) -> Iterator[Any]:
        """Yield steps whose rounds are scored."""
        for step in steps:
            self.scores += self._ask(step, len(self.scores))
            yield step

    def is_over(self) -> bool:
        """Return whether rounds have not become better for long enough."""
        return self._stop_round() is not None

    def n_kept(self) -> int:
        """Return how many rounds are kept: those up to the best one before boosting stops."""
        return best_round(self._with_first()[: (self._stop_round() or len(self.scores)) + 1])

    def _stop_round(self) -> int | None:
        return stop_round(self._with_first(), self._patience, 0.0)

    def _with_first(self) -> np.ndarray:
        return np.append(-np.inf, self.scores)


class HeldOutVotes:
    """The votes for the classes of rows held out, and their accuracy after each round."""

    def __init__(self, data: StumpData | LearnerData, real: bool) -> None:
        if isinstance(data, StumpData):
            self.X, self._codes, self._mass = data.mixed.X, data.classes.codes, data.weights
        else:
            self.X, self._codes, self._mass = data.training.X, data.codes, data.mass
        self._votes = VoteSum(real)

    def add(self, votes: np.ndarray, weight: float) -> float:
        """Add the votes of a learner for the classes of each row; return the accuracy after that."""
        self._votes.add(votes, weight)
        return float(accuracy_score(self._codes, self._votes.proba().argmax(axis=1), sample_weight=self._mass))


class HeldOutAmounts:
    """The predictions of rows held out, and R² after each round."""

    def __init__(self, data: LearnerData) -> None:
        self.X, self._y, self._mass = data.training.X, data.training.y, data.mass
        self._predictions, self._weights = list[np.ndarray](), list[float]()

    def add(self, pred: np.ndarray, weight: float) -> float:
        """Add what a learner predicts for each row; return R² after that."""
        self._predictions.append(pred)
        self._weights.append(weight)
        medians = weighted_medians(np.column_stack(self._predictions), np.array(self._weights))
        return float(r2_score(self._y, medians, sample_weight=self._mass))
