"""The rows put aside, and what the final model says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.runs.metrics import Answers, Metric

MOST_WORST, MOST_VALUES = 10, 8  # rows that are shown, and columns of each


class Blind(NamedTuple):
    """Everything the assessment needs; the model was asked once."""

    X: pa.Table
    y: np.ndarray
    y_train: np.ndarray
    weights: np.ndarray | None
    rows: np.ndarray  # their numbers in the table, from 0
    answers: Answers
    metric: Metric
    kinds: dict[str, str]
    seed: int
    target: str = "the target"
    train_weights: np.ndarray | None = None
    decision_weights: Sequence[float] | None = None  # of each class, by which probabilities became labels


def column_values(blind: Blind, place: int) -> dict[str, object]:
    """Return what some columns hold in one row."""
    names = blind.X.column_names[:MOST_VALUES]
    return blind.X.select(names).slice(place, 1).to_pylist()[0]
