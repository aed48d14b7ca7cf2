"""Continuous bag of words with scikit-learn's face."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT, FIT_STATE
from eigenwood.estimators.watching import TIME_LIMIT, Watch, Watched
from eigenwood.estimators.words.corpus import encoded, read_corpus
from eigenwood.estimators.words.fitting import LOSSES, Plan, attributes_of, certificate_of, loss_of, plan_of, steps_of
from eigenwood.estimators.words.queries import WordQueries
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, check_params
from eigenwood.validation.state import Array, Labels
from eigenwood.validation.threads import N_JOBS, thread_count
from eigenwood.validation.words import check_columns, check_counts, check_finite_vectors, check_neighbours


@describe
class CBOW(WordQueries, TransformerMixin, Watched, BaseEstimator):
    """Word vectors by continuous bag of words: the mean of the words around it tells the word in the middle.

    Like word2vec and ``gensim.models.Word2Vec(sg=0)``. Differences: (1) what the mean of a context is to change by is
    divided among its words, as the gradient is; (2) the loss of each epoch is exact; (3) the same bits for any number
    of threads; (4) no sentence is cut; (5) the full softmax; (6) ``time_limit``, callbacks, a certificate.

    Parameters
    ----------
    n_components : int, default=100
        The length of a vector.
    window : int, default=5
        The most words on each side that are a context; each example draws how many of them.
    min_count : int, default=5
        Words that are rarer are left out, and the text closes up over them.
    max_vocab : int or None, default=None
        Keep so many of the most frequent words at most: the lecture's top V.
    subsample : float or None, default=1e-3
        Frequent words are left out at random, the more the more frequent they are beyond this share of the text.
    loss : 'negative_sampling' or 'softmax', default='negative_sampling'
        Tell the word from ``negatives`` drawn ones, or from all words (the boosting and SVM lecture), which is for
        small vocabularies.
    negatives : int, default=5
        Words that are drawn against each answer; four examples share them.
    noise_exponent : float, default=0.75
        Negatives are drawn as often as their count to this power.
    learning_rate, final_learning_rate : float, default=0.1 and 1e-4
        The first and the last step size; in between it falls with the text that was read. Without the correction a
        quarter of these does as well.
    epochs : int, default=5
        How often the text is read.
    corrected : bool, default=True
        Divide the gradient of the mean by the number of its words. False is what word2vec.c, gensim and fastText do.
    validation_fraction : float, default=0.0
        The share of the text, at its end, that is not learnt from: ``validation_losses_`` tells its loss.
    random_state : int, RandomState or None, default=0
        Draws first vectors, windows, negatives, and which words are left out.

    Attributes
    ----------
    vocabulary_ : ndarray of str, the most frequent first; ``counts_`` tells how often each is in the text
    vectors_, output_vectors_ : float32 ndarrays of shape (n_words, n_components), of words as contexts and as answers
    losses_ : ndarray, for each epoch the mean loss of all examples, each as it was before it was learnt
    n_examples_ : ndarray, how many these are
    validation_losses_ : ndarray, after each whole epoch; empty without a ``validation_fraction``
    n_iter_ : int, whole epochs
    n_corpus_words_ : int, words of the text, rare ones included
    stop_reason_ : 'finished', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import CBOW
    >>> text = ["we drink hot tea", "we drink hot coffee", "they read old books"] * 50
    >>> model = CBOW(8, min_count=1, subsample=None, epochs=20).fit(text)
    >>> model.most_similar("tea", n=1)[0][0], bool(model.losses_[-1] < model.losses_[0])
    ('coffee', True)
    """

    PARAMS = {
        "n_components": Number(at_least=1, integer=True),
        "window": Number(at_least=1, integer=True),
        "min_count": Number(at_least=1, integer=True),
        "max_vocab": AnyOf(Nothing(), Number(at_least=2, integer=True)),
        "subsample": AnyOf(Nothing(), Number(above=0)),
        "loss": Choice(LOSSES),
        "negatives": Number(at_least=1, at_most=100, integer=True),
        "noise_exponent": Number(at_least=0, at_most=2),
        "learning_rate": Number(above=0),
        "final_learning_rate": Number(above=0),
        "epochs": Number(at_least=1, integer=True),
        "corrected": Flag(),
        "validation_fraction": Number(at_least=0, below=1),
        "random_state": Seed(),
        "n_jobs": N_JOBS,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        "vocabulary_": Labels("n_words", text_only=True),
        "counts_": Array("i", ("n_words",)),
        "vectors_": Array("f", ("n_words", "n_components")),
        "output_vectors_": Array("f", ("n_words", "n_components")),
        "losses_": Array("f", ("n_epochs",)),
        "n_examples_": Array("i", ("n_epochs",)),
        "validation_losses_": Array("f", ("n_validations",)),
        "n_iter_": COUNT,
        "n_corpus_words_": COUNT,
        **FIT_STATE,
    }

    def __init__(
        self,
        n_components=100,
        *,
        window=5,
        min_count=5,
        max_vocab=None,
        subsample=1e-3,
        loss="negative_sampling",
        negatives=5,
        noise_exponent=0.75,
        learning_rate=0.1,
        final_learning_rate=1e-4,
        epochs=5,
        corrected=True,
        validation_fraction=0.0,
        random_state=0,
        n_jobs=None,
        time_limit=None,
    ):
        self.n_components = n_components
        self.window = window
        self.min_count = min_count
        self.max_vocab = max_vocab
        self.subsample = subsample
        self.loss = loss
        self.negatives = negatives
        self.noise_exponent = noise_exponent
        self.learning_rate = learning_rate
        self.final_learning_rate = final_learning_rate
        self.epochs = epochs
        self.corrected = corrected
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y=None):
        """Learn from sentences: a file (a path that is no string) with one in each line, or an iterable of them.

        A sentence is a list of words, or a string that is cut at white space. The text is read once.
        """
        check_params(self)
        watch = Watch(self)
        n_threads = thread_count("CBOW", self.n_jobs)
        corpus = read_corpus("CBOW", X, self.min_count, self.max_vocab)
        plan = plan_of(self, corpus)
        check_neighbours("CBOW", plan.n_neighbours)

        outcome = watch.follow(
            steps_of(self, plan, n_threads),
            max_rounds=self.epochs,
            fitted=lambda step: attributes_of(self, plan, step),
            X=X,
        )

        attributes = attributes_of(self, plan, outcome.step)
        check_finite_vectors("CBOW", attributes["vectors_"], self.learning_rate)

        self._store(plan, attributes, outcome.reason)
        return self

    def transform(self, X):
        """Return the mean of the vectors of each sentence's words; zeros where none is in the vocabulary."""
        check_is_fitted(self)
        return self.mean_vectors(X)

    def score(self, X, y=None):
        """Return minus the mean loss of the examples in sentences, with windows and negatives drawn as in a fit."""
        check_is_fitted(self)
        ids = encoded("CBOW", X, self.places)
        return -loss_of(self, ids, thread_count("CBOW", self.n_jobs))

    def get_feature_names_out(self, input_features=None):
        """Return cbow0, cbow1, …"""
        check_is_fitted(self)
        return np.array([f"cbow{i}" for i in range(self.vectors_.shape[1])], dtype=object)

    def check_fitted(self) -> None:
        """Raise unless words are counted as the parameters demand."""
        check_counts("CBOW", self.counts_, self.min_count, self.max_vocab)
        check_columns("CBOW", self.vectors_, self.n_components)

    def _store(self, plan: Plan, attributes: dict[str, Any], reason: str) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)
        self.derive()
        self.stop_reason_ = reason
        self.certificate_ = certificate_of(self, plan.corpus.ids)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags
