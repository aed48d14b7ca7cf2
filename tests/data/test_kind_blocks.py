"""Blocks of clean columns: the same values however rows are cut, read as a whole table is read."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from eigenwood.data import kind_blocks
from eigenwood.data.blocks import open_source
from eigenwood.data.cleaning import Asked
from eigenwood.data.kind_blocks import blocks_of_kinds
from eigenwood.data.readings import COMMA_DECIMAL, MONTH_FIRST
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError

KINDS = {"size": "number", "when": "date", "zip": "category", "plain": "number"}


@pytest.fixture
def columns():
    """Rows whose first part can be read in several ways."""
    rng = np.random.default_rng(0)
    sizes = ["12", "1.234"] * 50 + [f"{size:.1f}".replace(".", ",") for size in rng.normal(size=100)]
    dates = ["01/02/2024"] * 150 + ["31/12/2023"] * 50
    zips = [f"0{code}" for code in rng.integers(1000, 1010, 200)]
    return {"other": ["x"] * 200, "when": dates, "size": sizes, "zip": zips, "plain": [str(i) for i in range(200)]}


def rows_of(source, rows, asked):
    blocks = list(blocks_of_kinds(open_source(source), asked, rows))
    assert all(block.num_rows == rows for block in blocks[:-1])
    return pa.concat_tables(blocks)


@pytest.fixture(params=["csv", "parquet", "frame"])
def source(request, columns, tmp_path):
    if request.param == "frame":
        return pa.table(columns)
    if request.param == "parquet":
        pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=30)
        return tmp_path / "t.parquet"
    lines = [";".join(columns), *map(";".join, zip(*columns.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return tmp_path / "t.csv"


@pytest.mark.parametrize("rows", [1, 7, 100, 10_000])
def test_the_same_values_for_any_number_of_rows(source, rows, monkeypatch):
    monkeypatch.setattr(kind_blocks, "SETTLING_ROWS", rows)
    whole = read_table(source, kinds=KINDS).frame.select(list(KINDS))
    assert rows_of(source, rows, Asked(KINDS)).to_pydict() == whole.to_pydict()
    assert whole["size"].to_pylist()[:2] == [12.0, 1234.0]
    assert whole["when"].to_pylist()[0] == 19754.0  # the first of February


def test_a_reading_of_training_is_preferred(columns):
    first = pa.table(columns).slice(0, 100)
    asked = Asked(KINDS, {"size": COMMA_DECIMAL, "when": MONTH_FIRST})
    assert rows_of(first, 30, asked)["size"].to_pylist()[:2] == [12.0, 1234.0]
    assert rows_of(first, 30, asked)["when"].to_pylist()[0] == 19724.0  # the second of January
    assert rows_of(first, 30, Asked(KINDS))["size"].to_pylist()[:2] == [12.0, 1.234]


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (150, "lots", "got 'lots' in row 152."),
        (199, "1.5.2", "got '1.5.2' in row 201."),
        (0, "lots", "got 'lots' in row 2."),
    ],
)
def test_what_is_no_number_is_named_with_its_row(tmp_path, columns, rows, place, value, expected, monkeypatch):
    monkeypatch.setattr(kind_blocks, "SETTLING_ROWS", rows)
    columns["size"][place] = value
    path = tmp_path / "t.csv"
    path.write_text("size;zip\n" + "".join(f"{a};{b}\n" for a, b in zip(columns["size"], columns["zip"], strict=True)))
    with pytest.raises(TableError) as caught:
        rows_of(path, rows, Asked({"size": "number"}, why="as it did in training"))
    assert str(caught.value) == f"t.csv: column 'size' must hold numbers as it did in training; {expected}"


def test_an_array_has_no_columns(tmp_path):
    np.save(tmp_path / "t.npy", np.ones((3, 2)))
    with pytest.raises(TableError, match=r"^t.npy: must be a table with names of columns; got an array\.$"):
        rows_of(tmp_path / "t.npy", 2, Asked({"x0": "number"}))
