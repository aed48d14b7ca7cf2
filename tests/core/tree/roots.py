"""One node before it is split, after, and what it is made of: for the tests of the parts of a split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.tree.criteria import log_table
from eigenwood.core.tree.node_stats import class_node_stats, fill_sample, regression_node_stats
from eigenwood.core.tree.split.best import best_split
from eigenwood.core.tree.split.partition import partition_rows
from eigenwood.core.tree.types import BinnedTable, NodeSpan
from eigenwood.core.tree.workspace import new_draw_buffers, new_sample, new_sparse_histogram, new_split_workspace
from tests.core.tree import cases

SHARES = (0.0, 0.5, 1.0)
STORAGES = [{"rare_share": share} for share in SHARES] + [{"as_sparse": True}]


class Root(NamedTuple):
    """All that is known of the root before it is split."""

    codes: tuple
    features: tuple
    target: tuple
    params: tuple
    sample: tuple
    sums: np.ndarray
    stats: tuple


def sample_of(target, rows, criterion):
    """Return rows with their targets one after the other."""
    sample = new_sample(target, rows.size, criterion)._replace(rows=rows)
    fill_sample(sample, target)
    return sample


def root_of(data, rules, seed=0, max_features=None, at_random=False, **storage):
    (codes, features), target = cases.binned(data, **storage), cases.target_of(data)
    params = cases.rule_of(data, rules, max_features, at_random)
    sample = sample_of(target, np.arange(len(data.X), dtype=np.int32), params.criterion)
    n_values = sum(data.n_classes) if data.n_classes else data.y.shape[1]
    sums, value = np.zeros(n_values + (not data.n_classes)), np.empty(n_values)
    place = NodeSpan(0, len(data.X), 0, np.uint64(seed), -np.inf, np.inf)
    described, given = (class_node_stats, sample.class_codes) if data.n_classes else (regression_node_stats, sample.y)
    stats, _ = described(given, sample.weights, target.starts, params.criterion, sums, place, value)
    stats = stats._replace(seed=np.uint64(seed))  # on the way out of a kernel it became a Python integer
    return Root(codes, features, target, params, sample, sums, stats)


def split_of(root, data, rules, ws=None):
    """Return the split of the root, the bins in the order in which they are cut, and the workspace that was used."""
    ws = ws or workspace_of(root)
    monotonic_cst = np.array(rules.monotonic_cst or (0,) * data.X.shape[1], dtype=np.int64)
    split, n_bins = best_split(
        BinnedTable(root.codes, root.features),
        root.sample,
        root.sums,
        root.target.starts,
        monotonic_cst,
        root.params,
        root.stats,
        log_table(root.target, root.params),
        ws,
    )
    return split, ws.best_bins[:n_bins].copy(), ws


def workspace_of(root):
    """Return room for the root."""
    n_rows, n_outputs = root.sample.rows.size, root.target.starts.size - 1
    shared = new_sparse_histogram(root.codes, root.sums.size), new_draw_buffers(root.codes)
    return new_split_workspace(root.codes, root.features, root.params, n_rows, n_outputs, *shared)


def moved(root, rows, split, order):
    """Bring the rows that go left to the front; return how many those are."""
    return partition_rows(root.codes, root.features, rows, split, order, np.empty(len(rows), dtype=np.int32))


def sums_of(data, rows):
    """Return the sums that describe some rows, and their number."""
    w = data.weights[rows]
    if data.n_classes:
        parts = [[w[data.y[rows, o] == k].sum() for k in range(n)] for o, n in enumerate(data.n_classes)]
        return np.concatenate([*parts, [len(w)]])
    return np.concatenate([[w.sum()], w @ data.y[rows], [len(w)]])


def table(seed, criterion, **options):
    return cases.table(seed, criterion, n_rows=int(np.random.default_rng(seed).integers(2, 25)), **options)


def assert_clean(ws):
    """Nothing is left for the next node."""
    used = ws.sums, ws.flat, ws.order.counts, ws.bits, ws.sparse.sums, ws.sparse.bits
    assert not any(array.any() for array in used)
