"""From the root to a leaf: along chains of questions about one category, in one step."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.tree.predict import decision_path, leaves_of, make_predictor
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, Tree
from tests.core.tree import cases
from tests.naive import tree as naive


def chain(rng, n_links, n_codes):
    """Return a tree that is one chain: links list any categories, and either side may be the listed one."""
    lists = [np.sort(rng.choice(n_codes, size=rng.integers(1, 4), replace=False)) for _ in range(n_links)]
    n_nodes, inner = 2 * n_links + 1, np.arange(2 * n_links + 1) % 2 == 0
    inner[-1] = False
    nodes = np.arange(n_nodes)
    default_left = np.zeros(n_nodes, dtype=bool)
    default_left[inner] = rng.random(n_links) < 0.3
    n_listed = np.zeros(n_nodes, dtype=np.int64)
    n_listed[inner] = [part.size for part in lists]
    return Tree(
        left=np.where(inner, nodes + 1, LEAF).astype(np.int32),
        right=np.where(inner, nodes + 2, LEAF).astype(np.int32),
        feature=np.where(inner, 0, NO_FEATURE).astype(np.int32),
        threshold=np.full(n_nodes, NO_THRESHOLD),
        default_left=default_left,
        chained=inner & (nodes < n_nodes - 3),
        category_start=np.concatenate([[0], np.cumsum(n_listed)]),
        categories=np.concatenate(lists).astype(np.int32),
        impurity=np.zeros(n_nodes),
        n_rows=np.ones(n_nodes, dtype=np.int64),
        weight=np.ones(n_nodes),
        value=np.zeros((n_nodes, 1)),
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_chain_ends_where_its_links_lead_one_by_one(seed):
    rng = np.random.default_rng(seed)
    tree = chain(rng, n_links=int(rng.integers(1, 9)), n_codes=6)
    X = np.array([-1.0, *range(8), 2.5, np.nan])[:, None]
    assert_array_equal(leaves_of(make_predictor(tree), X).nodes, [naive.leaf_of(tree, x, (0,)) for x in X])


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(6))
def test_chains_below_chains(seed, criterion):
    rng = np.random.default_rng(seed)
    data = cases.table(seed, criterion, n_rows=60)
    X, categories = cases.with_categories(rng, data.X, n_categories=7)
    tree = cases.fit(data._replace(X=X, categories=categories), naive.Rules(criterion, multiway=True))
    query = X[rng.integers(len(X), size=200)]
    query[:, :2] = rng.integers(-1, 9, size=(200, 2))
    query[::9, 2] = np.nan
    assert_array_equal(
        leaves_of(make_predictor(tree), query).nodes, [naive.leaf_of(tree, x, categories) for x in query]
    )


def test_there_are_no_chains_where_none_is_asked():
    tree = cases.fit(cases.table(0, "gini", n_rows=20), naive.Rules("gini"))
    assert make_predictor(tree).chain_rest.size == make_predictor(tree).chain_categories.size == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_path_of_a_row_leads_from_the_root_to_its_leaf(seed):
    data = cases.table(seed, "gini", n_rows=20)
    tree = cases.fit(data, naive.Rules("gini"))
    leaves = leaves_of(make_predictor(tree), data.X).nodes
    paths = decision_path(tree, leaves)
    assert paths.shape == (20, tree.left.size)
    for i, leaf in enumerate(leaves):
        path = paths.indices[paths.indptr[i] : paths.indptr[i + 1]]
        assert (path[0], path[-1]) == (0, leaf)
        assert all(below in (tree.left[node], tree.right[node]) for node, below in pairwise(path))
