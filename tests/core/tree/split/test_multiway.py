"""What is left after each branch of a question that has many: the textbook's numbers of those rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.tree.split.absolute_error import add, first_above
from eigenwood.core.tree.split.multiway import heaviest_branch, write_class_rests, write_regression_rests
from eigenwood.core.tree.types import NodeSpan
from tests.core.tree import cases
from tests.naive import tree as naive

ANYWHERE = NodeSpan(0, 0, 0, np.uint64(0), -np.inf, np.inf)


def rests_of(data, rules, ends, place=ANYWHERE):
    """Return the values, impurities and weights of the rests."""
    n_rests, target = len(ends) - 3, cases.target_of(data)
    n_values = sum(data.n_classes) or data.y.shape[1]
    value, impurity, weight = np.full((n_rests, n_values), np.nan), np.full(n_rests, np.nan), np.full(n_rests, np.nan)
    write = write_class_rests if data.n_classes else write_regression_rests
    rows, code = np.arange(len(data.X), dtype=np.int32), cases.CRITERIA[rules.criterion]
    write(target, rows, np.array(ends, dtype=np.int64), code, place, value, impurity, weight)
    return value, impurity, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_equal_the_textbook(criterion, tied, n_outputs, weighted):
    ends = [0, 3, 4, 11, 13, 14, 20, 30]
    for seed in range(4):
        data = cases.table(seed, criterion, 30, weighted, tied, n_classes=(3, 2)[:n_outputs], n_outputs=n_outputs)
        rules = naive.Rules(criterion)
        for p, stats in enumerate(zip(*rests_of(data, rules, ends), strict=True), start=1):
            rows = list(range(ends[p], 30))
            assert_allclose(stats[0], naive.value(data, rows, rules), rtol=1e-12, atol=1e-14)
            assert_allclose(stats[1], naive.impurity(data, rows, rules), rtol=1e-9, atol=1e-13)
            assert_allclose(stats[2], data.weights[rows].sum(), rtol=1e-13)


@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_where_all_are_equal_nothing_is_left_of_rounding(criterion):
    data = cases.table(0, criterion, 9, weighted=True)
    data = data._replace(y=np.ones_like(data.y) if data.n_classes else np.full((9, 1), 0.1))
    value, impurity, _ = rests_of(data, naive.Rules(criterion), [0, 2, 3, 7, 9])
    assert impurity.tolist() == [0.0, 0.0]
    assert (value[:, -1] == (1.0 if data.n_classes else 0.1)).all()


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_nothing_is_lost_far_from_zero(criterion):
    y = np.arange(12.0)[:, None] % 5
    here, there = (naive.Data(np.zeros((12, 1)), y + offset, np.ones(12)) for offset in (0.0, 2.0**40))
    ends = [0, 1, 4, 7, 12]
    near, far = (rests_of(data, naive.Rules(criterion), ends)[1] for data in (here, there))
    assert_allclose(near, far, rtol=1e-10)


def test_values_keep_within_bounds():
    data = naive.Data(np.zeros((4, 1)), np.array([[0], [0], [1], [1]]), np.ones(4), (2,))
    value, _, _ = rests_of(data, naive.Rules("gini"), [0, 1, 2, 4], ANYWHERE._replace(lower=0.2, upper=0.6))
    assert_allclose(value, [[0.4, 0.6]])


def test_the_heaviest_branch_is_the_first_of_equals():
    rows, ends = np.arange(6, dtype=np.int32), np.array([0, 1, 3, 5, 6])
    assert heaviest_branch(np.empty(0), rows, ends) == 1
    assert heaviest_branch(np.array([1.0, 1.0, 1.0, 2.0, 1.0, 5.0]), rows, ends) == 3


@pytest.mark.parametrize("n", [1, 2, 7, 16])
def test_the_place_where_weights_pass_a_bar(n):
    rng = np.random.default_rng(n)
    own = rng.uniform(0.5, 2.0, size=n) * (rng.random(n) < 0.7)
    own[rng.integers(n)] = 1.0
    weight_tree, y_tree = np.zeros(n + 1), np.zeros(n + 1)
    for i in np.flatnonzero(own):
        add(weight_tree, y_tree, i, own[i], 0.0)
    for bar in np.linspace(0.0, 0.99, 12) * own.sum():
        assert first_above(weight_tree, bar) == np.flatnonzero(np.cumsum(own) > bar)[0]
