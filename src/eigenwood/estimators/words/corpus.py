"""From sentences to numbers of words: one look at the text, four bytes for each word of it.

sentences     the drama was good | the end              ids   0 3 5 -1 0 4 -1
vocabulary    0 the, 1 …      the most frequent first, equal counts in the order of the alphabet
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.words.workspace import SENTENCE_END
from eigenwood.data.text import pieces_of
from eigenwood.validation.words import check_strings, check_vocabulary, not_strings

LEFT_OUT = -2  # the number of a word that is not in the vocabulary


class Corpus(NamedTuple):
    """A text as numbers, and what the numbers stand for."""

    words: np.ndarray  # (V,) of strings
    counts: np.ndarray  # (V,) int64
    ids: np.ndarray  # int32: numbers of words, and -1 where a sentence ends
    n_words: int  # of the text, rare ones included


def read_corpus(who: str, sentences: Any, min_count: int, max_vocab: int | None) -> Corpus:
    """Return the text, without the words that are too rare."""
    number: defaultdict[Any, int] = defaultdict()
    number.default_factory = number.__len__  # a new word gets the next number
    ids = numbered(who, sentences, number)
    check_strings(who, number)
    is_word = ids != SENTENCE_END
    counts = np.bincount(ids[is_word], minlength=len(number))
    names = list(number)
    order = sorted(np.flatnonzero(counts >= min_count).tolist(), key=lambda i: (-counts[i], names[i]))[:max_vocab]
    check_vocabulary(who, [names[i] for i in order[:2]], len(names), min_count)
    new_ids = np.full(len(names) + 1, LEFT_OUT, dtype=np.int32)
    new_ids[order] = np.arange(len(order), dtype=np.int32)
    new_ids[SENTENCE_END] = SENTENCE_END  # the last place
    renumbered = new_ids[ids]
    words = np.array([names[i] for i in order], dtype=object)
    return Corpus(words, counts[order], renumbered[renumbered != LEFT_OUT], int(is_word.sum()))


def encoded(who: str, sentences: Any, places: dict[str, int]) -> np.ndarray:
    """Return a text in the numbers of a vocabulary; words that are not in it are left out."""
    number: defaultdict[Any, int] = defaultdict(lambda: LEFT_OUT, places)
    ids = numbered(who, sentences, number)
    check_strings(who, number)
    return ids[ids != LEFT_OUT]


def numbered(who: str, sentences: Any, number: defaultdict[Any, int]) -> np.ndarray:
    """Return a text as numbers of words, each sentence with an end."""
    ids = array("i")
    try:
        for words, ends in pieces_of(who, sentences):
            ids.extend(map(number.__getitem__, words))
            if ends:
                ids.append(SENTENCE_END)
    except TypeError as error:  # words that are lists, say, cannot be looked up
        raise not_strings(who, error) from error
    return np.frombuffer(ids, dtype=np.int32) if ids else np.empty(0, dtype=np.int32)
