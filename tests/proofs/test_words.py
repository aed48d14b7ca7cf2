"""What is claimed about word vectors: losses by plain loops, and edits that are noticed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenwood.proofs.words import (
    WordFacts,
    direction_claims,
    direction_facts,
    expected_losses,
    softmax_losses,
    vocabulary_claim,
    word_claims,
)

RNG = np.random.default_rng(0)
MEANS, ANSWERS, CENTRES = RNG.normal(size=(4, 3)), RNG.normal(size=(6, 3)), np.array([0, 5, 2, 2])


def test_expected_losses_are_the_mean_over_all_draws():
    noise = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    for got, mean, word in zip(expected_losses(MEANS, CENTRES, ANSWERS, noise, 3), MEANS, CENTRES, strict=True):
        loss = math.log1p(math.exp(-(ANSWERS[word] @ mean)))
        loss += 3 * sum(p * math.log1p(math.exp(answer @ mean)) for p, answer in zip(noise, ANSWERS, strict=True))
        assert got == pytest.approx(loss)


def test_softmax_losses_are_cross_entropies():
    for got, mean, word in zip(softmax_losses(MEANS, CENTRES, ANSWERS), MEANS, CENTRES, strict=True):
        shares = np.exp(ANSWERS @ mean)
        assert got == pytest.approx(-math.log(shares[word] / shares.sum()))


def test_vectors_of_zeros_lose_what_the_bound_says():
    zeros = np.zeros_like(ANSWERS)
    assert_allclose(expected_losses(MEANS, CENTRES, zeros, np.full(6, 1 / 6), 5), 6 * math.log(2.0))
    assert_allclose(softmax_losses(MEANS, CENTRES, zeros), math.log(6.0))


def test_a_loss_above_the_bound_fails_unless_the_fit_was_stopped():
    facts = WordFacts(loss=5.0, n_examples=10, without=4.0, last_loss=3.0, is_finished=True)
    assert [claim.holds for claim in word_claims(facts)] == [False, True]
    assert [claim.holds for claim in word_claims(facts._replace(is_finished=False))] == [None, True]
    assert [claim.holds for claim in word_claims(facts._replace(loss=4.0))] == [True, True]
    assert [claim.holds for claim in word_claims(facts._replace(loss=math.nan))] == [False, True]
    assert vocabulary_claim(0).holds
    assert not vocabulary_claim(1).holds


MATRIX = sparse.csr_array(RNG.poisson(0.7, size=(20, 5)).astype(float))
VALUES, DIRECTIONS = np.linalg.eigh(np.cov(MATRIX.toarray().T))
TOP, AXES = VALUES[::-1][:2], DIRECTIONS.T[::-1][:2]
VECTORS = AXES.T * np.sqrt(TOP)


def claims(components=AXES, variances=TOP, vectors=VECTORS, is_finished=True):
    facts = direction_facts(MATRIX, components, variances, vectors.astype(np.float32), 1.0, is_finished)
    return {claim.name: claim.holds for claim in direction_claims(facts)}


def test_eigenvectors_keep_their_claims():
    assert claims() == {"orthonormal": True, "residual": True, "vectors": True}
    assert claims(is_finished=False)["residual"] is None


@pytest.mark.parametrize(
    ("edit", "noticed"),
    [
        ({"components": 1.01 * AXES}, "orthonormal"),
        ({"components": np.array([AXES[0], AXES[0]])}, "orthonormal"),
        ({"components": AXES[::-1]}, "residual"),
        ({"variances": 1.01 * TOP}, "residual"),
        ({"vectors": AXES.T}, "vectors"),
    ],
)
def test_edits_are_noticed(edit, noticed):
    assert claims(**edit)[noticed] is False
