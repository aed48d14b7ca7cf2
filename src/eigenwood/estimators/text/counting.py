"""From documents to terms and counts: compiled for plain words, by scikit-learn's analyzers for everything else.

documents ─► text ─► blocks of UTF-8 ─► terms and counts of each block ─► one matrix         words
documents ─► scikit-learn's build_analyzer() ─► a dict, term by term ──► one matrix          any other setting
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from eigenwood.core.text.counting import (
    NO_TERMS,
    Rows,
    TermList,
    Totals,
    by_number,
    first_bytes,
    joined_terms,
    numbered_rows,
    renumbered,
    totals_of,
)
from eigenwood.core.text.terms import TermCounts, words_counted
from eigenwood.core.threads import results_of
from eigenwood.validation.text import check_text, decoding_error

WORDS = r"(?u)\b\w\w+\b"
BLOCK_LETTERS = 1 << 20  # of the documents that are counted together
BLOCKS_AT_ONCE = 64
ENCODING = "utf-8", "surrogatepass"  # half a surrogate pair is in no word
STEPS = ("build_analyzer", "build_tokenizer", "build_preprocessor", "get_stop_words", "decode")


class Counted(NamedTuple):
    """Documents by their terms, which stand in the order in which they were met, or in that of a vocabulary."""

    terms: list
    rows: Rows
    totals: Totals
    prefixes: np.ndarray | None = None  # the first bytes of each term as a number, if all terms are words


def counted(model: Any, documents: Iterable[Any], vocabulary: dict | None, n_threads: int) -> Counted:
    """Return the terms of all documents, or those of a vocabulary, and how often they occur in each document."""
    analyze = model.build_analyzer()  # also where it is not used: it warns of stop words that are none
    stop_words = model.get_stop_words() if model.analyzer == "word" else None
    min_n, max_n = model.ngram_range
    if is_plain(model) and (max_n == 1 or stop_words is None):
        return counted_words(model, documents, vocabulary, stop_words, n_threads)
    return counted_by(analyze, documents_of(model, documents), vocabulary)


def is_plain(model: Any) -> bool:
    """Return whether terms are words as scikit-learn's default pattern finds them, and nobody has changed how."""
    own_steps = any(getattr(type(model), name) is not getattr(CountVectorizer, name) for name in STEPS)
    return (
        not own_steps
        and isinstance(model.analyzer, str)
        and model.analyzer == "word"
        and model.tokenizer is None
        and model.token_pattern == WORDS
    )


# ---- words, in compiled code -------------------------------------------------------------------------------------


def counted_words(
    model: Any, documents: Iterable[Any], vocabulary: dict | None, stop_words: Any, n_threads: int
) -> Counted:
    """Return words and their counts; words of a vocabulary that stand in no document have no entries."""
    names = [] if vocabulary is None else sorted(vocabulary, key=vocabulary.__getitem__)
    known = NO_TERMS if vocabulary is None else listed(names)
    blocks = list(blocks_of(model, texts_of(model, documents), n_threads))
    numbers, terms = joined_terms(known, blocks)
    n_terms = terms.stops.size if vocabulary is None else len(names)
    rows, totals = numbered_rows(blocks, numbers, n_terms, n_threads)
    if vocabulary is None:
        names = terms.listed[:-1].tobytes().decode(*ENCODING).split("\n") if n_terms else []
    prefixes = first_bytes(terms.listed, terms.stops) if vocabulary is None else None
    return without(Counted(names, rows, totals, prefixes), stop_words, vocabulary is not None)


def listed(names: list[str]) -> TermList:
    """Return terms as bytes, each with a newline behind it."""
    encoded = [name.encode(*ENCODING) for name in names]
    stops = np.cumsum(np.array([len(name) + 1 for name in encoded], dtype=np.int64)) - 1
    return TermList(np.frombuffer(b"\n".join(encoded) + b"\n", dtype=np.uint8), stops)


def without(found: Counted, stop_words: Any, is_fixed: bool) -> Counted:
    """Return terms and counts without stop words; a vocabulary keeps its columns."""
    if not stop_words:
        return found
    is_kept = np.array([term not in stop_words for term in found.terms], dtype=bool)
    numbers = np.arange(is_kept.size, dtype=np.int32) if is_fixed else np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    rows = renumbered(found.rows, np.where(is_kept, numbers, np.int32(-1)))
    terms = found.terms if is_fixed else [term for term, kept in zip(found.terms, is_kept, strict=True) if kept]
    prefixes = found.prefixes if found.prefixes is None else found.prefixes[is_kept]
    return Counted(terms, rows, totals_of(rows, len(terms)), prefixes)


def blocks_of(model: Any, texts: Iterator[str], n_threads: int) -> Iterator[TermCounts]:
    """Yield the terms of documents, counted block by block."""
    min_n, max_n = model.ngram_range
    prepare = model.build_preprocessor()
    changes_ascii = model.preprocessor is not None or callable(model.strip_accents)

    def block(documents: list[str]) -> TermCounts:
        joined = "" if changes_ascii else "".join(documents)
        encoded = None
        if changes_ascii or not joined.isascii():  # lower case, as a whole, is not that of its letters one by one
            encoded = [prepare(document).encode(*ENCODING) for document in documents]
        letters = joined.encode() if encoded is None else b"".join(encoded)
        ends = np.cumsum(np.fromiter(map(len, encoded or documents), np.int64, len(documents)))
        lowercase = bool(model.lowercase) and encoded is None
        return words_counted(np.frombuffer(letters, dtype=np.uint8), ends, lowercase, min_n, max_n)

    groups = grouped(texts)
    while some := list(islice(groups, BLOCKS_AT_ONCE)):
        yield from results_of(block, some, n_threads)


def grouped(texts: Iterator[str]) -> Iterator[list[str]]:
    """Yield documents in lists of so many letters, or one that has more."""
    block, n_letters = list[str](), 0
    for text in texts:
        block.append(text)
        n_letters += len(text)
        if n_letters >= BLOCK_LETTERS:
            yield block
            block, n_letters = [], 0
    if block:
        yield block


# ---- anything else, in Python ------------------------------------------------------------------------------------


def counted_by(analyze: Callable, documents: Iterator[Any], vocabulary: dict | None) -> Counted:
    """Return the terms that a function finds, and their counts."""
    numbers: dict[Any, int] = {} if vocabulary is None else vocabulary
    ids, counts, indptr = list[int](), list[int](), [0]
    for document in documents:
        own: dict[int, int] = {}
        for term in analyze(document):
            number = numbers.setdefault(term, len(numbers)) if vocabulary is None else numbers.get(term, -1)
            if number >= 0:
                own[number] = own.get(number, 0) + 1
        ids.extend(own)
        counts.extend(own.values())
        indptr.append(len(ids))
    rows = Rows(np.array(indptr, dtype=np.int64), np.array(ids, dtype=np.int32), np.array(counts, dtype=np.int32))
    return Counted(
        sorted(numbers, key=numbers.__getitem__), by_number(rows, len(numbers)), totals_of(rows, len(numbers))
    )


# ---- documents ---------------------------------------------------------------------------------------------------


def texts_of(model: Any, documents: Iterable[Any]) -> Iterator[str]:
    """Yield the documents as texts: read, decoded, and nothing else."""
    who, is_content = type(model).__name__, model.input == "content"
    for place, document in enumerate(documents):
        if is_content and type(document) is str:
            yield document
            continue
        if is_content and not isinstance(document, bytes) and model.preprocessor is None:
            document = check_text(who, place, document)
        try:
            yield model.decode(document)
        except UnicodeDecodeError as problem:
            raise decoding_error(who, place, document, problem) from None


def documents_of(model: Any, documents: Iterable[Any]) -> Iterator[Any]:
    """Yield the documents as they are, for an analyzer that reads them itself; plain words are looked at first."""
    who = type(model).__name__
    for place, document in enumerate(documents):
        if model.input == "content" and model.preprocessor is None and not callable(model.analyzer):
            document = document if isinstance(document, bytes) else check_text(who, place, document)
        yield document
