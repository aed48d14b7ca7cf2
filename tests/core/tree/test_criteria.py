"""Impurities: by their formulas, from sums, and as scipy and NumPy know them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from eigenwood.core.tree.criteria import (
    ABSOLUTE_ERROR,
    POISSON,
    SQUARED_ERROR,
    cost,
    is_classifying,
    regression_impurity,
    weighted_median,
)
from tests.core.tree import cases
from tests.naive import tree as naive

OF_CLASSES = ("gini", "entropy", "error")
OF_AMOUNTS = ("squared_error", "poisson", "absolute_error")
NO_WEIGHTS = np.empty(0)


def class_sums(y, w, n_classes):
    """The weight of each class, output by output, and where the outputs begin."""
    sums = [sum(w[y[:, o] == k]) for o in range(len(n_classes)) for k in range(n_classes[o])]
    return np.array(sums, dtype=float), np.concatenate([[0], np.cumsum(n_classes)])


def amount_sums(y, w):
    """The weight and the weighted amounts, and where the outputs begin."""
    return np.concatenate([[w.sum()], w @ y]), np.arange(y.shape[1] + 1)


def rows_of_amounts(seed, n_outputs=1, ties=False):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 20))
    y = cases.counts(rng, n_rows, n_outputs) if ties else np.abs(cases.real_targets(rng, n_rows, n_outputs))
    return y, cases.weights(rng, n_rows)


def mean_impurity(y, w, criterion):
    return np.mean([naive.IMPURITIES[criterion](y[:, o], w) for o in range(y.shape[1])])


# ---- classes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [(2,), (7,), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_the_cost_of_classes_equals_the_textbook(criterion, n_classes):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(1, 20))
        y, w = cases.class_codes(rng, n_rows, n_classes), cases.weights(rng, n_rows)
        found = cost(*class_sums(y, w, n_classes), cases.CRITERIA[criterion])
        assert_allclose(found, w.sum() * mean_impurity(y, w, criterion), rtol=1e-12, atol=1e-13)


def test_the_impurities_of_classes_are_known():
    shares, one_output = np.array([0.5, 0.25, 0.125, 0.125]), np.array([0, 4])
    found = [cost(8.0 * shares, one_output, cases.CRITERIA[criterion]) / 8.0 for criterion in OF_CLASSES]
    assert_allclose(found, [1 - (shares**2).sum(), stats.entropy(shares, base=2), 0.5], rtol=1e-14)


@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_one_class_alone_is_pure(criterion):
    assert cost(np.array([0.0, 4.3, 0.0]), np.array([0, 3]), cases.CRITERIA[criterion]) == 0.0


# ---- amounts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_a_division_costs_less_by_as_much_as_in_the_textbook(criterion, n_outputs):
    code = cases.CRITERIA[criterion]
    for seed in range(10):
        y, w = rows_of_amounts(seed + 50, n_outputs)
        y, w = np.vstack([y, y + 1.0]), np.concatenate([w, w])
        place = np.random.default_rng(seed).integers(1, len(y))

        def costs(function, y=y, w=w, place=place):
            return function(y[:place], w[:place]) + function(y[place:], w[place:]) - function(y, w)

        found = costs(lambda y, w: cost(*amount_sums(y, w), code))
        expected = costs(lambda y, w: w.sum() * mean_impurity(y, w, criterion))
        assert expected <= 0.0
        assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_a_poisson_mean_of_zero_is_impossible():
    assert cost(np.array([3.0, 0.0]), np.array([0, 1]), POISSON) == np.inf
    assert cost(np.array([3.0, 2.0, 0.0]), np.array([0, 1, 2]), POISSON) == np.inf


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("criterion", OF_AMOUNTS)
def test_the_impurity_of_amounts_equals_the_textbook(criterion, ties):
    code = cases.CRITERIA[criterion]
    middle = naive.median if criterion == "absolute_error" else naive.mean
    for seed in range(10):
        y, w = rows_of_amounts(seed, ties=ties)
        y, ones = y[:, 0], np.ones(len(y))
        weighted = regression_impurity(y, w, middle(y, w), code)
        assert_allclose(weighted, naive.IMPURITIES[criterion](y, w), rtol=1e-12, atol=1e-14)
        single = regression_impurity(y, NO_WEIGHTS, middle(y, ones), code)
        assert_allclose(single, naive.IMPURITIES[criterion](y, ones), rtol=1e-12, atol=1e-14)


def test_the_impurities_of_amounts_are_known():
    y = np.random.default_rng(0).normal(size=31)
    assert_allclose(regression_impurity(y, NO_WEIGHTS, y.mean(), SQUARED_ERROR), y.var(), rtol=1e-13)
    expected = np.abs(y - np.median(y)).mean()
    assert_allclose(regression_impurity(y, NO_WEIGHTS, np.median(y), ABSOLUTE_ERROR), expected, rtol=1e-13)


# ---- properties --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [*OF_CLASSES, "squared_error", "poisson"])
def test_no_division_makes_rows_more_mixed(criterion):
    code = cases.CRITERIA[criterion]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        if is_classifying(code):
            here, there, starts = rng.integers(5, size=4) + 0.5, rng.integers(5, size=4) + 0.5, np.array([0, 4])
        else:
            here, there, starts = rng.uniform(1, 4, size=2), rng.uniform(1, 4, size=2), np.array([0, 1])
        together = cost(here + there, starts, code)
        assert cost(here, starts, code) + cost(there, starts, code) <= together + 1e-12


@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_three_criteria_speak_of_classes(criterion):
    assert is_classifying(cases.CRITERIA[criterion]) == (criterion in OF_CLASSES)


# ---- the median --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_median_equals_the_textbook(seed, ties):
    y, w = rows_of_amounts(seed, ties=ties)
    assert weighted_median(y[:, 0], w) == naive.median(y[:, 0], w)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 40, 41])
def test_without_weights_the_median_is_numpys(n_rows):
    y = np.random.default_rng(n_rows).normal(size=n_rows)
    assert weighted_median(y, NO_WEIGHTS) == np.median(y)
    assert weighted_median(y, np.full(n_rows, 0.5)) == np.median(y)


@pytest.mark.parametrize("seed", range(10))
def test_in_the_median_a_weight_is_the_row_given_again(seed):
    rng = np.random.default_rng(seed)
    y, times = cases.counts(rng, 9)[:, 0], rng.integers(1, 5, size=9)
    assert weighted_median(y, times.astype(float)) == np.median(np.repeat(y, times))


@pytest.mark.parametrize("seed", range(20))
def test_the_median_does_not_depend_on_the_order_of_the_rows(seed):
    """0.1 + 0.2 is not 0.3: where both halves are equal up to rounding, the middle is taken in any order."""
    rng = np.random.default_rng(seed)
    y, half = rng.normal(size=8), rng.choice([0.1, 0.2, 0.3, 0.7], size=4)
    order = np.argsort(y)
    w = np.empty(8)
    w[order[:4]], w[order[4:]] = half, rng.permutation(half)
    expected = 0.5 * (y[order[3]] + y[order[4]])
    assert naive.median(y, w) == expected
    for _ in range(20):
        again = rng.permutation(8)
        assert weighted_median(y[again], w[again]) == expected
