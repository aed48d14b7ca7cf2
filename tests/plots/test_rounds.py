"""Rounds of boosting in figures: the numbers of scikit-learn's boosters and of AdaBoost by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from sklearn.metrics import mean_pinball_loss
from sklearn.tree import DecisionTreeClassifier

import eigenwood.plots as plots
from eigenwood import AdaBoostClassifier as OurAdaBoost
from eigenwood import GradientBoostingRegressor as OurGradientBoosting
from eigenwood.data.datasets import load
from eigenwood.errors import InputError
from eigenwood.plots.boosted import losses_of, margins_after, some_rounds, weights_after
from eigenwood.plots.boundary import LARGEST_DOT, SMALLEST_DOT
from eigenwood.plots.rounds import MOST_STEPS, Rounds, later_colour, rounds_figure, steps_of
from eigenwood.plots.style import ACCENT
from tests.models.crafting import assert_one_sentence

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


def moons(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0, "pass", "fail")


def line(figure, name):
    (found,) = [trace for trace in figure.data if trace.name == name]
    return found


@pytest.fixture(scope="module")
def boosted():
    X, y = moons()
    return AdaBoostClassifier(n_estimators=12, random_state=0).fit(X, y), X, y


# --- the figure -------------------------------------------------------------------------------------------------


def test_curves_stand_over_the_rounds():
    figure = rounds_figure(Rounds({"training": [0.5, 0.25], "bound": [0.9, 0.7]}, "error rate"))
    assert [(trace.name, list(trace.x), list(trace.y)) for trace in figure.data] == [
        ("training", [1, 2], [0.5, 0.25]),
        ("bound", [1, 2], [0.9, 0.7]),
    ]
    assert figure.layout.yaxis.title.text == "error rate"


def test_what_was_noted_before_the_first_round_stands_there():
    losses = {"training": [3.0, 2.0], "validation": [4.0, 3.5, 3.0]}
    figure = rounds_figure(Rounds({"training": [1.0, 0.5]}, "mean squared error", losses))
    assert list(line(figure, "validation").x) == [0, 1, 2]
    assert line(figure, "validation").yaxis == "y2"


def test_margins_are_shares_of_the_rows():
    figure = rounds_figure(Rounds({"training": [0.5]}, "error rate", margins={1: np.array([0.5, -1.0, 0.5, 0.75])}))
    steps = line(figure, "1 round")
    assert list(zip(steps.x, steps.y, strict=True)) == [(-1.0, 0.0), (-1.0, 0.25), (0.5, 0.75), (0.75, 1.0)]
    assert steps.line.shape == "hv"
    assert [shape.x0 for shape in figure.layout.shapes] == [0.0]


def test_margins_of_many_rows_are_some_of_their_steps():
    values = np.random.default_rng(0).normal(size=20 * MOST_STEPS)
    places, shares = steps_of(values)
    assert MOST_STEPS / 2 < places.size <= MOST_STEPS + 1
    assert (places[-1], shares[0], shares[-1]) == (values.max(), 0.0, 1.0)
    for place, share in zip(places[1:], shares[1:], strict=True):
        assert share == pytest.approx(np.mean(values <= place))


def test_later_is_darker():
    darkness = [sum(int(later_colour(place, 4)[i : i + 2], 16) for i in (1, 3, 5)) for place in range(4)]
    assert darkness == sorted(darkness, reverse=True)
    assert later_colour(3, 4) == later_colour(0, 1) == ACCENT


# --- of models ---------------------------------------------------------------------------------------------------


def test_errors_and_bound_are_those_of_adaboost(boosted):
    model, X, y = boosted
    X_test, y_test = moons(seed=1)
    figure = plots.rounds(model, X, y, X_test, y_test)
    assert_allclose(line(figure, "training").y, [np.mean(pred != y) for pred in model.staged_predict(X)])
    assert_allclose(line(figure, "test").y, [np.mean(pred != y_test) for pred in model.staged_predict(X_test)])
    errors = model.estimator_errors_
    assert_allclose(line(figure, "bound").y, np.cumprod(2 * np.sqrt(errors * (1 - errors))))
    assert (line(figure, "training").y <= line(figure, "bound").y).all()


def test_a_stored_bound_is_shown():
    model = SimpleNamespace(
        classes_=np.array([0, 1]),
        bounds_=np.array([0.5, 0.25]),
        estimator_weights_=np.ones(2),
        staged_predict=lambda X: iter([np.array([0, 0]), np.array([0, 1])]),
        staged_decision_function=lambda X: iter([np.array([-2.0, -2.0]), np.array([-2.0, 2.0])]),
    )
    figure = plots.rounds(model, [[0.0], [1.0]], [0, 1])
    assert list(line(figure, "bound").y) == [0.5, 0.25]
    assert list(line(figure, "training").y) == [0.5, 0.0]
    assert list(line(figure, "2 rounds").x) == [1.0, 1.0]


@pytest.mark.parametrize("options", [{"learning_rate": 0.5}, {}])
def test_there_is_no_bound_where_the_lecture_has_none(options):
    y = Y_IRIS if not options else (Y_IRIS > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=3, **options).fit(X_IRIS, y)
    assert "bound" not in [trace.name for trace in plots.rounds(model, X_IRIS, y).data]


def test_a_bound_that_says_nothing_is_not_shown():
    """For many classes the product of the normalizers may rise far above 1, and hide all errors."""
    X, y = moons()
    three = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])
    model = OurAdaBoost(n_estimators=30).fit(X, three)
    assert model.bounds_.min() > 1.0
    assert "bound" not in [trace.name for trace in plots.rounds(model, X, three).data]


def test_rows_held_out_of_adaboost_are_shown():
    X, y = moons()
    model = OurAdaBoost(n_estimators=30, early_stopping=True, random_state=0).fit(X, y)
    assert_allclose(line(plots.rounds(model, X, y), "validation").y, 1.0 - model.validation_score_)


@pytest.mark.parametrize("y", [Y_IRIS, (Y_IRIS == 1).astype(int)])
def test_margins_and_weights_are_those_of_the_votes(y):
    """Margins from the learners' votes, and weights multiplied round by round as AdaBoost does it."""
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5, random_state=0).fit(X_IRIS, y)
    votes, weights, n = np.zeros((len(y), model.n_classes_)), np.full(len(y), 1.0 / len(y)), len(model.estimators_)
    margins = list(margins_after(model, X_IRIS, y, range(1, n + 1)))
    shares = list(weights_after(model, X_IRIS, y, range(1, n + 1)))
    for t, (learner, alpha) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=False)):
        pred = learner.predict(X_IRIS)
        votes[np.arange(len(y)), pred] += alpha
        weights *= np.exp(alpha * (pred != y))
        right, others = votes[np.arange(len(y)), y], votes.copy()
        others[np.arange(len(y)), y] = -np.inf
        expected = (right - others.max(axis=1)) / model.estimator_weights_[: t + 1].sum()
        assert_allclose(margins[t], expected, atol=1e-12)
        assert_allclose(shares[t], weights / weights.sum(), rtol=1e-9)


def test_gradient_boosting_has_losses_and_margins_of_scores():
    X, y = moons()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    figure = plots.rounds(model, X, y)
    loss = [trace for trace in figure.data if trace.meta == "losses"]
    assert_allclose(loss[0].y, model.train_score_)
    *_, last = model.staged_decision_function(X)
    assert line(figure, "5 rounds").x[0] == pytest.approx((np.where(y == "pass", 1, -1) * last.ravel()).min())
    residuals = np.where(y == "pass", 1, 0) - model.predict_proba(X)[:, 1]
    (weights,) = weights_after(model, X, y, [5])
    assert_allclose(weights, np.abs(residuals) / np.abs(residuals).sum())


def test_minus_the_loss_is_turned_and_other_scores_are_left_out():
    options = {"max_iter": 4, "early_stopping": True, "n_iter_no_change": 9, "random_state": 0}
    by_loss = HistGradientBoostingClassifier(**options).fit(X_IRIS, Y_IRIS)
    losses = losses_of(by_loss)
    assert_allclose(losses["training"], -by_loss.train_score_)
    assert_allclose(losses["validation"], -by_loss.validation_score_)
    model = SimpleNamespace(train_score_=[3.0, 2.0], validation_score_=[0.5, 0.6, 0.7], scoring="accuracy")
    assert {name: values.tolist() for name, values in losses_of(model).items()} == {"training": [3.0, 2.0]}


def test_regression_has_squared_errors():
    X = np.linspace(0, 6, 40)[:, None]
    y = np.sin(X[:, 0])
    model = GradientBoostingRegressor(n_estimators=4).fit(X, y)
    figure = plots.rounds(model, X, y)
    assert_allclose(figure.data[0].y, [np.mean((pred - y) ** 2) for pred in model.staged_predict(X)])
    assert [trace.meta for trace in figure.data] == ["errors", "losses"]


@pytest.mark.parametrize("alpha", [0.3, [0.1, 0.5, 0.9]])
def test_quantiles_have_their_own_loss(alpha):
    X = np.linspace(0, 6, 40)[:, None]
    y = np.sin(X[:, 0])
    model = OurGradientBoosting(loss="quantile", alpha=alpha, n_estimators=4).fit(X, y)
    figure = plots.rounds(model, X, y)
    columns = [np.asarray(pred).reshape(40, -1) for pred in model.staged_predict(X)]
    expected = [
        np.mean([mean_pinball_loss(y, pred[:, j], alpha=share) for j, share in enumerate(np.atleast_1d(alpha))])
        for pred in columns
    ]
    assert_allclose(figure.data[0].y, expected)
    assert figure.layout.yaxis.title.text == "mean quantile loss"


# --- in the plane ------------------------------------------------------------------------------------------------


def test_boundaries_are_those_after_so_many_rounds(boosted):
    model, X, y = boosted
    figure = plots.round_boundaries(model, X, y, rounds=[2, 12])
    titles = [note.text for note in figure.layout.annotations]
    for title, n_rounds, pred in zip(
        titles, (2, 12), [list(model.staged_predict(X))[t - 1] for t in (2, 12)], strict=True
    ):
        assert f"after {n_rounds} rounds" in title
        assert f"{int((pred != y).sum())} of {len(y)} rows wrong" in title or not (pred != y).any()


def test_areas_of_dots_are_weights(boosted):
    model, X, y = boosted
    figure = plots.round_boundaries(model, X, y, rounds=[3])
    (weights,) = weights_after(model, X, y, [3])
    for label in model.classes_:
        sizes = line(figure, label).marker.size
        seen = (sizes > SMALLEST_DOT) & (sizes < LARGEST_DOT)
        ratios = (sizes**2 / weights[y == label])[seen]
        assert ratios == pytest.approx(ratios[0])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # scikit-learn's about itself
@pytest.mark.parametrize("as_frame", [False, True])
def test_several_classes_and_frames_have_boundaries_too(as_frame):
    X = pd.DataFrame(X_IRIS[:, :2], columns=["length", "width"]) if as_frame else X_IRIS[:, :2]
    model = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, Y_IRIS)
    figure = plots.round_boundaries(model, X, Y_IRIS)
    assert len(figure.layout.annotations) == len(some_rounds(len(model.estimators_)))
    assert figure.layout.xaxis.title.text in ("length" if as_frame else "x₁", None, "")


# --- bad input ---------------------------------------------------------------------------------------------------


def test_bad_input_is_one_sentence(boosted):
    model, X, y = boosted
    cases = [
        lambda: plots.rounds(DecisionTreeClassifier().fit(X, y), X, y),
        lambda: plots.rounds(AdaBoostClassifier(), X, y),
        lambda: plots.rounds(model, X, y, X),
        lambda: plots.rounds(model, X, np.repeat("other", len(y))),
        lambda: plots.round_boundaries(model, X, y, rounds=[0]),
        lambda: plots.round_boundaries(model, X, y, rounds=[13]),
        lambda: plots.round_boundaries(model, X, y, rounds=[]),
        lambda: plots.round_boundaries(AdaBoostClassifier(n_estimators=2).fit(X_IRIS, Y_IRIS), X_IRIS, Y_IRIS),
        lambda: plots.round_boundaries(GradientBoostingRegressor(n_estimators=2).fit(X, y == "pass"), X, y),
    ]
    for case in cases:
        with pytest.raises(InputError) as problem:
            case()
        assert_one_sentence(str(problem.value))


def test_our_own_adaboost_shows_the_bound_that_it_keeps():
    points = load("ten_points")
    model = OurAdaBoost(n_estimators=3).fit(points.X, points.y)
    figure = plots.rounds(model, points.X, points.y)
    assert_allclose(line(figure, "bound").y, model.bounds_)
    assert_allclose(line(figure, "training").y, model.train_errors_)
    assert len(plots.round_boundaries(model, points.X, points.y).data) > 0
