"""Small tables with everything that trees meet, and the core driven by the textbook's words."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.tree.binning import binned_dense, binned_sparse
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, ERROR, GINI, POISSON, SQUARED_ERROR, log_table
from eigenwood.core.tree.grower import GrowthContext, growth_steps, new_workspace, part_of, tree_so_far
from eigenwood.core.tree.thresholds import LARGEST
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, GrowthParams, NodeSpan, Target
from tests.naive import tree as naive

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "error": ERROR,
    "squared_error": SQUARED_ERROR,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE_ERROR,
}
NO_END = 1 << 40


# ---- columns and targets ------------------------------------------------------------------------------------------


def dense(rng, n_rows):
    return rng.normal(size=n_rows).astype(np.float32)


def tied(rng, n_rows):
    return rng.integers(-2, 3, size=n_rows)


def constant(rng, n_rows):
    return np.full(n_rows, rng.normal())


def thin(rng, n_rows):
    """Zeros, and now and then a one."""
    return rng.random(n_rows) < 0.2


def rare_counts(rng, n_rows):
    return rng.integers(-1, 4, size=n_rows) * (rng.random(n_rows) < 0.3)


def holed(rng, n_rows):
    return np.where(rng.random(n_rows) < 0.3, np.nan, rng.integers(0, 5, size=n_rows))


def mostly_missing(rng, n_rows):
    return np.where(rng.random(n_rows) < 0.7, np.nan, rng.integers(0, 3, size=n_rows))


NUMBERS = (dense, tied, constant, thin, rare_counts)
COLUMNS = (*NUMBERS, holed, mostly_missing)


def numbers(rng, n_rows, kinds=COLUMNS, n_features=4):
    """Return a table of columns of different kinds; the rows of some are copies of others."""
    X = np.column_stack([kinds[rng.integers(len(kinds))](rng, n_rows) for _ in range(n_features)]).astype(float)
    if rng.random() < 0.3:
        X = X[rng.integers(n_rows, size=n_rows)]
    return np.ascontiguousarray(X)


def with_categories(rng, X, n_categories=5):
    """Put a common and a rare category in front of the numbers; some codes may not occur."""
    even = rng.integers(n_categories, size=len(X))
    rare = rng.integers(n_categories, size=len(X)) * (rng.random(len(X)) < 0.3)
    return np.column_stack([even, rare, X]).astype(float), (0, 1)


def weights(rng, n_rows):
    """Weights that do not add up to each other by chance."""
    return rng.uniform(0.5, 2.0, size=n_rows)


def class_codes(rng, n_rows, n_classes):
    return np.column_stack([rng.integers(k, size=n_rows) for k in n_classes])


def real_targets(rng, n_rows, n_outputs=1):
    return rng.normal(size=(n_rows, n_outputs)) + 3.0


def counts(rng, n_rows, n_outputs=1):
    return rng.integers(0, 5, size=(n_rows, n_outputs)).astype(float)


def table(seed, criterion, n_rows=None, weighted=False, tied_targets=True, n_classes=(2,), n_outputs=1, **columns):
    """Return a random table of numbers for a criterion."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 25)) if n_rows is None else n_rows
    X = numbers(rng, n_rows, **columns)
    w = weights(rng, n_rows) if weighted else np.ones(n_rows)
    if criterion in ("gini", "entropy", "error"):
        return naive.Data(X, class_codes(rng, n_rows, n_classes), w, n_classes)
    y = counts(rng, n_rows, n_outputs) if tied_targets else np.abs(real_targets(rng, n_rows, n_outputs))
    return naive.Data(X, y, w)


# ---- the core -----------------------------------------------------------------------------------------------------


def binned(data, rare_share=0.5, n_threads=1, as_sparse=False):
    n_categories = np.full(data.X.shape[1], -1)
    for j in data.categories:
        n_categories[j] = int(data.X[:, j].max()) + 1
    if as_sparse:
        return binned_sparse(sparse.csc_matrix(data.X), n_categories, n_threads)
    return binned_dense(data.X, n_categories, rare_share, n_threads)


def target_of(data):
    w = np.empty(0) if (data.weights == 1.0).all() else data.weights
    if data.n_classes:
        starts = np.concatenate([[0], np.cumsum(data.n_classes)]).astype(np.int64)
        return Target(data.y.astype(np.int32), np.empty((0, data.y.shape[1])), w, starts)
    class_codes = np.empty((0, data.y.shape[1]), dtype=np.int32)
    return Target(class_codes, data.y, w, np.arange(data.y.shape[1] + 1, dtype=np.int64))


def rule_of(data, rules, max_features=None, at_random=False):
    return GrowthParams(
        CRITERIA[rules.criterion],
        int(min(rules.max_depth, NO_END)),
        rules.min_samples_split,
        rules.min_samples_leaf,
        rules.min_weight_leaf,
        rules.min_decrease,
        rules.pure_enough,
        max_features or data.X.shape[1],
        at_random,
        rules.multiway,
        bool((data.weights == np.round(data.weights)).all()),
        float(data.weights.sum()),
    )


def steps(data, rules, seed=0, n_threads=1, rows=None, max_features=None, at_random=False, **storage):
    """Yield the growth of a tree by the textbook's rules."""
    monotonic_cst = np.array(rules.monotonic_cst or (0,) * data.X.shape[1])
    return growth_steps(
        binned(data, n_threads=n_threads, **storage),
        target_of(data),
        np.arange(len(data.X)) if rows is None else rows,
        rule_of(data, rules, max_features, at_random),
        monotonic_cst,
        rules.max_leaves or -1,
        np.uint64(seed),
        n_threads,
    )


def fit(data, rules, **options):
    *_, last = steps(data, rules, **options)
    assert last.last
    return tree_so_far(last)


def context_of(data, rules, max_features=None, at_random=False, **storage):
    """Return what stays the same while a tree grows."""
    target, params = target_of(data), rule_of(data, rules, max_features, at_random)
    monotonic_cst = np.array(rules.monotonic_cst or (0,) * data.X.shape[1], dtype=np.int64)
    rows = np.arange(len(data.X), dtype=np.int32)
    return GrowthContext(binned(data, **storage), target, params, monotonic_cst, log_table(target, params), rows)


def fit_in_one_call(data, rules, seed=0, **options):
    """Return the tree as forests grow theirs."""
    context = context_of(data, rules, **options)
    root = NodeSpan(0, context.rows.size, 0, np.uint64(seed), -np.inf, np.inf)
    n_rows = context.rows.size
    piece = part_of(context, context.rows, [root], n_rows, new_workspace(context, n_rows, n_rows, n_rows))
    assert len(piece.places) == 0
    return piece.tree


# ---- comparing ----------------------------------------------------------------------------------------------------


def assert_textbook(tree, data, rules):
    """The tree in arrays is the textbook's; where features are equally good, it may ask about any of them."""

    def asked_there(node, equal):
        asked = tree.feature[node_at(tree, node.path)]
        return next((question for question in equal if question.feature == asked), equal[0])

    end = assert_same_below(tree, 0, naive.grow(data, rules, asked_there), data)
    assert end == tree.left.size


def node_at(tree, path):
    """Return the node at the end of a path of answers, or the leaf above it."""
    node = 0
    for answer in path:
        while answer > 0 and tree.chained[node]:
            node, answer = tree.right[node], answer - 1
        below = tree.right[node] if answer > 0 else tree.left[node]
        node = node if below == LEAF else below
    return node


def assert_same_below(tree, node, expected, data):
    """Compare one node and all below it; return the first node that is not below it (they are in preorder)."""
    assert_same_numbers(tree, node, expected)
    if not expected.children:
        assert tree.left[node] == tree.right[node] == LEAF
        assert tree.feature[node] == NO_FEATURE
        assert tree.threshold[node] == NO_THRESHOLD
        return node + 1
    question, following = expected.question, node + 1
    assert tree.feature[node] == question.feature
    if isinstance(question, naive.Each):
        return assert_same_branches(tree, node, expected, data)
    if isinstance(question, naive.Threshold):
        assert not listed(tree, node)
        assert tree.threshold[node] == min(question.threshold, LARGEST)
        if np.isnan(data.X[expected.rows, question.feature]).any():
            assert tree.default_left[node] == question.missing_left
    for child, side in zip(expected.children, (tree.left, tree.right), strict=True):
        assert side[node] == following
        following = assert_same_below(tree, following, child, data)
    if isinstance(question, naive.Subset) or not np.isnan(data.X[expected.rows, question.feature]).any():
        assert_the_rest_goes_to_the_heavier_side(tree, node, expected, data)
    return following


def assert_same_numbers(tree, node, expected):
    assert tree.n_rows[node] == len(expected.rows)
    assert_allclose(tree.weight[node], expected.weight, rtol=1e-12)
    assert_allclose(tree.impurity[node], expected.impurity, rtol=1e-9, atol=1e-14)
    assert_allclose(tree.value[node], expected.value, rtol=1e-12, atol=1e-14)


def assert_the_rest_goes_to_the_heavier_side(tree, node, expected, data):
    question, (left, right) = expected.question, (child.weight for child in expected.children)
    if not np.isclose(left, right):
        assert tree.default_left[node] == (left > right)
    if isinstance(question, naive.Subset):
        parts = [{data.X[i, question.feature] for i in child.rows} for child in expected.children]
        assert listed(tree, node) == sorted(parts[1] if tree.default_left[node] else parts[0])


def assert_same_branches(tree, node, expected, data):
    """A question with many branches is a chain: the left children, and the last right one, are the branches."""
    n_links = len(expected.children) - 1
    following = node
    for i, child in enumerate(expected.children[:-1]):
        link = following
        assert tree.feature[link] == expected.question.feature
        assert tree.chained[link] == (i < n_links - 1)
        assert tree.left[link] == link + 1
        following = assert_same_below(tree, link + 1, child, data)
        assert tree.right[link] == following
    return assert_same_below(tree, following, expected.children[-1], data)


def listed(tree, node):
    return tree.categories[tree.category_start[node] : tree.category_start[node + 1]].tolist()


def assert_same_trees(tree, other, exact=True):
    """Two trees in arrays are the same; bit by bit unless the sums were added up in another order."""
    for name, here, there in zip(tree._fields, tree, other, strict=True):
        assert here.dtype == there.dtype, name
        if exact or here.dtype.kind != "f":
            assert_array_equal(here, there, err_msg=name)
        else:
            assert_allclose(here, there, rtol=1e-9, atol=1e-12, err_msg=name)


def assert_leaves_hold_their_rows(tree, data):
    """Every row ends at a leaf, and every leaf has as many rows, and the weight, that it says."""
    ends = np.array([naive.leaf_of(tree, x, data.categories) for x in data.X])
    leaves = np.flatnonzero(tree.left == LEAF)
    assert_array_equal(np.bincount(ends, minlength=tree.left.size)[leaves], tree.n_rows[leaves])
    assert_allclose(np.bincount(ends, data.weights, tree.left.size)[leaves], tree.weight[leaves], rtol=1e-12)
    assert tree.n_rows[leaves].sum() == len(data.X)
