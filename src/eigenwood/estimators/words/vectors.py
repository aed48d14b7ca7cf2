"""Word vectors that somebody else has made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from eigenwood.data.word2vec import read_word2vec
from eigenwood.estimators.words.queries import WordQueries
from eigenwood.validation.words import check_different_words


class WordVectors(WordQueries):
    """Words and their vectors, to be asked; ``WordVectors.read`` takes a file of word2vec, gensim or others.

    Parameters
    ----------
    words : iterable of str, the most frequent first
    vectors : array of shape (n_words, n_components)

    Examples
    --------
    >>> from eigenwood import WordVectors
    >>> rows = {"king": [1.0, 1.0], "queen": [1.0, -1.0], "man": [0.0, 1.0], "woman": [0.0, -1.0]}
    >>> WordVectors(rows, list(rows.values())).analogy("king", "man", "woman", n=1)[0][0]
    'queen'
    """

    def __init__(self, words: Iterable[str], vectors: Any) -> None:
        names = list(words)
        rows = np.array(vectors, dtype=np.float32)
        check_different_words("WordVectors", names, rows)
        self.vocabulary_, self.vectors_ = np.array(names, dtype=object), rows
        self.derive()

    @classmethod
    def read(cls, path: str | os.PathLike, binary: bool | None = None) -> WordVectors:
        """Return the vectors of a file in word2vec's text format, or in its binary one if the file ends with .bin."""
        return cls(*read_word2vec(path, binary))
