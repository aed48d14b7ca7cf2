"""The two tasks side by side: what ``learn`` does differently for classes and for amounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from eigenwood.data.tables import Table
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs import classification, regression
from eigenwood.runs.frames import amounts_of, labels_of
from eigenwood.runs.record import AssessmentRecord
from eigenwood.runs.settings import Fold, Settings, Split


class Task(NamedTuple):
    """One task, as the functions in which it differs from the other."""

    targets: Callable[[Table, str], np.ndarray]  # table and column → y
    split: Callable[[str, str, np.ndarray, Settings], Split]  # names of table and column, y → training and test rows
    folds: Callable[[np.ndarray, int], list[Fold]]  # training y, seed
    score: Callable[[np.ndarray, np.ndarray], float]  # true y, predicted y
    assessed: Callable[[np.ndarray, np.ndarray, np.ndarray, int], AssessmentRecord]  # true, predicted, training y, seed


TASKS = {
    CLASSIFICATION: Task(
        labels_of,
        classification.blind_split,
        classification.validation_folds,
        classification.score,
        classification.assessed,
    ),
    REGRESSION: Task(
        amounts_of, regression.blind_split, regression.validation_folds, regression.score, regression.assessed
    ),
}
