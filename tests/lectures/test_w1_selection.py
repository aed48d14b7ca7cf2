"""W1 (the boosting and SVM lecture): selection of attributes by gain; PlayTennis in the lecture's order."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eigenwood import GainSelector, verify
from eigenwood.data import datasets

GAINS = {"outlook": 0.247, "humidity": 0.152, "wind": 0.048, "temperature": 0.029}


@pytest.fixture(scope="module")
def days():
    tennis = datasets.load("play_tennis")
    names = [str(name).lower() for name in tennis.feature_names]
    return pa.table({name: list(column) for name, column in zip(names, tennis.X.T, strict=True)}), tennis.y


def test_the_ranking_of_the_deck(days):
    selector = GainSelector(2).fit(*days)
    by_rank = sorted(zip(selector.ranking_, selector.feature_names_in_, selector.scores_, strict=True))
    assert [name for _, name, _ in by_rank] == list(GAINS)
    assert [score for _, _, score in by_rank] == pytest.approx(list(GAINS.values()), abs=5e-4)
    assert sorted(selector.get_feature_names_out()) == ["humidity", "outlook"]
    assert verify(selector, *days).holds


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_other_measures_of_impurity(days, criterion):
    """By the error of the most frequent answer outlook, humidity and nothing else gain: 5 of 14 become 4 of 14."""
    selector = GainSelector(2, criterion=criterion).fit(*days)
    scores = dict(zip(selector.feature_names_in_, selector.scores_, strict=True))
    assert max(scores, key=scores.get) in ("outlook", "humidity")
    if criterion == "error":
        assert scores == pytest.approx({"outlook": 1 / 14, "humidity": 1 / 14, "wind": 0.0, "temperature": 0.0})
