"""The formats of word2vec: what is written is read, here and in gensim, and a file that lies is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.data.word2vec import read_word2vec, write_word2vec
from eigenwood.errors import TableError

WORDS = np.array(["the", "größe", "東京", "a" * 10_000], dtype=object)
VECTORS = np.array([[1.0, -2.5], [1e-7, 3e8], [0.1, 0.2], [1 / 3, 0.0]], dtype=np.float32)
NAMES = ["vectors.txt", "vectors.bin", "vectors.txt.gz", "vectors.bin.xz"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_to_the_last_bit(tmp_path, name):
    words, vectors = read_word2vec(write_word2vec(tmp_path / name, WORDS, VECTORS))
    assert words == WORDS.tolist()
    assert vectors.dtype == np.float32
    assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_ours_and_we_read_theirs(tmp_path, binary):
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    ours = write_word2vec(tmp_path / "ours.vec", WORDS, VECTORS, binary)
    opened = keyed.load_word2vec_format(str(ours), binary=binary)
    assert opened.index_to_key == WORDS.tolist()
    assert_allclose(opened.vectors, VECTORS, rtol=1e-6)
    theirs = tmp_path / "theirs.vec"
    opened.save_word2vec_format(str(theirs), binary=binary)
    words, vectors = read_word2vec(theirs, binary)
    assert words == WORDS.tolist()
    assert_allclose(vectors, VECTORS, rtol=1e-6)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the first line must be the number of words and the number of columns; got b''"),
        (b"two 2\n", "the first line must be"),
        (b"0 2\n", "the first line must be"),
        (b"2 -2\n", "the first line must be"),
        (b"3 2\na 1 2\nb 3 4\n", "must hold the 3 vectors that its first line promises; got 2"),
        (b"999999999999 2\na 1 2\n", "must hold the 999999999999 vectors that its first line promises; got 1"),
        (b"1 2\na 1 2\nb 3 4\n", "must hold the 1 vectors that its first line promises; got more"),
        (b"1 3\na 1 2\n", "line 2 must have a word and 3 numbers"),
        (b"1 999999999999\na 1 2\n", "line 2 must have a word and 999999999999 numbers"),
        (b"1 2\na 1 x\n", "line 2 must have a word and 2 numbers"),
        (b"1 2\na 1 nan\n", "numbers must be finite; got NaN or infinity for 'a'"),
        (b"2 1\na 1\na 2\n", "words must differ; got 'a' twice"),
        (b"1 1\n\xff 1\n", "words must be UTF-8 text"),
    ],
)
def test_a_text_file_that_lies(tmp_path, content, what):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(TableError, match="^vectors.txt: ") as caught:
        read_word2vec(path)
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"2 1\na \0\0\0\0\n", "must hold the 2 vectors that its first line promises; got 1"),
        (b"1 2\na \0\0\0\0\n", "must hold the 1 vectors that its first line promises; got 0"),
        (b"1 1\na \0\0\0\0\nmore", "must hold the 1 vectors that its first line promises; got more"),
        (b"5 1\nnospace", "must hold the 5 vectors that its first line promises; got 0"),
        (b"1 1\na \0\0\xc0\x7f\n", "numbers must be finite"),
        (b"1 1\n\xff \0\0\0\0\n", "words must be UTF-8 text"),
    ],
)
def test_a_binary_file_that_lies(tmp_path, content, what):
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    with pytest.raises(TableError, match="^vectors.bin: ") as caught:
        read_word2vec(path)
    assert what in str(caught.value)


def test_a_word_that_this_format_cannot_hold(tmp_path):
    with pytest.raises(TableError) as caught:
        write_word2vec(tmp_path / "vectors.txt", np.array(["new york"], dtype=object), VECTORS[:1])
    assert str(caught.value) == "vectors.txt: words must be without white space in this format; got 'new york'."
    assert list(tmp_path.iterdir()) == []
