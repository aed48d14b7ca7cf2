"""Verify bagging: draw every learner's rows again, verify it on these, and fit again those that cannot be verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from eigenwood.core.threads import one_blas_thread
from eigenwood.errors import InputError
from eigenwood.estimators.bagging.faces import Bagging
from eigenwood.estimators.bagging.fitting import BaggingFitter, TrainingData
from eigenwood.estimators.bagging.input_checks import check_training, refuses_infinity
from eigenwood.estimators.ensemble.sampling import Draws, drawn_features
from eigenwood.estimators.state import other_attributes
from eigenwood.estimators.tree.verifying import STOPPED_EARLY, has_right_stop_reason, has_seed, stated_claim
from eigenwood.estimators.watching import TIME_UP, Deadline
from eigenwood.proofs.claim import Certificate, Claim, at_most, claimed
from eigenwood.validation.ensembles import check_query
from eigenwood.validation.seeds import integer_seeds


def verify_bagging(model: Bagging, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``.

    Every learner must have the features, seeds and parameters that were drawn for it. Its rows are drawn again: a
    learner of ours is verified on those it saw, and it predicts the others, which must give the score that the
    model states. Learners that cannot be verified, and √n of the n others, are fitted again, to see that they are those
    that follow from these rows.
    """
    check_query(model, X, has_text=model.has_text_, finite=refuses_infinity(model))
    again = clone(model)
    data = check_training(again, X, y, sample_weight, {}, known=getattr(model, "classes_", None))
    draws = again._draws(data, model.seed_)
    fitter = again._fitter(data, draws, None, 1, wants_oob=True)
    oob = model._oob_predictions(data, fitter, deadline.check)
    score = model._oob_score_of(data, data.weights, oob, deadline.time_is_up)
    deadline.check()
    yield from model._certify(data, oob, score)
    yield from model._stated_claims(score)
    yield drawn_claim(model, fitter)
    yield stated_claim(differing(model, draws, data.has_text))
    certificates = []
    for number, learner in enumerate(model.estimators_):
        deadline.check()
        certificates.append(learner_certificate(learner, fitter.given(number), deadline))
    yield from worst_claims(certificates)
    yield refitted_claim(model, fitter, data.n_values(), certificates, deadline)


def differing(model: Bagging, draws: Draws, has_text: bool) -> list[str]:
    """Return the names of fitted attributes that are not what the rows give."""
    is_right = {
        "n_draws_": model.n_draws_ == draws.n_rows,
        "has_text_": model.has_text_ == has_text,
        "seed_": not has_seed(model) or model.warm_start or model.seed_ == int(integer_seeds(model.random_state, 1)[0]),
        "stop_reason_": has_right_stop_reason(model, True),
    }
    return [name for name, right in is_right.items() if not right]


def drawn_claim(model: Bagging, fitter: BaggingFitter) -> Claim:
    """Return the claim that every learner has the features, seeds and parameters that were drawn for it."""
    others = sum(
        not np.array_equal(features, drawn_features(fitter.draws, number))
        or plain_params(learner) != plain_params(fitter.unfitted(number))
        for number, (learner, features) in enumerate(zip(model.estimators_, model.drawn_features_, strict=True))
    )
    statement = "learners whose features, seeds or parameters are not those that were drawn for them"
    return at_most("draws", statement, others, 0)


def plain_params(learner: Any) -> dict[str, str]:
    """Return the parameters of a learner, and of the estimators inside it, as words that can be compared."""
    params = learner.get_params().items()
    return {name: repr(value) for name, value in params if not hasattr(value, "get_params") and name != "steps"}


# ---- learners, verified -------------------------------------------------------------------------------------------


def learner_certificate(learner: Any, given: TrainingData, deadline: Deadline) -> Certificate | None:
    """Return the certificate of a learner for the rows that it was given; None if it has no verifier of ours."""
    if not all(hasattr(part, "FITTED") for part in parts_of(learner)):
        return None
    from eigenwood.estimators.registry import claims_of_steps  # it knows all verifiers, and this one is among them

    weights = given.fit_params.get("sample_weight")
    try:
        claims = [claim for _, claim in claims_of_steps(learner, given.X, given.y, weights, deadline)]
    except InputError as error:  # it cannot have learnt from these rows
        return Certificate((at_most("data", f"rows that the learner cannot have learnt from: {error}", 1, 0),))
    return Certificate(tuple(claims))


def worst_claims(certificates: Sequence[Certificate | None]) -> list[Claim]:
    """Return of all that learners claim with a bound, name by name, the worst claim."""
    by_name: dict[str, list[Claim]] = {}
    for certificate in certificates:
        for claim in certificate or ():
            if claim.bound is not None:
                by_name.setdefault(claim.name, []).append(claim)
    worst = (max(claims, key=lambda claim: (not claim.holds, claim.value)) for claims in by_name.values())
    return [Claim(f"learners: {claim.name}", claim.statement, claim.value, claim.bound, claim.holds) for claim in worst]


# ---- learners, fitted again ---------------------------------------------------------------------------------------


def refitted_claim(
    model: Bagging,
    fitter: BaggingFitter,
    n_values: int,
    certificates: Sequence[Certificate | None],
    deadline: Deadline,
) -> Claim:
    """Return the claim that learners which are fitted again say the same about all rows."""
    unproved = [number for number, found in enumerate(certificates) if found is None or found.holds is None]
    numbers = sorted({*unproved, *refitted_numbers(len(model), model.seed_)})
    statement = f"rows on which {len(numbers)} of {len(model)} learners, fitted again, say something else or are others"
    if len(model) == 1 and model.stop_reason_ == TIME_UP:
        return claimed(at_most("fitted again", statement, 0, 0), False, f"{statement}; {STOPPED_EARLY}")
    n_others = 0
    for number in numbers:
        deadline.check()
        with one_blas_thread():
            fitted = fitter.fit_in_time(number)
        X = fitter.rows_for(number)
        fresh, stored = (model._predict_one(learner, X, n_values, {}) for learner in (fitted.learner, model[number]))
        n_others += int((fresh != stored).reshape(X.shape[0], -1).any(axis=1).sum())
        n_others += n_other_attributes(fitted.learner, model[number])
    return at_most("fitted again", statement, n_others, 0)


def n_other_attributes(learner: Any, other: Any) -> int:
    """Return how many fitted attributes of two learners of ours differ, or of the steps of two pipelines."""
    pairs = zip(parts_of(learner), parts_of(other), strict=True)
    return sum(len(other_attributes(*pair)) for pair in pairs if hasattr(pair[0], "FITTED"))


def parts_of(learner: Any) -> list[Any]:
    """Return the steps of a learner that is a pipeline, or itself."""
    return [step for _, step in learner.steps] if isinstance(learner, Pipeline) else [learner]


def refitted_numbers(n_learners: int, seed: int) -> list[int]:
    """Return the numbers of the learners that are fitted again in any case.

    >>> refitted_numbers(1, 0), len(refitted_numbers(10, 0)), len(refitted_numbers(100, 0))
    ([0], 4, 10)
    """
    rng = np.random.default_rng([seed, n_learners])
    return sorted(rng.choice(n_learners, size=int(np.ceil(np.sqrt(n_learners))), replace=False).tolist())
