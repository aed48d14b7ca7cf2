"""What is special to the first step of a table: kinds, dates, texts, and new tables that look different."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

import eigenwood
from eigenwood import GradientBoostingClassifier, RandomForestClassifier, TableColumns, TableEncoder
from eigenwood.data import datasets
from eigenwood.data.tables import read_table
from eigenwood.errors import InputError
from eigenwood.estimators.text import choosing
from tests.models.crafting import assert_one_sentence
from tests.naive import calendar as naive

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

TABLE = {
    "row": [1, 2, 3, 4],
    "when": ["31.12.2023 8:30", "1.3.2024 23:59", None, "15.3.2024 12:00"],
    "size": ["1,5", "2,5", None, "1,5"],
    "colour": ["red", "blue", None, "red"],
    "same": ["x"] * 4,
}
PARTS = ("year", "month", "weekday", "day", "hour")


def rows_of(columns):
    """Return a table's columns as lists, nulls as None."""
    return columns.to_pydict()


# --- dates --------------------------------------------------------------------------------------------


@every_frame
def test_dates_become_their_parts(frame):
    table = rows_of(TableColumns().fit_transform(frame(TABLE)))
    days = [19722 + 8.5 / 24, 19783 + (23 + 59 / 60) / 24, float("nan"), 19797.5]
    expected = np.array(naive.date_parts(days)).T
    for name, values in zip(PARTS, expected, strict=True):
        np.testing.assert_allclose(np.array(table[f"when: {name}"], dtype=float), values, atol=1e-9)
    assert table["when: days"] == [0.0, pytest.approx(days[1] - days[0]), None, pytest.approx(days[3] - days[0])]


@every_frame
def test_numbers_and_categories_stay_and_ids_and_constants_go(frame):
    columns = TableColumns().fit(frame(TABLE))
    assert columns.kinds_.tolist() == ["id", "date", "number", "category", "constant"]
    table = rows_of(columns.transform(frame(TABLE)))
    assert [*table] == [*(f"when: {part}" for part in (*PARTS, "days")), "size", "colour"]
    assert (table["size"], table["colour"]) == ([1.5, 2.5, None, 1.5], ["red", "blue", None, "red"])


def test_months_weekdays_and_hours_go_round():
    table = {"when": [datetime.datetime(2024, 1, 1, 0), datetime.datetime(2024, 4, 7, 6)]}
    columns = TableColumns(cyclic=True).fit(pa.table(table))
    found = rows_of(columns.transform(pa.table(table)))
    assert [*found] == columns.get_feature_names_out().tolist()
    assert found["when: sine of hour"] == pytest.approx([0.0, 1.0])
    assert found["when: cosine of weekday"] == pytest.approx([1.0, np.cos(2 * np.pi * 6 / 7)])
    assert np.hypot(found["when: sine of month"], found["when: cosine of month"]) == pytest.approx([1.0, 1.0])


def test_hours_only_where_times_vary():
    noon = pa.table({"when": [datetime.datetime(2024, 1, day, 12) for day in (1, 2)]})
    assert "when: hour" not in TableColumns().fit(noon).get_feature_names_out()


def test_dates_that_are_all_missing_and_dates_far_off():
    table = pa.table({"when": pa.array([None, None], pa.date32()), "x": [1.5, 2.5]})
    columns = TableColumns(kinds={"when": "date"}).fit(table)
    assert rows_of(columns.transform(table))["when: year"] == [None, None]
    far = rows_of(columns.transform(pa.table({"when": ["31.12.9999", "1.1.0001"], "x": [0.0, 0.0]})))
    assert far["when: year"] == [9999.0, 1.0]
    assert eigenwood.verify(columns, table).holds


def test_a_weekend_effect_is_learnt():
    rng = np.random.default_rng(0)
    days = rng.integers(17_000, 20_000, 600)
    y = np.where((days + 3) % 7 >= 5, "busy", "calm")
    frame = pd.DataFrame({"when": pd.to_datetime(days, unit="D")})
    model = make_pipeline(TableColumns(), RandomForestClassifier(20, random_state=0)).fit(frame[:400], y[:400])
    assert model.score(frame[400:], y[400:]) > 0.99


# --- texts --------------------------------------------------------------------------------------------

TEXTS = ["win a free prize now", "see you at home", "free prize inside", "at home last week, see you", None]


def test_a_missing_text_has_no_words_and_neither_have_unseen_ones():
    columns = TableColumns(kinds={"text": "text"}).fit(pa.table({"text": TEXTS}), list("shshh"))
    assert set(columns.terms_[0]) == {"at", "free", "home", "prize", "see", "you"}
    found = columns.transform(pa.table({"text": [None, "quite unseen", "FREE!"]}))
    assert {str(kind) for kind in found.schema.types} == {"float"}
    rows = np.column_stack([column.to_numpy() for column in found.columns])
    assert rows.sum(axis=1).tolist() == [0.0, 0.0, 1.0]


def test_terms_are_those_that_go_with_the_target():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    texts = [" ".join(rng.choice(["the", "of", "and", "to"], 8)) + (" rare" if label else " other") for label in y]
    table = pa.table({"text": texts})
    for target in (y.astype(str), y.astype(float), np.column_stack([y, 1 - y])):
        columns = TableColumns(kinds={"text": "text"}, max_terms=2).fit(table, target)
        assert columns.terms_ == [["other", "rare"]]
    assert set(TableColumns(kinds={"text": "text"}, max_terms=2).fit(table).terms_[0]) <= {"the", "of", "and", "to"}


def test_texts_without_words():
    table = pa.table({"text": ["!", "?!", None], "x": [1.5, 2.5, 2.5]})
    columns = TableColumns(kinds={"text": "text"}).fit(table, [0.0, 1.0, 2.0])
    assert columns.transform(table).column_names == ["x"]
    assert eigenwood.verify(columns, table, [0.0, 1.0, 2.0]).holds


def test_very_many_rows_get_fewer_terms(monkeypatch):
    monkeypatch.setattr(choosing, "MOST_VALUES", 600)
    assert (choosing.term_count(1000, 5), choosing.term_count(1000, 100), choosing.term_count(20, 5)) == (120, 50, 20)


def test_very_many_classes_are_not_all_looked_at():
    assert choosing.targets_of(np.arange(1000).astype(str)).shape == (1000, choosing.MOST_CLASSES)
    assert choosing.targets_of(np.arange(1000)).shape == (1000, 1)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "max_loss"), [("sms_spam", 0.01), ("polarity", 0.025)])
def test_texts_are_learnt_about_as_well_as_from_all_their_terms(name, max_loss):
    data = datasets.load(name)
    texts, y = np.array(data.X, dtype=object), np.asarray(data.y)
    scores = []
    for seed in range(3):
        parts = train_test_split(texts, y, test_size=0.25, random_state=seed, stratify=y)
        learn, check, y_learn, y_check = parts
        theirs = make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression(C=10, max_iter=300))
        columns = TableColumns(kinds={"text": "text"})
        ours = LogisticRegression(C=10, max_iter=300)
        ours.fit(matrix(columns.fit_transform(pa.table({"text": learn}), y_learn)), y_learn)
        score = ours.score(matrix(columns.transform(pa.table({"text": check}))), y_check)
        scores.append(theirs.fit(learn, y_learn).score(check, y_check) - score)
    assert np.mean(scores) <= max_loss


def matrix(table):
    return np.column_stack([column.to_numpy() for column in table.columns])


# --- kinds ----------------------------------------------------------------------------------------------


def test_kinds_can_be_asked_for():
    table = pa.table({"zip": ["01067", "80331", "80331"], "row": [1, 2, 3], "name": ["a", "b", "c"]})
    columns = TableColumns(kinds={"zip": "category", "row": "id", "name": "id"}).fit(table)
    assert columns.kinds_.tolist() == ["category", "number", "category"]
    assert rows_of(columns.transform(table)) == {
        "zip": ["01067", "80331", "80331"],
        "row": [1.0, 2.0, 3.0],
        "name": ["a", "b", "c"],
    }


def test_a_clean_table_with_its_kinds_gives_what_the_raw_one_gives():
    """So it goes in ``learn``: the table has been read, and the model knows how."""
    read = read_table({name: TABLE[name] for name in ("when", "size", "colour")})
    learnt = TableColumns(kinds=read.kinds(), readings=read.readings()).fit(read.frame)
    raw = pa.table({name: TABLE[name] for name in ("when", "size", "colour")})
    assert learnt.transform(raw).equals(learnt.transform(read.frame))
    assert learnt.readings_.tolist() == ["day month year", "1.234,56", ""]
    lone = raw.slice(0, 1).set_column(0, "when", pa.array(["1/3/2024"]))
    assert rows_of(learnt.transform(lone))["when: month"] == [3.0]


def test_a_part_of_a_date_is_no_other_column():
    table = pa.table({"when": [datetime.date(2024, 1, 1), datetime.date(2024, 2, 2)], "when: year": [1.5, 2.5]})
    names = TableColumns().fit(table).get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert names[-1] == "'when: year'"


@pytest.mark.parametrize(
    ("params", "table", "expected"),
    [
        ({"kinds": {"sise": "number"}}, TABLE, "column must be one of .*; got 'sise' .did you mean 'size'"),
        ({"kinds": {"colour": "number"}}, TABLE, "column 'colour' must hold numbers as its .*; got 'red' in row 1"),
        ({"readings": {"size": "1.234,56", "x": "plain"}}, TABLE, "column must be one of .*; got 'x'"),
        ({}, {"row": [1, 2, 3]}, "X must have a column to learn from; got id"),
        ({"kinds": {"x": "number"}}, [[1.0]], "X must be a frame, since kinds names columns; got list"),
        ({}, {"x": [[1], [2]]}, "column 'x' must hold numbers, strings, booleans or dates"),
        ({"kinds": {"x": "date"}}, {"x": [1.5, np.inf]}, "X must be finite or NaN; got inf .* in row 1, column 'x'"),
        ({}, {"x": np.zeros(0)}, "X must have at least 1 row"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_from_is_one_sentence(params, table, expected):
    with pytest.raises(InputError, match=f"^TableColumns: {expected}") as caught:
        TableColumns(**params).fit(pa.table(table) if isinstance(table, dict) else table)
    assert_one_sentence(str(caught.value))


def test_a_new_table_that_does_not_fit_is_one_sentence():
    columns = TableColumns().fit(pa.table(TABLE))
    wrong = pa.table({**TABLE, "size": ["1,5", "2,5", "big", None]})
    with pytest.raises(
        InputError, match=r"^TableColumns: column 'size' must hold numbers as it did in training; got 'big'"
    ):
        columns.transform(wrong)
    for other in (np.ones((2, 5)), pa.table({name: TABLE[name] for name in [*TABLE][::-1]})):
        with pytest.raises(InputError, match=r"^TableColumns: "):
            columns.transform(other)


# --- in pipelines -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def orders():
    rng = np.random.default_rng(1)
    n = 240
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(rng.integers(18_000, 19_000, n), unit="D"),
            "note": [" ".join(rng.choice(["quick", "late", "broken", "fine", "the", "was"], 5)) for _ in range(n)],
            "price": rng.normal(20.0, 5.0, n).round(2),
            "town": rng.choice(["a", "b", "c"], n),
        }
    )
    frame.loc[::17, "town"] = None
    y = np.where(frame["note"].str.contains("broken") ^ (frame["town"] == "a"), "back", "kept")
    return frame, y


@pytest.mark.parametrize("encoded", [False, True])
def test_a_pipeline_is_saved_and_answers_for_new_tables(orders, encoded, tmp_path):
    frame, y = orders
    kinds = {"note": "text"}
    steps = [
        ("encoder", TableEncoder()),
        ("model", eigenwood.KernelLogisticRegression(n_components=20, random_state=0)),
    ]
    trees = [("model", GradientBoostingClassifier(n_estimators=10, random_state=0))]
    model = Pipeline([("columns", TableColumns(kinds=kinds, cyclic=encoded)), *(steps if encoded else trees)]).fit(
        frame, y
    )
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert eigenwood.verify(loaded, frame, y).holds is not False
    assert eigenwood.verify(loaded[0], frame, y).holds
    new = pd.DataFrame(
        {"when": ["2999-12-31", None], "note": [None, "unseen"], "price": [None, 1e9], "town": ["zzz", None]}
    )
    assert set(loaded.predict(new)) <= {"back", "kept"}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_are_given_as_asked(orders, kind):
    frame, y = orders
    columns = TableColumns(kinds={"note": "text"}).set_output(transform=kind).fit(frame, y)
    found = columns.transform(frame)
    assert type(found).__module__.split(".")[0] == kind
    assert list(found.columns) == columns.get_feature_names_out().tolist()
    with pytest.raises(InputError, match="transform must be None or one of 'default', 'pandas', 'polars'; got 'arrow'"):
        columns.set_output(transform="arrow")


def test_fit_transform_is_fit_and_transform(orders):
    frame, y = orders
    for cyclic in (False, True):
        columns = TableColumns(kinds={"note": "text"}, cyclic=cyclic)
        assert columns.fit_transform(frame, y).equals(columns.fit(frame, y).transform(frame))


# --- pairs --------------------------------------------------------------------------------------------


def places(n_rows: int = 200) -> pa.Table:
    """Return a map: north and east go together, and a name."""
    rng = np.random.default_rng(0)
    north = rng.normal(size=n_rows)
    east = 5.0 - 2.0 * north + 0.5 * rng.normal(size=n_rows)
    return pa.table({"north": north, "name": rng.choice(["a", "b"], n_rows), "east": east, "height": north**2})


def test_pairs_stand_behind_the_columns():
    table = places()
    columns = TableColumns(pairs=True)
    found = columns.fit_transform(table)
    assert found.column_names == ["north", "name", "east", "height", "north + east", "north - east"]
    assert columns.get_feature_names_out().tolist() == found.column_names
    assert columns.pairs_.tolist() == [[0, 2]]
    z = [(table[name].to_numpy() - table[name].to_numpy().mean()) / table[name].to_numpy().std() for name in
         ("north", "east")]  # fmt: skip
    assert found["north - east"].to_numpy() == pytest.approx(z[0] - z[1])
    assert columns.transform(table.slice(3, 2)).equals(found.slice(3, 2))
    assert eigenwood.verify(columns, table).holds


def test_pairs_of_an_array_and_none_at_all():
    table = places()
    X = np.column_stack([table[name].to_numpy() for name in ("north", "east", "height")])
    columns = TableColumns(pairs=True).fit(X)
    assert columns.transform(X).shape == (200, 5)
    assert columns.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x0 + x1", "x0 - x1"]
    assert TableColumns(pairs=True).fit_transform(X[:, [0, 2]]).shape == (200, 2)


def test_changed_pairs_are_noticed(tmp_path):
    table = places()
    for name in ("pair_means_", "pair_scales_"):
        columns = TableColumns(pairs=True).fit(table)
        setattr(columns, name, getattr(columns, name) * 1.01)
        assert not eigenwood.verify(columns, table).holds
    columns = TableColumns(pairs=True).fit(table)
    columns.pairs_ = columns.pairs_ * 0 + [0, 3]
    assert not eigenwood.verify(columns, table).holds
    columns.pairs_ = np.array([[0, 1]])  # a name is no number
    with pytest.raises(InputError, match="pairs_ must hold two different columns of numbers in order"):
        eigenwood.load(eigenwood.save(columns, tmp_path / "model.safetensors"))
