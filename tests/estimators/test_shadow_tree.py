"""dtreeviz draws our trees with their categories: its answers are the tree's, and the words stand in the pictures."""

from __future__ import annotations

import logging
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, plots
from eigenwood.errors import InputError, MissingExtraError

matplotlib = pytest.importorskip("matplotlib")
dtreeviz = pytest.importorskip("dtreeviz")
matplotlib.use("Agg")
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
FONT = "DejaVu Sans"
N_ROWS = 200


def table():
    """People with a job, some of them missing, an age, and one of three towns with numbers."""
    rng = np.random.default_rng(1)
    job = rng.choice(["clerk", "farmer", "pilot", None], size=N_ROWS)
    town, age = rng.choice([3.0, 70.0, 1000.0], size=N_ROWS), rng.normal(40, 10, size=N_ROWS)
    return pd.DataFrame({"job": job, "age": age, "town": town})


def targets(X):
    """Classes and numbers that follow from all three columns."""
    at_home = X["job"].isin(["clerk"]) | X["job"].isna()
    rich = np.where(at_home, X["town"] == 70, X["age"] > 40)
    noise = np.random.default_rng(2).normal(size=len(X))
    return np.where(rich, "rich", "poor"), 10.0 * at_home + 3.0 * (X["age"] > 40) + 5.0 * (X["town"] == 70) + noise


def jobs_and_towns():
    return table(), ["job", "town"]


def category_dtype():
    X = table()
    return X.assign(job=X["job"].astype("category"), town=X["town"].astype("category")), "from_dtype"


def numbers_in_an_array():
    X = table()
    return X.assign(job=X["job"].map({"clerk": 1.0, "farmer": 2.0, "pilot": 30.0})).to_numpy(), [0, 2]


@pytest.fixture(params=[jobs_and_towns, category_dtype, numbers_in_an_array], ids=lambda kind: kind.__name__)
def categories(request):
    return request.param


@pytest.fixture(params=["subset", "multiway"])
def split(request):
    return request.param


@pytest.fixture(params=[DecisionTreeClassifier, DecisionTreeRegressor], ids=["classes", "numbers"])
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def pyplot():
    """Matplotlib, which writes words as words, not as curves, and shows nothing."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        yield pyplot
    pyplot.close("all")


def drawn(kind, categories=jobs_and_towns, split="subset", max_depth=2, **options):
    """Return a fitted tree, its table, and dtreeviz's drawings of both."""
    X, named = categories()
    y = targets(table())[kind is DecisionTreeRegressor]
    options = {"max_depth": max_depth, "categorical_split": split, **options}
    model = kind(random_state=0, categorical_features=named, **options).fit(X, y)
    drawings = plots.dtreeviz(model, X, y, feature_names=["job", "age", "town"], target_name="wealth")
    return SimpleNamespace(model=model, X=X, y=y, drawings=drawings, shadow=drawings.shadow_tree)


def questions(shadow):
    """Return the nodes that ask about categories."""
    found = [node for node in shadow.internal if node.is_categorical_split()]
    assert found
    return found


def row(X, i):
    return X.iloc[i] if isinstance(X, pd.DataFrame) else X[i]


def words_in(picture):
    """Return what is written in the pictures of the questions, which ``dot`` would put together."""
    files = re.findall(r'img src="([^"]*node\d+_[^"]*)"', picture.dot)
    assert files
    return set(re.findall(r">([^<>]+)</text>", "".join(Path(file).read_text(encoding="utf-8") for file in files)))


# ---------------------------------------------------------------------------------- answers


def test_every_row_goes_where_the_model_sends_it(kind, categories, split):
    seen = drawn(kind, categories, split)
    leaves = seen.model.apply(seen.X)
    for i in range(N_ROWS):
        assert seen.shadow.predict_path(seen.shadow.X_train[i])[-1].id == leaves[i]
        assert seen.shadow.row(row(seen.X, i)) == seen.shadow.X_train[i].tolist()
    for node in seen.shadow.internal + seen.shadow.leaves:
        assert node.nsamples() == seen.model.tree_.n_node_samples[node.id]


def test_the_words_of_a_split_are_those_that_go_left(kind, categories, split):
    shadow = drawn(kind, categories, split).shadow
    for node in questions(shadow):
        _, *left = node.split()
        values = shadow.X_train[node.samples(), node.feature()]
        assert np.array(node.samples())[np.isin(values, left)].tolist() == node.left.samples()
        for side, child in zip(node.split_samples(), (node.left, node.right), strict=True):
            assert np.array(node.samples())[side].tolist() == child.samples()


def test_a_question_about_numbers_is_split_at_its_threshold(kind):
    shadow = drawn(kind, max_depth=3).shadow
    numbers = [node for node in shadow.internal if not node.is_categorical_split()]
    assert numbers
    for node in numbers:
        ages = shadow.X_train[:, 1].astype(float)
        assert ages[node.left.samples()].max() <= node.split() < ages[node.right.samples()].min()
        assert [side.size for side in node.split_samples()] == [node.left.nsamples(), node.right.nsamples()]


@pytest.mark.parametrize(("left", "text"), [(["red"], "{red}"), (["blue", "<b>"], "not {red}")])
def test_what_is_written_of_a_split_is_what_goes_left(left, text):
    """The first class goes left; the lighter side is listed."""
    X = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 3 + ["<b>"] * 4})
    y = ~X["colour"].isin(left)
    shadow = plots.dtreeviz(DecisionTreeClassifier().fit(X, y), X, y).shadow_tree
    assert shadow.root.split()[0] == text
    assert set(shadow.root.split()[1:]) == set(left)
    assert shadow.get_root_edge_labels() == [text, "not {red}" if text == "{red}" else "{red}"]
    assert shadow.get_thresholds()[0] == ["red"]


def test_words_are_escaped_where_dot_reads_them_as_html():
    X = pd.DataFrame({"size": ["<5"] * 2 + ["R&D"] * 3})
    y = X["size"] == "R&D"
    view = plots.dtreeviz(DecisionTreeClassifier().fit(X, y), X, y).view(fancy=False, fontname=FONT)
    assert "size@{&lt;5}" in view.dot


def test_classes_may_be_called_anything(split):
    seen = drawn(DecisionTreeClassifier, split=split, class_weight={"poor": 3.0, "rich": 1.0})
    assert list(seen.shadow.class_names.values()) == ["poor", "rich"]
    assert seen.shadow.y_train.tolist() == (seen.y == "rich").astype(int).tolist()
    assert seen.shadow.root.class_counts().tolist() == [(seen.y == "poor").sum(), (seen.y == "rich").sum()]
    assert seen.shadow.get_score() == seen.model.score(seen.X, seen.y)
    said = [node.prediction_name() for node in (seen.shadow.predict_path(x)[-1] for x in seen.shadow.X_train)]
    assert said == seen.model.predict(seen.X).tolist()


def test_numbers_of_leaves_are_predictions():
    seen = drawn(DecisionTreeRegressor)
    np.testing.assert_array_equal([seen.shadow.predict(x) for x in seen.shadow.X_train], seen.model.predict(seen.X))


def test_a_tree_of_numbers_is_drawn_as_dtreeviz_draws_it(kind):
    X = table()[["age", "town"]]
    y = targets(table())[1] if kind is DecisionTreeRegressor else (targets(table())[0] == "rich").astype(int)
    model = kind(max_depth=2, random_state=0).fit(X.to_numpy(), y)
    plain = dtreeviz.model(model, X, y, feature_names=["age", "town"], target_name="y", class_names=["0", "1"])
    ours = plots.dtreeviz(model, X.to_numpy(), y, feature_names=["age", "town"])
    for fancy in (False, True):
        assert ours.view(fontname=FONT, fancy=fancy).dot == plain.view(fontname=FONT, fancy=fancy).dot


def test_a_pipeline_is_seen_by_its_tree():
    X, y = table()[["job", "age"]], targets(table())[0]
    pipeline = make_pipeline(FunctionTransformer(lambda X: X.iloc[:, :1]), DecisionTreeClassifier()).fit(X, y)
    assert plots.dtreeviz(pipeline, X, y).shadow_tree.feature_names == ["job"]


def test_words_that_are_taken_are_not_used_for_what_is_missing():
    X = pd.DataFrame({"state": ["missing", None, "missing", "known"] * 5})
    y = X["state"].isna()
    shadow = plots.dtreeviz(DecisionTreeClassifier().fit(X, y), X, y).shadow_tree
    assert shadow.X_train[:4, 0].tolist() == ["missing", "(missing)", "missing", "known"]
    assert [node.id for node in shadow.predict_path(shadow.row([None]))] != [
        node.id for node in shadow.predict_path(shadow.row(["missing"]))
    ]


# ---------------------------------------------------------------------------------- pictures


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("histtype", ["barstacked", "bar", "strip"])
def test_view_draws_bars_and_points(histtype):
    seen = drawn(DecisionTreeClassifier)
    marked = {word for node in questions(seen.shadow) for word in node.split()[1:]}
    assert len(marked) >= 4
    assert marked <= words_in(seen.drawings.view(histtype=histtype, fontname=FONT))


@pytest.mark.filterwarnings("ignore")
def test_view_names_the_categories(kind, categories, split):
    seen = drawn(kind, categories, split)
    words = words_in(seen.drawings.view(fontname=FONT))
    asked = {node.feature_name() for node in questions(seen.shadow)}
    assert asked < words
    for node in questions(seen.shadow):
        in_node = set(seen.shadow.X_train[node.samples(), node.feature()])
        assert words & in_node & set(node.split()[1:])


@pytest.mark.filterwarnings("ignore")
def test_view_of_numbers_names_every_category():
    seen = drawn(DecisionTreeRegressor)
    assert {"clerk", "farmer", "pilot", "missing", "3", "70", "1000"} < words_in(seen.drawings.view(fontname=FONT))


def test_a_plain_view_writes_every_question(kind, categories, split):
    seen = drawn(kind, categories, split)
    dot = seen.drawings.view(fancy=False, fontname=FONT).dot
    for node in questions(seen.shadow):
        assert f">{node.feature_name()}@{node.split()[0]}<" in dot
    assert ("&le;" in dot) != seen.shadow.root.is_categorical_split()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"fancy": False}, {"show_just_path": True}], ids=str)
def test_view_shows_the_way_of_a_row(kind, categories, options):
    seen = drawn(kind, categories)
    missing = int(np.flatnonzero(pd.isna(table()["job"]))[0])
    for i in (missing, missing + 1)[: 2 if "fancy" in options else 1]:  # pictures take their time
        dot = seen.drawings.view(x=row(seen.X, i), fontname=FONT, **options).dot
        assert re.search(r"leaf(\d+) -> X_y", dot)[1] == str(seen.model.apply(seen.X)[i])
        assert f">{seen.shadow.X_train[i, 0]}</font>" in dot


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(shutil.which("dot") is None, reason="the program dot, of graphviz, is not installed")
def test_the_whole_picture(kind, split):
    seen = drawn(kind, split=split)
    svg = seen.drawings.view(fontname=FONT).svg()
    assert svg.startswith(("<?xml", "<svg"))
    assert svg.count(">job</") == sum(node.feature_name() == "job" for node in seen.shadow.internal)


def test_the_way_of_a_row_is_explained(kind, categories, split):
    seen = drawn(kind, categories, split)
    for i in range(0, N_ROWS, 10):
        told = seen.drawings.explain_prediction_path(row(seen.X, i))
        for node in seen.shadow.predict_path(seen.shadow.X_train[i])[:-1]:
            if node.is_categorical_split():
                value = seen.shadow.X_train[i, node.feature()]
                listed = seen.shadow.get_thresholds()[node.id]
                said, unsaid = re.search(
                    rf"^{node.feature_name()}( in {{.*?}})?( not in {{.*?}})?", told, re.M
                ).groups()
                assert repr(listed[0]) in (said if value in listed else unsaid)


def test_a_category_that_was_never_seen_takes_the_heavier_branch(kind):
    seen = drawn(kind, split="multiway")
    stranger = seen.X.iloc[[0]].assign(job="poet")
    x = stranger.iloc[0]
    assert seen.shadow.row(x)[0] == "anything else"
    assert seen.shadow.predict_path(seen.shadow.row(x))[-1].id == seen.model.apply(stranger)[0]
    assert "job not in" in seen.drawings.explain_prediction_path(x)
    assert "anything else" in seen.drawings.view(x=x, fancy=False, fontname=FONT).dot
    with pytest.raises(InputError, match="among the drawn rows, or use fancy=False; got 'anything else' in 'job'"):
        seen.drawings.view(x=x, fontname=FONT)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "drawing"),
    [
        (DecisionTreeClassifier, "ctree_leaf_distributions"),
        (DecisionTreeClassifier, "leaf_sizes"),
        (DecisionTreeClassifier, "leaf_purity"),
        (DecisionTreeRegressor, "rtree_leaf_distributions"),
        (DecisionTreeRegressor, "leaf_sizes"),
    ],
)
def test_leaves_are_drawn(kind, drawing, split, pyplot, monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda: None)
    seen = drawn(kind, split=split)
    getattr(seen.drawings, drawing)(fontname=FONT)
    assert pyplot.gcf().axes[0].has_data()
    ids, sizes = seen.shadow.get_leaf_sample_counts()
    found, counts = np.unique(seen.model.apply(seen.X), return_counts=True)
    assert sorted(zip(ids, sizes, strict=True)) == list(zip(found, counts, strict=True))


@pytest.mark.parametrize(
    ("kind", "drawing"),
    [
        (DecisionTreeClassifier, "ctree_feature_space"),
        (DecisionTreeRegressor, "rtree_feature_space"),
        (DecisionTreeRegressor, "rtree_feature_space3D"),
    ],
)
def test_regions_are_drawn_of_columns_of_numbers(kind, drawing, pyplot):
    X = table().assign(height=np.random.default_rng(3).normal(size=N_ROWS))
    y = targets(X)[kind is DecisionTreeRegressor]
    draw = getattr(plots.dtreeviz(kind(max_depth=3, categorical_features=["job", "town"]).fit(X, y), X, y), drawing)
    for options in ({}, {"features": ["age", "height"]}):
        draw(fontname=FONT, **options)
        assert (pyplot.gca().get_xlabel(), pyplot.gca().get_ylabel()) == ("age", "height")
    with pytest.raises(InputError, match="features must be columns of numbers to be axes; got .'town', 'age'."):
        draw(features=["town", "age"])


def test_features_on_the_way_of_a_row_are_drawn(kind, pyplot, monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda: None)
    seen = drawn(kind)
    seen.drawings.instance_feature_importance(seen.X.iloc[0], fontname=FONT)
    assert {label.get_text() for label in pyplot.gca().get_yticklabels()} == {"job", "age", "town"}


def test_rows_of_a_node_are_described_in_words(capsys):
    drawn(DecisionTreeClassifier).drawings.node_stats(0)
    most = table()["job"].fillna("missing").value_counts().index[0]
    assert most in capsys.readouterr().out


# ---------------------------------------------------------------------------------- what cannot be drawn


def test_missing_numbers_are_refused():
    X, y = table(), targets(table())[0]
    X.loc[0, "age"] = np.nan
    with pytest.raises(InputError, match="plots.dtreeviz: X must have no missing numbers"):
        plots.dtreeviz(DecisionTreeClassifier().fit(X, y), X, y)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"feature_names": ["job"]}, "feature_names must have one for each of 3 columns; got 1"),
        ({"class_names": ["poor"]}, "class_names must have one for each of 2 classes; got 1"),
    ],
)
def test_names_are_counted(options, sentence):
    seen = drawn(DecisionTreeClassifier)
    with pytest.raises(InputError, match=sentence):
        plots.dtreeviz(seen.model, seen.X, seen.y, **options)


def test_a_row_must_have_all_columns(kind):
    with pytest.raises(InputError, match="x must be a row of 3 values; got 2"):
        drawn(kind).drawings.explain_prediction_path(["clerk", 30.0])


def test_several_outputs_are_refused():
    X, (_, numbers) = table(), targets(table())
    model = DecisionTreeRegressor(max_depth=2).fit(X, np.column_stack([numbers, numbers]))
    with pytest.raises(InputError, match="must have 1 output; got 2"):
        plots.dtreeviz(model, X, np.column_stack([numbers, numbers]))


def test_a_single_class_is_refused():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [7, 7])
    with pytest.raises(InputError, match="must have at least 2 classes; got 1"):
        plots.dtreeviz(model, [[0.0], [1.0]], [7, 7])


def test_only_trees_are_drawn():
    with pytest.raises(InputError, match="plots.dtreeviz: the model must be a DecisionTreeClassifier"):
        plots.dtreeviz(FunctionTransformer(), [[0.0]], [0])


def test_without_dtreeviz_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.delitem(sys.modules, "eigenwood.estimators.tree.shadow_tree", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "dtreeviz"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match="pip install dtreeviz"):
        plots.dtreeviz(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]), [[0.0], [1.0]], [0, 1])
