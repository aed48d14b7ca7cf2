"""A simulation: 95 % intervals hold as often as they say, also after choosing the best of twenty candidates.

In each run twenty candidates are compared on validation rows, the best of them is taken, and its interval is found on
blind rows. It has to hold the value that this candidate has on very many rows. Blind rows have no part in the choice,
so choosing must not spoil it; the formulas must hold also for few rows, a rare class, and amounts with a long tail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import rankdata

from eigenwood.runs.class_measures import Assessed, accuracy_measure, auc_measure, balanced_measure
from eigenwood.runs.intervals import r2_interval
from eigenwood.runs.metrics import ClassRows

N_RUNS, N_VALIDATION, N_TRUE = 800, 100, 150_000
SLIPS = np.linspace(0.2, 0.9, 20)  # how much noise each of the candidates adds to what can be known
LEAST, MOST = 0.93, 0.97
MOST_OF_FEW = 0.98  # sixty rows have few different shares, and no interval of a share holds exactly as often as it says


class Rows(NamedTuple):
    """Rows of one setting, with the predictions of some candidates (lines)."""

    y: np.ndarray
    predicted: np.ndarray


class Setting(NamedTuple):
    """What is predicted, how candidates are compared, and the interval of the one that was chosen."""

    draw: Callable[[np.random.Generator, int, np.ndarray], Rows]  # rows, slips of the candidates
    values: Callable[[Rows], np.ndarray]  # of each candidate
    interval: Callable[[Rows], tuple[float, float]]  # of the only one


def classes(share, strength):
    """Return draws of rows of two classes, in fixed shares as splits make them, with scores as log-odds."""

    def draw(rng, n_rows, slips):
        y = np.arange(n_rows) < max(round(share * n_rows), 2)
        known = strength * y + rng.normal(size=n_rows)
        scores = known + slips[:, np.newaxis] * rng.normal(size=(slips.size, n_rows))
        return Rows(y, strength * (scores - strength / 2.0) + np.log(share / (1.0 - share)))

    return draw


def amounts(tail, noise):
    """Return draws of amounts whose logarithms are normal: the more ``tail``, the fewer rows decide."""

    def draw(rng, n_rows, slips):
        known = rng.normal(size=n_rows)
        y = np.exp(tail * (known + noise * rng.normal(size=n_rows)))
        return Rows(y, np.exp(tail * (known + 0.3 * slips[:, np.newaxis] * rng.normal(size=(slips.size, n_rows)))))

    return draw


def normal_amounts(rng, n_rows, slips):
    known = rng.normal(size=n_rows)
    return Rows(
        known + 0.7 * rng.normal(size=n_rows), known + slips[:, np.newaxis] * rng.normal(size=(slips.size, n_rows))
    )


def assessed(rows, threshold=0.0):
    scores = rows.predicted[0]
    proba = np.stack([1.0 - expit(scores), expit(scores)], axis=1)
    coded = ClassRows(rows.y.astype(int), (scores > threshold).astype(int), proba, 1, None)
    return Assessed(coded, np.array([0.5, 0.5]), {1: coded.ranking(1)})


def ends(measure):
    return measure.low, measure.high


def accuracies(rows):
    return ((rows.predicted > 0.0) == rows.y).mean(axis=1)


def balanced_accuracies(threshold):
    def values(rows):
        is_right = (rows.predicted > threshold) == rows.y
        return (is_right[:, rows.y].mean(axis=1) + is_right[:, ~rows.y].mean(axis=1)) / 2.0

    return values


def aucs(rows):
    n_positive, ranks = rows.y.sum(), rankdata(rows.predicted, axis=1)
    below = ranks[:, rows.y].sum(axis=1) - n_positive * (n_positive + 1) / 2.0
    return below / (n_positive * (rows.y.size - n_positive))


def r2s(rows):
    return 1.0 - ((rows.predicted - rows.y) ** 2).mean(axis=1) / rows.y.var()


def accuracy_of(share, strength):
    return Setting(classes(share, strength), accuracies, lambda rows: ends(accuracy_measure(assessed(rows))))


def balanced_of(share, strength):
    threshold = np.log(share / (1.0 - share))
    return Setting(
        classes(share, strength),
        balanced_accuracies(threshold),
        lambda rows: ends(balanced_measure(assessed(rows, threshold))),
    )


def auc_of(share, strength):
    return Setting(classes(share, strength), aucs, lambda rows: ends(auc_measure(assessed(rows))))


def r2_of(draw):
    return Setting(draw, r2s, lambda rows: r2_interval(rows.y, rows.predicted[0]))


SETTINGS = {
    "accuracy near 0.5": accuracy_of(0.5, 0.2),
    "accuracy near 0.8": accuracy_of(0.5, 1.8),
    "accuracy near 0.95": accuracy_of(0.5, 3.6),
    "balanced accuracy of equal classes": balanced_of(0.5, 1.8),
    "balanced accuracy of a rare class": balanced_of(0.1, 2.0),
    "AUC of equal classes": auc_of(0.5, 1.5),
    "AUC of a rare class": auc_of(0.15, 1.5),
    "R² of normal amounts": r2_of(normal_amounts),
    "R² of amounts with a tail": r2_of(amounts(0.5, 0.5)),
    "R² of amounts with a long tail": r2_of(amounts(0.8, 0.5)),
}


def coverage(setting, sizes, seed, n_runs=N_RUNS):
    """Return how often the interval of the chosen candidate holds, for blind rows of each number in ``sizes``."""
    rng, blind = np.random.default_rng(seed), [np.random.default_rng([seed, n]) for n in sizes]
    true = dict[int, float]()
    n_covered = np.zeros(len(sizes))
    for _ in range(n_runs):
        best = int(setting.values(setting.draw(rng, N_VALIDATION, SLIPS)).argmax())
        if best not in true:
            true[best] = float(setting.values(setting.draw(np.random.default_rng(best), N_TRUE, SLIPS[[best]]))[0])
        ends_of = [setting.interval(setting.draw(own, n, SLIPS[[best]])) for own, n in zip(blind, sizes, strict=True)]
        n_covered += [low <= true[best] <= high for low, high in ends_of]
    return n_covered / n_runs


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_hold_as_often_as_they_say(name):
    of_few, *shares = coverage(SETTINGS[name], (60, 200, 500), seed=0)
    assert LEAST <= of_few <= MOST_OF_FEW
    assert LEAST <= min(shares) <= max(shares) <= MOST, shares


def test_the_simulation_sees_intervals_that_are_too_narrow():
    fair = SETTINGS["accuracy near 0.8"]

    def narrow(rows):
        low, high = fair.interval(rows)
        return low + 0.2 * (high - low), high - 0.2 * (high - low)

    assert coverage(fair._replace(interval=narrow), (200,), seed=0, n_runs=300)[0] < LEAST


def test_the_simulation_sees_intervals_of_the_rows_that_were_chosen_by():
    """Who takes the best of many on some rows, and the interval from the same rows, is too hopeful."""
    setting = SETTINGS["accuracy near 0.5"]
    rng = np.random.default_rng(0)
    n_covered = 0
    for _ in range(300):
        rows = setting.draw(rng, 100, np.full(20, 3.0))  # all are equally good, hardly better than a coin
        best = int(setting.values(rows).argmax())
        low, _ = setting.interval(Rows(rows.y, rows.predicted[[best]]))
        n_covered += low <= 0.53
    assert n_covered / 300 < LEAST
