"""The figures of trees: every box and stream of the tree, nothing on top of anything else, and the numbers on hover."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import eigenwood.plots as plots
from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, rules
from eigenwood.data import datasets
from eigenwood.errors import InputError
from eigenwood.plots.pruning import pruning_figure
from eigenwood.plots.style import ACCENT, PALETTE
from eigenwood.plots.tree import (
    LINE_HEIGHT,
    MOST_ANSWERS,
    MOST_ENDS,
    THICKEST,
    THINNEST,
    blended,
    box_columns,
    drawn_boxes,
    lines_of,
    tree_figure,
)


def tennis_tree():
    days = datasets.load("play_tennis").table().frame
    model = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", random_state=0)
    return model.fit(days.drop_columns(["day", "play_tennis"]), days["play_tennis"].to_pylist())


def numbers_tree(seed=0, n_rows=400, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return DecisionTreeClassifier(random_state=0, **options).fit(X, (X.sum(axis=1) + rng.normal(size=n_rows)) > 0)


def boxes(figure):
    return [note for note in figure.layout.annotations if note.bordercolor]


def answers(figure):
    return [note for note in figure.layout.annotations if not note.bordercolor]


def titles(figure):
    return [re.match("<b>(.*?)</b>", box.text).group(1) for box in boxes(figure)]


def test_a_question_with_three_answers_is_one_box_with_three_streams():
    figure = plots.tree(tennis_tree())
    assert titles(figure) == ["outlook?", "Yes", "wind?", "No", "Yes", "humidity?", "No", "Yes"]
    words = [answer.text for answer in answers(figure)]
    assert words[:2] == ["Overcast", "Rain or anything else"]
    assert sorted(words[2:]) == ["High or anything else", "Normal", "Strong", "Sunny", "Weak or anything else"]
    assert len(figure.layout.shapes) == 7


def test_streams_are_as_wide_as_the_weight_of_their_rows():
    widths = [shape.line.width for shape in plots.tree(tennis_tree()).layout.shapes]
    rows = np.array([4, 5, 2, 3, 5, 3, 2])
    assert widths == pytest.approx(THINNEST + (THICKEST - THINNEST) * rows / 14)


def test_a_box_knows_its_rows_on_hover():
    root, overcast, *_ = boxes(plots.tree(tennis_tree()))
    assert root.hovertext.split("<br>") == [
        "<b>all rows</b>",
        "rows: 14",
        "weight: 100 %",
        "Yes: 64.3 %",
        "No: 35.7 %",
        "entropy: 0.9403",
        "leaves below: 5",
    ]
    assert overcast.hovertext.startswith("<b>outlook is Overcast</b><br>rows: 4<br>weight: 28.6 %<br>Yes: 100 %")


def test_the_colour_is_that_of_the_class_and_paler_where_classes_mix():
    found = boxes(plots.tree(tennis_tree()))
    no, yes = (blended(colour, 1.0) for colour in PALETTE[:2])
    assert [found[i].bgcolor for i in (1, 3, 4)] == [yes, no, yes]
    assert found[0].bgcolor not in (yes, no)


def test_the_colour_of_an_amount_grows_with_it():
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    colours = {box.text: box.bgcolor for box in boxes(plots.tree(model))}
    by_amount = [colours[f"<b>{said}</b><br><span style='font-size:11px'>1 row</span>"] for said in (1, 2, 4)]
    assert by_amount == [blended(ACCENT, share) for share in (0, 1 / 3, 1)]


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_leaf_nodes": 17}])
def test_no_two_boxes_are_on_top_of_each_other(options):
    found = drawn_boxes(rules(numbers_tree(**options)), 99)
    places = lines_of(found)
    lefts, rights, width = box_columns(found)
    for depth in range(len(lefts)):
        column = sorted(place for box, place in zip(found, places, strict=True) if box.depth == depth)
        assert (np.diff(column) >= 1.0).all()
        assert rights[depth] <= (lefts[depth + 1] if depth + 1 < len(lefts) else width)
    ends = [place for i, place in enumerate(places) if all(box.above != i for box in found)]
    assert ends == list(range(len(ends)))


def test_a_question_stands_in_the_middle_of_its_answers():
    found = drawn_boxes(rules(tennis_tree()), 99)
    assert lines_of(found) == [1.75, 0.0, 1.5, 1.0, 2.0, 3.5, 3.0, 4.0]
    assert plots.tree(tennis_tree()).layout.height == pytest.approx(5 * LINE_HEIGHT, abs=60)


def test_deeper_parts_are_counted():
    model = numbers_tree()
    figure = plots.tree(model, max_depth=2)
    cut = [int(title.split()[1]) for title in titles(figure) if title.startswith("…")]
    whole = [title for title in titles(figure) if title in ("True", "False")]
    assert len(cut) + len(whole) <= 4
    assert sum(cut) + len(whole) == model.get_n_leaves()


def test_a_large_tree_is_drawn_as_deep_as_can_be_seen():
    model = numbers_tree(n_rows=3000)
    figure = plots.tree(model)
    n_ends = sum(not title.endswith("?") for title in titles(figure))
    assert MOST_ENDS / 4 < n_ends <= MOST_ENDS < model.get_n_leaves()


def test_a_small_tree_is_drawn_whole():
    model = numbers_tree(max_leaf_nodes=12)
    assert len(boxes(plots.tree(model))) == model.tree_.node_count


def test_the_lightest_of_very_many_answers_are_put_together():
    n = 3 * MOST_ANSWERS
    codes = np.repeat(np.arange(n), 1 + (np.arange(n) < 10))
    table = pa.table({"id": [f"c{code:03d}" for code in codes]})
    model = DecisionTreeRegressor(categorical_split="multiway").fit(table, codes.astype(float))
    figure = plots.tree(model)
    n_others = n - MOST_ANSWERS + 1
    assert len(boxes(figure)) == 1 + MOST_ANSWERS
    assert titles(figure)[-1] == f"… {n_others} leaves"
    assert f"{n_others} other answers" in [answer.text for answer in answers(figure)]
    assert {f"c{code:03d}" for code in range(10)} < {answer.text.split()[0] for answer in answers(figure)}


def test_names_are_text_and_long_ones_are_cut():
    table = pa.table({"<br>" + 40 * "long": ["<a>" + 40 * "x", "b", "b"]})
    figure = plots.tree(DecisionTreeClassifier().fit(table, ["<=50K", "<b>", "<b>"]))
    assert titles(figure)[0].startswith("&lt;br&gt;long")
    assert titles(figure)[0].endswith("…")
    assert set(titles(figure)[1:]) == {"&lt;=50K", "&lt;b&gt;"}
    cut = next(answer for answer in answers(figure) if "…" in answer.text)
    assert cut.hovertext == "&lt;a&gt;" + 40 * "x"


def test_several_outputs_are_told_apart():
    X, y = [[0.0], [1.0], [2.0]], [["a", "x"], ["b", "y"], ["b", "x"]]
    figure = tree_figure(rules(DecisionTreeClassifier().fit(X, y)))
    assert "output 1, b: 66.7 %<br>output 1, a: 33.3 %<br>output 2, x: 66.7 %" in boxes(figure)[0].hovertext
    amounts = tree_figure(rules(DecisionTreeRegressor().fit(X, [[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])))
    assert "amount 1: 3<br>amount 2: 5" in boxes(amounts)[0].hovertext


def test_a_single_leaf_is_a_figure_too():
    figure = plots.tree(DecisionTreeClassifier().fit([[0.0], [0.0]], ["a", "a"]))
    assert titles(figure) == ["a"]
    assert len(figure.layout.shapes) == 0


def test_the_pruning_curve_marks_the_tree_that_was_chosen():
    figure = pruning_figure([0.0, 0.1, 0.2], [9, 4, 1], [0.3, 0.2, 0.4], 1, "error", ".1%")
    curve, chosen = figure.data
    assert (list(curve.x), list(curve.y), list(curve.customdata)) == ([9, 4, 1], [0.3, 0.2, 0.4], [0.0, 0.1, 0.2])
    assert (list(chosen.x), list(chosen.y), chosen.text) == ([4], [0.2], "<b>4 leaves</b>")
    assert chosen.marker.color == ACCENT


@pytest.mark.parametrize("prune", ["validation", "cost_complexity_cv"])
def test_the_chosen_tree_is_the_models(prune):
    model = numbers_tree(prune=prune)
    curve, chosen = plots.pruning(model).data
    assert list(chosen.x) == [model.get_n_leaves()]
    np.testing.assert_array_equal(np.column_stack([curve.customdata, curve.x, curve.y]), model.pruning_curve_)


def test_a_tree_that_was_not_pruned_has_no_curve():
    with pytest.raises(InputError, match="got prune=None"):
        plots.pruning(numbers_tree())
