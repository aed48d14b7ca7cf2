"""The gate for X and for weights: what comes out can be trusted, and what cannot is refused in one sentence."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenwood.errors import InputError
from eigenwood.validation import arrays
from eigenwood.validation.arrays import check_matrix, check_rows, check_squares, check_weights, one_sentence

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


class Thing(BaseEstimator):
    """An estimator that only has a name."""


def sentence_of(call, kind=InputError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


# ---- what goes in and what comes out -----------------------------------------------------------------------------


@pytest.mark.parametrize("given", [np.float32, np.float64])
def test_floats_stay_what_they_are(given):
    X = np.arange(6, dtype=given).reshape(2, 3)
    rows = check_matrix("Who", X)
    assert rows.dtype == given
    assert rows is X  # nothing to do, nothing copied


@pytest.mark.parametrize("given", [np.int8, np.int64, np.uint16, np.float16, bool, object])
def test_all_other_numbers_become_float64(given):
    rows = check_matrix("Who", np.array([[0, 1], [1, 1]], dtype=given))
    assert rows.dtype == np.float64
    assert_array_equal(rows, [[0.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    "X",
    [[[1, 2], [3, 4]], ((1.0, 2.0), (3.0, 4.0)), np.array([[1, 3], [2, 4]]).T],
    ids=["list", "tuple", "transposed"],
)
def test_rows_are_contiguous(X):
    rows = check_matrix("Who", X)
    assert rows.flags.c_contiguous
    assert_array_equal(rows, [[1, 2], [3, 4]])


def test_a_memory_map_is_read_where_it_lies(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(check_matrix("Who", mapped), mapped)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
@pytest.mark.parametrize("given", [np.float32, np.float64])
def test_sparse_becomes_csr(form, given):
    X = np.array([[0, 2, 0], [1, 0, 3]], dtype=given)
    rows = check_matrix("Who", form(X), accept_sparse=True)
    assert rows.format == "csr"
    assert rows.dtype == given
    assert_array_equal(rows.toarray(), X)


def test_sparse_is_refused_where_a_method_cannot_use_it():
    sentence = sentence_of(lambda: check_matrix("Who", sparse.csr_array(np.eye(2))), TypeError)
    assert sentence == "Who: Sparse data was passed for X, but dense data is required."


def test_an_entry_stored_twice_means_the_sum():
    twice = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    rows = check_matrix("Who", twice, accept_sparse=True)
    assert_array_equal(rows.toarray(), [[3.0, 0.0], [0.0, 5.0]])
    assert rows.nnz == 2  # the core squares stored values one by one: ‖x‖² must be 9, not 1 + 4
    assert twice.nnz == 3  # the caller's matrix is as it was


# ---- frames ------------------------------------------------------------------------------------------------------


def test_frames_become_rows(frame):
    rows = check_matrix("Who", frame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, False]}))
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous
    assert_array_equal(rows, [[1, 3, 1], [2, 4, 0]])


def test_frames_of_float32_stay_float32(frame):
    single = np.ones(2, dtype=np.float32)
    assert check_matrix("Who", frame({"a": single, "b": single})).dtype == np.float32
    assert check_matrix("Who", frame({"a": single, "b": np.ones(2)})).dtype == np.float64


def test_names_of_a_frame_are_learnt_and_asked_for(frame):
    thing = Thing()
    check_rows(thing, frame({"a": [1.0], "b": [2.0]}), reset=True)
    assert thing.feature_names_in_.tolist() == ["a", "b"]
    assert thing.n_features_in_ == 2
    check_rows(thing, frame({"a": [5.0], "b": [6.0]}), reset=False)
    sentence = sentence_of(lambda: check_rows(thing, frame({"a": [5.0], "z": [6.0]}), reset=False))
    assert sentence.startswith("Thing: The feature names should match those that were passed during fit")
    assert "\n" not in sentence


def test_the_number_of_columns_must_stay():
    thing = Thing()
    check_rows(thing, np.ones((2, 3)), reset=True)
    sentence = sentence_of(lambda: check_rows(thing, np.ones((2, 2)), reset=False))
    assert sentence == "Thing: X has 2 features, but Thing is expecting 3 features as input."


def test_a_column_of_text_is_named(frame):
    sentence = sentence_of(lambda: check_matrix("Who", frame({"a": [1.0], "job": ["cook"]})))
    assert sentence == "Who: column 'job' must hold numbers; got String (TableEncoder makes numbers of it)."


def test_a_date_is_no_number():
    table = pl.DataFrame({"born": pl.Series(["2001-02-03"]).str.to_date()})
    sentence = sentence_of(lambda: check_matrix("Who", table))
    assert sentence == "Who: column 'born' must hold numbers; got Date (TableEncoder makes numbers of it)."


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [True, None]}),
        pa.table({"a": [1, None]}),
        pa.table({"a": [1.5, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([1.5, None], dtype="Float64")}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": pd.Series([1, None], dtype=object)}),
    ],
    ids=["polars int", "polars bool", "arrow int", "arrow float", "Int64", "Float64", "boolean", "object"],
)
def test_a_null_is_a_nan_in_every_frame(table):
    sentence = sentence_of(lambda: check_rows(Thing(), table, reset=True))
    assert sentence == "Thing: X must be finite; got NaN in row 1, column 'a'."
    rows = check_rows(Thing(), table, reset=True, missing=True)
    assert_array_equal(np.isnan(rows[:, 0]), [False, True])


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(np.ones((1, 2)), columns=["a", "a"]), pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"])],
    ids=["pandas", "pyarrow"],
)
def test_one_name_for_two_columns_is_refused(table):
    sentence = sentence_of(lambda: check_matrix("Who", table))
    assert sentence == "Who: X must have columns of different names; got one name twice."


# ---- NaN and infinity --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf (infinity)"), (-np.inf, "inf (infinity)")])
def test_the_place_is_named(value, word, given):
    X = np.zeros((4, 3), dtype=given)
    X[2, 1] = value
    assert sentence_of(lambda: check_matrix("Who", X)) == f"Who: X must be finite; got {word} in row 2, column 1."
    names = np.array(["a", "b", "c"], dtype=object)
    sentence = sentence_of(lambda: check_matrix("Who", X, names=names))
    assert sentence == f"Who: X must be finite; got {word} in row 2, column 'b'."


def test_the_first_place_in_reading_order_is_named():
    X = np.zeros((3, 3))
    X[1, 2] = X[2, 0] = np.nan
    assert "row 1, column 2." in sentence_of(lambda: check_matrix("Who", X))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(("stored", "place"), [(0, "row 0, column 1"), (1, "row 2, column 0"), (2, "row 2, column 2")])
def test_the_place_in_a_sparse_matrix_is_named(stored, place, value):
    X = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 3.0]]))
    X.data[stored] = value
    sentence = sentence_of(lambda: check_matrix("Who", X, accept_sparse=True))
    assert sentence.endswith(f"in {place}.")


def test_infinities_that_cancel_are_seen():
    sentence = sentence_of(lambda: check_matrix("Who", np.array([[np.inf, -np.inf]])))
    assert sentence == "Who: X must be finite; got inf (infinity) in row 0, column 0."


def test_numbers_whose_sum_overflows_pass():
    X = np.full((2, 2), 1.7e308)
    assert check_matrix("Who", X) is X


def test_missing_numbers_pass_where_a_method_uses_them_but_infinity_never_does():
    X = np.array([[np.nan, 1.0]])
    assert check_matrix("Who", X, missing=True) is X
    sentence = sentence_of(lambda: check_matrix("Who", np.array([[np.nan, np.inf]]), missing=True))
    assert sentence == "Who: X must be finite or NaN; got inf (infinity) in row 0, column 1."


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("given", [np.float32, np.float64])
def test_numbers_that_cannot_be_squared_are_refused_where_squares_are_needed(given, form):
    largest = np.finfo(given).max ** 0.5
    check_squares("Who", form(np.full((2, 4), largest / 10, dtype=given)))
    check_squares("Who", sparse.csr_array((2, 4), dtype=given))
    for value in (largest, -largest):
        sentence = sentence_of(lambda value=value: check_squares("Who", form(np.full((2, 4), value, dtype=given))))
        assert re.fullmatch(r"Who: X must hold numbers of size at most \S+, to be squared; got \S+\.", sentence)
    with np.errstate(over="raise"):
        limit = given(float(re.search(r"at most (\S+),", sentence)[1]))
        assert np.isfinite(4 * (limit + limit) * limit)  # ‖x‖² + ‖z‖²


# ---- what is no table --------------------------------------------------------------------------------------------

RESHAPE = "(Reshape your data: X.reshape(1, -1) makes one row, X.reshape(-1, 1) one column)."


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (None, "Who: X must be a table of numbers; got None."),
        ("heart.csv", "Who: X must be a table of numbers; got 'heart.csv'."),
        (iter([[1.0]]), "Who: X must be a table of numbers; got list_iterator."),
        (np.float64(3.0), f"Who: X must be a 2-d array of rows and columns; got 0-d {RESHAPE}"),
        (np.arange(3.0), f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        ([1.0, 2.0], f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        ([], f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        (pd.Series([1.0]), f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        (pl.Series([1.5, 2.5]), f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        (pa.array([1.5, 2.5]), f"Who: X must be a 2-d array of rows and columns; got 1-d {RESHAPE}"),
        (np.zeros((1, 1, 1)), "Who: Found array with dim 3, while dim <= 2 is required."),
        (
            np.zeros((0, 2)),
            "Who: Found array with 0 sample(s) (shape=(0, 2)) while a minimum of 1 is required.",
        ),
        (
            np.zeros((2, 0)),
            "Who: Found array with 0 feature(s) (shape=(2, 0)) while a minimum of 1 is required.",
        ),
        ([["a"]], "Who: could not convert string to float: 'a'."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_is_refused_in_one_sentence(X, sentence):
    assert sentence_of(lambda: check_matrix("Who", X)) == sentence


def test_complex_numbers_are_refused():
    table = np.full((60, 3), 1j)
    assert sentence_of(lambda: check_matrix("Who", table)) == "Who: Complex data not supported."


def test_one_sentence_keeps_the_kind_of_error_and_the_first_sentence():
    long = ValueError("Something\n  is wrong. Do this. Do that.")
    assert str(one_sentence("Who", long)) == "Who: Something is wrong."
    assert isinstance(one_sentence("Who", long), InputError)
    assert isinstance(one_sentence("Who", TypeError("no")), TypeError)
    assert str(one_sentence("Who", ValueError("Who has a name already"))) == "Who has a name already."
    ours = InputError("Who: ours. Stays.")
    assert one_sentence("Who", ours) is ours


# ---- weights -----------------------------------------------------------------------------------------------------


def test_no_weights_are_ones():
    weights = check_weights(Thing(), None, 3)
    assert weights.dtype == np.float64
    assert_array_equal(weights, np.ones(3))


@pytest.mark.parametrize(
    "given",
    [[1, 0, 2], (1.0, 0.0, 2.0), np.array([1, 0, 2], dtype=np.float32), pd.Series([1, 0, 2]), pl.Series([1, 0, 2])],
)
def test_weights_become_float64(given):
    weights = check_weights(Thing(), given, 3)
    assert weights.dtype == np.float64
    assert_array_equal(weights, [1.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([1, 2], "Thing: sample_weight must have shape (3,); got (2,)."),
        (1.0, "Thing: sample_weight must have shape (3,); got ()."),
        ([[1], [1], [1]], "Thing: sample_weight must have shape (3,); got (3, 1)."),
        ([1, -2, 1], "Thing: Negative values in data passed to `sample_weight`, which must be at least 0; got -2.0."),
        ([1, -2, np.nan], "Thing: sample_weight must be finite and at least 0; got nan."),
        ([1, np.inf, 1], "Thing: sample_weight must be finite and at least 0; got inf."),
        ([0, 0, 0], "Thing: sample_weight must hold at least one weight above zero; got only zeros."),
        (["a", 1, 1], "Thing: sample_weight must hold numbers; got ['a', 1, 1]."),
        (["a"] * 1000, "Thing: sample_weight must hold numbers; got ['a', 'a', 'a', 'a', 'a', 'a', ...]."),
    ],
    ids=lambda value: re.sub(r"\W+", " ", str(value))[:40],
)
def test_bad_weights_are_refused_in_one_sentence(given, sentence):
    assert sentence_of(lambda: check_weights(Thing(), given, 3)) == sentence


def test_arrays_and_lists_are_not_asked_whether_they_are_frames(monkeypatch):
    """The answer would take longer than to fit a small tree."""

    def asked(*given, **kinds):
        raise AssertionError

    monkeypatch.setattr(arrays.nw, "from_native", asked)
    for given in (np.zeros((2, 2)), [[0.0]], ((0.0,),), sparse.csr_array(np.eye(2))):
        assert arrays.through_narwhals(given, eager_only=True) is given
    with pytest.raises(AssertionError):
        arrays.through_narwhals(pd.DataFrame({"a": [1.0]}), eager_only=True)
