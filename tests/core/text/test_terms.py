"""Words and their counts: equal to ``re`` and a dict, for any letters, any block, any length."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwood.core.text import terms
from eigenwood.core.text.counting import NO_TERMS, TermList, joined_terms, numbered_rows
from eigenwood.core.text.terms import distinct_terms, folded_bytes, word_characters, words_counted
from tests.naive import bag_of_words as naive

LETTERS = "abZ09_ -.\n'éßİΣςǅ\u0301\u00a0日本𐐀𝟘\u200d\ud800\x00"


def encoded(documents):
    parts = [document.encode("utf-8", "surrogatepass") for document in documents]
    return np.frombuffer(b"".join(parts), dtype=np.uint8), np.cumsum([len(part) for part in parts], dtype=np.int64)


def listed(names):
    parts = [name.encode("utf-8", "surrogatepass") + b"\n" for name in names]
    stops = np.cumsum([len(part) for part in parts], dtype=np.int64) - 1
    return TermList(np.frombuffer(b"".join(parts), dtype=np.uint8), stops)


def names_of(found):
    return found.listed.tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]


def rows_of(found):
    rows = zip(found.indptr[:-1], found.indptr[1:], strict=True)
    return [dict(zip(found.ids[a:b].tolist(), found.counts[a:b].tolist(), strict=True)) for a, b in rows]


def assert_as_the_textbook(documents, min_n=1, max_n=1):
    lowered = [document.lower() for document in documents]
    found = words_counted(*encoded(lowered), False, min_n, max_n)
    expected = naive.count(documents, min_n=min_n, max_n=max_n)
    assert names_of(found) == expected[0]
    assert rows_of(found) == expected[1]
    assert [list(row) for row in rows_of(found)] == [list(row) for row in expected[1]]


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.lists(st.text(LETTERS, max_size=40), max_size=5), st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_equal_to_the_textbook(documents, ngrams):
    assert_as_the_textbook(documents, *ngrams)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.text("abAB _-", max_size=60), max_size=5), st.booleans())
def test_letters_of_ascii_are_made_lower_case_on_the_way(documents, lowercase):
    found = words_counted(*encoded(documents), lowercase, 1, 1)
    assert (names_of(found), rows_of(found)) == naive.count(documents, lowercase=lowercase)


def test_more_words_than_there_is_room_for_at_first():
    rng = np.random.default_rng(0)
    words = [f"w{number:x}" for number in rng.integers(0, 9000, 20_000)]
    assert_as_the_textbook([" ".join(words[:15_000]), " ".join(words[15_000:]), "", " ".join(words[:3000])])
    assert_as_the_textbook([" ".join(words[:4000])], 1, 2)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 16, 17, 10_000])
def test_words_of_any_length_that_differ_in_one_letter(length):
    word = "a" * length
    assert_as_the_textbook([f"{word} b{word[1:]} {word[:-1]}b {word}", word + word])


def test_terms_whose_marks_are_equal_are_compared(monkeypatch):
    """Words of nine letters and more have marks that could be equal: the table must look at their bytes."""
    names = ["abcdefghi", "abcdefghj", "abcdefghi"]
    found = listed(names)
    slots, spans = terms.free_slots(8), np.array([[0, 9]])
    slots[:] = [1, 5]  # every slot holds term 0, which is long, with mark 5
    args = slots, spans, found.listed, np.uint64(5)
    assert slots[terms.slot_of(*args, 20, 29, True), 0] == 1
    slots[3] = [-1, 0]
    assert terms.slot_of(*args, 10, 19, True) == 3
    assert terms.slot_of(*args, 10, 18, True) == 3
    assert terms.slot_of(*args, 20, 29, False) == 3


def test_a_zero_is_a_letter_of_a_term():
    numbers, firsts = distinct_terms(*listed(["a", "\0a", "a\0", "a", "\0\0a"]))
    assert numbers.tolist() == [0, 1, 2, 0, 3]
    assert firsts.tolist() == [0, 1, 2, 4]


def test_every_character_is_what_re_says():
    pattern = re.compile(r"\w")
    table = word_characters(terms.ALL_POINTS)
    expected = np.array([pattern.match(chr(point)) is not None for point in range(sys.maxunicode + 1)])
    np.testing.assert_array_equal(table, expected)
    assert [chr(b) for b in folded_bytes(True)[:128] if b] == [
        letter.lower() for letter in map(chr, range(128)) if letter.isalnum() or letter == "_"
    ]


def blocks(documents, size):
    return [words_counted(*encoded(documents[i : i + size]), True, 1, 1) for i in range(0, len(documents), size)]


def test_blocks_and_threads_change_nothing():
    rng = np.random.default_rng(1)
    documents = [" ".join(f"w{n}" for n in rng.zipf(1.5, 30) % 200) for _ in range(40)]
    expected = naive.count(documents)
    for size, n_threads in ((40, 1), (7, 1), (7, 3), (1, 2)):
        parts = blocks(documents, size)
        numbers, found = joined_terms(NO_TERMS, parts)
        rows, totals = numbered_rows(parts, numbers, found.stops.size, n_threads)
        assert names_of(found) == expected[0]
        stated = rows_of(rows)
        assert stated == expected[1]
        assert all(list(row) == sorted(row) for row in stated)
        assert totals.documents.tolist() == [sum(t in row for row in stated) for t in range(len(expected[0]))]
        assert totals.total.tolist() == [sum(row.get(t, 0) for row in stated) for t in range(len(expected[0]))]


def test_terms_that_are_known_come_first_and_others_are_left_out():
    parts = blocks(["bb aa cc", "dd cc"], 1)
    numbers, _ = joined_terms(listed(["cc", "xx", "aa"]), parts)
    rows, totals = numbered_rows(parts, numbers, 3, 1)
    assert rows_of(rows) == [{0: 1, 2: 1}, {0: 1}]
    assert totals.documents.tolist() == [2, 0, 1]


def test_no_documents():
    numbers, found = joined_terms(NO_TERMS, [])
    rows, _ = numbered_rows([], numbers, 0, 1)
    assert found.stops.size == rows.ids.size == 0
    assert rows.indptr.tolist() == [0]
