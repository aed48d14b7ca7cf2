"""Word vectors as eigenvectors: an orthogonal embedding, as a generalisation of PCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.threads import one_blas_thread
from eigenwood.core.words.pairs import meetings, positive_pmi, word_counts
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.state import COUNT, FIT_STATE
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, Deadline
from eigenwood.estimators.words.corpus import Corpus, read_corpus
from eigenwood.estimators.words.queries import WordQueries
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.words import direction_claims, direction_facts, lengths_of
from eigenwood.validation.params import AnyOf, Choice, Nothing, Number, Seed, check_params
from eigenwood.validation.state import Array, Labels
from eigenwood.validation.threads import N_JOBS
from eigenwood.validation.words import check_columns, check_counts, check_directions

PPMI, COUNTS = MATRICES = ("ppmi", "counts")


@describe
class CovarianceEmbedding(WordQueries, TransformerMixin, BaseEstimator):
    """Word vectors from the eigenvectors of the covariance of words, which are orthogonal (the boosting and SVM
    lecture).

    The words are the columns of a matrix, and the embedding is its principal components: of the counts of words in
    sentences, as the lecture has it, or of how much more often than by chance two words meet (positive pointwise
    mutual information), which is what word2vec factors without saying so (Levy and Goldberg, 2014).

    Parameters
    ----------
    n_components : int, default=100
        The length of a vector.
    matrix : 'ppmi' or 'counts', default='ppmi'
        What words are the columns of.
    window : int, default=5
        Words at most so far apart meet; for 'ppmi'.
    shift : float, default=1.0
        The logarithm of this is taken off before what is negative becomes 0; for 'ppmi'.
    power : float, default=0.5
        A column of the vectors is a direction times its standard deviation to this power: 0 makes all equally long.
    min_count : int, default=5
        Words that are rarer are left out, and the text closes up over them.
    max_vocab : int or None, default=None
        Keep so many of the most frequent words at most.
    random_state : int, RandomState or None, default=0
        Draws the first block of an iteration.

    Attributes
    ----------
    vocabulary_ : ndarray of str, the most frequent first; ``counts_`` tells how often each is in the text
    components_ : ndarray of shape (n_components, n_words), the directions: orthonormal
    explained_variance_ : ndarray, the eigenvalues
    vectors_ : float32 ndarray of shape (n_words, n_components)
    n_corpus_words_ : int, words of the text, rare ones included
    stop_reason_ : 'finished' or 'time_limit'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import CovarianceEmbedding
    >>> text = ["we drink hot tea", "we drink hot coffee", "they read old books"] * 5
    >>> model = CovarianceEmbedding(3).fit(text)
    >>> round(model.similarity("tea", "coffee"), 3), model.certificate_.holds
    (1.0, True)
    """

    PARAMS = {
        "n_components": Number(at_least=1, integer=True),
        "matrix": Choice(MATRICES),
        "window": Number(at_least=1, integer=True),
        "shift": Number(above=0),
        "power": Number(at_least=0, at_most=2),
        "min_count": Number(at_least=1, integer=True),
        "max_vocab": AnyOf(Nothing(), Number(at_least=2, integer=True)),
        "random_state": Seed(),
        "n_jobs": N_JOBS,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        "vocabulary_": Labels("n_words", text_only=True),
        "counts_": Array("i", ("n_words",)),
        "components_": Array("f", ("n_components", "n_words")),
        "explained_variance_": Array("f", ("n_components",)),
        "vectors_": Array("f", ("n_words", "n_components")),
        "n_corpus_words_": COUNT,
        **FIT_STATE,
    }

    def __init__(
        self,
        n_components=100,
        *,
        matrix=PPMI,
        window=5,
        shift=1.0,
        power=0.5,
        min_count=5,
        max_vocab=None,
        random_state=0,
        n_jobs=None,
        time_limit=None,
    ):
        self.n_components = n_components
        self.matrix = matrix
        self.window = window
        self.shift = shift
        self.power = power
        self.min_count = min_count
        self.max_vocab = max_vocab
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    def fit(self, X, y=None):
        """Learn from sentences: a file (a path that is no string) with one in each line, or an iterable of them."""
        check_params(self)
        deadline = Deadline(self.time_limit)
        corpus = read_corpus("CovarianceEmbedding", X, self.min_count, self.max_vocab)
        matrix = matrix_of(self, corpus)
        check_directions("CovarianceEmbedding", self.n_components, *matrix.shape)

        left = deadline.seconds_left()
        pca = PCA(
            int(self.n_components),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            time_limit=None if left is None else max(left, 1e-9),
        ).fit(matrix)

        self._store(corpus, pca)
        self.certificate_ = directions_certificate(self, matrix)
        return self

    def transform(self, X):
        """Return the mean of the vectors of each sentence's words; zeros where none is in the vocabulary."""
        check_is_fitted(self)
        return self.mean_vectors(X)

    def get_feature_names_out(self, input_features=None):
        """Return covarianceembedding0, covarianceembedding1, …"""
        check_is_fitted(self)
        return np.array([f"covarianceembedding{i}" for i in range(self.vectors_.shape[1])], dtype=object)

    def check_fitted(self) -> None:
        """Raise unless words are counted as the parameters demand."""
        check_counts("CovarianceEmbedding", self.counts_, self.min_count, self.max_vocab)
        check_columns("CovarianceEmbedding", self.vectors_, self.n_components)

    def _store(self, corpus: Corpus, pca: PCA) -> None:
        lengths = lengths_of(pca.explained_variance_, self.power)
        self.vocabulary_, self.counts_ = corpus.words, corpus.counts
        self.components_, self.explained_variance_ = pca.components_, pca.explained_variance_
        self.vectors_ = (pca.components_.T * lengths).astype(np.float32)
        self.n_corpus_words_ = corpus.n_words
        self.stop_reason_ = pca.stop_reason_
        self.derive()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def matrix_of(model: CovarianceEmbedding, corpus: Corpus) -> sparse.csr_array:
    """Return the matrix whose columns are the words."""
    if model.matrix == COUNTS:
        return word_counts(corpus.ids, corpus.counts.size)
    return positive_pmi(meetings(corpus.ids, int(model.window), corpus.counts.size), float(model.shift))


@one_blas_thread()
def directions_certificate(model: Any, matrix: sparse.csr_array) -> Certificate:
    """Return the claims about a model, measured on the matrix."""
    is_finished = model.stop_reason_ == FINISHED
    facts = direction_facts(
        matrix, model.components_, model.explained_variance_, model.vectors_, model.power, is_finished
    )
    return Certificate(tuple(direction_claims(facts)))
