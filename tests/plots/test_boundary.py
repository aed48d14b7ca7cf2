"""Boundaries in the plane: the surface and the margin where f says, support vectors ringed, slack as long as it is."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import eigenwood.plots as plots
from eigenwood import SVC, SVR, KernelPerceptron, Perceptron, PolynomialExpansion
from eigenwood.errors import InputError
from eigenwood.plots.boundary import (
    BOUND,
    FREE,
    LEGEND_WIDTH,
    MARGIN_LINES,
    NEAREST,
    PER_ROW,
    SLACK,
    SMALL_PLANE,
    SUPPORT,
    SURFACE,
    grid_points,
    level_points,
    scene_of,
)
from eigenwood.plots.scores import COLOURS, FAST, MARGIN, PLANE


def clouds(n_rows=40, apart=1.0, seed=0):
    """Return two clouds that overlap, or do not."""
    signs = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    X = np.random.default_rng(seed).normal(size=(n_rows, 2)) + apart * signs[:, None]
    return X, np.where(signs > 0, "pass", "fail")


def named(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def points_of(trace):
    return np.column_stack([trace.x, trace.y])


def contours(figure):
    return [trace for trace in figure.data if trace.type == "contour"]


# --- two classes ----------------------------------------------------------------------------------


def test_the_lines_are_where_f_is_0_and_1():
    X, y = clouds()
    model = SVC(gamma=0.5).fit(X, y)
    surface, margin = contours(plots.boundary(model, X, y))
    assert (surface.contours.start, surface.contours.end) == (0.0, 0.0)
    assert (margin.contours.start, margin.contours.end, margin.contours.size) == (-1.0, 1.0, 2.0)
    grid = np.column_stack([values.ravel() for values in np.meshgrid(surface.x, surface.y)])
    for lines in (surface, margin):
        np.testing.assert_allclose(np.ravel(lines.z), model.decision_function(grid), rtol=1e-5, atol=1e-6)


def test_regions_change_colour_at_the_surface():
    X, y = clouds()
    model = SVC(kernel="linear").fit(X, y)
    heat = plots.boundary(model, X, y).data[0]
    grid = np.column_stack([values.ravel() for values in np.meshgrid(heat.x, heat.y)])
    assert ((np.ravel(heat.z) > 0) == (model.predict(grid) == "pass")).all()
    assert heat.zmin == -heat.zmax
    middle = [colour for place, colour in heat.colorscale if place == 0.5]
    assert len(middle) == len(set(middle)) == 2


def test_every_class_has_its_rows_its_colour_and_its_name():
    X, y = clouds()
    figure = plots.boundary(SVC().fit(X, y), X, y)
    for code, label in enumerate(("fail", "pass")):
        (trace,) = named(figure, label)
        np.testing.assert_array_equal(points_of(trace), X[y == label])
        assert trace.marker.color == COLOURS[code]


def test_support_vectors_are_ringed_free_and_at_bound_apart():
    X, y = clouds()
    model = SVC(kernel="linear", C=0.7, tol=1e-6).fit(X, y)
    figure = plots.boundary(model, X, y)
    is_bound = np.abs(model.dual_coef_[0]) == 0.7
    assert 0 < is_bound.sum() < is_bound.size
    for name, kind in ((BOUND, is_bound), (FREE, ~is_bound)):
        (rings,) = named(figure, name)
        np.testing.assert_array_equal(np.sort(points_of(rings), axis=0), np.sort(X[model.support_[kind]], axis=0))
    assert named(figure, BOUND)[0].marker.line.width < named(figure, FREE)[0].marker.line.width


def test_slack_is_a_line_from_the_row_to_the_margin_of_its_class():
    X, y = clouds()
    model = SVC(kernel="linear", tol=1e-6).fit(X, y)
    signs = np.where(y == "pass", 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    (lines,) = named(plots.boundary(model, X, y, equal_aspect=True), SLACK)
    begin, end, gap = points_of(lines).reshape(-1, 3, 2).transpose(1, 0, 2)
    assert np.isnan(gap).all()
    assert len(begin) == (slack > 0.01).sum() > 5
    rows = [int(np.flatnonzero((place == X).all(axis=1))[0]) for place in begin]
    np.testing.assert_allclose(model.decision_function(end), signs[rows], atol=0.01)
    lengths = np.linalg.norm(end - begin, axis=1)
    np.testing.assert_allclose(lengths, slack[rows] / np.linalg.norm(model.coef_), atol=0.03)


def test_a_row_knows_f_and_its_slack_on_hover():
    X, y = clouds()
    model = SVC().fit(X, y)
    (trace,) = named(plots.boundary(model, X, y), "pass")
    rows, f, slack = np.transpose(trace.customdata)
    np.testing.assert_array_equal(rows, np.flatnonzero(y == "pass"))
    np.testing.assert_allclose(f, model.decision_function(X)[y == "pass"])
    np.testing.assert_allclose(slack, np.maximum(0.0, 1.0 - f))
    assert "slack" in trace.hovertemplate


def test_without_slack_there_are_no_lines_of_it():
    X, y = clouds(apart=4.0)
    figure = plots.boundary(SVC(kernel="linear", C=1e3, tol=1e-6).fit(X, y), X, y)
    assert not named(figure, SLACK)
    assert not named(figure, BOUND)
    assert "no row wrong" in figure.layout.annotations[0].text


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_width_of_the_margin_is_that_of_the_certificate(kernel):
    X, y = clouds()
    model = SVC(kernel=kernel).fit(X, y)
    text = plots.boundary(model, X, y).layout.annotations[0].text
    assert f"margin {model.certificate_['margin'].value:.3g} ·" in text
    assert f"{model.support_.size} support vectors" in text


def test_squared_slack_and_scikit_learns_machine_are_drawn_alike():
    X, y = clouds()
    for model in (SVC(slack="squared"), svm.SVC()):
        figure = plots.boundary(model.fit(X, y), X, y)
        assert named(figure, MARGIN_LINES)
        assert sum(len(rings.x) for name in (FREE, BOUND) for rings in named(figure, name)) == model.support_.size


# --- side by side ---------------------------------------------------------------------------------


def test_perceptron_and_machine_stand_side_by_side_with_the_same_axes():
    X, y = clouds(apart=3.0)
    models = [Perceptron().fit(X, y), SVC(kernel="linear", C=1e3).fit(X, y)]
    figure = plots.boundary(models, X, y)
    assert [note.text.split("<br>")[0] for note in figure.layout.annotations] == [
        "<b>Perceptron</b>",
        "<b>SVC, linear</b>",
    ]
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range
    assert figure.layout.xaxis2.matches or figure.layout.xaxis.matches
    assert {trace.xaxis for trace in named(figure, SURFACE)} == {"x", "x2"}
    assert [trace.showlegend for trace in named(figure, "pass")] == [True, False]
    assert figure.layout.width == MARGIN["l"] + 2 * SMALL_PLANE[0] + 24 + LEGEND_WIDTH


def test_the_nearest_row_stands_on_the_lines_of_a_perceptron_and_the_machine_has_more_room():
    X, y = clouds(apart=3.0)
    perceptron = Perceptron().fit(X, y)
    machine = SVC(kernel="linear", C=1e3, tol=1e-6).fit(X, y)
    figure = plots.boundary([perceptron, machine], X, y)
    (lines,) = [trace for trace in contours(figure) if trace.legendgroup == NEAREST]
    nearest = np.abs(perceptron.decision_function(X)).min()
    assert lines.contours.end == pytest.approx(nearest)
    width = 2 * nearest / np.linalg.norm(perceptron.coef_)
    text = [note.text for note in figure.layout.annotations]
    assert f"margin {width:.3g} ·" in text[0]
    assert width < 2 / np.linalg.norm(machine.coef_)


def test_a_perceptron_that_errs_has_no_margin():
    X, y = clouds(apart=0.3)
    figure = plots.boundary(Perceptron().fit(X, y), X, y)
    assert not named(figure, NEAREST)
    assert "margin" not in figure.layout.annotations[0].text
    assert "of 40 rows wrong" in figure.layout.annotations[0].text


@pytest.mark.parametrize("vote", ["last", "voted"])
def test_a_kernel_perceptron_has_the_rows_it_erred_on_ringed(vote):
    X, y = clouds()
    model = KernelPerceptron(vote=vote).fit(X, y)
    (rings,) = named(plots.boundary(model, X, y), SUPPORT)
    np.testing.assert_array_equal(points_of(rings), X[model.support_])


def test_panels_can_be_named_and_more_than_two_go_on_below():
    X, y = clouds()
    models = [SVC(C=C).fit(X, y) for C in (0.1, 1.0, 10.0)]
    figure = plots.boundary(models, X, y, names=["a < b", "two", "three"])
    assert [note.text.split("<br>")[0] for note in figure.layout.annotations] == [
        "<b>a &lt; b</b>",
        "<b>two</b>",
        "<b>three</b>",
    ]
    assert len(list(figure.select_xaxes())) == 3 > PER_ROW
    assert figure.layout.height > 2 * SMALL_PLANE[1]


# --- other models ---------------------------------------------------------------------------------


def test_several_classes_have_regions_and_support_vectors():
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 20, axis=0)
    y = np.repeat(["a", "b", "c"], 20)
    model = SVC().fit(X, y)
    figure = plots.boundary(model, X, y)
    heat = figure.data[0]
    grid = np.column_stack([values.ravel() for values in np.meshgrid(heat.x, heat.y)])
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[np.ravel(heat.z)], model.predict(grid))
    (rings,) = named(figure, SUPPORT)
    assert len(rings.x) == model.support_.size
    assert not named(figure, SURFACE)
    assert len(contours(figure)) == 2  # around two of the regions


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(), CalibratedClassifierCV(SVC(), cv=3), LogisticRegression()],
    ids=lambda model: type(model).__name__,
)
def test_any_classifier_will_do(model):
    X, y = clouds()
    figure = plots.boundary(model.fit(X, y), X, y)
    assert type(model).__name__ in figure.layout.annotations[0].text
    assert not named(figure, SUPPORT)


def test_a_pipeline_is_seen_by_its_last_step():
    X, y = clouds()
    model = make_pipeline(StandardScaler(), SVC(tol=1e-6)).fit(X * [1.0, 100.0], y)
    figure = plots.boundary(model, X * [1.0, 100.0], y)
    assert sum(len(rings.x) for name in (FREE, BOUND) for rings in named(figure, name)) == model[-1].support_.size
    assert f"margin {model[-1].certificate_['margin'].value:.3g} ·" in figure.layout.annotations[0].text
    expanded = make_pipeline(PolynomialExpansion(), Perceptron()).fit(X, y)
    assert named(plots.boundary(expanded, X, y), SURFACE)


def test_other_rows_than_those_of_the_fit_have_no_rings():
    X, y = clouds()
    model = SVC().fit(X, y)
    others, labels = clouds(seed=1)
    for rows, told in ((others, labels), (others[:4], labels[:4])):
        figure = plots.boundary(model, rows, told)
        assert not named(figure, FREE)
        assert not named(figure, BOUND)
        assert named(figure, MARGIN_LINES)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_axes_have_the_names_of_a_frame(frame):
    X, y = clouds()
    rows = frame({"height": X[:, 0], "weight <kg>": X[:, 1]})
    models = [SVC().fit(rows, y), Perceptron().fit(rows, y)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plots.boundary(models, rows, y)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("height", "weight &lt;kg&gt;")
    assert figure.layout.yaxis2.title.text in (None, "")
    assert named(figure, FREE)


# --- the plane ------------------------------------------------------------------------------------


def test_features_of_one_size_share_a_scale():
    X, y = clouds()
    spans = []
    for rows, equal in ((X, None), (X * [1.0, 50.0], None), (X * [1.0, 50.0], True)):
        layout = plots.boundary(Perceptron().fit(rows, y), rows, y, equal_aspect=equal).layout
        spans.append(np.ptp(layout.xaxis.range) / np.ptp(layout.yaxis.range) / (PLANE[0] / PLANE[1]))
    assert spans[0] == pytest.approx(1.0)
    assert spans[1] < 0.1
    assert spans[2] == pytest.approx(1.0)


def test_places_of_a_level_lie_on_it():
    scene = scene_of(np.array([[-1.0, -1.0], [1.0, 1.0]]), np.array([0, 1]), ["a", "b"], 1, True)
    x, y = grid_points(scene).T
    shape = (scene.up.size, scene.across.size)
    for values in (x + 2 * y - 0.3, x**2 + y**2 - 0.5):
        places = level_points(scene, values.reshape(shape))
        assert len(places) > 50
        off = places @ [1, 2] - 0.3 if values[0] == (x + 2 * y - 0.3)[0] else (places**2).sum(axis=1) - 0.5
        assert np.abs(off).max() < 1e-3


def test_many_rows_are_drawn_by_the_graphics_card():
    X, y = clouds(FAST)
    assert named(plots.boundary(Perceptron().fit(X, y), X, y), "pass")[0].type == "scattergl"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_plane_has_two_features(n_features):
    X = np.random.default_rng(0).normal(size=(20, n_features))
    y = np.arange(20) % 2
    model = SVC().fit(X, y)
    sentence = rf"^plots\.boundary: the model must have 2 features, to be drawn in a plane; got {n_features}\.$"
    with pytest.raises(InputError, match=sentence):
        plots.boundary(model, X, y)
    plane = SVC().fit(np.random.default_rng(0).normal(size=(20, 2)), y)
    sentence = rf"^plots\.boundary: X must have 2 features, to be drawn in a plane; got {n_features}\.$"
    with pytest.raises(InputError, match=sentence):
        plots.boundary(plane, X, y)


def test_what_cannot_be_drawn_is_refused_in_one_sentence():
    X, y = clouds()
    model = SVC().fit(X, y)
    others = SVC().fit(X, y == "pass")
    for models, labels, options, sentence in (
        (SVR().fit(X, X[:, 0]), y, {}, r"plots\.boundary: the model must be a fitted classifier; got SVR\."),
        (SVC(), y, {}, r"plots\.boundary: the model must be a fitted classifier; got SVC\."),
        ([], y, {}, r"plots\.boundary: the model must be a fitted classifier or a list of them; got an empty list\."),
        (
            [model, others],
            y,
            {},
            r"plots\.boundary: all models must have the classes \['fail', 'pass'\]; got \[False, True\]\.",
        ),
        (model, y, {"names": ["a", "b"]}, r"plots\.boundary: names must have one for each of 1 models; got 2\."),
        (model, ["?"] * 40, {}, r"SVC: y must hold only the classes \['fail', 'pass'\]; got .*\."),
        (model, y[:3], {}, r"SVC: y must have one label for each of the 40 rows; got 3\."),
    ):
        with pytest.raises(InputError, match=f"^{sentence}$"):
            plots.boundary(models, X, labels, **options)
