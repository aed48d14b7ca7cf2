"""The best cut of a column from its rows in order: the same as from the sums of its codes, and as the textbook's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.bits import taken_out, word_count
from eigenwood.core.tree.criteria import has_exact_row_updates, log_table
from eigenwood.core.tree.split.column import best_cut_of_bins, varies
from eigenwood.core.tree.split.histogram import add_up_classes, add_up_targets
from eigenwood.core.tree.split.sizes import FEW_ROWS, is_summed, most_summed
from eigenwood.core.tree.split.sorted_rows import (
    SortedColumn,
    best_cut_of_sorted_rows,
    number_count,
    order_by_counting,
    order_by_insertion,
)
from eigenwood.core.tree.types import BinnedTable, BinOrder, CutRules, RowTargets
from tests.core.tree import cases
from tests.core.tree.roots import assert_clean, root_of, sample_of, split_of, workspace_of
from tests.naive import tree as naive

ORDERED = ("gini", "entropy", "squared_error")
KINDS = (cases.dense, cases.tied, cases.holed, cases.mostly_missing)
LIMITS = (
    {},
    {"min_samples_leaf": 4},
    {"min_weight_leaf": 7.5},
    {"monotonic_cst": (1,)},
    {"monotonic_cst": (-1,), "min_samples_leaf": 2, "min_weight_leaf": 3.5},
)


def coded(rng, n_rows, n_codes):
    return rng.integers(n_codes, size=(3, n_rows)).astype(np.uint16)


def column_of(seed, criterion, n_rows, kind, n_classes=(2,)):
    """A table of one column that is not constant, with whole weights."""
    for again in range(100):
        data = cases.table(100 * seed + again, criterion, n_rows, kinds=(kind,), n_features=1, n_classes=n_classes)
        if len(set(data.X[:, 0].astype(str))) > 1 and len(set(data.y[:, 0])) > 1:
            break
    times = np.random.default_rng(seed).integers(1, 4, size=n_rows)
    return data._replace(weights=times.astype(float)) if seed % 2 else data


def signs_of(rules):
    return rules.monotonic_cst[0] if rules.monotonic_cst else 0


def by_order(root, rules):
    """Return the cost, the two codes at the cut, and the side of the missing rows."""
    ws, rows, missing = workspace_of(root), root.sample.rows, root.features.missing[0]
    keys, places, codes, sample = ws.order.keys, ws.order.places, root.codes, root.sample
    n_codes = codes.start[1]
    if rows.size <= FEW_ROWS:
        order_by_insertion(codes.columns, 0, rows, keys, places)
    else:
        order_by_counting(codes.columns, 0, n_codes, rows, ws.order.counts, ws.bits, ws.bins, keys, places)
    assert_clean(ws)
    n_numbers = rows.size
    if missing >= 0:
        n_numbers = number_count(keys, rows.size, n_codes - 1)
    column = SortedColumn(keys, places, rows.size, n_numbers, ws.order.cuts)
    targets = RowTargets(sample.class_codes, sample.y, sample.weights)
    cost, j, side = best_cut_of_sorted_rows(column, targets, root.sums, ws.left, cut_rules(root, rules))
    return (cost, int(keys[j]), int(keys[j + 1]), side) if j >= 0 else (np.inf, -1, -1, -1)


def cut_rules(root, rules):
    logs = log_table(root.target, root.params)
    return CutRules(root.params, root.stats, root.target.starts, signs_of(rules), logs)


def by_sums(root, rules):
    """Return the same from the sums of the codes."""
    codes, sample, starts, n_sums = root.codes, root.sample, root.target.starts, root.sums.size
    n_codes = codes.start[1]
    sums, bits = np.zeros((n_codes, n_sums + 1)), np.zeros(word_count(n_codes), dtype=np.uint64)
    if sample.class_codes.shape[0] > 0:
        add_up_classes(codes.columns, 0, sample.rows, sample.class_codes, sample.weights, starts, sums, bits)
    else:
        add_up_targets(codes.columns, 0, sample.rows, sample.y, sample.weights, sums, bits)
    bins = np.empty(n_codes, dtype=np.int64)
    n_bins = taken_out(bits, word_count(n_codes), bins)
    order, table = BinOrder(sums, bins, n_bins, root.sums, np.empty(n_sums + 2)), BinnedTable(codes, root.features)
    cut = best_cut_of_bins(table, sample, 0, 0, order, cut_rules(root, rules))
    return cut.cost, cut.below, cut.above, cut.missing_left


def assert_same_cut(here, there, root):
    assert_allclose(here[0], there[0], rtol=1e-9, atol=1e-9 * root.stats.weight * root.stats.impurity)
    assert here[1:3] == there[1:3]
    assert here[3] == there[3] or here[1] < 0


# ---- rows in order -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_codes", [1, 2, 5, 65_536])
@pytest.mark.parametrize("n_rows", [1, 2, 7, FEW_ROWS])
def test_a_few_rows_are_put_in_numpys_stable_order(n_rows, n_codes):
    rng = np.random.default_rng(n_rows)
    for _ in range(5):
        columns, rows = coded(rng, 40, n_codes), rng.permutation(40)[:n_rows].astype(np.int32)
        keys, places = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int32)
        order_by_insertion(columns, 1, rows, keys, places)
        assert_array_equal(places, np.argsort(columns[1, rows], kind="stable"))
        assert_array_equal(keys, np.sort(columns[1, rows]))


@pytest.mark.parametrize("n_codes", [1, 2, 5, 64, 65, 1000, 65_536])
@pytest.mark.parametrize("n_rows", [1, 17, 200])
def test_many_rows_are_put_in_numpys_stable_order(n_rows, n_codes):
    rng = np.random.default_rng(n_rows)
    columns, rows = coded(rng, 300, n_codes), rng.permutation(300)[:n_rows].astype(np.int32)
    keys, places = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int32)
    counts, bits = np.zeros(n_codes, dtype=np.int32), np.zeros(word_count(n_codes), dtype=np.uint64)
    order_by_counting(columns, 2, n_codes, rows, counts, bits, np.empty(n_codes, dtype=np.int64), keys, places)
    assert_array_equal(places, np.argsort(columns[2, rows], kind="stable"))
    assert_array_equal(keys, np.sort(columns[2, rows]))
    assert not counts.any()
    assert not bits.any()


@pytest.mark.parametrize("n_codes", [1, 2, 3])
def test_a_constant_column_is_seen(n_codes):
    rng = np.random.default_rng(n_codes)
    for _ in range(20):
        columns, rows = coded(rng, 9, n_codes), rng.permutation(9)[:4]
        for at in range(3):
            assert varies(columns, at, rows) == (len(set(columns[at, rows])) > 1)


def test_missing_numbers_are_counted_off_the_end():
    keys = np.array([0, 2, 2, 7, 7], dtype=np.int32)
    assert number_count(keys, 5, 7) == 3
    assert number_count(keys, 5, 8) == 5
    assert number_count(keys[3:], 2, 7) == 0


# ---- the best cut ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ORDERED)
def test_the_cut_equals_that_of_the_sums_and_the_textbooks(criterion, kind, limits):
    rules = naive.Rules(criterion, **limits)
    for seed, n_rows in enumerate((2, 3, 9, FEW_ROWS, FEW_ROWS + 1, 30)):
        n_classes = (2,) if limits.get("monotonic_cst") or seed % 3 else (4,)
        data = column_of(seed, criterion, n_rows, kind, n_classes)
        root = root_of(data, rules, rare_share=-1.0)
        found = by_order(root, rules)
        assert_same_cut(found, by_sums(root, rules), root)

        node = naive.new_node(data, list(range(n_rows)), (), (-np.inf, np.inf), rules, naive.first)
        least, question = naive.best_about(data, node, 0, rules)
        if question is None:
            assert found[0] == np.inf
            continue
        splitmix64 = node.weight * node.impurity
        assert_allclose(root.stats.cost - found[0], splitmix64 - least, rtol=1e-9, atol=1e-9 * splitmix64)
        below = root.features.highs[root.features.start[0] + root.codes.bin_of_code[found[1]]]
        assert below == data.X[data.X[:, 0] <= question.threshold, 0].max()
        assert found[3] == (question.missing_left if np.isnan(data.X).any() else -1)


@pytest.mark.parametrize("bounds", [(-np.inf, 2.9), (2.5, np.inf), (2.6, 3.2)], ids=str)
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_values_of_both_sides_keep_the_bounds(sign, bounds):
    rules = naive.Rules("squared_error", monotonic_cst=(sign,))
    for seed in range(6):
        data = column_of(seed, "squared_error", 30, cases.dense)
        root = root_of(data, rules, rare_share=-1.0)
        root = root._replace(stats=root.stats._replace(lower=bounds[0], upper=bounds[1]))
        found = by_order(root, rules)
        assert_same_cut(found, by_sums(root, rules), root)
        if found[1] >= 0:
            is_left = root.codes.columns[0] <= found[1]
            left, right = (np.average(data.y[side, 0], weights=data.weights[side]) for side in (is_left, ~is_left))
            assert bounds[0] <= min(left, right)
            assert max(left, right) <= bounds[1]
            assert (right - left) * sign >= 0


@pytest.mark.parametrize("criterion", ["squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_amounts_may_have_any_weights(seed, criterion):
    rules, rng = naive.Rules(criterion), np.random.default_rng(seed)
    data = column_of(seed, criterion, 40, cases.holed)._replace(weights=cases.weights(rng, 40))
    root = root_of(data, rules, rare_share=-1.0)
    assert_same_cut(by_order(root, rules), by_sums(root, rules), root)


# ---- which way is taken ------------------------------------------------------------------------------------------


def test_rows_go_from_side_to_side_where_that_is_exact():
    for name, code in cases.CRITERIA.items():
        assert has_exact_row_updates(code, True, 1) == (name in ORDERED)
        assert has_exact_row_updates(code, False, 1) == (name == "squared_error")
        assert not has_exact_row_updates(code, True, 2)


@pytest.mark.parametrize("n_sums", [2, 3, 7])
def test_few_codes_are_added_up(n_sums):
    for n_rows in (1, FEW_ROWS, FEW_ROWS + 1, 100):
        most = most_summed(n_rows, n_sums)
        assert is_summed(most - 1, n_rows, n_sums) == (n_rows > FEW_ROWS)
        assert not is_summed(most, n_rows, n_sums)
        assert most_summed(n_rows + 1, n_sums) >= most  # so a bench for the root has room for what lies below


@pytest.mark.parametrize("shift", [-1, 0, 1])
@pytest.mark.parametrize("n_classes", [(2,), (5,)], ids=str)
@pytest.mark.parametrize("criterion", ORDERED)
def test_at_the_boundary_both_ways_find_the_same(criterion, n_classes, shift):
    n_rows, rules = 20, naive.Rules(criterion)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = cases.table(seed, criterion, n_rows=400, n_classes=n_classes, kinds=(cases.dense,), n_features=1)
        n_codes = most_summed(n_rows, 2 if criterion == "squared_error" else sum(n_classes)) + shift
        codes = np.concatenate([np.arange(n_codes), rng.integers(n_codes, size=400 - n_codes)])
        data = data._replace(X=codes[:, None].astype(float))
        rows = rng.permutation(400)[:n_rows].astype(np.int32)
        alone = data._replace(X=data.X[rows], y=data.y[rows], weights=data.weights[rows])
        root = root_of(alone, rules, rare_share=-1.0)  # what is known of the rows, but with the codes of all
        (codes, features), target = cases.binned(data, rare_share=-1.0), cases.target_of(data)
        sample = sample_of(target, rows, root.params.criterion)
        sample.y[:] -= root.stats.centre
        root = root._replace(codes=codes, features=features, sample=sample, target=target)
        found, (split, _, ws) = by_order(root, rules), split_of(root, data, rules)
        assert_clean(ws)
        assert is_summed(n_codes, n_rows, root.sums.size) == (shift < 0)
        assert_same_cut(found, by_sums(root, rules), root)
        first = root.codes.start[split.candidate]
        bins = [int(np.flatnonzero(root.codes.bin_of_code[first:] == side)[0]) for side in (split.below, split.above)]
        assert_same_cut(found, (split.cost, *bins, split.missing_left), root)
