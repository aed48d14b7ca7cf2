"""One tree of a forest: from shared codes and its own weights, in one go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import numpy as np

from eigenwood.core.tree.binning import Binned
from eigenwood.core.tree.branching import Place, Target
from eigenwood.core.tree.growing import Ground, Room, grown, growth_steps, new_room, part_of
from eigenwood.core.tree.nodes import Tree
from eigenwood.core.tree.splitting import Rule


class Rooms:
    """Rooms that trees have left, for those that follow: a fresh one for each would cost time and, since what is given
    back comes in other pieces than what is asked for next, memory.
    """

    def __init__(self) -> None:
        self._free: defaultdict[tuple, SimpleQueue[Room]] = defaultdict(SimpleQueue)

    @contextmanager
    def one_for(self, ground: Ground) -> Iterator[Room]:
        """Give a room for any tree of the same table whose rule differs in nothing that changes the room.

        It does not come back from a tree that failed: what is zero between two trees may not be.
        """
        all_tried = ground.rule.max_features >= ground.binned.features.kind.size
        free = self._free[all_tried, ground.rule.whole]
        try:
            room = free.get_nowait()
        except Empty:
            n_rows = ground.target.weights.size
            room = new_room(ground, n_rows, n_rows)
        yield room
        free.put(room)


def grown_tree(
    binned: Binned, target: Target, rule: Rule, signs, max_leaves: int, logs: np.ndarray, seed: np.uint64, rooms: Rooms
) -> Tree:
    """Return the tree of the rows whose weight is above 0; ``logs`` is the rule's ``log_table``."""
    rows = np.flatnonzero(target.weights).astype(np.int32)
    if max_leaves > 0:
        *_, last = growth_steps(binned, target, rows, rule, signs, max_leaves, seed, 1)
        return grown(last)
    ground = Ground(binned, target, rule, signs, logs, rows)
    with rooms.one_for(ground) as room:
        root = Place(0, rows.size, 0, seed, -np.inf, np.inf)
        return part_of(ground, rows, [root], target.weights.size, room).tree
