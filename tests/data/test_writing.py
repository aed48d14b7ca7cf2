"""Rows that are written as they come: every format holds them all, and a failure leaves nothing."""

import weakref
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal

from eigenwood.data import writing
from eigenwood.data.blocks import blocks
from eigenwood.data.tables import read_table, write_table
from eigenwood.data.writing import FORMATS, write_rows
from eigenwood.errors import TableError

N_ROWS = 1_003


def numbers(dtype=np.float64):
    return np.random.default_rng(0).normal(size=(N_ROWS, 3)).astype(dtype)


def tables(X, rows=100):
    for start in range(0, len(X), rows):
        yield pa.table(list(X[start : start + rows].T), names=["x0", "x1", "x2"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_holds_the_rows(ending, dtype, tmp_path):
    X, path = numbers(dtype), tmp_path / f"t{ending}"
    assert write_rows(tables(X), path) == N_ROWS
    back = blocks(path, dtype=dtype)
    assert back.columns == ("x0", "x1", "x2")
    assert_array_equal(np.concatenate(list(back)), X)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv", ".npy"])
def test_how_the_rows_were_cut_does_not_matter(ending, tmp_path):
    X = numbers()
    for rows in (1, N_ROWS, 5_000):
        write_rows(tables(X, rows), tmp_path / f"{rows}{ending}")
        assert_array_equal(np.concatenate(list(blocks(tmp_path / f"{rows}{ending}"))), X)


@pytest.mark.parametrize("ending", FORMATS)
def test_no_more_than_a_few_tables_are_held_at_once(ending, tmp_path):
    seen, most = [], 0

    def watched():
        nonlocal most
        for i in range(200):
            table = pa.table({"x": np.full(10, float(i))})
            seen.append(weakref.ref(table))
            most = max(most, sum(one() is not None for one in seen))
            yield table
            del table

    assert write_rows(watched(), tmp_path / f"t{ending}") == 2_000
    assert most <= 4


def test_an_array_is_one_that_numpy_reads(tmp_path):
    X = numbers(np.float32)
    write_rows(tables(X), tmp_path / "t.npy")
    back = np.load(tmp_path / "t.npy", mmap_mode="r", allow_pickle=False)
    assert back.dtype == np.float32
    assert back.flags.c_contiguous
    assert_array_equal(back, X)


def test_integers_become_floats_in_an_array_and_what_is_missing_nan(tmp_path):
    write_table({"a": [1, None, 3], "b": [0.5, 1.5, 2.5]}, tmp_path / "t.npy")
    assert_array_equal(np.load(tmp_path / "t.npy"), [[1.0, 0.5], [np.nan, 1.5], [3.0, 2.5]])


def test_an_array_takes_numbers_alone(tmp_path):
    with pytest.raises(TableError, match=r"^t.npy: columns must be of types that .npy can hold; got: column 'b' of"):
        write_table({"a": [1.0], "b": ["x"]}, tmp_path / "t.npy")
    assert list(tmp_path.iterdir()) == []


def test_a_row_group_for_each_table(tmp_path):
    write_rows(tables(numbers(), 250), tmp_path / "t.parquet")
    assert pyarrow.parquet.ParquetFile(tmp_path / "t.parquet").metadata.num_row_groups == 5


def test_words_beside_numbers(tmp_path):
    parts = [pa.table({"name": ["a, b", None], "x": [1.5, 2.0]}), pa.table({"name": ['"c"', "d"], "x": [0.5, 1.0]})]
    for ending in (".csv", ".tsv", ".parquet", ".arrow"):
        write_rows(parts, tmp_path / f"t{ending}")
        frame = read_table(tmp_path / f"t{ending}").frame
        assert frame.to_pydict() == {"name": ["a, b", None, '"c"', "d"], "x": [1.5, 2.0, 0.5, 1.0]}


@pytest.mark.parametrize("ending", FORMATS)
def test_a_source_that_breaks_leaves_the_old_file_and_nothing_else(ending, tmp_path):
    path = tmp_path / f"t{ending}"
    path.write_text("old")

    def broken():
        yield from tables(numbers())
        raise TableError("far.csv: row 9 must hold numbers; got 'word'.")

    with pytest.raises(TableError, match=r"^far.csv: row 9 must hold numbers; got 'word'.$"):
        write_rows(broken(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    @contextmanager
    def half(path, schema):
        path.write_text("half")
        raise pa.ArrowInvalid("disk trouble")
        yield

    monkeypatch.setitem(writing.FORMATS, ".csv", writing.Format(half))
    with pytest.raises(TableError, match=r"^a.csv: columns must be of types that .csv can hold; got: disk trouble.$"):
        write_table({"x": [1, 2]}, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_is_told_before_anything_is_read(tmp_path):
    def never():
        raise AssertionError
        yield

    with pytest.raises(TableError, match=r"^t.docx: ending must be one of .csv, .*, .npy; got '.docx'.$"):
        write_rows(never(), tmp_path / "t.docx")
