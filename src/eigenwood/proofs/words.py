"""What can be said about word vectors: the loss of a text, without the solver and without its draws.

Continuous bag of words draws contexts and negatives. Here every window is as wide as it may be, and instead of k drawn
negatives stands k times the mean over all words v, each as often as it is drawn:

    L = -log σ(h·o_w) - k Σ_v p_v log σ(-h·o_v)      or, with the full softmax,      L = -log P(w | C)

Vectors that know nothing have h·o = 0, and so the loss (1 + k) log 2, or log V.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import log_expit, log_softmax

from eigenwood.proofs.claim import Claim, at_most, claimed, measured


class WordFacts(NamedTuple):
    """What is measured of a model and a text."""

    loss: float  # of the examples that were looked at
    n_examples: int  # how many these are
    without: float  # the loss of vectors that know nothing
    last_loss: float  # of the last epoch, by the fit
    is_finished: bool


def expected_losses(
    means: np.ndarray, centres: np.ndarray, answers: np.ndarray, noise: np.ndarray, n_negatives: int
) -> np.ndarray:
    """Return the loss of each example, in float64: with negatives as often as they are drawn."""
    scores = means.astype(np.float64) @ answers.astype(np.float64).T
    return -log_expit(scores[np.arange(centres.size), centres]) - n_negatives * (log_expit(-scores) @ noise)


def softmax_losses(means: np.ndarray, centres: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the cross-entropy of each example, in float64."""
    logs = log_softmax(means.astype(np.float64) @ answers.astype(np.float64).T, axis=1)
    return -logs[np.arange(centres.size), centres]


def vocabulary_claim(n_others: int) -> Claim:
    """Return that the words of a text are those of the model, as often as it says."""
    return at_most("vocabulary", "words with another place or count in this text", n_others, 0)


def word_claims(facts: WordFacts) -> list[Claim]:
    """Return the claims about vectors and the examples that they were learnt from."""
    statement = f"mean loss of the first {facts.n_examples} examples, at most that of vectors of zeros"
    below = at_most("loss", statement, facts.loss, facts.without)
    return [
        claimed(below, facts.is_finished, f"{statement}; the fit was stopped"),
        measured("last epoch", "mean loss of all its examples, each before it was learnt", facts.last_loss),
    ]


# ---- eigenvectors --------------------------------------------------------------------------------------------------

NOT_STRAIGHT = 1e-8  # what products of directions may miss
NOT_SETTLED = 1e-5  # a residual as a share of the largest variance


class DirectionFacts(NamedTuple):
    """What is measured of the directions of a covariance embedding."""

    not_orthonormal: float  # the largest entry of |EᵀE - I|
    residual: float  # the largest ‖C e - λ e‖ over the largest λ
    vectors_off: float  # by how much vectors miss the directions times their lengths, as a share of the largest
    is_finished: bool


def direction_facts(
    matrix: sparse.csr_array,
    components: np.ndarray,
    variances: np.ndarray,
    vectors: np.ndarray,
    power: float,
    done: bool,
) -> DirectionFacts:
    """Measure eigenvectors of the covariance of a matrix's columns, without making it."""
    directions = components.T.astype(np.float64)
    products = directions.T @ directions - np.eye(variances.size)
    means = np.asarray(matrix.mean(axis=0)).ravel()
    centred = matrix @ directions - means @ directions
    images = (matrix.T @ centred - np.outer(means, centred.sum(axis=0))) / (matrix.shape[0] - 1.0)
    residuals = np.linalg.norm(images - directions * variances, axis=0)
    expected = directions * lengths_of(variances, power)
    largest = max(float(np.abs(expected).max()), np.finfo(np.float64).tiny)
    return DirectionFacts(
        float(np.abs(products).max()),
        float(residuals.max() / max(float(variances.max()), np.finfo(np.float64).tiny)),
        float(np.abs(vectors - expected).max() / largest),
        done,
    )


def lengths_of(variances: np.ndarray, power: float) -> np.ndarray:
    """Return the standard deviations to a power: how long the columns of the vectors are."""
    return np.sqrt(np.maximum(variances, 0.0)) ** power


def direction_claims(facts: DirectionFacts) -> list[Claim]:
    """Return the claims about directions."""
    statement = "largest ‖Ce - λe‖ over the largest λ"
    residual = at_most("residual", statement, facts.residual, NOT_SETTLED)
    return [
        at_most(
            "orthonormal",
            "largest entry of |EᵀE - I|: the embedding is orthogonal",
            facts.not_orthonormal,
            NOT_STRAIGHT,
        ),
        claimed(residual, facts.is_finished, f"{statement}; the fit was stopped"),
        at_most("vectors", "vectors that are not the directions times their lengths", facts.vectors_off, 1e-6),
    ]
