"""Leading pairs of a matrix in hand: LAPACK where it is small, Lanczos where it is large, the same pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.spectral import symmetric
from eigenwood.core.spectral.pairs import Wanted, symmetric_pairs
from eigenwood.core.spectral.symmetric import leading_pairs
from tests.core.spectral.cases import (
    THREADS,
    assert_honest,
    assert_orthonormal,
    assert_same_span,
    true_residuals,
    with_spectrum,
)


@pytest.fixture
def lanczos(monkeypatch):
    """Let a matrix of 200 rows be large, cut into several blocks; return how often Lanczos was asked."""
    asked = []

    def watched(*args):
        asked.append(args)
        return inner(*args)

    inner = symmetric.krylov_steps
    monkeypatch.setattr(symmetric, "LARGE", 150)
    monkeypatch.setattr("eigenwood.core.spectral.pairs.FEW_ROWS", 48)
    monkeypatch.setattr(symmetric, "krylov_steps", watched)
    return asked


@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("decay", [0.5, 0.97])
def test_lanczos_finds_what_lapack_finds(lanczos, decay, count):
    M = with_spectrum(decay ** np.arange(200.0))
    expected, pairs = symmetric_pairs(M, Wanted(count)), leading_pairs(M, Wanted(count), 2)
    assert lanczos
    assert_allclose(pairs.values, expected.values, atol=1e-12)
    assert_same_span(pairs.vectors, expected.vectors, atol=1e-9)
    assert_orthonormal(pairs.vectors)
    assert_honest(M, pairs, atol=1e-13)
    assert (pairs.residuals() <= 2e-12).all()


@pytest.mark.parametrize("wanted", [Wanted(30), Wanted(200), Wanted(200, 0.5)], ids=str)
def test_many_pairs_and_shares_are_lapacks(lanczos, wanted):
    M = with_spectrum(0.97 ** np.arange(200.0))
    expected, pairs = symmetric_pairs(M, wanted), leading_pairs(M, wanted)
    assert not lanczos
    for got, whole in zip(pairs, expected, strict=True):
        assert_array_equal(got, whole)


def test_a_small_matrix_is_lapacks(lanczos):
    leading_pairs(with_spectrum(0.97 ** np.arange(149.0)), Wanted(2))
    assert not lanczos


@pytest.mark.parametrize(
    "values", [[1.0] * 200, [9.0] * 5 + [1.0] * 195, [1.0] * 10 + [0.0] * 190], ids=["1", "2", "3"]
)
def test_repeated_eigenvalues(lanczos, values):
    M = with_spectrum(values)
    pairs = leading_pairs(M, Wanted(10))
    assert lanczos
    assert_allclose(pairs.values, values[:10], atol=1e-11)
    assert (true_residuals(M, pairs) <= 1e-10).all()


def test_eigenvalues_repeated_more_often_than_a_block_has_columns(lanczos):
    """As in the covariance of indicator columns: 25 eight times and then 1 would be settled, and wrong."""
    M = with_spectrum([25.0] * 30 + [1.0] * 170)
    pairs = leading_pairs(M, Wanted(10))
    assert lanczos
    assert_allclose(pairs.values, np.full(10, 25.0), atol=1e-9)


def test_same_bits_for_any_number_of_threads(lanczos):
    M = with_spectrum(0.97 ** np.arange(200.0))
    one, *others = (leading_pairs(M, Wanted(4), n_threads) for n_threads in THREADS)
    assert lanczos
    for other in others:
        for a, b in zip(other, one, strict=True):
            assert_array_equal(a, b)
