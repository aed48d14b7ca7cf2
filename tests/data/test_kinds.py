"""Each rule that tells what a column is, at its edges."""

import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenwood.data.cleaning import Asked, clean_columns
from eigenwood.data.kinds import LOOKS_LIKE_YEARS, MISSING_IN_FRAMES, MISSING_IN_TEXT_FILES
from eigenwood.data.readings import PLAIN, read_as
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError


def clean(values, kind=None, markers=MISSING_IN_FRAMES):
    (column,) = clean_columns(pa.table({"c": pa.array(values, kind)}), markers, "t")
    return column


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
        ([9, 7, 8], "number"),  # a run from elsewhere that is out of order
        ([9, 8, 7], "id"),
        ([2, 0, 1], "id"),
        ([-1, 0, 1], "number"),  # no row has a negative number
        ([1998, 1999, 2000], "number"),  # years
        (["1998", "1999", "2000"], "number"),
        ([2199, 2200, 2201], "id"),
        ([1499, 1500, 1501], "id"),
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
        (["2020-01-01", "2020-01-02", "2020-01-05"], "date"),
        (["1.1.2020", "2.1.2020", "31.1.2020"], "date"),
        (["1,5", "2,5", "3,5"], "number"),
        (["23:59", "7:05", "12:00"], "number"),
    ],
)
def test_kind_of_a_column(values, kind):
    assert clean(values).kind == kind


def test_years_are_numbers_and_it_is_said():
    column = clean([*range(1800, 2000)])
    assert (column.kind, column.treatment) == ("number", LOOKS_LIKE_YEARS)


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
    column = clean(pa.array([3, 1, 2]).dictionary_encode())
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
    assert read_as(pa.chunked_array([pa.array(map(repr, numbers))]), PLAIN).to_pylist() == numbers


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1), st.randoms())
def test_kind_and_counts_do_not_depend_on_the_order_of_rows(values, random):
    """But for consecutive integers that begin elsewhere than at 0 or 1: in order they number the rows."""
    shuffled = random.sample(values, len(values))
    before, after = clean(values, pa.int64()), clean(shuffled, pa.int64())
    assert before.n_distinct == after.n_distinct
    if before.kind != after.kind:
        assert {before.kind, after.kind} == {"id", "number"}
        assert min(values) > 1
    assert before.n_distinct == len({value for value in values if value is not None})


# --- kinds that were asked for -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2, 3], "number", [1.0, 2.0, 3.0]),
        (["1", "?", "3"], "number", [1.0, None, 3.0]),
        (["1,5", None], "number", [1.5, None]),
        ([True, False, None], "number", [1.0, 0.0, None]),
        (pa.array(["1", "2"]).dictionary_encode(), "number", [1.0, 2.0]),
        ([datetime.date(1970, 1, 11)], "number", [10.0]),
        (["01067", " 1 ", "?"], "category", ["01067", "1", None]),
        ([1.0, 2.0, None], "category", ["1", "2", None]),
        ([1.5, 2.0, None], "category", ["1.5", "2", None]),
        ([True, None], "category", ["true", None]),
        (["a", "b"], "text", ["a", "b"]),
        (["1.1.1970", "?"], "date", [0.0, None]),
        (["1970-01-11"], "date", [10.0]),
        (["19700111"], "date", [10.0]),
        ([19700111, None], "date", [10.0, None]),
        ([1970, 1971], "date", [0.0, 365.0]),
        (["1970", "1971"], "date", [0.0, 365.0]),
        ([10.5, None], "date", [10.5, None]),  # days since 1970, as they were read before
        ([datetime.datetime(1970, 1, 1, 12)], "date", [0.5]),
        ([None, None], "date", [None, None]),
        ([None, None], "category", [None, None]),
    ],
)
def test_a_kind_can_be_asked_for(values, kind, expected):
    table = read_table(pa.table({"c": values}), kinds={"c": kind})
    assert table.frame["c"].to_pylist() == expected
    column = table.column("c")
    assert (column.kind, column.n_missing) == (kind, expected.count(None))
    assert column.treatment.endswith(f"a {kind}, as asked")


@pytest.mark.parametrize(
    ("values", "kinds", "expected"),
    [
        (["1", "two"], {"c": "number"}, "column 'c' must hold numbers as its kind says; got 'two' in row 3."),
        (["x", "1"], {"c": "number"}, "column 'c' must hold numbers as its kind says; got 'x' in row 2."),
        (["", "1,5", "1.5.2"], {"c": "number"}, "column 'c' must hold numbers as its kind says; got '1.5.2' in row 4."),
        (
            ["1.1.2024", "13.13.2024"],
            {"c": "date"},
            "column 'c' must hold dates as its kind says; got '13.13.2024' in row 3.",
        ),
        (["12", "13"], {"c": "date"}, "column 'c' must hold dates as its kind says; got '12' in row 2."),
        (["1", "2"], {"d": "number"}, "column must be one of 'c', 'e'; got 'd'."),
        (
            ["1", "2"],
            {"c": "numbr"},
            "the kind of column 'c' must be one of number, category, date, text; got 'numbr' (did you mean 'number'?).",
        ),
        (["1", "2"], {"c": "id"}, "the kind of column 'c' must be one of number, category, date, text; got 'id'."),
    ],
)
def test_what_cannot_be_of_a_kind_is_one_sentence(tmp_path, values, kinds, expected):
    path = tmp_path / "t.csv"
    path.write_text("c;e\n" + "".join(f"{value};0\n" for value in values))
    with pytest.raises(TableError) as caught:
        read_table(path, kinds=kinds)
    assert str(caught.value) == f"t.csv: {expected}"


def test_rows_of_a_frame_are_counted_from_1():
    with pytest.raises(TableError, match=r"^table: column 'c' must hold numbers as its kind says; got 'x' in row 2\.$"):
        read_table({"c": ["1", "x"]}, kinds={"c": "number"})
    with pytest.raises(TableError, match=r"^table: column 'c' must hold dates as its kind says; got bool\.$"):
        read_table({"c": [True]}, kinds={"c": "date"})


def test_other_columns_of_a_table_stay_as_they_are():
    before = read_table({"a": ["1.1.2024", "31.1.2024"], "b": [1, 2], "c": ["x", "y"]})
    after = before.of_kinds(Asked({"b": "number"}))
    assert after.kinds() == {"a": "date", "b": "number", "c": "id"}
    assert after.frame.select(["a", "c"]).equals(before.frame.select(["a", "c"]))
    assert after.column("a") == before.column("a")
