"""Blocks: the same rows in the same blocks from every source, in bounded memory."""

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eigenwood.data.blocks import BLOCK_BYTES, blocks, default_block_rows
from eigenwood.data.row_blocks import regrouped
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError

N_ROWS = 1_003


def numbers(dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(N_ROWS, 3)).astype(dtype)
    X[5, 1] = X[700, 2] = np.nan
    return X


def as_arrow(X):
    return pa.table([pa.array(column, from_pandas=True) for column in X.T], names=["x0", "x1", "x2"])


def write_npy(X, folder, order="C"):
    np.save(folder / "t.npy", np.asarray(X, order=order))
    return folder / "t.npy"


def write_parquet(X, folder):
    pyarrow.parquet.write_table(as_arrow(X), folder / "t.parquet", row_group_size=130)
    return folder / "t.parquet"


def write_arrow(X, folder):
    with pa.ipc.new_file(str(folder / "t.arrow"), as_arrow(X).schema) as writer:
        writer.write_table(as_arrow(X), max_chunksize=77)
    return folder / "t.arrow"


def write_csv(X, folder):
    pyarrow.csv.write_csv(as_arrow(X), folder / "t.csv")
    return folder / "t.csv"


SOURCES = {
    "array": lambda X, folder: X,
    "fortran array": lambda X, folder: np.asfortranarray(X),
    "npy": write_npy,
    "fortran npy": lambda X, folder: write_npy(X, folder, "F"),
    "memmap": lambda X, folder: np.load(write_npy(X, folder), mmap_mode="r"),
    "fortran memmap": lambda X, folder: np.load(write_npy(X, folder, "F"), mmap_mode="r"),
    "memmap with changes": lambda X, folder: np.load(write_npy(X, folder), mmap_mode="c"),
    "part of a memmap": lambda X, folder: np.load(write_npy(np.vstack([X, X]), folder), mmap_mode="r")[N_ROWS:],
    "parquet": write_parquet,
    "arrow": write_arrow,
    "csv": write_csv,
    "pyarrow": lambda X, folder: as_arrow(X),
    "table": lambda X, folder: read_table(as_arrow(X)),
    "pandas": lambda X, folder: pd.DataFrame(X, columns=["x0", "x1", "x2"], index=range(N_ROWS, 0, -1)),
    "polars": lambda X, folder: pl.DataFrame(X, schema=["x0", "x1", "x2"]),
}


@pytest.mark.parametrize("block_rows", [1, 100, N_ROWS, 5_000, None])
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_blocks(source, block_rows, tmp_path):
    X = numbers()
    stream = blocks(SOURCES[source](X, tmp_path), block_rows=block_rows)
    expected = [X[start : start + stream.block_rows] for start in range(0, N_ROWS, stream.block_rows)]
    for _ in range(2):  # each loop starts again at the first row
        got = list(stream)
        assert [block.shape for block in got] == [block.shape for block in expected]
        assert_array_equal(np.concatenate(got), X)
        assert all(block.flags.c_contiguous and block.dtype == np.float64 for block in got)
    assert stream.columns == ("x0", "x1", "x2")
    assert stream.n_columns == 3
    assert stream.n_rows == (None if source == "csv" else N_ROWS)


@pytest.mark.parametrize("source", SOURCES)
def test_columns_are_picked_by_name_and_in_order(source, tmp_path):
    stream = blocks(SOURCES[source](numbers(), tmp_path), columns=["x2", "x0"], block_rows=64)
    assert stream.columns == ("x2", "x0")
    assert_array_equal(np.concatenate(list(stream)), numbers()[:, [2, 0]])


@pytest.mark.parametrize("source", sorted(set(SOURCES) - {"csv"}))
def test_float32_stays_float32(source, tmp_path):
    X = numbers(np.float32)
    stream = blocks(SOURCES[source](X, tmp_path), block_rows=64)
    assert stream.dtype == np.float32
    assert_array_equal(np.concatenate(list(stream)), X)
    assert blocks(SOURCES[source](X, tmp_path), dtype=np.float64).dtype == np.float64


@pytest.mark.parametrize("source", SOURCES)
def test_writing_into_a_block_changes_nothing_else(source, tmp_path):
    stream = blocks(SOURCES[source](numbers(), tmp_path), block_rows=2_000)
    for block in stream:
        block[:] = 0
    assert_array_equal(np.concatenate(list(stream)), numbers())


def test_two_loops_at_once_do_not_disturb_each_other(tmp_path):
    stream = blocks(write_parquet(numbers(), tmp_path), block_rows=10)
    for first, second in zip(stream, stream, strict=True):
        assert_array_equal(first, second)


@given(
    lengths=st.lists(st.integers(0, 20), max_size=15),
    block_rows=st.integers(1, 30),
)
def test_regrouping_keeps_rows_and_fills_blocks(lengths, block_rows):
    rows = np.arange(2.0 * sum(lengths)).reshape(-1, 2)
    got = list(regrouped(np.split(rows, np.cumsum(lengths)), block_rows))
    assert_array_equal(np.concatenate([np.empty((0, 2)), *got]), rows)
    assert all(len(block) == block_rows for block in got[:-1])
    assert all(0 < len(block) <= block_rows for block in got)


def test_the_default_block_fits_the_budget_and_is_never_empty():
    assert blocks(np.zeros((3, 1000))).block_rows == BLOCK_BYTES // 8000
    assert blocks(np.zeros((3, 1000), np.float32)).block_rows == BLOCK_BYTES // 4000
    assert default_block_rows(5_000_000, np.dtype(np.float64)) == 1


def test_integers_booleans_dates_and_number_words_are_numbers(text_file):
    frame = {
        "i": [1, 2],
        "b": [True, False],
        "w": ["3", "?"],
        "d": np.array(["1970-01-02", "1970-01-03"], "M8[D]"),
    }
    assert_array_equal(next(iter(blocks(pa.table(frame)))), [[1, 1, 3, 1], [2, 0, np.nan, 2]])
    path = text_file("t.csv", "a, b\n1, NA\n?,2.5\n")
    assert_array_equal(next(iter(blocks(path))), [[1, np.nan], [np.nan, 2.5]])


# --- memory ------------------------------------------------------------------------------------------

MEASURE = """
    import re, sys
    from pathlib import Path
    import numpy as np
    from eigenwood.data.blocks import blocks

    def peak():  # not ru_maxrss: a child process starts with its parent's peak
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

    def sweep(path):
        source = np.load(path, mmap_mode="r") if how != "path" else path
        source = source[:] if how == "view" else source
        for block in blocks(source, block_rows=2_000):
            pass

    small, large, how = sys.argv[1:]
    sweep(small)
    before = peak()
    sweep(large)
    print(peak() - before)
"""

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


def write_large(path, n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 50))
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(
            pa.table(list(X.T), names=[f"x{j}" for j in range(50)]), path, row_group_size=20_000
        )
    else:
        pyarrow.csv.write_csv(pa.table(list(X.T), names=[f"x{j}" for j in range(50)]), path)


def growth(folder, ending, n_rows, how):
    """Return by how much peak memory grew from a small file to a large one, as a share of the large file."""
    small, large = folder / f"small{ending}", folder / f"large{ending}"
    write_large(small, 20_000)
    write_large(large, n_rows)
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), str(small), str(large), how]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / large.stat().st_size


@needs_proc
@pytest.mark.parametrize(
    ("ending", "n_rows", "how"),
    [
        (".npy", 200_000, "path"),
        (".npy", 200_000, "memmap"),
        (".parquet", 500_000, "path"),
        (".csv", 180_000, "path"),
    ],
)
def test_memory_does_not_grow_with_the_file(ending, n_rows, how, tmp_path):
    """Reading ahead costs Arrow 20 to 40 MB whatever the size of the file, so the files are well above that."""
    assert growth(tmp_path, ending, n_rows, how) < 0.25


@needs_proc
def test_the_measure_of_memory_can_fail(tmp_path):
    """A view into a map is used as it is, so its pages stay: the control for the test above."""
    assert growth(tmp_path, ".npy", 200_000, "view") > 0.5


# --- errors ------------------------------------------------------------------------------------------


def sentence(*args, **kwargs):
    with pytest.raises(TableError) as caught:
        list(blocks(*args, **kwargs))
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        (np.zeros(3), {}, "blocks: array must have 2 dimensions; got 1."),
        (np.zeros((2, 2), complex), {}, "blocks: array must hold numbers; got dtype complex128."),
        (np.zeros((2, 2), object), {}, "blocks: array must hold numbers; got dtype object."),
        (np.zeros((2, 0)), {}, "blocks: must have at least one column; got none."),
        (np.zeros((2, 2)), {"block_rows": 0}, "blocks: block_rows must be an integer above 0; got 0."),
        (np.zeros((2, 2)), {"block_rows": 1.5}, "blocks: block_rows must be an integer above 0; got 1.5."),
        (np.zeros((2, 2)), {"dtype": int}, "blocks: dtype must be float32 or float64; got int64."),
        (np.zeros((2, 2)), {"columns": []}, "blocks: must have at least one column; got none."),
        (np.zeros((2, 2)), {"columns": ["x0", "x0"]}, "blocks: column names must differ; got 'x0' 2 times."),
        (
            pa.table({"age": [1, 2], "sex": ["m", "f"]}),
            {"columns": ["aged"]},
            "table: column must be one of 'age', 'sex'; got 'aged' (did you mean 'age'?).",
        ),
        (pa.table({"sex": ["1", "f"]}), {}, "table: column 'sex' must hold numbers; got 'f' in row 2."),
        (pa.table({"v": [[1], [2]]}), {}, "table: column 'v' must hold numbers; got list<item: int64>."),
        (
            7,
            {},
            "table: must be a path, a pandas, polars or pyarrow frame, or a mapping of columns; got int.",
        ),
    ],
)
def test_a_bad_source_is_one_sentence(source, options, expected):
    assert sentence(source, **options) == expected


def test_a_word_far_down_a_file_is_named_with_its_row(text_file):
    lines = ["x,y"] + ["1,2"] * 500_000
    lines[400_000] = "1,two"
    path = text_file("long.csv", "\n".join(lines))
    assert sentence(path) == "long.csv: column 'y' must hold numbers; got 'two' in row 400001."
    assert len(list(blocks(path, columns=["x"], block_rows=250_000))) == 2


def test_bad_files(text_file):
    expected = "a.csv: row 3 must have 2 columns like the header; got 1, nothing for 'y'."
    assert sentence(text_file("a.csv", "x,y\n1,2\n3\n")) == expected
    assert sentence(text_file("a.npy", b"abc")).startswith("a.npy: must be a whole .npy file of numbers; got one")
    assert sentence(text_file("a.parquet", b"abc")).startswith("a.parquet: must be a whole Parquet file; got one")
    assert sentence(text_file("a.arrow", b"abc")).startswith("a.arrow: must be a whole Arrow file; got one")
    assert sentence(text_file("a.xls", b"abc")).startswith("a.xls: ending must be one of .npy, .csv, ")


def test_a_column_of_dates_does_not_turn_into_numbers_further_down(tmp_path):
    path = tmp_path / "mixed.csv"
    for n_dates in (190_640, 190_650, 190_660):
        path.write_text("when\n" + "2020-01-01\n" * n_dates + "7\n" * 1000)
        with pytest.raises(TableError, match=f"must hold dates; got '7' in row {n_dates + 2}"):
            list(blocks(path))


# --- several files, and rows from the middle --------------------------------------------------------


def write_parts(X, folder, lengths, row_group_size=37):
    paths, start = [], 0
    for i, length in enumerate(lengths):
        paths.append(folder / f"part-{i}.parquet")
        pyarrow.parquet.write_table(as_arrow(X[start : start + length]), paths[-1], row_group_size=row_group_size)
        start += length
    return paths


@pytest.mark.parametrize("lengths", [(N_ROWS,), (3, 1_000), (500, 0, 503), (1, 1, 1_001)])
def test_the_blocks_of_several_files_are_those_of_one(lengths, tmp_path):
    X = numbers()
    stream = blocks(write_parts(X, tmp_path, lengths), block_rows=100)
    assert (stream.n_rows, stream.columns) == (N_ROWS, ("x0", "x1", "x2"))
    assert [block.shape[0] for block in stream] == [100] * 10 + [3]
    assert_array_equal(np.concatenate(list(stream)), X)


def section_sources(X, folder):
    return {
        "npy": write_npy(X, folder),
        "parquet": write_parquet(X, folder),
        "parts": write_parts(X, folder, (500, 0, 503)),
    }


@pytest.mark.parametrize("name", ["npy", "parquet", "parts"])
@given(ends=st.tuples(st.integers(0, N_ROWS), st.integers(0, N_ROWS)))
def test_rows_are_read_from_the_middle(name, ends, tmp_path_factory):
    X, (start, stop) = numbers(), sorted(ends)
    source = section_sources(X, tmp_path_factory.mktemp("sections"))[name]
    sections = pickle.loads(pickle.dumps(blocks(source, columns=["x2", "x0"]).sections))
    pieces = list(sections.read(start, stop))
    got = np.concatenate(pieces) if pieces else np.empty((0, 2))
    assert_array_equal(got, X[start:stop, [2, 0]])
    assert all(0 <= first < N_ROWS for first in sections.starts)


def test_what_has_no_rows_in_the_middle_says_so(tmp_path):
    assert blocks(write_csv(numbers(), tmp_path)).sections is None
    text = pa.table({"a": ["1", "2,5"]})
    pyarrow.parquet.write_table(text, tmp_path / "text.parquet")
    assert blocks(tmp_path / "text.parquet").sections is None


def test_files_must_have_the_same_columns(tmp_path):
    paths = write_parts(numbers(), tmp_path, (500, 503))
    pyarrow.parquet.write_table(as_arrow(numbers()).drop_columns("x1"), paths[1])
    with pytest.raises(
        TableError, match=r"^part-1.parquet: must have the columns of part-0.parquet; got none named 'x1'\.$"
    ):
        blocks(paths)
    with pytest.raises(TableError, match="at least one file; got an empty list"):
        blocks([])
    with pytest.raises(TableError, match="a list must hold paths of files; got list"):
        blocks([[1.0], [2.0]])
