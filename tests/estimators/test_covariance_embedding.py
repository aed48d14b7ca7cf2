"""Embeddings as a generalisation of PCA: eigenvectors of the covariance, and the information in who meets whom."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood import CovarianceEmbedding, verify
from eigenwood.core.words.pairs import positive_pmi, word_counts
from eigenwood.errors import InputError
from eigenwood.estimators.words.corpus import read_corpus
from tests.naive import words as naive

TEXT = [
    f"{who} {verb} {what}"
    for who, verb, what in [
        ("we", "drink", "tea"),
        ("we", "drink", "coffee"),
        ("they", "read", "books"),
        ("they", "read", "letters"),
    ]
] * 3
TEXT += ["we read books", "they drink tea"]


def matrix_of(model):
    corpus = read_corpus("it", TEXT, model.min_count, None)
    if model.matrix == "counts":
        sentences = [line.split() for line in TEXT]
        return np.array([[line.count(word) for word in corpus.words] for line in sentences], dtype=float)
    counts = naive.meetings(corpus.ids, model.window, corpus.words.size)
    sums = counts.sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(counts * sums.sum() / np.outer(sums, sums)) - np.log(model.shift), 0.0)


@pytest.mark.parametrize(
    "params",
    [
        {"matrix": "counts"},
        {"window": 1},
        {"window": 2, "shift": 1.5, "power": 1.0},
        {"power": 0.0, "matrix": "counts"},
    ],
    ids=str,
)
def test_directions_are_eigenvectors_of_the_covariance(params):
    model = CovarianceEmbedding(3, min_count=1, **params).fit(TEXT)
    covariance = np.cov(matrix_of(model).T)
    values, directions = np.linalg.eigh(covariance)
    assert_allclose(model.explained_variance_, values[::-1][:3], rtol=1e-8)
    assert_allclose(covariance @ model.components_.T, model.components_.T * model.explained_variance_, atol=1e-8)
    lengths = np.sqrt(model.explained_variance_) ** model.power
    assert_allclose(model.vectors_, model.components_.T * lengths, atol=1e-6)
    products = model.vectors_.T.astype(float) @ model.vectors_
    assert_allclose(products, np.diag(lengths**2), atol=1e-5)
    assert model.certificate_.holds
    assert verify(model, TEXT).holds


def test_words_of_the_same_neighbours_are_alike():
    model = CovarianceEmbedding(3, min_count=1, window=1).fit(TEXT)
    assert model.similarity("tea", "coffee") > 0.8 > model.similarity("tea", "letters")


def test_sentences_without_a_word_of_the_vocabulary_are_no_rows():
    corpus = read_corpus("it", ["a b", "rare", "", "b a b"], 2, None)
    assert_array_equal(word_counts(corpus.ids, 2).toarray(), [[1, 1], [2, 1]])


def test_chance_meetings_hold_no_information():
    counts = np.outer([4.0, 2.0], [4.0, 2.0])
    assert positive_pmi(sparse.csr_array(counts), 1.0).nnz == 0


@pytest.mark.parametrize(
    ("params", "text", "what"),
    [
        (
            {"n_components": 50},
            TEXT,
            "n_components must be at most 8, the smaller number of 8 rows and 8 words; got 50",
        ),
        ({"matrix": "counts"}, ["a b a b"], "sentences must be at least 2 for their covariance; got 1"),
        ({}, [], "sentences must hold words; got none"),
    ],
)
def test_what_cannot_be_learnt(params, text, what):
    with pytest.raises(InputError) as caught:
        CovarianceEmbedding(**{"min_count": 1, **params}).fit(text)
    assert what in str(caught.value)


def test_the_same_bits_for_any_number_of_threads():
    one, four = (CovarianceEmbedding(3, min_count=1, n_jobs=n_jobs).fit(TEXT) for n_jobs in (1, 4))
    assert_array_equal(one.vectors_, four.vectors_)


def test_other_eigenvectors_are_noticed():
    model = CovarianceEmbedding(2, min_count=1).fit(TEXT)
    model.components_ = model.components_[::-1].copy()
    assert verify(model, TEXT)["residual"].holds is False
