"""What can be proved about a perceptron, primal or dual.

Novikoff: if some hyperplane separates the rows with margin γ and all rows lie within radius R, then after M steps
M γ ≤ ‖w‖ ≤ R √M, hence M ≤ (R/γ)². Both halves are checked: the right one always, the left one where the data can be
separated, with a γ that is found without the perceptron (``separability``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.proofs.claim import Certificate, Claim, at_most, claimed, measured
from eigenwood.proofs.separability import Separability

SUMS_OFF = 1e-6  # a share by which sums of float32 kernel values may miss an exact inequality


class PerceptronFacts(NamedTuple):
    """The numbers of one problem (a class against the rest), with steps counted in units of η."""

    label: str
    steps: float  # M: steps taken because of a mistake, each at most 1
    norm: float | None  # ‖(w, b)‖ / η; None when the final rule is not the sum of the steps
    radius: float  # R: the largest ‖(x, 1)‖
    counted: float | None  # Σ|a_i|, where every step is a part of some a_i
    n_wrong: float | None  # weight of the rows on the wrong side at the end; None when nobody counted
    converged: bool  # an epoch passed without a mistake
    novikoff: bool  # started at zero, no penalty, nothing forgotten: the theorem speaks of this run


def perceptron_certificate(problems: list[PerceptronFacts], margins: list[Separability] | None = None) -> Certificate:
    """Return the claims about every problem; ``margins`` adds what the verifier found out about separability."""
    claims: list[Claim] = []
    for i, facts in enumerate(problems):
        if facts.n_wrong is not None:
            claims.append(errors_claim(facts, facts.n_wrong))
        if not facts.novikoff:
            claims.append(measured(f"mistakes{facts.label}", "steps taken because of a mistake", facts.steps))
            continue
        margin = None if margins is None else margins[i]
        if facts.norm is not None:
            claims.append(norm_claim(facts, facts.norm))
            if margin is not None and margin.separable:
                claims.append(progress_claim(facts, facts.norm, margin))
        if facts.counted is not None:
            claims.append(counted_claim(facts, facts.counted))
        claims.append(mistakes_claim(facts, margin))
    return Certificate(tuple(claims))


def errors_claim(facts: PerceptronFacts, n_wrong: float) -> Claim:
    """Return the weight of the training rows on the wrong side: none, when the fit says it converged."""
    statement = "after an epoch without a mistake no training row is wrong"
    claim = at_most(f"training errors{facts.label}", statement, n_wrong, 0.0)
    return claimed(claim, facts.converged, "training rows on the wrong side, by weight; no epoch was without a mistake")


def norm_claim(facts: PerceptronFacts, norm: float) -> Claim:
    """Return ‖w‖ ≤ R √M: weights this long cannot come from fewer steps."""
    bound = facts.radius * np.sqrt(facts.steps) * (1.0 + SUMS_OFF)
    return at_most(f"weights{facts.label}", "‖w‖/η ≤ R √M", norm, bound)


def progress_claim(facts: PerceptronFacts, norm: float, margin: Separability) -> Claim:
    """Return M γ ≤ ‖w‖: every step brought w forward by γ at least."""
    bound = norm * (1.0 + SUMS_OFF)
    return at_most(f"progress{facts.label}", "M γ ≤ ‖w‖/η", facts.steps * margin.reached, bound)


def counted_claim(facts: PerceptronFacts, counted: float) -> Claim:
    """Return |M - Σ|a_i|| = 0: the steps are those that the examples tell of."""
    difference = abs(facts.steps - counted)
    return at_most(f"count{facts.label}", "|M - Σ|a_i|| up to rounding", difference, SUMS_OFF * max(counted, 1.0))


def mistakes_claim(facts: PerceptronFacts, margin: Separability | None) -> Claim:
    """Return M ≤ (R/γ)² where γ is known to exist, else M alone."""
    name = f"mistakes{facts.label}"
    if margin is None:
        return measured(name, "steps M taken because of a mistake; verify() compares M with (R/γ)²", facts.steps)
    if margin.separable:
        statement = f"M ≤ (R/γ)², γ = {margin.reached:.4g} found independently"
        return at_most(name, statement, facts.steps, margin.mistake_bound() * (1.0 + SUMS_OFF))
    if margin.hopeless:
        words = f"no hyperplane separates these rows by more than {margin.limit:.1g}"
        return measured(name, f"steps M; {words}, so nothing useful bounds M", facts.steps)
    return measured(name, f"steps M; no hyperplane was found, γ ≤ {margin.limit:.2g}", facts.steps)
