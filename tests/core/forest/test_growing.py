"""One tree of a forest, in one call: the tree that grows in steps, over the same rows."""

import numpy as np
import pytest
from numba import config

from eigenwood.core.forest.growing import Rooms, grown_tree
from eigenwood.core.tree import binning, growing
from eigenwood.core.tree.binning import binned_dense
from eigenwood.core.tree.branching import Target
from eigenwood.core.tree.growing import Ground, grown, growth_steps, log_table
from eigenwood.core.tree.impurity import ABSOLUTE_ERROR, ENTROPY, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.splitting import Rule

COMPILED = not config.DISABLE_JIT  # if not, a tree takes a hundred times as long
CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squares": SQUARED_ERROR, "medians": ABSOLUTE_ERROR, "poisson": POISSON}


def ground(criterion, n_rows=300, seed=0, n_categories=-1, **rule):
    """Return codes, a target with draws as weights, and the rule."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 1)
    X[:, 1] = rng.integers(4, size=n_rows)
    X[rng.random(n_rows) < 0.1, 2] = np.nan
    X[:, 3] = rng.random(n_rows) < 0.03  # kept by its rare entries
    counts = np.array([-1, n_categories, -1, -1, -1, -1])
    classes = rng.integers(3, size=(n_rows, 1)).astype(np.int32)
    amounts = np.round(rng.gamma(2.0, size=(n_rows, 1)), 1)
    weights = rng.poisson(1.0, size=n_rows).astype(float)
    is_class = criterion in (GINI, ENTROPY)
    n_values = 3 if is_class else 1
    labels, numbers = (classes, amounts[:0]) if is_class else (classes[:0], amounts)
    target = Target(labels, numbers, weights, np.array([0, n_values]))
    chosen = {
        "max_depth": 2**31 - 1, "min_split": 2, "min_leaf": 1, "min_leaf_weight": 0.0, "min_decrease": 0.0,
        "uncertainty": 0.0, "max_features": 6, "at_random": False, "multiway": False, "whole": True,
        "total_weight": float(weights.sum()), **rule,
    }  # fmt: skip
    return binned_dense(X, counts, 0.5, 1), target, Rule(criterion=criterion, **chosen)


def assert_same(one, other):
    for name, given, found in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(given, found, err_msg=name)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_features", [6, 2])
@pytest.mark.parametrize("n_categories", [-1, 4], ids=["numbers", "categories"])
def test_at_once_or_in_steps(criterion, max_features, n_categories):
    binned, target, rule = ground(CRITERIA[criterion], max_features=max_features, n_categories=n_categories)
    signs, seed = np.zeros(6, dtype=np.int64), np.uint64(7)
    tree = grown_tree(binned, target, rule, signs, 0, log_table(target, rule), seed, Rooms())
    *_, last = growth_steps(binned, target, np.flatnonzero(target.weights), rule, signs, 0, seed, 1)
    assert_same(tree, grown(last))
    assert tree.n_rows[0] == np.count_nonzero(target.weights)
    assert tree.weight[0] == target.weights.sum()


@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR], ids=["classes", "amounts"])
def test_a_table_of_many_rows(criterion):
    """Large nodes are split one by one when a tree grows in steps."""
    binned, target, rule = ground(criterion, n_rows=9000, max_features=3)
    signs, seed = np.zeros(6, dtype=np.int64), np.uint64(1)
    tree = grown_tree(binned, target, rule, signs, 0, log_table(target, rule), seed, Rooms())
    for n_threads in (1, 3):
        *_, last = growth_steps(binned, target, np.flatnonzero(target.weights), rule, signs, 0, seed, n_threads)
        assert_same(tree, grown(last))


@pytest.mark.parametrize("max_features", [5, 100, 150], ids=["some", "more than a turn", "all"])
@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR], ids=["classes", "amounts"])
def test_a_wide_table_by_row(monkeypatch, criterion, max_features):
    """A large node reads its columns some at a time; where the codes stand makes no difference."""
    n_rows = 700 if COMPILED else 60
    _, target, rule = ground(criterion, n_rows=n_rows, max_features=max_features)
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n_rows, 150)) < rng.random(150), 0.0, rng.integers(1, 9, size=(n_rows, 150)))
    X[:, 7] = 1.0  # constant
    monkeypatch.setattr(growing, "SMALL", 16)
    trees = []
    for large in (1, 1 << 30):
        monkeypatch.setattr(binning, "LARGE", large)
        binned = binned_dense(X, np.full(150, -1), 0.1, 1)
        assert (binned.codes.by_row.shape[0] == n_rows) == (large == 1)
        assert 64 < binned.codes.feature.size < 150
        signs, logs = np.zeros(150, dtype=np.int64), log_table(target, rule)
        trees.append(grown_tree(binned, target, rule, signs, 0, logs, np.uint64(7), Rooms()))
    assert_same(*trees)


@pytest.mark.parametrize("criterion", [GINI, ENTROPY, SQUARED_ERROR], ids=["gini", "entropy", "amounts"])
@pytest.mark.parametrize("small", [16, 4096])
def test_a_room_that_was_used_is_as_good_as_a_new_one(monkeypatch, small, criterion):
    monkeypatch.setattr(growing, "SMALL", small)
    n_rows = 300 if COMPILED else 100
    binned, target, rule = ground(criterion, n_rows=n_rows, max_features=3)
    signs, rooms, rng = np.zeros(6, dtype=np.int64), Rooms(), np.random.default_rng(0)
    for seed in range(3):
        drawn = target._replace(weights=rng.poisson((0.1, 2.0, 0.5)[seed], size=n_rows).astype(float))
        for own in (rule, rule._replace(max_features=6)):  # looks at all features: needs another room
            given = binned, drawn, own, signs, 0, log_table(drawn, own), np.uint64(seed)
            assert_same(grown_tree(*given, rooms), grown_tree(*given, Rooms()))


def test_a_room_is_used_again_by_one_tree_at_a_time():
    binned, target, rule = ground(GINI)
    place = Ground(binned, target, rule, np.zeros(6, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int32))
    rooms = Rooms()
    with rooms.one_for(place) as first, rooms.one_for(place) as second:
        assert first is not second
    with rooms.one_for(place) as again:
        assert again is first or again is second
    place = place._replace(rule=rule._replace(max_features=3))
    with rooms.one_for(place) as some:
        assert some is not first
        assert some is not second
    with rooms.one_for(place._replace(rule=rule._replace(max_features=2))) as fewer:
        assert fewer is some
    with rooms.one_for(place._replace(rule=rule._replace(whole=False))) as other:
        assert other is not first
        assert other is not second


def test_best_first():
    binned, target, rule = ground(GINI, max_features=3)
    tree = grown_tree(
        binned, target, rule, np.zeros(6, dtype=np.int64), 9, log_table(target, rule), np.uint64(1), Rooms()
    )
    assert (tree.left < 0).sum() == 9


def test_rows_of_weight_zero_are_not_there():
    """Whatever stands in them."""
    binned, target, rule = ground(SQUARED_ERROR)
    signs, logs, seed = np.zeros(6, dtype=np.int64), np.empty(0), np.uint64(3)
    tree = grown_tree(binned, target, rule, signs, 0, logs, seed, Rooms())
    other = target._replace(amounts=np.where(target.weights[:, None] > 0, target.amounts, 1e6))
    assert_same(grown_tree(binned, other, rule, signs, 0, logs, seed, Rooms()), tree)
