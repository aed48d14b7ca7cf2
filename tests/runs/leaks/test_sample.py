"""Columns as numbers: the alphabet, missing values, the parts of an id, and rows that are drawn once for all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from eigenwood.data.tables import read_table
from eigenwood.runs.leaks.ordering import ID_NAME
from eigenwood.runs.leaks.sample import FILE_ORDER, MOST_ROWS, as_line, blocks, lines_of, sample_of
from eigenwood.runs.settings import Split


def test_strings_are_their_place_in_the_alphabet():
    column = pa.chunked_array([["pear", None], ["apple", "pear", "fig"]])
    assert_array_equal(as_line(column), [2.0, np.nan, 0.0, 2.0, 1.0])


def test_an_id_is_its_number_and_its_prefix():
    number, prefix = lines_of("id", "id", pa.chunked_array([["B-10", "A-9", "A-11"]]))
    assert_array_equal(number.values, [10.0, 9.0, 11.0])
    assert_array_equal(prefix.values, [1.0, 0.0, 0.0])


def test_an_id_without_numbers_is_one_line():
    (line,) = lines_of("id", "id", pa.chunked_array([["b", "a", "c1"]]))
    assert_array_equal(line.values, [1.0, 0.0, 2.0])


def test_a_constant_counts_only_where_it_has_gaps():
    assert lines_of("mark", "constant", pa.chunked_array([["x", "x"]])) == []
    assert len(lines_of("mark", "constant", pa.chunked_array([["x", None]]))) == 1


def test_blocks_hold_the_order_of_the_file_and_every_column_of_the_training_rows():
    table = read_table({"x": [0.5, 0.1, None, 0.4], "s": list("abab"), "y": list("nnyy")})
    sample = sample_of(table, "y", "classification", Split(np.array([0, 2, 3]), np.array([1])))
    (block,) = blocks(sample)
    assert [line.name for line in block.lines] == [FILE_ORDER, "x", "s"]
    order = np.argsort(sample.positions)
    assert_array_equal(block.values[:, order], [[0, 2, 3], [0.5, np.nan, 0.4], [0, 0, 1]])
    assert_array_equal(sample.target.codes[order], [0, 1, 1])


def test_long_tables_are_sampled():
    n = MOST_ROWS + 10_000
    table = read_table({"x": np.arange(n) / 7, "y": np.arange(n) % 2})
    sample = sample_of(table, "y", "classification", Split(np.arange(n - 5000), np.arange(n - 5000, n)))
    assert sample.n_rows == MOST_ROWS
    assert sample.positions.max() < n - 5000
    assert_array_equal(sample.target.codes, sample.positions % 2)


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "patientId", "row", "case no", "Serial"])
def test_names_of_ids(name):
    assert ID_NAME.search(name)


@pytest.mark.parametrize("name", ["paid", "width", "grid", "acid", "notes", "arrow", "solid"])
def test_names_of_other_columns(name):
    assert not ID_NAME.search(name)
