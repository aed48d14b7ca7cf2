"""What each feature adds to a prediction: Shapley values of trees, exactly (path-dependent TreeSHAP, Lundberg 2018).

The game: a tree is asked while only some features S of a row x are known. Where a question is about another feature,
both ways are gone, each with the share of the training weight that went there. To a leaf with value v then comes

    v · Π over the features j asked on its path:  o_j if j is known, z_j if not

    o_j    1 if x gives all the answers about j on the path, else 0
    z_j    the product of the shares of these answers

The Shapley value of j in a product of that kind is an integral (Owen's multilinear extension),

    φ_j = v ∫₀¹ (o_j - z_j) Π_{i ≠ j} (t o_i + (1 - t) z_i) dt,

of a polynomial of degree m - 1 for m features on the path. Gauss and Legendre's rule with ⌈m/2⌉ points is exact for it,
all its weights and all factors are positive, so nothing cancels. At each point t the products are carried down
the tree and their sums up, so a row costs nodes x points, where the classical recursion costs leaves x depth²:

    down    H(child) = H(parent) · P_new(t) / P_old(t)       P = t o + (1 - t) z of the feature that is asked,
    leaf    G = v H                                          before and after the answer
    up      φ_j += Σ_t w_t G(child) · ((o - z) / P |new - (o - z) / P |old),     G(parent) += G(child)

o is 0 or 1, so an answer has three cases: known so far and now (o stays 1), wrong now (1 → 0), wrong before (0 → 0).
Their factors are numbers of the tree, not of the row. Rows go side by side in lanes, and choose. In the third case the
difference is 0, as both terms are -1 / (1 - t).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.threads import results_of, row_blocks
from eigenwood.core.tree.paths import Paths, paths_of
from eigenwood.core.tree.predict import is_listed
from eigenwood.core.tree.types import LEAF, Tree

LANES, FEW = 256, 8  # rows that go through a tree side by side: at most so many, and a multiple of this
BLOCK_ROWS = 1024  # rows of one task


class Contributions(NamedTuple):
    """How much each feature moves each prediction away from the base value, which all of them add up to."""

    values: np.ndarray  # (n_rows, n_features), or (n_rows, n_features, n_outputs)
    base: np.ndarray | float  # the prediction when no feature is known: one number, or one for each output


class Explainer(NamedTuple):
    """Trees, ready to be explained."""

    n_features: int
    features: np.ndarray  # (n_asked,) those that are asked
    question: np.ndarray  # (n_nodes,) int32: the place among them
    threshold: np.ndarray
    default_left: np.ndarray
    category_start: np.ndarray
    categories: np.ndarray
    outputs: tuple[Paths | None, ...]  # None for what the other classes leave
    starts: np.ndarray  # (n + 1,) where outputs begin whose values add up to 1; one number if none do
    base: np.ndarray  # (n_outputs,)
    factor: float  # of each tree's value


class Factors(NamedTuple):
    """What an answer does at each point of the quadrature, (n_points,); at a leaf times its value."""

    right: np.ndarray  # o stays 1
    wrong: np.ndarray  # 1 → 0
    gain_right: np.ndarray  # of (o - z) / P, times the weight of the point
    gain_wrong: np.ndarray


class Lanes(NamedTuple):
    """Arrays for one path and the rows that are on it."""

    products: np.ndarray  # ((depth + 1) x points, n_lanes): H
    sums: np.ndarray  # G
    known: np.ndarray  # (depth + 1, n_lanes) int64: o after the answer at this depth
    goes_left: np.ndarray  # (depth + 1, n_lanes) int64
    path: np.ndarray  # (depth + 1,) int64: the nodes from the root


# ---- before there are rows -----------------------------------------------------------------------------------------


def make_explainer(
    trees: Tree,
    node_start: np.ndarray,
    n_features: int,
    *,
    n_interleaved: int = 1,
    factor: float = 1.0,
    starts: Sequence[int] | np.ndarray = (0,),
) -> Explainer:
    """Return trees, whose nodes stand one after the other as if they were parts of one, ready to be explained.

    The prediction is ``factor`` times the sum over the trees. Each has the values of all outputs, or tree t has that
    of output t modulo ``n_interleaved``. From ``starts[i]`` to ``starts[i + 1]`` are outputs that add up to 1.
    """
    inner = trees.left != LEAF
    features = np.unique(trees.feature[inner])
    question = np.searchsorted(features, trees.feature).astype(np.int32)
    n_outputs = trees.value.shape[1] if n_interleaved == 1 else n_interleaved
    starts = np.asarray(starts)
    outputs: list[Paths | None] = []
    for k in range(n_outputs):
        if k + 1 in starts[1:]:
            outputs.append(None)
        else:
            own = np.arange(k if n_interleaved > 1 else 0, node_start.size - 1, n_interleaved)
            value = np.ascontiguousarray(trees.value[:, k if n_interleaved == 1 else 0])
            outputs.append(paths_of(trees, node_start, own, question, value))
    return Explainer(
        n_features, features, question, trees.threshold, trees.default_left, trees.category_start, trees.categories,
        tuple(outputs), starts, factor * base_values(trees, node_start, n_interleaved), factor,
    )  # fmt: skip


def base_values(trees: Tree, node_start: np.ndarray, n_interleaved: int) -> np.ndarray:
    """Return the sums over the trees of the mean values of their leaves, for each output."""
    leaves, roots = trees.left == LEAF, node_start[:-1]
    own = np.where(leaves[:, None], trees.value * trees.weight[:, None], 0.0)
    means = np.add.reduceat(own, roots, axis=0) / trees.weight[roots, None]
    if n_interleaved == 1:
        return means.sum(axis=0)
    return np.array([means[k::n_interleaved, 0].sum() for k in range(n_interleaved)])


# ---- rows ----------------------------------------------------------------------------------------------------------


def contributions(explainer: Explainer, X, n_threads: int = 1) -> Contributions:
    """Return the contributions for every row of X, dense or csr, where a category stands as its code."""
    values = np.zeros((X.shape[0], explainer.n_features, len(explainer.outputs)))
    rule = points_and_weights([own.n_points for own in explainer.outputs if own is not None])

    def block(rows: slice) -> None:
        part = X[rows][:, explainer.features]
        columns = in_lanes(part.toarray() if sparse.issparse(part) else part)
        for k, paths in enumerate(explainer.outputs):
            if paths is not None:
                sums = summed(explainer, paths, columns, *rule)[: rows.stop - rows.start]
                values[rows, explainer.features, k] = explainer.factor * sums
        for first, last in zip(explainer.starts[:-1], explainer.starts[1:], strict=True):
            for k in range(first, last - 1):
                values[rows, :, last - 1] -= values[rows, :, k]

    results_of(block, row_blocks(X.shape[0], BLOCK_ROWS), n_threads)
    return Contributions(values, explainer.base)


def points_and_weights(n_points: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss and Legendre's points and weights on [0, 1], row q - 1 those of the rule with q points."""
    wanted = np.unique(np.concatenate([[1], *n_points])).astype(int)
    points, weights = np.zeros((2, wanted[-1], wanted[-1]))
    for q in wanted:
        own, shares = np.polynomial.legendre.leggauss(q)
        points[q - 1, :q], weights[q - 1, :q] = 0.5 + 0.5 * own, 0.5 * shares
    return points, weights


def in_lanes(rows: np.ndarray) -> np.ndarray:
    """Return rows as (n_groups, n_columns, n_lanes): those of a group side by side; the last one is filled up."""
    n_groups = -(-rows.shape[0] // LANES)
    n_lanes = -(-rows.shape[0] // (n_groups * FEW)) * FEW
    padded = np.zeros((n_groups * n_lanes, rows.shape[1]))
    padded[: rows.shape[0]] = rows
    return np.ascontiguousarray(padded.reshape(n_groups, n_lanes, -1).transpose(0, 2, 1))


def summed(explainer: Explainer, paths: Paths, columns: np.ndarray, points, weights) -> np.ndarray:
    """Return the contributions to one output, (n_rows, n_asked), added up over the trees."""
    out = np.zeros_like(columns)
    n_points = int(paths.n_points.max(initial=1))
    factors = Factors(*(np.empty(n_points) for _ in range(4)))
    n_levels, n_lanes = int(paths.depth.max(initial=0)) + 1, columns.shape[2]
    lanes = Lanes(
        products=np.empty((n_levels * n_points, n_lanes)),
        sums=np.empty((n_levels * n_points, n_lanes)),
        known=np.empty((n_levels, n_lanes), dtype=np.int64),
        goes_left=np.empty((n_levels, n_lanes), dtype=np.int64),
        path=np.zeros(n_levels, dtype=np.int64),
    )
    add_trees(
        columns, paths, explainer.question, explainer.threshold, explainer.default_left, explainer.category_start,
        explainer.categories, points, weights, factors, lanes, out,
    )  # fmt: skip
    return out.transpose(0, 2, 1).reshape(columns.shape[0] * n_lanes, columns.shape[1])


@njit_no_refcount
def add_trees(
    columns, paths, question, threshold, default_left, category_start, categories, points, weights, factors, lanes, out
):
    """Add what each feature contributes by each tree."""
    for t in range(paths.n_points.size):
        first, last, q = paths.start[t], paths.start[t + 1], paths.n_points[t]
        t_points, t_weights = points[q - 1, :q], weights[q - 1, :q]
        for group in range(columns.shape[0]):
            own = columns[group]
            if last - first > 1:
                begin(own, paths.node[first], q, lanes, question, threshold, default_left, category_start, categories)
                lanes.path[0] = first
            for n in range(first + 1, last):
                depth, is_leaf = paths.depth[n], paths.node[n] == LEAF
                answer(lanes, depth, paths.above[n], paths.is_right[n])
                write_factors(paths, n, t_points, t_weights, factors)
                if is_leaf:
                    go_up_from_leaf(lanes, paths, n, factors, q, out[group, paths.column[n]])
                    next_depth = paths.depth[n + 1] if n + 1 < last else 1
                    for d in range(depth - 1, next_depth - 1, -1):
                        i = lanes.path[d]
                        write_factors(paths, i, t_points, t_weights, factors)
                        go_up(lanes, paths, i, factors, q, out[group, paths.column[i]])
                else:
                    go_down(lanes, paths, n, factors, q)
                    ask(
                        own, paths.node[n], lanes.goes_left[depth], question, threshold, default_left, category_start,
                        categories,
                    )  # fmt: skip
                    lanes.path[depth] = n


@njit_no_refcount
def write_factors(paths, n, points, weights, factors):
    """Write what the answer that leads to the n-th node does at each point."""
    z, z_above, value = paths.share[n], paths.share_above[n], 1.0
    if paths.node[n] == LEAF:
        value = paths.value[n]
    for k in range(points.size):
        t = points[k]
        p, p_above = z + t * (1.0 - z), z_above + t * (1.0 - z_above)
        gain_above = (1.0 - z_above) / p_above
        factors.right[k] = value * p / p_above
        factors.wrong[k] = value * (1.0 - t) * z / p_above
        factors.gain_right[k] = weights[k] * ((1.0 - z) / p - gain_above)
        factors.gain_wrong[k] = -weights[k] * (1.0 / (1.0 - t) + gain_above)


# ---- one step of all lanes -----------------------------------------------------------------------------------------


@njit_no_refcount
def begin(columns, node, q, lanes, question, threshold, default_left, category_start, categories):
    """Put all lanes to the root, where every feature's answers so far, which are none, are right."""
    for k in range(q):
        lanes.products[k] = 1.0
        lanes.sums[k] = 0.0
    lanes.known[0] = 1
    ask(columns, node, lanes.goes_left[0], question, threshold, default_left, category_start, categories)


@njit_no_refcount
def ask(columns, node, goes_left, question, threshold, default_left, category_start, categories):
    """Write which lanes go left at a node."""
    x, default = columns[question[node]], default_left[node]
    first, last = category_start[node], category_start[node + 1]
    if last > first:
        for r in range(x.size):
            goes_left[r] = default != is_listed(categories, first, last, x[r])
    elif default:
        for r in range(x.size):
            goes_left[r] = not x[r] > threshold[node]
    else:
        for r in range(x.size):
            goes_left[r] = x[r] <= threshold[node]


@njit_no_refcount
def answer(lanes, depth, above, is_right):
    """Write for which lanes all answers about the feature are theirs, with this one."""
    known, before, left = lanes.known[depth], lanes.known[above], lanes.goes_left[depth - 1]
    flip = np.int64(1) if is_right else np.int64(0)
    for r in range(known.size):
        known[r] = before[r] & (left[r] ^ flip)


@njit_no_refcount
def go_down(lanes, paths, n, factors, q):
    """Carry the products over the answer that leads to a node."""
    depth, above, before = paths.depth[n], paths.above[n], paths.share[n] / paths.share_above[n]
    for k in range(q):
        carry(
            lanes.products[(depth - 1) * q + k], lanes.known[depth], lanes.known[above], factors.right[k],
            factors.wrong[k], before, lanes.products[depth * q + k], lanes.sums[depth * q + k],
        )  # fmt: skip


@njit_no_refcount
def go_up_from_leaf(lanes, paths, n, factors, q, gains):
    """Add the products at a leaf to the sums of its parent, and what the answer gains by them."""
    depth, above = paths.depth[n], paths.above[n]
    before = paths.value[n] * paths.share[n] / paths.share_above[n]
    for k in range(q):
        gather_leaf(
            lanes.products[(depth - 1) * q + k], lanes.known[depth], lanes.known[above], factors.right[k],
            factors.wrong[k], before, factors.gain_right[k], factors.gain_wrong[k], lanes.sums[(depth - 1) * q + k],
            gains,
        )  # fmt: skip


@njit_no_refcount
def go_up(lanes, paths, n, factors, q, gains):
    """Add the sums of a node to those of its parent, and what the answer gains by them."""
    depth, above = paths.depth[n], paths.above[n]
    for k in range(q):
        gather(
            lanes.sums[depth * q + k], lanes.known[depth], lanes.known[above], factors.gain_right[k],
            factors.gain_wrong[k], lanes.sums[(depth - 1) * q + k], gains,
        )  # fmt: skip


@njit_forceinline
def carry(products, known, known_above, right, wrong, before, below, sums):
    """Write the products of a node, given those of its parent, and sums of 0."""
    for r in range(products.size):
        was, now = known_above[r], known[r]
        otherwise = wrong if was != 0 else before
        below[r] = products[r] * (right if now != 0 else otherwise)
        sums[r] = 0.0


@njit_forceinline
def gather_leaf(products, known, known_above, right, wrong, before, gain_right, gain_wrong, sums, gains):
    """Add a leaf's products to the sums of its parent, and to the gains of its answer."""
    for r in range(products.size):
        was, now = known_above[r], known[r]
        otherwise = wrong if was != 0 else before
        product = products[r] * (right if now != 0 else otherwise)
        sums[r] += product
        gain = gain_wrong if was != 0 else 0.0
        gains[r] += product * (gain_right if now != 0 else gain)


@njit_forceinline
def gather(below, known, known_above, gain_right, gain_wrong, sums, gains):
    """Add a node's sums to those of its parent, and to the gains of its answer."""
    for r in range(below.size):
        was, now = known_above[r], known[r]
        sums[r] += below[r]
        gain = gain_wrong if was != 0 else 0.0
        gains[r] += below[r] * (gain_right if now != 0 else gain)
