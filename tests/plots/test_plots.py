"""Figures hold the numbers they were given."""

from __future__ import annotations

import pytest

from eigenwood.plots.answer import answer_figure
from eigenwood.plots.candidates import BEST_SO_FAR, CUT_NAME, TrialDot, candidates_figure
from eigenwood.plots.confusion import confusion_figure
from eigenwood.plots.curves import Curve, calibration_figure, precision_recall_figure, roc_figure
from eigenwood.plots.dependence import dependence_figure
from eigenwood.plots.distribution import amounts_figure, classes_figure
from eigenwood.plots.importances import importances_figure
from eigenwood.plots.predicted import predicted_figure
from eigenwood.plots.residuals import residuals_figure
from eigenwood.plots.style import ACCENT, MUTED

TRIALS = [
    TrialDot("a", "k=1", 1.0, 0.5, 0.5, 0.5, False, False),
    TrialDot("a", "k=1", 3.0, 0.6, 0.5, 0.7, True, False),
    TrialDot("b", "", 5.0, 0.9, 0.8, 1.0, True, True),
    TrialDot("b", "k=2", 8.0, 0.7, 0.6, 0.8, True, False),
    TrialDot("c", "", 9.0, None, 0.0, 0.0, False, False),
]


def test_candidates_stand_where_their_trials_ended():
    figure = candidates_figure(TRIALS, "accuracy", ".1%")
    dots = [
        (x, y)
        for trace in figure.data
        if trace.mode == "markers" and trace.name != CUT_NAME
        for x, y in zip(trace.x, trace.y, strict=True)
    ]
    assert sorted(dots) == [(1.0, 0.5), (3.0, 0.6), (5.0, 0.9), (8.0, 0.7)]
    best = next(trace for trace in figure.data if trace.name == BEST_SO_FAR)
    assert (list(best.x), list(best.y)) == ([3.0, 5.0, 8.0], [0.6, 0.9, 0.9])


def test_candidates_that_were_cut_have_no_score():
    figure = candidates_figure(TRIALS, "accuracy", ".1%")
    cut = next(trace for trace in figure.data if trace.name == CUT_NAME)
    assert list(cut.x) == [9.0]
    assert list(cut.y) == [figure.layout.yaxis.range[0]]
    assert "not compared" in cut.hovertemplate


def test_candidates_show_folds_of_the_chosen_ones_only_and_stand_in_the_legend_once():
    figure = candidates_figure(TRIALS, "accuracy", ".1%")
    bars = [trace for trace in figure.data if trace.error_y.array is not None]
    assert [(list(trace.x), [round(v, 9) for v in trace.error_y.array]) for trace in bars] == [([5.0], [0.1])]
    named = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert sorted(named) == sorted([BEST_SO_FAR, "a", "b", CUT_NAME])
    rings = [trace for trace in figure.data if trace.marker.symbol == "circle-open"]
    assert [list(trace.x) for trace in rings] == [[1.0]]


def test_where_smaller_is_better_the_best_so_far_falls():
    best = candidates_figure(TRIALS, "error", ".3g", smaller_is_better=True).data[0]
    assert list(best.y) == [0.6, 0.6, 0.6]


def test_the_answer_has_its_interval_and_the_baseline():
    figure = answer_figure(0.87, 0.8, 0.91, 0.5, "accuracy", ".1%")
    assert [list(trace.x) for trace in figure.data] == [[0.5, 0.87], [0.8, 0.91], [0.5], [0.87]]
    low, high = figure.layout.xaxis.range
    assert low < 0.5 < 0.91 < high
    assert len({note.yshift for note in figure.layout.annotations}) == 2  # they may stand over the same place


def test_confusion_is_coloured_by_the_share_of_each_true_label():
    figure = confusion_figure(["no", "<yes>"], [[3000, 1000], [0, 0]])
    heat = figure.data[0]
    assert [list(row) for row in heat.z] == [[0.75, 0.25], [0.0, 0.0]]
    assert [list(row) for row in heat.text] == [["3,000", "1,000"], ["0", "0"]]
    assert list(figure.layout.xaxis.ticktext) == ["no", "&lt;yes&gt;"]


def test_predicted_stands_over_true_beside_the_diagonal():
    figure = predicted_figure([1.0, 2.0, 4.0], [1.5, -2.0, 3.0])
    line, dots = figure.data
    assert (list(dots.x), list(dots.y)) == ([1.0, 2.0, 4.0], [1.5, -2.0, 3.0])
    assert list(line.x) == list(line.y) == pytest.approx([-2.3, 4.3])
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == line.x


def test_residuals_are_true_less_predicted():
    assert list(residuals_figure([1.0, 4.0], [1.5, 3.0]).data[0].y) == [-0.5, 1.0]


def test_curves_stand_beside_guessing():
    curve = Curve("yes", [0.0, 0.5, 1.0], [0.0, 0.9, 1.0], "AUC 0.9")
    guessing, line = roc_figure([curve]).data
    assert (list(guessing.x), list(guessing.y)) == ([0.0, 1.0], [0.0, 1.0])
    assert (list(line.y), line.name) == ([0.0, 0.9, 1.0], "yes (AUC 0.9)")
    assert list(precision_recall_figure([curve], 0.2).data[0].y) == [0.2, 0.2]
    assert len(precision_recall_figure([curve], None).data) == 1


def test_calibration_of_a_rare_class_shows_the_part_that_is_used():
    rare = calibration_figure([Curve("yes", [0.0, 0.1], [0.01, 0.2])])
    assert rare.layout.xaxis.range[1] == rare.layout.yaxis.range[1] == pytest.approx(0.216)
    assert calibration_figure([Curve("yes", [0.0, 0.9], [0.01, 0.8])]).layout.xaxis.range[1] > 1.0


def test_importances_have_intervals_and_are_grey_where_these_hold_zero():
    figure = importances_figure(["age", "sex"], [0.3, 0.01], [0.2, -0.1], [0.5, 0.2], "loss", ".3f")
    bars = figure.data[0]
    assert list(bars.marker.color) == [ACCENT, MUTED]
    assert list(bars.error_x.array) == pytest.approx([0.2, 0.19])
    assert list(bars.error_x.arrayminus) == pytest.approx([0.1, 0.11])


def test_dependence_of_dates_is_drawn_over_days_and_of_categories_in_their_order():
    days = dependence_figure("date", [0.0, 31.0], {"yes": [0.1, 0.2]}, "probability", ".0%", (0.0, 1.0))
    assert list(days.data[0].x) == ["1970-01-01T00:00:00", "1970-02-01T00:00:00"]
    colours = dependence_figure("category", ["2", None, "1"], {"a": [1, 2, 3], "b": [3, 2, 1]}, "", "", (1, 3))
    assert list(colours.data[1].x) == ["2", "missing", "1"]
    assert colours.layout.xaxis.type == "category"
    assert (colours.layout.showlegend, days.layout.showlegend) == (True, False)
    assert colours.layout.yaxis.range[0] < 1 < 3 < colours.layout.yaxis.range[1]


def test_distributions_count_rows():
    bars = classes_figure(["no", "yes"], [30, 10])
    assert list(bars.data[0].x) == [30, 10]
    assert [text.split("<br>")[0] for text in bars.layout.yaxis.ticktext] == ["no", "yes"]
    assert "10 · 25 %" in bars.layout.yaxis.ticktext[1]
    histogram = amounts_figure([0.0, 1.0, 3.0], [5, 7], "price").data[0]
    assert (list(histogram.x), list(histogram.width), list(histogram.y)) == ([0.5, 2.0], [1.0, 2.0], [5, 7])
