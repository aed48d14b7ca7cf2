"""Equal rows get equal answers from all models with a kernel: wherever they stand, whatever else is asked at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood import SVC, SVR, KernelLogisticRegression, KernelPCA, KernelRidge, LowRankKernel
from eigenwood.core.kernels import sums
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.sums import given_sums, kernel_sums, treats_rows_alike

RNG = np.random.default_rng(3)
X = RNG.normal(size=(255, 13))  # numbers that no vector instruction divides
AMOUNTS = X[:, 0] ** 2 + X[:, 1] + 0.1 * RNG.normal(size=255)
CLASSES = np.digitize(AMOUNTS, [0.5, 2.0])
PLACES = (0, 1, 5, 6, 191, 192, 250, 400, 452)  # the edges of blocks, and among what follows them

MODELS: dict[str, tuple[Any, Any, Callable]] = {
    "SVC": (SVC(gamma=0.1), CLASSES, lambda model, rows: model.decision_function(rows)),
    "SVC linear": (SVC(kernel="linear"), CLASSES, lambda model, rows: model.decision_function(rows)),
    "SVR": (SVR(kernel="poly", degree=2), AMOUNTS, lambda model, rows: model.predict(rows)),
    "KernelLogisticRegression": (KernelLogisticRegression(gamma=0.1), CLASSES, lambda m, rows: m.predict_proba(rows)),
    "KernelRidge": (KernelRidge(kernel="rbf", gamma=0.1), AMOUNTS, lambda model, rows: model.predict(rows)),
    "KernelPCA": (KernelPCA(7, kernel="rbf", gamma=0.1), None, lambda model, rows: model.transform(rows)),
    "LowRankKernel": (LowRankKernel(gamma=0.1, n_components=50), None, lambda model, rows: model.transform(rows)),
}


def with_copies(row: np.ndarray) -> np.ndarray:
    """Return other rows with copies of one among them."""
    rows = RNG.normal(size=(453, row.size)).astype(row.dtype)
    rows[list(PLACES)] = row
    return rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_copies_of_a_row_get_the_same_bits(name, dtype):
    model, y, answers = MODELS[name]
    model.fit(X.astype(dtype), y)
    row = X[7].astype(dtype)
    alone = answers(model, row[None])[0]
    for rows in (with_copies(row), with_copies(row)[::-1], np.tile(row, (3, 1))):
        found = np.asarray(answers(model, np.ascontiguousarray(rows)))
        copies = (rows == row).all(axis=1)
        assert copies.sum() in (3, len(PLACES))
        assert_array_equal(found[copies], np.broadcast_to(alone, found[copies].shape))


@pytest.mark.parametrize("n_vectors", [1, 15, 255, 1040])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_copies_of_a_row_get_the_same_sums(name, dtype, n_vectors):
    Z = RNG.normal(size=(n_vectors, 54)).astype(dtype)
    coefficients, row = RNG.normal(size=(n_vectors, 3)), RNG.normal(size=54).astype(dtype)
    kernel = Kernel(KERNELS[name], 0.02, 1.0, 2)
    alone = kernel_sums(row[None], Z, kernel, coefficients)[0]
    found = kernel_sums(with_copies(row), Z, kernel, coefficients, 2)
    assert_array_equal(found[list(PLACES)], np.tile(alone, (len(PLACES), 1)))


def test_copies_of_a_row_of_given_similarities_get_the_same_sums():
    K, coefficients = RNG.normal(size=(453, 1040)), RNG.normal(size=(1040, 10))
    K[list(PLACES)] = K[0]
    found = given_sums(K, coefficients, 2)
    assert_array_equal(found[list(PLACES)], np.tile(given_sums(K[:1], coefficients)[0], (len(PLACES), 1)))
    np.testing.assert_allclose(found, K @ coefficients, atol=1e-10)


def test_a_blas_that_does_not_treat_rows_alike_gets_wider_numbers(monkeypatch):
    """With float32 such a BLAS is common; the sums are then those of float64 rows."""
    rows, Z, coefficients = (RNG.normal(size=shape) for shape in ((5, 4), (9, 4), (9, 2)))
    kernel, narrow = Kernel(KERNELS["rbf"], 0.3), np.float32
    wide = kernel_sums(rows.astype(narrow).astype(float), Z.astype(narrow).astype(float), kernel, coefficients)
    monkeypatch.setattr(sums, "treats_rows_alike", lambda dtype: dtype == np.float64)
    assert_array_equal(kernel_sums(rows.astype(narrow), Z.astype(narrow), kernel, coefficients), wide)


def test_blas_treats_float64_rows_alike():
    assert treats_rows_alike(np.dtype(np.float64))
