"""S9 (the PCA and boosting lecture): digits with noise, projected on components and brought back, linear against
kernel.

The protocol is scikit-learn's example on denoising: 1,000 noisy images to learn from, 100 others to clean, Gaussian
noise of σ = 0.25 on pixels from 0 to 1. Its kernel PCA has 400 components, γ = 0.001 and α = 0.005, its linear one 32.
The images are MNIST digits of 16 x 16 pixels here, as large as those of the example.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA as ScikitKernelPCA

from eigenwood import PCA, KernelPCA, verify
from eigenwood.data import datasets

pytestmark = pytest.mark.data
N_TRAIN, N_TEST, SIGMA, K = 1000, 100, 0.25, 32


@pytest.fixture(scope="module")
def digits():
    """Return noisy images to learn from, noisy images to clean, and these without noise."""
    rng = np.random.RandomState(0)
    images = datasets.load("mnist").X[:10_000].astype(np.float64).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    X = np.pad(images, ((0, 0), (1, 1), (1, 1))).reshape(-1, 256)[rng.permutation(10_000)[: N_TRAIN + N_TEST]]
    X /= X.max()
    noisy = X + rng.normal(scale=SIGMA, size=X.shape)
    return noisy[:N_TRAIN], noisy[N_TRAIN:], X[N_TRAIN:]


def error(rows, clean):
    return float(np.mean((rows - clean) ** 2))


@pytest.fixture(scope="module")
def errors(digits):
    known, noisy, clean = digits
    linear = PCA(K).fit(known)
    theirs = ScikitKernelPCA(400, kernel="rbf", gamma=1e-3, fit_inverse_transform=True, alpha=5e-3).fit(known)
    model = KernelPCA(K, kernel="rbf", gamma=0.02, preimage="fixed_point").fit(known)
    cleaned = model.denoise(noisy)
    assert verify(model, known).holds
    assert (cleaned.distances >= 0.0).all()
    assert cleaned.distances.max() < 1.0
    return {
        "noisy": error(noisy, clean),
        "linear": error(linear.inverse_transform(linear.transform(noisy)), clean),
        "scikit-learn": error(theirs.inverse_transform(theirs.transform(noisy)), clean),
        "kernel": error(cleaned.rows, clean),
    }


def test_kernel_components_clean_better_than_linear_ones_at_equal_k(errors):
    """Mean squared errors of a pixel: 0.0623 noisy, 0.0164 linear, 0.0140 kernel."""
    assert errors["noisy"] == pytest.approx(0.0623, abs=2e-4)
    assert errors["linear"] == pytest.approx(0.0164, abs=2e-4)
    assert errors["kernel"] == pytest.approx(0.0140, abs=2e-4)


def test_fixed_points_have_at_most_0_7_of_the_error_of_scikit_learns_way_back(errors):
    """0.0140 against 0.0235: 0.60 of it."""
    assert errors["scikit-learn"] == pytest.approx(0.0235, abs=2e-4)
    assert errors["kernel"] <= 0.7 * errors["scikit-learn"]
