"""Figures hold the numbers they were given."""

from __future__ import annotations

import pytest

from eigenwood.plots.candidates import candidates_figure
from eigenwood.plots.confusion import confusion_figure
from eigenwood.plots.predicted import predicted_figure
from eigenwood.plots.style import ACCENT


def test_candidates_show_every_fold_and_mark_the_chosen():
    figure = candidates_figure([("a", ""), ("b", "k=1")], [[0.5, 0.7], [0.8, 1.0]], 1, "accuracy", ".0%")
    bars = [trace for trace in figure.data if trace.type == "bar"]
    dots = [trace for trace in figure.data if trace.type == "scatter"]
    assert [round(bar.x[0], 6) for bar in bars] == [0.6, 0.9]
    assert [list(trace.x) for trace in dots] == [[0.5, 0.7], [0.8, 1.0]]
    assert [bar.marker.color == ACCENT for bar in bars] == [False, True]
    assert figure.layout.xaxis.title.text == "accuracy on the validation folds"
    assert list(figure.layout.xaxis.range) == [0, 1]


def test_candidates_that_are_worse_than_nothing_are_seen():
    figure = candidates_figure([("a", "")], [[-0.4, 0.7]], 0, "R²", "")
    assert figure.layout.xaxis.range[0] < -0.4


def test_confusion_is_coloured_by_the_share_of_each_true_label():
    heat = confusion_figure(["no", "yes"], [[3, 1], [0, 0]]).data[0]
    assert [list(row) for row in heat.z] == [[0.75, 0.25], [0.0, 0.0]]
    assert [list(row) for row in heat.text] == [[3, 1], [0, 0]]


def test_predicted_stands_over_true_beside_the_diagonal():
    figure = predicted_figure([1.0, 2.0, 4.0], [1.5, -2.0, 3.0])
    line, dots = figure.data
    assert (list(dots.x), list(dots.y)) == ([1.0, 2.0, 4.0], [1.5, -2.0, 3.0])
    assert list(line.x) == list(line.y) == pytest.approx([-2.3, 4.3])
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == line.x
