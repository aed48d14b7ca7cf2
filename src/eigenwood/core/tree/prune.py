"""Grow, then cut back (the kernel lecture; Breiman et al. 1984).

Cost-complexity: a tree costs its risk plus alpha for each leaf. As alpha grows, the node t for which

    g(t) = (R(t) - R(leaves below t)) / (leaves below t - 1)

is least becomes a leaf first. ``collapse_alphas`` has for every node the alpha from which on it is a leaf or gone, so
one array holds the trees for all alphas.

Reduced error: from the leaves up, a node becomes a leaf when the rows of a validation set are not worse off for it.

The links of a chain (see ``types``) stand and fall together: only the first of them can become a leaf.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.tree.criteria import is_classifying, regression_loss
from eigenwood.core.tree.structure import subtree_ends, with_leaves
from eigenwood.core.tree.types import LEAF, Tree


class PruningPath(NamedTuple):
    """The alphas at which the tree changes, from 0 up, and what it is from there on."""

    alphas: np.ndarray
    impurities: np.ndarray  # sum over the leaves
    n_leaves: np.ndarray


class PrunedTree(NamedTuple):
    """A tree cut back with a validation set, and how it went: leaves and error before and after each cut."""

    tree: Tree
    n_leaves: np.ndarray
    errors: np.ndarray


def risks(tree: Tree) -> np.ndarray:
    """Return the share of all weight x impurity at each node."""
    return tree.impurity * tree.weight / tree.weight[0]


def collapse_alphas(tree: Tree) -> np.ndarray:
    """Return for every inner node the alpha from which on it is a leaf or gone; infinity for the leaves."""
    return collapse(tree.left, tree.right, tree.chained, risks(tree))


def pruned_at(tree: Tree, alphas, alpha: float) -> Tree:
    """Return the tree of one alpha; ``alphas`` come from ``collapse_alphas``."""
    return with_leaves(tree, alphas <= alpha)


def pruning_path(tree: Tree, falls) -> PruningPath:
    """Return the trees of all alphas in numbers; ``falls`` comes from ``collapse_alphas``."""
    steps = np.unique(falls[np.isfinite(falls)])
    alphas = np.concatenate([[0.0], steps[steps > 0.0]])
    impurities, n_leaves = np.zeros(alphas.size), np.zeros(alphas.size, dtype=np.int64)
    add_leaves(tree.left, tree.right, falls, risks(tree), alphas, impurities, n_leaves)
    return PruningPath(alphas, impurities, n_leaves)


@njit
def parents(left, right):
    """Return the parent of each node, -1 for the root."""
    parent = np.full(left.size, -1, dtype=np.int64)
    for i in range(left.size):
        if left[i] != LEAF:
            parent[left[i]] = parent[right[i]] = i
    return parent


@njit(error_model="numpy")
def collapse(left, right, chained, risk):
    """Return the alpha at which each node falls, by cutting the weakest again and again.

    A heap holds g of every node that can fall. When one falls, those above it get a new g and a new ``edition``; an
    entry of an old edition is passed over.
    """
    n, parent, ends = left.size, parents(left, right), subtree_ends(left, right)
    falls, edition, is_link = np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    n_leaves, below = np.ones(n, dtype=np.int64), risk.copy()
    heap = [(np.inf, n, np.int64(0))]
    for i in range(n - 1, -1, -1):  # preorder backwards: children before their parent
        if left[i] != LEAF:
            n_leaves[i], below[i] = n_leaves[left[i]] + n_leaves[right[i]], below[left[i]] + below[right[i]]
            is_link[right[i]] = chained[i]
    for i in range(n):
        if left[i] != LEAF and not is_link[i]:
            heappush(heap, ((risk[i] - below[i]) / (n_leaves[i] - 1), i, np.int64(0)))
    alpha = 0.0
    while falls[0] == np.inf and left[0] != LEAF:
        gain, node, its_edition = heappop(heap)
        if falls[node] < np.inf or its_edition != edition[node]:
            continue
        alpha = max(alpha, gain)
        for i in range(node, ends[node]):  # what is below is gone with it
            if left[i] != LEAF and falls[i] == np.inf:
                falls[i] = alpha
        fewer, more = n_leaves[node] - 1, risk[node] - below[node]
        above = parent[node]
        while above >= 0:
            n_leaves[above] -= fewer
            below[above] += more
            edition[above] += 1
            if not is_link[above]:
                gain = (risk[above] - below[above]) / (n_leaves[above] - 1)
                heappush(heap, (gain, above, edition[above]))
            above = parent[above]
    return falls


@njit
def add_leaves(left, right, falls, risk, alphas, impurities, n_leaves):
    """Add up the risk and the number of the leaves for every alpha.

    A node is a leaf from the alpha at which it falls to that at which its parent does. What it adds is noted where it
    comes and taken off where it goes; then all is added up, so that the work does not grow with nodes times alphas.
    """
    lives_to = np.full(left.size, np.inf)  # the alpha at which the parent falls
    for i in range(left.size):
        if left[i] != LEAF:
            lives_to[left[i]] = lives_to[right[i]] = min(falls[i], lives_to[i])
    for i in range(left.size):
        first = np.searchsorted(alphas, 0.0 if left[i] == LEAF else falls[i])
        last = np.searchsorted(alphas, lives_to[i])
        if first < last:
            impurities[first] += risk[i]
            n_leaves[first] += 1
            if last < alphas.size:
                impurities[last] -= risk[i]
                n_leaves[last] -= 1
    for a in range(1, alphas.size):
        impurities[a] += impurities[a - 1]
        n_leaves[a] += n_leaves[a - 1]


@njit(error_model="numpy")
def loss(value, node, row, class_codes, y, starts, criterion):
    """Return the loss of one row at a node, averaged over the outputs: 1 for a wrong class, or how far it is from y."""
    total, n_outputs = 0.0, starts.size - 1
    for o in range(n_outputs):
        if is_classifying(criterion):
            best = starts[o]
            for k in range(starts[o], starts[o + 1]):
                if value[node, k] > value[node, best]:
                    best = k
            total += best - starts[o] != class_codes[row, o]
        else:
            total += regression_loss(value[node, o], y[row, o], criterion)
    return total / n_outputs


@njit(error_model="numpy")
def node_losses(parent, value, leaves, class_codes, y, weights, starts, criterion):
    """Return the loss of the rows at every node that they visit, as if that node were a leaf."""
    total = np.zeros(parent.size)
    for row in range(leaves.size):
        weight = weights[row] if weights.size > 0 else 1.0
        node = np.int64(leaves[row])
        while node >= 0:
            total[node] += weight * loss(value, node, row, class_codes, y, starts, criterion)
            node = parent[node]
    return total


def weight_of(target, leaves) -> float:
    """Return the weight of all rows."""
    return float(target.weights.sum()) if target.weights.size else float(leaves.size)


def reduced_error(tree: Tree, leaves, target, criterion: int) -> PrunedTree:
    """Return the tree cut back with a validation set, whose rows end in ``leaves`` of the whole tree."""
    class_codes, y, weights, starts = target
    above = parents(tree.left, tree.right)
    own = node_losses(above, tree.value, leaves, class_codes, y, weights, starts, criterion)
    cut, gains, n_cut = reduced(tree.left, tree.right, tree.chained, own)
    is_leaf = tree.left == LEAF
    n_leaves = int(is_leaf.sum()) - np.concatenate([[0], np.cumsum(n_cut)])
    errors = own[is_leaf].sum() - np.concatenate([[0.0], np.cumsum(gains)])
    return PrunedTree(with_leaves(tree, cut), n_leaves, np.maximum(errors, 0.0) / weight_of(target, leaves))


@njit
def reduced(left, right, chained, own):
    """Return which nodes become leaves, and in the order of the cuts what each gains and how many leaves it takes."""
    n = left.size
    cut, is_link = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    below, n_leaves = own.copy(), np.ones(n, dtype=np.int64)
    gains, n_cut, n_cuts = np.empty(n), np.empty(n, dtype=np.int64), 0
    for i in range(n):
        if chained[i]:
            is_link[right[i]] = True
    for i in range(n - 1, -1, -1):  # children before their parent
        if left[i] == LEAF:
            continue
        below[i] = below[left[i]] + below[right[i]]
        n_leaves[i] = n_leaves[left[i]] + n_leaves[right[i]]
        if own[i] <= below[i] and not is_link[i]:
            gains[n_cuts], n_cut[n_cuts] = below[i] - own[i], n_leaves[i] - 1
            n_cuts += 1
            cut[i], below[i], n_leaves[i] = True, own[i], 1
    return cut, gains[:n_cuts], n_cut[:n_cuts]


def alpha_errors(tree: Tree, falls, leaves, target, criterion: int, alphas) -> np.ndarray:
    """Return the mean loss for each of some ascending alphas, of rows that end in ``leaves`` of the whole tree."""
    class_codes, y, weights, starts = target
    changes, above = np.zeros(alphas.size + 1), parents(tree.left, tree.right)
    add_changes(above, falls, tree.value, leaves, class_codes, y, weights, starts, criterion, alphas, changes)
    return np.cumsum(changes)[:-1] / weight_of(target, leaves)


@njit(error_model="numpy")
def add_changes(parent, falls, value, leaves, class_codes, y, weights, starts, criterion, alphas, changes):
    """Add what the loss of all rows changes by at each alpha: a row climbs to the highest node that has fallen."""
    for row in range(leaves.size):
        weight = weights[row] if weights.size > 0 else 1.0
        node, first = np.int64(leaves[row]), 0
        while first < alphas.size:
            above = parent[node]
            last = first
            while last < alphas.size and (above < 0 or alphas[last] < falls[above]):
                last += 1
            if last > first:
                own = weight * loss(value, node, row, class_codes, y, starts, criterion)
                changes[first] += own
                changes[last] -= own
            node, first = above, last
