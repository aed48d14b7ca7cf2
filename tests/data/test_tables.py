"""Tables: the same table from every source, and the task that a target sets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eigenwood.data.kinds import MISSING_IN_TEXT_FILES
from eigenwood.data.tables import Column, read_table, target_task, write_table
from eigenwood.errors import TableError

COLUMNS = {
    "row": [1, 2, 3, 4, 5],
    "size": [1.5, None, 2.5, 2.5, 0.25],
    "colour": ["red", "blue", None, "red", "red"],
    "smoker": [True, False, True, True, False],
    "same": ["x"] * 5,
}
KINDS = {"row": "id", "size": "number", "colour": "category", "smoker": "category", "same": "constant"}


def as_file(ending):
    def write(folder):
        write_table(COLUMNS, folder / f"t{ending}")
        return folder / f"t{ending}"

    return write


SOURCES = {
    "mapping": lambda folder: COLUMNS,
    "pyarrow": lambda folder: pa.table(COLUMNS),
    "pandas": lambda folder: pd.DataFrame(COLUMNS, index=list("abcde")),
    "polars": lambda folder: pl.DataFrame(COLUMNS),
    "polars lazy": lambda folder: pl.LazyFrame(COLUMNS),
    "table": lambda folder: read_table(COLUMNS),
    **{ending: as_file(ending) for ending in (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather")},
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(source, tmp_path):
    table = read_table(SOURCES[source](tmp_path))
    assert table.kinds() == KINDS
    assert table.frame.to_pydict() == {
        "row": ["1", "2", "3", "4", "5"],
        "size": [1.5, None, 2.5, 2.5, 0.25],
        "colour": ["red", "blue", None, "red", "red"],
        "smoker": ["true", "false", "true", "true", "false"],
        "same": ["x"] * 5,
    }
    assert table.column("size") == Column("size", "number", n_missing=1, n_distinct=3)


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Z", "Cs")), max_size=5).filter(
    lambda word: word not in MISSING_IN_TEXT_FILES and word.strip() == word
)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    rows=st.lists(st.tuples(st.none() | numbers, st.none() | words), min_size=1, max_size=20),
    ending=st.sampled_from([".csv", ".tsv", ".parquet", ".arrow"]),
)
def test_writing_and_reading_changes_nothing(tmp_path, rows, ending):
    before = read_table(
        {"x": pa.array([x for x, _ in rows], pa.float64()), "w": pa.array([w for _, w in rows], pa.string())}
    )
    write_table(before, tmp_path / f"t{ending}")
    after = read_table(tmp_path / f"t{ending}")
    # A float that happens to be whole is written without its point, so a run of them comes back as an id.
    if after.kinds() == before.kinds():
        assert after.columns == before.columns
        assert after.frame.to_pydict() == before.frame.to_pydict()
    else:
        assert after.kinds()["x"] == "id"


def test_a_lone_column_keeps_its_missing_rows(tmp_path):
    write_table({"x": [1.5, None, 2.5]}, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").frame["x"].to_pylist() == [1.5, None, 2.5]


def test_pandas_oddities():
    frame = pd.DataFrame({0: [1.5, 2.5], 1: pd.Categorical(["u", "v"])})
    table = read_table(frame)
    assert table.kinds() == {"0": "number", "1": "category"}
    with pytest.raises(TableError, match=r"^table: columns must differ in name and hold one type each; got: "):
        read_table(pd.DataFrame({"a": [1, "x"]}))
    with pytest.raises(TableError, match=r"^table: columns must differ in name and hold one type each; got: "):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("source", [None, 3, np.zeros((2, 2)), [1, 2]])
def test_what_is_not_a_table(source):
    with pytest.raises(TableError) as caught:
        read_table(source)
    assert str(caught.value) == (
        "table: must be a path, a pandas, polars or pyarrow frame, or a mapping of columns; "
        f"got {type(source).__name__}."
    )


# --- parts of a table --------------------------------------------------------------------------------


def test_select_and_drop():
    table = read_table(COLUMNS)
    assert table.select(["size", "row"]).kinds() == {"size": "number", "row": "id"}
    assert table.drop(["row", "same"]).frame.column_names == ["size", "colour", "smoker"]
    assert table.n_rows == 5


def test_taken_rows_keep_their_kinds_and_are_counted_anew():
    part = read_table(COLUMNS).take(np.array([3, 4]))
    assert part.kinds() == KINDS
    assert part.frame["size"].to_pylist() == [2.5, 0.25]
    assert part.column("colour") == Column("colour", "category", n_missing=0, n_distinct=1)
    assert part.name == "table"


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (
            lambda table: table.column("colours"),
            "table: column must be one of 'row', 'size', 'colour', 'smoker', 'same'; "
            "got 'colours' (did you mean 'colour'?).",
        ),
        (
            lambda table: target_task(table, "zzz"),
            "table: column must be one of 'row', 'size', 'colour', 'smoker', 'same'; got 'zzz'.",
        ),
        (lambda table: table.drop(KINDS), "table: must have at least one column; got none."),
        (lambda table: table.select(["row", "row"]), "table: column names must differ; got 'row' 2 times."),
        (
            lambda table: target_task(table, "same"),
            "table: target 'same' must hold at least two different values; got 1.",
        ),
    ],
)
def test_a_wrong_column_is_one_sentence(act, expected):
    with pytest.raises(TableError) as caught:
        act(read_table(COLUMNS))
    assert str(caught.value) == expected


def test_many_columns_are_not_all_listed():
    table = read_table({f"c{i}": [0.5, 1.5] for i in range(20)})
    with pytest.raises(TableError) as caught:
        table.column("x")
    assert str(caught.value) == (
        "table: column must be one of 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7' … (20 in all); got 'x'."
    )


# --- the task ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "a"], "classification"),
        (["a", "b", "c"], "classification"),
        ([True, False], "classification"),
        ([0, 1, 1], "classification"),
        ([-1.0, 1.0, None], "classification"),
        ([0.5, 1.5, 1.5], "regression"),
        ([1, 2, 3] * 2, "classification"),
        ([1, 5, 9, 9], "regression"),  # hardly repeats
        ([*range(20)] * 2, "classification"),
        ([*range(21)] * 2, "regression"),
        ([*range(21)], "regression"),  # row numbers, not 21 classes
        ([0.5 * i for i in range(10)], "regression"),
        (["2020-01-01", "2020-02-01", "2020-03-01"], "regression"),
    ],
)
def test_the_task_follows_from_the_target(values, task):
    assert target_task(read_table({"y": values}), "y") == task
