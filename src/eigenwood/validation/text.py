"""Checks of documents, of vocabularies, and of what models of words say in their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenwood.errors import InputError, TextError
from eigenwood.validation.params import Number
from eigenwood.validation.state import Sizes

WHOLE = Number(at_least=1, integer=True)


# ---- rules of parameters -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """A text."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str)

    def __str__(self) -> str:
        return "a text"


@dataclass(frozen=True)
class Texts:
    """A list of texts, or a set of them."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(text, str) for text in value)

    def __str__(self) -> str:
        return "a list of texts"


@dataclass(frozen=True)
class NgramRange:
    """Two whole numbers: the fewest words of a term, and the most."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, (tuple, list)) and len(value) == 2 and all(WHOLE.allows(n) for n in value)

    def __str__(self) -> str:
        return "two integers at least 1"


@dataclass(frozen=True)
class Terms:
    """A vocabulary: term: column, or terms in the order of their columns."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, (str, bytes))

    def __str__(self) -> str:
        return "a mapping of terms to columns or an iterable of terms"


@dataclass(frozen=True)
class NumberType:
    """What NumPy takes as the type of numbers."""

    def allows(self, value: Any) -> bool:
        try:
            return value is not None and np.dtype(value).kind in "biuf"
        except TypeError:
            return False

    def __str__(self) -> str:
        return "a type of numbers"


# ---- the rule of a fitted vocabulary -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Vocabulary:
    """A dict of terms to columns 0, 1, 2, …"""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, dict) or not all(isinstance(term, str) for term in value):
            return "must be a dict of texts"
        columns = value.values()
        if not all(isinstance(column, (int, np.integer)) for column in columns):
            return "must have integers as columns"
        return None if set(columns) == set(range(len(value))) else f"must have the columns 0 to {len(value) - 1}"


# ---- what fit is given -------------------------------------------------------------------------------------------


def check_documents(who: str, given: Any) -> Iterable[Any]:
    """Return documents one by one; a single text is not meant."""
    if isinstance(given, (str, bytes)):
        raise InputError(f"{who}: Iterable over raw text documents expected, string object received.")
    if hasattr(given, "to_pylist"):
        return given.to_pylist()
    if not isinstance(given, Iterable):
        raise InputError(f"{who}: documents must be an iterable of texts; got {type(given).__name__}.")
    return given


def check_ngram_range(who: str, ngram_range: Any) -> tuple[int, int]:
    """Return the fewest and the most words of a term."""
    fewest, most = ngram_range
    if fewest > most:
        raise InputError(
            f"{who}: Invalid value for ngram_range={ngram_range} lower boundary larger than the upper boundary."
        )
    return int(fewest), int(most)


def check_vocabulary(who: str, vocabulary: Any) -> dict[Any, int] | None:
    """Return a given vocabulary as term: column, None if there is none."""
    if vocabulary is None:
        return None
    if not isinstance(vocabulary, Mapping):
        terms = sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else list(vocabulary)
        first = {term: column for column, term in reversed(list(enumerate(terms)))}
        if len(first) < len(terms):
            twice = next(term for column, term in enumerate(terms) if first[term] != column)
            raise InputError(f"{who}: Duplicate term in vocabulary: {twice!r}.")
        vocabulary = {term: column for column, term in enumerate(terms)}
    if not vocabulary:
        raise InputError(f"{who}: empty vocabulary passed to fit.")
    columns = set(vocabulary.values())
    if len(columns) < len(vocabulary):
        raise InputError(f"{who}: Vocabulary contains repeated indices.")
    missing = [column for column in range(len(vocabulary)) if column not in columns]
    if missing:
        raise InputError(f"{who}: Vocabulary of size {len(vocabulary)} doesn't contain index {missing[0]}.")
    return dict(vocabulary)


def check_text(who: str, place: int, document: Any) -> str:
    """Return a document that has been read; anything but a text is refused."""
    if isinstance(document, str):
        return document
    if isinstance(document, float) and document != document:
        raise InputError(f"{who}: document {place}: np.nan is an invalid document, expected byte or unicode string.")
    raise InputError(f"{who}: document {place} must be text or bytes; got {type(document).__name__}.")


def decoding_error(who: str, place: int, source: Any, problem: UnicodeDecodeError) -> TextError:
    """Return the error of bytes that are no text: it names the file or the document, and the byte."""
    name = str(source) if isinstance(source, str) or hasattr(source, "__fspath__") else f"document {place}"
    byte = problem.object[problem.start]
    return TextError(
        f"{who}: {name} must be {problem.encoding} text; got byte 0x{byte:02x} at {problem.start} "
        "(decode_error='replace' or 'ignore' reads on).",
        problem,
    )


# ---- what is kept of the terms -----------------------------------------------------------------------------------


def check_any_term(who: str, n_terms: int) -> None:
    """Raise if no document has a term."""
    if n_terms == 0:
        raise InputError(f"{who}: empty vocabulary; perhaps the documents only contain stop words.")


def check_kept(who: str, n_kept: int) -> None:
    """Raise if no term is left."""
    if n_kept == 0:
        raise InputError(f"{who}: After pruning, no terms remain. Try a lower min_df or a higher max_df.")


def check_document_bounds(who: str, least: float, most: float) -> None:
    """Raise unless a term can be in enough documents and not in too many."""
    if most < least:
        raise InputError(f"{who}: max_df corresponds to < documents than min_df.")


def check_same_way(who: str, one: Any, other: Any) -> None:
    """Raise unless two models cut documents into terms in the same way."""
    if type(one) is not type(other):
        raise InputError(f"{who}: merge needs another {who}; got {type(other).__name__}.")
    ours, theirs = one.get_params(), other.get_params()
    for name in ours.keys() - {"n_jobs", "input", "max_df", "min_df", "max_features"}:
        if ours[name] != theirs[name]:
            raise InputError(f"{who}: merge needs the same {name}, {ours[name]!r}; got {theirs[name]!r}.")


def check_bag_state(who: str, terms: np.ndarray, vocabulary: dict, expected: dict | None, counts: tuple) -> None:
    """Raise unless terms are in order, counts are possible, and the vocabulary is what is left of the terms."""
    documents, total, n_documents = counts
    if (np.asarray(terms[1:]) <= np.asarray(terms[:-1])).any():
        raise InputError(f"{who}: terms_ must be in order.")
    if (documents > n_documents).any() or (total < documents).any():
        raise InputError(f"{who}: document_counts_ must be at most n_documents_ and term_counts_.")
    if expected is not None and vocabulary != expected:
        raise InputError(f"{who}: vocabulary_ must be what max_df, min_df and max_features leave of terms_.")
