"""What is special to the table encoder: categories, holes, columns that change, and tables of any size."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import eigenwood
from eigenwood import TableEncoder
from eigenwood.errors import InputError
from tests.models.crafting import assert_one_sentence

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

PEOPLE = {"age": [20.0, None, 60.0, 31.0], "sex": ["f", "m", None, "m"], "old": [False, False, True, False]}


def refused(model, table):
    with pytest.raises(InputError) as caught:
        model.transform(table)
    assert_one_sentence(str(caught.value))
    return str(caught.value)


@every_frame
def test_numbers_come_first_then_categories(frame):
    model = TableEncoder(scale=False).fit(frame(PEOPLE))
    assert model.get_feature_names_out().tolist() == ["age", "old", "sex=(missing)", "sex=f", "sex=m"]
    np.testing.assert_array_equal(
        model.transform(frame(PEOPLE)),
        [[20, 0, 0, 1, 0], [31, 0, 0, 0, 1], [60, 1, 1, 0, 0], [31, 0, 0, 0, 1]],
    )


def test_it_is_scikit_learns_column_transformer():
    table = pd.DataFrame({"a": [1.0, np.nan, 5.0, 9.0], "b": ["x", "y", "x", "z"], "c": [3, 1, 4, 1]})
    theirs = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["a", "c"]),
        (OneHotEncoder(sparse_output=False), ["b"]),
    )
    np.testing.assert_allclose(TableEncoder().fit_transform(table), theirs.fit_transform(table), rtol=1e-12)


@every_frame
def test_categories_that_were_not_seen_are_zeros(frame):
    model = TableEncoder(scale=False).fit(frame({"c": ["a", "b"]}))
    np.testing.assert_array_equal(model.transform(frame({"c": ["z", "b"]})), [[0, 0], [0, 1]])


@every_frame
def test_a_hole_that_was_not_seen_is_zeros(frame):
    model = TableEncoder(scale=False).fit(frame({"c": ["a", "b"]}))
    np.testing.assert_array_equal(model.transform(frame({"c": ["a", None]})), [[1, 0], [0, 0]])


@every_frame
def test_only_the_most_frequent_get_a_column(frame):
    model = TableEncoder(max_categories=2).fit(frame({"c": ["a", "b", "b", "c", "c", "d"]}))
    assert model.categories_ == [["b", "c"]]
    np.testing.assert_array_equal(model.transform(frame({"c": ["a", "c"]})), [[0, 0], [0, 1]])


@every_frame
def test_a_column_that_turned_into_text_is_said(frame):
    model = TableEncoder().fit(frame({"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    sentence = refused(model, frame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    assert sentence.startswith("TableEncoder: column 'b' must hold numbers as it did in fit; got ")


@every_frame
def test_a_column_that_turned_into_numbers_is_read_as_text(frame):
    model = TableEncoder().fit(frame({"a": ["1", "2"]}))
    np.testing.assert_array_equal(model.transform(frame({"a": [2, 1]})), [[0, 1], [1, 0]])


@every_frame
def test_columns_missing_or_in_another_order_are_said(frame):
    model = TableEncoder().fit(frame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    for columns in ({"a": [1.0]}, {"b": ["x"], "a": [1.0]}, {"a": [1.0], "b": ["x"], "c": [1.0]}):
        assert "feature names should match" in refused(model, frame(columns))


def test_an_array_where_there_was_a_table_with_text_is_said():
    model = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    for array in (np.array([[1.0, 2.0]]), [[1.0, 2.0]]):
        assert refused(model, array).startswith("TableEncoder: ")


def test_an_array_where_there_was_a_table_of_numbers():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(TableEncoder().fit(table).transform(table.to_numpy()), [[-1, -1], [1, 1]])


@every_frame
def test_constant_columns(frame):
    model = TableEncoder().fit(frame({"a": [3.0, 3.0], "b": ["x", "x"]}))
    np.testing.assert_array_equal(model.transform(frame({"a": [3.0, 4.0], "b": ["x", "y"]})), [[0, 1], [1, 0]])


@every_frame
def test_columns_that_are_all_holes(frame):
    table = frame({"a": [None, None], "b": [1.0, 3.0]})
    terms = TableEncoder().fit(table).transform(table)
    assert np.isfinite(terms).all()
    assert terms.shape == (2, 2)


@every_frame
def test_one_row(frame):
    table = frame({"a": [3.0], "b": ["x"]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(table), [[0, 1]])


@every_frame
def test_text_alone_and_numbers_alone(frame):
    assert TableEncoder().fit_transform(frame({"c": ["a", "b"]})).tolist() == [[1, 0], [0, 1]]
    assert TableEncoder().fit_transform(frame({"a": [1, 3]})).tolist() == [[-1], [1]]


@every_frame
def test_infinity_is_said(frame):
    with pytest.raises(InputError) as caught:
        TableEncoder().fit(frame({"a": [1.0, np.inf], "b": ["x", "y"]}))
    assert str(caught.value) == "TableEncoder: X must be finite or NaN; got inf (infinity) in row 1, column 'a'."


def test_float32_stays_float32():
    rows = np.eye(3, dtype=np.float32)
    assert TableEncoder().fit_transform(rows).dtype == np.float32
    frame = pl.DataFrame({"a": pl.Series([1.0, 2.0], dtype=pl.Float32), "b": pl.Series([1.0, 2.0], dtype=pl.Float32)})
    assert TableEncoder().fit_transform(frame).dtype == np.float32


def framed(column):
    """Return the column in a frame of its own kind."""
    kinds = {"polars": pl.DataFrame, "pyarrow": pa.table}
    return kinds.get(type(column).__module__.split(".")[0], pd.DataFrame)({"a": column})


def kind_of(column):
    return f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', None) or column.type}"


@pytest.mark.parametrize(
    ("column", "median"),
    [
        (pd.array([1, None, 3], dtype="Int64"), 2.0),
        (pd.array([1.0, None, 3.0], dtype="Float32"), 2.0),
        (pd.array([True, None, False], dtype="boolean"), 0.5),
        (np.array([1, 2, 3], dtype=np.uint8), 2.0),
        (np.array([1.0, np.nan, 3.0], dtype=np.float16), 2.0),
        (pl.Series([1, None, 3]), 2.0),
        (pl.Series([True, None, False]), 0.5),
        (pl.Series([1, None, 3], dtype=pl.Decimal(10, 2)), 2.0),
        (pa.array([1, None, 3]), 2.0),
        (pa.array([True, None, False]), 0.5),
        (pa.array([1, None, 3], pa.decimal128(10, 2)), 2.0),
    ],
    ids=lambda value: "" if isinstance(value, float) else kind_of(value),
)
def test_numbers_of_every_type(column, median):
    model = TableEncoder(scale=False).fit(framed(column))
    assert model.is_number_.tolist() == [True]
    assert model.transform(framed(column))[1].tolist() == [median]


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["u", None, "v"]),
        pd.array(["u", None, "v"], dtype="string"),
        np.array(["u", None, "v"], dtype=object),
        pl.Series(["u", None, "v"], dtype=pl.Enum(["v", "u"])),
        pl.Series(["u", None, "v"], dtype=pl.Categorical),
        pl.Series(["u", None, "v"]),
        pa.array(["u", None, "v"]),
        pa.array(["u", None, "v"]).dictionary_encode(),
        pa.array(["u", None, "v"], pa.large_string()),
    ],
    ids=lambda column: (
        f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', getattr(column, 'type', ''))}"
    ),
)
def test_texts_of_every_type(column):
    table = framed(column)
    model = TableEncoder().fit(table)
    assert model.categories_ == [["(missing)", "u", "v"]]
    np.testing.assert_array_equal(model.transform(table), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])


# -------------------------------------------------------------------------------------- strange words, many words


@pytest.mark.parametrize(
    "words", [["", " ", "a"], ["a", "a ", "A"], ["ä", "a\u0308", "😀"], ["a", "a\0", "a\0b"], ["nan", "None", "x"]]
)
def test_words_that_look_alike_stay_apart(words, tmp_path):
    table = pa.table({"c": words})
    model = TableEncoder().fit(table)
    assert model.categories_ == [sorted(words)]
    np.testing.assert_array_equal(model.transform(table).sum(axis=1), [1, 1, 1])
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.transform(table), model.transform(table))


def test_a_word_that_says_missing_is_not_missing():
    model = TableEncoder().fit(pa.table({"c": ["(missing)", "x"]}))
    np.testing.assert_array_equal(model.transform(pa.table({"c": [None, "(missing)"]}))[1], [1, 0])


def test_seventy_thousand_categories():
    table = pa.table({"c": [f"value {i}" for i in range(70_000)]})
    start = time.perf_counter()
    model = TableEncoder().fit(table)
    assert time.perf_counter() - start < 5
    assert len(model.categories_[0]) == 100
    assert model.transform(table.slice(0, 50)).shape == (50, 100)
    everything = TableEncoder(max_categories=70_000).fit(table)
    assert everything.transform(table.slice(0, 3)).sum() == 3


def test_one_very_long_word_costs_only_itself():
    """Text as fixed-width arrays would take the longest word's room in every row."""
    table = pa.table({"c": ["x" * 100_000] + ["y"] * 2000})
    tracemalloc.start()
    model = TableEncoder().fit(table)
    model.transform(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_names_stay_apart():
    """'a=b' may be a column, and a category of column 'a'."""
    names = TableEncoder().fit(pa.table({"a=b": [1.0, 2.0], "a": ["b", "c"]})).get_feature_names_out()
    assert len(set(names)) == len(names)


def test_equal_column_names_are_said():
    with pytest.raises(InputError) as caught:
        TableEncoder().fit(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
    assert_one_sentence(str(caught.value))
    assert str(caught.value).startswith("TableEncoder: ")


def test_sparse_rows_are_refused():
    with pytest.raises(TypeError, match="TableEncoder: Sparse data was passed"):
        TableEncoder().fit(sparse.csr_array(np.eye(3)))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_of_any_size(scale):
    rows = np.random.default_rng(0).normal(size=(50, 2))
    expected = TableEncoder().fit_transform(rows)
    model = TableEncoder().fit(rows * [scale, 1.0])
    assert model.transform(rows * [scale, 1.0]) == pytest.approx(expected, abs=1e-12)
    assert model.transform(rows)[:, 1].tolist() == expected[:, 1].tolist()


@every_frame
def test_a_table_can_be_verified(frame):
    table = frame(PEOPLE)
    assert eigenwood.verify(TableEncoder().fit(table), table).holds


@every_frame
def test_transform_leaves_the_table_alone(frame):
    table, same = frame(PEOPLE), frame(PEOPLE)
    TableEncoder().fit(table).transform(table)
    assert table.equals(same)
