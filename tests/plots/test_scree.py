"""The scree plot: shares of the whole variance, their sums, and the components that were chosen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA as Theirs

import eigenwood.plots as plots
from eigenwood import PCA
from eigenwood.errors import InputError
from eigenwood.plots.scree import CHOSEN, FURTHER, MANY, scree_figure
from eigenwood.plots.style import ACCENT


def words(figure):
    return [note.text for note in figure.layout.annotations]


def test_bars_are_shares_and_the_line_is_their_sum():
    bars, line, chosen = scree_figure([6.0, 3.0, 0.5], 10.0, 2).data
    assert list(bars.y) == pytest.approx([0.6, 0.3, 0.05])
    assert list(line.y) == pytest.approx([0.6, 0.9, 0.95])
    assert (list(chosen.x), list(chosen.y)) == ([2], pytest.approx([0.9]))
    assert list(bars.marker.color) == [CHOSEN, CHOSEN, FURTHER]
    assert chosen.marker.color == ACCENT


@pytest.mark.parametrize(
    ("chosen", "said"),
    [(1, "<b>1 component holds 60.0 %</b>"), (2, "<b>2 components hold 90.1 %</b>")],
)
def test_the_chosen_number_is_said(chosen, said):
    assert words(scree_figure([60.0, 30.1, 9.0], 100.0, chosen)) == [said]


def test_all_components_hold_all_in_spite_of_rounding():
    variances = np.full(10, 0.1)
    assert np.cumsum(variances)[-1] < 1.0
    assert words(scree_figure(variances, 1.0, 10)) == ["<b>10 components hold 100 %</b>"]


def test_a_wanted_share_is_a_line_and_is_said():
    assert len(scree_figure([6.0, 3.0], 10.0, 2).layout.shapes) == 0
    figure = scree_figure([6.0, 3.0], 10.0, 2, 0.85)
    assert [(line.y0, line.y1) for line in figure.layout.shapes] == [(0.85, 0.85)]
    assert words(figure) == ["<b>2 components hold 90.0 %</b> (85.0 % wanted)"]


def test_few_components_share_a_panel_and_have_dots():
    bars, line, _ = scree_figure(np.ones(MANY - 1), 100.0, 3).data
    assert (bars.yaxis, line.mode) == ("y", "lines+markers")


def test_many_components_have_a_panel_in_powers_of_ten_where_none_is_cut():
    variances = 0.9 ** np.arange(100.0)
    variances[60:] = 0.0
    figure = scree_figure(variances, variances.sum(), 87)
    bars, line, _ = figure.data
    assert (bars.yaxis, line.mode) == ("y2", "lines")
    low, high = (10.0**end for end in figure.layout.yaxis2.range)
    assert figure.layout.yaxis2.type == "log"
    assert low < bars.y[59] < bars.y[0] < high
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]


@pytest.mark.parametrize(("chosen", "anchors"), [(1, ("left", "top")), (87, ("right", "bottom"))])
def test_words_stand_on_the_side_where_there_is_room(chosen, anchors):
    note = scree_figure(np.ones(87), 100.0, chosen).layout.annotations[0]
    assert (note.xanchor, note.yanchor) == anchors


def test_no_variance_at_all_is_a_figure_too():
    assert list(scree_figure([0.0, 0.0], 0.0, 1).data[0].y) == [0.0, 0.0]


def test_the_model_hands_on_its_variances():
    X = np.random.default_rng(0).normal(size=(50, 6)) * [9, 5, 3, 1, 1, 1]
    model = PCA(2).fit(X)
    bars, line, chosen = plots.scree(model).data
    np.testing.assert_allclose(bars.y, model.explained_variance_ratio_)
    assert list(chosen.x) == [2]
    assert len(plots.scree(model).layout.shapes) == 0
    asked = PCA(0.9).fit(X)
    assert plots.scree(asked).layout.shapes[0].y0 == 0.9
    assert list(plots.scree(asked).data[2].x) == [asked.n_components_]


@pytest.mark.parametrize("model", [PCA(), object()])
def test_a_model_without_components_is_refused(model):
    with pytest.raises(InputError, match=r"plots\.scree: the model must be a fitted PCA .*; got (PCA|object)\.$"):
        plots.scree(model)


def test_scikit_learns_model_will_do_too():
    X = np.random.default_rng(0).normal(size=(50, 6)) * [9, 5, 3, 1, 1, 1]
    theirs, ours = (plots.scree(kind(2).fit(X)) for kind in (Theirs, PCA))
    np.testing.assert_allclose(theirs.data[0].y, ours.data[0].y)
    assert theirs.layout.annotations[0].text == ours.layout.annotations[0].text


@pytest.mark.parametrize(
    "draw",
    [plots.scree, plots.loadings, lambda model: plots.component_images(model, (2, 3))],
    ids=["scree", "loadings", "images"],
)
def test_a_model_of_no_components_is_refused(draw):
    X = np.random.default_rng(0).normal(size=(50, 6))
    with pytest.raises(InputError, match=r"^plots\.\w+: the model must have at least 1 component; got 0\.$"):
        draw(PCA(0).fit(X))
