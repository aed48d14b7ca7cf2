"""Verify AdaBoost: tell its rounds again from the rows and what learners say, look for better stumps, boost again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenwood.estimators.adaboost.faces import HISTORY, AdaBoostClassifier
from eigenwood.estimators.adaboost.fitting import said_classes, said_shares
from eigenwood.estimators.adaboost.input_checks import StumpData, check_learner_rows, check_stump_rows
from eigenwood.estimators.adaboost.regressor import AdaBoostRegressor
from eigenwood.estimators.state import other_attributes
from eigenwood.estimators.tree.verifying import has_seed, stated_claim
from eigenwood.estimators.watching import CALLED_OFF, TIME_UP, Deadline, OutOfTimeError
from eigenwood.proofs.adaboost import (
    History,
    Told,
    best_stump_claim,
    expected_alphas,
    history_claims,
    least_error,
    loss_claim,
    r2_losses,
    said_by_stumps,
    told_again,
)
from eigenwood.proofs.claim import Claim, at_most, not_claimed
from eigenwood.validation.adaboost import REAL
from eigenwood.validation.seeds import integer_seeds

MOST_SEARCHED = 8  # rounds whose stump is looked for again


def verify_adaboost(model: AdaBoostClassifier, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``.

    The rounds are told again with floating-point weights; of stumps, the best is looked for again in √T rounds, at most
    8, in the one with the least edge, and under the last weights. Then all is fitted again.
    """
    if hasattr(model, "stumps_"):
        data = check_stump_rows(model_for_checks(model), X, y, sample_weight, (model.classes_, model.categories_))
        told = told_by_stumps(model, data, deadline)
        searched = searched_stumps(model, data, told, deadline)
        mass, edge = data.weights, searched[-1]
    else:
        rows = check_learner_rows(model_for_checks(model), X, y, sample_weight, model.classes_)
        told, mass, edge = told_by_learners(model, rows, deadline), rows.mass, None
    stored = History(*(getattr(model, name) for name in HISTORY))
    real = model._is_real()
    wanted = expected_alphas(stored, model.classes_.size, float(model.learning_rate), real)
    yield from model._certify(told.margins, mass, edge)
    yield from history_claims(stored, told.history, wanted, mass)
    if edge is not None:
        numbers, least = searched[0], searched[1]
        yield best_stump_claim([float(told.history.errors[t]) for t in numbers], least)
    yield stated_claim(differing(model))
    yield fitted_again_claim(model, X, y, sample_weight, deadline)


def model_for_checks(model: Any) -> Any:
    """Return a copy that knows the columns: the checks of rows write them down."""
    copied = clone(model)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(copied, name, getattr(model, name))
    return copied


def watched(said: Iterator[np.ndarray], deadline: Deadline) -> Iterator[np.ndarray]:
    """Yield the same, looking at the clock before each."""
    for one in said:
        deadline.check()
        yield one


def told_by_stumps(model: AdaBoostClassifier, data: StumpData, deadline: Deadline) -> Told:
    """Return the rounds as they follow from the stumps."""
    said = said_by_stumps(model.stumps_, data.mixed.X, model.classes_.size)
    weights = data.weights
    return told_again(watched(said, deadline), data.classes.codes, weights, model.estimator_weights_, False)


def told_by_learners(model: AdaBoostClassifier, data, deadline: Deadline) -> Told:
    """Return the rounds as they follow from what the learners say."""
    n_classes, real = model.classes_.size, model.algorithm == REAL
    said_by = said_shares(n_classes) if real else said_classes(type(model).__name__, n_classes)
    said = (said_by(learner, data.training.X) for learner in model.learners_)
    return told_again(watched(said, deadline), data.codes, data.mass, model.estimator_weights_, real)


def searched_stumps(
    model: AdaBoostClassifier, data: StumpData, told: Told, deadline: Deadline
) -> tuple[list[int], list[float], float]:
    """Return some rounds, the least error of a stump in each, and the least edge that the best stump has anywhere."""
    n_rounds = len(model)
    n_searched = min(int(np.ceil(np.sqrt(n_rounds))), MOST_SEARCHED)
    lowest = int(model.edges_.argmin())  # under those weights no stump is much better than chance
    numbers = sorted({lowest, *(round(t) for t in np.linspace(0, n_rounds - 1, n_searched))})
    is_category = np.array([labels is not None for labels in model.categories_])
    least = []
    for t in [*numbers, n_rounds]:
        columns = least_error(data.mixed.X, is_category, data.classes.codes, told.weights[t], model.classes_.size)
        errors = []
        for error in columns:
            deadline.check()
            errors.append(error)
        least.append(min(errors))
    return numbers, least[:-1], 1.0 - 2.0 * max(least)


def differing(model: Any) -> list[str]:
    """Return the names of fitted attributes that cannot be what a fit left."""
    is_right = {
        "seed_": not hasattr(model, "seed_")
        or not has_seed(model)
        or model.seed_ == int(integer_seeds(model.random_state, 1)[0]),
        "stop_reason_": len(model) == model.n_estimators or model.stop_reason_ != "finished",
    }
    return [name for name, right in is_right.items() if not right]


def fitted_again_claim(model: Any, X, y, sample_weight, deadline: Deadline) -> Claim:
    """Return that boosting the same rows once more learns the same, to the last bit, whatever drew the seed."""
    name = "fitted again"
    if model.stop_reason_ in (TIME_UP, CALLED_OFF):
        return not_claimed(name, f"the fit was stopped: {model.stop_reason_}", 0)
    again = clone(model).set_params(time_limit=deadline.time_limit(), n_jobs=1)
    if hasattr(model, "seed_") and not has_seed(model):
        again._seed_to_take = model.seed_
    again.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    if again.stop_reason_ == TIME_UP:
        raise OutOfTimeError
    statement = "attributes that are others, or rows of other predictions, after another fit to these rows"
    others = set(other_attributes(model, again))
    if not all(hasattr(learner, "FITTED") for learner in getattr(model, "learners_", [])):
        others.discard("learners_")  # which cannot be compared but by what they say
    n_others = len(others) + unlike_certificates(model, again)
    n_rows = int((model.predict(X) != again.predict(X)).sum()) if n_others == 0 else 0
    return at_most(name, statement, n_others + n_rows, 0)


def unlike_certificates(model: Any, again: Any) -> int:
    """Return how many learners of ours do not have the certificates of those that were fitted again."""
    pairs = zip(getattr(model, "learners_", []), getattr(again, "learners_", []), strict=False)
    return sum(str(one.certificate_) != str(other.certificate_) for one, other in pairs if hasattr(one, "certificate_"))


def verify_adaboost_regressor(model: AdaBoostRegressor, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``."""
    data = check_learner_rows(model_for_checks(model), X, y, sample_weight)
    logs, told = np.log(data.mass), list[float]()
    for learner, alpha in zip(model.learners_, model.estimator_weights_, strict=True):
        deadline.check()
        losses = r2_losses(learner.predict(data.training.X), data.training.y, model.loss)
        weights = np.exp(logs - logs.max())
        told.append(float((weights * losses).sum() / weights.sum()))
        logs = logs - (1.0 - losses) * alpha
    yield from model._certify()
    yield loss_claim(model.estimator_errors_, told)
    yield stated_claim(differing(model))
    yield fitted_again_claim(model, X, y, sample_weight, deadline)
