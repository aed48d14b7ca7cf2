"""From an approximate matrix to exact pairs: what LAPACK finds in the exact one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.spectral import davidson
from eigenwood.core.spectral.davidson import (
    CORRECTED,
    davidson_steps,
    first_guess,
    n_guarded,
    orthonormal_beside,
    solved_roughly,
)
from eigenwood.core.spectral.pairs import settled_at
from tests.core.spectral.cases import THREADS, with_spectrum

SPECTRA = {
    "falling": 0.8 ** np.arange(60.0),
    "flat": np.linspace(1.0, 0.9, 60),
    "equal in twos": np.repeat(np.linspace(2.0, 0.1, 30), 2),
    "all equal": np.ones(60),
    "of low rank": np.r_[3.0, 2.0, 1.0, np.zeros(57)],
}


class Products:
    """AᵀB and AAᵀB for a wide A with this spectrum of AAᵀ, counted."""

    def __init__(self, spectrum, seed=0, n_columns=90):
        M = with_spectrum(spectrum, seed)
        values, vectors = np.linalg.eigh(M)
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(n_columns, len(spectrum))))[0]
        self.A = (vectors * np.sqrt(np.maximum(values, 0.0))) @ turn.T
        self.gram, self.n_calls = self.A @ self.A.T, 0

    def __call__(self, B):
        self.n_calls += 1
        images = self.A.T @ B
        return images, self.A @ images


def perturbed_gram(A, size, seed=1):
    """Return AAᵀ of an A with errors of so much beside its largest entry."""
    near = A + np.random.default_rng(seed).normal(size=A.shape) * size * np.abs(A).max()
    return near @ near.T


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, count) for name in SPECTRA for count in (1, 2, 3, 7, 20) if name != "of low rank" or count <= 3],
)
def test_the_pairs_are_exact(name, count):
    products = Products(SPECTRA[name])
    *_, step = davidson_steps(products, perturbed_gram(products.A, 1e-3), count, 1e-10)
    assert step.last
    assert not step.is_stuck
    exact = np.linalg.eigvalsh(products.gram)[::-1][:count]
    pairs = step.pairs()
    assert_allclose(pairs.values, exact, atol=1e-9)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-12)
    assert_allclose(products.gram @ pairs.vectors - pairs.vectors * pairs.values, pairs.residual_vectors, atol=1e-12)
    assert_allclose(step.images(), products.A.T @ pairs.vectors, atol=1e-12)
    images = np.linalg.norm(products.A.T @ pairs.residual_vectors, axis=0) / np.sqrt(np.maximum(pairs.values, 1e-300))
    real = pairs.values > 1e-12
    assert (images[real] <= 1.5 * settled_at(pairs.values, 1e-10)[real]).all()


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_values_whose_squares_are_beyond_numbers(unit):
    """AAᵀ of numbers near the square root of what a float64 can hold: its square cannot be held."""
    products = Products(SPECTRA["falling"])
    near = perturbed_gram(products.A, 1e-3)
    *_, step = davidson_steps(lambda B: (np.sqrt(unit) * products(B)[0], unit * products(B)[1]), unit * near, 4, 1e-10)
    *_, plain = davidson_steps(products, near, 4, 1e-10)
    assert step.last
    assert step.basis.shape == plain.basis.shape
    assert_allclose(step.pairs().values, unit * plain.pairs().values, rtol=1e-12)


def test_every_round_leaves_less():
    products = Products(SPECTRA["falling"])
    steps = list(davidson_steps(products, perturbed_gram(products.A, 1e-3), 5, 1e-11))
    largest = [step.errors.max() for step in steps]
    assert len(steps) == products.n_calls >= 3
    assert all(after <= 0.6 * before for before, after in zip(largest, largest[1:], strict=False))
    assert [step.last for step in steps] == [False] * (len(steps) - 1) + [True]


def test_an_exact_matrix_needs_one_product():
    products = Products(SPECTRA["falling"])
    list(davidson_steps(products, products.gram, 3, 1e-4))
    assert products.n_calls == 1


def test_values_far_below_the_tolerance_are_settled():
    products = Products(np.r_[1.0, 0.5, 0.2, 1e-13 * 0.5 ** np.arange(57)])
    *_, step = davidson_steps(products, products.gram, 5, 1e-8)
    assert step.last


def test_a_matrix_that_says_nothing_is_noticed():
    products = Products(SPECTRA["flat"])
    *_, step = davidson_steps(products, perturbed_gram(np.zeros((60, 90)) + np.eye(60, 90), 0.5), 3, 1e-10)
    assert step.is_stuck
    assert not step.last


def test_beyond_the_rank_it_is_stuck():
    """Bytes cannot tell nothing from very little; the exact matrix can."""
    products = Products(SPECTRA["of low rank"])
    *_, step = davidson_steps(products, perturbed_gram(products.A, 1e-3), 7, 1e-10)
    assert step.is_stuck


def test_as_many_pairs_as_there_are():
    products = Products(SPECTRA["falling"])
    *_, step = davidson_steps(products, perturbed_gram(products.A, 1e-3), 60, 1e-9)
    assert step.last
    assert_allclose(step.pairs().values, SPECTRA["falling"], atol=1e-8)


def test_the_bits_are_the_same_for_any_number_of_threads():
    products = Products(SPECTRA["falling"])
    near = perturbed_gram(products.A, 1e-3)
    one, *others = ([s.pairs().vectors for s in davidson_steps(products, near, 4, 1e-9, n)][-1] for n in THREADS)
    for other in others:
        np.testing.assert_array_equal(other, one)


def test_the_guess_has_the_pairs_of_the_approximate_matrix():
    M = with_spectrum(SPECTRA["falling"]) * 1e30  # beyond the squares of float32
    guess = first_guess(M, 4, 1)
    assert_allclose(guess.values[:4], 1e30 * SPECTRA["falling"][:4], rtol=1e-4)
    left = M @ guess.vectors[:, :4] - guess.vectors[:, :4] * guess.values[:4]
    assert np.linalg.norm(left, axis=0).max() <= 1e-4 * 1e30


def test_a_row_of_zeros_does_not_set_the_unit_of_the_guess():
    M = np.pad(with_spectrum(SPECTRA["falling"]), (0, 1)) * 1e60  # beyond float32
    assert_allclose(first_guess(M, 4, 1).values[:4], 1e60 * SPECTRA["falling"][:4], rtol=1e-4)


def test_a_guess_that_never_settles_ends(monkeypatch):
    """Errors of the products are larger than the values that are wanted beside the first."""
    rng, n_products = np.random.default_rng(0), 0

    def with_rounding(M, B, n_threads):
        nonlocal n_products
        n_products += B.shape[1]
        assert n_products <= davidson.GUESS_PRODUCTS * davidson.GUESS_BASIS + davidson.WIDTH
        return M @ B + 1e-3 * rng.normal(size=B.shape).astype(B.dtype)

    monkeypatch.setattr(davidson, "product_of", with_rounding)
    monkeypatch.setattr(davidson, "GUESS_BASIS", 24)
    guess = first_guess(np.diag(np.r_[1.0, np.full(59, 1e-6)]), 3, 1)
    assert_allclose(guess.values[0], 1.0, rtol=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_equations_are_solved_to_a_few_percent(seed):
    M = with_spectrum(np.linspace(1.0, 40.0, 30), seed)
    rng = np.random.default_rng(seed)
    r, start = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    x = solved_roughly(lambda B: M @ B, r, start)
    assert (np.linalg.norm(r - M @ x, axis=0) <= CORRECTED * np.linalg.norm(r, axis=0)).all()
    assert np.abs(x - np.linalg.solve(M, r)).max() <= CORRECTED * np.linalg.norm(r, axis=0).max()


def test_a_column_without_positive_curvature_stays_what_it_is():
    x = solved_roughly(lambda B: -B, np.ones((4, 1)), np.zeros((4, 1)))
    assert not x.any()


def test_guards_fill_their_group():
    assert [n_guarded(count, 100) for count in (1, 2, 3, 6, 99)] == [4, 4, 8, 8, 100]


def test_what_is_added_stands_beside_the_basis():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(20, 6)))[0]
    vectors = np.hstack([basis @ rng.normal(size=(6, 2)) + 1e-6 * rng.normal(size=(20, 2)), np.zeros((20, 1))])
    added = orthonormal_beside(basis, vectors)
    assert added.shape == (20, 2)
    assert_allclose(added.T @ added, np.eye(2), atol=1e-14)
    assert_allclose(basis.T @ added, 0.0, atol=1e-14)
