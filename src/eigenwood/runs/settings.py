"""What the user of ``learn`` can choose, and the split of the rows that follows from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_FOLDS = 5
CONFIDENCE = 0.95


class Settings(NamedTuple):
    """What the user can choose."""

    seed: int = 0
    test_fraction: float = 0.25
    time_limit: float = 600.0  # seconds for all fits together


class Split(NamedTuple):
    """Row numbers of the table: those to learn from, and those nobody looks at before the end."""

    train: np.ndarray
    test: np.ndarray


Fold = tuple[np.ndarray, np.ndarray]  # the rows to learn from and the rows to check on, among the training rows
