"""Claims about models around models: those of the members, and what a weighted mean can never be worse than.

For a convex loss ℓ, ℓ(Σ s_k f_k) ≤ Σ s_k ℓ(f_k) in every row (Jensen): the mixture's loss is at most the weighted mean
of its members' losses. For the squared error the difference is known, the mean of Σ s_k (f_k - Σ s_j f_j)², which is
called the ambiguity (Krogh and Vedelsby, 1995).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eigenwood.proofs.claim import Certificate, Claim, at_least, at_most, measured, not_claimed

ROUNDING = 1e-9


def own_certificate(model: Any) -> Certificate:
    """Return the certificate of a model, or of the last step of a pipeline; one that claims nothing if it has none."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "certificate_"):
        return last.certificate_
    return Certificate((not_claimed("certificate", f"{type(last).__name__} has none", 0.0),))


def certificate_of_members(members: Mapping[str, Any]) -> Certificate:
    """Return the claims of all members, each behind the name of its member."""
    return Certificate(
        tuple(named(name, claim) for name, member in members.items() for claim in own_certificate(member))
    )


def named(member: str, claim: Claim) -> Claim:
    """Return a claim behind the name of a member."""
    return replace(claim, name=f"{member}: {claim.name}")


def share_claims(shares: np.ndarray) -> Iterator[Claim]:
    """Yield that the weights of the members are those of a mean."""
    yield at_least("least weight", "least weight of a member", float(shares.min()), 0.0)
    yield at_most("sum of weights", "|sum of the members' weights - 1|", abs(shares.sum() - 1.0), ROUNDING)


def log_loss_claims(
    predictions: np.ndarray, shares: np.ndarray, codes: np.ndarray, mass: np.ndarray
) -> Iterator[Claim]:
    """Yield the log loss of the mixture beside those of its members; ``predictions`` are of shape (m, n, classes)."""
    rows = np.arange(codes.size)
    used = shares > 0.0
    with np.errstate(divide="ignore"):
        losses = -np.log(predictions[used][:, rows, codes])
        mixed = -np.log(np.tensordot(shares[used], predictions[used], 1)[rows, codes])
    bound = float(shares[used] @ mean_of(losses, mass))
    statement = "mean log loss of the mixture; at most the weighted mean of its members'"
    yield at_most("log loss", statement, mean_of(mixed, mass), bound + ROUNDING * (1.0 + bound))


def squared_error_claims(
    predictions: np.ndarray, shares: np.ndarray, y: np.ndarray, mass: np.ndarray
) -> Iterator[Claim]:
    """Yield the squared error of the mixture, which is that of its members less their ambiguity."""
    mixed = np.tensordot(shares, predictions, 1)
    errors = float(shares @ mean_of((predictions - y) ** 2, mass))
    ambiguity = float(shares @ mean_of((predictions - mixed) ** 2, mass))
    found = float(mean_of((mixed - y) ** 2, mass))
    statement = "mean squared error of the mixture; at most the weighted mean of its members'"
    yield at_most("squared error", statement, found, errors * (1.0 + ROUNDING))
    yield measured("ambiguity", "mean squared distance of the members to the mixture, by weight", ambiguity)


def mean_of(losses: np.ndarray, mass: np.ndarray) -> Any:
    """Return the mean over the rows, which are the last axis."""
    return losses @ (mass / mass.sum())
