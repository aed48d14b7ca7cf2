"""Rules of a tree: they select the rows of their leaves, are written in the table's words, and print well."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import eigenwood
from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, Perceptron, rules
from eigenwood.data import datasets
from eigenwood.errors import InputError
from eigenwood.estimators.rules import MOST_SHOWN, Interval, OneOf
from tests.models.crafting import assert_one_sentence

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def tennis():
    days = datasets.load("play_tennis").table().frame
    return days.drop_columns(["day", "play_tennis"]), days["play_tennis"].to_pylist()


def tennis_tree():
    return DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", random_state=0).fit(*tennis())


def a_table(seed, n_rows=240):
    """Numbers and categories, some of both missing."""
    rng = np.random.default_rng(seed)
    age, size = rng.normal(40, 12, n_rows).round(1), rng.integers(0, 8, n_rows)
    job, town = rng.choice(list("abcdefgh"), n_rows), rng.choice(["north", "south", "west"], n_rows)
    holes = rng.random((2, n_rows)) < 0.15
    table = {
        "age": [None if hole else float(a) for a, hole in zip(age, holes[0], strict=True)],
        "size": size.astype(float).tolist(),
        "job": job.tolist(),
        "town": [None if hole else str(t) for t, hole in zip(town, holes[1], strict=True)],
    }
    score = (age > 40) + (size % 3) + np.isin(job, ["b", "e", "g"]) + 2.0 * holes[0] + rng.normal(0, 0.5, n_rows)
    return table, score


def as_frame(table):
    return pa.table(table)


def fulfils(value, condition):
    """Return whether a value fulfils a condition, as a reader would decide it."""
    if isinstance(condition, OneOf):
        return value in condition.labels or (condition.others and value not in condition.excluded)
    if value is None or math.isnan(value):
        return condition.missing
    return condition.above < value <= condition.up_to


def leaves_by_hand(found, table):
    """Return for each row the leaves whose rules it fulfils."""
    n_rows = len(next(iter(table.values())))
    return [
        [rule.leaf for rule in found if all(fulfils(table[c.column][i], c) for c in rule.conditions)]
        for i in range(n_rows)
    ]


MODELS = {
    "classes": lambda y: (DecisionTreeClassifier(random_state=0), np.digitize(y, [1, 2, 3])),
    "two classes": lambda y: (DecisionTreeClassifier(random_state=0, min_samples_leaf=4), y > 2),
    "multiway": lambda y: (
        DecisionTreeClassifier(categorical_split="multiway", random_state=0),
        np.digitize(y, [1, 2, 3]).astype(str),
    ),
    "random": lambda y: (DecisionTreeClassifier(splitter="random", random_state=0), y > 2),
    "best first": lambda y: (DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), y > 2),
    "outputs": lambda y: (
        DecisionTreeClassifier(max_depth=5, random_state=0),
        np.column_stack([y > 2, np.digitize(y, [1, 3])]),
    ),
    "amounts": lambda y: (DecisionTreeRegressor(min_samples_leaf=3, random_state=0), y),
    "multiway amounts": lambda y: (DecisionTreeRegressor(categorical_split="multiway", random_state=0), y),
    "two amounts": lambda y: (DecisionTreeRegressor(max_depth=6, random_state=0), np.column_stack([y, -(y**2)])),
}
every_model = pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)


@every_model
@pytest.mark.parametrize("seed", range(2))
def test_each_row_of_the_training_fulfils_the_rule_of_its_leaf_and_no_other(case, seed):
    table, score = a_table(seed)
    model, y = case(score)
    found = rules(model.fit(as_frame(table), y))
    by_hand = leaves_by_hand(found, table)
    assert [len(leaves) for leaves in by_hand] == [1] * len(score)
    np.testing.assert_array_equal(np.ravel(by_hand), model.apply(as_frame(table)))
    assert [rule.n_rows for rule in found] == [np.ravel(by_hand).tolist().count(rule.leaf) for rule in found]


@every_model
def test_new_rows_too_with_categories_never_seen_and_holes_where_none_were(case):
    table, score = a_table(0)
    model, y = case(score)
    found = rules(model.fit(as_frame(table), y))
    fresh, _ = a_table(7)
    fresh["job"] = ["zebra" if i % 3 == 0 else None if i % 3 == 1 else job for i, job in enumerate(fresh["job"])]
    fresh["town"] = ["nowhere" if i % 5 == 0 else town for i, town in enumerate(fresh["town"])]
    fresh["size"] = [None if i % 4 == 0 else size for i, size in enumerate(fresh["size"])]
    by_hand = leaves_by_hand(found, fresh)
    assert [len(leaves) for leaves in by_hand] == [1] * len(score)
    np.testing.assert_array_equal(np.ravel(by_hand), model.apply(as_frame(fresh)))


@every_model
def test_a_rule_says_what_the_model_predicts(case):
    table, score = a_table(1)
    model, y = case(score)
    found = rules(model.fit(as_frame(table), y))
    by_leaf = {rule.leaf: rule for rule in found}
    leaves, said = model.apply(as_frame(table)), model.predict(as_frame(table))
    for leaf, prediction in zip(leaves, said, strict=True):
        np.testing.assert_array_equal(by_leaf[leaf].prediction, prediction)
    if isinstance(model, DecisionTreeRegressor):
        assert {rule.share for rule in found} == {None}
    else:
        shares = model.predict_proba(as_frame(table))
        largest = np.column_stack([part.max(axis=1) for part in (shares if model.n_outputs_ > 1 else [shares])])
        for leaf, share in zip(leaves, largest, strict=True):
            np.testing.assert_array_equal(np.ravel(by_leaf[leaf].share), share)


@every_model
def test_every_column_is_named_once_in_a_rule(case):
    table, score = a_table(2)
    model, y = case(score)
    for rule in rules(model.fit(as_frame(table), y)):
        columns = [condition.column for condition in rule.conditions]
        assert len(columns) == len(set(columns))


def test_weights_are_shares_of_the_whole():
    table, score = a_table(3)
    weights = np.random.default_rng(0).random(len(score))
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(as_frame(table), score > 2, sample_weight=weights)
    found, leaves = rules(model), model.apply(as_frame(table))
    for rule in found:
        assert rule.weight_share == pytest.approx(weights[leaves == rule.leaf].sum() / weights.sum())
    assert sum(rule.weight_share for rule in found) == pytest.approx(1.0)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_five_rules_of_the_deck(frame):
    days, y = tennis()
    model = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway", random_state=0)
    found = rules(model.fit(frame(days.to_pydict()), y))
    plain = [
        ({c.column: c.labels for c in rule.conditions}, rule.prediction, rule.share, rule.n_rows) for rule in found
    ]
    assert plain == [
        ({"outlook": ("Overcast",)}, "Yes", 1.0, 4),
        ({"outlook": ("Rain",), "wind": ("Strong",)}, "No", 1.0, 2),
        ({"outlook": ("Rain",), "wind": ("Weak",)}, "Yes", 1.0, 3),
        ({"outlook": ("Sunny",), "humidity": ("High",)}, "No", 1.0, 3),
        ({"outlook": ("Sunny",), "humidity": ("Normal",)}, "Yes", 1.0, 2),
    ]


def test_a_question_with_several_answers_is_one_question():
    assert rules(tennis_tree()).tree().splitlines() == [
        "outlook?",
        "├─ Overcast → Yes (100 % of 4 rows)",
        "├─ Rain or anything else: wind?",
        "│  ├─ Strong → No (100 % of 2 rows)",
        "│  └─ Weak or anything else → Yes (100 % of 3 rows)",
        "└─ Sunny: humidity?",
        "   ├─ High or anything else → No (100 % of 3 rows)",
        "   └─ Normal → Yes (100 % of 2 rows)",
    ]


def test_a_tree_can_be_cut_for_reading():
    found = rules(tennis_tree())
    assert found.tree(0) == "… 5 leaves"
    assert found.tree(1).splitlines()[2:] == ["├─ Rain or anything else: … 2 leaves", "└─ Sunny: … 2 leaves"]
    assert found.tree(99) == found.tree()


def test_the_tree_has_a_line_for_each_question_and_leaf():
    table, score = a_table(4)
    model = DecisionTreeRegressor(random_state=0).fit(as_frame(table), score)
    found = rules(model)
    assert len(found.tree().splitlines()) == len(found.branches) == model.tree_.node_count
    assert found.tree().count("→") == len(found) == model.get_n_leaves()
    assert found.branches[0].n_leaves == len(found)
    assert max(branch.depth for branch in found.branches) == model.get_depth()


def test_bounds_on_one_column_become_an_interval():
    X, y = np.arange(8.0)[:, None], [0, 0, 1, 1, 1, 2, 2, 2]
    assert [rule.condition() for rule in rules(DecisionTreeClassifier().fit(X, y))] == [
        "x[0] ≤ 1.5",
        "1.5 < x[0] ≤ 4.5",
        "x[0] > 4.5",
    ]


def test_missing_numbers_are_named_where_they_go():
    table = {"age": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, None]}
    found = rules(DecisionTreeClassifier(random_state=0).fit(as_frame(table), [1, 1, 0, 0, 0, 0, 1]))
    assert [rule.condition() for rule in found] == ["age ≤ 2.5 or missing", "age > 2.5"]
    assert found.tree().splitlines()[1] == "├─ ≤ 2.5 or missing → 1 (100 % of 3 rows)"


def test_missing_numbers_can_have_a_leaf_of_their_own():
    table = {"age": [1.0, 2.0, 3.0, None, None]}
    found = rules(DecisionTreeClassifier(random_state=0).fit(as_frame(table), [1, 1, 1, 0, 0]))
    assert [rule.condition() for rule in found] == ["age is not missing", "age is missing"]
    assert [rule.conditions[0].missing for rule in found] == [False, True]
    assert found.tree().splitlines()[1:] == ["├─ not missing → 1 (100 % of 3 rows)", "└─ missing → 0 (100 % of 2 rows)"]


def test_nothing_is_said_of_missing_numbers_where_none_were_but_the_data_knows():
    found = rules(DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1]))
    assert [rule.condition() for rule in found] == ["x[0] ≤ 0.5", "x[0] > 0.5"]
    assert [rule.conditions[0].missing for rule in found] == [False, True]


def test_a_missing_category_is_a_category():
    table = {"job": ["a", "a", "b", None, None, None]}
    model = DecisionTreeClassifier(categorical_split="multiway", random_state=0)
    found = rules(model.fit(as_frame(table), [0, 0, 1, 2, 2, 2]))
    assert [rule.condition() for rule in found] == ["job is a", "job is b", "job is missing or anything else"]
    assert [rule.conditions[0].missing for rule in found] == [False, False, True]


def test_a_missing_category_that_was_never_seen_goes_with_the_unseen():
    found = rules(DecisionTreeClassifier().fit(as_frame({"job": ["a", "b", "b"]}), [0, 1, 1]))
    assert {rule.conditions[0].labels: rule.conditions[0].missing for rule in found} == {("a",): False, ("b",): True}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (OneOf("c", ("a",), ("b", "d"), others=False), "c is a"),
        (OneOf("c", ("a", "b"), ("d",), others=False), "c is a or b"),
        (OneOf("c", ("a", "b", None), ("d",), others=False), "c is a, b or missing"),
        (OneOf("c", ("a",), ("b", "d")), "c is a or anything else"),
        (OneOf("c", ("a", "b"), ("d",)), "c is not d"),
        (OneOf("c", ("a", "b", "d"), ("e", None)), "c is neither e nor missing"),
        (OneOf("c", ("a or b", "", "missing", 1.0), ("d",), others=False), "c is 'a or b', '', 'missing' or 1"),
        (OneOf("c", (), ("a", "b")), "c is anything else"),
        (OneOf("c", tuple("abcdefghijklmnop"), (), others=False), "c is a, b, c, d, e, f, g, h, i, j, k, l or 4 more"),
        (Interval("n", above=1.0), "n > 1"),
        (Interval("n", up_to=-0.5, missing=True), "n ≤ -0.5"),
        (Interval("n", up_to=-0.5, missing=True, says_missing=True), "n ≤ -0.5 or missing"),
        (Interval("n", above=1e-9, up_to=123456789.5, missing=False, says_missing=True), "1e-09 < n ≤ 123456790"),
    ],
)
def test_words(condition, words):
    assert str(condition) == words


def test_thresholds_have_as_many_digits_as_tell_them_apart():
    X = 1e6 + np.arange(4.0)[:, None] * 1e-3
    conditions = [rule.condition() for rule in rules(DecisionTreeRegressor().fit(X, [0, 1, 0, 1]))]
    assert len(set(conditions)) == 4
    assert "x[0] ≤ 1000000.0005" in conditions


def test_a_threshold_between_whole_numbers_is_not_rounded_to_one_of_them():
    X = np.array([[12345677.0], [12345678.0], [12345679.0]])
    found = rules(DecisionTreeClassifier().fit(X, [0, 0, 1]))
    assert [rule.condition() for rule in found] == ["x[0] ≤ 12345678.5", "x[0] > 12345678.5"]


def test_a_tree_without_questions_has_one_rule():
    found = rules(DecisionTreeClassifier().fit([[0.0], [0.0]], ["a", "a"]))
    assert str(found[0]) == "always → a (100 % of 2 rows)"
    assert found.tree() == "→ a (100 % of 2 rows)"
    assert "always" in str(found)


def test_it_prints_as_a_table_and_is_a_sequence():
    found = rules(tennis_tree())
    lines = str(found).splitlines()
    assert repr(found) == str(found)
    assert lines[0].split() == ["if", "then", "share", "rows", "weight"]
    assert lines[1].split("   ")[0] == "outlook is Overcast"
    assert lines[1].split()[-6:] == ["Yes", "100", "%", "4", "28.6", "%"]
    assert len(lines) == 1 + len(found) == 6
    assert list(found) == [found[i] for i in range(5)]
    assert found[-1] in found
    assert len(found[:2]) == 2


def test_amounts_show_their_spread():
    found = rules(DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 7.0]))
    assert str(found).splitlines()[0].split("  ")[0] == "if"
    assert "squared error" in str(found)
    assert [(rule.prediction, rule.impurity, rule.share) for rule in found] == [(1.0, 0.0, None), (6.0, 1.0, None)]
    assert str(found[1]) == "x[0] > 1.5 → 6 (2 rows)"


def test_several_outputs_stand_side_by_side():
    X, y = [[0.0], [1.0], [2.0]], [["a", "x"], ["b", "y"], ["b", "y"]]
    found = rules(DecisionTreeClassifier().fit(X, y))
    assert [str(rule) for rule in found] == [
        "x[0] ≤ 0.5 → a, x (100 %, 100 % of 1 row)",
        "x[0] > 0.5 → b, y (100 %, 100 % of 2 rows)",
    ]
    assert found[0].prediction == ("a", "x")


def test_notebooks_show_names_as_they_are():
    table = {"<b>": ["<=50K", "[red]", "[red]"]}
    found = rules(DecisionTreeClassifier().fit(as_frame(table), ["<i>", ">50K", ">50K"]))
    page = found._repr_html_()
    assert "&lt;b&gt; is &lt;=50K" in page
    assert "<i>" not in page
    assert "[red]" in str(found)


def test_of_very_many_rules_the_heaviest_are_printed():
    n = 2 * (MOST_SHOWN + 50)
    X = np.repeat(np.arange(n), 1 + np.arange(n) % 2)[:, None]
    found = rules(DecisionTreeRegressor().fit(X, X[:, 0] ** 2))
    assert len(found) == n
    printed = str(found).splitlines()
    assert len(printed) == MOST_SHOWN + 2
    assert printed[-1] == f"… and {n - MOST_SHOWN} lighter rules"
    assert all(" 2 " in line for line in printed[1:-1])
    assert f"{n - MOST_SHOWN} lighter rules" in found._repr_html_()


def test_a_question_with_very_many_answers_is_no_trouble():
    """Each answer knows its own category and not all the others: those would be a hundred million."""
    n_categories = 10_000
    X = np.repeat(np.arange(n_categories, dtype=float), 2)[:, None]
    model = DecisionTreeClassifier(categorical_split="multiway", categorical_features=[0])
    found = rules(model.fit(X, X[:, 0] % 2))
    assert len(found) == n_categories
    assert sum(len(rule.conditions[0].labels) for rule in found) == n_categories
    unseen = [rule for rule in found if rule.conditions[0].others]
    assert len(unseen) == 1
    assert len(unseen[0].conditions[0].excluded) == n_categories - 1
    assert sum(len(rule.conditions[0].excluded) for rule in found) == n_categories - 1


def test_a_very_deep_tree_is_no_trouble():
    model = DecisionTreeClassifier().fit(np.arange(1500.0)[:, None], np.arange(1500) % 2)
    assert model.get_depth() > 1000
    found = rules(model)
    assert len(found) == model.get_n_leaves()
    assert len(found.tree().splitlines()) == len(found.branches)


def test_a_saved_model_has_the_same_rules(tmp_path):
    table, score = a_table(5)
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(as_frame(table), score > 2)
    eigenwood.save(model, tmp_path / "model.safetensors")
    assert str(rules(eigenwood.load(tmp_path / "model.safetensors"))) == str(rules(model))


def test_a_pipeline_that_ends_in_a_tree_has_rules():
    days, y = tennis()
    pipeline = make_pipeline(tennis_tree()).fit(days, y)
    assert str(rules(pipeline)) == str(rules(tennis_tree()))


def test_what_is_no_tree_is_refused():
    with pytest.raises(InputError) as caught:
        rules(Perceptron())
    assert_one_sentence(str(caught.value))
    assert str(caught.value).endswith("got Perceptron.")
    with pytest.raises(NotFittedError):
        rules(DecisionTreeClassifier())
