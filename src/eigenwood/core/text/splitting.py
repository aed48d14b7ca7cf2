"""Number the words of a text that is cut at white space, as ``str.split`` cuts it.

    letters   the tea|the cup|          | stands for the byte behind a sentence
    ids       0 1 -1 0 2 -1             a word has its number by the order in which words are met
    words     the tea cup

The table of words is that of ``terms``: a word of at most eight bytes is its own key.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_no_refcount
from eigenwood.core.text.terms import (
    ASCII,
    EXACT_BYTES,
    MARK,
    NUMBER,
    STRETCH,
    free_slots,
    grown,
    grown_lines,
    listed_terms,
    more_slots,
    next_mark,
    point_at,
    slot_of,
)

LETTER, WHITE, MAYBE_WHITE, END = range(4)  # kinds of bytes; the third begins a letter that may be white space
SENTENCE_END = -1


class NumberedWords(NamedTuple):
    """A text as numbers of words, and the words themselves."""

    ids: np.ndarray  # int32; -1 where a sentence ends
    listed: np.ndarray  # uint8: the words, each with a newline behind it
    stops: np.ndarray  # (n_words,) int64: where its newline stands


@cache
def white_points() -> np.ndarray:
    """Return for each of the first code points whether it is white space; none behind them is."""
    white = [point for point in range(sys.maxunicode + 1) if chr(point).isspace()]
    is_white = np.zeros(white[-1] + 1, dtype=bool)
    is_white[white] = True
    return is_white


@cache
def byte_kinds(end: int) -> np.ndarray:
    """Return the kind of each byte, where ``end`` is the byte behind a sentence."""
    kinds = np.full(256, LETTER, dtype=np.uint8)
    for point in np.flatnonzero(white_points()).tolist():
        kinds[chr(point).encode()[0]] = WHITE if point < ASCII else MAYBE_WHITE
    kinds[end] = END
    return kinds


def words_numbered(letters: bytes, end: int) -> NumberedWords:
    """Return the words of a text in UTF-8 whose sentences have the byte ``end`` behind them."""
    return NumberedWords(*number_words(np.frombuffer(letters, dtype=np.uint8), byte_kinds(end), white_points()))


@njit(error_model="numpy")
def number_words(letters, kinds, is_white):
    """Return the parts of ``NumberedWords``."""
    ids, spans = np.empty(4 * STRETCH, dtype=np.int32), np.empty((2 * STRETCH, 2), dtype=np.int64)
    slots, at, n_ids, n_words = free_slots(4 * STRETCH), 0, 0, 0
    while at < letters.size:
        if n_ids + 2 * STRETCH > ids.size:
            ids = grown(ids)
        if n_words + STRETCH > spans.shape[0]:
            spans, slots = grown_lines(spans), more_slots(slots)
        at, n_ids, n_words = number_some(letters, at, kinds, is_white, ids, n_ids, slots, spans, n_words)
    listed, stops = listed_terms(letters, spans[:n_words])
    return ids[:n_ids].copy(), listed, stops


@njit_no_refcount
def number_some(letters, at, kinds, is_white, ids, n_ids, slots, spans, n_words):
    """Number the next words; return where to go on, and how many numbers and different words there are."""
    for _ in range(STRETCH):
        if at >= letters.size:
            break
        begin, mark, is_long, kind, n_bytes = at, np.uint64(0), False, LETTER, 0
        while at < letters.size:
            byte = letters[np.uint64(at)]
            kind, n_bytes = kinds[byte], 1
            if kind == MAYBE_WHITE:
                point, n_bytes = point_at(letters, at)
                kind = WHITE if point < is_white.size and is_white[point] else LETTER
            if kind != LETTER:
                break
            mark = next_mark(mark, byte, at - begin)
            is_long |= byte == 0  # a mark does not show zeros
            at += 1
        if at > begin:
            is_long |= at - begin > EXACT_BYTES
            slot = slot_of(slots, spans, letters, mark, begin, at, is_long)
            if slots[slot, NUMBER] < 0:
                slots[slot, NUMBER], slots[slot, MARK] = 2 * n_words + is_long, np.int64(mark)
                spans[n_words, 0], spans[n_words, 1] = begin, at
                n_words += 1
            ids[n_ids] = slots[slot, NUMBER] >> 1
            n_ids += 1
        if kind == END:
            ids[n_ids] = SENTENCE_END
            n_ids += 1
        if kind != LETTER:
            at += n_bytes
    return at, n_ids, n_words
