"""The claims about word vectors, recomputed from the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenwood.core.threads import one_blas_thread
from eigenwood.estimators.watching import Deadline
from eigenwood.estimators.words.cbow import CBOW
from eigenwood.estimators.words.corpus import Corpus, read_corpus
from eigenwood.estimators.words.covariance import CovarianceEmbedding, directions_certificate, matrix_of
from eigenwood.estimators.words.fitting import certificate_of
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.words import vocabulary_claim


def verify_cbow(model: CBOW, X: Any, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, measured on the text; that the same fit finds the same vectors is checked beside these."""
    corpus = read_corpus("CBOW", X, model.min_count, model.max_vocab, model.encoding)
    n_others = other_words(model, corpus)
    yield vocabulary_claim(n_others)
    deadline.check()
    if n_others == 0:
        with one_blas_thread():
            yield from certificate_of(model, corpus.ids)


def verify_covariance(model: CovarianceEmbedding, X: Any, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, measured on the matrix that is made of the text anew."""
    corpus = read_corpus("CovarianceEmbedding", X, model.min_count, model.max_vocab, model.encoding)
    n_others = other_words(model, corpus)
    yield vocabulary_claim(n_others)
    deadline.check()
    if n_others == 0:
        yield from directions_certificate(model, matrix_of(model, corpus))


def other_words(model: Any, corpus: Corpus) -> int:
    """Return how many words have another place or count in a text, or are in one of both only."""
    n_common = min(corpus.counts.size, model.counts_.size)
    same = (corpus.words[:n_common] == model.vocabulary_[:n_common]) & (
        corpus.counts[:n_common] == model.counts_[:n_common]
    )
    n_words = int(corpus.n_words != model.n_corpus_words_)
    return int(max(corpus.counts.size, model.counts_.size) - np.count_nonzero(same)) + n_words
