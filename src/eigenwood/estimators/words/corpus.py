"""From sentences to numbers of words: one look at the text, four bytes for each word of it.

sentences     the drama was good | the end              ids   0 3 5 -1 0 4 -1
vocabulary    0 the, 1 …      the most frequent first, equal counts in the order of the alphabet
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.text.splitting import NumberedWords, words_numbered
from eigenwood.core.threads import results_of
from eigenwood.core.words.workspace import SENTENCE_END
from eigenwood.data.text import UTF_8, TextBlock, sentences_of
from eigenwood.validation.words import check_encoding, check_strings, check_vocabulary, not_strings

LEFT_OUT = -2  # the number of a word that is not in the vocabulary
BLOCKS_AT_ONCE = 8


class Corpus(NamedTuple):
    """A text as numbers, and what the numbers stand for."""

    words: np.ndarray  # (V,) of strings
    counts: np.ndarray  # (V,) int64
    ids: np.ndarray  # int32: numbers of words, and -1 where a sentence ends
    n_words: int  # of the text, rare ones included


def read_corpus(
    who: str, sentences: Any, min_count: int, max_vocab: int | None, encoding: str = UTF_8, n_threads: int = 1
) -> Corpus:
    """Return the text, without the words that are too rare."""
    number: defaultdict[Any, int] = defaultdict()
    number.default_factory = number.__len__  # a new word gets the next number
    ids = numbered(who, sentences, number, encoding, n_threads)
    check_strings(who, number)
    names, counts = list(number), np.bincount(ids + 1, minlength=len(number) + 1)[1:]  # ends of sentences are left out
    order = by_count(names, counts, min_count)[:max_vocab]
    check_vocabulary(who, [names[i] for i in order[:2]], len(names), min_count)
    new_ids = np.full(len(names) + 1, LEFT_OUT, dtype=np.int32)
    new_ids[order] = np.arange(len(order), dtype=np.int32)
    new_ids[SENTENCE_END] = SENTENCE_END  # the last place
    renumbered = new_ids[ids]
    words = np.array([names[i] for i in order], dtype=object)
    return Corpus(words, counts[order], renumbered[renumbered != LEFT_OUT], int(counts.sum()))


def by_count(names: list[str], counts: np.ndarray, min_count: int) -> list[int]:
    """Return the places of frequent names, the most frequent first, equal ones in the order of the alphabet."""
    frequent = sorted(np.flatnonzero(counts >= min_count).tolist(), key=names.__getitem__)
    return [frequent[i] for i in np.argsort(-counts[frequent], kind="stable")]


def encoded(who: str, sentences: Any, places: dict[str, int], encoding: str = UTF_8, n_threads: int = 1) -> np.ndarray:
    """Return a text in the numbers of a vocabulary; words that are not in it are left out."""
    number: defaultdict[Any, int] = defaultdict(lambda: LEFT_OUT, places)
    ids = numbered(who, sentences, number, encoding, n_threads)
    check_strings(who, number)
    return ids[ids != LEFT_OUT]


def numbered(
    who: str, sentences: Any, number: defaultdict[Any, int], encoding: str = UTF_8, n_threads: int = 1
) -> np.ndarray:
    """Return a text as numbers of words, each sentence with an end."""
    check_encoding(who, encoding)
    ids = array("i")
    try:
        for is_text, pieces in groupby(sentences_of(who, sentences, encoding), is_block):
            if is_text:
                while some := list(islice(pieces, BLOCKS_AT_ONCE)):
                    for found in results_of(numbered_block, some, n_threads):
                        ids.frombytes(renumbered(found, number).tobytes())
            else:
                for words in pieces:
                    ids.extend(map(number.__getitem__, words))
                    ids.append(SENTENCE_END)
    except TypeError as error:  # words that are lists, say, cannot be looked up
        raise not_strings(who, error) from error
    return np.frombuffer(ids, dtype=np.int32) if ids else np.empty(0, dtype=np.int32)


def is_block(piece: TextBlock | Iterable[Any]) -> bool:
    return isinstance(piece, TextBlock)


def numbered_block(block: Any) -> NumberedWords:
    """Return a block of text in numbers of its own."""
    return words_numbered(block.letters, block.end[0])


def renumbered(found: NumberedWords, number: defaultdict[Any, int]) -> np.ndarray:
    """Return the words of a block in the numbers of the whole text."""
    names = found.listed.tobytes().decode(UTF_8, "surrogatepass").split("\n")[:-1]
    own = np.fromiter(map(number.__getitem__, names), np.int32, len(names))
    return np.append(own, np.int32(SENTENCE_END))[found.ids]  # the end of a sentence is in the last place
