"""The trees of a forest grow from shared codes and weights of their own: a large one alone, small ones many at a time.

table of 400 rows     tree 0 │ tree 1 │ … │ tree 9      one call draws the rows of all ten, another grows them
table of 40,000       tree 0                            its nodes take much longer than the way to them
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import numpy as np

from eigenwood.core.forest.bootstrap import Bootstrap, drawn_rows
from eigenwood.core.tree.grower import (
    GrowthContext,
    Workspace,
    allows_small_nodes,
    growth_steps,
    new_workspace,
    part_of,
    small_trees,
    tree_so_far,
)
from eigenwood.core.tree.split.sizes import SMALL
from eigenwood.core.tree.types import BinnedTable, GrowthParams, NodeSpan, Target, Tree

BATCH_ROWS = 4096  # of all trees that grow in one call: some milliseconds of work


class WorkspacePool:
    """Workspaces that trees have left, for those that follow: a fresh one for each would cost time and, since what is
    given back comes in other pieces than what is asked for next, memory.
    """

    def __init__(self) -> None:
        self._free: defaultdict[tuple, SimpleQueue[Workspace]] = defaultdict(SimpleQueue)

    def __reduce__(self) -> tuple:
        """Another process makes workspaces of its own."""
        return WorkspacePool, ()

    @contextmanager
    def one_for(self, context: GrowthContext, n_rows: int, largest: int) -> Iterator[Workspace]:
        """Give a workspace for trees of the same table, of so many rows in all and ``largest`` in one, whose parameters
        differ in nothing that changes the workspace.

        It does not come back from a tree that failed: what is zero between two trees may not be.
        """
        all_tried = context.params.max_features >= context.binned.features.kind.size
        free = self._free[all_tried, context.params.integer_weights, n_rows]
        try:
            workspace = free.get_nowait()
        except Empty:
            workspace = new_workspace(context, n_rows, largest, n_rows)
        yield workspace
        free.put(workspace)


def grow_tree(
    binned: BinnedTable,
    target: Target,
    params: GrowthParams,
    monotonic_cst,
    max_leaves: int,
    logs: np.ndarray,
    seed: np.uint64,
    workspaces: WorkspacePool,
) -> Tree:
    """Return the tree of the rows whose weight is above 0; ``logs`` is the ``log_table`` of the parameters."""
    rows = np.flatnonzero(target.weights).astype(np.int32)
    if max_leaves > 0:
        *_, last = growth_steps(binned, target, rows, params, monotonic_cst, max_leaves, seed, 1)
        return tree_so_far(last)
    context = GrowthContext(binned, target, params, monotonic_cst, logs, rows)
    n_rows = target.weights.size
    with workspaces.one_for(context, n_rows, n_rows) as workspace:
        root = NodeSpan(0, rows.size, 0, seed, -np.inf, np.inf)
        return part_of(context, rows, [root], n_rows, workspace).tree


def is_for_batches(context: GrowthContext) -> bool:
    """Return whether whole trees can grow as small nodes: few rows, and no setting that those do not support."""
    return context.target.weights.size <= SMALL and allows_small_nodes(context)


def batch_size(n_rows: int) -> int:
    """Return how many trees of a table of so many rows grow in one call."""
    return max(1, BATCH_ROWS // n_rows)


def grow_batch(
    context: GrowthContext, bootstrap: Bootstrap, draw_seeds: np.ndarray, seeds: np.ndarray, workspaces: WorkspacePool
) -> tuple[Tree, np.ndarray]:
    """Return a tree for each pair of seeds, one after the other as if they were parts of one, and where each begins."""
    n_rows = bootstrap.rows.size
    rows, counts, starts = drawn_rows(draw_seeds, bootstrap)
    with workspaces.one_for(context, seeds.size * n_rows, n_rows) as workspace:
        return small_trees(context, rows, counts, starts, seeds, workspace)
