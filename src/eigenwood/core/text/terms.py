r"""Find and count the words of documents, as ``re.findall(r"\b\w\w+\b", document)`` finds them.

A word is a run of at least two word characters that none stands before or behind. Documents are UTF-8, one behind the
other; their words are written anew with one space between them, so that two words in a row are a run of bytes again:

    letters   It's so,so good!          written   so so good           starts   0  3  6
    terms     so 0, good 1              of two words: so so, so good

    document    0         1             a term has its number by the order in which terms are met
    ids         0  1      1  2  0       the terms of a document, as they are met in it
    counts      2  1      1  1  1
    indptr      0  2      5

A table with open addressing finds the number of a term by 64 bits, its mark. The mark of a word of at most eight bytes
is these bytes themselves, so that equal marks are equal words: it is *short*. Other terms are compared byte by byte.

    slots    -  3 mark  -  0 mark  …       number 2t of a short term t, 2t + 1 of another
    spans    begin, end of term 0, …
    places   where among ids and counts a term was last put: before the document's first if it has not been in it yet
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_forceinline, njit_no_refcount

ASCII, PLANE, ALL_POINTS = 0x80, 0x10000, 0x110000  # code points
THREE_BYTES, FOUR_BYTES = 0xE0, 0xF0  # the first byte of a letter that takes at least so many
SPACE, NEWLINE = 32, 10
FREE = -1
STRETCH = 1 << 10  # words between two looks at how much room there is
GOLDEN, EXACT_BYTES = np.uint64(0x9E3779B97F4A7C15), 8
NUMBER, MARK = range(2)


class TermCounts(NamedTuple):
    """The terms of some documents, and how often they occur in each."""

    indptr: np.ndarray  # (n_documents + 1,) int64
    ids: np.ndarray  # int32
    counts: np.ndarray  # int32
    listed: np.ndarray  # uint8: the terms, each with a newline behind it
    stops: np.ndarray  # (n_terms,) int64: where its newline stands


@cache
def word_characters(n_points: int) -> np.ndarray:
    """Return for each of the first code points whether it may stand in a word."""
    return np.fromiter((chr(point).isalnum() or point == ord("_") for point in range(n_points)), bool, n_points)


@cache
def folded_bytes(lowercase: bool) -> np.ndarray:
    """Return what is written for each byte of ASCII, 0 for one that is in no word; 1 stands for all other bytes."""
    folded = np.ones(256, dtype=np.uint8)
    for point in range(ASCII):
        letter = chr(point).lower() if lowercase else chr(point)
        folded[point] = ord(letter) if letter.isalnum() or letter == "_" else 0
    return folded


def words_counted(letters, ends, lowercase: bool, min_n: int, max_n: int) -> TermCounts:
    """Return the terms of ``min_n`` to ``max_n`` words in documents that end at ``ends``, and their counts.

    ``lowercase`` is for letters of ASCII; documents with others have been made lower case as a whole.
    """
    largest = letters.max(initial=0)
    n_points = ASCII if largest < ASCII else PLANE if largest < FOUR_BYTES else ALL_POINTS
    return TermCounts(
        *count_terms(letters, ends, folded_bytes(lowercase), word_characters(n_points), int(min_n), int(max_n))
    )


@njit(error_model="numpy")
def count_terms(letters, ends, folded, is_word, min_n, max_n):
    """Return the parts of ``TermCounts``."""
    written = np.empty(letters.size + ends.size + 1, dtype=np.uint8)
    starts, marks = np.empty(2 * STRETCH, dtype=np.int64), np.empty(2 * STRETCH, dtype=np.uint64)
    slots, spans = free_slots(4 * STRETCH), np.empty((2 * STRETCH, 2), dtype=np.int64)
    places, found = np.empty(2 * STRETCH, dtype=np.int64), np.empty((2 * STRETCH, 2), dtype=np.int32)
    indptr, n_terms, n_found, place = np.zeros(ends.size + 1, dtype=np.int64), 0, 0, 0
    for document in range(ends.size):
        at, n_tokens, first = ends[document - 1] if document > 0 else 0, 0, n_found
        while at < ends[document]:
            if n_tokens + STRETCH >= starts.size:
                starts, marks = grown(starts), grown(marks)
            at, place, n_tokens = read_words(
                letters, at, ends[document], folded, is_word, written, place, starts, marks, n_tokens
            )
        for n in range(min_n, max_n + 1):
            for begin in range(0, n_tokens - n + 1, STRETCH):  # there is room for so many new terms
                if n_terms + STRETCH > places.size:
                    spans, places, slots = grown_lines(spans), grown(places), more_slots(slots)
                if n_found + STRETCH > found.shape[0]:
                    found = grown_lines(found)
                end = min(begin + STRETCH, n_tokens - n + 1)
                n_terms, n_found = add_terms(
                    written, starts, marks, begin, end, n, max_n, slots, spans, places, found, n_terms, n_found, first
                )
        indptr[document + 1] = n_found
    listed, stops = listed_terms(written, spans[:n_terms])
    return indptr, found[:n_found, 0].copy(), found[:n_found, 1].copy(), listed, stops


@njit_no_refcount
def read_words(letters, at, end, folded, is_word, written, place, starts, marks, n_tokens):
    """Write the next words of a document, with where they start and their marks; return where to go on."""
    most = n_tokens + STRETCH
    starts[n_tokens] = place
    while at < end and n_tokens < most:
        at, place, mark = next_word(letters, at, end, folded, is_word, written, place)
        marks[n_tokens] = mark
        n_tokens += place > starts[n_tokens]
        starts[n_tokens] = place
    return at, place, n_tokens


@njit_no_refcount
def add_terms(written, starts, marks, begin, end, n, max_n, slots, spans, places, found, n_terms, n_found, first):
    """Count the terms of ``n`` words that begin with some words of a document; return how many are known and found."""
    longest = EXACT_BYTES if max_n == 1 else 0
    for t in range(begin, end):
        low, high, mark = starts[t], starts[t + n] - 1, marks[t]
        for i in range(t + 1, t + n):
            mark = mixed(mark) ^ marks[i]
        is_long = high - low > longest
        slot = slot_of(slots, spans, written, mark, low, high, is_long)
        term = slots[slot, NUMBER] >> 1
        if term < 0:
            term, slots[slot, NUMBER], slots[slot, MARK] = n_terms, 2 * n_terms + is_long, np.int64(mark)
            spans[term, 0], spans[term, 1], places[term] = low, high, -1
            n_terms += 1
        if places[term] < first:
            places[term], found[n_found, 0], found[n_found, 1] = n_found, term, 0
            n_found += 1
        found[places[term], 1] += 1
    return n_terms, n_found


@njit_no_refcount
def next_word(letters, at, end, folded, is_word, written, place):
    """Write the run of word characters at ``at``, and a space behind it, if it is a word; return where both go on, and
    the mark of the word.

    A run of one letter is none, and neither is an empty one: then nothing is written. The letter behind it is passed.
    """
    begin, n_points, mark = place, 0, np.uint64(0)
    while at < end:
        byte = folded[letters[np.uint64(at)]]
        if byte == 0:
            at += 1
            break
        if byte != 1:
            written[np.uint64(place)] = byte
            mark = next_mark(mark, byte, place - begin)
            at, place = at + 1, place + 1
        else:
            point, n_bytes = point_at(letters, at)
            if not is_word[point]:
                at += n_bytes
                break
            for i in range(n_bytes):
                written[place] = letters[at + i]
                mark = next_mark(mark, letters[at + i], place - begin)
                place += 1
            at += n_bytes
        n_points += 1
    if n_points < 2:
        return at, begin, mark
    written[np.uint64(place)] = SPACE
    return at, place + 1, mark


@njit_forceinline
def next_mark(mark, byte, n_before):
    """Return the mark of a run of bytes that is longer by one: eight bytes fill it, then all are mixed."""
    if n_before < EXACT_BYTES:
        return (mark << np.uint64(8)) | np.uint64(byte)
    return (mark ^ (mark >> np.uint64(32)) ^ np.uint64(byte)) * GOLDEN


@njit_forceinline
def mixed(mark):
    """Return 64 bits that all depend on all of these."""
    mark = (mark ^ (mark >> np.uint64(32))) * GOLDEN
    return mark ^ (mark >> np.uint64(29))


@njit_no_refcount
def mark_of(letters, low, high):
    """Return the mark of a run of bytes, and whether it must be compared: a zero is not seen in a mark."""
    mark, is_long = np.uint64(0), high - low > EXACT_BYTES
    for i in range(low, high):
        mark = next_mark(mark, letters[i], i - low)
        is_long |= letters[i] == 0
    return mark, is_long


@njit_no_refcount
def point_at(letters, at):
    """Return a code point that takes two bytes or more, and how many these are."""
    first = np.int64(letters[at])
    n_bytes = 2 if first < THREE_BYTES else 3 if first < FOUR_BYTES else 4
    point = first & (0x7F >> n_bytes)
    for i in range(1, n_bytes):
        point = (point << 6) | (np.int64(letters[at + i]) & 0x3F)
    return point, n_bytes


@njit_forceinline
def slot_of(slots, spans, letters, mark, low, high, is_long):
    """Return the slot of the term with these bytes, or the free one where it belongs."""
    mask = np.uint64(slots.shape[0] - 1)
    slot = mixed(mark) & mask
    while slots[slot, NUMBER] >= 0:
        if slots[slot, MARK] == np.int64(mark) and (slots[slot, NUMBER] & 1) == is_long:
            term = slots[slot, NUMBER] >> 1
            begin, length = spans[term, 0], high - low
            if not is_long or (spans[term, 1] - begin == length and is_same(letters, begin, low, length)):
                break
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit_no_refcount
def is_same(letters, begin, low, length):
    """Return whether two runs of bytes are equal."""
    for i in range(length):
        if letters[begin + i] != letters[low + i]:
            return False
    return True


@njit
def free_slots(n_slots):
    """Return a table without terms."""
    slots = np.empty((n_slots, 2), dtype=np.int64)
    slots[:, NUMBER] = FREE
    return slots


@njit
def more_slots(slots):
    """Return a table of twice the size with the same terms."""
    more = free_slots(2 * slots.shape[0])
    mask = np.uint64(more.shape[0] - 1)
    for old in range(slots.shape[0]):
        if slots[old, NUMBER] >= 0:
            slot = mixed(np.uint64(slots[old, MARK])) & mask
            while more[slot, NUMBER] >= 0:
                slot = (slot + np.uint64(1)) & mask
            more[slot, NUMBER], more[slot, MARK] = slots[old, NUMBER], slots[old, MARK]
    return more


@njit
def grown(values):
    """Return an array of twice the size that begins with these values."""
    more = np.empty(2 * values.size, dtype=values.dtype)
    more[: values.size] = values
    return more


@njit
def grown_lines(lines):
    """Return an array of twice as many lines that begins with these."""
    more = np.empty((2 * lines.shape[0], lines.shape[1]), dtype=lines.dtype)
    more[: lines.shape[0]] = lines
    return more


@njit
def listed_terms(written, spans):
    """Return the terms one behind the other, each with a newline, and where these stand."""
    n_bytes = 0
    for i in range(spans.shape[0]):
        n_bytes += spans[i, 1] - spans[i, 0] + 1
    listed, stops, place = np.empty(n_bytes, dtype=np.uint8), np.empty(spans.shape[0], dtype=np.int64), 0
    for i in range(spans.shape[0]):
        for j in range(spans[i, 0], spans[i, 1]):
            listed[place] = written[j]
            place += 1
        listed[place], stops[i] = NEWLINE, place
        place += 1
    return listed, stops


@njit(error_model="numpy")
def distinct_terms(listed, stops):
    """Return the number of each of some listed terms among the distinct ones, and where each of these stands first."""
    n_slots = STRETCH
    while n_slots < 2 * stops.size:
        n_slots *= 2
    slots, spans = free_slots(n_slots), np.empty((stops.size, 2), dtype=np.int64)
    numbers, firsts = np.empty(stops.size, dtype=np.int32), np.empty(stops.size, dtype=np.int64)
    n_distinct, low = 0, 0
    for i in range(stops.size):
        high = stops[i]
        mark, is_long = mark_of(listed, low, high)
        slot = slot_of(slots, spans, listed, mark, low, high, is_long)
        if slots[slot, NUMBER] < 0:
            slots[slot, NUMBER], slots[slot, MARK] = 2 * n_distinct + is_long, np.int64(mark)
            spans[n_distinct, 0], spans[n_distinct, 1], firsts[n_distinct] = low, high, i
            n_distinct += 1
        numbers[i] = slots[slot, NUMBER] >> 1
        low = high + 1
    return numbers, firsts[:n_distinct].copy()
