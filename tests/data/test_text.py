"""Texts come in pieces: nothing is cut off, and what is no text is named by file and byte."""

from __future__ import annotations

import gzip

import pytest

from eigenwood.data import text
from eigenwood.data.text import TextBlock, read_questions, read_word_pairs, sentences_of
from eigenwood.errors import InputError, TableError


def sentences(source, *encoding):
    """Return the sentences as lists of words, their pieces joined."""
    found, so_far = [], []
    for piece in sentences_of("CBOW", source, *encoding):
        if not isinstance(piece, TextBlock):
            found.append(list(piece))
            continue
        *ended, rest = piece.letters.split(piece.end)
        for letters in ended:
            found.append(so_far + letters.decode().split())
            so_far = []
        so_far += rest.decode().split()
    assert so_far == []
    return found


@pytest.fixture
def file(tmp_path):
    def write(content, name="corpus.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_an_iterable_may_hold_lists_or_strings():
    assert sentences([["a", "b"], "c  d\te", ("f",), iter("gh")]) == [["a", "b"], ["c", "d", "e"], ["f"], ["g", "h"]]


def test_a_line_is_a_sentence(file):
    assert sentences(file("a b\r\nc\n\nd")) == [["a", "b"], ["c"], [], ["d"]]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 20])
def test_no_word_and_no_sentence_is_cut_between_blocks(file, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    content = "größe été 東京\nzwei\u3000drei vier\n" + "x" * 50 + " end"
    expected = [["größe", "été", "東京"], ["zwei", "drei", "vier"], ["x" * 50, "end"]]
    assert sentences(file(content)) == expected


def test_a_long_sentence_comes_in_pieces_and_is_whole(file, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 64)
    path = file(" ".join(map(str, range(1000))))
    assert sum(1 for _ in sentences_of("CBOW", path)) > 10
    assert sum(1 for _ in sentences_of("CBOW", [path.read_text()])) > 10
    assert sentences([path.read_text(), "a"]) == [[str(i) for i in range(1000)], ["a"]]
    assert sentences(path) == [[str(i) for i in range(1000)]]


def test_compressed_files(tmp_path):
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a b\nc"))
    assert sentences(path) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("block", [4, 1 << 20])
def test_the_byte_that_is_no_text_is_named(file, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    with pytest.raises(TableError) as caught:
        sentences(file(b"abc def \xff\n"))
    assert str(caught.value) == "corpus.txt: must be UTF-8 text; got the byte 0xff at 8."


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "shift_jis"])
def test_another_encoding_is_read_where_it_is_named(file, monkeypatch, block, encoding):
    monkeypatch.setattr(text, "BLOCK", block)
    content = "größe été\nende" if encoding != "shift_jis" else "東京 大阪\n東"
    expected = [line.split() for line in content.split("\n")]
    assert sentences(file(content.encode(encoding)), encoding) == expected


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_bytes_that_are_not_of_the_named_encoding(file, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    with pytest.raises(TableError, match=r"^corpus.txt: must be SHIFT_JIS text; got the byte 0x85 at 5\.$"):
        sentences(file("東京 ".encode("shift_jis") + b"\x85\x0a"), "shift_jis")


def test_a_file_that_is_cut_off_inside_a_letter(file):
    with pytest.raises(TableError, match="must be UTF-8 text; got the byte 0xc3 at 2"):
        sentences(file("a é".encode()[:-1]))


@pytest.mark.parametrize(
    ("source", "got"),
    [
        ("the text itself", "got a string"),
        (b"bytes", "got bytes"),
        (None, "got NoneType"),
        (7, "got int"),
        ([1.5], "got float as sentence 0"),
        (["a", {"b": 1}], "got dict as sentence 1"),
    ],
)
def test_what_is_no_text(source, got):
    with pytest.raises(InputError) as caught:
        sentences(source)
    assert got in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match="must be an existing file"):
        sentences(tmp_path / "absent.txt")
    with pytest.raises(TableError, match="got a folder"):
        sentences(tmp_path)


def test_a_broken_archive(file):
    with pytest.raises(TableError, match="must be a file that can be read"):
        sentences(file(b"no archive", "corpus.txt.gz"))


def test_questions_stand_in_sections(file):
    questions = read_questions(
        file(": capitals of the world\nParis France Rome Italy\n\n: family\nking queen man woman\n")
    )
    assert [question.section for question in questions] == ["capitals of the world", "family"]
    assert questions[1].words == ("king", "queen", "man", "woman")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (": a\nb c d\n", "words.txt: line 2 must have four words, or begin with ':'; got 3."),
        ("", "words.txt: must hold a question; got none."),
    ],
)
def test_questions_that_are_none(file, content, sentence):
    with pytest.raises(TableError) as caught:
        read_questions(file(content, "words.txt"))
    assert str(caught.value) == sentence


def test_pairs_of_words(file):
    pairs = read_word_pairs(file("# remark\ntiger\tcat\t7.35\nbook\tpaper\t7.46\textra\n"))
    assert [tuple(pair) for pair in pairs] == [("tiger", "cat", 7.35), ("book", "paper", 7.46)]


@pytest.mark.parametrize("line", ["tiger\tcat", "tiger cat 7", "tiger\tcat\tmuch"])
def test_pairs_that_are_none(file, line):
    with pytest.raises(TableError, match="line 1 must have two words and a number between tabs"):
        read_word_pairs(file(line, "pairs.tsv"))
