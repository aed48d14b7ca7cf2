"""Contributions in figures: bars that add up for one row, and dots in order of size for many."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import eigenwood.plots as plots
from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.errors import InputError
from eigenwood.plots.contributions import (
    MOST_FEATURES,
    MOST_ROWS,
    SPREAD,
    UNKNOWN,
    row_figure,
    stacked,
    summary_figure,
)
from tests.models.crafting import assert_one_sentence


def dots(figure):
    return [trace for trace in figure.data if trace.x is not None and trace.visible is not False and len(trace.x) > 1]


def test_bars_of_a_row_go_from_the_largest_down():
    bars = row_figure(np.array([0.1, -2.0, 1.0]), 5.0, ["a", "b", "c"], ["1", "x", "3"]).data[0]
    assert list(bars.x) == [-2.0, 1.0, 0.1]
    assert list(bars.y) == ["b = x", "c = 3", "a = 1"]
    assert bars.marker.color[0] != bars.marker.color[1] == bars.marker.color[2]


def test_what_has_no_bar_of_its_own_is_added_up():
    values = np.arange(1.0, MOST_FEATURES + 4)
    figure = row_figure(values, 0.0, [f"x{j}" for j in range(values.size)], ["0"] * values.size)
    assert figure.data[0].y[-1] == "3 other features"
    assert sum(figure.data[0].x) == pytest.approx(values.sum())
    assert f"{values.sum():.4g}" in figure.layout.title.text


def test_dots_of_many_rows_stand_in_order_of_mean_size():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3)) * [0.1, 3.0, 1.0]
    figure = summary_figure(values, rng.normal(size=(50, 3)), ["a", "b", "c"])
    assert [label.split("<br>")[0] for label in figure.layout.yaxis.ticktext] == ["b", "c", "a"]
    for place, (trace, j) in enumerate(zip(dots(figure), (1, 2, 0), strict=True)):
        assert_allclose(trace.x, values[:, j])
        assert (np.abs(np.array(trace.y) - place) <= SPREAD + 1e-12).all()


def test_colours_are_ranks_and_values_without_size_have_none():
    X = np.array([[1.0, np.nan], [100.0, np.nan], [10.0, np.nan]])
    ranked, unknown = dots(summary_figure(np.array([[3.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), X, ["a", "b"]))
    assert list(ranked.marker.color) == [0.0, 1.0, 0.5]
    assert unknown.marker.color == UNKNOWN


def test_dots_with_one_value_are_stacked_and_do_not_meet():
    own = np.zeros(9)
    heights = stacked(own, np.array([0.0, 1.0]))
    assert np.unique(heights).size == 9
    assert stacked(np.array([0.0, 1.0]), np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


def test_some_of_very_many_rows_and_features_are_drawn():
    values = np.random.default_rng(0).normal(size=(3 * MOST_ROWS, MOST_FEATURES + 2))
    figure = summary_figure(values, values, [f"x{j}" for j in range(values.shape[1])])
    assert len(dots(figure)) == MOST_FEATURES
    assert dots(figure)[0].x.size == MOST_ROWS
    assert "2 features" in figure.layout.title.text


def test_a_classifier_and_a_frame():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": pd.Categorical(["red", "blue", "red", "blue"])})
    y = ["no", "yes", "yes", "no"]
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    figure = plots.contributions(model, X.iloc[:1], output="no")
    assert figure.layout.title.text.startswith("<b>probability of no 1</b>")
    assert {"size = 1", "kind = red"} == set(figure.data[0].y)
    assert_allclose(sum(figure.data[0].x), 0.5)
    assert "probability of yes" in plots.contributions(model, X).layout.xaxis.title.text


@pytest.mark.parametrize(("shape", "told"), [((1, 2), "score 3.5"), ((1, 2, 3), "score of c 3.5")])
def test_scores_of_a_booster_are_called_scores(shape, told):
    found = (np.ones(shape), 1.5 if len(shape) == 2 else np.full(3, 1.5))
    model = SimpleNamespace(
        classes_=np.array(["a", "b", "c"]), n_features_in_=2, decision_function=None, contributions=lambda X: found
    )
    assert plots.contributions(model, [[0.0, 1.0]]).layout.title.text.startswith(f"<b>{told}</b> = base 1.5")


def test_bad_input_is_one_sentence():
    X, y = [[0.0], [1.0]], [[0, 1], [1, 0]]
    several = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert "output 1" in plots.contributions(several, X, 1).layout.xaxis.title.text
    for call in (
        lambda: plots.contributions(object(), X),
        lambda: plots.contributions(several, X, 2),
        lambda: plots.contributions(DecisionTreeClassifier().fit(X, y), X),
        lambda: plots.contributions(DecisionTreeClassifier().fit(X, [0, 1]), X, "yes"),
    ):
        with pytest.raises(InputError) as problem:
            call()
        assert_one_sentence(str(problem.value))
