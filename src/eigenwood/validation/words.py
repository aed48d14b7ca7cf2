"""Checks of words, vocabularies, and questions about words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eigenwood.errors import InputError

MOST_NAMED = 8  # words in a sentence
LONGEST = 60  # letters of a word in a sentence


def check_strings(who: str, words: Iterable[Any]) -> None:
    """Raise unless all words are strings."""
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"{who}: words must be strings; got {shortened(word)} of type {type(word).__name__}.")


def check_encoding(who: str, encoding: str) -> None:
    """Raise unless Python knows the encoding of a text."""
    try:
        "".encode(encoding)
    except LookupError:
        raise InputError(
            f"{who}: encoding must be one that Python knows, such as 'utf-8' or 'latin-1'; got {encoding!r}."
        ) from None


def not_strings(who: str, error: TypeError) -> InputError:
    """Return what is raised for words that cannot be looked up, such as lists."""
    return InputError(f"{who}: words must be strings; got {error}.")


def check_known_pairs(who: str, n_known: int) -> None:
    """Raise unless there are pairs of words to correlate."""
    if n_known < 2:
        raise InputError(f"{who}: at least 2 pairs must be of known words; got {n_known}.")


def check_vocabulary(who: str, kept: Sequence[str], n_distinct: int, min_count: int) -> None:
    """Raise unless there are two words to learn from."""
    if n_distinct == 0:
        raise InputError(f"{who}: sentences must hold words; got none.")
    if len(kept) < 2:
        got = f"only {shortened(kept[0])}" if kept else "none"
        raise InputError(
            f"{who}: sentences must hold two different words at least {min_count} times each (min_count); "
            f"got {got} of {n_distinct}."
        )


def check_neighbours(who: str, n_examples: int) -> None:
    """Raise unless a word stands beside another."""
    if n_examples == 0:
        raise InputError(f"{who}: a sentence must hold two words of the vocabulary; got none that does.")


def check_examples(who: str, n_examples: int, subsample: float | None) -> None:
    """Raise where an epoch had no example, and so no loss: frequent words are left out at random."""
    if n_examples == 0:
        raise InputError(
            f"{who}: subsample must leave two words beside each other in every epoch; got {subsample}, which is too "
            "small for a text of few words (None leaves all)."
        )


def check_finite_vectors(who: str, vectors: np.ndarray, losses: np.ndarray, learning_rate: float) -> None:
    """Raise if vectors or losses have grown beyond all numbers: steps were too long."""
    if not (np.isfinite(vectors).all() and np.isfinite(losses).all()):
        raise InputError(
            f"{who}: learning_rate and subsample must leave steps so short that vectors stay finite; got a fit that "
            f"diverged with learning_rate={learning_rate!r} (subsample=1e-3 drops many of the most frequent words)."
        )


def known_places(who: str, words: Any, places: Mapping[str, int]) -> list[int]:
    """Return the places of words; raise for those that have none."""
    given = [words] if isinstance(words, str) else list(words)
    unknown = [word for word in given if not isinstance(word, str) or word not in places]
    if unknown:
        named = ", ".join(shortened(word) for word in unknown[:MOST_NAMED])
        raise InputError(f"{who}: words must be in the vocabulary of {len(places)} words; got {named}.")
    return [places[word] for word in given]


def check_counts(who: str, counts: np.ndarray, min_count: int, max_vocab: int | None) -> None:
    """Raise unless counts fall, none is too low, and there are not too many of them."""
    if counts.size < 2 or (max_vocab is not None and counts.size > max_vocab):
        raise InputError(f"{who}: counts_ must be of 2 words at least, and max_vocab at most; got {counts.size}.")
    if (np.diff(counts) > 0).any() or counts[-1] < min_count:
        raise InputError(f"{who}: counts_ must fall, and none be below min_count={min_count}; got other ones.")


def check_directions(who: str, n_components: int, n_rows: int, n_words: int) -> None:
    """Raise unless a matrix has so many directions."""
    if n_rows < 2:
        raise InputError(f"{who}: sentences must be at least 2 for their covariance; got {n_rows}.")
    most = min(n_rows, n_words)
    if n_components > most:
        raise InputError(
            f"{who}: n_components must be at most {most}, the smaller number of {n_rows} rows and {n_words} words; "
            f"got {n_components}."
        )


def check_columns(who: str, vectors: np.ndarray, n_components: int, is_finished: bool = True) -> None:
    """Raise unless vectors are as long as the parameter says; a fit that was stopped may have fewer columns."""
    if vectors.shape[1] > n_components or (is_finished and vectors.shape[1] < n_components):
        raise InputError(f"{who}: vectors_ must have n_components={n_components} columns; got {vectors.shape[1]}.")


def check_different_words(who: str, words: Sequence[str], vectors: np.ndarray) -> None:
    """Raise unless there is one vector of finite numbers for each word, and no word twice."""
    check_strings(who, words)
    if vectors.ndim != 2 or vectors.shape[0] != len(words) or vectors.size == 0:
        raise InputError(f"{who}: vectors must have a row for each of the {len(words)} words; got {vectors.shape}.")
    if len(set(words)) < len(words):
        raise InputError(f"{who}: words must differ; got one twice.")
    if not np.isfinite(vectors).all():
        raise InputError(f"{who}: vectors must be finite; got NaN or infinity.")


def shortened(word: Any) -> str:
    """Return a word as a sentence quotes it.

    >>> shortened("tea"), shortened("a" * 100) == repr("a" * 59 + "…")
    ("'tea'", True)
    """
    text = word if isinstance(word, str) else str(word)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return repr(text) if isinstance(word, str) else text
