"""AdaBoost with scikit-learn's face: stumps, or any classifier, each fitted to what the others got wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.callback import with_callbacks
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.adaboost.rounds import SECONDS, StumpStep, stump_steps
from eigenwood.core.adaboost.stumps import part_of_stumps
from eigenwood.core.adaboost.table import CodedTable, coded_dense, coded_sparse
from eigenwood.core.adaboost.votes import Votes
from eigenwood.core.adaboost.weights import integer_weights
from eigenwood.estimators.adaboost.fitting import (
    LearnerRounds,
    LearnerStep,
    classifier_steps,
)
from eigenwood.estimators.adaboost.input_checks import LearnerData, StumpData, check_learner_rows, check_stump_rows
from eigenwood.estimators.adaboost.params import CLASSIFIER_PARAMS, CLASSIFIER_STATE, END_REASONS
from eigenwood.estimators.adaboost.stump import stump_of
from eigenwood.estimators.adaboost.voting import Voting
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.faces import DecisionTreeClassifier
from eigenwood.estimators.tree.fitting import RARE_SHARE
from eigenwood.estimators.watching import FINISHED, Watch, Watched, all_or_nothing
from eigenwood.proofs.adaboost import History, boosting_claims
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.adaboost import (
    DISCRETE,
    REAL,
    check_algorithm,
    check_learners_or_stumps,
    check_listed_categories,
)
from eigenwood.validation.bagging import check_learner, check_learner_classes
from eigenwood.validation.categories import FROM_DTYPE
from eigenwood.validation.ensembles import check_classifier
from eigenwood.validation.params import check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count

HISTORY = ("estimator_errors_", "edges_", "estimator_weights_", "normalizers_", "train_errors_", "min_margins_")


@describe
class AdaBoostClassifier(ClassifierMixin, MetaEstimatorMixin, Voting, Watched, BaseEstimator):
    """Let classifiers vote, each of which learnt from what those before it got wrong.

    Like :class:`sklearn.ensemble.AdaBoostClassifier`, with its parameters and attributes. Differences: (1) without an
    ``estimator`` the best stump of all is found in each round, exactly: every feature, every cut, both signs, missing
    values on either side, categories, the same class on both sides; (2) any classifier will do: one without
    ``sample_weight`` gets rows that are drawn by their weights; (3) ``algorithm='real'`` takes shares of classes at
    their word; (4) rounds end where theory ends them, and ``stop_reason_`` says why; (5) ``predict`` is always the
    class with the highest ``predict_proba``; (6) a weight is a repeated row, for any order of the rows; (7) the history
    of the rounds, ``time_limit``, callbacks and a ``certificate_``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner; None is a stump, a tree of one question. Where it has a ``random_state``, each gets its own.
    n_estimators : int, default=50
        The most rounds.
    learning_rate : float, default=1.0
        A factor for the weight of each learner; the bounds of the lectures are for 1.
    algorithm : 'discrete' or 'real', default='discrete'
        'discrete' asks learners for classes: AdaBoost for two of them, SAMME for more. 'real' asks for their shares p
        and takes h = 2p - 1: the lectures' real form for two classes, AdaBoost.MH for more. Stumps of two classes are
        sure of what they say, and both are the same then.
    resample : bool, default=False
        Give each learner rows that are drawn by their weights, also if it could take the weights.
    random_state : int, RandomState or None, default=None
        Draws the seeds of the learners, and the rows if they are resampled; stumps draw nothing.
    categorical_features : 'from_dtype', None or list, default='from_dtype'
        Which columns are categories to stumps: the texts and categoricals of a frame, none, or names, indices or a
        mask. An ``estimator`` has its own way.

    Attributes
    ----------
    estimator_, estimators_, classes_, n_classes_, estimator_weights_, estimator_errors_, feature_importances_
        As in scikit-learn, and so are n_features_in_ and feature_names_in_; there are only the rounds that there were.
    betas_ : ndarray of shape (n_rounds,)
        The lectures' β = ½ ln((1-ε)/ε): half of ``estimator_weights_``.
    edges_ : ndarray of shape (n_rounds,)
        r = Σ D y h of each learner; 1 - 2ε if it says classes, twice the γ by which it is better than chance.
    normalizers_, bounds_ : ndarray of shape (n_rounds,)
        Z, by which the weights of the rows are divided after a round, and the product of all Z so far.
    train_errors_, min_margins_ : ndarray of shape (n_rounds,)
        After each round the share of weight without a margin above 0, and the smallest margin, between -1 and 1.
    stop_reason_ : 'finished', 'perfect', 'no_edge', 'time_limit' or 'callback'
        'perfect' is a learner without an error, 'no_edge' one that is no better than chance.
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import AdaBoostClassifier
    >>> from eigenwood.data.datasets import load
    >>> points = load("ten_points")
    >>> model = AdaBoostClassifier(n_estimators=3).fit(points.X, points.y)
    >>> model.betas_.round(2), model.score(points.X, points.y)
    (array([0.42, 0.65, 0.92]), 1.0)
    """

    OPTIONAL = frozenset({"stumps_", "categories_", "learners_", "seed_", "has_text_"})

    normalizers_: np.ndarray
    edges_: np.ndarray
    seed_: int
    n_features_in_: int

    PARAMS = CLASSIFIER_PARAMS
    FITTED = CLASSIFIER_STATE

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        algorithm=DISCRETE,
        resample=False,
        random_state=None,
        categorical_features=FROM_DTYPE,
        n_jobs=None,
        time_limit=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.resample = resample
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Boost, round after round, on the rows of X and their classes y. A weight is a repeated row."""
        with all_or_nothing(self):
            check_params(self)
            watch = Watch(self)
            if self._may_have_stumps():
                data = check_stump_rows(self, X, y, sample_weight)
                if self._has_stumps(data.classes.labels.size):
                    return self._fit_stumps(data, X, y, watch)
            return self._fit_learners(X, y, sample_weight, watch, self._seed())

    def _fit_stumps(self, data: StumpData, X, y, watch: Watch):
        coded = self._coded(data)
        steps = stump_steps(
            *coded,
            data.classes.codes,
            integer_weights(data.weights),
            data.classes.labels.size,
            self.n_estimators,
            float(self.learning_rate),
            0.0 if getattr(self, "_skl_callbacks", None) else SECONDS,  # each round is told of
        )
        return self._follow(steps, lambda step: self._stump_attributes(data, step), data.weights, X, y, watch)

    def _fit_learners(self, X, y, sample_weight, watch: Watch, seed: int):
        learner = self._learner()
        check_classifier(type(self).__name__, learner)
        check_algorithm(type(self).__name__, self.algorithm, learner)
        data = check_learner_rows(self, X, y, sample_weight)
        rounds, votes = self._learner_rounds(data, seed, watch), self._votes(data)
        steps = classifier_steps(rounds, votes, self._said_by(class_count(data)), self.n_estimators)
        return self._follow(steps, lambda step: self._learner_attributes(data, seed, step), data.mass, X, y, watch)

    def _follow(self, steps, attributes, weights: np.ndarray, X, y, watch: Watch):
        """Drive the rounds to their end, and store what they come to."""
        outcome = watch.follow(steps, max_rounds=self.n_estimators, fitted=attributes, X=X, y=y)
        for name in set(self.FITTED) & set(vars(self)):
            if name in self.OPTIONAL:
                delattr(self, name)
        for name, value in attributes(outcome.step).items():
            setattr(self, name, value)
        self.stop_reason_ = END_REASONS[outcome.step.end] if outcome.reason == FINISHED else outcome.reason
        edge = getattr(outcome.step, "largest_edge", None)
        edge = edge if edge is None else min(edge, float(self.edges_.min()))  # stumps are the best in each round
        self.certificate_ = self._certify(outcome.step.margins, weights, edge)
        return self

    def _coded(self, data: StumpData) -> CodedTable:
        rows = data.mixed.X
        if sparse.issparse(rows):
            return coded_sparse(rows.tocsc())
        return coded_dense(rows, data.mixed.counts(), RARE_SHARE, self._threads())

    def _learner_rounds(self, data: LearnerData, seed: int, watch: Watch | None) -> LearnerRounds:
        return LearnerRounds(self._learner(), data, seed, self.resample, watch, self._threads())

    def _votes(self, data: LearnerData) -> Votes:
        real = self.algorithm == REAL
        return Votes(data.codes, data.mass, class_count(data), float(self.learning_rate), real)

    def _stump_attributes(self, data: StumpData, step: StumpStep) -> dict:
        """Return the fitted attributes that some rounds stand for."""
        errors, alphas = step.errors, step.alphas
        normalizers = (1.0 - errors) * np.exp(-alphas / 2.0) + errors * np.exp(alphas / 2.0)
        history = (errors, 1.0 - 2.0 * errors, alphas, normalizers, step.train_errors, step.min_margins)
        return {
            "classes_": data.classes.labels,
            "stumps_": step.stumps,
            "categories_": data.mixed.categories,
            **dict(zip(HISTORY, history, strict=True)),
        }

    def _learner_attributes(self, data: LearnerData, seed: int, step: LearnerStep) -> dict:
        columns = np.array([told[:6] for told in step.rounds]).T
        return {
            "classes_": data.labels,
            "learners_": step.learners,
            "seed_": seed,
            "has_text_": data.has_text,
            **{name: column.copy() for name, column in zip(HISTORY, columns, strict=True)},
        }

    def _certify(self, margins: np.ndarray, weights: np.ndarray, largest_edge: float | None) -> Certificate:
        """Return what can be claimed of the rounds; the largest edge of any stump is known of stumps only."""
        two_stumps = largest_edge is not None and self.classes_.size == 2
        history = History(*(getattr(self, name) for name in HISTORY))
        claims = boosting_claims(
            history,
            margins,
            weights,
            n_classes=self.classes_.size,
            plain=self.learning_rate == 1.0,
            real=self._is_real(),
            largest_edge=largest_edge if two_stumps else None,
            n_wanted=self.n_estimators,
            stop_reason=self.stop_reason_,
        )
        return Certificate(tuple(claims))

    # ---- what else there is ----------------------------------------------------------------------------------------

    @property
    def n_classes_(self):
        """The number of classes."""
        check_is_fitted(self)
        return self.classes_.size

    @property
    def estimator_(self):
        """The learner as it was before any fit."""
        check_is_fitted(self)
        return self._learner()

    @property
    def estimators_(self):
        """The learners, in order."""
        check_is_fitted(self)
        if hasattr(self, "learners_"):
            return self.learners_
        return [stump_of(part_of_stumps(self.stumps_, t, t + 1), self) for t in range(len(self))]

    @property
    def betas_(self):
        """The lectures' weights of the learners."""
        check_is_fitted(self)
        return self.estimator_weights_ / 2.0

    @property
    def bounds_(self):
        """The product of the normalizers so far, which bounds the training error."""
        check_is_fitted(self)
        return np.cumprod(self.normalizers_)

    @property
    def feature_importances_(self):
        """The weighted mean of the learners' importances; that of a stump is its feature's alone."""
        check_is_fitted(self)
        weights = self.estimator_weights_
        if hasattr(self, "stumps_"):
            asks = self.stumps_.left != self.stumps_.right
            own = np.bincount(self.stumps_.feature[asks], weights=weights[asks], minlength=self.n_features_in_)
        elif hasattr(self.learners_[0], "feature_importances_"):
            own = sum(w * learner.feature_importances_ for w, learner in zip(weights, self.learners_, strict=True))
        else:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ is not there, since the learners have none."
            )
        return own / (weights.sum() if weights.sum() > 0.0 else 1.0)

    def __len__(self) -> int:
        return self.estimator_weights_.size

    def __getitem__(self, number):
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _threads(self) -> int:
        return thread_count(type(self).__name__, self.n_jobs)

    def _seed(self) -> int:
        """Return what all draws of a fit follow from; a model that is verified gives its own to a second fit."""
        given = getattr(self, "_seed_to_take", None)
        return int(integer_seeds(self.random_state, 1)[0]) if given is None else given

    def _learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator

    def _may_have_stumps(self) -> bool:
        """Return whether our stumps are the learners, for some number of classes."""
        return self.estimator is None and not self.resample

    def _has_stumps(self, n_classes: int) -> bool:
        return self._may_have_stumps() and (self.algorithm == DISCRETE or n_classes == 2)

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who, wants_stumps = type(self).__name__, self._has_stumps(self.classes_.size)
        check_learners_or_stumps(who, hasattr(self, "stumps_"), hasattr(self, "learners_"), wants_stumps)
        if wants_stumps:
            check_listed_categories(who, self.stumps_, self.categories_)
            return
        for learner in self.learners_:
            check_learner(who, learner, type(self._learner()), self.n_features_in_)
            check_learner_classes(who, learner, self.classes_.size)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inside = get_tags(self._learner()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags


def class_count(data: LearnerData) -> int:
    """Return the number of classes."""
    assert data.labels is not None
    return data.labels.size
