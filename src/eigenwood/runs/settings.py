"""What the user of ``learn`` can choose, and the split of the rows that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

MOST_FOLDS = 5
CONFIDENCE = 0.95
N_TUNED, MOST_TUNED = 6, 400  # trials after the list of candidates: without a time limit, and with one
LONGEST = 600.0  # seconds, where no time limit is given: a job ends in any case


class Settings(NamedTuple):
    """What the user can choose."""

    seed: int = 0
    test_fraction: float = 0.25
    time_limit: float | None = None  # seconds from the start to the written report; None: until the list is done
    metric: str | None = None  # None: accuracy, balanced accuracy where one class is rare, or R²
    models: tuple[str, ...] = ()  # names of the registry; none: all candidates
    drop: tuple[str, ...] = ()  # columns that are not to be used
    use: tuple[str, ...] = ()  # columns to use although they look like IDs
    kinds: Mapping[str, str] = {}  # column → number, category, date or text
    group: str | None = None  # rows of one group stay together, in every split
    order: str | None = None  # the newest rows by this column are the blind test
    weights: str | None = None  # how often each row counts
    strict: bool = False  # stop where something looks like a leak


class Split(NamedTuple):
    """Row numbers of the table: those to learn from, and those nobody looks at before the end."""

    train: np.ndarray
    test: np.ndarray


Fold = tuple[np.ndarray, np.ndarray]  # the rows to learn from and the rows to check on, among the training rows
