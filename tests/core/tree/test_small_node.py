"""Small nodes that grow to their end in one loop: the tree of the general way, bit by bit, and what the loop calls."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.bits import add_member
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree import binning, grower
from eigenwood.core.tree.criteria import cost, log_table
from eigenwood.core.tree.node_stats import add_class_codes
from eigenwood.core.tree.small_node import (
    SmallNodes,
    best_cut,
    column_of_two,
    cost_of_two,
    cut_in_order,
    cut_of_two,
    gather_keys,
    gather_sparse,
    gather_targets,
    missing_at,
    sparse_bin_cost,
    write_keys,
    write_sorted_columns,
)
from eigenwood.core.tree.split.histogram import write_groups
from eigenwood.core.tree.split.partition import mark_left, moved, partition_sorted_keys
from eigenwood.core.tree.split.sizes import (
    AT_A_TIME,
    FARTHEST,
    FEW,
    LANES,
    NEAR,
    PLACE,
    PLACE_BITS,
    SMALL,
    SPREAD,
    VERY_FEW,
    WORTH,
)
from eigenwood.core.tree.split.sort_keys import (
    MANY_ZEROS,
    sort_by_counting,
    sort_by_insertion,
    sort_by_ranks,
    sort_keys,
    with_last_first,
    zeros_first,
)
from eigenwood.core.tree.split.sorted_scan import NONE
from eigenwood.core.tree.thresholds import both_codes, write_thresholds
from eigenwood.core.tree.workspace import (
    MANY,
    TURNS,
    new_draw_buffers,
    new_small_node_workspace,
    new_sparse_histogram,
)
from tests.core.tree import cases
from tests.core.tree.roots import SHARES, root_of, sums_of
from tests.naive import tree as naive

COMPILED = not config.DISABLE_JIT  # if not, a tree takes a hundred times as long
SEEDS = range(12 if COMPILED else 1)
SIZES = (2, 3, VERY_FEW, VERY_FEW + 1, FEW, FEW + 1, 64, *((300,) if COMPILED else ()))
TARGETS = [("gini", (2,)), ("gini", (4,)), ("entropy", (2,)), ("entropy", (3,)), ("squared_error", ())]
LIMITS = (
    {"min_samples_leaf": 2},
    {"min_samples_leaf": 9},
    {"min_weight_leaf": 3.0},
    {"min_samples_leaf": 3, "min_weight_leaf": 7.0},
    {"min_samples_split": 7},
    {"max_depth": 3},
    {"min_decrease": 0.02},
    {"pure_enough": 0.3},
)


def two_valued(rng, n_rows):
    return rng.integers(2, size=n_rows)


def rare_and_missing(rng, n_rows):
    return np.where(rng.random(n_rows) < 0.1, np.nan, cases.rare_counts(rng, n_rows))


KINDS = (*cases.COLUMNS, two_valued, rare_and_missing)


def whole_weights(rng, n_rows):
    return rng.integers(1, 4, size=n_rows).astype(float)


def whole_table(seed, criterion, n_classes, n_rows, weighted=False, kinds=KINDS, n_features=6):
    """Return a table whose sums are exact, in whatever order they are added up."""
    data = cases.table(seed, criterion, n_rows, n_classes=n_classes, kinds=kinds, n_features=n_features)
    return data._replace(weights=whole_weights(np.random.default_rng(seed), n_rows)) if weighted else data


def the_general_way(monkeypatch, fit, *given, **options):
    """Return the tree of which no node is grown by the loop for small ones."""
    with monkeypatch.context() as patched:
        patched.setattr(grower, "allows_small_nodes", lambda context: False)
        return fit(*given, **options)


def assert_same_both_ways(monkeypatch, data, rules, fit=cases.fit, **options):
    tree = fit(data, rules, **options)
    cases.assert_same_trees(tree, the_general_way(monkeypatch, fit, data, rules, **options))
    return tree


# ---- the tree of the general way ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_small_nodes_grow_as_the_general_way_grows_them(monkeypatch, criterion, n_classes, weighted, rare_share):
    for n_rows in SIZES:
        for seed in SEEDS:
            data = whole_table(seed, criterion, n_classes, n_rows, weighted)
            assert_same_both_ways(monkeypatch, data, naive.Rules(criterion), seed=seed, rare_share=rare_share)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_columns_of_one_kind_alone(monkeypatch, criterion, n_classes, kind):
    for seed, n_rows in enumerate((10, 40, 60)):
        data = whole_table(seed, criterion, n_classes, n_rows, seed == 1, (kind,), 4)
        for rare_share in (-1.0, 0.5):
            assert_same_both_ways(monkeypatch, data, naive.Rules(criterion), rare_share=rare_share)


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_limits_are_kept_as_by_the_general_way(monkeypatch, criterion, n_classes, limits):
    for seed in range(20 if COMPILED else 2):
        data = whole_table(seed, criterion, n_classes, (60, 25, 12)[seed % 3], weighted=seed % 2 == 0)
        for rare_share in (0.0, 0.5):
            assert_same_both_ways(monkeypatch, data, naive.Rules(criterion, **limits), rare_share=rare_share)


@pytest.mark.parametrize("n_features", [6, WORTH * 2 + 1, 24])
@pytest.mark.parametrize("max_features", [1, 2, 5])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_the_same_features_are_drawn(monkeypatch, criterion, n_classes, max_features, n_features):
    """With 24 features the draw is a heap; where few of them are looked at, no orders are kept."""
    for seed in range(10 if COMPILED else 1):
        n_rows, limits = (50, 33, 9)[seed % 3], ({}, {"min_samples_leaf": 2})[seed % 2]
        data = whole_table(seed, criterion, n_classes, n_rows, weighted=seed % 2 == 0, n_features=n_features)
        options = {"seed": seed, "max_features": max_features}
        for rare_share in (0.0, 0.5):
            assert_same_both_ways(monkeypatch, data, naive.Rules(criterion, **limits), rare_share=rare_share, **options)


@pytest.mark.parametrize("rare_share", [-1.0, 0.5])
@pytest.mark.parametrize("max_features", [1, 4])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_a_table_that_is_kept_by_row(monkeypatch, criterion, n_classes, max_features, rare_share):
    monkeypatch.setattr(binning, "WIDE", 1)
    monkeypatch.setattr(binning, "LARGE", 1)
    few = (cases.tied, two_valued, rare_and_missing)
    for seed, n_rows in enumerate((9, 60, 500) if COMPILED else (9, 40)):
        data = whole_table(seed, criterion, n_classes, n_rows, weighted=seed == 1, kinds=few, n_features=9)
        rules, options = naive.Rules(criterion), {"seed": seed, "max_features": max_features, "rare_share": rare_share}
        codes = cases.context_of(data, rules, rare_share=rare_share).binned.codes
        assert codes.by_row.shape == (n_rows if codes.feature.size else 0, codes.feature.size)
        tree = assert_same_both_ways(monkeypatch, data, rules, **options)
        with monkeypatch.context() as patched:
            patched.setattr(binning, "WIDE", 1000)
            cases.assert_same_trees(tree, cases.fit(data, rules, **options))


@pytest.mark.parametrize("max_features", [1, 4])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_columns_with_many_more_codes_than_the_node_has_rows(monkeypatch, criterion, n_classes, max_features):
    kinds = (cases.dense, cases.tied, rare_and_missing)
    data = whole_table(3, criterion, n_classes, 3000 if COMPILED else 700, True, kinds, 4)
    for seed, n_rows in enumerate((2, 5, 20, 50, NEAR + 1, FARTHEST + 1)[: 6 if COMPILED else 4]):
        rows = np.random.default_rng(seed).permutation(len(data.X))[:n_rows]
        options = {"seed": seed, "rows": rows, "max_features": max_features}
        assert_same_both_ways(monkeypatch, data, naive.Rules(criterion), **options)


@pytest.mark.parametrize("small", [1, 2, 9, 30])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_below_large_nodes_small_ones_grow_as_by_the_general_way(monkeypatch, criterion, n_classes, small):
    monkeypatch.setattr(grower, "SMALL", small)
    for seed in range(6 if COMPILED else 1):
        data = whole_table(seed, criterion, n_classes, 64, weighted=seed % 2 == 0)
        for fit in (cases.fit, cases.fit_in_one_call):
            assert_same_both_ways(monkeypatch, data, naive.Rules(criterion), fit, seed=seed, max_features=4)


@pytest.mark.skipif(not COMPILED, reason="so many rows take long")
@pytest.mark.parametrize("max_features", [2, 6])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_with_many_rows_both_ways_are_used(monkeypatch, criterion, n_classes, max_features):
    for seed in range(3):
        data = whole_table(seed, criterion, n_classes, 5000, weighted=seed == 1)
        options = {"seed": seed, "max_features": max_features, "rare_share": 0.5 * (seed % 2)}
        rules = naive.Rules(criterion, min_samples_leaf=1 + seed)
        tree = assert_same_both_ways(monkeypatch, data, rules, **options)
        assert tree.n_rows[0] > SMALL > tree.n_rows[tree.feature >= 0].min()
        cases.assert_same_trees(tree, assert_same_both_ways(monkeypatch, data, rules, cases.fit_in_one_call, **options))


@pytest.mark.parametrize("seed", SEEDS)
def test_amounts_with_uneven_weights(monkeypatch, seed):
    data = cases.table(seed, "squared_error", 40, weighted=True, tied_targets=False, kinds=KINDS, n_features=5)
    tree = cases.fit(data, naive.Rules("squared_error"), seed=seed)
    general = the_general_way(monkeypatch, cases.fit, data, naive.Rules("squared_error"), seed=seed)
    cases.assert_same_trees(tree, general, exact=False)


def test_what_the_loop_cannot_do_goes_the_general_way():
    def allows_small_nodes(data, criterion="gini", at_random=False, **rules):
        return grower.allows_small_nodes(cases.context_of(data, naive.Rules(criterion, **rules), at_random=at_random))

    data, y = (whole_table(0, criterion, (2,), 30) for criterion in ("gini", "squared_error"))
    uneven = cases.weights(np.random.default_rng(0), 30)
    X, categories = cases.with_categories(np.random.default_rng(0), data.X)
    assert allows_small_nodes(data)
    assert allows_small_nodes(
        data._replace(weights=2.0 * data.weights), "entropy", min_samples_leaf=3, min_weight_leaf=0.5
    )
    assert allows_small_nodes(y._replace(weights=uneven), "squared_error")
    assert not allows_small_nodes(data._replace(weights=uneven))
    assert not allows_small_nodes(data, at_random=True)
    assert not allows_small_nodes(data, monotonic_cst=(0, 0, 1, 0, 0, 0))
    assert not allows_small_nodes(data, "error")
    assert not allows_small_nodes(y, "poisson")
    assert not allows_small_nodes(y._replace(y=np.hstack([y.y, y.y])), "squared_error")
    assert not allows_small_nodes(data._replace(X=X, categories=categories))


def test_more_slots_than_can_be_written_out_go_the_general_way(monkeypatch):
    data = whole_table(1, "gini", (2,), 40, kinds=(cases.rare_counts,))
    context = cases.context_of(data, naive.Rules("gini"))
    n_sparse_bins = context.binned.codes.sparse_feature.size
    assert n_sparse_bins > 1
    for most, plain in ((n_sparse_bins, True), (n_sparse_bins - 1, False)):
        monkeypatch.setattr(grower, "MOST_SPARSE_BINS", most)
        assert grower.allows_small_nodes(context) == plain


@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 2}], ids=str)
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_nothing_is_left_for_the_next_node(monkeypatch, criterion, n_classes, limits):
    made = []

    def noted(*given):
        made.append(new_small_node_workspace(*given))
        return made[-1]

    monkeypatch.setattr(grower, "new_small_node_workspace", noted)
    for seed in range(3):
        cases.fit(whole_table(seed, criterion, n_classes, 60), naive.Rules(criterion, **limits))
        ws = made.pop()
        sparse = ws.sparse.sums[:-1], ws.sparse.bits, ws.gathered_sparse.bin_at
        assert not any(array.any() for array in (*sparse, ws.keys.counts, ws.sums))


# ---- keys in order -----------------------------------------------------------------------------------------------


def keys_of(rng, n, n_codes):
    """Return the keys of some rows, which stand in their own order, with room for as many as are compared at once."""
    codes, places = rng.integers(n_codes, size=n), np.sort(rng.choice(SMALL, size=n, replace=False))
    keys = np.zeros(n + LANES, dtype=np.uint32)
    keys[:n] = (codes << PLACE_BITS) | places
    return keys


def assert_put_in_order(order, keys, n, *workspace):
    expected, ordered = np.sort(keys[:n]), np.zeros(n, dtype=np.uint32)
    order(keys, n, *workspace, ordered)
    assert_array_equal(ordered, expected)


@pytest.mark.parametrize("n_codes", [1, 2, 5, 300, 65_536])
def test_keys_are_put_in_order_like_numpys(n_codes):
    rng = np.random.default_rng(n_codes)
    ranks, counts = np.empty(FEW, dtype=np.int32), np.zeros(SPREAD * SMALL, dtype=np.int32)
    for n in range(1, 71):
        assert_put_in_order(sort_by_insertion, keys_of(rng, n, n_codes), n)
        assert_put_in_order(sort_by_counting, keys_of(rng, n, n_codes), n, counts)
        assert_put_in_order(sort_keys, keys_of(rng, n, n_codes), n, ranks, counts)
        if n <= FEW:
            assert_put_in_order(sort_by_ranks, keys_of(rng, n, n_codes), n, ranks)
        assert not counts.any()


@pytest.mark.parametrize("n_codes", [2, 1000, 65_536])
@pytest.mark.parametrize("n", [255, 256, 1000, SMALL - 1, SMALL])
def test_many_keys_are_put_in_order_like_numpys(n, n_codes):
    keys, counts = keys_of(np.random.default_rng(n), n, n_codes), np.zeros(SPREAD * SMALL, dtype=np.int32)
    assert_put_in_order(sort_keys, keys, n, np.empty(FEW, dtype=np.int32), counts)
    assert not counts.any()


@pytest.mark.parametrize("n", [40, 300])
def test_keys_that_lie_far_apart_or_all_together(n):
    rng, counts = np.random.default_rng(n), np.zeros(SPREAD * SMALL, dtype=np.int32)
    for lone in (0, 65_535):
        codes = rng.integers(30_000, 30_020, size=n)
        codes[n // 2] = lone
        keys = ((codes << PLACE_BITS) | np.arange(n)).astype(np.uint32)
        assert_put_in_order(sort_by_counting, keys, n, counts)
        assert not counts.any()


def test_an_order_is_numpys_stable_one():
    rng = np.random.default_rng(0)
    for n in (5, 20, 60, 500):
        codes = rng.integers(4, size=n)
        keys, ordered = np.zeros(n + LANES, dtype=np.uint32), np.empty(n, dtype=np.uint32)
        keys[:n] = (codes << PLACE_BITS) | np.arange(n)
        sort_keys(keys, n, np.empty(FEW, dtype=np.int32), np.zeros(SPREAD * n, dtype=np.int32), ordered)
        assert_array_equal(ordered & PLACE, np.argsort(codes, kind="stable"))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 9, 100])
def test_zeros_come_first_if_they_are_many(n, share):
    rng = np.random.default_rng(n)
    codes = np.where(rng.random(n) < share, 0, rng.integers(1, 300, size=n))
    keys, ordered = ((codes << PLACE_BITS) | np.arange(n)).astype(np.uint32), np.full(n, 7, dtype=np.uint32)
    before, n_zeros = keys.copy(), int((codes == 0).sum())
    many = n_zeros * MANY_ZEROS >= n
    assert zeros_first(keys, n, ordered) == (n_zeros if many else 0)
    if many:
        assert_array_equal(ordered[:n_zeros], before[codes == 0])
        assert_array_equal(keys[: n - n_zeros], before[codes > 0])
    else:
        assert_array_equal(keys, before)


def test_the_last_keys_come_first():
    keys = np.arange(9, dtype=np.uint32)
    for n_last in range(9):
        assert_array_equal(with_last_first(keys, 9, n_last, np.empty(9, dtype=np.uint32)), np.roll(keys, n_last))


# ---- the best cut of a column -----------------------------------------------------------------------------------


def workspace_of(codes, target, n_sums):
    """Return room for the small nodes of a table that do not look at all columns."""
    return new_small_node_workspace(codes, target, False, new_sparse_histogram(codes, n_sums), new_draw_buffers(codes))


def at_hand(data, rules, **storage):
    """Return the root of a table, and a workspace in which it was gathered."""
    root = root_of(data, rules, **storage)
    ws, n = workspace_of(root.codes, root.target, root.sums.size), len(data.X)
    gather_targets(root.target, root.sample.rows, np.empty(0), ws.gathered)
    ws.constant[:], ws.node.total[:] = 0, root.sums
    ws.node.rows[:n], ws.node.weights[:n] = root.sample.rows, data.weights
    ws.node.class_codes[: root.sample.class_codes.shape[0]] = root.sample.class_codes
    ws.node.y[: root.sample.y.shape[0]] = root.sample.y
    if not data.n_classes:
        ws.gathered.weighted_residuals[:n] = data.weights * (data.y[:, 0] - root.stats.centre)
    return root, ws


def nodes_of(root, ws):
    """Return what small nodes are grown from."""
    logs = log_table(root.target, root.params)
    return SmallNodes(root.codes, root.features, root.target.starts, root.params, logs, 0, False, False, ws)


def test_there_is_room_for_the_cuts_of_the_largest_small_node():
    """So many costs are computed together that the last of them may lie beyond the rows."""
    _, ws = at_hand(cases.table(0, "gini", n_rows=9), naive.Rules("gini"))
    for room in (ws.cuts.lefts, ws.cuts.parts, ws.cuts.rests, ws.cuts.costs):
        assert room.size >= SMALL + AT_A_TIME


def varied_column(seed, criterion, n_classes, n_rows, kind):
    """Return a table of one column that is not constant, and whose targets are not all equal."""
    for again in range(100):
        data = whole_table(100 * seed + again, criterion, n_classes, n_rows, seed % 2 == 0, (kind,), 1)
        if len(set(data.X[:, 0].astype(str))) > 1 and len(set(data.y[:, 0])) > 1:
            return data
    raise AssertionError


def is_unconstrained(rules):
    return rules.min_samples_leaf == 1 and rules.min_weight_leaf == 0.0


def cut_by_order(root, ws, rules):
    """Return the cut of the only column, whose keys are put in order."""
    n, codes, keys = root.sample.rows.size, root.codes, ws.keys
    gather_keys(codes.columns, ws.gathered.table, 0, ws.node.rows, ws.gathered.own, 0, n, keys.keys)
    n_zeros = zeros_first(keys.keys, n, keys.ordered)
    sort_keys(keys.keys, n - n_zeros, keys.ranks, keys.counts, keys.ordered[n_zeros:])
    return cut_in_order(
        ws, keys.ordered, n_zeros, missing_at(codes, root.features, 0, 0), root.params, is_unconstrained(rules),
        log_table(root.target, root.params), root.stats, n,
    )  # fmt: skip


@pytest.mark.parametrize("limits", [{}, *LIMITS[:4]], ids=str)
@pytest.mark.parametrize("kind", [cases.dense, cases.tied, cases.holed, cases.mostly_missing])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_the_cut_of_a_column_is_the_textbooks(criterion, n_classes, kind, limits):
    rules = naive.Rules(criterion, **limits)
    for seed, n_rows in enumerate((2, 3, VERY_FEW, 20, 40)):
        data = varied_column(seed, criterion, n_classes, n_rows, kind)
        root, ws = at_hand(data, rules, rare_share=-1.0)
        found, below, above, side = cut_by_order(root, ws, rules)
        node = naive.new_node(data, list(range(n_rows)), (), (-np.inf, np.inf), rules, naive.first)
        least, question = naive.best_about(data, node, 0, rules)
        assert below != above
        if question is None:
            assert found == np.inf
            continue
        worst = node.weight * node.impurity
        assert_allclose(root.stats.cost - found, worst - least, rtol=1e-9, atol=1e-9 * worst)
        assert root.features.highs[below] == data.X[data.X[:, 0] <= question.threshold, 0].max()
        assert above == min(code for code in root.codes.columns[0] if code > below)
        assert side == (question.missing_left if np.isnan(data.X).any() else -1)


@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 2}], ids=str)
@pytest.mark.parametrize("kind", [cases.dense, cases.tied, cases.holed, two_valued])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_whichever_way_a_column_is_looked_at(criterion, n_classes, kind, limits):
    """From its order that is kept, added up, or put in order now."""
    rules = naive.Rules(criterion, **limits)
    for seed, n_rows in enumerate((2, 3, VERY_FEW, 20, FEW + 1)):
        root, ws = at_hand(varied_column(seed, criterion, n_classes, n_rows, kind), rules, rare_share=-1.0)
        missing = missing_at(root.codes, root.features, 0, 0)
        write_sorted_columns(root.codes.columns, ws, 0, n_rows)
        expected = cut_by_order(root, ws, rules)
        for kept in (False, True):
            free, nodes = is_unconstrained(rules), nodes_of(root, ws)
            found = best_cut(nodes, 0, missing, False, free, root.stats, 0, n_rows, kept)
            assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-9)
            assert found[1:] == expected[1:]
        assert not ws.sums.any()


@pytest.mark.parametrize("column", [(0, 1), (1, 0), (1, np.nan), (np.nan, 1), (1, 1), (np.nan, np.nan)], ids=str)
@pytest.mark.parametrize("weights", [(1, 1), (2, 3)], ids=str)
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_two_rows_are_told_apart_as_many_are(criterion, n_classes, weights, column):
    y = np.array([[0], [1]]) if n_classes else np.array([[3.0], [7.0]])
    rules = naive.Rules(criterion)
    root, ws = at_hand(
        naive.Data(np.array(column, dtype=float)[:, None], y, np.array(weights, dtype=float), n_classes), rules,
        rare_share=-1.0,
    )  # fmt: skip
    expected = cut_by_order(root, ws, rules)
    missing = missing_at(root.codes, root.features, 0, 0)
    gather_keys(root.codes.columns, ws.gathered.table, 0, ws.node.rows, ws.gathered.own, 0, 2, ws.keys.keys)
    found = cut_of_two(ws.keys.keys, ws.gathered.weighted_residuals, ws.gathered.weights, missing)
    assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12)
    assert found[1:] == expected[1:]
    assert (found[0] < np.inf) == (found[1] != found[2]) == (str(column[0]) != str(column[1]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_one_slot_against_all_other_rows(criterion, n_classes, weighted):
    data = whole_table(2, criterion, n_classes, 25, weighted)
    root, sparse_bin = root_of(data, naive.Rules(criterion)), np.arange(25) % 3 == 0
    near, starts = data._replace(y=data.y - (0 if n_classes else root.stats.centre)), root.target.starts
    sums = np.array([sums_of(near, sparse_bin), sums_of(near, ~sparse_bin)])
    expected = sum(cost(line[:-1], starts, root.params.criterion) for line in sums)
    for line in (0, 1):
        found = sparse_bin_cost(sums, line, root.sums, starts, root.stats.weight, root.params.criterion, np.empty(0))
        assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_draw_decides_which_column_tells_two_numbers_apart_before_missing_ones(seed):
    rng = np.random.default_rng(seed)
    X, keys = rng.integers(2, size=(4, 9)).astype(np.float64), splitmix64(np.arange(1, 10, dtype=np.uint64))
    X[0, :3] = np.nan
    X[2], X[3] = 1.0 - X[1], X[0]
    codes, features = binning.binned_dense(X, np.full(9, -1), -1.0, 1)
    table = np.ascontiguousarray(codes.columns.T)
    for node_seed in range(5):
        at = column_of_two(codes, features, table, keys, 0, 1, np.uint64(node_seed))
        varied = np.flatnonzero(~(X[0] == X[1]))
        assert at == min(
            varied, key=lambda at: (np.isnan(X[:2, at]).any(), int(splitmix64(np.uint64(node_seed) ^ keys[at])))
        )
    assert column_of_two(codes, features, table, keys, 0, 3, np.uint64(0)) == NONE


def test_two_rows_that_are_alone_cost_what_each_of_them_does():
    weighted_residuals, weights = np.array([3.0, -4.0]), np.array([1.0, 2.0])
    assert cost_of_two(weighted_residuals, weights, 0, 1) == -9.0 - 8.0
    assert cost_of_two(weighted_residuals[:0], weights, 0, 1) == 0.0


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "n_classes"), TARGETS, ids=str)
def test_columns_of_numbers_only(monkeypatch, criterion, n_classes, weighted, max_features):
    """Nodes of two rows, and amounts whose columns are looked at together, go ways of their own."""
    options = {} if max_features is None else {"max_features": max_features}
    for seed in range(6 if COMPILED else 1):
        kinds = ((cases.dense,), (cases.dense, cases.tied), (cases.tied, cases.holed))[seed % 3]
        data = whole_table(seed, criterion, n_classes, (2, 30, 90)[seed % 3], weighted, kinds, 5)
        if not n_classes and seed >= 3:
            data = data._replace(y=np.random.default_rng(seed).normal(size=data.y.shape).round(4) * 2.0**14)
        assert_same_both_ways(monkeypatch, data, naive.Rules(criterion), seed=seed, rare_share=-1.0, **options)


@pytest.mark.parametrize("n", [1, 3, MANY, MANY + 1, 4 * MANY + 3])
def test_labels_are_added_up_in_turns(n):
    rng = np.random.default_rng(n)
    class_codes, weights = rng.integers(5, size=(n, 1)).astype(np.int32), whole_weights(rng, n)
    total = np.full(5, 7.0)
    add_class_codes(class_codes, weights, n, np.full((TURNS, 5), 7.0), total)
    assert_array_equal(total, np.bincount(class_codes[:, 0], weights, minlength=5))


def test_thresholds_lie_in_the_middle_of_the_codes_that_were_noted():
    rng = np.random.default_rng(0)
    X = np.column_stack([cases.dense(rng, 30), cases.holed(rng, 30)]).astype(float)
    _, features = cases.binned(naive.Data(X, cases.class_codes(rng, 30, (2,)), np.ones(30), (2,)), rare_share=-1.0)
    whole, real = np.full((4, 8), -1, dtype=np.int32), np.full((4, 3), 7.0)
    missing = int(features.missing[1])
    for node, (feature, below, above) in {1: (0, 2, 5), 3: (1, 0, missing)}.items():
        whole[node, 2], real[node, 0] = feature, both_codes(below, above)
    write_thresholds(features, whole, real, 1, 4)
    middle = 0.5 * (features.highs[2] + features.lows[5])
    assert_allclose(real[:, 0], [7.0, middle, 7.0, np.finfo(float).max], rtol=1e-15)


# ---- sparse columns ------------------------------------------------------------------------------------------------


def some_rows(seed, rare_share):
    """Return a coded table, and some of its rows in any order."""
    data = whole_table(seed, "gini", (2,), 40, kinds=(cases.thin, cases.rare_counts, rare_and_missing, cases.tied))
    rows = np.random.default_rng(seed).permutation(40)[: (1, 2, 3, 5, 20, 40)[seed % 6]].astype(np.int32)
    return data, cases.binned(data, rare_share=rare_share), rows


def entries_of(codes, row):
    """Return what a row has that is rare: features and codes."""
    sparse_bins = codes.entries[codes.entry_start[row] : codes.entry_start[row + 1]]
    return [(int(codes.sparse_feature[sparse_bin]), int(codes.sparse_code[sparse_bin])) for sparse_bin in sparse_bins]


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("seed", range(12))
def test_entries_are_taken_where_some_rows_have_them_and_others_do_not(seed, rare_share):
    data, (codes, _), rows = some_rows(seed, rare_share)
    gathered = workspace_of(codes, cases.target_of(data), 2).gathered_sparse
    for own in (rows, rows[::-1], rows[: (rows.size + 1) // 2]):  # nothing of one is left for the next
        n_sparse_bins = gather_sparse(codes, own, gathered)
        having = [entries_of(codes, row) for row in own]
        varying = {entry for row in having for entry in row if not all(entry in other for other in having)}
        kept = [*zip(gathered.feature[:n_sparse_bins].tolist(), gathered.code[:n_sparse_bins].tolist(), strict=True)]
        assert kept == sorted(varying)
        assert [int(key) for key in gathered.keys[:n_sparse_bins]] == [
            splitmix64(np.uint64(feature + 1)) for feature, _ in kept
        ]
        assert not gathered.bin_at.any()
        for i, row in enumerate(having):
            sparse_bins = gathered.entries[gathered.entry_start[i] : gathered.entry_start[i + 1]]
            assert [kept[sparse_bin] for sparse_bin in sparse_bins] == [entry for entry in row if entry in varying]


@pytest.mark.parametrize("seed", range(12))
def test_keys_of_sparse_columns_have_the_codes_of_dense_ones(seed):
    data, (codes, _), rows = some_rows(seed, 0.5)
    dense, _ = cases.binned(data, rare_share=-1.0)
    root, n, n_columns = root_of(data, naive.Rules("gini"), rare_share=0.5), rows.size, codes.feature.size
    ws = workspace_of(codes, root.target, 2)
    gather_targets(root.target, rows, np.empty(0), ws.gathered)
    ws.node.rows[:n] = rows
    gathered, present, group = ws.gathered_sparse, ws.sparse.present, ws.sparse.group
    n_sparse_bins = gather_sparse(codes, rows, gathered)
    present[:n_sparse_bins] = np.arange(n_sparse_bins)
    n_groups = write_groups(present, n_sparse_bins, gathered.feature, group)
    for at in range(n_columns + n_groups):
        write_keys(nodes_of(root, ws), at, 0, n)
        found = ws.keys.keys[:n] >> PLACE_BITS
        assert_array_equal(ws.keys.keys[:n] & PLACE, np.arange(n))
        if at < n_columns:
            assert_array_equal(found, codes.columns[at, rows])
        else:
            feature = gathered.feature[group[at - n_columns]]
            assert_array_equal(
                found, dense.bin_of_code[dense.start[feature] + dense.columns[feature, rows].astype(int)]
            )


def test_the_code_of_missing_numbers_is_the_last_of_a_column():
    rng = np.random.default_rng(0)
    kinds = cases.tied, cases.holed, cases.dense, cases.mostly_missing
    X = np.column_stack([kind(rng, 30) for kind in kinds])
    data = naive.Data(X.astype(float), cases.class_codes(rng, 30, (2,)), np.ones(30), (2,))
    codes, features = cases.binned(data, rare_share=-1.0)
    for at in range(4):
        missing, is_missing = missing_at(codes, features, at, at), np.isnan(X[:, at])
        assert (missing >= 0) == is_missing.any()
        assert_array_equal(codes.columns[at] == missing, is_missing)
    codes, features = cases.binned(data, rare_share=0.5)
    assert missing_at(codes, features, codes.feature.size, 3) == features.missing[3] >= 0


# ---- rows are moved ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [-1, 9])
def test_codes_up_to_the_cut_and_missing_ones_go_left(missing):
    codes, places = np.array([3, 9, 0, 5, 4, 9]), np.array([2, 5, 7, 8, 11, 30])
    keys, is_left = ((codes << PLACE_BITS) | places).astype(np.uint32), np.zeros(40, dtype=np.uint8)
    mark_left(keys, 6, 4, missing, is_left)
    assert_array_equal(is_left[places], (codes <= 4) | (codes == missing))


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_moved_and_keep_their_order(seed):
    rng = np.random.default_rng(seed)
    start, n, places = 7, 20, np.sort(rng.permutation(40)[:32]).astype(np.uint32)
    own, is_left, weights = places.copy(), rng.integers(2, size=40).astype(np.uint8), whole_weights(rng, 40)
    n_left, balance = moved(is_left, n, own, start, weights, np.empty(40, dtype=np.uint32))
    inside = places[start : start + n]
    goes_left = is_left[inside] == 1
    expected = [*places[:start], *inside[goes_left], *inside[~goes_left], *places[start + n :]]
    assert_array_equal(own, expected)
    assert n_left == goes_left.sum()
    assert balance == weights[inside[goes_left]].sum() - weights[inside[~goes_left]].sum()


@pytest.mark.parametrize("n", [3, 20, 33, 100])
def test_orders_are_written_of_columns_that_may_vary_and_both_sides_keep_them(n):
    rng, start, n_columns = np.random.default_rng(n), 5, 4
    data = naive.Data(
        rng.integers(6, size=(300, n_columns)) * 1.0, cases.class_codes(rng, 300, (2,)), np.ones(300), (2,)
    )
    root, rows = root_of(data, naive.Rules("gini"), rare_share=-1.0), rng.permutation(300)[:n]
    ws, columns = workspace_of(root.codes, root.target, 2), root.codes.columns
    own, constant, order = ws.gathered.own, ws.constant, ws.orders.keys
    own[:], order[:], constant[:], ws.node.rows[:n] = np.arange(own.size), 77, 0, rows
    add_member(constant, 2)
    write_sorted_columns(columns, ws, start, n)

    keys = (columns[:, rows].astype(np.uint32) << PLACE_BITS) | own[start : start + n]
    is_left = rng.integers(2, size=own.size).astype(np.uint8)
    goes_left = is_left[start : start + n] == 1
    expected = np.full_like(order, 77)  # nothing is written to others
    expected[[0, 1, 3], start : start + n] = np.sort(keys[[0, 1, 3]], axis=1)
    assert_array_equal(order, expected)

    partition_sorted_keys(order, constant, is_left, start, n, np.empty(n, dtype=np.uint32))
    for at in (0, 1, 3):
        expected[at, start : start + n] = [*np.sort(keys[at, goes_left]), *np.sort(keys[at, ~goes_left])]
    assert_array_equal(order, expected)
