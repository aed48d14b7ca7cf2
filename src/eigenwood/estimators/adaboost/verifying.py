"""Verify AdaBoost: tell its rounds again from the rows and what learners say, look for better stumps, boost again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenwood.estimators.adaboost.faces import AdaBoostClassifier
from eigenwood.estimators.adaboost.fitting import pred_by_classes, pred_by_shares
from eigenwood.estimators.adaboost.history import HISTORY
from eigenwood.estimators.adaboost.input_checks import LearnerData, StumpData, check_learner_rows, check_stump_rows
from eigenwood.estimators.adaboost.medians import weighted_medians
from eigenwood.estimators.adaboost.regressor import AdaBoostRegressor
from eigenwood.estimators.adaboost.stopping import divided_learner_rows, divided_stump_rows
from eigenwood.estimators.state import other_attributes
from eigenwood.estimators.tree.verifying import has_seed, stated_claim
from eigenwood.estimators.watching import CALLED_OFF, FINISHED, NO_GAIN, TIME_UP, Deadline, OutOfTimeError
from eigenwood.proofs.adaboost import (
    ALIKE,
    History,
    Told,
    best_stump_claim,
    expected_alphas,
    history_claims,
    least_error,
    loss_claim,
    preds_of_stumps,
    r2_losses,
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
    held_out: StumpData | LearnerData | None
    if hasattr(model, "stumps_"):
        data = check_stump_rows(model_for_checks(model), X, y, sample_weight, (model.classes_, model.categories_))
        data, held_out = divided_stump_rows(model, data, getattr(model, "seed_", 0))
        told = told_by_stumps(model, data, deadline)
        searched = searched_stumps(model, data, told, deadline)
        mass, edge = data.weights, searched[-1]
    else:
        rows = check_learner_rows(model_for_checks(model), X, y, sample_weight, model.classes_)
        rows, held_out = divided_learner_rows(model, rows, model.seed_)
        told, mass, edge = told_by_learners(model, rows, deadline), rows.mass, None
    stored = History(*(getattr(model, name) for name in HISTORY))
    real = model._is_real()
    wanted = expected_alphas(stored, model.classes_.size, float(model.learning_rate), real)
    yield from model._certify(told.margins, mass, edge)
    yield from history_claims(stored, told, wanted)
    if edge is not None:
        numbers, least = searched[0], searched[1]
        yield best_stump_claim([float(told.history.errors[t]) for t in numbers], least)
    if held_out is not None:
        yield held_out_claim(model, accuracies(model, held_out, deadline))
    yield stated_claim(differing(model))
    yield fitted_again_claim(model, X, y, sample_weight, deadline)


def model_for_checks(model: Any) -> Any:
    """Return a copy that knows the columns: the checks of rows write them down."""
    copied = clone(model)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(copied, name, getattr(model, name))
    return copied


def watched(pred: Iterator[np.ndarray], deadline: Deadline) -> Iterator[np.ndarray]:
    """Yield the same, looking at the clock before each."""
    for one in pred:
        deadline.check()
        yield one


def told_by_stumps(model: AdaBoostClassifier, data: StumpData, deadline: Deadline) -> Told:
    """Return the rounds as they follow from the stumps."""
    pred = watched(preds_of_stumps(model.stumps_, data.mixed.X, model.classes_.size), deadline)
    return told_again(pred, data.classes.codes, data.weights, model.estimator_weights_, False)


def told_by_learners(model: AdaBoostClassifier, data: LearnerData, deadline: Deadline) -> Told:
    """Return the rounds as they follow from what the learners say."""
    pred = watched(preds_of_learners(model, data.training.X), deadline)
    return told_again(pred, data.codes, data.mass, model.estimator_weights_, model.algorithm == REAL)


def preds_of_learners(model: AdaBoostClassifier, X: Any) -> Iterator[np.ndarray]:
    """Yield what each learner says of rows: 1 for what it is sure of, -1 for what it excludes."""
    n_classes, real = model.classes_.size, model.algorithm == REAL
    pred_of = pred_by_shares(n_classes) if real else pred_by_classes(type(model).__name__, n_classes)
    return (pred_of(learner, X) for learner in model.learners_)


def accuracies(model: AdaBoostClassifier, held_out: StumpData | LearnerData, deadline: Deadline) -> Iterator[float]:
    """Yield the accuracy on rows held out after each round: the class with the largest sum of votes."""
    if isinstance(held_out, StumpData):
        codes, mass = held_out.classes.codes, held_out.weights
        pred = preds_of_stumps(model.stumps_, held_out.mixed.X, model.classes_.size)
    else:
        codes, mass = held_out.codes, held_out.mass
        pred = preds_of_learners(model, held_out.training.X)
    votes = np.zeros((codes.size, model.classes_.size))
    for alpha, one in zip(model.estimator_weights_, watched(pred, deadline), strict=True):
        votes += alpha * (one if model._is_real() else one > 0)
        yield float(mass[votes.argmax(axis=1) == codes].sum() / mass.sum())


def shares_explained(model: AdaBoostRegressor, held_out: LearnerData, deadline: Deadline) -> Iterator[float]:
    """Yield R² on rows held out after each round."""
    y, mass, pred = held_out.training.y, held_out.mass, np.empty((held_out.mass.size, 0))
    around = float((mass * (y - np.average(y, weights=mass)) ** 2).sum())
    for t, learner in enumerate(model.learners_):
        deadline.check()
        pred = np.column_stack([pred, learner.predict(held_out.training.X)])
        off = float((mass * (y - weighted_medians(pred, model.estimator_weights_[: t + 1])) ** 2).sum())
        yield 1.0 - off / around if around > 0.0 else float(off == 0.0)


def held_out_claim(model: Any, scores: Iterator[float]) -> Claim:
    """Return the claim that the scores of the rows held out are found again, and that the best round was kept."""
    stated, found = model.validation_score_, np.array(list(scores))
    n_off = int((np.abs(stated - found) > ALIKE * np.maximum(np.abs(found), 1.0)).sum())
    not_best = model.stop_reason_ not in (TIME_UP, CALLED_OFF) and int(np.argmax(stated)) + 1 < len(model)
    statement = "scores of the rows held out that are not found again, and rounds after the best one"
    return at_most("rows held out", statement, n_off + int(not_best), 0)


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
        or model.warm_start
        or model.seed_ == int(integer_seeds(model.random_state, 1)[0]),
        "stop_reason_": (len(model) == model.n_estimators or model.stop_reason_ != FINISHED)
        and (model.early_stopping or model.stop_reason_ != NO_GAIN),
    }
    return [name for name, right in is_right.items() if not right]


def fitted_again_claim(model: Any, X, y, sample_weight, deadline: Deadline) -> Claim:
    """Return that boosting the same rows once more learns the same, to the last bit, whatever drew the seed."""
    name = "fitted again"
    if model.stop_reason_ in (TIME_UP, CALLED_OFF):
        return not_claimed(name, f"the fit was stopped: {model.stop_reason_}", 0)
    again = clone(model).set_params(time_limit=deadline.time_limit(), n_jobs=1)
    if hasattr(model, "seed_") and (model.warm_start or not has_seed(model)):
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
    data, held_out = divided_learner_rows(model, data, model.seed_)
    logs, told = np.log(data.mass), list[float]()
    for learner, alpha in zip(model.learners_, model.estimator_weights_, strict=True):
        deadline.check()
        losses = r2_losses(learner.predict(data.training.X), data.training.y, model.loss)
        weights = np.exp(logs - logs.max())
        told.append(float((weights * losses).sum() / weights.sum()))
        logs = logs - (1.0 - losses) * alpha
    yield from model._certify()
    yield loss_claim(model.estimator_errors_, told)
    if held_out is not None:
        yield held_out_claim(model, shares_explained(model, held_out, deadline))
    yield stated_claim(differing(model))
    yield fitted_again_claim(model, X, y, sample_weight, deadline)
