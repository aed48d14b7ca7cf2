"""S1 (decks A, B): what four countries eat, on one axis and on two."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood import PCA, verify
from eigenwood.data import datasets

ON_THE_FIRST_AXIS = {"England": -145.0, "N Ireland": 477.4, "Scotland": -91.9, "Wales": -240.5}
LOADINGS = {"Fresh fruit": -0.633, "Alcoholic drinks": -0.464, "Fresh potatoes": 0.401}


@pytest.fixture(scope="module")
def foods():
    return datasets.load("uk_foods")


@pytest.fixture(scope="module")
def model(foods):
    return PCA().fit(foods.X)


@pytest.fixture(scope="module")
def sign(foods, model):
    """The deck draws Northern Ireland at the right; which way an axis points means nothing."""
    return np.sign(model.transform(foods.X)[foods.row_labels["country"].index("N Ireland"), 0])


def test_seventeen_foods_in_four_countries(foods):
    assert foods.X.shape == (4, 17)


def test_three_components_hold_all_of_the_variance(model):
    assert_allclose(100 * model.explained_variance_ratio_, [67.44, 29.05, 3.50, 0.0], atol=0.005)


def test_northern_ireland_stands_alone(foods, model, sign):
    scores = sign * model.transform(foods.X)[:, 0]
    assert dict(zip(foods.row_labels["country"], scores.round(1).tolist(), strict=True)) == ON_THE_FIRST_AXIS


def test_the_foods_that_make_the_difference(foods, model, sign):
    loadings = dict(zip(foods.feature_names, sign * model.components_[0], strict=True))
    largest = sorted(loadings, key=lambda food: -abs(loadings[food]))[:3]
    assert {food: round(float(loadings[food]), 3) for food in largest} == LOADINGS


def test_compressed_to_two_numbers_and_back(foods, model):
    """The ensembles lecture: x ≈ Σ ⟨x, v⟩ v. What two components lose of a country is what the third holds."""
    two = PCA(2).fit(foods.X)
    again = two.inverse_transform(two.transform(foods.X))
    third = np.outer(model.transform(foods.X)[:, 2], model.components_[2])
    assert_allclose(foods.X - again, third, atol=1e-9)
    assert_allclose(model.inverse_transform(model.transform(foods.X)), foods.X, atol=1e-9)


def test_it_is_proved(foods, model):
    assert model.certificate_.holds
    assert verify(model, foods.X).holds
