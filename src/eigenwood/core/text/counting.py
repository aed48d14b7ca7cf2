"""From documents in blocks to one matrix of counts.

    block 0   terms a b c    ─┐   distinct terms a b c d, numbered as they are met
    block 1   terms b d      ─┘   block 1 has the numbers 1 3

Blocks are cut by the documents alone and joined in their order, so nothing depends on the number of threads. The terms
of a row stand by their numbers, as scikit-learn's ``CountVectorizer`` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.text.terms import EXACT_BYTES, TermCounts, distinct_terms
from eigenwood.core.threads import results_of


class TermList(NamedTuple):
    """Terms one behind the other, as bytes."""

    listed: np.ndarray  # uint8, one byte behind each term
    stops: np.ndarray  # where that stands


NO_TERMS = TermList(np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64))


class Rows(NamedTuple):
    """A matrix of counts: which terms the documents have, in the order of the terms' numbers, and how often."""

    indptr: np.ndarray
    ids: np.ndarray
    counts: np.ndarray


class Totals(NamedTuple):
    """In how many documents each term is, and how often."""

    documents: np.ndarray
    total: np.ndarray


def joined_terms(known: TermList, blocks: Sequence[TermCounts]) -> tuple[list[np.ndarray], TermList]:
    """Return the numbers of the terms of each block, and all terms; those ``known`` come first."""
    parts = [known, *(TermList(block.listed, block.stops) for block in blocks)]
    begins = np.cumsum([0, *(part.listed.size for part in parts)])
    listed = np.concatenate([part.listed for part in parts])
    stops = np.concatenate([part.stops + begin for part, begin in zip(parts, begins, strict=False)])
    numbers, firsts = distinct_terms(listed, stops)
    ends = np.cumsum([part.stops.size for part in parts])
    return np.split(numbers, ends[:-1])[1:], taken_terms(listed, stops, firsts)


@njit
def first_bytes(listed, stops):
    """Return the first eight bytes of each term as a number: terms are in order where these are, or as long as that."""
    firsts, begin = np.zeros(stops.size, dtype=np.uint64), 0
    for i in range(stops.size):
        for j in range(begin, begin + EXACT_BYTES):
            byte = listed[j] if j < stops[i] else np.uint8(0)
            firsts[i] = (firsts[i] << np.uint64(8)) | np.uint64(byte)
        begin = stops[i] + 1
    return firsts


def taken_terms(listed: np.ndarray, stops: np.ndarray, places: np.ndarray) -> TermList:
    """Return some of the terms."""
    starts = np.concatenate([[0], stops + 1])[places]
    lengths = stops[places] + 1 - starts
    ends = np.cumsum(lengths)
    at = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if ends.size else 0)
    return TermList(listed[at], ends - 1)


def numbered_rows(
    blocks: Sequence[TermCounts], numbers: Sequence[np.ndarray], n_terms: int, n_threads: int
) -> tuple[Rows, Totals]:
    """Return all documents with the numbers of their terms, and the totals of the terms.

    Terms with a number of ``n_terms`` or more are left out.
    """
    own_totals = results_of(lambda block: totals_of(block, block.stops.size), blocks, n_threads)
    documents, total = np.zeros((2, n_terms), dtype=np.int64)
    n_entries, n_rows = [0], [1]
    for block, own, ids in zip(blocks, own_totals, numbers, strict=True):
        known = ids < n_terms
        documents[ids[known]] += own.documents[known]
        total[ids[known]] += own.total[known]
        n_entries.append(n_entries[-1] + int(own.documents[known].sum()))
        n_rows.append(n_rows[-1] + block.indptr.size - 1)
    size = n_entries[-1]
    rows = Rows(np.zeros(n_rows[-1], dtype=np.int64), np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32))

    def write(place: int) -> None:
        block, own, here = blocks[place], numbers[place], slice(n_entries[place], n_entries[place + 1])
        order = np.argsort(own)[: np.count_nonzero(own < n_terms)]
        ends = rows.indptr[n_rows[place] : n_rows[place + 1]]
        write_by_number(block.indptr, block.ids, block.counts, own, order, ends, rows.ids[here], rows.counts[here])
        ends += here.start

    results_of(write, range(len(blocks)), n_threads)
    return rows, Totals(documents, total)


@njit(error_model="numpy")
def write_by_number(indptr, ids, counts, numbers, order, ends, new_ids, new_counts):
    """Write rows with other numbers of their terms and in the order of these, and where they end.

    ``order`` has the terms that are kept by their new numbers. Entries are sorted by term, and then put into their rows
    one term after the other.
    """
    places, is_kept = np.zeros(numbers.size, dtype=np.int64), np.zeros(numbers.size, dtype=np.bool_)
    is_kept[order] = True
    for row in range(ends.size):
        for i in range(indptr[row], indptr[row + 1]):
            places[ids[i]] += 1
    place = 0
    for term in order:
        place, places[term] = place + places[term], place
    of_row, of_count = np.empty(place, dtype=np.int32), np.empty(place, dtype=np.int32)
    nexts, n_kept = np.empty(ends.size, dtype=np.int64), 0
    for row in range(ends.size):
        nexts[row] = n_kept
        for i in range(indptr[row], indptr[row + 1]):
            if is_kept[ids[i]]:
                at = places[ids[i]]
                of_row[at], of_count[at], places[ids[i]] = row, counts[i], at + 1
                n_kept += 1
        ends[row] = n_kept
    place = 0
    for term in order:
        while place < places[term]:
            at = nexts[of_row[place]]
            new_ids[at], new_counts[at], nexts[of_row[place]] = numbers[term], of_count[place], at + 1
            place += 1


def totals_of(rows: Rows | TermCounts, n_terms: int) -> Totals:
    """Return the totals of the terms of some rows."""
    documents = np.bincount(rows.ids, minlength=n_terms)
    return Totals(documents, np.bincount(rows.ids, rows.counts, n_terms).astype(np.int64))


def by_number(rows: Rows, n_terms: int) -> Rows:
    """Return rows whose terms stand by their numbers, by turning the matrix twice; a larger number is left out."""
    rows = kept_entries(rows, rows.ids < n_terms)
    matrix = sparse.csr_array((rows.counts, rows.ids, rows.indptr), shape=(rows.indptr.size - 1, n_terms))
    turned = matrix.tocsc().tocsr()
    return Rows(turned.indptr, turned.indices, turned.data)


def kept_entries(rows: Rows, is_kept: np.ndarray) -> Rows:
    """Return the rows with some of their entries."""
    if is_kept.all():
        return rows
    n_kept = np.concatenate([[0], np.cumsum(is_kept)])
    return Rows(n_kept[rows.indptr], rows.ids[is_kept], rows.counts[is_kept])


def renumbered(rows: Rows, numbers: np.ndarray) -> Rows:
    """Return the rows with other numbers of their terms; those of number -1 are left out."""
    ids = numbers[rows.ids]
    return kept_entries(rows._replace(ids=ids), ids >= 0)
