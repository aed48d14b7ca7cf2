"""Columns of a stream: those that hold numbers are found by a look at the first rows, others are copied as they are."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from eigenwood.data import datasets
from eigenwood.data.blocks import blocks
from eigenwood.data.columns import MOST_ROWS, beside, number_columns
from eigenwood.data.tables import write_table
from eigenwood.errors import TableError

COLUMNS = {
    "row": [1, 2, 3, 4],
    "size": [70.5, 65.0, None, 80.0],
    "rooms": [3, 2, 2, 3],
    "town": ["a", "b", "a", "b"],
    "always": [7.0, 7.0, 7.0, 7.0],
    "same": ["x", "x", "x", "x"],
    "nothing": pa.array([None, None, None, None], pa.float64()),
}
LEFT_OUT = {"row": "id", "town": "category", "same": "constant", "nothing": "empty"}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow"])
def test_every_format_has_the_same_number_columns(ending, tmp_path):
    write_table(COLUMNS, tmp_path / f"t{ending}")
    taken, left_out = number_columns(tmp_path / f"t{ending}")
    assert taken == ("size", "rooms", "always")
    assert left_out == LEFT_OUT
    assert list(left_out) == list(LEFT_OUT)


def test_a_frame_and_a_table_have_them_too():
    assert number_columns(pa.table(COLUMNS)).left_out == LEFT_OUT
    heart = number_columns(datasets.load("heart").table())
    assert heart.taken == ("age", "resting_pressure", "cholesterol", "max_heart_rate", "st_depression", "vessels")
    assert heart.left_out["disease"] == "category"


def test_columns_of_other_types():
    table = pa.table(
        {
            "list": [[1, 2], [3]],
            "flag": [True, False],
            "code": pa.array([5, 7]).dictionary_encode(),
            "day": [datetime.date(2024, 1, 2), datetime.date(2024, 3, 4)],
            "price": ["1,5", "2,25"],
        }
    )
    taken, left_out = number_columns(table)
    assert taken == ("price",)
    assert left_out == {"list": "list<item: int64>", "flag": "category", "code": "category", "day": "date"}
    assert np.concatenate(list(blocks(table, columns=taken))).tolist() == [[1.5], [2.25]]


def test_dates_are_numbers_where_they_are_named(text_file):
    path = text_file("t.csv", "day,x\n11.1.1970,1\n12.1.1970,2\n")
    assert np.concatenate(list(blocks(path, columns=["day"]))).tolist() == [[10.0], [11.0]]


def test_all_columns_of_an_array_are_numbers(tmp_path):
    np.save(tmp_path / "t.npy", np.arange(12.0).reshape(4, 3))
    assert number_columns(tmp_path / "t.npy") == (("x0", "x1", "x2"), {})


def test_no_numbers_is_one_sentence(text_file):
    path = text_file("t.csv", "a,b\nx,1\ny,2\nx,3\n")
    with pytest.raises(TableError, match=r"^t.csv: must have a column of numbers; got category, id.$"):
        number_columns(path)


def test_a_late_word_is_found_when_it_is_read(text_file):
    path = text_file("t.csv", "a,b\n" + "1.5,2\n0.5,3\n" * MOST_ROWS + "one,2\n")
    assert number_columns(path).taken == ("a", "b")
    with pytest.raises(
        TableError, match=rf"^t.csv: column 'a' must hold numbers; got 'one' in row {2 * MOST_ROWS + 2}"
    ):
        list(blocks(path, columns=["a", "b"]))


# --- columns as they are --------------------------------------------------------------------------


def scores_of(n_rows, block_rows=7):
    return blocks(np.arange(2.0 * n_rows).reshape(n_rows, 2), block_rows=block_rows)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_kept_columns_stand_beside_their_scores(ending, tmp_path):
    n_rows = 1_003
    names = [f"row, {i}" for i in range(n_rows)]
    write_table({"name": names, "size": np.arange(n_rows), "town": ["a"] * n_rows}, tmp_path / f"t{ending}")
    table = pa.concat_tables(beside(scores_of(n_rows), tmp_path / f"t{ending}", ["name"]))
    assert table.column_names == ["name", "x0", "x1"]
    assert table["name"].to_pylist() == names
    assert table["x0"].to_pylist() == list(range(0, 2 * n_rows, 2))


def test_kept_columns_keep_type_order_and_holes():
    frame = pa.table({"a": [1, None], "b": ["x", None], "c": pa.array(["u", "v"]).dictionary_encode()})
    table = pa.concat_tables(beside(scores_of(2), frame, ["c", "a", "b"]))
    assert table.schema.types[:3] == [pa.string(), pa.int64(), pa.string()]
    assert table.select(["c", "a", "b"]).to_pydict() == {"c": ["u", "v"], "a": [1, None], "b": ["x", None]}


def test_without_kept_columns_scores_stand_alone():
    assert pa.concat_tables(beside(scores_of(50), None, [])).column_names == ["x0", "x1"]


@pytest.mark.parametrize(
    ("source", "keep", "expected"),
    [
        (
            pa.table({"age": [1.0]}),
            ["aeg"],
            r"^table: column must be one of 'age'; got 'aeg' \(did you mean 'age'",
        ),
        (pa.table({"x0": [1.0]}), ["x0"], r"^table: column names must differ; got 'x0' 2 times.$"),
        (np.zeros((1, 1)), ["x5"], r"^blocks: must be a table with names of columns to keep some; got an array.$"),
    ],
)
def test_what_cannot_be_kept(source, keep, expected):
    with pytest.raises(TableError, match=expected):
        beside(scores_of(1), source, keep)
