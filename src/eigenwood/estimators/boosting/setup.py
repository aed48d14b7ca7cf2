"""Rows and parameters → what the rounds of the core are made from."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.boosting.binning import FeatureCuts, boost_table, learn_cuts
from eigenwood.core.boosting.losses import CUSTOM, HUBER, POISSON
from eigenwood.core.boosting.losses import FLAT as FLAT_LOSSES
from eigenwood.core.boosting.rounds import BoostingRun
from eigenwood.core.boosting.types import BoostParams, BoostTarget, Constraints
from eigenwood.estimators.boosting.input_checks import BoostData, are_repeats, feature_groups
from eigenwood.estimators.boosting.params import loss_code, output_count, quantiles_of
from eigenwood.estimators.boosting.stopping import row_marks
from eigenwood.estimators.tree.fitting import NO_DEPTH, monotonic_signs, row_count
from eigenwood.estimators.tree.params import feature_count
from eigenwood.estimators.tree.verifying import missing_in

SCALE_BITS = 12  # of a gradient that was made a whole number
LEAST_HESSIAN = 1e-3  # of a side of a split, in units of the mean weight, as in scikit-learn
UNKNOWN_BIN = 255  # of a category that only rows held out have
FEW_ROWS, FEW_NUMBERS = 4096, 100_000  # are done by one thread before another has begun


class Setup(NamedTuple):
    """What the rounds of a fit are made from: training rows come first, rows held out after them."""

    data: BoostData
    n_train: int
    cuts: FeatureCuts
    has_missing: np.ndarray  # (n_features,) bool: of the training rows
    params: BoostParams
    constraints: Constraints
    alphas: np.ndarray
    repeats: bool  # weights count rows
    n_threads: int

    def is_by_round(self) -> bool:
        """Return whether something must be computed from all scores before each round."""
        return self.params.loss in (HUBER, CUSTOM)

    def has_out_of_bag(self) -> bool:
        """Return whether rounds leave rows out whose loss is known."""
        return self.params.n_drawn < self.n_train and not self.repeats and self.params.loss != CUSTOM

    def run(self) -> BoostingRun:
        """Return the run that makes the rounds."""
        data, n_threads = self.data, self.n_threads
        cuts, X = cuts_with_unknown(self.cuts, data)
        table = boost_table(X, cuts, data.mixed.counts(), n_threads, data.weights)
        target = BoostTarget(data.y, data.weights)
        return BoostingRun(
            table, target, self.params, self.constraints, self.alphas, self.n_train, self.repeats, n_threads
        )


def make_setup(model: Any, learn: BoostData, held_out: BoostData | None, seed: int, n_threads: int) -> Setup:
    """Return what rounds are made from; the order of rows matters only where some are drawn, and is fixed then."""
    if model.subsample < 1.0:
        learn = in_fixed_order(learn)
    data = learn if held_out is None else one_below_other(learn, held_out)
    has_ones = data.weights.size > learn.weights.size == 0  # which only stand before the weights of rows held out
    repeats = are_repeats(learn.weights) or (has_ones and model.subsample == 1.0)
    n_features = learn.n_features()
    n_threads = 1 if data.n_rows() < FEW_ROWS and data.n_rows() * n_features < FEW_NUMBERS else n_threads
    cuts = learn_cuts(training_rows(learn), learn.mixed.counts(), learn.weights, int(model.max_bins), n_threads)
    has_missing = cuts.may_miss
    if held_out is not None:
        cuts = cuts._replace(may_miss=cuts.may_miss | missing_in(held_out.mixed.X))
    n_classes = learn.n_classes()
    return Setup(
        data=data,
        n_train=learn.n_rows(),
        cuts=cuts,
        has_missing=has_missing,
        params=boost_params(model, learn, repeats, seed),
        constraints=Constraints(
            monotonic_signs(model, n_features).astype(np.int64), allowed_features(model.interaction_cst, n_features)
        ),
        alphas=np.resize(quantiles_of(model), output_count(model, n_classes)),
        repeats=repeats,
        n_threads=n_threads,
    )


def boost_params(model: Any, learn: BoostData, repeats: bool, seed: int) -> BoostParams:
    """Return the core's parameters: fractions become numbers of rows."""
    weights, n_classes = learn.row_weights(), learn.n_classes()
    total = float(weights.sum())
    n_meant = int(total) if repeats else learn.n_rows()
    n_least = max(row_count(model.min_samples_leaf, n_meant), rows_of_weight(model.min_weight_fraction_leaf, learn), 1)
    loss = loss_code(model, n_classes)
    return BoostParams(
        loss=loss,
        n_outputs=output_count(model, n_classes),
        learning_rate=float(model.learning_rate),
        max_leaves=leaf_count(model, n_meant),
        best_first=model.max_leaf_nodes is not None,
        max_depth=NO_DEPTH if model.max_depth is None else min(int(model.max_depth), NO_DEPTH),
        min_samples_leaf=n_least,
        min_hessian=least_hessian(loss, learn, total),
        l2=float(model.l2_regularization),
        min_gain=float(model.min_impurity_decrease) * total,
        max_features=min(feature_count(model.max_features, learn.n_features()), learn.n_features()),
        n_drawn=n_meant if model.subsample == 1.0 else max(1, int(model.subsample * learn.n_rows())),
        alpha=float(quantiles_of(model)[0]),
        scale_bits=SCALE_BITS,
        has_bounds=bool(np.any(model.monotonic_cst)),
        has_groups=model.interaction_cst is not None,
        seed=np.uint64(seed),
        min_samples_split=row_count(model.min_samples_split, n_meant),
    )


def rows_of_weight(share: float, learn: BoostData) -> int:
    """Return how many rows have a share of all weight, whichever they are: the lightest ones have it."""
    if learn.weights.size == 0 or are_repeats(learn.weights):
        return math.ceil(share * learn.row_weights().sum())
    up_to = np.cumsum(np.sort(learn.weights))
    return int(np.searchsorted(up_to, share * up_to[-1] * (1.0 - 1e-12))) + 1 if share > 0 else 0


def least_hessian(loss: int, learn: BoostData, total: float) -> float:
    """Return the least sum of hessians of a side of a split; none where hessians are weights.

    Those of Poisson's loss are as small as the means that are learnt.
    """
    if loss in FLAT_LOSSES or loss == CUSTOM:
        return 0.0
    mean_weight = total / learn.n_rows() if not are_repeats(learn.weights) else 1.0
    scale = min(1.0, float(np.average(learn.y, weights=learn.row_weights()))) if loss == POISSON else 1.0
    return LEAST_HESSIAN * mean_weight * scale


def leaf_count(model: Any, n_rows: int) -> int:
    """Return the most leaves that a tree can have."""
    most = n_rows if model.max_leaf_nodes is None else min(int(model.max_leaf_nodes), n_rows)
    depth = 62 if model.max_depth is None else min(int(model.max_depth), 62)
    return max(1, min(most, 1 << depth))


def allowed_features(interaction_cst: Any, n_features: int) -> np.ndarray:
    """Return for each feature, as bits, the groups that it is in."""
    groups = feature_groups(interaction_cst, n_features)
    allowed = np.zeros((n_features, max(1, -(-len(groups) // 64))), dtype=np.uint64)
    for number, group in enumerate(groups):
        for j in group:
            allowed[j, number // 64] |= np.uint64(1 << number % 64)
    return allowed


# ---- rows ---------------------------------------------------------------------------------------------------------


def in_fixed_order(data: BoostData) -> BoostData:
    """Return rows in an order that follows from what stands in them; whole weights are repeated rows."""
    order = np.argsort(row_marks(data), kind="stable")
    if not are_repeats(data.weights):
        return data.taken(order)
    return data.taken(np.repeat(order, data.weights[order].astype(np.int64)))._replace(weights=np.empty(0))


def one_below_other(learn: BoostData, held_out: BoostData) -> BoostData:
    """Return the rows of both; weights are there if one of them has any."""
    parts: list[Any] = [learn.mixed.X, held_out.mixed.X]
    X: Any = sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)
    weights = np.empty(0)
    if learn.weights.size or held_out.weights.size:
        weights = np.concatenate([learn.row_weights(), held_out.row_weights()])
    return learn._replace(
        mixed=learn.mixed._replace(X=X),
        y=np.concatenate([learn.y, held_out.y]),
        weights=weights,
        places=np.concatenate([learn.places, held_out.places]),
    )


def training_rows(data: BoostData) -> Any:
    """Return rows as columns are read from them."""
    return data.mixed.X.tocsc() if sparse.issparse(data.mixed.X) else data.mixed.X


def cuts_with_unknown(cuts: FeatureCuts, data: BoostData) -> tuple[FeatureCuts, Any]:
    """Return cuts and rows in which a category that was never seen in training has a bin of its own, if there is one.

    No training row is in that bin, so the heavier side of a question gets it, as in prediction.
    """
    counts = data.mixed.counts()
    unknown = [j for j in np.flatnonzero(counts >= 0) if data.mixed.X[:, j].min() < 0]
    if not unknown:
        return cuts, data.mixed.X
    parts = np.split(cuts.bin_of_category, cuts.category_start[1:-1])
    X = data.mixed.X.copy()
    for j in unknown:
        parts[j] = np.append(parts[j], UNKNOWN_BIN)
        X[X[:, j] < 0, j] = counts[j]
    starts = np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(np.int64)
    return cuts._replace(bin_of_category=np.concatenate(parts), category_start=starts), X
