"""One tree of a forest, in one call: the tree that grows in steps, over the same rows."""

import numpy as np
import pytest
from numba import config

from eigenwood.core.forest.bootstrap import Bootstrap, drawn_counts
from eigenwood.core.forest.grow_batch import (
    BATCH_ROWS,
    WorkspacePool,
    batch_size,
    grow_batch,
    grow_tree,
    is_for_batches,
)
from eigenwood.core.forest.packing import pack, pack_batch
from eigenwood.core.tree import binning, grower
from eigenwood.core.tree.binning import binned_dense
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, GINI, POISSON, SQUARED_ERROR, log_table
from eigenwood.core.tree.grower import GrowthContext, growth_steps, tree_so_far
from eigenwood.core.tree.types import GrowthParams, Target

COMPILED = not config.DISABLE_JIT  # if not, a tree takes a hundred times as long
CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squares": SQUARED_ERROR, "medians": ABSOLUTE_ERROR, "poisson": POISSON}


def context(criterion, n_rows=300, seed=0, n_categories=-1, **params):
    """Return codes, a target with draws as weights, and the rule."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 1)
    X[:, 1] = rng.integers(4, size=n_rows)
    X[rng.random(n_rows) < 0.1, 2] = np.nan
    X[:, 3] = rng.random(n_rows) < 0.03  # kept by its rare entries
    counts = np.array([-1, n_categories, -1, -1, -1, -1])
    classes = rng.integers(3, size=(n_rows, 1)).astype(np.int32)
    y = np.round(rng.gamma(2.0, size=(n_rows, 1)), 1)
    weights = rng.poisson(1.0, size=n_rows).astype(float)
    is_class = criterion in (GINI, ENTROPY)
    n_values = 3 if is_class else 1
    class_codes, numbers = (classes, y[:0]) if is_class else (classes[:0], y)
    target = Target(class_codes, numbers, weights, np.array([0, n_values]))
    chosen = {
        "max_depth": 2**31 - 1, "min_samples_split": 2, "min_samples_leaf": 1, "min_weight_leaf": 0.0,
        "min_decrease": 0.0,
        "max_leaf_impurity": 0.0, "max_features": 6, "at_random": False, "multiway": False, "integer_weights": True,
        "total_weight": float(weights.sum()), **params,
    }  # fmt: skip
    return binned_dense(X, counts, 0.5, 1), target, GrowthParams(criterion=criterion, **chosen)


def assert_same(one, other):
    for name, given, found in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(given, found, err_msg=name)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_features", [6, 2])
@pytest.mark.parametrize("n_categories", [-1, 4], ids=["numbers", "categories"])
def test_at_once_or_in_steps(criterion, max_features, n_categories):
    binned, target, params = context(CRITERIA[criterion], max_features=max_features, n_categories=n_categories)
    monotonic_cst, seed = np.zeros(6, dtype=np.int64), np.uint64(7)
    tree = grow_tree(binned, target, params, monotonic_cst, 0, log_table(target, params), seed, WorkspacePool())
    *_, last = growth_steps(binned, target, np.flatnonzero(target.weights), params, monotonic_cst, 0, seed, 1)
    assert_same(tree, tree_so_far(last))
    assert tree.n_rows[0] == np.count_nonzero(target.weights)
    assert tree.weight[0] == target.weights.sum()


@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR], ids=["classes", "amounts"])
def test_a_table_of_many_rows(criterion):
    """Large nodes are split one by one when a tree grows in steps."""
    binned, target, params = context(criterion, n_rows=9000, max_features=3)
    monotonic_cst, seed = np.zeros(6, dtype=np.int64), np.uint64(1)
    tree = grow_tree(binned, target, params, monotonic_cst, 0, log_table(target, params), seed, WorkspacePool())
    for n_threads in (1, 3):
        *_, last = growth_steps(
            binned, target, np.flatnonzero(target.weights), params, monotonic_cst, 0, seed, n_threads
        )
        assert_same(tree, tree_so_far(last))


@pytest.mark.parametrize("max_features", [5, 100, 150], ids=["some", "more than a turn", "all"])
@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR], ids=["classes", "amounts"])
def test_a_wide_table_by_row(monkeypatch, criterion, max_features):
    """A large node reads its columns some at a time; where the codes stand makes no difference."""
    n_rows = 700 if COMPILED else 60
    _, target, params = context(criterion, n_rows=n_rows, max_features=max_features)
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n_rows, 150)) < rng.random(150), 0.0, rng.integers(1, 9, size=(n_rows, 150)))
    X[:, 7] = 1.0  # constant
    monkeypatch.setattr(grower, "SMALL", 16)
    trees = []
    for large in (1, 1 << 30):
        monkeypatch.setattr(binning, "LARGE", large)
        binned = binned_dense(X, np.full(150, -1), 0.1, 1)
        assert (binned.codes.by_row.shape[0] == n_rows) == (large == 1)
        assert 64 < binned.codes.feature.size < 150
        monotonic_cst, logs = np.zeros(150, dtype=np.int64), log_table(target, params)
        trees.append(grow_tree(binned, target, params, monotonic_cst, 0, logs, np.uint64(7), WorkspacePool()))
    assert_same(*trees)


@pytest.mark.parametrize("criterion", [GINI, ENTROPY, SQUARED_ERROR], ids=["gini", "entropy", "amounts"])
@pytest.mark.parametrize("small", [16, 4096])
def test_a_room_that_was_used_is_as_good_as_a_new_one(monkeypatch, small, criterion):
    monkeypatch.setattr(grower, "SMALL", small)
    n_rows = 300 if COMPILED else 100
    binned, target, params = context(criterion, n_rows=n_rows, max_features=3)
    monotonic_cst, workspaces, rng = np.zeros(6, dtype=np.int64), WorkspacePool(), np.random.default_rng(0)
    for seed in range(3):
        drawn = target._replace(weights=rng.poisson((0.1, 2.0, 0.5)[seed], size=n_rows).astype(float))
        for own in (params, params._replace(max_features=6)):  # looks at all features: needs another room
            given = binned, drawn, own, monotonic_cst, 0, log_table(drawn, own), np.uint64(seed)
            assert_same(grow_tree(*given, workspaces), grow_tree(*given, WorkspacePool()))


def test_a_workspace_is_used_again_by_one_tree_at_a_time():
    binned, target, params = context(GINI)
    place = GrowthContext(binned, target, params, np.zeros(6, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int32))
    workspaces = WorkspacePool()
    with workspaces.one_for(place, 300, 300) as first, workspaces.one_for(place, 300, 300) as second:
        assert first is not second
    with workspaces.one_for(place, 300, 300) as again:
        assert again is first or again is second
    place = place._replace(params=params._replace(max_features=3))
    with workspaces.one_for(place, 300, 300) as some:
        assert some is not first
        assert some is not second
    with workspaces.one_for(place._replace(params=params._replace(max_features=2)), 300, 300) as fewer:
        assert fewer is some
    with workspaces.one_for(place._replace(params=params._replace(integer_weights=False)), 300, 300) as other:
        assert other is not first
        assert other is not second


def test_best_first():
    binned, target, params = context(GINI, max_features=3)
    tree = grow_tree(
        binned, target, params, np.zeros(6, dtype=np.int64), 9, log_table(target, params), np.uint64(1), WorkspacePool()
    )
    assert (tree.left < 0).sum() == 9


def test_rows_of_weight_zero_are_not_there():
    """Whatever stands in them."""
    binned, target, params = context(SQUARED_ERROR)
    monotonic_cst, logs, seed = np.zeros(6, dtype=np.int64), np.empty(0), np.uint64(3)
    tree = grow_tree(binned, target, params, monotonic_cst, 0, logs, seed, WorkspacePool())
    other = target._replace(y=np.where(target.weights[:, None] > 0, target.y, 1e6))
    assert_same(grow_tree(binned, other, params, monotonic_cst, 0, logs, seed, WorkspacePool()), tree)


@pytest.mark.parametrize("max_features", [6, 2], ids=["all", "some"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squares"])
def test_a_batch_is_its_trees_one_by_one(criterion, max_features):
    n_rows, criterion = 60, CRITERIA[criterion]
    binned, target, params = context(criterion, n_rows=n_rows, max_features=max_features, total_weight=float(n_rows))
    monotonic_cst, seeds = np.zeros(6, dtype=np.int64), np.arange(5, dtype=np.uint64)
    bootstrap = Bootstrap(n_rows, np.empty(0), np.random.default_rng(1).permutation(n_rows))
    draws = np.zeros((seeds.size, n_rows))
    for t, seed in enumerate(seeds):
        draws[t, bootstrap.rows] = drawn_counts(seed + np.uint64(100), n_rows, np.empty(0), n_rows)
    targets = [target._replace(weights=weights) for weights in draws]
    logs, workspaces = log_table(targets[0], params), WorkspacePool()
    shared = GrowthContext(binned, target, params, monotonic_cst, logs, np.empty(0, dtype=np.int32))
    alone = [
        grow_tree(binned, own, params, monotonic_cst, 0, logs, seed, WorkspacePool())
        for own, seed in zip(targets, seeds, strict=True)
    ]
    for _ in range(2):  # nothing of a batch is left for the next
        trees, starts = grow_batch(shared, bootstrap, seeds + np.uint64(100), seeds, workspaces)
        assert_same(
            pack_batch(trees, starts, criterion, target.starts), pack(alone, criterion, target.starts)
        )  # fmt: skip
        np.testing.assert_array_equal(trees.impurity, np.concatenate([tree.impurity for tree in alone]))


def test_which_trees_grow_in_batches_and_how_many():
    def is_for(n_rows=50, **params):
        binned, target, params = context(GINI, n_rows, **params)
        return is_for_batches(
            GrowthContext(binned, target, params, np.zeros(6, dtype=np.int64), np.empty(0), np.empty(0))
        )

    assert is_for()
    assert is_for(4096)
    assert not is_for(4097)  # a large node comes first
    assert not is_for(n_categories=4)
    assert not is_for(at_random=True)
    assert not is_for(integer_weights=False)
    assert (batch_size(1), batch_size(400), batch_size(4096)) == (BATCH_ROWS, BATCH_ROWS // 400, 1)
