"""From the nodes that rounds have made to trees: thresholds in place of bins, categories in place of lists of bins."""

from __future__ import annotations

import numpy as np

from eigenwood.core.boosting.binning import FeatureCuts, ends_of
from eigenwood.core.boosting.types import BIN, DEFAULT_LEFT, FEATURE, LEFT, N_ROWS, RIGHT, VALUE, WEIGHT, BoostNodes
from eigenwood.core.tree.structure import preorders
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, Tree


def trees_of(nodes: BoostNodes, cuts: FeatureCuts) -> Tree:
    """Return all trees in preorder, one after the other as parts of one; ``nodes.start`` says where they begin."""
    whole, real, listed = nodes.whole.astype(np.int64), nodes.real, nodes.listed
    roots = nodes.start[:-1]
    shift = np.repeat(roots, np.diff(nodes.start))
    left = np.where(whole[:, LEFT] > 0, whole[:, LEFT] + shift, LEAF)
    right = np.where(whole[:, LEFT] > 0, whole[:, RIGHT] + shift, LEAF)
    order = preorders(left.astype(np.int32), right.astype(np.int32), roots)
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    inner, feature = left != LEAF, whole[:, FEATURE]
    is_category = np.zeros(order.size, dtype=bool)
    is_category[inner] = np.diff(cuts.category_start)[feature[inner]] > 0
    threshold, numeric = np.full(order.size, NO_THRESHOLD), inner & ~is_category
    threshold[numeric] = cuts.cuts[cuts.start[feature[numeric]] + whole[numeric, BIN]]
    lists = {int(i): listed_categories(listed[i], cuts, int(feature[i])) for i in np.flatnonzero(is_category)}
    default_left = whole[:, DEFAULT_LEFT] != 0
    for i, (goes_left, _) in lists.items():
        heavier_left = whole[left[i], N_ROWS] > whole[right[i], N_ROWS]
        default_left[i] = heavier_left
        lists[i] = (goes_left, np.flatnonzero(goes_left != heavier_left))
    sizes = np.zeros(order.size, dtype=np.int64)
    sizes[[number[i] for i in lists]] = [others.size for _, others in lists.values()]
    by_number = sorted(lists, key=lambda i: number[i])
    return Tree(
        left=np.where(inner, number[left], LEAF)[order].astype(np.int32),
        right=np.where(inner, number[right], LEAF)[order].astype(np.int32),
        feature=np.where(inner, feature, NO_FEATURE)[order].astype(np.int32),
        threshold=threshold[order],
        default_left=default_left[order],
        chained=np.zeros(order.size, dtype=bool),
        category_start=ends_of(sizes),
        categories=np.concatenate([lists[i][1] for i in by_number] or [np.empty(0)]).astype(np.int32),
        impurity=np.zeros(order.size),
        n_rows=whole[order, N_ROWS],
        weight=real[order, WEIGHT],
        value=real[order, VALUE][:, None],
    )


def listed_categories(words: np.ndarray, cuts: FeatureCuts, feature: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each category of a feature whether it goes left; and room for those that are listed."""
    bins = cuts.bin_of_category[cuts.category_start[feature] : cuts.category_start[feature + 1]]
    goes_left = (words[bins >> 6] >> (bins & 63).astype(np.uint64)) & np.uint64(1) != 0
    return goes_left, bins[:0]
