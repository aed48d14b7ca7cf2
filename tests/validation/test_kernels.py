"""gamma as a number, and a user's own function under guard."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from eigenwood.errors import InputError
from eigenwood.validation import kernels
from eigenwood.validation.kernels import check_square, check_symmetric, checked_function, gamma_value

X = np.random.default_rng(0).normal(size=(12, 4)) * 3 + 1


def sentence_of(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_scale_is_one_over_features_times_variance(form, dtype):
    rows = X.astype(dtype)
    expected = 1.0 / (4 * rows.astype(np.float64).var())
    assert gamma_value("SVC", "scale", form(rows)) == pytest.approx(
        expected, rel=1e-6 if dtype == np.float32 else 1e-12
    )


def test_scale_is_the_gamma_of_scikit_learn():
    reference = SVC(gamma="scale").fit(X, np.arange(12) % 2)
    assert gamma_value("SVC", "scale", X) == pytest.approx(reference._gamma)


def test_auto_and_numbers():
    assert gamma_value("SVC", "auto", X) == 0.25
    assert gamma_value("SVC", 0.3, X) == 0.3
    assert isinstance(gamma_value("SVC", np.float32(2), X), float)


def test_weights_mean_repeated_rows():
    times = np.arange(12) % 4
    repeated = np.repeat(X, times, axis=0)
    assert gamma_value("SVC", "scale", X, times.astype(float)) == pytest.approx(gamma_value("SVC", "scale", repeated))


def test_constant_rows_have_gamma_one_as_in_scikit_learn():
    assert gamma_value("SVC", "scale", np.ones((3, 2))) == 1.0


def test_a_small_spread_around_a_large_mean_is_still_seen():
    shifted = np.round(X * 1024) / 1024 + 1e6
    assert gamma_value("SVC", "scale", shifted) == pytest.approx(1.0 / (4 * shifted.var()), rel=1e-6)


def test_a_good_function_passes_as_float64():
    kernel = checked_function("Who", lambda rows, columns: (rows @ columns.T).astype(np.float32))
    K = kernel(X, X[:3])
    assert K.dtype == np.float64
    assert K.shape == (12, 3)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda a, b: np.ones(3), "Who: kernel must return an array of shape (12, 2); got (3,)."),
        (lambda a, b: b @ a.T, "Who: kernel must return an array of shape (12, 2); got (2, 12)."),
        (lambda a, b: np.full((12, 2), np.nan), "Who: kernel must return finite numbers; got NaN."),
        (lambda a, b: np.full((12, 2), np.inf), "Who: kernel must return finite numbers; got inf."),
        (lambda a, b: None, "Who: kernel must return an array of real numbers; got NoneType."),
        (
            lambda a, b: np.full((12, 2), 1j),
            "Who: kernel must return an array of real numbers; got dtype complex128.",
        ),
        (lambda a, b: np.full((12, 2), "x"), "Who: kernel must return an array of real numbers; got dtype <U1."),
    ],
    ids=["vector", "transposed", "nan", "inf", "nothing", "complex", "texts"],
)
def test_a_bad_function_is_told_in_one_sentence(function, sentence):
    assert sentence_of(lambda: checked_function("Who", function)(X, X[:2])) == sentence


def test_a_precomputed_matrix_is_square():
    K = np.eye(3)
    assert check_square("Who", K) is K
    assert sentence_of(lambda: check_square("Who", np.ones((3, 2)))) == (
        "Who: a precomputed X must be a square matrix of similarities; got shape (3, 2)."
    )


# ---- symmetry ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small_slabs(monkeypatch):
    monkeypatch.setattr(kernels, "SLAB_ROWS", 2)


@pytest.mark.parametrize("K", [np.empty((0, 0)), np.ones((1, 1)), X @ X.T, (X @ X.T).astype(np.float32)])
def test_a_symmetric_matrix_passes(small_slabs, K):
    assert check_symmetric("Who", K, "kernel") is None


def test_rounding_is_no_asymmetry(small_slabs):
    K = X @ X.T
    K[3, 7] += 0.9e-6 * np.abs(K).max()
    check_symmetric("Who", K, "kernel")


@pytest.mark.parametrize(("i", "j"), [(0, 1), (3, 7), (7, 3), (11, 0), (10, 11)])
def test_whichever_pair_differs_is_found(small_slabs, i, j):
    K = np.zeros((12, 12))
    K[0, 0], K[i, j] = 2.0, 0.5
    a, b = sorted((i, j))
    assert sentence_of(lambda: check_symmetric("Who", K, "a precomputed X")) in (
        f"Who: a precomputed X must be symmetric; got {K[a, b]:.6g} for rows {a} and {b}, and {K[b, a]:.6g} the other "
        "way round.",
        f"Who: a precomputed X must be symmetric; got {K[b, a]:.6g} for rows {b} and {a}, and {K[a, b]:.6g} the other "
        "way round.",
    )
