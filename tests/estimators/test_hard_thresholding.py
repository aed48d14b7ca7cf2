"""IterativeHardThresholding: the interface, weights, cross-validation, and what cannot be used."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, OrthogonalMatchingPursuit

from eigenwood import IterativeHardThresholding, verify
from eigenwood.errors import InputError
from tests.naive import best_subset as naive


def wide(n_columns=300, places=(3, 50, 99, 200), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n_columns))
    return X, X[:, places] @ [2.0, -1.5, 1.0, 3.0] + 0.3 * rng.normal(size=120) - 7.0


@pytest.mark.parametrize("k", range(1, 11))
def test_the_best_subsets_of_the_diabetes_data(k):
    """Certified: the search ends, so the gap is nothing."""
    X, y = load_diabetes(return_X_y=True)
    model = IterativeHardThresholding(k).fit(X, y)
    least, support = naive.best_subset(X, y, np.ones(len(y)), k)
    assert model.residual_ == pytest.approx(least, rel=1e-9)
    assert tuple(model.support_) == support
    assert model.certificate_["gap"].value == pytest.approx(0.0, abs=1e-9)
    assert verify(model, X, y).holds


def test_columns_are_found_among_more_than_there_are_rows():
    X, y = wide()
    model = IterativeHardThresholding(4).fit(X, y)
    assert model.support_.tolist() == [3, 50, 99, 200]
    reference = LinearRegression().fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], reference.coef_)
    assert model.intercept_ == pytest.approx(reference.intercept_)
    np.testing.assert_allclose(model.predict(X), reference.predict(X[:, model.support_]))
    pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=4).fit(X, y)
    assert model.residual_ <= ((y - pursuit.predict(X)) ** 2).sum() * (1.0 + 1e-9)
    assert 0.0 <= model.certificate_["gap"].value <= 1.0
    assert verify(model, X, y).holds


def test_cross_validation_finds_how_many():
    X, y = wide(40, (3, 9, 20, 30))
    model = IterativeHardThresholding("cv", max_nonzero_coefs=6).fit(X, y)
    assert model.cv_errors_.size == 6
    assert model.n_nonzero_coefs_ == int(np.argmin(model.cv_errors_)) + 1
    assert set(model.support_) >= {3, 9, 20, 30}


def test_a_weight_is_a_repeated_row():
    X, y = wide(30, (3, 9, 20, 25))
    weights = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = IterativeHardThresholding(3).fit(X, y, sample_weight=weights)
    repeated = IterativeHardThresholding(3).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.residual_ == pytest.approx(repeated.residual_)


@pytest.mark.parametrize(
    ("params", "y", "sentence"),
    [
        ({"n_nonzero_coefs": 4}, [1.0, 2.0, 3.0], "n_nonzero_coefs must be at most 3, the columns; got 4."),
        ({"n_nonzero_coefs": "cv", "n_folds": 4}, [1.0, 2.0, 3.0], "n_folds must be at most 3, the rows; got 4."),
        ({}, [[1.0, 2.0]] * 3, "y must have one column; got 2."),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(params, y, sentence):
    with pytest.raises(InputError) as caught:
        IterativeHardThresholding(**params).fit(np.eye(3), y)
    assert str(caught.value) == f"IterativeHardThresholding: {sentence}"
