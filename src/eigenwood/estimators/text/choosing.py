"""The terms of a column of texts that get columns of their own, and their weights in each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from eigenwood.core.text.weighting import covariances, inverse_frequencies, weighted_rows
from eigenwood.estimators.text.bag_of_words import BagOfWords
from eigenwood.proofs.claim import Claim, at_most

FEWEST_DOCUMENTS = 2  # that a term must be in, unless none is
MOST_CLASSES = 100  # that are looked at; more different integers than that are amounts
MOST_VALUES = 2**28  # of the dense columns: fewer terms where there are very many rows
FEWEST_TERMS = 50


class TextTerms(NamedTuple):
    """Terms in order, each with its weight."""

    names: list[str]
    weights: np.ndarray


class TermCounts(NamedTuple):
    """All terms of some documents: what a choice is made from."""

    names: np.ndarray
    counts: sparse.csr_array  # (n_documents, n_terms)
    documents: np.ndarray  # how many have each term


def chosen_terms(column: pa.ChunkedArray, y: Any, most: int) -> tuple[TextTerms, np.ndarray]:
    """Return the terms that go with the target, and their weights in each row, shape (n_rows, n_terms)."""
    found = counted(column)
    places = np.sort(ranked(found, y)[: term_count(most, len(column))])
    weights = inverse_frequencies(found.documents[places], len(column))
    rows = weighted_rows(sparse.csr_array(found.counts[:, places]), weights)
    return TextTerms(found.names[places].tolist(), weights), dense(rows)


def term_columns(column: pa.ChunkedArray, terms: TextTerms) -> np.ndarray:
    """Return the weights of terms in each row, shape (n_rows, n_terms)."""
    if not terms.names:
        return np.zeros((len(column), 0), dtype=np.float32)
    bag = BagOfWords(vocabulary=terms.names, n_jobs=-1)
    return dense(weighted_rows(sparse.csr_array(bag.transform(documents_of(column))), terms.weights))


def dense(rows: sparse.csr_array) -> np.ndarray:
    return rows.astype(np.float32).toarray(order="F")


def documents_of(column: pa.ChunkedArray) -> list[str]:
    """Return texts as strings; a missing one has no words."""
    return column.fill_null("").to_pylist()


def counted(column: pa.ChunkedArray) -> TermCounts:
    """Return all terms of the texts, in order, and how often each stands in each."""
    documents = documents_of(column)
    try:
        bag = BagOfWords(n_jobs=-1)
        counts = sparse.csr_array(bag.fit_transform(documents))
    except ValueError:  # no text has a word
        return TermCounts(np.array([], dtype=object), sparse.csr_array((len(documents), 0)), np.zeros(0))
    return TermCounts(bag.get_feature_names_out(), counts, bag.document_counts_)


def term_count(most: int, n_rows: int) -> int:
    """Return how many terms get columns at most."""
    return min(most, max(FEWEST_TERMS, MOST_VALUES // n_rows))


def ranked(found: TermCounts, y: Any) -> np.ndarray:
    """Return the places of terms, those that go with the target first; without a target, the most frequent."""
    places = np.flatnonzero(found.documents >= min(FEWEST_DOCUMENTS, found.documents.max(initial=0)))
    documents = found.documents[places]
    if y is None:
        return places[np.argsort(-documents, kind="stable")]
    n_documents = found.counts.shape[0]
    rows = weighted_rows(sparse.csr_array(found.counts[:, places]), inverse_frequencies(documents, n_documents))
    return places[np.lexsort((-documents, -covariances(rows, targets_of(np.asarray(y)))))]


def targets_of(y: np.ndarray) -> np.ndarray:
    """Return amounts as one column, and classes as a column of zeros and ones each.

    >>> targets_of(np.array(["a", "b", "a"])).tolist(), targets_of(np.array([0.5, 1.5])).tolist()
    ([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[0.5], [1.5]])
    """
    if y.ndim == 2:
        return np.hstack([targets_of(column) for column in y.T])
    classes, codes = np.unique(y, return_inverse=True)
    if y.dtype.kind == "f" or (y.dtype.kind in "iu" and classes.size > MOST_CLASSES):
        return y.astype(np.float64)[:, np.newaxis]
    frequent = np.argsort(-np.bincount(codes), kind="stable")[:MOST_CLASSES]
    return (codes[:, np.newaxis] == np.sort(frequent)).astype(np.float64)


def term_claims(name: str, column: pa.ChunkedArray, y: Any, terms: TextTerms, most: int) -> Iterator[Claim]:
    """Yield that no better term was left out, and that the weights of terms follow from how many texts have them."""
    found = counted(column)
    best = ranked(found, y)[: term_count(most, len(column))]
    others = set(found.names[best]) ^ set(terms.names)
    yield at_most(
        f"terms of {name!r}", "terms that were chosen and should not be, or the other way round", len(others), 0
    )
    documents = dict(zip(found.names, found.documents, strict=True))
    own = np.array([documents.get(term, 0) for term in terms.names], dtype=np.float64)
    off = np.abs(inverse_frequencies(own, len(column)) - terms.weights).max(initial=0.0)
    yield at_most(
        f"weights of {name!r}", "largest difference of a term's weight to ln((1 + n) / (1 + n_term)) + 1", off, 0.0
    )
