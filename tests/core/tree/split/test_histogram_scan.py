"""The best cut of one column from the sums of its codes: places, sides, ties and what is allowed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.tree.criteria import bin_cost, cost, gini_pair, tie_of
from eigenwood.core.tree.split.histogram_scan import best_cut_of_sums, is_unconstrained, keeps_order, random_place
from eigenwood.core.tree.types import BinOrder, CutRules
from tests.core.tree import cases
from tests.core.tree.roots import root_of, sums_of
from tests.naive import tree as naive

NO_LOGS = np.empty(0)
NO_COSTS = (np.empty(0), np.empty(0), np.empty(0))


def lined(seed, criterion, n_classes=(2,), n_outputs=1, n_rows=25, n_bins=5):
    """Return a table, the line of each of its rows, the sums of the lines, and what is known of all of them."""
    data = cases.table(seed, criterion, n_rows, weighted=True, tied_targets=False, n_classes=n_classes,
                       n_outputs=n_outputs)  # fmt: skip
    line = np.random.default_rng(seed).permutation(np.arange(n_rows) % n_bins)
    sums = np.array([sums_of(data, np.flatnonzero(line == k)) for k in range(n_bins)])
    return data, line, sums, root_of(data, naive.Rules(criterion))


def found_in(sums, root, order, has_missing=False, at=-1, draw=0):
    """Return the best cut of lines whose sums are not centred."""
    total = sums[order].sum(axis=0)
    bins, rules = BinOrder(sums, order, order.size, total[:-1], np.empty(total.size + 1)), rules_of(root)
    return best_cut_of_sums(bins, total[-1], has_missing, at, np.uint64(draw), (NO_COSTS, NO_COSTS), rules, False)


def rules_of(root):
    return CutRules(root.params, root.stats, root.target.starts, 0, NO_LOGS)


def cost_of(sums, root, left, right):
    if not left or not right:
        return np.inf
    starts, criterion = root.target.starts, root.params.criterion
    return sum(cost(sums[side, :-1].sum(axis=0), starts, criterion) for side in (left, right))


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
def test_no_cut_costs_less(criterion, n_outputs):
    for seed in range(6):
        _, _, sums, root = lined(seed, criterion, n_classes=(3, 2)[:n_outputs], n_outputs=n_outputs)
        order = np.random.default_rng(seed).permutation(5)
        found, place, side = found_in(sums, root, order)
        costs = [cost_of(sums, root, [*order[: p + 1]], [*order[p + 1 :]]) for p in range(4)]
        assert_allclose(found, min(costs), rtol=1e-9)
        assert (place, side) == (np.argmin(costs), -1)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
def test_missing_values_go_to_the_better_side(criterion):
    sides = set()
    for seed in range(12):
        _, _, sums, root = lined(seed, criterion)
        order = np.random.default_rng(seed).permutation(5)
        *numbers, missing = order.tolist()
        found, place, side = found_in(sums, root, order, has_missing=True)
        right = [cost_of(sums, root, numbers[: p + 1], [*numbers[p + 1 :], missing]) for p in range(4)]
        left = [cost_of(sums, root, [*numbers[: p + 1], missing], numbers[p + 1 :]) for p in range(3)]
        assert_allclose(found, min(*right, *left), rtol=1e-9)
        assert side == (min(left) < min(right) - tie_of(root.stats))
        assert place == np.argmin(left if side else right)
        sides.add(side)
    assert sides == {0, 1}


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_a_side_may_have_exactly_the_least_weight(criterion):
    """One side has two rows of weight 1, the other four."""
    for order in (np.array([0, 1]), np.array([1, 0])):
        data = cases.table(0, criterion, n_rows=6, tied_targets=False)
        sums = np.array([sums_of(data, rows) for rows in ([0, 1], [2, 3, 4, 5])])
        for least, place in ((2.0, 0), (2.5, -1)):
            root = root_of(data, naive.Rules(criterion, min_weight_leaf=least))
            assert found_in(sums, root, order)[1] == place


@pytest.mark.parametrize("criterion", ["error", "absolute_error"])
@pytest.mark.parametrize("missing", [False, True])
def test_of_cuts_that_cost_the_same_the_second_cost_decides(criterion, missing):
    """Wherever these rows are cut, the ones are the minority of their side, and 0 is its median.

    If the last row is a missing one, it is best put beside the zeros on the left.
    """
    y = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0])
    data = naive.Data(np.arange(y.size)[:, None] * 1.0, y[:, None] * 1.0, np.ones(y.size),
                      n_classes=(2,) if criterion == "error" else ())  # fmt: skip
    root = root_of(data, naive.Rules(criterion))
    sums = np.array([sums_of(data, [k]) for k in range(y.size)])
    order = np.arange(y.size)
    costs = (np.full(y.size, 3.0), np.empty(0), np.empty(0))
    bins = BinOrder(sums, order, order.size, sums.sum(axis=0)[:-1], np.empty(sums.shape[1] + 1))
    known = costs, costs
    found, place, side = best_cut_of_sums(bins, y.size, missing, -1, np.uint64(0), known, rules_of(root), False)
    assert (found, place, side) == (3.0, 5, 1 if missing else -1)


def test_absolute_errors_of_two_outputs_are_averaged():
    y = np.repeat(np.arange(2.0), 5)
    data = naive.Data(np.arange(10.0)[:, None], np.column_stack([y, y]), np.ones(10))
    root = root_of(data, naive.Rules("absolute_error"))
    sums, order = np.array([sums_of(data, [k]) for k in range(10)]), np.arange(10)
    costs = (2 * root.stats.cost * (0.6 + 0.01 * np.abs(order - 4)), np.empty(0), np.empty(0))
    bins = BinOrder(sums, order, 10, sums.sum(axis=0)[:-1], np.empty(sums.shape[1] + 1))
    found, place, _ = best_cut_of_sums(bins, 10, False, -1, np.uint64(0), (costs, costs), rules_of(root), False)
    assert_allclose(found, 0.6 * root.stats.cost)
    assert place == 4


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("at", range(3))
def test_one_place_alone_may_be_looked_at(at, draw):
    _, _, sums, root = lined(3, "gini")
    order = np.arange(5)
    found, place, side = found_in(sums, root, order, at=at)
    assert (place, side) == (at, -1)
    assert_allclose(found, cost_of(sums, root, [*order[: at + 1]], [*order[at + 1 :]]), rtol=1e-9)
    assert found_in(sums, root, order, has_missing=True, at=at, draw=draw)[1:] == (min(at, 2), draw)


@pytest.mark.parametrize("seed", range(6))
def test_the_short_way_of_two_classes_is_the_long_way(seed):
    _, _, sums, root = lined(seed, "gini")
    a, b = sums[0, :2]
    c, d = sums[1:, :2].sum(axis=0)
    assert_allclose(gini_pair(a, b, c, d), a + b - (a * a + b * b) / (a + b) + c + d - (c * c + d * d) / (c + d))
    assert_allclose(gini_pair(a, b, c, d), cost_of(sums, root, [0], [1, 2, 3, 4]), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [(2,), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_one_line_against_all_others(criterion, n_classes):
    _, _, sums, root = lined(1, criterion, n_classes)
    total = sums.sum(axis=0)[:-1]
    for line in range(5):
        found = bin_cost(sums, line, total, root.target.starts, root.params.criterion, NO_LOGS)
        others = [other for other in range(5) if other != line]
        assert_allclose(found, cost_of(sums, root, [line], others), rtol=1e-9)


def test_every_cut_is_free_unless_something_is_to_be_heeded():
    data = cases.table(0, "gini", n_rows=9)
    free = cases.rule_of(data, naive.Rules("gini"))
    assert is_unconstrained(free, 0)
    assert not is_unconstrained(free, -1)
    assert not is_unconstrained(free._replace(min_samples_leaf=2), 0)
    assert not is_unconstrained(free._replace(min_weight_leaf=0.1), 0)


@pytest.mark.parametrize("thin", [False, True])
def test_a_random_cut_lies_where_the_draw_says(thin):
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=9))
    codes = np.sort(rng.choice(9, size=6, replace=False))  # those that occur
    for draw in rng.integers(2**64, size=50, dtype=np.uint64):
        if thin:  # the fourth is the common one: it stands on the last line
            sparse_code, order = np.delete(codes, 3), np.array([0, 1, 2, 5, 3, 4])
            place = random_place(order, 6, -1, codes, sparse_code, codes[3], 0, values, values, draw)
        else:
            place = random_place(np.arange(6), 6, 0, codes, codes[:0], -1, 0, values, values, draw)
        share = float(draw >> np.uint64(11)) / 2**53
        threshold = values[codes[0]] * (1 - share) + values[codes[-1]] * share
        assert place == sum(values[codes[1:-1]] <= threshold)


@pytest.mark.parametrize(
    ("left", "right", "sign", "kept"),
    [(1, 2, 1, True), (2, 1, 1, False), (1, 2, -1, False), (2, 1, -1, True), (1, 1, 1, True), (0, 2, 1, False),
     (1, 4, 1, False), (0.5, 3, 1, True)],
)  # fmt: skip
def test_values_rise_or_fall_within_bounds(left, right, sign, kept):
    assert keeps_order(float(left), float(right), sign, 0.5, 3.0) == kept
