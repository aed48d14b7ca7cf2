"""A text in numbers of its words, beside str.split and a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenwood.core.text.splitting import words_numbered

LETTERS = st.text(st.sampled_from("ab é\u00a0\u3000\u2028\u1680東\U0001f600\u200bßx\0\t\n\x1c\x85"), max_size=40)
ANY = st.text(max_size=40)


def split(sentences):
    """Return the words as ids and a list: the textbook."""
    number, ids = {}, []
    for sentence in sentences:
        ids += [number.setdefault(word, len(number)) for word in sentence.split()]
        ids.append(-1)
    return ids, list(number)


def numbered(sentences):
    letters = b"".join(sentence.encode("utf-8", "surrogatepass") + b"\xff" for sentence in sentences)
    found = words_numbered(letters, 255)
    assert found.ids.dtype == np.int32
    names = found.listed.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
    assert [found.listed[stop] for stop in found.stops] == [10] * len(names)
    return found.ids.tolist(), names


@given(st.lists(st.one_of(LETTERS, ANY), max_size=8))
def test_words_are_cut_where_str_split_cuts_them(sentences):
    assert numbered(sentences) == split(sentences)


def test_every_code_point_is_white_space_or_none_as_in_python():
    sentences = [
        "".join(f"a{chr(point)}" for point in range(begin, begin + 4096)) + "a" for begin in range(0, 0x110000, 4096)
    ]
    spaces = [point for point in range(0x110000) if chr(point).isspace()]
    sentences = [sentences[i] for i in sorted({point // 4096 for point in spaces} | {13, 15, 31})]
    assert numbered(sentences) == split(sentences)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 10_000])
def test_words_that_begin_alike_differ(length):
    words = ["a" * length, "a" * length + "b", "a" * length + "\0", "\0" + "a" * length, "a" * (length + 2)]
    assert numbered([" ".join(words * 2)]) == split([" ".join(words * 2)])


def test_tables_grow():
    sentences = [" ".join(f"w{i % 7000}" for i in range(begin, begin + 900)) for begin in range(0, 9000, 900)]
    assert numbered(sentences) == split(sentences)


def test_a_line_of_a_file_is_a_sentence():
    found = words_numbered(b"a b\n\nb\rc", 10)
    assert found.ids.tolist() == [0, 1, -1, -1, 1, 2]


def test_nothing():
    found = words_numbered(b"", 255)
    assert found.ids.size == found.listed.size == found.stops.size == 0
