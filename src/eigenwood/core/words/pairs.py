"""Who stands beside whom: the contexts of a text as a sparse matrix, and how often words meet.

text           the drama was good |        reach 1
row of "was"   drama 1/2, good 1/2         a row for each word of the text that has a neighbour
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.words.workspace import SENTENCE_END


class Contexts(NamedTuple):
    """Examples of continuous bag of words."""

    shares: sparse.csr_array  # (n_examples, V) float32: 1/|C| for each word of a context, as often as it is there
    centres: np.ndarray  # (n_examples,) int32
    sizes: np.ndarray  # (n_examples,) int64: |C|


def sentence_numbers(ids: np.ndarray) -> np.ndarray:
    """Return the number of the sentence for each place of a text; ends of sentences have none, which is -1."""
    return np.where(ids == SENTENCE_END, -1, np.cumsum(ids == SENTENCE_END))


def longest_sentence(sentences: np.ndarray) -> int:
    """Return the most words of a sentence."""
    return int(np.bincount(sentences + 1)[1:].max(initial=0))


def neighbours(
    ids: np.ndarray, sentences: np.ndarray, places: np.ndarray, reach: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield which of the ``places`` have a neighbour at some distance, and which word that is, for all distances."""
    for distance in range(1, min(int(reach.max(initial=0)) + 1, longest_sentence(sentences))):
        for step in (-distance, distance):
            beside = places + step
            which = np.flatnonzero((reach >= distance) & (beside >= 0) & (beside < ids.size))
            which = which[sentences[beside[which]] == sentences[places[which]]]
            yield which, ids[beside[which]]


def contexts_of(ids: np.ndarray, places: np.ndarray, reach: np.ndarray, n_vocabulary: int) -> Contexts:
    """Return the examples whose words stand at ``places``, each with words up to its ``reach``."""
    sentences = sentence_numbers(ids)
    found = list(neighbours(ids, sentences, places, reach))
    rows = np.concatenate([which for which, _ in found]) if found else np.empty(0, dtype=np.int64)
    columns = np.concatenate([words for _, words in found]) if found else np.empty(0, dtype=np.int32)
    sizes = np.bincount(rows, minlength=places.size)
    shares = (1.0 / sizes[rows]).astype(np.float32)
    matrix = sparse.csr_array((shares, (rows, columns)), shape=(places.size, n_vocabulary))
    some = np.flatnonzero(sizes)
    return Contexts(matrix[some], ids[places[some]], sizes[some])


def meetings(ids: np.ndarray, window: int, n_vocabulary: int) -> sparse.csr_array:
    """Return how often each word stands at most ``window`` words away from each other one: a symmetric matrix."""
    sentences = sentence_numbers(ids)
    shape, longest = (n_vocabulary, n_vocabulary), longest_sentence(sentences)
    total = sparse.csr_array(shape)
    for distance in range(1, min(window + 1, longest)):
        before = np.flatnonzero((sentences[:-distance] == sentences[distance:]) & (sentences[distance:] >= 0))
        pairs = (np.ones(before.size), (ids[before], ids[before + distance]))
        total = total + sparse.csr_array(pairs, shape=shape)
    return sparse.csr_array(total + total.T)


def word_counts(ids: np.ndarray, n_vocabulary: int) -> sparse.csr_array:
    """Return how often each sentence holds each word; sentences without a word are left out."""
    sentences = sentence_numbers(ids)
    is_word = sentences >= 0
    rows = np.unique(sentences[is_word], return_inverse=True)[1]
    counts = sparse.csr_array(
        (np.ones(rows.size), (rows, ids[is_word])), shape=(rows.max(initial=-1) + 1, n_vocabulary)
    )
    counts.sum_duplicates()
    return counts


def positive_pmi(counts: sparse.csr_array, shift: float) -> sparse.csr_array:
    """Return max(log p(v, w) / (p(v) p(w)) - log shift, 0) from how often words met; a symmetric matrix."""
    sums = np.asarray(counts.sum(axis=0), dtype=np.float64)
    pairs = counts.tocoo()
    rows, columns = pairs.coords
    values = np.log(pairs.data * sums.sum() / (sums[rows] * sums[columns])) - np.log(shift)
    some = values > 0.0
    return sparse.csr_array((values[some], (rows[some], columns[some])), shape=counts.shape)
