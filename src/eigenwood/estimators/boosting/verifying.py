"""Verify gradient boosting: go through its rounds again, with the rows that were given to ``fit``."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np

from eigenwood.core.boosting.losses import EXPONENTIAL
from eigenwood.core.forest.packing import tree_at
from eigenwood.errors import InputError
from eigenwood.estimators.boosting.faces import GradientBoosting
from eigenwood.estimators.boosting.fitting import own_loss
from eigenwood.estimators.boosting.initial import fitted_init
from eigenwood.estimators.boosting.input_checks import BoostData, check_query
from eigenwood.estimators.boosting.params import DEVIANCES, round_count
from eigenwood.estimators.boosting.setup import Setup, make_setup
from eigenwood.estimators.boosting.stopping import best_round, row_marks, validation_split
from eigenwood.estimators.state import other_attributes
from eigenwood.estimators.tree.verifying import has_all_categories, has_seed, missing_in, stated_claim
from eigenwood.estimators.watching import FINISHED, NO_GAIN, Deadline
from eigenwood.proofs.boosted_trees import BoostedRows
from eigenwood.proofs.boosting import (
    ALIKE,
    CUT_SHORT,
    found_claims,
    gone_through,
    oob_claim,
    round_claims,
    round_draw,
    total_loss,
    training_error,
)
from eigenwood.proofs.claim import Claim, at_most, not_claimed
from eigenwood.proofs.questions import passed
from eigenwood.validation.seeds import integer_seeds


def verify_boosting(model: GradientBoosting, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``.

    Every round is gone through again: the rows of each leaf must give its value, what the model states must be found,
    and at some questions of √T of the trees no better split may be found. Rows held out are drawn again; those that
    were given to ``fit`` as ``X_val`` are not here, and nothing is claimed about them.
    """
    data = check_query(model, model.categories_, getattr(model, "classes_", None), X, y, sample_weight)
    if not has_all_categories(model.categories_, data.mixed.X, data.mixed.X):
        yield stated_claim(["categories_"])
        return
    learn, held_out = divided(model, data)
    if learn is None:
        yield stated_claim(["n_held_out_"])
        return
    setup = make_setup(model, learn, None, model.seed_, 1)
    rows, start = boosted_rows(model, setup), start_scores(model, X, setup.data)
    deadline.check()
    found = gone_through(
        (tree_at(model.forest_, number) for number in range(model.forest_.node_start.size - 1)),
        rows,
        start,
        setup.params,
        setup.alphas,
        own_loss(model),
        lambda number: drawn_rows(setup, number),
        searched_trees(model),
        int(np.bitwise_xor.reduce(row_marks(data)) % 2**32),
        deadline.check,
    )
    factor = 2.0 if setup.params.loss in DEVIANCES else 1.0
    error = training_error(rows.y, found.scores[0], rows.weights) if setup.params.loss == EXPONENTIAL else 0.0
    yield from round_claims(model._trained(setup.params.loss, error))
    stated = getattr(model, "train_score_", np.empty(0))
    found = found._replace(losses=factor * found.losses, oob=factor * found.oob)
    yield from found_claims(found, stated, model.feature_gains_, setup.params.has_bounds)
    yield stated_claim(differing(model, data, learn, X, sample_weight))
    deadline.check()
    if hasattr(model, "validation_score_"):
        asked = learn if model.validation_fraction is None else held_out
        yield held_out_claim(model, asked, X, setup, factor, found.deltas)
    if hasattr(model, "oob_scores_"):
        yield oob_claim(found, model.oob_scores_, model.oob_improvement_)


def divided(model: GradientBoosting, data: BoostData) -> tuple[BoostData | None, BoostData | None]:
    """Return the rows to learn from and those held out, drawn again; None if these are not as many as is said."""
    if model.n_held_out_ == 0:
        return data, None
    try:
        learn, held_out = validation_split(type(model).__name__, data, model.validation_fraction, model.seed_)
    except InputError:
        return None, None
    return (data.taken(learn), data.taken(held_out)) if held_out.size == model.n_held_out_ else (None, None)


def boosted_rows(model: GradientBoosting, setup: Setup) -> BoostedRows:
    """Return the training rows as they are gone through."""
    data, cuts = setup.data, setup.cuts
    _, counts = np.unique(row_marks(data), return_counts=True)
    weights = data.row_weights()
    return BoostedRows(
        X=data.mixed.X,
        y=data.y,
        weights=weights,
        is_category=model.is_categorical_,
        monotonic_cst=setup.constraints.monotonic_cst,
        cuts=[cuts.cuts[cuts.start[j] : cuts.start[j + 1]] for j in range(data.n_features())],
        bins=np.split(cuts.bin_of_category, cuts.category_start[1:-1]),
        most_alike=float(counts.max()) * float(weights.max() if setup.repeats else 1.0),
    )


def start_scores(model: GradientBoosting, X: Any, data: BoostData) -> np.ndarray:
    """Return the scores before the first round, (n_outputs, n_rows)."""
    start = np.repeat(model.baseline_[:, None], data.n_rows(), axis=1)
    return start + model._init_raw(X)[data.places].T if hasattr(model, "init_models_") else start


def drawn_rows(setup: Setup, number: int) -> np.ndarray | None:
    """Return the rows that a round drew; None if it had all of them."""
    if setup.repeats or setup.params.n_drawn == setup.data.n_rows():
        return None
    return round_draw(int(setup.params.seed), number, setup.data.n_rows(), setup.params.n_drawn)


def searched_trees(model: GradientBoosting) -> set[int]:
    """Return the numbers of √T trees, the first and the last among them."""
    n = model.forest_.node_start.size - 1
    return {int(number) for number in np.linspace(0, n - 1, int(np.ceil(np.sqrt(n))))}


# ---- stated numbers -----------------------------------------------------------------------------------------------


def differing(model: GradientBoosting, data: BoostData, learn: BoostData, X: Any, sample_weight: Any) -> list[str]:
    """Return the names of fitted attributes that are not what the rows give."""
    is_number = ~model.is_categorical_
    n_kept, n_wanted = len(model), round_count(model)
    stops = hasattr(model, "validation_score_")
    is_right = {
        "baseline_": np.allclose(model.baseline_, model._baseline(learn), rtol=1e-9, atol=1e-12),
        "max_features_": model.max_features_ == model._feature_count(data.n_features()),
        "has_missing_": np.array_equal(model.has_missing_, missing_in(learn.mixed.X) & is_number),
        "n_held_out_": stops or model.n_held_out_ == 0,
        "seed_": has_right_seed(model, data),
        "init_models_": not hasattr(model, "init_models_") or is_same_init(model, X, learn, sample_weight),
        "stop_reason_": (model.stop_reason_ == FINISHED) == (n_kept == n_wanted)
        and (model.stop_reason_ != NO_GAIN or stops),
    }
    return [name for name, right in is_right.items() if not right]


def has_right_seed(model: GradientBoosting, data: BoostData) -> bool:
    """Return whether all draws follow from the seed that can be drawn again; where nothing is drawn it is 0."""
    if model.warm_start:
        return True
    if model.n_held_out_ == 0 and model.subsample == 1.0 and model.max_features_ == data.n_features():
        return model.seed_ == 0
    return not has_seed(model) or model.seed_ == int(integer_seeds(model.random_state, 1)[0])


def is_same_init(model: GradientBoosting, X: Any, learn: BoostData, sample_weight: Any) -> bool:
    """Return whether the estimator that boosting began with is what a fit to the same rows gives."""
    own, has_weights = model.init_models_[0], sample_weight is not None or learn.weights.size > 0
    if not isinstance(getattr(model.init, "random_state", 0), Integral):
        return True  # it may have drawn what nobody can draw again; rounds that follow from it are checked
    again = fitted_init(model, X, learn, has_weights)[0]
    if type(again) is not type(own):
        return False
    if hasattr(own, "FITTED"):
        return not other_attributes(own, again) and own.certificate_ == again.certificate_
    return np.array_equal(own.predict(X), again.predict(X))


def held_out_claim(
    model: GradientBoosting, held_out: BoostData | None, X: Any, setup: Setup, factor: float, deltas: np.ndarray
) -> Claim:
    """Return the claim that the scores of the rows held out are found again, and that the best round was kept."""
    name = "rows held out"
    statement = "scores of the rows held out that are not found again, and rounds after the best one"
    if held_out is None:
        return not_claimed(name, f"{statement}; X_val is not here", 0.0)
    stopping, scores = model._stopping(held_out, held_out, setup.data.n_rows()), []
    raw = start_scores(model, X, held_out)
    for number in range(-1, len(model)):
        for k in range(raw.shape[0] if number >= 0 else 0):
            tree = tree_at(model.forest_, number * raw.shape[0] + k)
            raw[k] += tree.value[passed(tree, held_out.mixed.X).leaves, 0]
        if stopping is not None and stopping.metric is not None:
            scores.append(stopping.metric(raw))
        else:
            delta, own = float(deltas[number + 1]), held_out.row_weights()
            loss = total_loss(setup.params.loss, setup.alphas, delta, held_out.y, raw, own)
            scores.append(-factor * loss)
    found, stated = np.array(scores), model.validation_score_
    off = ~(np.abs(found - stated) <= ALIKE * np.maximum(np.abs(found), 1e-12))
    not_best = model.stop_reason_ not in CUT_SHORT and len(model) > 1 and best_round(stated) != len(model)
    return at_most(name, statement, int(off.sum()) + int(not_best), 0)
