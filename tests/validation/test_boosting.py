"""The rules that only gradient boosting has, and what a custom loss may return."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.errors import InputError
from eigenwood.validation.boosting import (
    FeatureGroups,
    Quantiles,
    Scorer,
    check_gradients,
    check_groups,
    check_init_scores,
    check_round_sizes,
)


@pytest.mark.parametrize("value", [[0.5], (0.1, 0.9), np.array([0.25, 0.5, 0.75])])
def test_quantiles_that_rise(value):
    assert Quantiles().allows(value)


@pytest.mark.parametrize("value", [0.5, [], [0.5, 0.5], [0.9, 0.1], [0.0, 0.5], [0.5, 1.0], ["0.5"], [[0.5]], None])
def test_what_are_no_quantiles(value):
    assert not Quantiles().allows(value)


@pytest.mark.parametrize("value", [None, "pairwise", "no_interactions", [[0, 1], [2]], [{0}, (1, 2)]])
def test_groups_of_columns(value):
    assert FeatureGroups().allows(value)


@pytest.mark.parametrize("value", ["all", [], 1])
def test_what_are_no_groups(value):
    assert not FeatureGroups().allows(value)


@pytest.mark.parametrize("value", [[0, 1], [[-1]], [[0.5]], [["a"]], [[True]], [[0], [2]]])
def test_groups_of_other_columns(value):
    with pytest.raises(InputError, match=r"^R: Interaction constraints must .*; got"):
        check_groups("R", value, 2)


def test_a_scorer_is_no_truth_value():
    assert Scorer().allows("accuracy")
    assert not Scorer().allows(True)


def test_gradients_become_numbers():
    gradients, hessians = check_gradients("R", ([1, 2], [0, 1]), 2)
    assert gradients.dtype == hessians.dtype == np.float64


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0, 2.0], "as a tuple; got list"),
        (([1.0], [1.0, 1.0]), r"gradient of shape \(2,\); got \(1,\)"),
        (([1.0, np.inf], [1.0, 1.0]), "finite gradient; got inf"),
        (([1.0, 1.0], [1.0, -1.0]), "at least 0; got -1"),
    ],
)
def test_gradients_that_are_none(given, words):
    with pytest.raises(InputError, match=f"^R: loss must return .*{words}"):
        check_gradients("R", given, 2)


def test_scores_to_begin_with():
    with pytest.raises(InputError, match=r"init must predict finite numbers of shape \(2, 1\); got shape \(2, 2\)"):
        check_init_scores("R", np.zeros((2, 2)), (2, 1))
    with pytest.raises(InputError, match="finite"):
        check_init_scores("R", np.array([[np.inf], [0.0]]), (2, 1))


def test_trees_and_losses_of_as_many_rounds():
    check_round_sizes("R", 6, 3, {"train_score_": (2, 0), "validation_score_": (3, 1)})
    with pytest.raises(InputError, match="as many trees for each output; got 7 for 3"):
        check_round_sizes("R", 7, 3, {})
    with pytest.raises(InputError, match="train_score_ must have a number for each of 2 rounds; got 3"):
        check_round_sizes("R", 6, 3, {"train_score_": (3, 0)})
