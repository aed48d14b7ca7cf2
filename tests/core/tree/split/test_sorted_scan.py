"""Cuts of keys in order: the costs of many at a time are those of each, and the best is the one found one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.bits import add_member, is_member
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.criteria import (
    GINI,
    cost,
    gini_pair,
    log_table,
    squared_sides,
    tie_of,
    two_sides_cost,
    write_gini_costs,
    write_pair_costs,
    write_regression_costs,
)
from eigenwood.core.tree.split.sizes import AT_A_TIME, FEW_AT_A_TIME, PLACE, PLACE_BITS, SMALL
from eigenwood.core.tree.split.sorted_scan import (
    APART,
    EQUAL,
    NONE,
    UNCLEAR,
    CutLimits,
    ScanTargets,
    best_cut_of_sorted_columns,
    clear_cut,
    code_in,
    cut_classes,
    cut_numbers,
    cut_pair,
    first_near,
    least_cut,
    least_of,
    padded,
    weight_at_cut,
)
from eigenwood.core.tree.types import NodeStats
from eigenwood.core.tree.workspace import CutBuffers
from tests.core.tree import cases
from tests.core.tree.roots import root_of, sums_of
from tests.naive import tree as naive

TARGETS = [("gini", (2,)), ("gini", (4,)), ("entropy", (2,)), ("entropy", (3,)), ("squared_error", ())]
NO_LOGS = np.empty(0)


NO_PLACES = np.empty(0, dtype=np.uint32)


def new_cuts():
    return CutBuffers(*(np.zeros(SMALL + AT_A_TIME) for _ in CutBuffers._fields))


def targets_of(weights, class_codes=NO_PLACES, weighted_residuals=NO_LOGS):
    """Return rows with their weights, and classes or residuals."""
    return ScanTargets(class_codes.astype(np.uint32), weighted_residuals, weights)


# ---- one column --------------------------------------------------------------------------------------------------


def best_of_all(keys, first, last, data, root, min_weight):
    """Return the least cost of a cut and its place, after trying them one by one; the first of those that are equal."""
    least, place = np.inf, -1
    codes, rows, starts = keys >> PLACE_BITS, (keys & PLACE).astype(int), root.target.starts
    near = data._replace(y=data.y - (0 if data.n_classes else root.stats.centre))
    for j in range(first, last):
        sides = rows[: j + 1], rows[j + 1 :]
        if codes[j] == codes[j + 1] or min(data.weights[side].sum() for side in sides) < min_weight:
            continue
        both = sum(cost(sums_of(near, side)[:-1], starts, root.params.criterion) for side in sides)
        if both < least - tie_of(root.stats):
            least, place = both, j
    return least, place


def cut_of_keys(keys, first, last, data, root, min_weight, logs, skipped=0):
    """Return the same of the kernel for the criterion; several classes may skip keys of one code."""
    stats, total, weights, limits = root.stats, root.sums, data.weights, CutLimits(first, last, min_weight)
    if not data.n_classes:
        rows = targets_of(weights, weighted_residuals=weights * (data.y[:, 0] - stats.centre))
        return cut_numbers(keys, limits, rows, total[1], stats, new_cuts())
    rows = targets_of(weights, data.y[:, 0])
    if root.params.criterion == GINI and total.size == 2:
        return cut_pair(keys, limits, rows, total, stats, new_cuts())
    criterion = root.params.criterion
    return cut_classes(keys, keys.size, min(skipped, last), limits, rows, total, stats, criterion, logs, new_cuts())


@pytest.mark.parametrize("limits", [(1, 0, 0.0), (3, 0, 0.0), (1, 0, 9.0), (1, 5, 0.0), (2, 4, 6.0)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_no_cut_costs_less(criterion, n_classes, weighted, limits):
    min_samples_leaf, first, min_weight = limits
    for seed in range(12):
        rng, n = np.random.default_rng(seed), (2, 4, 9, 70)[seed % 4]
        data = cases.table(seed, criterion, n, n_classes=n_classes)
        if weighted:
            data = data._replace(weights=rng.integers(1, 4, size=n).astype(float))
        root, codes = root_of(data, naive.Rules(criterion)), np.sort(rng.integers((3, 8, 90)[seed % 3], size=n))
        keys = ((codes << PLACE_BITS) | rng.permutation(n)).astype(np.uint32)
        ends = max(first, min_samples_leaf - 1), n - min_samples_leaf
        least, place = best_of_all(keys, *ends, data, root, min_weight)
        for logs in (log_table(root.target, root.params), NO_LOGS):
            n_equal = int((codes == codes[0]).sum())
            for skipped in {0, n_equal // 2, n_equal - 1}:
                found, at = cut_of_keys(keys, *ends, data, root, min_weight, logs, skipped)
                assert_allclose(found, least, rtol=1e-9, atol=1e-9)
                assert at == place


def test_a_cut_has_weight_on_its_left_where_the_code_changes():
    keys = ((np.array([3, 3, 7, 8, 8]) << PLACE_BITS) | np.array([9, PLACE, 0, 1, 2])).astype(np.uint32)
    assert [weight_at_cut(keys, j, j + 1.0) for j in range(4)] == [0.0, 2.0, 3.0, 0.0]


@pytest.mark.parametrize("scale", [1e-160, 1e-90, 1e152], ids=str)
def test_amounts_and_weights_without_all_their_digits_are_looked_at_one_by_one(scale):
    """The product of two light sides, or the squares of large amounts, may be no number: the costs must be."""
    rng, n = np.random.default_rng(0), 40
    weights, weighted_residuals = rng.integers(1, 4, size=n) * min(scale, 1.0), rng.normal(size=n) * scale
    keys = ((np.arange(n) << PLACE_BITS) | rng.permutation(n)).astype(np.uint32)
    weight, total = weights.sum(), weighted_residuals.sum()
    rows = targets_of(weights, weighted_residuals=weighted_residuals)
    stats = NodeStats(0.0, weight, 0.0, 0.0, -np.inf, np.inf, np.uint64(0))  # nothing is equal
    found, place = cut_numbers(keys, CutLimits(0, n - 1, 0.0), rows, total, stats, new_cuts())
    rows = (keys & PLACE).astype(int)
    a, x = np.cumsum(weights[rows]), np.cumsum(weighted_residuals[rows])
    costs = [squared_sides(x[j], a[j], total - x[j], weight - a[j]) for j in range(n - 1)]
    assert np.isfinite(found)
    assert (found, place) == (min(costs), int(np.argmin(costs)))


# ---- many at a time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, AT_A_TIME - 1, AT_A_TIME, AT_A_TIME + 1, 100])
def test_so_many_cuts_are_computed_that_none_is_left_over(n):
    for at_a_time in (AT_A_TIME, FEW_AT_A_TIME):
        assert n <= padded(n, at_a_time) < n + at_a_time
        assert padded(n, at_a_time) % at_a_time == 0


@pytest.mark.parametrize("n", [1, 5, 33, 300])
def test_costs_are_those_of_each_cut_and_endless_where_there_is_none(n):
    rng = np.random.default_rng(n)
    lefts, parts, rests, costs, _ = new_cuts()
    weight, is_cut = 2.0 * n + 4.0, rng.random(n) < 0.7
    lefts[:n], parts[:n], rests[:n] = np.where(is_cut, 1.0 + np.arange(n), 0.0), rng.random(n), rng.random(n)

    def expected(of_one):
        return [of_one(a, x, y) if a > 0 else np.inf for a, x, y in zip(lefts[:n], parts[:n], rests[:n], strict=True)]

    assert write_regression_costs(lefts, parts, padded(n, AT_A_TIME), n, weight, 3.0, costs) == 0
    assert_array_equal(costs[:n], expected(lambda a, x, y: squared_sides(x, a, 3.0 - x, weight - a)))
    write_pair_costs(lefts, parts, padded(n, FEW_AT_A_TIME), n + 2.0, n + 2.0, costs)
    assert_array_equal(costs[:n], expected(lambda a, b, y: gini_pair(a - b, b, n + 2.0 - (a - b), n + 2.0 - b)))
    write_gini_costs(lefts, parts, rests, padded(n, FEW_AT_A_TIME), weight, costs)
    assert_array_equal(costs[:n], expected(lambda a, x, y: two_sides_cost(a, weight - a, x, y, GINI, NO_LOGS)))


def test_costs_that_are_not_exact_enough_are_counted_but_not_behind_the_last():
    lefts, parts, _, costs, _ = new_cuts()
    lefts[:6], parts[:6] = [1.0, 1e-300, 2.0, 3.0, 3.0, 1e-300], [1.0, 1.0, 1e160, 1e200, 1.0, 1.0]
    assert write_regression_costs(lefts, parts, padded(5, AT_A_TIME), 5, 4.0, 0.0, costs) == 3
    assert write_regression_costs(lefts, parts, padded(6, AT_A_TIME), 6, 4.0, 0.0, costs) == 4


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 31])
def test_the_least_is_found_wherever_it_stands(n):
    for at in range(n):
        costs = np.full(n + 4, 9.0)
        costs[at], costs[n:] = -1.0, -5.0
        assert least_of(costs, n) == -1.0


def one_by_one(costs, first, last, lefts, weight, min_weight, tie):
    """Return the best cut, each compared with the best before it."""
    best, place = np.inf, NONE
    for j in range(first, last):
        if costs[j] < best - tie and min(lefts[j], weight - lefts[j]) >= min_weight:
            best, place = costs[j], j
    return best, place


@pytest.mark.parametrize("seed", range(40))
def test_the_best_of_costs_that_are_nearly_equal_is_that_of_looking_at_them_one_by_one(seed):
    rng, tie = np.random.default_rng(seed), 1.0
    n, step = int(rng.integers(1, 30)), (0.2, 0.6, 1.5, 7.0)[seed % 4]
    costs = np.where(rng.random(n) < 0.2, np.inf, step * rng.integers(0, 12, size=n))
    lefts = 1.0 + np.arange(n)
    for first, min_weight in ((0, 0.0), (0, 3.0), (min(2, n), 0.0)):
        found = least_cut(CutLimits(first, n, min_weight), n + 1.0, tie, lefts, costs)
        assert found == one_by_one(costs, first, n, lefts, n + 1.0, min_weight, tie)
    place = clear_cut(costs, n, tie)
    near = np.flatnonzero(costs <= costs.min() + EQUAL * tie) if np.isfinite(costs.min()) else np.empty(0)
    is_clear = not ((costs > costs.min() + EQUAL * tie) & (costs <= costs.min() + APART * tie)).any()
    assert place == ((near[0] if near.size else NONE) if is_clear or near.size == 0 else UNCLEAR)


def test_the_first_that_is_near_is_returned():
    costs = np.array([9.0, 1.0, 1.2, 9.0, 3.0, 1.1])
    assert first_near(costs, 0, 4, 1.5, 2.0) == 1
    assert first_near(costs, 2, 6, 1.5, 2.0) == 2
    assert first_near(costs, 3, 5, 1.5, 2.0) == NONE
    assert first_near(costs, 0, 6, 1.5, 4.0) == UNCLEAR


# ---- all columns -------------------------------------------------------------------------------------------------


def node_of(y, weights, seed):
    weight = weights.sum()
    centre = (weights * y).sum() / weight
    weighted_residuals = weights * (y - centre)
    impurity = float((weights * (y - centre) ** 2).sum() / weight)
    total = weighted_residuals.sum()
    return (
        NodeStats(impurity, weight, -total * total / weight, centre, -np.inf, np.inf, np.uint64(seed)),
        weighted_residuals,
        total,
    )


def columns_one_by_one(order, feature_keys, start, n, rows, total, stats):
    """Return the best cut as it is found when each column is compared with the best before it."""
    tie, best, best_key = tie_of(stats), (np.inf, NONE, 0), None
    for at in range(order.shape[0]):
        keys = order[at, start : start + n]
        found, j = cut_numbers(keys, CutLimits(0, n - 1, 0.0), rows, total, stats, new_cuts())
        key = splitmix64(stats.seed ^ feature_keys[at])
        if found < best[0] - tie or (found <= best[0] + tie and found < np.inf and key < best_key):
            best, best_key = (found, at, j), key
    return best


@pytest.mark.parametrize("n_codes", [2, 5, 1000])
@pytest.mark.parametrize("n", [3, 4, 7, 20, 60])
def test_the_best_of_all_columns_is_that_of_looking_at_them_one_by_one(n, n_codes):
    n_clear, start, n_columns = 0, 3, 5
    for seed in range(30):
        rng = np.random.default_rng([seed, n, n_codes])
        order, constant = np.zeros((n_columns, n + start + 2), dtype=np.uint32), np.zeros(1, dtype=np.uint64)
        for at in range(n_columns):
            codes = rng.integers(n_codes if at != 2 else 1, size=n)  # the third column is constant
            order[at, start : start + n] = np.sort((codes << PLACE_BITS) | np.arange(n))
        add_member(constant, 4)  # and the fifth one is known to be
        feature_keys = splitmix64(np.arange(1, n_columns + 1, dtype=np.uint64))
        weights, y = rng.integers(1, 4, size=n).astype(float), rng.normal(size=n)
        stats, weighted_residuals, total = node_of(y, weights, seed)
        varied = [at for at in (0, 1, 3) if code_in(order[at, start]) != code_in(order[at, start + n - 1])]
        rows = targets_of(weights, weighted_residuals=weighted_residuals)
        found = best_cut_of_sorted_columns(order, constant, feature_keys, start, n, rows, total, stats, new_cuts())
        assert [at for at in range(n_columns) if not is_member(constant, at)] == varied
        if not varied:
            assert found == (np.inf, NONE, 0)
        elif found[1] != UNCLEAR:
            n_clear += 1
            expected = columns_one_by_one(order[varied], feature_keys[varied], start, n, rows, total, stats)
            assert found == (expected[0], varied[expected[1]], expected[2])
    assert n_clear > 20


def test_it_is_unclear_which_column_is_best_where_nothing_is_left_to_ask():
    """The widest gap decides there."""
    order = np.array([[0, 1, 4098, 4099]], dtype=np.uint32)
    weights, y = np.ones(4), np.array([1.0, 1.0, 5.0, 5.0])
    for changed, column in ((0.0, UNCLEAR), (0.5, 0)):
        y[0] += changed
        stats, weighted_residuals, total = node_of(y, weights, 0)
        rows = targets_of(weights, weighted_residuals=weighted_residuals)
        constant, feature_keys = np.zeros(1, dtype=np.uint64), splitmix64(np.ones(1, dtype=np.uint64))
        found = best_cut_of_sorted_columns(order, constant, feature_keys, 0, 4, rows, total, stats, new_cuts())
        assert found[1] == column
