"""Terms of documents: which tell most of the target, and how much each weighs in a row."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def covariances(rows: sparse.csr_array, targets: np.ndarray) -> np.ndarray:
    """Return how strongly each term goes with the targets, shape (n_terms,).

    ``rows`` (n_documents, n_terms) are weights, and ``targets`` (n_documents, n_targets) amounts, or 1 for the class of
    a document. The answer is the length of a term's n_targets covariances.
    """
    return np.linalg.norm(rows.T @ (targets - targets.mean(axis=0)), axis=1) / rows.shape[0]


def inverse_frequencies(document_counts: np.ndarray, n_documents: int) -> np.ndarray:
    """Return the weight of each term: those in few documents weigh more."""
    return np.log((1.0 + n_documents) / (1.0 + document_counts)) + 1.0


def weighted_rows(counts: sparse.csr_array, weights: np.ndarray) -> sparse.csr_array:
    """Return rows of length 1: each term has the weight (1 + ln count) times its own; rows without terms are 0."""
    values = (1.0 + np.log(counts.data)) * weights[counts.indices]
    rows = sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
    lengths = np.sqrt(rows.power(2) @ np.ones(counts.shape[1]))
    rows.data /= np.repeat(np.where(lengths > 0.0, lengths, 1.0), np.diff(rows.indptr))
    return rows
