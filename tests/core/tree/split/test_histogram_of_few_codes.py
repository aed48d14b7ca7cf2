"""The best cut of a column of numbers whose rows are added up by code: the same as trying every cut."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.tree.criteria import ENTROPY, GINI, cost, gini_pair, log_table, tie_of, two_sides_cost
from eigenwood.core.tree.split.histogram_scan import (
    HistogramColumn,
    add_classes,
    add_targets,
    best_cut_of_histogram,
    last_code,
    next_code,
)
from eigenwood.core.tree.split.sizes import SPREAD
from eigenwood.core.tree.types import RowTargets
from tests.core.tree import cases
from tests.core.tree.roots import assert_clean, root_of, split_of, sums_of
from tests.naive import tree as naive

TARGETS = [("gini", (2,)), ("gini", (4,)), ("entropy", (2,)), ("entropy", (3,)), ("squared_error", ())]
CODES = {
    "all": [0, 1, 2, 3, 4, 5],
    "none in the middle": [0, 1, 6, 7],
    "none at the ends": [3, 4, 5],
    "two": [2, 7],
    "two at the ends": [0, 9],
}
WIDTH = 10


def codes_of(rng, n_rows, occurring):
    """Return codes of which all that occur are there."""
    return rng.permutation(np.concatenate([occurring, rng.choice(occurring, size=n_rows - len(occurring))]))


def coded(seed, criterion, n_classes, occurring, weighted, n_rows=30):
    """Return a table of one number, the codes of some of its rows, and what is known of these rows."""
    rng = np.random.default_rng(seed)
    data = cases.table(seed, criterion, n_rows, n_classes=n_classes, kinds=(cases.dense,), n_features=1)
    if weighted:
        data = data._replace(weights=rng.integers(1, 5, size=n_rows).astype(float))
    columns = np.zeros((3, n_rows + 9), dtype=np.uint16)
    rows = rng.permutation(n_rows + 9)[:n_rows].astype(np.int32)
    columns[1, rows] = codes_of(rng, n_rows, occurring)
    return data, columns, rows, root_of(data, naive.Rules(criterion))


NO_TABLE = np.empty((0, 0), dtype=np.uint8)


def found_in(columns, rows, root, sums, logs=None):
    """Return the best cut of the column in the middle."""
    sample, n_sums = root.sample, root.sums.size
    column, left = HistogramColumn(columns, NO_TABLE, 1, WIDTH, rows, rows, rows.size), np.empty(n_sums)
    logs = log_table(root.target, root.params) if logs is None else logs
    criterion = root.params.criterion
    return best_cut_of_histogram(column, targets_of(sample), root.sums, left, sums, root.stats, criterion, logs)


def targets_of(sample):
    return RowTargets(sample.class_codes, sample.y, sample.weights)


def best_of_all(codes, data, root):
    """Return the same after trying the cuts one by one; the first of those that are equal."""
    least, below, above = np.inf, -1, -1
    occurring, near = np.unique(codes), data._replace(y=data.y - (0 if data.n_classes else root.stats.centre))
    for here, following in zip(occurring[:-1], occurring[1:], strict=True):
        sides = np.flatnonzero(codes <= here), np.flatnonzero(codes > here)
        both = sum(cost(sums_of(near, side)[:-1], root.target.starts, root.params.criterion) for side in sides)
        if both < least - tie_of(root.stats):
            least, below, above = both, here, following
    return least, below, above


# ---- the best cut ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("occurring", CODES.values(), ids=CODES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_no_cut_costs_less(criterion, n_classes, weighted, occurring):
    for seed in range(8):
        data, columns, rows, root = coded(seed, criterion, n_classes, occurring, weighted)
        sums = np.zeros(WIDTH * root.sums.size)
        found, below, above, side = found_in(columns, rows, root, sums)
        least, *around = best_of_all(columns[1, rows], data, root)
        assert_allclose(found, least, rtol=1e-9, atol=1e-9)
        assert [below, above, side] == [*around, -1]
        assert not sums.any()


@pytest.mark.parametrize("seed", range(5))
def test_logarithms_from_a_table_change_nothing(seed):
    _, columns, rows, root = coded(seed, "entropy", (3,), CODES["all"], weighted=True)
    sums = np.zeros(WIDTH * 3)
    with_table, without = (found_in(columns, rows, root, sums, logs) for logs in (None, np.empty(0)))
    assert_allclose(with_table[0], without[0], rtol=1e-12)
    assert with_table[1:] == without[1:]


@pytest.mark.parametrize("seed", range(5))
def test_amounts_may_have_any_weights(seed):
    data, columns, rows, _ = coded(seed, "squared_error", (), CODES["all"], weighted=False)
    data = data._replace(weights=cases.weights(np.random.default_rng(seed), 30))
    root = root_of(data, naive.Rules("squared_error"))
    found, below, above, _ = found_in(columns, rows, root, np.zeros(WIDTH * 2))
    least, *around = best_of_all(columns[1, rows], data, root)
    assert_allclose(found, least, rtol=1e-9)
    assert [below, above] == around


@pytest.mark.parametrize("code", [0, 4, WIDTH - 1])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_a_column_that_does_not_vary_is_told_by_equal_codes(criterion, n_classes, code):
    _, columns, rows, root = coded(0, criterion, n_classes, [code], weighted=True)
    sums = np.zeros(WIDTH * root.sums.size)
    assert found_in(columns, rows, root, sums) == (np.inf, code, code, -1)
    assert not sums.any()


@pytest.mark.parametrize("shift", [-1, 0, 1])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_at_the_boundary_all_ways_find_the_same(criterion, n_classes, shift):
    """Up to so many codes the rows are added up; a limit that forbids nothing takes the other way."""
    n_rows, n_sums = 24, max(sum(n_classes), 2)
    n_codes = SPREAD * n_rows // n_sums + shift
    free, bound = naive.Rules(criterion), naive.Rules(criterion, min_weight_leaf=1e-9)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        every = cases.table(seed, criterion, 200, n_classes=n_classes, kinds=(cases.dense,), n_features=1)
        every = every._replace(X=codes_of(rng, 200, np.arange(n_codes)).astype(float)[:, None])
        rows = rng.permutation(200)[:n_rows].astype(np.int32)
        some = every._replace(X=every.X[rows], y=every.y[rows], weights=every.weights[rows])
        codes, features = cases.binned(every, rare_share=-1.0)
        splits = []
        for rules in (free, bound):
            root = root_of(some, rules, rare_share=-1.0)
            sample = root.sample._replace(rows=rows)
            split, _, ws = split_of(root._replace(codes=codes, features=features, sample=sample), some, rules)
            assert_clean(ws)
            splits.append(split)
        assert_allclose(splits[0].cost, splits[1].cost, rtol=1e-9, atol=1e-9)
        assert splits[0]._replace(cost=0.0, place=0) == splits[1]._replace(cost=0.0, place=0)


# ---- what it is made of ------------------------------------------------------------------------------------------


def source_of(columns, rows, at_hand):
    """Return where codes of the column in the middle are read: the columns, or a table of the rows at hand."""
    if not at_hand:
        return HistogramColumn(columns, NO_TABLE, 1, WIDTH, rows, rows, rows.size)
    own = np.random.default_rng(0).permutation(rows.size)
    table = np.empty((rows.size, columns.shape[0]), dtype=np.uint8)
    table[own] = columns[:, rows].T
    return HistogramColumn(np.empty_like(columns[:, :0]), table, 1, WIDTH, rows, own, rows.size)


@pytest.mark.parametrize("at_hand", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_classes_are_added_up_by_code(n_classes, weighted, at_hand):
    data, columns, rows, root = coded(n_classes, "gini", (n_classes,), CODES["none in the middle"], weighted)
    source = source_of(columns, rows, at_hand)
    sums = np.zeros(WIDTH * n_classes)
    add_classes(source, targets_of(root.sample), n_classes, sums)
    expected = np.bincount(columns[1, rows] * n_classes + data.y[:, 0], data.weights, WIDTH * n_classes)
    assert_array_equal(sums, expected)


@pytest.mark.parametrize("at_hand", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_amounts_are_added_up_by_code(weighted, at_hand):
    data, columns, rows, root = coded(1, "squared_error", (), CODES["none in the middle"], weighted)
    source = source_of(columns, rows, at_hand)
    sums = np.zeros(WIDTH * 2)
    add_targets(source, targets_of(root.sample)._replace(y=data.y), sums)
    assert_array_equal(sums[::2], np.bincount(columns[1, rows], data.weights, WIDTH))
    assert_array_equal(sums[1::2], np.bincount(columns[1, rows], data.weights * data.y[:, 0], WIDTH))


def test_only_the_first_rows_are_added_up():
    _, columns, rows, root = coded(2, "gini", (2,), CODES["all"], weighted=True)
    few, all_of_them = np.zeros(WIDTH * 2), np.zeros(WIDTH * 2)
    targets = targets_of(root.sample)
    add_classes(HistogramColumn(columns, NO_TABLE, 1, WIDTH, rows, rows, 7), targets, 2, few)
    add_classes(HistogramColumn(columns, NO_TABLE, 1, WIDTH, rows[:7], rows[:7], 7), targets, 2, all_of_them)
    assert_array_equal(few, all_of_them)


@pytest.mark.parametrize("n_sums", [2, 3])
def test_the_next_and_the_last_code_that_occur(n_sums):
    rng = np.random.default_rng(n_sums)
    for _ in range(30):
        occurring = np.sort(rng.choice(WIDTH, size=int(rng.integers(1, WIDTH + 1)), replace=False))
        sums = np.zeros((WIDTH, n_sums))
        sums[occurring, rng.integers(n_sums, size=occurring.size)] = 1.0  # one class of each is enough
        assert last_code(sums.ravel(), WIDTH, n_sums) == occurring[-1]
        for first in range(occurring[-1] + 1):
            assert next_code(sums.ravel(), first, WIDTH, n_sums) == occurring[occurring >= first][0]


def test_codes_of_amounts_occur_whatever_their_sums():
    sums = np.array([0.0, 0.0, 2.0, -3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])  # weight and amounts of five codes
    assert [next_code(sums, first, 5, 2) for first in range(4)] == [1, 1, 3, 3]
    assert last_code(sums, 5, 2) == 3


@pytest.mark.parametrize("seed", range(5))
def test_one_division_gives_the_cost_of_two_sides(seed):
    left, right = np.random.default_rng(seed).integers(1, 9, size=(2, 3)).astype(float)
    starts, parts = np.array([0, 3]), [(side**2).sum() for side in (left, right)]
    found = two_sides_cost(left.sum(), right.sum(), *parts, GINI, np.empty(0))
    assert_allclose(found, cost(left, starts, GINI) + cost(right, starts, GINI), rtol=1e-12)
    parts = [(side * np.log2(side)).sum() for side in (left, right)]
    found = two_sides_cost(left.sum(), right.sum(), *parts, ENTROPY, np.empty(0))
    assert_allclose(found, cost(left, starts, ENTROPY) + cost(right, starts, ENTROPY), rtol=1e-12)
    two = two_sides_cost(left[:2].sum(), right[:2].sum(), *((side[:2] ** 2).sum() for side in (left, right)), GINI,
                         np.empty(0))  # fmt: skip
    assert_allclose(two, gini_pair(*left[:2], *right[:2]), rtol=1e-12)
