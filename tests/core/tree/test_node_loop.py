"""The nodes of a part of a tree: what is known of them, how their rows are moved, and growth in one call."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.tree import grower
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR
from eigenwood.core.tree.types import LEAF, NodeSpan
from eigenwood.core.tree.workspace import N_CATEGORIES, N_SMALL, N_STACK, begun, new_node_buffers, with_longer_lists
from tests.core.tree import cases
from tests.core.tree.roots import SHARES, moved, root_of, sample_of, split_of, table
from tests.naive import tree as naive

ROOT = NodeSpan(0, 0, 0, np.uint64(0), -np.inf, np.inf)


def nested(seed, criterion, n_rows=50):
    """Return a table of columns that are constant where the first one is low: the lower, the more of them."""
    data = cases.table(seed, criterion, n_rows, n_features=1, kinds=(cases.dense,), weighted=seed % 2 == 0)
    rng, first = np.random.default_rng(seed), data.X[:, :1]
    X = rng.integers(4, size=(n_rows, 6)) * (first > np.linspace(-1.5, 1.0, 6))
    return data._replace(X=np.hstack([first, X]))


# ---- what is known of a node -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_the_impurity_and_weight_equal_the_textbook(criterion, n_outputs, weighted):
    for seed in range(3):
        data = table(seed, criterion, weighted=weighted, n_classes=(3, 2)[:n_outputs], n_outputs=n_outputs)
        rules, rows = naive.Rules(criterion), np.arange(len(data.X))
        stats = root_of(data, rules).stats
        assert_allclose(stats.weight, data.weights.sum(), rtol=1e-13)
        assert_allclose(stats.impurity, naive.impurity(data, rows, rules), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12])
def test_the_impurity_of_amounts_far_from_zero(offset, criterion):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y, w = offset + rng.integers(-8, 9, size=31) / 8.0, rng.integers(1, 5, size=31).astype(float)
        data = naive.Data(np.arange(31.0)[:, None], y[:, None], w)
        near = data._replace(y=data.y - offset)  # exact
        here, there = (root_of(each, naive.Rules(criterion)).stats for each in (data, near))
        assert_allclose(here.impurity, there.impurity, rtol=1e-10)


def test_ranks_and_amounts_by_size_do_not_depend_on_where_zero_is():
    y = np.array([[3.0], [1.0], [2.0], [1.0]])
    for offset in (0.0, 2.0**40):
        data = naive.Data(np.zeros((4, 1)), y + offset, np.ones(4))
        sample = sample_of(cases.target_of(data), np.arange(4, dtype=np.int32), ABSOLUTE_ERROR)
        assert_array_equal(sample.ranks[:, 0], [3, 0, 2, 1])
        assert_array_equal(sample.ordered[:, 0], [-1.0, -1.0, 0.0, 1.0])


@pytest.mark.parametrize("monotonic_cst", [(), (1, -1)], ids=str)
@pytest.mark.parametrize("heavy", [1e15, 1e18, 1e30])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_weights_that_are_lost_beside_others_leave_no_nan(criterion, heavy, monotonic_cst):
    for seed, n_rows in enumerate((2, 12, 40)):
        data = cases.table(seed, criterion, n_rows, kinds=(cases.dense,), n_features=2, tied_targets=False)
        data = data._replace(weights=np.where(np.arange(n_rows) % 3 == 0, heavy, 1.0))
        tree = cases.fit(data, naive.Rules(criterion, monotonic_cst=monotonic_cst))
        cases.assert_leaves_hold_their_rows(tree, data)
        for name in ("value", "impurity", "weight"):
            assert np.isfinite(getattr(tree, name)).all(), name


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e12])
def test_what_gains_nothing_is_asked_whatever_the_scale(scale, criterion):
    """A gain of 0 must not look like a loss, in whatever unit the amounts are given."""
    corners = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    X = np.repeat(corners, 3, axis=0).astype(float)
    for seed in range(6):
        low, more, weight = np.random.default_rng(seed).random(3)
        y = scale * (low + more * (X.sum(axis=1) % 2))
        tree = cases.fit(naive.Data(X, y[:, None], np.full(24, weight)), naive.Rules(criterion))
        assert (tree.left == LEAF).sum() == 8
        assert_allclose(tree.impurity[tree.left == LEAF], 0.0, atol=1e-12 * scale)


# ---- rows are moved ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_moved_and_keep_their_order(seed, rare_share):
    data, rules = table(seed, "gini", kinds=(cases.tied, cases.rare_counts, cases.holed)), naive.Rules("gini")
    root = root_of(data, rules, rare_share=rare_share)
    split, order, _ = split_of(root, data, rules)
    rows = np.random.default_rng(seed).permutation(len(data.X)).astype(np.int32)
    column, last = data.X[:, split.feature], split.below
    greatest = root.features.highs[root.features.start[split.feature] + last]
    is_left = np.where(np.isnan(column), split.missing_left == 1, column <= greatest)
    expected = sorted(rows, key=lambda row: not is_left[row])
    n_left = moved(root, rows, split, order)
    assert_array_equal(rows, expected)
    assert 0 < n_left < len(rows)
    assert n_left == is_left.sum()


def test_more_rows_than_a_byte_can_count_are_moved():
    data = naive.Data(np.arange(600.0)[:, None], (np.arange(600) >= 300)[:, None].astype(int), np.ones(600), (2,))
    rules, rows = naive.Rules("gini"), np.arange(600, dtype=np.int32)
    root = root_of(data, rules)
    split, order, _ = split_of(root, data, rules)
    assert moved(root, rows, split, order) == 300


# ---- all in one call ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"max_features": 2}, {"at_random": True}], ids=["all", "few features", "at random"]
)
@pytest.mark.parametrize("multiway", [False, True])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_one_call_gives_the_tree_of_many(monkeypatch, criterion, multiway, options):
    for seed in range(2):
        data = cases.table(seed, criterion, n_rows=45, weighted=seed % 2 == 0)
        X, categories = cases.with_categories(np.random.default_rng(seed), data.X)
        data, rules = data._replace(X=X, categories=categories), naive.Rules(criterion, multiway=multiway)
        monkeypatch.setattr(grower, "SMALL", 1)
        many = cases.fit(data, rules, seed=seed, **options)
        for small in (1, 5, 20, 10**9):  # from lone rows to the whole tree
            monkeypatch.setattr(grower, "SMALL", small)
            cases.assert_same_trees(cases.fit_in_one_call(data, rules, seed=seed, **options), many, exact=False)


@pytest.mark.parametrize("max_features", [1, 2, 7])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_what_is_known_to_be_constant_below_changes_nothing(monkeypatch, criterion, max_features):
    for seed in range(2):
        data, rules, trees = nested(seed, criterion), naive.Rules(criterion), []
        for small in (1, 30):
            monkeypatch.setattr(grower, "SMALL", small)
            trees.append(cases.fit(data, rules, seed=seed, max_features=max_features))  # known to nobody, if 1
            for rare_share in SHARES:
                options = {"max_features": max_features, "rare_share": rare_share}
                trees.append(cases.fit_in_one_call(data, rules, seed=seed, **options))
        for tree in trees[1:]:
            cases.assert_same_trees(trees[0], tree, exact=False)


# ---- room --------------------------------------------------------------------------------------------------------


def test_there_is_room_for_every_node_from_the_beginning():
    buffers = begun(new_node_buffers(9, 18, 2, 1, 9), [ROOT._replace(end=9)])
    assert {array.shape[0] for array in (buffers.ints, buffers.floats, buffers.value)} == {18}
    assert {array.shape[0] for array in (buffers.stack, buffers.seeds, buffers.bounds, buffers.constants)} == {10}
    assert buffers.counts[N_STACK] == 1
    assert_array_equal(buffers.stack[0], [0, 9, 0, -1, 0])


def test_lists_grow_longer_and_keep_what_they_have():
    buffers = begun(new_node_buffers(9, 18, 2, 1, 9), [ROOT._replace(end=9)])
    buffers = with_longer_lists(buffers, 4)
    assert buffers.categories.size == 4
    buffers.categories[:], buffers.counts[N_CATEGORIES] = np.arange(4), 4
    longer = with_longer_lists(buffers, 4)
    assert longer.categories.size == 12
    assert_array_equal(longer.categories[:4], np.arange(4))
    assert longer.counts[N_CATEGORIES] == 4


@pytest.mark.parametrize("small", [1, 10**9])
def test_many_nodes_wait_at_once(monkeypatch, small):
    """The greatest amount is always cut off first, so that it waits on the right while the left goes on."""
    n_rows, rules = 100, naive.Rules("squared_error")
    data = naive.Data(np.arange(float(n_rows))[:, None], 4.0 ** np.arange(n_rows)[:, None], np.ones(n_rows))
    monkeypatch.setattr(grower, "SMALL", small)
    at_once = cases.fit_in_one_call(data, rules)
    assert at_once.left.size == 2 * n_rows - 1
    assert_array_equal(at_once.n_rows[:n_rows], np.arange(n_rows, 0, -1))  # all on the left come first
    monkeypatch.setattr(grower, "SMALL", 1)
    cases.assert_same_trees(at_once, cases.fit(data, rules))


@pytest.mark.parametrize("small", [1, 4, 30])
def test_as_many_small_nodes_are_left_for_later_as_there_are(monkeypatch, small):
    """Every other row is of the same class, so that they are cut off one by one."""
    n_rows, rules, workspaces = 80, naive.Rules("gini"), []
    data = naive.Data(np.arange(float(n_rows))[:, None], np.arange(n_rows)[:, None] % 2, np.ones(n_rows), (2,))
    whole = cases.fit_in_one_call(data, rules)

    def workspace(*sizes):
        workspaces.append(new_node_buffers(*sizes))
        assert workspaces[-1].small_nodes.shape[0] > n_rows - small
        return workspaces[-1]

    monkeypatch.setattr(grower, "SMALL", small)
    monkeypatch.setattr(grower, "new_node_buffers", workspace)
    cases.assert_same_trees(cases.fit_in_one_call(data, rules), whole)
    assert workspaces[0].counts[N_SMALL] == n_rows - small + 1


@pytest.mark.parametrize("multiway", [False, True])
def test_many_categories_are_listed(monkeypatch, multiway):
    rng = np.random.default_rng(0)
    n_rows, n_categories = 300, 94
    X = rng.integers(n_categories, size=(n_rows, 2)).astype(float)
    data = naive.Data(X, cases.class_codes(rng, n_rows, (2,)), np.ones(n_rows), (2,), (0, 1))
    rules = naive.Rules("gini", multiway=multiway)
    at_once = cases.fit_in_one_call(data, rules)
    assert at_once.categories.size > n_categories  # so that the list grew longer
    cases.assert_leaves_hold_their_rows(at_once, data)
    monkeypatch.setattr(grower, "SMALL", 1)
    cases.assert_same_trees(at_once, cases.fit(data, rules))
