"""What can be asked of word vectors, whoever made them: similar words, analogies, and tests of both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.words.workspace import SENTENCE_END
from eigenwood.data.text import UTF_8, read_questions, read_word_pairs
from eigenwood.data.word2vec import write_word2vec
from eigenwood.estimators.words.corpus import encoded
from eigenwood.estimators.words.evaluation import AnalogyScores, SimilarityScore, analogy_scores, similarity_score
from eigenwood.validation.words import known_places


class WordQueries:
    """Questions to ``vocabulary_`` and ``vectors_``.

    Vectors are compared by their cosine: each is divided by its length before anything is added or subtracted.
    """

    vocabulary_: np.ndarray
    vectors_: np.ndarray
    encoding: str = UTF_8  # of files with sentences

    def derive(self) -> None:
        """Make what follows from words and vectors."""
        self._places = {word: place for place, word in enumerate(self.vocabulary_)}
        self._unit_vectors = unit_rows(self.vectors_)

    @property
    def places(self) -> dict[str, int]:
        """The row of each word."""
        if not hasattr(self, "_places"):
            check_is_fitted(self)
        return self._places

    def __contains__(self, word: str) -> bool:
        return word in self.places

    def vector(self, word: str) -> np.ndarray:
        """Return the vector of a word."""
        (place,) = known_places(type(self).__name__, [word], self.places)
        return self.vectors_[place].copy()

    def similarity(self, first: str, second: str) -> float:
        """Return the cosine of two words."""
        one, other = known_places(type(self).__name__, [first, second], self.places)
        return float(self._unit_vectors[one] @ self._unit_vectors[other])

    def most_similar(
        self, positive: str | Iterable[str], negative: str | Iterable[str] = (), n: int = 10
    ) -> list[tuple[str, float]]:
        """Return the ``n`` words nearest to the sum of some words less others, each with its cosine."""
        who = type(self).__name__
        plus, minus = known_places(who, positive, self.places), known_places(who, negative, self.places)
        wanted = self._unit_vectors[plus].sum(axis=0) - self._unit_vectors[minus].sum(axis=0)
        cosines = self._unit_vectors @ (wanted / max(float(np.linalg.norm(wanted)), np.finfo(np.float32).tiny))
        order = np.argsort(-cosines, kind="stable")[: n + len(plus) + len(minus)]
        asked = {*plus, *minus}
        found = [(str(self.vocabulary_[place]), float(cosines[place])) for place in order if place not in asked]
        return found[:n]

    def analogy(self, first: str, less: str, plus: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the words nearest to ``first`` - ``less`` + ``plus``: king - man + woman."""
        return self.most_similar([first, plus], less, n)

    def evaluate_analogies(
        self, file: str | os.PathLike, max_vocab: int | None = 30_000, lowercase: bool = True
    ) -> AnalogyScores:
        """Return how many analogies of a file are answered rightly, by section.

        Only the ``max_vocab`` most frequent words take part: a question with another word is skipped, and counted as
        that. The answer is the nearest word that is not in the question.
        """
        places = self.places
        return analogy_scores(self._unit_vectors[:max_vocab], places, read_questions(file), lowercase)

    def evaluate_similarity(self, file: str | os.PathLike, lowercase: bool = True) -> SimilarityScore:
        """Return Spearman's correlation of cosines with what people say of pairs of words."""
        places = self.places
        return similarity_score(self._unit_vectors, places, read_word_pairs(file), lowercase)

    def mean_vectors(self, sentences: Any) -> np.ndarray:
        """Return the mean of the vectors of each sentence's words; zeros where none is in the vocabulary."""
        ids = encoded(type(self).__name__, sentences, self.places, self.encoding)
        is_word = ids != SENTENCE_END
        rows = np.cumsum(~is_word)[is_word]
        n_rows = int(ids.size - is_word.sum())
        counts = sparse.csr_array((np.ones(rows.size), (rows, ids[is_word])), shape=(n_rows, self.vocabulary_.size))
        means = counts @ self.vectors_.astype(np.float64) / np.maximum(np.bincount(rows, minlength=n_rows), 1)[:, None]
        return means.astype(np.float32)

    def save_word2vec(self, path: str | os.PathLike, binary: bool | None = None) -> Path:
        """Write the vectors in a format of word2vec, which gensim reads: binary if the file ends with .bin."""
        return write_word2vec(path, self.vocabulary_, self.vectors_, binary)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Return the rows divided by their lengths, in float32; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0.0, lengths, 1.0)).astype(np.float32)
