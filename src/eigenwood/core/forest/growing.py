"""One tree of a forest: from shared codes and its own weights, in one go."""

from __future__ import annotations

import numpy as np

from eigenwood.core.tree.binning import Binned
from eigenwood.core.tree.branching import Place, Target
from eigenwood.core.tree.growing import Ground, grown, growth_steps, part_of
from eigenwood.core.tree.nodes import Tree
from eigenwood.core.tree.splitting import Rule


def grown_tree(
    binned: Binned, target: Target, rule: Rule, signs, max_leaves: int, logs: np.ndarray, seed: np.uint64
) -> Tree:
    """Return the tree of the rows whose weight is above 0; ``logs`` is the rule's ``log_table``."""
    rows = np.flatnonzero(target.weights).astype(np.int32)
    if max_leaves > 0:
        *_, last = growth_steps(binned, target, rows, rule, signs, max_leaves, seed, 1)
        return grown(last)
    ground = Ground(binned, target, rule, signs, logs, rows)
    return part_of(ground, rows, [Place(0, rows.size, 0, seed, -np.inf, np.inf)], rows.size).tree
