"""What trees are made of: a coded table to grow from, targets, how to grow, and the grown tree as parallel arrays.

    node          0         1      2         3       4
    feature       2        -2      0        -2      -2        which column is asked; -2 marks a leaf
    threshold     0.5      -2      -        -2      -2        "x ≤ threshold" goes left
    categories    -         -    {3, 7}      -       -        or: these go to the lighter branch
    left          1        -1      3        -1      -1        nodes are in preorder: a node, its left part, its right
    right         2        -1      4        -1      -1

``default_left`` says where the rest goes: rows whose number is missing and, at a question about categories, every
category that is not listed, also one that was never seen. The listed side is always the lighter one.

A question with one branch for each category is a chain of nodes that split one category off: ``chained`` marks the
nodes whose right child asks the rest of the same question. A link lists its own category; only that of the heaviest one
lists those after it, so that what was never seen goes there.

    outlook?  ──sunny──►  …                 node 0  {sunny}     left: …   right: node 7   chained
              ──overcast──►  …              node 7  {overcast}  left: …   right: node 8
              ──rain──►  …                  node 8  …
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_no_refcount

LEAF, NO_FEATURE, NO_THRESHOLD = -1, -2, -2.0


class Tree(NamedTuple):
    """The nodes of a tree; ``categories[category_start[i] : category_start[i + 1]]`` are those listed at node i."""

    left: np.ndarray  # int32
    right: np.ndarray  # int32
    feature: np.ndarray  # int32
    threshold: np.ndarray  # float64
    default_left: np.ndarray  # bool
    chained: np.ndarray  # bool
    category_start: np.ndarray  # (n_nodes + 1,) int64
    categories: np.ndarray  # int32, ascending for each node
    impurity: np.ndarray  # float64
    n_rows: np.ndarray  # int64
    weight: np.ndarray  # float64
    value: np.ndarray  # (n_nodes, n_values): shares of the classes, output by output, or one number for each output


PER_NODE = ("feature", "threshold", "default_left", "chained", "impurity", "n_rows", "weight", "value")
NUMBER, CATEGORY = range(2)


class FeatureBins(NamedTuple):
    """What the codes of each feature mean."""

    kind: np.ndarray  # (n_features,) NUMBER or CATEGORY
    missing: np.ndarray  # (n_features,) the code of missing numbers, -1 where none is missing
    common: np.ndarray  # (n_features,) the code that is not stored, -1 where all are
    start: np.ndarray  # (n_features + 1,) where the values of a feature begin in ``lows`` and ``highs``
    lows: np.ndarray  # least value behind each code (of a category: its code)
    highs: np.ndarray  # greatest value behind each code
    exact: np.ndarray  # (n_features,) whether every distinct value has a code of its own


class BinCodes(NamedTuple):
    """The coded rows: columns whose codes are all stored, then those of which only the rare ones are.

    Codes are stored once, by column or by row; the other table has no rows. A node of a forest looks at some columns
    out of many: each code that it reads of a large table comes from the memory. The codes of its rows can be brought
    together instead, if those of a row stand side by side.
    """

    columns: np.ndarray  # (n_columns, n_rows) uint16, or uint8 where many columns have few codes
    by_row: np.ndarray  # (n_rows, n_columns) uint8: a large table of such columns
    feature: np.ndarray  # (n_columns,) which feature a column is
    start: np.ndarray  # (n_columns + 1,) where the codes of a column begin in ``bin_of_code``
    bin_of_code: np.ndarray  # the feature's code behind each code of a column
    entry_start: np.ndarray  # (n_rows + 1,)
    entries: np.ndarray  # sparse bins, ascending in each row
    sparse_feature: np.ndarray  # (n_sparse_bins,) ascending
    sparse_code: np.ndarray  # (n_sparse_bins,) ascending within a feature


class BinnedTable(NamedTuple):
    """A coded table."""

    codes: BinCodes
    features: FeatureBins


class Target(NamedTuple):
    """What the rows are to be told apart by: class codes or y, and weights unless all are 1."""

    class_codes: np.ndarray  # (n_rows, n_outputs) int32, no rows for regression
    y: np.ndarray  # (n_rows, n_outputs) float64, no rows for classification
    weights: np.ndarray  # (n_rows,) float64, or empty
    starts: np.ndarray  # (n_outputs + 1,) where the classes of an output begin among all


class NodeSpan(NamedTuple):
    """Where in the tree a node stands, and which rows it has."""

    start: int
    end: int
    depth: int
    seed: np.uint64
    lower: float
    upper: float


class GrowthParams(NamedTuple):
    """How a tree is grown."""

    criterion: int
    max_depth: int
    min_samples_split: int  # rows
    min_samples_leaf: int  # rows
    min_weight_leaf: float
    min_decrease: float
    max_leaf_impurity: float  # a node with at most this impurity is left alone
    max_features: int
    at_random: bool  # one random cut for each feature instead of the best
    multiway: bool  # one branch for each category
    integer_weights: bool  # all weights are whole numbers, so that sums and differences of them are exact
    total_weight: float  # of all rows, for ``min_decrease``


class RowTargets(NamedTuple):
    """The targets of some rows, by their places."""

    class_codes: np.ndarray  # (n_rows, n_outputs), empty for regression
    y: np.ndarray  # (n_rows, n_outputs), empty for classification
    weights: np.ndarray  # empty when all are 1


class NodeRows(NamedTuple):
    """The rows of a node, and their targets one after the other."""

    rows: np.ndarray
    class_codes: np.ndarray  # (n_rows, n_outputs), empty for regression
    y: np.ndarray  # (n_rows, n_outputs), empty for classification
    weights: np.ndarray  # empty when all are 1
    ranks: np.ndarray  # of y, and y by size (less one of them): for the absolute error
    ordered: np.ndarray


class NodeStats(NamedTuple):
    """What is known of a node before it is split, beside the sums of its rows."""

    impurity: float
    weight: float
    cost: float
    centre: float  # what was taken off y
    lower: float  # its rows' values must lie between these (monotonic constraints)
    upper: float
    seed: np.uint64


class CutRules(NamedTuple):
    """By what the cuts of one column of a node are compared, and which are allowed."""

    params: GrowthParams
    stats: NodeStats
    starts: np.ndarray  # (n_outputs + 1,) where the classes of an output begin
    sign: np.int64  # 1 where values may only rise with the column, -1 where they may only fall, else 0
    logs: np.ndarray  # x log₂ x of whole numbers, or empty


class ColumnCodes(NamedTuple):
    """The codes of some rows in one column."""

    columns: np.ndarray  # (n_columns, n_rows)
    at: int  # which column
    rows: np.ndarray


class BinOrder(NamedTuple):
    """The sums of a node in the bins of one column, and the order in which the bins go to the left."""

    sums: np.ndarray  # (n, n_sums + 1), the last column counts rows
    bins: np.ndarray  # rows of ``sums``
    n_bins: int
    total: np.ndarray  # (n_sums,) of all bins
    left: np.ndarray  # (n_sums + 2,) room for what lies left of a cut, its rows, and all rows


class ColumnSplit(NamedTuple):
    """The best cut of one column."""

    cost: float
    place: int  # of the last bin that goes left; categories only
    below: int | np.integer  # the last bin that goes left, and the first that goes right
    above: int | np.integer
    missing_left: int  # 1, 0, or -1 where no value is missing


class SplitInfo(NamedTuple):
    """The best split of a node."""

    cost: float
    candidate: int  # column, or n_columns + group of sparse bins; -1 when there is none
    feature: int | np.integer
    place: int | np.integer  # the last code of the column that goes left; of categories, the place of the last bin
    below: int | np.integer  # the feature's bins on both sides of a cut between numbers
    above: int | np.integer
    missing_left: int


NO_SPLIT = SplitInfo(np.inf, -1, -1, -1, -1, -1, -1)


@njit_no_refcount
def no_column_split():
    """Return what stands for a column that cannot be cut."""
    return ColumnSplit(np.inf, -1, -1, -1, -1)
