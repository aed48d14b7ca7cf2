"""Which of the terms seen are columns: scikit-learn's rules, ties included, and counts that can be added up."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.estimators.text.counting import Counted
from eigenwood.validation.text import check_document_bounds, check_kept


class TermStats(NamedTuple):
    """All terms in order, in how many documents each is, and how often."""

    terms: np.ndarray  # of objects
    documents: np.ndarray
    total: np.ndarray
    n_documents: int


NO_STATS = TermStats(np.empty(0, dtype=object), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0)


class Kept(NamedTuple):
    """The terms that are columns."""

    vocabulary: dict[Any, int]
    columns: np.ndarray  # (n_terms,) int32 the column of each term in order, -1 for one that is left out


def stats_of(found: Counted, is_binary: bool) -> tuple[TermStats, np.ndarray]:
    """Return what is to be known of the terms, and the place in order of each one that was met."""
    documents, total = found.totals
    order = order_of(found.terms, found.prefixes)
    return in_order(found.terms, order, documents, documents if is_binary else total, found.rows.indptr.size - 1)


def order_of(terms: list, prefixes: np.ndarray | None = None) -> np.ndarray:
    """Return which term is first in order, which is next, …; only those that begin alike are compared as texts."""
    if prefixes is None:
        return np.array(sorted(range(len(terms)), key=terms.__getitem__), dtype=np.int64)
    order = np.argsort(prefixes)
    same = np.diff(prefixes[order]) == 0
    alike = np.flatnonzero(np.append(same, False) | np.append(False, same))
    order[alike] = sorted(order[alike].tolist(), key=terms.__getitem__)  # each group of them stays where it is
    return order


def in_order(
    terms: list, order: np.ndarray, documents: np.ndarray, total: np.ndarray, n_documents: int
) -> tuple[TermStats, np.ndarray]:
    """Return terms in order with their counts, and the place of each term there."""
    names, places = np.empty(len(terms), dtype=object), np.empty(len(terms), dtype=np.int32)
    names[:] = terms
    places[order] = np.arange(len(terms), dtype=np.int32)
    return TermStats(names[order], documents[order], total[order], n_documents), places


def joined_stats(one: TermStats, other: TermStats) -> TermStats:
    """Return what is known of the terms of documents from two parts."""
    place = {term: number for number, term in enumerate(one.terms)}
    for term in other.terms:
        place.setdefault(term, len(place))
    at = np.fromiter((place[term] for term in other.terms), np.int64, other.terms.size)
    counts = np.zeros((2, len(place)), dtype=np.int64)
    counts[:, : one.terms.size] = one.documents, one.total
    counts[:, at] += other.documents, other.total
    return in_order(list(place), order_of(list(place)), counts[0], counts[1], one.n_documents + other.n_documents)[0]


def kept_terms(model: Any, stats: TermStats, must_keep: bool = False) -> Kept:
    """Return the terms that are columns; of terms that are as frequent those that scikit-learn keeps."""
    who, n_documents = type(model).__name__, stats.n_documents
    least, most = (
        float(bound if isinstance(bound, Integral) else bound * n_documents) for bound in (model.min_df, model.max_df)
    )
    check_document_bounds(who, least, most)
    is_kept = (stats.documents <= most) & (stats.documents >= least)
    if model.max_features is not None and is_kept.sum() > model.max_features:
        # scikit-learn's ties follow from the order in which NumPy sorts sums of this type
        total = stats.total.astype(sparse.csr_array((1, 1), dtype=model.dtype).sum(axis=0).dtype)
        best = np.flatnonzero(is_kept)[(-total[is_kept]).argsort()[: model.max_features]]
        is_kept = np.zeros(is_kept.size, dtype=bool)
        is_kept[best] = True
    n_kept = int(is_kept.sum())
    if must_keep:
        check_kept(who, n_kept)
    columns = np.where(is_kept, np.cumsum(is_kept, dtype=np.int32) - np.int32(1), np.int32(-1))
    return Kept(dict(zip(stats.terms[is_kept].tolist(), range(n_kept), strict=True)), columns)


def terms_given(terms: np.ndarray, vocabulary: dict) -> Kept:
    """Return the columns of terms in order, where the vocabulary was given."""
    return Kept(vocabulary, np.fromiter(map(vocabulary.__getitem__, terms), np.int32, terms.size))
