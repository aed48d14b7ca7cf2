"""Bag of words, with the face of scikit-learn's CountVectorizer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.feature_extraction.text import CountVectorizer

from eigenwood.core.text.counting import Rows, renumbered
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT, FLAG
from eigenwood.estimators.text.counting import WORDS, Counted, counted
from eigenwood.estimators.text.vocabulary import (
    NO_STATS,
    Kept,
    TermStats,
    joined_stats,
    kept_terms,
    stats_of,
    terms_given,
)
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.bag_of_words import count_claim, term_claim
from eigenwood.proofs.claim import Certificate, Claim, not_claimed
from eigenwood.validation.params import AnyOf, Choice, Flag, Function, Nothing, Number, check_params
from eigenwood.validation.state import Array, Labels, Proof
from eigenwood.validation.text import (
    NgramRange,
    NumberType,
    Terms,
    Text,
    Texts,
    Vocabulary,
    check_any_term,
    check_bag_state,
    check_documents,
    check_ngram_range,
    check_same_way,
    check_vocabulary,
)
from eigenwood.validation.threads import N_JOBS, thread_count

CHECKED_DOCUMENTS = 32  # that are counted again in fit, by scikit-learn's analyzer
DOCUMENT_SHARE = AnyOf(Number(at_least=1, integer=True), Number(at_least=0, at_most=1))
UPPER_CASE = (
    "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be matched with any "
    "documents"
)


@describe
class BagOfWords(CountVectorizer):
    """Count the words of documents: a row for each document, a column for each word.

    Like :class:`sklearn.feature_extraction.text.CountVectorizer`, with its parameters, its vocabulary and its matrix,
    to the last bit. Differences: (1) words of the default pattern, and runs of them, are found by compiled code on
    several threads; (2) ``partial_fit`` and ``merge``; (3) document and term counts are kept, and a ``certificate_``;
    (4) bytes that are no text are named by file and place. With another tokenizer, pattern or analyzer, or stop words
    and ``ngram_range`` together, scikit-learn's own analyzer finds the terms.

    Parameters
    ----------
    input, encoding, decode_error : str
        Where documents are, and how their bytes are text, as in scikit-learn.
    strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, ngram_range, analyzer : as there
        How a document becomes terms.
    binary, dtype : as there
        How terms become numbers.
    max_df, min_df : float or int, default=1.0 and 1
        Terms in more documents, or in fewer, are left out: a share of the documents, or a number.
    max_features : int or None, default=None
        Only so many of the most frequent terms: the lecture's top V.
    vocabulary : mapping, iterable of terms or None, default=None
        Count these terms and no others.

    Attributes
    ----------
    vocabulary_ : dict, term: column
    fixed_vocabulary_ : bool, whether the vocabulary was given
    terms_, document_counts_, term_counts_ : arrays of all terms seen, in order, those left out of the vocabulary too;
        in how many documents each is, and how often
    n_documents_ : int
    certificate_

    Examples
    --------
    >>> from eigenwood import BagOfWords
    >>> bag = BagOfWords(max_features=3)
    >>> bag.fit_transform(["A bag of words, a bag!", "Words of wisdom"]).toarray()
    array([[2, 1, 1],
           [0, 1, 1]])
    >>> bag.get_feature_names_out()
    array(['bag', 'of', 'words'], dtype=object)
    """

    PARAMS = {
        "input": Choice(("filename", "file", "content")),
        "encoding": Text(),
        "decode_error": Choice(("strict", "ignore", "replace")),
        "strip_accents": AnyOf(Nothing(), Choice(("ascii", "unicode")), Function("a text")),
        "lowercase": Flag(),
        "preprocessor": AnyOf(Nothing(), Function("a document")),
        "tokenizer": AnyOf(Nothing(), Function("a text")),
        "stop_words": AnyOf(Nothing(), Choice(("english",)), Texts()),
        "token_pattern": AnyOf(Nothing(), Text()),
        "ngram_range": NgramRange(),
        "analyzer": AnyOf(Choice(("word", "char", "char_wb")), Function("a document")),
        "max_df": DOCUMENT_SHARE,
        "min_df": DOCUMENT_SHARE,
        "max_features": AnyOf(Nothing(), Number(at_least=1, integer=True)),
        "vocabulary": AnyOf(Nothing(), Terms()),
        "binary": Flag(),
        "dtype": NumberType(),
        "n_jobs": N_JOBS,
    }
    FITTED = {
        "fixed_vocabulary_": FLAG,
        "vocabulary_": Vocabulary(),
        "terms_": Labels("n_terms", text_only=True),
        "document_counts_": Array("i", ("n_terms",)),
        "term_counts_": Array("i", ("n_terms",)),
        "n_documents_": COUNT,
        "certificate_": Proof(),
    }

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        stop_words=None,
        token_pattern=WORDS,
        ngram_range=(1, 1),
        analyzer="word",
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.int64,
        n_jobs=None,
    ):
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.n_jobs = n_jobs

    def fit(self, raw_documents, y=None):
        """Learn the vocabulary."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents, y=None):
        """Learn the vocabulary and return the counts."""
        fixed, first, found = self._counted(raw_documents)
        check_any_term(type(self).__name__, len(found.terms))
        stats, places = stats_of(found, self.binary)
        kept = self._learn(stats, fixed, must_keep=True)
        counts = self._matrix(renumbered(found.rows, kept.columns[places]))
        self._certify(first, counts)
        return counts

    def partial_fit(self, raw_documents, y=None):
        """Learn from more documents; the vocabulary is what the parameters leave of the terms of all of them."""
        fixed, first, found = self._counted(raw_documents)
        self._learn(joined_stats(self._stats(), stats_of(found, self.binary)[0]), fixed)
        rows = first_rows(found.rows, len(first))
        columns = np.fromiter((self.vocabulary_.get(term, -1) for term in found.terms), np.int32, len(found.terms))
        self._certify(first, self._matrix(renumbered(rows, columns)))
        return self

    def merge(self, other):
        """Learn what another bag of words has learnt from other documents."""
        check_same_way(type(self).__name__, self, other)
        self._learn(joined_stats(self._stats(), other._stats()), check_vocabulary(type(self).__name__, self.vocabulary))
        self.certificate_ = Certificate(())  # its documents are not here
        return self

    def transform(self, raw_documents):
        """Return the counts of the vocabulary's terms in each document."""
        who = type(self).__name__
        documents = check_documents(who, raw_documents)
        if not getattr(self, "vocabulary_", None):
            self.get_feature_names_out()  # raises where there is no vocabulary; one that was given needs no fit
        return self._matrix(counted(self, documents, self.vocabulary_, thread_count(who, self.n_jobs)).rows)

    def check_fitted(self) -> None:
        """Raise unless the vocabulary is what is left of the terms: a model file is not taken on trust."""
        stats = self._stats()
        expected = None if self.fixed_vocabulary_ else kept_terms(self, stats).vocabulary
        counts = (stats.documents, stats.total, stats.n_documents)
        check_bag_state(type(self).__name__, stats.terms, self.vocabulary_, expected, counts)

    def _counted(self, raw_documents: Any) -> tuple[dict | None, list, Counted]:
        """Return the given vocabulary, the first documents, and the counts of all."""
        check_params(self)
        who = type(self).__name__
        documents = iter(check_documents(who, raw_documents))
        check_ngram_range(who, self.ngram_range)
        warn_of_unused(self)
        fixed = check_vocabulary(who, self.vocabulary)
        if fixed and self.lowercase and any(map(str.isupper, "".join(map(str, fixed)))):
            warnings.warn(UPPER_CASE, UserWarning, stacklevel=4)
        first = [] if self.input == "file" else list(islice(documents, CHECKED_DOCUMENTS))  # a file is read once
        return fixed, first, counted(self, chain(first, documents), fixed, thread_count(who, self.n_jobs))

    def _learn(self, stats: TermStats, fixed: dict | None, must_keep: bool = False) -> Kept:
        """Store what is known of the terms, and which of them are columns; return these."""
        kept = kept_terms(self, stats, must_keep) if fixed is None else terms_given(stats.terms, fixed)
        self.terms_, self.document_counts_, self.term_counts_ = stats.terms, stats.documents, stats.total
        self.n_documents_, self.fixed_vocabulary_ = stats.n_documents, fixed is not None
        self.vocabulary_ = kept.vocabulary
        return kept

    def _certify(self, documents: list, counts: Any) -> None:
        """Store what the first documents show, whose counts these are."""
        self.certificate_ = Certificate((count_claim(self, documents, counts),) if documents else ())

    def _stats(self) -> TermStats:
        if not hasattr(self, "terms_"):
            return NO_STATS
        return TermStats(self.terms_, self.document_counts_, self.term_counts_, self.n_documents_)

    def _matrix(self, rows: Rows) -> Any:
        """Return rows as the kind of sparse matrix that scikit-learn is set to give."""
        make = sparse.csr_array if get_config().get("sparse_interface") == "sparray" else sparse.csr_matrix
        counts = np.ones(rows.ids.size, dtype=self.dtype) if self.binary else rows.counts.astype(self.dtype)
        index = np.int32 if rows.ids.size <= np.iinfo(np.int32).max else np.int64
        parts = (counts, rows.ids.astype(index, copy=False), rows.indptr.astype(index, copy=False))
        return make(parts, shape=(rows.indptr.size - 1, len(self.vocabulary_)))


def first_rows(rows: Rows, n_rows: int) -> Rows:
    """Return the rows of the first documents."""
    end = rows.indptr[n_rows]
    return Rows(rows.indptr[: n_rows + 1], rows.ids[:end], rows.counts[:end])


def warn_of_unused(model: BagOfWords) -> None:
    """Warn of parameters that other parameters put out of use, in scikit-learn's words."""
    is_function = callable(model.analyzer)
    not_words = is_function or model.analyzer != "word"
    unused = {
        "token_pattern": ("'tokenizer' is not None'", model.tokenizer is not None and model.token_pattern is not None),
        "preprocessor": ("'analyzer' is callable'", is_function and model.preprocessor is not None),
        "ngram_range": ("'analyzer' is callable'", is_function and tuple(model.ngram_range) != (1, 1)),
        "stop_words": ("'analyzer' != 'word'", not_words and model.stop_words is not None),
        "tokenizer": ("'analyzer' != 'word'", not_words and model.tokenizer is not None),
    }
    if not_words and model.token_pattern not in (None, WORDS):
        unused["token_pattern"] = ("'analyzer' != 'word'", True)
    for name, (reason, is_unused) in unused.items():
        if is_unused:
            warnings.warn(f"The parameter '{name}' will not be used since {reason}", UserWarning, stacklevel=5)


def verify_bag(model: BagOfWords, X: Iterable, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield that documents have the counts that scikit-learn's analyzer finds, and that all were counted."""
    documents = list(check_documents(type(model).__name__, X))
    deadline.check()
    yield count_claim(model, documents, model.transform(documents), deadline.check)
    deadline.check()
    if len(documents) == model.n_documents_:
        yield term_claim(model, documents, deadline.check)
    else:
        yield not_claimed("terms", "other documents were counted than these", len(documents))
