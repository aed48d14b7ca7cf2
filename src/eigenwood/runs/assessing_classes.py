"""Classes on the blind rows: every measure with its interval, the confusion matrix, curves, and the worst rows."""

from __future__ import annotations

import numpy as np

from eigenwood.proofs.out_of_bag import row_total, share_interval
from eigenwood.runs.assessment_record import ClassificationRecord, ClassRecord, WorstRow
from eigenwood.runs.blind import MOST_WORST, Blind, column_values
from eigenwood.runs.class_measures import MEASURES, Assessed
from eigenwood.runs.curves import calibration, precision_recall, roc
from eigenwood.runs.headlines import class_headline
from eigenwood.runs.intervals import ones_for
from eigenwood.runs.metrics import ClassRows, class_rows, codes_of, confusion, log_losses

MOST_CURVES = 10  # classes, the most frequent ones


def assessed_classes(blind: Blind) -> ClassificationRecord:
    """Return how good the labels and probabilities of the blind rows are."""
    rows = class_rows(blind.y, blind.answers, blind.weights)
    classes = blind.answers.classes
    assert classes is not None
    data = Assessed(rows, training_shares(blind, classes), {c: rows.ranking(c) for c in rows.ranked_classes()})
    labels = [str(label) for label in np.concatenate([classes, np.setdiff1d(blind.y, classes)])]
    measures = [measure(data) for measure in MEASURES]
    chosen = next(one for one in measures if one.name == blind.metric.words)
    per_class = class_records(rows, labels)
    curves = curve_classes(data)
    return ClassificationRecord(
        metric=chosen.name,
        score=chosen.value,
        low=chosen.low,
        high=chosen.high,
        interval=chosen.how,
        larger_is_better=chosen.larger_is_better,
        baseline=chosen.baseline,
        baseline_label=labels[data.majority],
        headline=class_headline(chosen, per_class, rows.positive, labels[data.majority]),
        is_better_than_guessing=chosen.is_better_than_baseline,
        measures=measures,
        classes=per_class,
        labels=labels,
        confusion=confusion(rows._replace(weights=None)).astype(int).tolist(),
        roc=[roc(labels[code], data.rankings[code]) for code in curves],
        precision_recall=[precision_recall(labels[code], data.rankings[code]) for code in curves],
        calibration=[
            calibration(labels[code], rows.probabilities[:, code], rows.codes == code, rows.weights) for code in curves
        ],
        worst=worst_rows(blind, rows),
        threshold=threshold(blind),
        positive_label=None if rows.positive is None else labels[rows.positive],
    )


def training_shares(blind: Blind, classes: np.ndarray) -> np.ndarray:
    """Return the share of each class in the training rows."""
    counts = np.bincount(codes_of(blind.y_train, classes), blind.train_weights, minlength=classes.size)
    return counts / counts.sum()


def curve_classes(data: Assessed) -> list[int]:
    """Return the classes of which curves are drawn."""
    frequent = sorted(data.rankings, key=lambda code: -data.shares[code])[:MOST_CURVES]
    return sorted(code for code in frequent if data.rankings[code].is_defined)


def threshold(blind: Blind) -> float | None:
    """Return the probability of the class that is looked for above which it is predicted."""
    positive = blind.answers.positive
    if positive is None:
        return None
    if blind.decision_weights is None:
        return 0.5
    return float(blind.decision_weights[1 - positive] / sum(blind.decision_weights))


def class_records(rows: ClassRows, labels: list[str]) -> list[ClassRecord]:
    """Return what was found of each class, and what was taken for it wrongly."""
    weights = ones_for(rows.weights, rows.codes.size)
    found = []
    for code, label in enumerate(labels):
        is_true, is_predicted = rows.codes == code, rows.predicted == code
        both = is_true & is_predicted
        counts = int(is_true.sum()), int(both.sum()), int((is_predicted & ~is_true).sum())
        found.append(
            ClassRecord(label, *counts, *share_of(both, is_true, weights), *share_of(both, is_predicted, weights))
        )
    return found


def share_of(
    part: np.ndarray, whole: np.ndarray, weights: np.ndarray
) -> tuple[float | None, float | None, float | None]:
    """Return which share of some rows is in a part of them, with its interval; None of no rows."""
    if not whole.any():
        return None, None, None
    share = float(weights[part].sum() / weights[whole].sum())
    low, high = share_interval(min(share, 1.0), row_total(weights[whole]))
    return share, low, high


def worst_rows(blind: Blind, rows: ClassRows) -> list[WorstRow]:
    """Return the wrong rows whose own class was given the least probability."""
    losses = np.where(rows.predicted == rows.codes, -1.0, log_losses(rows))
    worst = np.argsort(-losses, kind="stable")[:MOST_WORST]
    return [
        WorstRow(
            row=int(blind.rows[place]) + 1,
            true=str(blind.y[place]),
            predicted=str(blind.answers.labels_or_amounts[place]),
            error=float(losses[place]),
            values=column_values(blind, int(place)),
        )
        for place in worst
        if losses[place] >= 0.0
    ]
