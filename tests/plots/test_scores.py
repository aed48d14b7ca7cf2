"""Score plots: every point at its place, in a colour that can be told apart, with a name that covers no other."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenwood.plots as plots
from eigenwood import PCA as Ours
from eigenwood.data import datasets
from eigenwood.data.blocks import blocks
from eigenwood.errors import InputError
from eigenwood.plots.scores import (
    COLOURS,
    FAST,
    GREY,
    LABEL_HEIGHT,
    MOST_NAMED,
    PER_SYMBOL,
    PLANE,
    frame_of,
    free_places,
    scores_figure,
)
from eigenwood.plots.style import ACCENT
from eigenwood.plots.tree import ANSWER_LETTER

SHARES = (0.674, 0.291)

# How colours look to people without one kind of cones: Machado, Oliveira and Fernandes (2009), severity 1.
SIGHTS = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


def lab(colours, sight):
    """Return colours in CIELAB, where a distance of 2 can just be seen."""
    values = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(sight), 0, 1) @ np.transpose(TO_XYZ) / np.sum(TO_XYZ, axis=1)
    f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


def cloud(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 2))


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart_also_by_the_colour_blind(sight):
    assert len(set(COLOURS)) == 26
    places = lab([*COLOURS, GREY], np.array(SIGHTS[sight]))
    distances = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(27, 1)]
    assert distances.min() > 9


def test_points_stand_where_they_were_given_and_axes_say_their_shares():
    points = cloud(7)
    figure = scores_figure(points, SHARES, axes=(0, 2))
    (trace,) = figure.data
    np.testing.assert_array_equal(np.column_stack([trace.x, trace.y]), points)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("PC1 (67.4 %)", "PC3 (29.1 %)")
    assert trace.marker.color == ACCENT
    assert not figure.layout.showlegend
    assert list(trace.customdata) == list(range(7))


def test_every_category_has_its_rows_its_colour_and_its_line_in_the_legend():
    points, kinds = cloud(6), ["b", "a", "b", "c", None, "a"]
    figure = scores_figure(points, SHARES, colours=kinds, colour_name="kind")
    found = {trace.name: (list(trace.x), trace.marker.color) for trace in figure.data}
    rows = {"a": [1, 5], "b": [0, 2], "c": [3], "missing": [4]}
    assert found == {name: (points[rows[name], 0].tolist(), COLOURS[i]) for i, name in enumerate(rows)}
    assert figure.layout.showlegend
    assert figure.layout.legend.title.text == "kind"
    assert "<extra>a</extra>" in figure.data[0].hovertemplate


def test_the_smallest_of_very_many_categories_are_grey_and_last_in_the_legend():
    codes = np.concatenate([np.repeat(np.arange(26), 2), [90, 91, 92]])
    other, *kept = scores_figure(cloud(codes.size), SHARES, colours=[f"c{code:02d}" for code in codes]).data
    assert (other.name, other.marker.color, len(other.x)) == ("other (3)", GREY, 3)
    assert [trace.name for trace in kept] == [f"c{code:02d}" for code in range(26)]
    assert tuple(trace.marker.color for trace in kept) == COLOURS
    assert other.legendrank > max(trace.legendrank for trace in kept)
    assert [trace.marker.symbol for trace in kept] == ["circle"] * PER_SYMBOL + ["diamond"] * PER_SYMBOL


def test_digits_are_categories_in_their_order_and_other_integers_are_amounts():
    digits = np.arange(40) % 11
    traces = scores_figure(cloud(40), SHARES, colours=digits).data
    assert [trace.name for trace in traces] == [str(digit) for digit in range(11)]
    (years,) = scores_figure(cloud(40), SHARES, colours=1900 + np.arange(40)).data
    assert list(years.marker.color) == list(range(1900, 1940))


def test_amounts_have_a_scale_and_missing_ones_are_grey():
    figure = scores_figure(cloud(4), SHARES, colours=[0.5, np.nan, 2.5, -1.0], colour_name="fish")
    missing, known = figure.data
    assert (missing.marker.color, list(missing.customdata)) == (GREY, [1])
    assert list(known.marker.color) == [0.5, 2.5, -1.0]
    assert known.marker.showscale
    assert known.marker.colorbar.title.text == "fish"
    assert "fish %{marker.color" in known.hovertemplate


@pytest.mark.parametrize(("n_rows", "kind"), [(FAST - 1, "scatter"), (FAST, "scattergl")])
def test_many_points_are_drawn_by_the_graphics_card(n_rows, kind):
    assert scores_figure(cloud(n_rows), SHARES).data[0].type == kind


def test_names_are_shown_on_hover_and_beside_few_points():
    names = [f"<b>{i}" for i in range(MOST_NAMED + 1)]
    few = scores_figure(cloud(3), SHARES, names=names[:3])
    assert [note.text for note in few.layout.annotations] == ["&lt;b&gt;0", "&lt;b&gt;1", "&lt;b&gt;2"]
    many = scores_figure(cloud(MOST_NAMED + 1), SHARES, names=names)
    assert len(many.layout.annotations) == 0
    assert many.data[0].customdata[-1] == f"&lt;b&gt;{MOST_NAMED}"


@pytest.mark.parametrize("seed", range(5))
def test_labels_cover_neither_each_other_nor_a_point_and_stay_inside(seed):
    points, texts = cloud(MOST_NAMED, seed), ["a name"] * MOST_NAMED
    frame = frame_of(points, equal_aspect=True)
    tips, half = frame.to_pixels(points), np.array([3 * ANSWER_LETTER, LABEL_HEIGHT / 2])
    dots = [(*(tip - 3), *(tip + 3)) for tip in tips]
    places = free_places(frame, tips, np.tile([0.0, 1.0], (MOST_NAMED, 1)), texts, list(dots))
    placed = [place for place in places if place is not None]
    assert len(placed) > MOST_NAMED / 2
    for a, b in itertools.combinations(placed, 2):
        assert (np.abs(a - b) >= 2 * half - 1e-9).any()
    for place, tip in itertools.product(placed, tips):
        assert (np.abs(place - tip) >= half + 3 - 1e-9).any()
    assert all((place >= half).all() and (place <= PLANE - half).all() for place in placed)


def test_a_label_without_room_is_left_out():
    points = np.zeros((30, 2))
    places = free_places(frame_of(points, True), points + 300, np.tile([0.0, 1.0], (30, 1)), ["long name"] * 30, [])
    assert 1 < sum(place is not None for place in places) < 30


def test_distances_on_the_paper_are_equal_unless_asked_otherwise():
    points = cloud(20) * [100.0, 1.0]
    figure = scores_figure(points, SHARES)
    spans = [np.ptp(axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis)]
    assert spans[0] / spans[1] == pytest.approx(PLANE[0] / PLANE[1])
    assert figure.layout.yaxis.scaleanchor == "x"
    free = scores_figure(points, SHARES, equal_aspect=False)
    assert free.layout.yaxis.scaleanchor is None
    assert np.ptp(free.layout.yaxis.range) < 2 * np.ptp(points[:, 1])


def test_one_point_is_a_figure_too():
    low, high = scores_figure(np.array([[2.0, 3.0]]), SHARES).layout.xaxis.range
    assert low < 2.0 < high


# --- plots.scores ---------------------------------------------------------------------------------


def foods():
    data = datasets.load("uk_foods")
    return pd.DataFrame(data.X, columns=list(data.feature_names)), data.row_labels["country"]


def test_the_model_hands_on_its_scores():
    X, countries = foods()
    model = PCA().fit(X)
    figure = plots.scores(model, X, axes=(1, 0), names=countries)
    (trace,) = figure.data
    np.testing.assert_allclose(np.column_stack([trace.x, trace.y]), model.transform(X)[:, [1, 0]])
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("PC2 (29.1 %)", "PC1 (67.4 %)")
    assert list(trace.customdata) == list(countries)


def test_a_pipeline_that_ends_in_a_pca_will_do():
    X, _ = foods()
    model = make_pipeline(StandardScaler(), PCA()).fit(X)
    np.testing.assert_allclose(plots.scores(model, X).data[0].x, model.transform(X)[:, 0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_a_column_of_the_frame_can_be_the_colour(frame):
    columns = {name: cloud(9, seed)[:, 0] for seed, name in enumerate(("x", "y", "z"))}
    X = frame(columns)
    (trace,) = plots.scores(PCA().fit(X), X, colour="y").data
    np.testing.assert_array_equal(trace.marker.color, columns["y"])
    assert trace.marker.colorbar.title.text == "y"


def frame_with_towns(kind):
    """Return a frame of three columns, and the same with the town of each row as a fourth."""
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 3)), columns=["x", "y", "z"])
    towns = numbers.assign(town=list("abababab"))
    return kind(numbers), kind(towns)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("model", [Ours(2), make_pipeline(StandardScaler(), Ours(2))], ids=["pca", "pipeline"])
def test_a_column_that_the_model_does_not_know_can_be_the_colour(model, kind):
    numbers, towns = frame_with_towns(kind)
    model = model.fit(frame_with_towns(pd.DataFrame)[0])
    figure = plots.scores(model, towns, colour="town")
    assert [trace.name for trace in figure.data] == ["a", "b"]
    assert figure.layout.legend.title.text == "town"
    scores = model.transform(numbers)
    np.testing.assert_allclose(np.column_stack([figure.data[1].x, figure.data[1].y]), scores[1::2])
    assert [trace.name for trace in plots.biplot(model, towns, colour="town").data][:2] == ["a", "b"]


def test_a_column_that_nobody_asked_for_is_still_refused():
    numbers, towns = frame_with_towns(pd.DataFrame)
    with pytest.raises(InputError, match="feature names should match"):
        plots.scores(Ours(2).fit(numbers), towns, colour="x")


@pytest.mark.parametrize("draw", [plots.scores, plots.biplot])
def test_blocks_are_shown_one_after_the_other(draw):
    X = np.random.default_rng(0).normal(size=(10, 3))
    model = Ours(3).fit(X)
    streamed, whole = draw(model, blocks(X, block_rows=4), axes=(2, 0)), draw(model, X, axes=(2, 0))
    np.testing.assert_allclose(streamed.data[0].x, whole.data[0].x)
    np.testing.assert_allclose(streamed.data[0].y, whole.data[0].y)


def test_a_series_brings_its_name():
    X = cloud(8)
    figure = plots.scores(PCA().fit(X), X, colour=pd.Series(list("abababab"), name="letter"))
    assert figure.layout.legend.title.text == "letter"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"axes": (0, 3)}, r"plots\.scores: axes must be two different integers from 0 to 2; got \(0, 3\)\."),
        ({"axes": (1, 1)}, r"plots\.scores: axes must be two different integers from 0 to 2; got \(1, 1\)\."),
        ({"axes": 1}, r"plots\.scores: axes must be two different integers from 0 to 2; got 1\."),
        ({"axes": (0, -1)}, r"plots\.scores: axes must be two different integers from 0 to 2; got \(0, -1\)\."),
        ({"colour": [1, 2]}, r"plots\.scores: colour must have one value for each of 9 rows; got \(2,\)\."),
        ({"colour": "x"}, r"plots\.scores: colour must be values or the name of a column of X; got 'x'\."),
        ({"names": ["a"]}, r"plots\.scores: names must have one name for each of 9 rows; got 1\."),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(options, sentence):
    X = np.random.default_rng(0).normal(size=(9, 3))
    with pytest.raises(InputError, match=f"^{sentence}$"):
        plots.scores(PCA().fit(X), X, **options)


def test_one_component_makes_no_plane():
    X = cloud(9)
    with pytest.raises(InputError, match=r"^plots\.scores: the model must have at least 2 components; got 1\.$"):
        plots.scores(PCA(1).fit(X), X)
