"""The measures of classes on blind rows, each with its interval, beside a constant answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from eigenwood.proofs.out_of_bag import Interval, row_total, share_interval
from eigenwood.runs.assessment_record import MeasureRecord
from eigenwood.runs.intervals import (
    area_interval,
    is_above_zero,
    joint,
    mean_interval,
    mean_of_shares,
    ones_for,
    spread,
    with_pseudo_rows,
)
from eigenwood.runs.metrics import (
    SMALLEST,
    ClassRows,
    accuracy,
    balanced_accuracy,
    confusion,
    f1,
    log_losses,
)
from eigenwood.runs.thresholds import AtThresholds


class Assessed(NamedTuple):
    """Blind rows, what a constant answer would be, and how each class's probability ranks the rows."""

    rows: ClassRows
    shares: np.ndarray  # of the classes in the training rows
    rankings: dict[int, AtThresholds]

    @property
    def majority(self) -> int:
        return int(self.shares.argmax())

    @property
    def weights(self) -> np.ndarray:
        return ones_for(self.rows.weights, self.rows.codes.size)


def accuracy_measure(data: Assessed) -> MeasureRecord:
    """Return the share of right rows beside that of the most frequent class."""
    rows, weights = data.rows, data.weights
    is_right, would_be = rows.predicted == rows.codes, rows.codes == data.majority
    value, differ = accuracy(rows), is_right != would_be
    is_better = False
    if differ.any():
        won = float(np.average(is_right[differ], weights=weights[differ]))
        is_better = share_interval(won, row_total(weights[differ]))[0] > 0.5
    low, high = share_interval(value, row_total(weights))
    baseline = float(np.average(would_be, weights=weights))
    return MeasureRecord("accuracy", value, low, high, baseline, True, is_better, "Wilson's interval of a share")


def balanced_measure(data: Assessed) -> MeasureRecord:
    """Return the mean recall beside that of any constant answer."""
    rows = data.rows
    counts, totals = confusion(rows), class_totals(rows)
    present = totals > 0.0
    recalls = np.diag(counts)[present] / counts.sum(axis=1)[present]
    low, high = mean_of_shares(recalls, totals[present])
    baseline = 1.0 / recalls.size
    how = "Wilson's intervals of the recalls, put together by squares"
    return MeasureRecord("balanced accuracy", balanced_accuracy(rows), low, high, baseline, True, low > baseline, how)


def class_totals(rows: ClassRows) -> np.ndarray:
    """Return how many rows the weights of each class stand for."""
    n_classes = max(rows.probabilities.shape[1], int(rows.codes.max()) + 1)
    if rows.weights is None:
        return np.bincount(rows.codes, minlength=n_classes).astype(np.float64)
    return np.array(
        [row_total(w) if (w := rows.weights[rows.codes == code]).size else 0.0 for code in range(n_classes)]
    )


def f1_measure(data: Assessed) -> MeasureRecord:
    """Return F1 of the class that is looked for, or the mean over the classes, beside what guessing has at best."""
    rows = data.rows
    value, positive = f1(rows), rows.positive
    if positive is None:
        low, high = area_interval(value, spread(f1_influences(rows), data.weights), row_total(data.weights))
        how = "the influence of each row, on the scale of log-odds"
    else:
        is_either = (rows.codes == positive) | (rows.predicted == positive)
        # F1 is 2 s / (1 + s) of the share s of these rows that are both
        found = share_interval(value / (2.0 - value), max(row_total(data.weights[is_either]), 1.0))
        low, high = (2.0 * share / (1.0 + share) for share in found)
        how = "Wilson's interval of the share found, of the rows that are of the class or taken for it"
    if positive is None:
        baseline = 1.0 / np.unique(rows.codes).size  # guessing by the shares of the classes; a constant has less
    else:
        share = float(np.average(rows.codes == positive, weights=data.weights))
        baseline = 2.0 * share / (1.0 + share)  # of always answering that class; guessing by shares has less
    return MeasureRecord("F1", value, low, high, baseline, True, low > baseline, how)


def f1_influences(rows: ClassRows) -> np.ndarray:
    """Return how the mean of F1 over the classes follows each row's weight."""
    counts = confusion(rows)
    around = counts.sum(axis=0) + counts.sum(axis=1)
    present = np.maximum(around, SMALLEST)  # of a class without rows nothing is asked
    of_class = 2.0 * np.diag(counts) / present
    is_right = rows.codes == rows.predicted
    lost = (of_class / present)[rows.codes] + (of_class / present)[rows.predicted]
    return (np.where(is_right, (2.0 / present)[rows.codes], 0.0) - lost) / np.count_nonzero(around)


def auc_measure(data: Assessed) -> MeasureRecord:
    """Return the area under the ROC curve beside that of guessing."""
    value = float(np.mean([one.auc() for one in data.rankings.values()])) if data.rankings else 0.5
    low, high = areas_interval(data, value, AtThresholds.auc_influences)
    return MeasureRecord("AUC", value, low, high, 0.5, True, low > 0.5, "DeLong's interval on the scale of log-odds")


def precision_measure(data: Assessed) -> MeasureRecord:
    """Return the average precision beside the share of the class."""
    rows, weights = data.rows, data.weights
    value = float(np.mean([one.average_precision() for one in data.rankings.values()])) if data.rankings else 0.0
    low, high = areas_interval(data, value, AtThresholds.average_precision_influences)
    shares = [float(np.average(rows.codes == code, weights=weights)) for code in data.rankings]
    baseline = float(np.mean(shares)) if shares else 0.0
    how = "the spread of each row's influence, on the scale of log-odds"
    return MeasureRecord("average precision", value, low, high, baseline, True, low > baseline, how)


def areas_interval(
    data: Assessed, value: float, influences_of: Callable[[AtThresholds], tuple[np.ndarray, np.ndarray]]
) -> Interval:
    """Return the interval of an area, or of the mean of several, from the influence of each row on each of them."""
    defined = {code: one for code, one in data.rankings.items() if one.is_defined}
    if not defined:
        return 0.0, 1.0
    influences = np.zeros(data.rows.codes.size)
    for code, ranking in defined.items():
        of_class, of_others = influences_of(ranking)
        is_of_class = data.rows.codes == code
        influences += np.where(is_of_class, of_class[ranking.places], of_others[ranking.places]) / len(defined)
    sides = [data.rows.codes == code for code in np.unique(data.rows.codes)]
    if len(defined) == 1:
        sides = [side := data.rows.codes == next(iter(defined)), ~side]
    n_rows = [row_total(data.weights[side]) for side in sides]
    bound = value * (1.0 - value) / len(defined) ** 2
    spreads = [
        with_pseudo_rows(spread(influences[side], data.weights[side]), bound, n)
        for side, n in zip(sides, n_rows, strict=True)
    ]
    return area_interval(value, joint(spreads), min(n_rows))


def loss_measure(data: Assessed) -> MeasureRecord:
    """Return the log loss beside that of always answering the shares of the classes."""
    rows = data.rows
    losses = log_losses(rows)
    known = rows.codes < data.shares.size
    given = np.where(known, data.shares[np.where(known, rows.codes, 0)], 0.0)
    constant = -np.log(np.maximum(given, SMALLEST))
    low, high = mean_interval(losses, rows.weights)
    value, baseline = (float(np.average(part, weights=rows.weights)) for part in (losses, constant))
    is_better = is_above_zero(constant - losses, rows.weights)
    how = "the spread of the losses, on the scale of logarithms"
    return MeasureRecord("log loss", value, low, high, baseline, False, is_better, how)


MEASURES = (accuracy_measure, balanced_measure, f1_measure, auc_measure, precision_measure, loss_measure)
