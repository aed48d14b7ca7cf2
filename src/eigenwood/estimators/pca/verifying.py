"""The claims about a fitted PCA, recomputed from the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from eigenwood.core.threads import one_blas_thread
from eigenwood.estimators.pca.faces import PCA
from eigenwood.estimators.pca.fitting import tolerances
from eigenwood.estimators.pca.input_checks import filled_blocks, results_to_verify
from eigenwood.estimators.watching import FINISHED, Deadline
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.pca import (
    REFILLED,
    PcaFacts,
    RowResults,
    Stated,
    change_of_holes,
    excused,
    facts_from_rows,
    is_cut,
    largest_variance_beside,
    missed_claim,
    pca_certificate,
    unsettled_claim,
)


def verify_pca(model: PCA, X: Any, sample_weight: Any = None, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, measured anew on the rows given, and at the end what a search for larger variances finds."""
    results, stated = partial(each_in_time, results_to_verify(model, X, sample_weight), deadline), stated_by(model)
    facts = measured_facts(model, X, results, stated)
    is_settled = model.stop_reason_ == FINISHED and not is_cut(model.certificate_)
    if not is_settled:
        yield unsettled_claim(model.n_components_, model.stop_reason_)
    knew_all = facts.n_other_rows == 0 and facts.filling is None
    for claim in claims_about_rows(results, stated, facts):
        yield claim if is_settled else excused(claim, knew_all)


@one_blas_thread()
def measured_facts(model: PCA, X: Any, results: RowResults, stated: Stated) -> PcaFacts:
    """Return what one look at the rows tells."""
    facts = facts_from_rows(results, stated, tolerances(model, model.solver_, model.components_.dtype))
    if model.missing == "em":
        change = change_of_holes(partial(filled_blocks, model, X), results, stated)
        facts = facts._replace(filling=None if change is None else ("one more round", change, REFILLED))
    return facts


def claims_about_rows(results: RowResults, stated: Stated, facts: PcaFacts) -> Iterator[Claim]:
    """Yield what follows from one look at the rows, and then what a search finds."""
    yield from pca_certificate(facts)
    if facts.variances.size > 0:
        with one_blas_thread():
            beside = largest_variance_beside(results, stated, facts)
        yield missed_claim(facts, beside)


def each_in_time(results: RowResults, deadline: Deadline, work: Callable[..., Any]) -> Iterator[Any]:
    """Yield the results of blocks, as long as there is time."""
    for result in results(work):
        deadline.check()
        yield result


def stated_by(model: PCA) -> Stated:
    """Return the numbers that a model states, to be checked."""
    return Stated(
        mean=model.mean_,
        scale=model.scale_,
        components=model.components_,
        variances=model.explained_variance_,
        ratios=model.explained_variance_ratio_,
        singular_values=model.singular_values_,
        intervals=model.explained_variance_interval_,
        total=float(model.total_variance_),
        noise=float(model.noise_variance_),
        n_rows=model.n_samples_,
    )
