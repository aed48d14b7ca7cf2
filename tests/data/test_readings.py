"""Readings of strings: each form that people write, what is none of them, and what decides between two."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eigenwood.data.readings import (
    COMMA_DECIMAL,
    DAY_FIRST,
    ISO,
    ISO_ZONED,
    MONTH_FIRST,
    PLAIN,
    POINT_DECIMAL,
    READINGS,
    YEAR_FIRST,
    all_fits,
    chosen_readings,
    first_misfit,
    plainly_read,
    read_as,
    treatment_of,
)
from eigenwood.data.tables import read_table


def column(*strings):
    return pa.chunked_array([pa.array(strings, pa.string())])


def values(*strings):
    """Return the reading of a column and its values."""
    text = column(*strings)
    name = all_fits(text).best()
    return name, None if name is None else read_as(text, name).to_pylist()


def days(year, month, day, hour=0, minute=0, second=0.0):
    moment = datetime.datetime(year, month, day, hour, minute) + datetime.timedelta(seconds=second)
    return (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)


@pytest.mark.parametrize(
    ("strings", "name", "expected"),
    [
        (("1.5", "-2e3"), PLAIN, [1.5, -2000.0]),
        (("1,5", "12"), COMMA_DECIMAL, [1.5, 12.0]),
        (("1.234,56", "7"), COMMA_DECIMAL, [1234.56, 7.0]),
        (("1.234.567", "7"), COMMA_DECIMAL, [1234567.0, 7.0]),
        (("1,234.5", "7"), POINT_DECIMAL, [1234.5, 7.0]),
        (("1,234,567", "7"), POINT_DECIMAL, [1234567.0, 7.0]),
        (("1 234,5", "7"), "1 234,56", [1234.5, 7.0]),
        (("1\u00a0234,5", "1\u202f234,5"), "1 234,56", [1234.5, 1234.5]),
        (("1 234.5", "7"), "1 234.56", [1234.5, 7.0]),
        (("1'234.5", "1’234.5"), "1'234.56", [1234.5, 1234.5]),
        (("$1,234.50", "$ 7", "-$2"), POINT_DECIMAL, [1234.5, 7.0, -2.0]),
        (("1.234,50 €", "7€", "8"), COMMA_DECIMAL, [1234.5, 7.0, 8.0]),
        (("CHF 7.50", "8"), POINT_DECIMAL, [7.5, 8.0]),
        (("12 %", "7.5%"), POINT_DECIMAL, [12.0, 7.5]),
        (("−1,5", "+2,5"), COMMA_DECIMAL, [-1.5, 2.5]),
        (("1,5E+03", ",5"), COMMA_DECIMAL, [1500.0, 0.5]),
        (("0,123", "7"), COMMA_DECIMAL, [0.123, 7.0]),
        (("1234,567", "7"), COMMA_DECIMAL, [1234.567, 7.0]),
        (("23:59", "7:05:30"), "hours:minutes", [1439 / 1440, (7 * 3600 + 330) / 86400]),
        (("2024-12-31", "2024-12-31 23:59"), ISO, [days(2024, 12, 31), days(2024, 12, 31, 23, 59)]),
        (("2024-12-31T23:59Z",), ISO_ZONED, [days(2024, 12, 31, 23, 59)]),
        (("31.12.2024", "1.2.2023"), DAY_FIRST, [days(2024, 12, 31), days(2023, 2, 1)]),
        (("31/12/24 7:05", "01/02/69"), DAY_FIRST, [days(2024, 12, 31, 7, 5), days(1969, 2, 1)]),
        (("31.12.68", "01.02.23"), DAY_FIRST, [days(2068, 12, 31), days(2023, 2, 1)]),
        (("31 Dec 2024", "1-feb-23"), DAY_FIRST, [days(2024, 12, 31), days(2023, 2, 1)]),
        (("2nd March, 2023", "3 Sept. 2023"), DAY_FIRST, [days(2023, 3, 2), days(2023, 9, 3)]),
        (("12/31/2024", "1/2/2023"), MONTH_FIRST, [days(2024, 12, 31), days(2023, 1, 2)]),
        (("12/31/2024 11:59 pm", "1/2/2023 12:00 AM"), MONTH_FIRST, [days(2024, 12, 31, 23, 59), days(2023, 1, 2)]),
        (("Dec 31, 2024", "May 5, 2023 7:05:01.5"), MONTH_FIRST, [days(2024, 12, 31), days(2023, 5, 5, 7, 5, 1.5)]),
        (("2024/12/31", "2024/1/2 7:05"), YEAR_FIRST, [days(2024, 12, 31), days(2024, 1, 2, 7, 5)]),
        (("2024-12-31 9:05", "2024-01-01"), YEAR_FIRST, [days(2024, 12, 31, 9, 5), days(2024, 1, 1)]),
        (("29.2.2024", None), DAY_FIRST, [days(2024, 2, 29), None]),
    ],
)  # fmt: skip
def test_what_people_write(strings, name, expected):
    got, read = values(*strings)
    assert got == name
    assert read == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "strings",
    [
        ("a", "1"),
        ("$5", "€7"),  # two currencies
        ("12 %", "0.5"),  # a share or percent
        ("1,2,3",),
        ("12,34,567",),
        ("01,234", "1,2345,678"),
        ("1.2.3",),  # a version
        ("1.2.10",),
        ("192.168.1.1",),
        ("12-34",),
        ("030 1234567",),
        ("+49 30 1234",),
        ("30.2.2024",),  # no such day
        ("29.2.2023",),
        ("31.12.2024", "12/31/2024"),  # both orders
        ("13/13/2024",),
        ("1/2.2024",),
        ("1.2.2024 24:00",),
        ("1/2/2024 13:00 pm",),
        ("7:65",),
        ("7:5",),
        ("--5,0",),
        ("-$-5",),
        ("maybe 5, 2024",),
        ("(5)",),
    ],
)
def test_what_is_no_number_and_no_date(strings):
    assert values(*strings) == (None, None)


def test_a_misfit_is_found_far_down():
    assert first_misfit(column(*["1,5"] * 999, "1.5.2"), COMMA_DECIMAL) == 999
    assert first_misfit(column("31.12.2024", "30.2.2024", "1.1.2024"), DAY_FIRST) == 1


# --- one column alone ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strings", "name"),
    [
        (("1,234", "5,678"), POINT_DECIMAL),
        (("01/02/2024", "03/04/2024"), MONTH_FIRST),
        (("01.02.2024", "03.04.2024"), DAY_FIRST),
        (("01/02/2024", "01/03/2024"), DAY_FIRST),  # the first of each month
        (("02.01.2024", "03.01.2024"), DAY_FIRST),
        (("02-01-2024", "03-01-2024"), DAY_FIRST),
        (("01/01/2024",), MONTH_FIRST),
    ],
)
def test_where_two_readings_fit_the_usual_one_is_taken(strings, name):
    assert all_fits(column(*strings)).best() == name


def test_a_preferred_reading_is_taken_where_it_fits():
    assert all_fits(column("1,234")).best([COMMA_DECIMAL]) == COMMA_DECIMAL
    assert all_fits(column("1,234.5")).best([COMMA_DECIMAL]) == POINT_DECIMAL


@pytest.mark.parametrize(
    ("strings", "words"),
    [
        (("1.234,56", "7"), "1.234,56 read as 1234.56"),
        (("1,5", "12,25"), "12,25 read as 12.25"),
        (("12 %",), "12 % read as 12"),
        (("31.12.2024", "1.2.2024"), "31.12.2024 read as 2024-12-31"),
        (("12/31/2024 11:59 pm",), "12/31/2024 11:59 pm read as 2024-12-31T23:59:00"),
        (("01/02/2024", "03/04/2024"), "01/02/2024 read as 2024-01-02 (2024-02-01 is possible, too)"),
        (("1,234",), "1,234 read as 1234 (1.234 is possible, too)"),
        (("1.5",), ""),
        (("2024-12-31",), ""),
        ((None,), ""),
    ],
)
def test_the_treatment_shows_an_example(strings, words):
    text = column(*strings)
    plain = plainly_read(text)
    fit = all_fits(text)
    name = fit.best() if plain is None else plain.name
    assert treatment_of(text, name, fit) == words


# --- columns beside each other -------------------------------------------------------------------


def test_other_columns_decide_what_one_leaves_open():
    fits = {"a": all_fits(column("1,234")), "b": all_fits(column("1,5")), "c": all_fits(column("x"))}
    assert chosen_readings(fits, {}) == {"a": COMMA_DECIMAL, "b": COMMA_DECIMAL, "c": None}
    contested = {**fits, "d": all_fits(column("1,234.5"))}
    assert chosen_readings(contested, {})["a"] == POINT_DECIMAL
    assert chosen_readings(fits, {"a": POINT_DECIMAL})["a"] == POINT_DECIMAL


def test_dates_follow_the_order_of_other_dates():
    table = read_table({"a": ["01/02/2024", "03/04/2024"], "b": ["31/12/2024", "01/02/2024"]})
    assert table.readings() == {"a": DAY_FIRST, "b": DAY_FIRST}
    assert table.frame["a"][0].as_py() == days(2024, 2, 1)


def test_points_stand_between_thousands_where_commas_stand_before_decimals():
    columns = {"a": ["1.234", "12.345"], "b": ["1,5", "2,5"], "d": ["7", "9"]}
    table = read_table(columns)
    assert table.frame["a"].to_pylist() == [1234.0, 12345.0]
    assert table.treatments()["a"] == "12.345 read as 12345 (12.345 is possible, too)"
    assert "d" not in table.treatments()
    assert read_table({"a": columns["a"]}).frame["a"].to_pylist() == [1.234, 12.345]
    contested = read_table({**columns, "c": ["1.5", "2.25"]})
    assert contested.frame["a"].to_pylist() == [1.234, 12.345]


# --- properties ------------------------------------------------------------------------------------

DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31))
FORMS = {
    DAY_FIRST: lambda d: f"{d.day}.{d.month}.{d.year}",
    MONTH_FIRST: lambda d: f"{d.month}/{d.day}/{d.year}",
    YEAR_FIRST: lambda d: f"{d.year}/{d.month:02}/{d.day}",
}


@pytest.mark.parametrize("name", FORMS)
@given(st.lists(DATES, min_size=1, max_size=8))
def test_dates_are_read_as_python_reads_them(name, dates):
    read = read_as(column(*map(FORMS[name], dates)), name)
    assert read.to_pylist() == [days(d.year, d.month, d.day) for d in dates]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8), st.integers(0, 3))
def test_numbers_are_read_back_from_every_way_of_writing(wholes, n_decimals):
    numbers = [whole / 10**n_decimals for whole in wholes]
    english = [f"{number:,.{n_decimals}f}" for number in numbers]
    swap = str.maketrans(",.", ".,")
    for name, strings in (
        (POINT_DECIMAL, english),
        (COMMA_DECIMAL, [string.translate(swap) for string in english]),
        ("1 234.56", [string.replace(",", " ") for string in english]),
        ("1'234.56", [string.replace(",", "'") for string in english]),
    ):
        assert read_as(column(*strings), name).to_pylist() == pytest.approx(numbers, rel=1e-15)


@given(
    st.lists(
        st.sampled_from(["1,5", "1.5", "1,234", "12", "31.12.2024", "1/2/24", "7:05", "x", None, "5 %"]), min_size=2
    )
)
def test_what_fits_the_parts_fits_the_whole(strings):
    parts = column(*strings[: len(strings) // 2]), column(*strings[len(strings) // 2 :])
    assume(all(part.null_count < len(part) for part in parts))
    joined = all_fits(parts[0]).joined(all_fits(parts[1])).readings - {"5"}
    percent = {name for name in READINGS if "5 %" in strings and any(s not in (None, "5 %") for s in strings)}
    assert joined - percent == all_fits(column(*strings)).readings - percent


def test_microseconds_are_kept():
    (value,) = read_as(column("1.2.2024 23:59:59.999999"), DAY_FIRST).to_pylist()
    moment = np.datetime64("1970-01-01") + np.timedelta64(round(value * 86400e6), "us")
    assert moment == np.datetime64("2024-02-01T23:59:59.999999")
