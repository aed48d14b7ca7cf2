"""S7 (the PCA lecture): MNIST digits projected to K components, put together again, and drawn on two."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import eigenwood.plots as plots
from eigenwood import PCA
from eigenwood.data import datasets


@pytest.fixture(scope="module")
def digits():
    """Pixels from 0 to 1: the 60,000 training images with their digits, and the 10,000 test images with theirs."""
    mnist = datasets.load("mnist")
    return tuple((mnist.X[rows] / np.float32(255), mnist.y[rows]) for rows in mnist.split)


@pytest.fixture(scope="module")
def ninety_percent(digits):
    (X, _), _ = digits
    return PCA(0.9, n_jobs=2).fit(X)


@pytest.mark.data
def test_87_components_hold_90_percent(digits, ninety_percent):
    """86 hold 89.88 %, 87 hold 90.01 %."""
    (X, _), _ = digits
    held = np.cumsum(ninety_percent.explained_variance_ratio_)
    assert X.shape == (60_000, 784)
    assert ninety_percent.n_components_ == 87
    assert held[85] == pytest.approx(0.8988, abs=5e-5)
    assert held[86] == pytest.approx(0.9001, abs=5e-5)
    assert ninety_percent.certificate_.holds


@pytest.mark.data
def test_the_same_87_without_all_eigenvalues(digits, ninety_percent):
    (X, _), _ = digits
    model = PCA(0.9, svd_solver="krylov", n_jobs=2).fit(X)
    assert model.n_components_ == 87
    np.testing.assert_allclose(model.explained_variance_, ninety_percent.explained_variance_, rtol=1e-4)


@pytest.mark.data
@pytest.mark.parametrize(("k", "share", "error"), [(2, 0.168, 0.236), (20, 0.644, 0.153), (87, 0.900, 0.081)])
def test_projected_to_k_and_back(digits, ninety_percent, k, share, error):
    """Share of the training images' variance, and the error of a pixel in test images (root of the mean square)."""
    _, (X_test, _) = digits
    scores = ninety_percent.transform(X_test)
    again = ninety_percent.inverse_transform(np.where(np.arange(87) < k, scores, np.float32(0.0)))
    assert ninety_percent.explained_variance_ratio_[:k].sum() == pytest.approx(share, abs=5e-4)
    assert np.sqrt(np.mean((again - X_test) ** 2)) == pytest.approx(error, abs=5e-4)


@pytest.mark.data
@pytest.mark.parametrize(("n_digits", "by_mean", "by_nearest"), [(10, 0.437, 0.390), (4, 0.819, 0.807)])
def test_two_components_of_ten_digits_and_of_four(digits, n_digits, by_mean, by_nearest):
    """Test images told apart by two numbers: of ten digits 43.7 % by the nearest mean and 39.0 % by the nearest
    training image; of the digits 0 to 3, 81.9 % and 80.7 %."""
    (X, y), (X_test, y_test) = (tuple(part[labels < n_digits] for part in (rows, labels)) for rows, labels in digits)
    model = PCA(2, n_jobs=2).fit(X)
    points, test_points = model.transform(X), model.transform(X_test)
    assert NearestCentroid().fit(points, y).score(test_points, y_test) == pytest.approx(by_mean, abs=5e-3)
    assert KNeighborsClassifier(1).fit(points, y).score(test_points, y_test) == pytest.approx(by_nearest, abs=5e-3)
    drawn = plots.scores(model, X_test[:500], colour=y_test[:500])
    assert [trace.name for trace in drawn.data] == [str(digit) for digit in range(n_digits)]
