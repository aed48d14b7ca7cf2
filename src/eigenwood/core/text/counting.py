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

from eigenwood.core.text.terms import TermCounts, distinct_terms
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

    def part_of(place: int) -> tuple[Rows, Totals]:
        block = blocks[place]
        rows = Rows(block.indptr, numbers[place][block.ids], block.counts)
        return by_number(rows, n_terms), totals_of(block, block.stops.size)

    parts = results_of(part_of, range(len(blocks)), n_threads)
    documents, total = np.zeros((2, n_terms), dtype=np.int64)
    for (_, own), ids in zip(parts, numbers, strict=True):
        known = ids < n_terms
        documents[ids[known]] += own.documents[known]
        total[ids[known]] += own.total[known]
    return below_each_other([rows for rows, _ in parts]), Totals(documents, total)


def totals_of(rows: Rows | TermCounts, n_terms: int) -> Totals:
    """Return the totals of the terms of some rows."""
    documents = np.bincount(rows.ids, minlength=n_terms)
    return Totals(documents, np.bincount(rows.ids, rows.counts, n_terms).astype(np.int64))


def below_each_other(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several matrices as one."""
    begins = np.cumsum([0, *(part.ids.size for part in parts)])
    indptr = [part.indptr[1:] + begin for part, begin in zip(parts, begins, strict=False)]
    return Rows(
        np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
        np.concatenate([np.empty(0, dtype=np.int32), *(part.ids for part in parts)]),
        np.concatenate([np.empty(0, dtype=np.int32), *(part.counts for part in parts)]),
    )


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
