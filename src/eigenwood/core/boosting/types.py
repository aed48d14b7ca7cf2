"""What boosting reads: a table of bytes, how rounds are made, and targets.

Every column of the table has at most 256 codes. Eight columns stand side by side in one word, so that one read brings
the codes of a row for eight histograms:

    group 0     row 0   │ c7 c6 c5 c4 c3 c2 c1 c0 │        c0: the code of column 0
                row 1   │ …                       │
    group 1     row 0   │                  … c9 c8 │

Columns in which almost every row has the same code, and of which no row has a rare code in two, share one column:

    feature 10   0 1 0 0 0           column 10   0 1 0 2 0        code 0: the common code of both
    feature 11   0 0 0 1 0                                        feature 10 begins at code 1, feature 11 at code 2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

PER_WORD = 8  # columns in a word
MOST_BINS = 256  # what a byte can tell apart


class BoostTable(NamedTuple):
    """The coded rows, and where the bins of each feature stand."""

    codes: np.ndarray  # (n_groups, n_rows) uint64
    row_hash: np.ndarray  # (n_rows,) uint64: the same for rows with the same codes
    bin_start: np.ndarray  # (n_columns + 1,) int64: where the bins of a column begin in a histogram
    column: np.ndarray  # (n_features,) int64
    features: np.ndarray  # (n_features,) int64: in the order of their columns
    feature_start: np.ndarray  # (n_groups + 1,) int64: where the features of a group begin in that order
    first_code: np.ndarray  # (n_features,) int64: where a feature begins among the codes of a shared column
    n_bins: np.ndarray  # (n_features,) int64, that of missing numbers included
    common: np.ndarray  # (n_features,) int64: the bin that is not stored; -1 in a column of its own
    missing: np.ndarray  # (n_features,) int64: the bin of missing numbers, -1 where none is missing
    is_category: np.ndarray  # (n_features,) bool


class BoostParams(NamedTuple):
    """How rounds are made."""

    loss: int
    n_outputs: int  # trees in a round
    learning_rate: float
    max_leaves: int
    best_first: bool  # the split with the largest gain comes next; or any, if the number of leaves has no limit
    max_depth: int
    min_samples_leaf: int
    min_hessian: float
    l2: float
    min_gain: float
    max_features: int
    n_drawn: int  # rows of a round, all of them or fewer
    alpha: float  # of quantiles and Huber's loss
    scale_bits: int  # bits of a quantised gradient
    has_bounds: bool  # monotonic constraints
    has_groups: bool  # interaction constraints
    seed: np.uint64
    min_samples_split: int = 2


class Constraints(NamedTuple):
    """What splits must keep to."""

    monotonic_cst: np.ndarray  # (n_features,) int64
    allowed: np.ndarray  # (n_features, n_words) uint64: the groups of features that each is in, as bits


class BoostTarget(NamedTuple):
    """What is learnt: amounts, or codes of classes; and weights unless all are 1."""

    y: np.ndarray  # (n_rows,) float64
    weights: np.ndarray  # (n_rows,) float64, or empty


LEFT, RIGHT, FEATURE, BIN, DEFAULT_LEFT, N_ROWS = range(6)  # what a node is, in whole numbers …
VALUE, WEIGHT, GAIN = range(3)  # … and in real ones
LIST_WORDS = 4  # of 64 bits: the bins that go left at a question about a category


class BoostNodes(NamedTuple):
    """The nodes of all trees of a call, one tree after the other, each in the order in which they were made."""

    whole: np.ndarray  # (n_nodes, 6) int32 LEFT … N_ROWS; children are counted from the root of their tree
    real: np.ndarray  # (n_nodes, 3) VALUE … GAIN
    listed: np.ndarray  # (n_nodes, 4) uint64
    start: np.ndarray  # (n_trees + 1,) int64
