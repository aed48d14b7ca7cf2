"""Rows on both sides: found by marks as by comparing all rows, and no alarm where rows are equal by nature."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eigenwood.data.tables import read_table
from eigenwood.runs.leaks.duplicates import duplicate_findings, marks_of
from eigenwood.runs.settings import Split

TRAIN, TEST = np.arange(300), np.arange(300, 400)
SPLIT = Split(TRAIN, TEST)


def measured(seed=0):
    """Return 400 rows with a measurement, a category, and a target that follows from nothing."""
    rng = np.random.default_rng(seed)
    return {
        "size": rng.normal(size=400),
        "colour": np.array(["red", "blue", None], dtype=object)[rng.integers(3, size=400)],
        "sold": np.array(["yes", "no"], dtype=object)[rng.integers(2, size=400)],
    }


def findings(columns, split=SPLIT, target="sold"):
    return duplicate_findings(read_table({name: list(values) for name, values in columns.items()}), target, split)


def test_marks_are_equal_where_rows_are():
    columns = {"x": [1.0, 1.0, None, None, -0.0, 0.0], "s": ["a", "b", "a", "a", None, None]}
    whole = marks_of(read_table(pa.table(columns)), ["x", "s"]).whole
    rows = list(zip(*columns.values(), strict=True))
    for i in range(6):
        for j in range(6):
            assert (whole[i] == whole[j]) == (rows[i] == rows[j])


def test_values_may_not_change_columns():
    columns = {"x": [1.0, 2.0, 5.0], "y": [2.0, 1.0, 5.0]}
    whole = marks_of(read_table(pa.table(columns)), ["x", "y"]).whole
    assert np.unique(whole).size == 3


def test_copies_are_counted_and_those_with_the_same_target():
    columns = measured()
    for name in ("size", "colour", "sold"):
        columns[name][TEST[:10]] = columns[name][TRAIN[:10]]
    columns["sold"][TEST[:2]] = np.where(columns["sold"][TRAIN[:2]] == "yes", "no", "yes")
    (finding,) = findings(columns)
    assert finding.serious
    assert finding.sentence == (
        "10 of 100 test rows are copies of training rows in all 2 columns, 8 of them with the same 'sold'."
    )
    assert finding.evidence == {"n_copies": 10, "n_equal": 10, "n_test": 100, "n_same_target": 8}


def test_no_measurement_is_equal_by_nature():
    assert findings(measured()) == []


def test_few_copies_are_not_serious():
    columns, split = measured(), Split(np.arange(150), np.arange(150, 400))
    for name in columns:
        columns[name][[398, 399]] = columns[name][[0, 1]]
    (finding,) = findings(columns, split)
    assert not finding.serious


@pytest.mark.parametrize("n_columns", [1, 3, 8])
def test_rows_of_few_values_are_equal_by_nature(n_columns):
    rng = np.random.default_rng(n_columns)
    columns = {f"x{j}": np.array(["a", "b"], dtype=object)[rng.integers(2, size=400)] for j in range(n_columns)}
    assert findings({**columns, "sold": measured()["sold"]}) == []


def test_equal_rows_with_other_targets_are_other_measurements_of_one_thing():
    columns = measured()
    columns["size"][TEST[:10]], columns["colour"][TEST[:10]] = (
        columns["size"][TRAIN[:10]],
        columns["colour"][TRAIN[:10]],
    )
    columns["price"] = np.random.default_rng(1).normal(size=400)
    del columns["sold"]
    assert findings(columns, target="price") == []


def test_row_numbers_do_not_hide_copies():
    columns = measured()
    for name in columns:
        columns[name][TEST[:10]] = columns[name][TRAIN[:10]]
    columns["row"] = np.arange(1, 401)
    assert len(findings(columns)) == 1
