"""Verify models around models: every member by its own verifier, and again what was made of the members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.estimators.bagging.verifying import parts_of, plain_params
from eigenwood.estimators.blending.faces import (
    WeightedEnsemble,
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
    shares_of,
)
from eigenwood.estimators.blending.fitting import member_proba
from eigenwood.estimators.blending.input_checks import MemberData, checked_amounts, checked_classes
from eigenwood.estimators.blending.scaled_target import ScaledTargetRegressor
from eigenwood.estimators.tree.verifying import stated_claim
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.blending import log_loss_claims, named, share_claims, squared_error_claims
from eigenwood.proofs.claim import Claim, at_most, not_claimed

NEAR = 1e-9  # a share by which what is computed again may differ


def verify_ensemble_of_classifiers(
    model: WeightedEnsembleClassifier, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[Claim]:
    """Yield the claims of every member about the rows, and those about weights, calibrations and probabilities.

    Calibrations that ``fit`` has found are found again, fold by fold; those that were given are as they were given.
    """
    data = checked_classes(model, X, y, sample_weight, known=model.classes_)
    assert data.classes is not None
    yield from claims_of_all_members(model, data, deadline)
    predictions = np.stack(
        [
            member_proba(member, data.X, model.classes_, calibration)
            for member, calibration in watched(zip(model.estimators_, model.calibrations_, strict=True), deadline)
        ]
    )
    yield from log_loss_claims(predictions, model.weights_, data.classes.codes, data.mass())
    again = model._calibrations(data, deadline.check)
    differing = stated_weights(model)
    if not all(map(is_near, model.calibrations_, again)):
        differing.append("calibrations_")
    if not is_near(model.decision_weights_, model._decision_weights()):
        differing.append("decision_weights_")
    if not np.array_equal(model.classes_, np.unique(model.classes_)):
        differing.append("classes_")
    yield stated_claim(differing)


def verify_ensemble_of_regressors(
    model: WeightedEnsembleRegressor, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[Claim]:
    """Yield the claims of every member about the rows, and those about weights and squared errors."""
    data = checked_amounts(model, X, y, sample_weight, reset=False)
    yield from claims_of_all_members(model, data, deadline)
    predictions = np.stack([member.predict(data.X) for member in watched(model.estimators_, deadline)])
    yield from squared_error_claims(predictions, model.weights_, data.y, data.mass())
    yield stated_claim(stated_weights(model))


def verify_scaled_target(
    model: ScaledTargetRegressor, X: Any, y: Any, sample_weight: Any, deadline: Deadline
) -> Iterator[Claim]:
    """Yield the claims of the regressor inside about the scaled amounts, and that they were scaled by what they are."""
    data = checked_amounts(model, X, y, sample_weight, reset=False)
    scaling = model._scaling_of(data)
    scaled = data._replace(y=scaling.to_scaled(data.y))
    for claim in claims_of_model(model.regressor_, scaled, deadline):
        if claim.name != "certificate":  # that of the regressor is that of the model, which is compared as such
            yield claim
    deadline.check()
    again = {"mean_": scaling.mean, "scale_": scaling.scale, "correction_": model._correction_of(scaling, data)}
    n_off = sum(not is_near(getattr(model, name), value) for name, value in again.items())
    yield at_most("scaling", f"numbers among {', '.join(again)} that are not found again", n_off, 0)
    n_others = int(plain_params(model.regressor_) != plain_params(model._inner()))
    yield at_most("regressor", "regressors with other parameters than were asked for", n_others, 0)


# ---- members ------------------------------------------------------------------------------------------------------


def claims_of_all_members(model: WeightedEnsemble, data: MemberData, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims of each member behind its name, that they are those that were asked for, and their weights."""
    members = model._members()
    for (name, _), member in zip(members, model.estimators_, strict=True):
        deadline.check()
        for claim in claims_of_model(member, data, deadline):
            yield named(name, claim)
    others = sum(
        plain_params(asked) != plain_params(member)
        for (_, asked), member in zip(members, model.estimators_, strict=True)
    )
    yield at_most("members", "members with other parameters than were asked for", others, 0)
    yield from share_claims(model.weights_)


def claims_of_model(model: Any, data: MemberData, deadline: Deadline) -> Iterator[Claim]:
    """Yield what the verifiers of a model, or of the steps of a pipeline, find on rows that it may not know."""
    if not all(hasattr(part, "FITTED") for part in parts_of(model)):
        kind = type(parts_of(model)[-1]).__name__
        yield not_claimed("verifier", f"{kind} has steps without a verifier of eigenwood's", 0.0)
        return
    from eigenwood.estimators.registry import claims_of_steps  # it knows all verifiers, and these are among them

    try:
        for step, claim in claims_of_steps(model, data.X, data.y, data.weights, deadline):
            yield claim if step is None else named(step, claim)
    except InputError as error:
        yield at_most("data", f"rows that the model cannot have learnt from: {error}", 1, 0)


# ---- stated numbers -----------------------------------------------------------------------------------------------


def stated_weights(model: WeightedEnsemble) -> list[str]:
    """Return that the members' weights are not those that were asked for, if so."""
    return [] if is_near(model.weights_, shares_of(model.weights, len(model.estimators_))) else ["weights_"]


def is_near(stated: Any, again: Any) -> bool:
    """Return whether numbers that were stated are found again."""
    if stated is None or again is None:
        return stated is again
    return np.shape(stated) == np.shape(again) and bool(np.allclose(stated, again, rtol=NEAR, atol=NEAR))


def watched(parts: Any, deadline: Deadline) -> Iterator[Any]:
    """Yield the parts, looking at the clock before each."""
    for part in parts:
        deadline.check()
        yield part
