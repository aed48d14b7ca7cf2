"""The result of a run in one sentence."""

from __future__ import annotations

from eigenwood.runs.assessment_record import ClassRecord, MeasureRecord
from eigenwood.runs.metrics import RARE

OF_DECISIONS = ("accuracy", "balanced accuracy", "F1")  # the others measure probabilities
GUESSING = {
    "balanced accuracy": "any constant answer has",
    "F1": "guessing has at best",
    "AUC": "guessing has",
    "average precision": "guessing has",
    "log loss": "always answering the share of each class has",
}
NO_BETTER = "No better than guessing: "


def class_headline(
    chosen: MeasureRecord,
    classes: list[ClassRecord],
    positive: int | None,
    majority: str,
) -> str:
    """Return how many rows of a rare class are found, which share of the rows is right, or the metric asked for."""
    n_rows = sum(one.n_rows for one in classes)
    is_rare = positive is not None and 0 < classes[positive].n_rows < RARE * n_rows
    if is_rare and chosen.name in OF_DECISIONS:
        sentence = found_sentence(classes[positive or 0], n_rows)
    elif chosen.name == "accuracy":
        sentence = right_sentence(chosen, n_rows, majority)
    else:
        sentence = measure_sentence(chosen, n_rows)
    return told(sentence, chosen)


def told(sentence: str, chosen: MeasureRecord) -> str:
    """Return a sentence, which says first if the model is no better than guessing."""
    if chosen.is_better_than_baseline:
        return sentence
    starts_with_a_name = sentence[:2].isupper() or sentence[1].isdigit()
    return NO_BETTER + (sentence if starts_with_a_name else sentence[0].lower() + sentence[1:])


def found_sentence(one: ClassRecord, n_rows: int) -> str:
    """Return how many rows of a rare class were found, and at what price.

    >>> found_sentence(ClassRecord("fraud", 24, 19, 36, 0.8, 0.6, 0.9, 0.3, 0.2, 0.5), 12_000)
    "Finds 19 of 24 'fraud' rows, with 3 false alarms in 1,000 rows."
    """
    n_found = str(one.n_found) if one.n_found else "none"
    return f"Finds {n_found} of {one.n_rows:,} {one.label!r} rows, with {false_alarms(one.n_false, n_rows)}."


def false_alarms(n_false: int, n_rows: int) -> str:
    """Return how many rows were taken for a class wrongly, in 1,000 rows where there are more.

    >>> false_alarms(0, 90), false_alarms(1, 90), false_alarms(3, 90_000), false_alarms(200, 90_000)
    ('no false alarm', '1 false alarm in 90 rows', '3 false alarms in 90,000 rows', '2 false alarms in 1,000 rows')
    """
    if n_false == 0:
        return "no false alarm"
    if n_false / n_rows >= 0.001 and n_rows > 1000:
        n_false, n_rows = round(1000 * n_false / n_rows), 1000
    return f"{n_false:,} false alarm{'' if n_false == 1 else 's'} in {n_rows:,} rows"


def right_sentence(right: MeasureRecord, n_rows: int, majority: str) -> str:
    """Return which share of the rows is right, beside always answering the most frequent class."""
    interval = f"(95 % interval {percent(right.low)} to {percent(right.high)})"
    always = f"always answering {majority!r} is right on {percent(right.baseline)}"
    return f"{percent(right.value)} of {n_rows:,} blind rows are right {interval}; {always}."


def measure_sentence(chosen: MeasureRecord, n_rows: int) -> str:
    """Return the metric that was asked for, beside guessing."""
    name = chosen.name[0].upper() + chosen.name[1:]
    interval = f"(95 % interval {chosen.low:.3f} to {chosen.high:.3f})"
    return (
        f"{name} {chosen.value:.3f} {interval} on {n_rows:,} blind rows; {GUESSING[chosen.name]} {chosen.baseline:.3f}."
    )


def amount_headline(chosen: MeasureRecord, measures: list[MeasureRecord], target: str, mean: float) -> str:
    """Return how much of the variance is explained, or the error that was asked for, and what the mean would do."""
    median = next(one for one in measures if one.name == "median absolute error")
    always = f"always answering the mean, {amount_words(mean)}"
    if chosen.name == "R²":
        interval = f"(R² {chosen.value:.2f}, 95 % interval {chosen.low:.2f} to {chosen.high:.2f})"
        share = percent(chosen.value, 0) if chosen.value >= 0.005 else "none"
        sentence = (
            f"Explains {share} of the variance of {target!r} {interval}; the typical error (median) is "
            f"{amount_words(median.value)}, and {amount_words(median.baseline)} when {always}."
        )
    else:
        interval = f"(95 % interval {amount_words(chosen.low)} to {amount_words(chosen.high)})"
        sentence = (
            f"The {chosen.name} of {target!r} is {amount_words(chosen.value)} {interval}; {always}, has "
            f"{amount_words(chosen.baseline)}."
        )
    return told(sentence, chosen)


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    >>> percent(0.8684), percent(0.8684, 0)
    ('86.8 %', '87 %')
    """
    return f"{100 * share:.{digits}f} %"


def amount_words(value: float) -> str:
    """Return an amount with three digits that count, or all those before the point.

    >>> [amount_words(value) for value in (11.0, 0.00031, 99.96, 48211.7, -0.5, 1e12)]
    ['11.0', '0.000310', '100', '48,212', '-0.500', '1.00e+12']
    """
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")
