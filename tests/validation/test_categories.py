"""The gate for rows with numbers and categories: any frame, any type, words or numbers, seen or not."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from eigenwood.errors import InputError
from eigenwood.validation.categories import (
    CategoricalFeatures,
    Mixed,
    as_numbers,
    check_mixed,
    coded_grid,
    number_codes,
    seen_only,
)
from tests.models.crafting import assert_one_sentence

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


class Tree(BaseEstimator):
    """Stands for any estimator that asks."""


def refused(X, chosen="from_dtype", known=None) -> str:
    with pytest.raises((InputError, TypeError)) as problem:
        check_mixed(Tree() if known is None else fitted(X), X, chosen, known)
    sentence = str(problem.value)
    assert sentence.startswith("Tree: ")
    assert_one_sentence(sentence)
    return sentence.removeprefix("Tree: ")


def fitted(X):
    """Return an estimator that has seen columns like those of X."""
    tree = Tree()
    validate_data(tree, X=X, reset=True, skip_check_array=True)
    return tree


def categories_of(X, chosen="from_dtype"):
    return check_mixed(Tree(), X, chosen).categories


# ---------------------------------------------------------------------------------- what is a category


@every_frame
def test_words_are_categories_and_numbers_are_not(frame):
    mixed = check_mixed(
        Tree(), frame({"job": ["pilot", "clerk", "pilot"], "age": [1, 2, 3], "old": [True, False, True]})
    )
    assert mixed.categories == [["clerk", "pilot"], None, None]
    assert mixed.X.tolist() == [[1, 1, 1], [0, 2, 0], [1, 3, 1]]
    assert mixed.counts().tolist() == [2, -1, -1]
    assert mixed.X.flags.c_contiguous


WORDS = {
    "pandas strings": lambda words: pd.DataFrame({"c": words}),
    "pandas objects": lambda words: pd.DataFrame({"c": pd.Series(words, dtype=object)}),
    "pandas string dtype": lambda words: pd.DataFrame({"c": pd.array(words, dtype="string")}),
    "pandas arrow strings": lambda words: pd.DataFrame({"c": pd.array(words, dtype="string[pyarrow]")}),
    "pandas categories": lambda words: pd.DataFrame({"c": pd.Categorical(words)}),
    "pandas ordered categories": lambda words: pd.DataFrame(
        {"c": pd.Categorical(words, categories=["z", "b", "a"], ordered=True)}
    ),
    "polars strings": lambda words: pl.DataFrame({"c": words}),
    "polars Enum": lambda words: pl.DataFrame({"c": pl.Series(words, dtype=pl.Enum(["z", "b", "a"]))}),
    "polars categories": lambda words: pl.DataFrame({"c": pl.Series(words, dtype=pl.Categorical)}),
    "pyarrow strings": lambda words: pa.table({"c": words}),
    "pyarrow large strings": lambda words: pa.table({"c": pa.array(words, pa.large_string())}),
    "pyarrow string views": lambda words: pa.table({"c": pa.array(words, pa.string_view())}),
    "pyarrow dictionary": lambda words: pa.table({"c": pa.array(words).dictionary_encode()}),
    "pyarrow chunks": lambda words: pa.table({"c": pa.chunked_array([words[:1], words[1:]], pa.string())}),
    "pyarrow dictionaries": lambda words: pa.table(
        {"c": pa.chunked_array([pa.array(part, pa.string()).dictionary_encode() for part in (words[:2], words[2:])])}
    ),
}


@pytest.mark.parametrize("made", WORDS.values(), ids=WORDS)
def test_words_in_any_clothes(made):
    mixed = check_mixed(Tree(), made(["b", "a", None, "b"]))
    assert mixed.categories == [["a", "b", None]]
    assert mixed.X.ravel().tolist() == [1, 0, 2, 1]
    again = check_mixed(fitted(made(["a"])), made(["a", None, "b", "z"]), known=mixed.categories)
    assert again.X.ravel().tolist() == [0, 2, 1, -1]


def test_a_null_in_a_dictionary_is_missing():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    mixed = check_mixed(Tree(), pa.table({"c": column}))
    assert mixed.categories == [["a", None]]
    assert mixed.X.ravel().tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("words", "categories"),
    [
        (["None", None], ["None", None]),
        (["nan", "NaN"], ["NaN", "nan"]),
        (["", " "], ["", " "]),
        (["a", "a "], ["a", "a "]),
        (["ä", "a\u0308"], ["a\u0308", "ä"]),
        (["a\0", "a"], ["a", "a\0"]),
        (["10", "9"], ["10", "9"]),
    ],
)
def test_words_that_look_like_each_other(words, categories):
    assert categories_of(pd.DataFrame({"c": words})) == [categories]


NUMBERS = {
    "integers": [1, 2, 3],
    "int8": np.array([1, 2, 3], dtype=np.int8),
    "float16": np.array([1, 2, 3], dtype=np.float16),
    "nullable": pd.array([1, 2, 3], dtype="Int64"),
    "objects": np.array([1, 2.0, Decimal(3)], dtype=object),
    "decimals": [Decimal(1), Decimal(2), Decimal(3)],
    "sparse": pd.arrays.SparseArray([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_in_any_clothes(values):
    frame = pd.DataFrame({"n": values})
    assert categories_of(frame) == [None]
    assert check_mixed(Tree(), frame).X.ravel().tolist() == [1.0, 2.0, 3.0]
    assert categories_of(frame, ["n"]) == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    "values",
    [
        [True, None, False],
        pd.array([True, None, False], dtype="boolean"),
        pd.array([1, None, 0], dtype="Int64"),
        [1.0, np.nan, 0.0],
        np.array([1, None, 0], dtype=object),
    ],
    ids=["objects", "boolean", "Int64", "floats", "mixed objects"],
)
def test_missing_numbers_are_nan_and_as_categories_the_last(values):
    frame = pd.DataFrame({"n": values})
    np.testing.assert_array_equal(check_mixed(Tree(), frame).X.ravel(), [1.0, np.nan, 0.0])
    mixed = check_mixed(Tree(), frame, ["n"])
    assert mixed.categories == [[0.0, 1.0, None]]
    assert mixed.X.ravel().tolist() == [1, 2, 0]


@every_frame
def test_a_column_of_nothing(frame):
    for chosen in ("from_dtype", ["a"]):
        mixed = check_mixed(Tree(), frame({"a": [None, None], "b": [1.0, 2.0]}), chosen)
        assert mixed.categories[0] in (None, [None])
        assert mixed.categories[1] is None
    assert categories_of(frame({"a": [None, None]}), ["a"]) == [[None]]


def test_floats_stay_single_where_all_are():
    single = pd.DataFrame({"a": np.float32([1, 2]), "b": np.float32([3, 4])})
    assert check_mixed(Tree(), single).X.dtype == np.float32
    assert check_mixed(Tree(), single.assign(c=["x", "y"])).X.dtype == np.float64
    assert check_mixed(Tree(), np.ones((2, 2), dtype=np.float32)).X.dtype == np.float32


NEITHER = {
    "dates": pl.DataFrame({"c": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]}),
    "times": pd.DataFrame({"c": pd.date_range("2026", periods=2)}),
    "durations": pa.table({"c": pa.array([1, 2], pa.duration("s"))}),
    "periods": pd.DataFrame({"c": pd.period_range("2026", periods=2, freq="D")}),
    "intervals": pd.DataFrame({"c": pd.interval_range(0, 2)}),
    "lists": pl.DataFrame({"c": [[1], [2]]}),
    "records": pa.table({"c": [{"a": 1}, {"a": 2}]}),
    "complex numbers": pd.DataFrame({"c": [1j, 2j]}),
    "bytes": pa.table({"c": [b"a", b"b"]}),
    "words beside numbers": pd.DataFrame({"c": [1, "a"]}),
    "dictionaries": pd.DataFrame({"c": [{"a": 1}, {"b": 2}]}),
}


@pytest.mark.parametrize("frame", NEITHER.values(), ids=NEITHER)
def test_what_is_neither_number_nor_word_is_named(frame):
    sentence = refused(frame)
    assert sentence.startswith("column 'c' must hold numbers; got ")
    assert "(a column of text is a category if it is text in fit, or named in categorical_features)" in sentence


def test_dates_are_categories_if_that_is_said():
    days = [dt.date(2026, 1, 2), dt.date(2026, 1, 1)]
    for frame in (pl.DataFrame({"c": days}), pa.table({"c": days}), pd.DataFrame({"c": days})):
        assert categories_of(frame, ["c"]) == [["2026-01-01", "2026-01-02"]]


@pytest.mark.parametrize("name", ["lists", "words beside numbers", "dictionaries"])
def test_some_things_cannot_even_be_categories(name):
    sentence = refused(NEITHER[name], ["c"])
    assert sentence.startswith("column 'c' must hold values of one kind to be a category; got ")


# ---------------------------------------------------------------------------------- which columns are meant


TABLE = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.0], "c": [5.0, 4.0]})


@pytest.mark.parametrize(
    "chosen",
    [
        ["a", "c"],
        [0, 2],
        [0, -1],
        (0, 2),
        [True, False, True],
        np.array([0, 2]),
        np.array([True, False, True]),
        np.array(["a", "c"]),
        ["a", 2],
        ["a", "a", "c"],
    ],
    ids=str,
)
def test_columns_by_name_place_or_mask(chosen):
    assert CategoricalFeatures().allows(chosen)
    assert categories_of(TABLE, chosen) == [[1.0, 2.0], None, [4.0, 5.0]]


@pytest.mark.parametrize("chosen", [None, [], "from_dtype"])
def test_no_column(chosen):
    assert categories_of(TABLE, chosen) == [None, None, None]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (
            ["z"],
            "categorical_features has an item value 'z' which is not a valid feature name of the training data.",
        ),
        ([3], "categorical_features must name columns of X; got 3."),
        ([-4], "categorical_features must name columns of X; got -4."),
        ([True], "categorical_features set as a boolean mask must have shape (n_features,), here (3,); got (1,)."),
    ],
)
def test_columns_that_are_not_there(chosen, sentence):
    assert refused(TABLE, chosen) == sentence


def test_a_name_needs_a_frame():
    assert refused(TABLE.to_numpy(), ["a"]) == (
        "instead of 'a', categorical_features should be passed as an array of integers or as a boolean mask when the "
        "model is fitted on data without feature names."
    )


@pytest.mark.parametrize(
    "chosen", ["all", 1, 0.5, [0.5], [None], {"a": 1}, np.zeros((1, 1), dtype=int), np.array([0.5])]
)
def test_what_names_no_columns(chosen):
    assert not CategoricalFeatures().allows(chosen)


def test_text_that_is_said_to_be_no_category_is_refused():
    for chosen in (None, []):
        assert refused(pd.DataFrame({"c": ["a", "b"]}), chosen).startswith("column 'c' must hold numbers; got String")


# ---------------------------------------------------------------------------------- arrays


def test_arrays_without_categories_are_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(check_mixed(Tree(), X).X, X)
    given = X.copy()
    mixed = check_mixed(Tree(), X, [1])
    np.testing.assert_array_equal(X, given)
    assert mixed.X.tolist() == [[0, 0], [2, 1], [4, 2]]


def test_numbers_never_seen_and_missing():
    known = [[1.0, 2.5, None], None]
    X = np.array([[2.5, 0], [np.nan, 0], [1.0, 0], [7.0, 0], [np.inf, 0], [-np.inf, 0]])
    assert check_mixed(fitted(X), X, known=known).X[:, 0].tolist() == [1, 2, 0, -1, -1, -1]
    assert number_codes(np.array([np.nan, 1.0]), [1.0]).tolist() == [-1, 0]
    assert number_codes(np.array([np.nan, 1.0]), [None]).tolist() == [0, -1]
    assert number_codes(np.array([np.nan, 1.0]), []).tolist() == [-1, -1]


@pytest.mark.parametrize("X", [np.array([[np.inf], [1.0]]), pd.DataFrame({"a": [np.inf, 1.0]})], ids=["array", "frame"])
def test_infinity_is_no_category(X):
    assert "X must be finite or NaN; got inf (infinity) in column" in refused(X, [0])


def test_sparse_rows_have_no_categories():
    X = sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])
    assert check_mixed(Tree(), X).X.format == "csr"
    assert refused(X, [0]) == "X must be dense to have categories; got a sparse matrix."
    assert refused(X, known=[[1.0], None]) == "X must be dense to have categories; got a sparse matrix."
    assert "inf" in refused(sparse.csr_array([[np.inf, 1.0]]))


def test_words_outside_a_frame():
    for X in ([["a"], ["b"]], np.array([["a"], ["b"]]), np.array([["a"], ["b"]], dtype=object)):
        assert refused(X) == "X must hold numbers, or be a frame to have columns of text; got 'a'."


# ---------------------------------------------------------------------------------- fit and later


@every_frame
def test_words_where_numbers_were_and_the_other_way_round(frame):
    words, numbers = frame({"c": ["a", "b"]}), frame({"c": [1.0, 2.0]})
    assert refused(words, known=[[1.0, 2.0]]) == (
        "column 'c' must hold categories that are numbers, as in fit; got String."
    )
    assert refused(numbers, known=[["a", "b"]]) == (
        "column 'c' must hold categories that are text, as in fit; got numbers."
    )
    assert refused(words, known=[None]).startswith("column 'c' must hold numbers; got String")
    for empty in (words, numbers):  # nothing but missing was seen in fit: neither is known
        assert check_mixed(fitted(empty), empty, known=[[None]]).X.ravel().tolist() == [-1, -1]


@every_frame
def test_missing_has_no_kind(frame):
    for known, code in (([["a", None]], 1), ([["a"]], -1), ([[1.0, None]], 1), ([[1.0]], -1)):
        X = frame({"c": [None, None]})
        assert check_mixed(fitted(X), X, known=known).X.ravel().tolist() == [code, code]


def test_only_categories_that_occur_are_kept():
    mixed = check_mixed(Tree(), pd.DataFrame({"c": ["a", "b", None, "d"], "n": [1.0, 2.0, 3.0, 4.0]}))
    kept = seen_only(mixed._replace(X=mixed.X[[1, 3, 1]]))
    assert kept.categories == [["b", "d"], None]
    assert kept.X.tolist() == [[0, 2], [1, 4], [0, 2]]
    assert isinstance(kept, Mixed)


def test_a_grid_of_values_as_codes():
    grid = np.array([["b", 1.5, 2], [None, 2.5, 9], ["z", 3.5, 1]], dtype=object)
    coded = coded_grid(grid, [["a", "b", None], None, [1.0, 2.0]])
    assert coded.tolist() == [[1, 1.5, 1], [2, 2.5, -1], [-1, 3.5, 0]]


def test_a_column_is_numbers_or_not():
    def numbers_of(column):
        return as_numbers(nw.from_native(column, series_only=True))

    assert numbers_of(pl.Series([1, None])).tolist()[0] == 1.0
    assert numbers_of(pl.Series(["1", "2"])) is None
    assert numbers_of(pl.Series([dt.date(2026, 1, 1)])) is None
    assert np.isnan(numbers_of(pd.Series([None, None], dtype=object))).all()


def test_floats_of_an_arrow_table_are_read_as_those_of_any_frame():
    columns = {"a": [1.0, None, 3.0], "b": ["x", "y", None], "c": [0.5, 1.5, 2.5], "d": [1, 2, 3]}
    table = pa.table(columns | {"c": pa.array(columns["c"], pa.float32())})
    for chosen in ("from_dtype", ["b", "c"]):
        of_arrow, of_polars = (check_mixed(Tree(), frame, chosen) for frame in (table, pl.from_arrow(table)))
        np.testing.assert_array_equal(of_arrow.X, of_polars.X)
        assert of_arrow.X.dtype == of_polars.X.dtype
        assert of_arrow.categories == of_polars.categories
    halves = pa.table({"c": pa.array([0.5, None], pa.float32())})
    assert check_mixed(Tree(), halves).X.dtype == np.float32
