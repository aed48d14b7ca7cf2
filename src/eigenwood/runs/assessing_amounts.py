"""Amounts on the blind rows: every measure with its interval, and the worst rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenwood.runs.assessment_record import MeasureRecord, RegressionRecord, WorstRow
from eigenwood.runs.blind import MOST_WORST, Blind, column_values
from eigenwood.runs.headlines import amount_headline, amount_words
from eigenwood.runs.intervals import is_above_zero, mean_interval, median_interval, r2_interval
from eigenwood.runs.metrics import METRICS, AmountRows

MOST_POINTS = 2000  # rows that the record keeps for the figure
HOW = {
    "r2": "the spread of each row's influence on the share left over, on the scale of logarithms",
    "mae": "the spread of the errors, on the scale of logarithms",
    "rmse": "the spread of the squared errors, on the scale of logarithms",
    "median-error": "the errors at Wilson's interval of one half",
}


def assessed_amounts(blind: Blind) -> RegressionRecord:
    """Return how good the amounts that are predicted of the blind rows are."""
    y, predicted = blind.y, blind.answers.labels_or_amounts
    mean = float(np.average(blind.y_train, weights=blind.train_weights))
    measures = measures_of(AmountRows(y, predicted, blind.weights), mean)
    chosen = next(one for one in measures if one.name == blind.metric.words)
    shown = evenly_spaced(y.size, MOST_POINTS)
    return RegressionRecord(
        metric=chosen.name,
        score=chosen.value,
        low=chosen.low,
        high=chosen.high,
        interval=chosen.how,
        larger_is_better=chosen.larger_is_better,
        baseline=chosen.baseline,
        baseline_amount=mean,
        headline=amount_headline(chosen, measures, blind.target, mean),
        is_better_than_guessing=chosen.is_better_than_baseline,
        measures=measures,
        shown_true=y[shown].tolist(),
        shown_predicted=predicted[shown].tolist(),
        worst=worst_rows(blind),
    )


def measures_of(rows: AmountRows, mean: float) -> list[MeasureRecord]:
    """Return all measures beside those of always answering ``mean``."""
    always = rows._replace(predicted=np.full(rows.y.size, mean))
    found = []
    for metric in METRICS:
        if metric.name in INTERVALS:
            low, high = INTERVALS[metric.name](rows)
            is_better = GAINS[metric.name](rows, always)
            value, baseline = metric.value(rows), metric.value(always)
            found.append(
                MeasureRecord(
                    metric.words, value, low, high, baseline, metric.larger_is_better, is_better, HOW[metric.name]
                )
            )
    return found


def root_mean_square_interval(rows: AmountRows) -> tuple[float, float]:
    """Return the interval of the root of the mean squared error."""
    low, high = mean_interval((rows.y - rows.predicted) ** 2, rows.weights)
    return low**0.5, high**0.5


def squares_gain(rows: AmountRows, always: AmountRows) -> bool:
    """Return whether squared errors are smaller than the baseline's, by more than chance."""
    return is_above_zero((always.y - always.predicted) ** 2 - (rows.y - rows.predicted) ** 2, rows.weights)


def errors_gain(rows: AmountRows, always: AmountRows) -> bool:
    """Return whether errors are smaller than the baseline's, by more than chance."""
    return is_above_zero(np.abs(always.y - always.predicted) - np.abs(rows.y - rows.predicted), rows.weights)


INTERVALS: dict[str, Callable[[AmountRows], tuple[float, float]]] = {
    "r2": lambda rows: r2_interval(rows.y, rows.predicted, rows.weights),
    "mae": lambda rows: mean_interval(np.abs(rows.y - rows.predicted), rows.weights),
    "rmse": root_mean_square_interval,
    "median-error": lambda rows: median_interval(np.abs(rows.y - rows.predicted), rows.weights),
}
GAINS: dict[str, Callable[[AmountRows, AmountRows], bool]] = {
    "r2": squares_gain,
    "mae": errors_gain,
    "rmse": squares_gain,
    "median-error": errors_gain,
}


def worst_rows(blind: Blind) -> list[WorstRow]:
    """Return the rows that are farthest off."""
    errors = blind.answers.labels_or_amounts - blind.y
    worst = np.argsort(-np.abs(errors), kind="stable")[:MOST_WORST]
    return [
        WorstRow(
            row=int(blind.rows[place]) + 1,
            true=amount_words(blind.y[place]),
            predicted=amount_words(blind.answers.labels_or_amounts[place]),
            error=float(errors[place]),
            values=column_values(blind, int(place)),
        )
        for place in worst
    ]


def evenly_spaced(n_rows: int, most: int) -> np.ndarray:
    """Return at most ``most`` row numbers, from the first row on.

    >>> evenly_spaced(3, 5), evenly_spaced(10, 4)
    (array([0, 1, 2]), array([0, 2, 5, 7]))
    """
    n_shown = min(n_rows, most)
    return np.arange(n_shown) * n_rows // n_shown
