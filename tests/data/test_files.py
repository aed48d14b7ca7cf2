"""Files: every way to be wrong gives one exact sentence, and nothing is half-written."""

import gzip
import lzma

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from eigenwood.data.naming import ending, stem, whole_file
from eigenwood.data.tables import read_table, write_table
from eigenwood.errors import TableError


def sentence(source):
    with pytest.raises(TableError) as caught:
        read_table(source)
    return str(caught.value)


ZERO_BYTE = "a.csv: row 1 must be text; got a zero byte, as in UTF-16 without its mark."


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "", "a.csv: must have a header and at least one row; got an empty file."),
        ("a.csv", "\n\n", "a.csv: must have a header and at least one row; got an empty file."),
        ("a.csv", "x,y\n", "a.csv: must have at least one row below the header; got none."),
        ("a.csv", "x,y", "a.csv: must have at least one row below the header; got none."),
        ("a.csv", "x,y\n1,2\n3\n", "a.csv: row 3 must have 2 columns like the header; got 1, nothing for 'y'."),
        ("a.tsv", "x\ty\n1\t2\t3\n", "a.tsv: row 2 must have 2 columns like the header; got 3, more after 'y'."),
        ("a.csv", "x,y,x\n1,2,3\n", "a.csv: column names must differ; got 'x' 2 times."),
        ("a.csv", b"x,y\n1,caf\xe9\n", "a.csv: row 2 must be UTF-8 text; got the byte 0xe9."),
        ("a.csv", b"x,\xff\n1,2\n", "a.csv: row 1 must be UTF-8 text; got the byte 0xff."),
        ("a.csv", "x,y\n1,2\n".encode("utf-16-le"), ZERO_BYTE),
        ("a.csv", "x,y\n1,2\n".encode("utf-32"), ZERO_BYTE),
        ("a.csv", "x,y\n1,2\n".encode("utf-16")[:-1], "a.csv: must be UTF-16 throughout; got other bytes at byte 16."),
        (
            "a.csv",
            "x,y\n1\n".encode("utf-16") + b"\x00\xd8" * 2,
            "a.csv: must be UTF-16 throughout; got other bytes at byte 14.",
        ),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00", "a.csv: row 1 must be UTF-8 text; got the byte 0x89."),
        ("a.csv", b"x,y\n1,\xc3\xa9\n2,\xe9\n", "a.csv: row 3 must be UTF-8 text; got the byte 0xe9."),
        (
            "a.xlsx",
            "x",
            "a.xlsx: ending must be one of .csv, .tsv, .tab, .txt, .parquet, .feather, .arrow; got '.xlsx'.",
        ),
    ],
)
def test_a_bad_file_is_named_with_its_row(text_file, name, content, expected):
    assert sentence(text_file(name, content)) == expected


def test_a_ragged_row_far_down_is_found(text_file):
    lines = ["x,y"] + ["1,2"] * 400_000
    lines[300_000] = "1,2,3"
    path = text_file("long.csv", "\n".join(lines))
    assert sentence(path) == "long.csv: row 300001 must have 2 columns like the header; got 3, more after 'y'."


def test_a_bad_byte_far_down_is_found(text_file):
    lines = [b"x,y"] + [b"1,2"] * 400_000
    lines[300_000] = b"1,\xe9"
    path = text_file("long.csv", b"\n".join(lines))
    assert sentence(path) == "long.csv: row 300001 must be UTF-8 text; got the byte 0xe9."


def test_an_absent_file_suggests_its_neighbour(text_file):
    folder = text_file("heart.csv", "x\n1\n").parent
    assert sentence(folder / "hart.csv") == (
        f"hart.csv: must be an existing file; got nothing of that name in {str(folder)!r} (did you mean 'heart.csv'?)."
    )


def test_a_folder_is_not_a_table(tmp_path):
    (tmp_path / "data.csv").mkdir()
    assert sentence(tmp_path / "data.csv") == "data.csv: must be a file; got a folder."


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_corrupt_file_is_one_sentence(tmp_path, name):
    path = tmp_path / name
    write_table({"x": np.arange(1000.0)}, path)
    path.write_bytes(path.read_bytes()[:-20])
    assert sentence(path).startswith(f"{name}: must be a whole ")
    assert sentence(path).count("\n") == 0


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.xz"])
def test_a_corrupt_archive_is_one_sentence(text_file, name):
    assert sentence(text_file(name, b"\x00\x01\x02")).startswith(f"{name}: must be a whole text file; got one")


def test_a_table_without_columns_or_rows(tmp_path):
    pyarrow.parquet.write_table(pa.table({}), tmp_path / "a.parquet")
    assert sentence(tmp_path / "a.parquet") == "a.parquet: must have at least one column; got none."
    pyarrow.parquet.write_table(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "b.parquet")
    assert sentence(tmp_path / "b.parquet") == "b.parquet: must have at least one row; got none."


def test_a_list_column_is_refused(tmp_path):
    pyarrow.parquet.write_table(pa.table({"x": [[1, 2], [3]]}), tmp_path / "a.parquet")
    assert sentence(tmp_path / "a.parquet") == (
        "a.parquet: column 'x' must hold numbers, strings, booleans or dates; got list<element: int64>."
    )


@pytest.mark.parametrize(("name", "pack"), [("t.csv.gz", gzip.compress), ("t.csv.xz", lzma.compress)])
def test_packed_text_is_unpacked(text_file, name, pack):
    table = read_table(text_file(name, pack(b"x,y\n1.5,a\n2,b\n2,b\n")))
    assert table.name == "t"
    assert table.frame["x"].to_pylist() == [1.5, 2.0, 2.0]


@pytest.mark.parametrize(
    "content",
    [
        "x,y\n1.5,a b\n?,c\n",
        "\ufeffx,y\n1.5,a b\n?,c\n",
        "x , y\r\n 1.5, a b\r\n ?, c\r\n",
        '"x","y"\n"1.5","a b"\n\n"","c"',
        "x;y\n1.5;a b\nNA;c\n",
    ],
)
def test_the_ways_to_write_one_table(text_file, content):
    frame = read_table(text_file("t.csv", content)).frame
    assert frame.to_pydict() == {"x": [1.5, None], "y": ["a b", "c"]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("n_rows", [2, 30_000])
def test_utf_16_is_read_where_the_file_says_so(text_file, encoding, n_rows):
    """Over many rows a letter of four bytes lies across two reads."""
    content = "x,y\n" + "".join(f"{i}.5,é😀{i % 3}\n" for i in range(n_rows))
    mark = b"\xfe\xff" if encoding.endswith("be") else b""
    frame = read_table(text_file("t.csv", mark + content.encode(encoding))).frame
    assert frame["x"].to_pylist() == [i + 0.5 for i in range(n_rows)]
    assert frame["y"].to_pylist() == [f"é😀{i % 3}" for i in range(n_rows)]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_header_without_commas_may_be_cut_elsewhere(text_file, mark):
    frame = read_table(text_file("t.csv", f"x{mark}y\n1,5{mark}a\n2,5{mark}a\n")).frame
    assert frame.to_pydict() == {"x": [1.5, 2.5], "y": ["a", "a"]}


def test_a_value_may_hold_line_breaks_and_delimiters(text_file):
    frame = read_table(text_file("t.csv", 'x,y\n1.5,"a\nb, c"\n2,d\n')).frame
    assert frame["y"].to_pylist() == ["a\nb, c", "d"]


def test_a_column_without_a_name_is_named_by_its_place(text_file):
    assert read_table(text_file("t.csv", ",y\n1.5,2\n2.5,2\n")).frame.column_names == ["column_1", "y"]


def test_a_row_of_delimiters_is_a_row_of_missing_values(text_file):
    assert read_table(text_file("t.tsv", "x\ty\n\t\n")).frame.to_pydict() == {"x": [None], "y": [None]}


def test_a_late_word_turns_the_whole_column_into_words(text_file):
    content = "x,y\n" + "1,2\n" * 500_000 + "one,2\n"
    assert read_table(text_file("t.csv", content)).column("x").kind == "category"


def test_endings():
    from pathlib import Path

    assert [ending(Path(name)) for name in ("a.CSV", "a.csv.gz", "a.b.parquet")] == [
        ".csv",
        ".csv",
        ".parquet",
    ]
    assert [stem(Path(name)) for name in ("a.csv", "a.csv.gz", "a.b.parquet")] == ["a", "a", "a.b"]


# --- writing -----------------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_nested_column_cannot_be_text(tmp_path):
    with pytest.raises(TableError, match=r"^a.csv: columns must be of types that .csv can hold; got: "):
        write_table({"x": [[1], [2]]}, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("columns", "name", "expected"),
    [
        ({"x": [1]}, "a.xlsx", r"^a.xlsx: ending must be one of .csv, .*; got '.xlsx'.$"),
        ({"x": [1]}, "no/a.csv", r"^a.csv: must be written to an existing folder; got .*no.$"),
        ({}, "a.csv", r"^a.csv: must have at least one column; got none.$"),
        (
            {"x": [1, 2], "y": [1]},
            "a.csv",
            r"^table: columns must differ in name and hold one type each; got: .*$",
        ),
        (3, "a.csv", r"^table: must be a path, a pandas, .* or a mapping of columns; got int.$"),
    ],
)
def test_what_cannot_be_written(tmp_path, columns, name, expected):
    with pytest.raises(TableError, match=expected):
        write_table(columns, tmp_path / name)


def test_a_written_file_can_be_read_by_others(tmp_path):
    write_table({"x": [1]}, tmp_path / "a.csv")
    (tmp_path / "plain").touch()
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
