"""Curves of probabilities on blind rows, thinned to what an eye can see."""

from __future__ import annotations

import numpy as np

from eigenwood.runs.assessment_record import CurveRecord
from eigenwood.runs.thresholds import AtThresholds

MOST_POINTS = 200  # of a curve
MOST_BINS, LEAST_IN_BIN = 15, 10  # of a calibration curve


def thinned(ranking: AtThresholds, most: int) -> np.ndarray:
    """Return places of at most so many thresholds, evenly along the ROC curve."""
    along = ranking.found / ranking.found[-1] + ranking.false / ranking.false[-1]
    wanted = np.linspace(along[0], along[-1], most)
    return np.unique(np.searchsorted(along, wanted).clip(max=along.size - 1))


def roc(label: str, ranking: AtThresholds) -> CurveRecord:
    """Return the ROC curve: false positive rate and true positive rate, from (0, 0) on."""
    at = thinned(ranking, MOST_POINTS - 1)
    x, y = ranking.false[at] / ranking.false[-1], ranking.found[at] / ranking.found[-1]
    return CurveRecord(label, [0.0, *x.tolist()], [0.0, *y.tolist()], ranking.auc())


def precision_recall(label: str, ranking: AtThresholds) -> CurveRecord:
    """Return the precision–recall curve: recall and precision, from the highest threshold on."""
    at = thinned(ranking, MOST_POINTS)
    x, y = ranking.found[at] / ranking.found[-1], ranking.precision()[at]
    return CurveRecord(label, x.tolist(), y.tolist(), ranking.average_precision())


def calibration(label: str, given: np.ndarray, is_of_class: np.ndarray, weights: np.ndarray | None) -> CurveRecord:
    """Return mean probability and share of the class in parts of about equally many rows, by rising probability."""
    n_bins = max(1, min(MOST_BINS, given.size // LEAST_IN_BIN))
    edges = np.unique(np.quantile(given, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    bins = np.searchsorted(edges, given)
    row_weights = np.ones(given.size) if weights is None else weights
    counts, mass = np.bincount(bins), np.bincount(bins, row_weights)
    kept = mass > 0.0
    x = np.bincount(bins, row_weights * given)[kept] / mass[kept]
    y = np.bincount(bins, row_weights * is_of_class)[kept] / mass[kept]
    return CurveRecord(label, x.tolist(), y.tolist(), None, counts[kept].tolist())
