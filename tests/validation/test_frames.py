"""Tables with more than numbers: each column is numbers or texts, in every kind of frame."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from eigenwood.errors import InputError
from eigenwood.validation.frames import check_columns

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


class Thing(BaseEstimator):
    """An estimator that only has a name."""


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def columns_of(table, thing=None, is_number=None):
    return check_columns(thing or Thing(), table, is_number, reset=is_number is None, missing_text="(missing)")


def sentence_of(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_numbers_and_texts_are_told_apart(frame):
    table = frame({"age": [20.0, None], "job": ["cook", None], "n": [1, 2], "yes": [True, False]})
    columns = columns_of(table)
    assert columns.is_number.tolist() == [True, False, True, True]
    assert_array_equal(columns.numbers, [[20.0, 1.0, 1.0], [np.nan, 2.0, 0.0]])
    assert columns.texts.tolist() == [["cook"], ["(missing)"]]


def test_a_null_among_truth_values_is_a_nan(frame):
    table = (
        frame({"yes": [True, None]})
        if frame is not pd.DataFrame
        else pd.DataFrame({"yes": pd.array([True, None], dtype="boolean")})
    )
    assert_array_equal(columns_of(table).numbers, [[1.0], [np.nan]])


def test_only_numbers_and_only_texts(frame):
    assert columns_of(frame({"a": [1.0]})).texts.shape == (1, 0)
    assert columns_of(frame({"a": ["x"]})).numbers.shape == (1, 0)


def test_float32_stays_float32(frame):
    assert columns_of(frame({"a": np.ones(2, dtype=np.float32)})).numbers.dtype == np.float32


def test_names_are_learnt(frame):
    thing = Thing()
    columns_of(frame({"age": [1.0], "job": ["cook"]}), thing)
    assert thing.feature_names_in_.tolist() == ["age", "job"]


def test_a_number_that_became_text_is_named(frame):
    thing = Thing()
    known = columns_of(frame({"age": [30]}), thing).is_number
    sentence = sentence_of(lambda: columns_of(frame({"age": ["old"]}), thing, known))
    assert sentence == "Thing: column 'age' must hold numbers as it did in fit; got String."


def test_a_category_may_come_as_a_number_later(frame):
    thing = Thing()
    known = columns_of(frame({"code": ["7", "x"]}), thing).is_number
    columns = columns_of(frame({"code": [7, 8]}), thing, known)
    assert columns.texts.tolist() == [["7"], ["8"]]


def test_infinity_is_named_by_row_and_column(frame):
    table = frame({"job": ["a", "b"], "pay": [1.0, np.inf]})
    sentence = sentence_of(lambda: columns_of(table))
    assert sentence == "Thing: X must be finite or NaN; got inf (infinity) in row 1, column 'pay'."


def test_an_empty_table_is_refused(frame):
    sentence = sentence_of(lambda: columns_of(frame({"a": np.empty(0)})))
    assert sentence == "Thing: X must have at least 1 row and 1 column; got 0 rows and 1 columns."


def test_an_array_where_a_frame_was_fitted_is_refused():
    sentence = sentence_of(lambda: columns_of(np.ones((2, 2))))
    assert sentence == "Thing: X must be a frame with the columns it had in fit; got ndarray."
