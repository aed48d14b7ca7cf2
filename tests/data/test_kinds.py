"""Each rule that tells what a column is, at its edges."""

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenwood.data.kinds import MISSING_IN_FRAMES, MISSING_IN_TEXT_FILES, clean_column, parsed_numbers


def clean(values, kind=None, markers=MISSING_IN_FRAMES):
    return clean_column(pa.chunked_array([pa.array(values, kind)]), markers)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.5, 3.25], "number"),
        ([1.0, 2.0, 3.0], "number"),  # a float run is a measurement
        ([1, 2, 2, 3], "number"),
        ([10, 20, 35], "number"),  # distinct integers with gaps
        ([1, 2, 3, None], "number"),  # a row number is never missing
        ([7, 8, 9], "id"),
        ([3, 1, 2], "id"),
        ([-1, 0, 1], "id"),
        ([5, 5, None], "constant"),
        ([None, None], "constant"),
        (["a", "a"], "constant"),
        (["a", "b", "a"], "category"),
        (["a", "b", "c"], "id"),
        (["1", "2", "2"], "number"),
        (["1", "2", "3"], "id"),
        (["1.0", "2.0", "3.0"], "number"),
        (["1", "two", "1"], "category"),
        ([True, False, True], "category"),
        ([True, True], "constant"),
        (["I liked it a lot", "very boring to watch", "an exception this one"], "text"),
        (["New York", "Los Angeles", "San Francisco"], "id"),
        (["typical angina of the heart"] * 3 + ["no pain at all"] * 3, "category"),
        (["2020-01-01", "2020-01-02", "2020-01-05"], "number"),
    ],
)
def test_kind_of_a_column(values, kind):
    assert clean(values).kind == kind


def test_an_id_may_have_a_few_repeats():
    names = [f"p{i}" for i in range(97)]
    assert clean([*names, "p0", "p1", "p2"]).kind == "id"
    assert clean([*names[:90], *names[:10]]).kind == "category"


@pytest.mark.parametrize("marker", MISSING_IN_TEXT_FILES)
def test_every_marker_of_a_text_file_is_missing(marker):
    column = clean(["1.5", f" {marker} ", "2"], markers=MISSING_IN_TEXT_FILES)
    assert column.values.to_pylist() == [1.5, None, 2.0]
    assert column.n_distinct == 2


def test_a_frame_has_nulls_of_its_own():
    column = clean(["NA", "?", "", "None", "NA", None])
    assert column.values.to_pylist() == ["NA", None, None, "None", "NA", None]


def test_spaces_around_a_value_are_stripped():
    assert clean([" a", "b ", " a "]).values.to_pylist() == ["a", "b", "a"]


def test_float32_stays_and_everything_else_becomes_float64():
    assert clean([1.5, 2.5], pa.float32()).values.type == pa.float32()
    assert clean([1, 5], pa.int8()).values.type == pa.float64()
    assert clean([True, False]).values.type == pa.string()


def test_nan_is_missing():
    assert clean([1.5, float("nan"), 2.5]).values.to_pylist() == [1.5, None, 2.5]


def test_booleans_are_words():
    assert clean([True, None, False]).values.to_pylist() == ["true", None, "false"]


def test_a_dictionary_column_is_a_category_whatever_it_holds():
    column = clean_column(pa.chunked_array([pa.array([3, 1, 2]).dictionary_encode()]), MISSING_IN_FRAMES)
    assert column.kind == "category"
    assert column.values.to_pylist() == ["3", "1", "2"]


@pytest.mark.parametrize(
    ("value", "days"),
    [
        (datetime.date(1970, 1, 11), 10.0),
        (datetime.datetime(1970, 1, 1, 12), 0.5),
        (datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC), 1.0),
        (datetime.time(6), 0.25),
        (datetime.timedelta(days=2), 2.0),
    ],
)
def test_times_are_counted_in_days(value, days):
    assert clean([value, None]).values.to_pylist() == [days, None]


@pytest.mark.parametrize("written", ["1970-01-11", "1970-01-11 00:00:00", "1970-01-11T00:00:00Z"])
def test_dates_in_text_are_days_too(written):
    assert clean([written, "?"]).values.to_pylist() == [10.0, None]


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_written_floats_are_read_back_exactly(numbers):
    assert parsed_numbers(pa.chunked_array([pa.array(map(repr, numbers))])).to_pylist() == numbers


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1), st.randoms())
def test_kind_and_counts_do_not_depend_on_the_order_of_rows(values, random):
    shuffled = random.sample(values, len(values))
    before, after = clean(values, pa.int64()), clean(shuffled, pa.int64())
    assert (before.kind, before.n_distinct) == (after.kind, after.n_distinct)
    assert before.n_distinct == len({value for value in values if value is not None})
