"""The registry: every line leads somewhere."""

from __future__ import annotations

import pytest
from sklearn.linear_model import Perceptron as Foreign
from sklearn.pipeline import make_pipeline

from eigenwood import Perceptron, PolynomialExpansion, verify
from eigenwood.errors import InputError
from eigenwood.estimators.registry import ENTRIES, entry_of


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_model_leads_back_to_its_line(entry):
    assert entry_of(entry.estimator()) is entry


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_learn_tries_can_be_made(entry):
    for params in entry.tries:
        assert entry.estimator(**params).get_params().items() >= params.items()


def test_a_name_is_not_enough():
    with pytest.raises(InputError, match="the model must be one of .*; got Perceptron"):
        entry_of(Foreign())


def test_a_pipeline_is_verified_by_its_last_step():
    X, y = [[0.0], [1.0], [-1.0], [2.0], [-2.0]], [0, 0, 0, 1, 1]
    model = make_pipeline(PolynomialExpansion(degree=2), Perceptron(tol=None)).fit(X, y)
    certificate = verify(model, X, y)
    assert certificate.holds
    assert certificate["mistakes"].bound is not None
    assert not verify(Perceptron(max_iter=5).fit(X, y), X, y)["mistakes"].bound
