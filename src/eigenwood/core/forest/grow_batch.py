"""One tree of a forest: from shared codes and its own weights, in one go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import numpy as np

from eigenwood.core.tree.grower import GrowthContext, Workspace, grown, growth_steps, new_workspace, part_of
from eigenwood.core.tree.types import BinnedTable, GrowthParams, NodeSpan, Target, Tree


class WorkspacePool:
    """Rooms that trees have left, for those that follow: a fresh one for each would cost time and, since what is given
    back comes in other pieces than what is asked for next, memory.
    """

    def __init__(self) -> None:
        self._free: defaultdict[tuple, SimpleQueue[Workspace]] = defaultdict(SimpleQueue)

    @contextmanager
    def one_for(self, context: GrowthContext) -> Iterator[Workspace]:
        """Give a room for any tree of the same table whose rule differs in nothing that changes the room.

        It does not come back from a tree that failed: what is zero between two trees may not be.
        """
        all_tried = context.params.max_features >= context.binned.features.kind.size
        free = self._free[all_tried, context.params.integer_weights]
        try:
            workspace = free.get_nowait()
        except Empty:
            n_rows = context.target.weights.size
            workspace = new_workspace(context, n_rows, n_rows)
        yield workspace
        free.put(workspace)


def grown_tree(
    binned: BinnedTable,
    target: Target,
    params: GrowthParams,
    monotonic_cst,
    max_leaves: int,
    logs: np.ndarray,
    seed: np.uint64,
    workspaces: WorkspacePool,
) -> Tree:
    """Return the tree of the rows whose weight is above 0; ``logs`` is the rule's ``log_table``."""
    rows = np.flatnonzero(target.weights).astype(np.int32)
    if max_leaves > 0:
        *_, last = growth_steps(binned, target, rows, params, monotonic_cst, max_leaves, seed, 1)
        return grown(last)
    context = GrowthContext(binned, target, params, monotonic_cst, logs, rows)
    with workspaces.one_for(context) as workspace:
        root = NodeSpan(0, rows.size, 0, seed, -np.inf, np.inf)
        return part_of(context, rows, [root], target.weights.size, workspace).tree
