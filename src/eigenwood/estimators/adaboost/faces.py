"""AdaBoost with scikit-learn's face: stumps, or any classifier, each fitted to what the others got wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.adaboost.rounds import SECONDS
from eigenwood.core.adaboost.stumps import part_of_stumps
from eigenwood.core.adaboost.votes import Votes
from eigenwood.estimators.adaboost.contributing import vote_contributions
from eigenwood.estimators.adaboost.fitting import LearnerRounds, classifier_steps
from eigenwood.estimators.adaboost.history import HISTORY, HeldOut, LearnerHistory, StumpHistory
from eigenwood.estimators.adaboost.input_checks import LearnerData, StumpData, check_learner_rows, check_stump_rows
from eigenwood.estimators.adaboost.params import CLASSIFIER_PARAMS, CLASSIFIER_STATE, SOMETIMES
from eigenwood.estimators.adaboost.stopping import HeldOutVotes, divided_learner_rows
from eigenwood.estimators.adaboost.stump import stump_of
from eigenwood.estimators.adaboost.votes import votes_of
from eigenwood.estimators.adaboost.voting import Voting
from eigenwood.estimators.forest.input_checks import all_equal
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.faces import DecisionTreeClassifier
from eigenwood.estimators.watching import Watch, all_or_nothing
from eigenwood.proofs.adaboost import History, boosting_claims
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.adaboost import (
    DISCRETE,
    REAL,
    check_algorithm,
    check_learners_or_stumps,
    check_listed_categories,
    check_same_rounds,
    check_shares,
)
from eigenwood.validation.bagging import check_learner, check_learner_classes
from eigenwood.validation.categories import FROM_DTYPE
from eigenwood.validation.ensembles import check_classifier
from eigenwood.validation.params import check_params


@describe
class AdaBoostClassifier(ClassifierMixin, Voting):
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
        Draws the seeds of the learners, the rows if they are resampled, and those held out; stumps draw nothing.
    early_stopping : bool, default=False
        Hold rows out and stop once their accuracy has not risen for ``n_iter_no_change`` rounds; rounds after the best
        one are dropped.
    validation_fraction : float or int, default=0.1
        The rows held out, as a share or as a number: about the same share of each class.
    n_iter_no_change : int, default=10
        How many rounds may pass without a better accuracy.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add more, up to ``n_estimators``: the same bits as one fit to these rows.
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
    validation_score_ : ndarray of shape (n_rounds,)
        The accuracy on the rows held out after each round, where rounds may stop early; n_held_out_ tells how many.
    left_shares_ : ndarray of shape (n_rounds,)
        The share of the rows, by weight, that each stump sends to the left.
    stop_reason_ : 'finished', 'perfect', 'no_edge', 'early_stopping', 'time_limit' or 'callback'
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

    OPTIONAL = SOMETIMES | {"stumps_", "left_shares_", "categories_", "learners_", "seed_", "has_text_"}

    normalizers_: np.ndarray
    edges_: np.ndarray
    left_shares_: np.ndarray

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
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Boost, round after round, on the rows of X and their classes y. A weight is a repeated row."""
        with all_or_nothing(self) as before:
            check_params(self)
            watch = Watch(self)
            if self._may_have_stumps():
                data = check_stump_rows(self, X, y, sample_weight)
                if self._has_stumps(data.classes.labels.size):
                    return self._fit_stumps(data, before, X, y, watch)
            return self._fit_learners(X, y, sample_weight, before, watch)

    def _fit_stumps(self, data: StumpData, before: dict, X, y, watch: Watch):
        n_earlier = self._earlier_count(before, data.classes.labels, "stumps_")
        if n_earlier > 0:
            are_same = all_equal(data.mixed.categories, self.categories_) and "left_shares_" in before
            check_same_rounds(type(self).__name__, are_same)
        if n_earlier == self.n_estimators:
            return self
        history = StumpHistory(self, data, n_earlier, self._seed() if self.early_stopping else 0)
        seconds = 0.0 if getattr(self, "_skl_callbacks", None) else SECONDS  # each round is told of
        steps = history.steps(self.n_estimators, seconds)
        return self._follow(steps, history, history.learn.weights, n_earlier, X, y, watch)

    def _fit_learners(self, X, y, sample_weight, before: dict, watch: Watch):
        learner, seed = self._learner(), self._seed()
        check_classifier(type(self).__name__, learner)
        check_algorithm(type(self).__name__, self.algorithm, learner)
        data = check_learner_rows(self, X, y, sample_weight)
        n_earlier = self._earlier_count(before, data.labels, "learners_")
        if n_earlier == self.n_estimators:
            return self
        learn, held_out = divided_learner_rows(self, data, seed)
        fixed = {"classes_": data.labels, "seed_": seed, "has_text_": data.has_text}
        history = LearnerHistory(HISTORY, fixed, self._held_out(held_out))
        steps = classifier_steps(
            type(self).__name__,
            LearnerRounds(learner, learn, seed, self.resample, watch, self._threads()),
            Votes(learn.codes, learn.mass, class_count(data), float(self.learning_rate), self.algorithm == REAL),
            self._pred_of(class_count(data)),
            self.n_estimators,
            self._earlier(n_earlier),
        )
        return self._follow(history.followed(steps), history, learn.mass, n_earlier, X, y, watch)

    def _held_out(self, rows: LearnerData | None) -> HeldOut | None:
        """Return what scores rows held out, given one learner after the other and its weight."""
        if rows is None:
            return None
        real, pred_of = self.algorithm == REAL, self._pred_of(class_count(rows))
        votes = HeldOutVotes(rows, real)

        def score(learner: Any, weight: float) -> float:
            return votes.add(votes_of(pred_of(learner, votes.X), weight, real), weight)

        return HeldOut(score, rows.mass.size, int(self.n_iter_no_change))

    def _follow(self, steps, history: Any, weights: np.ndarray, n_earlier: int, X, y, watch: Watch):
        """Drive the rounds to their end, and store what they come to."""
        result = self._store(steps, history, self.n_estimators - n_earlier, X, y, watch)
        edge = None if result.edge is None else min(result.edge, float(self.edges_.min()))  # stumps are the best ones
        assert result.margins is not None
        self.certificate_ = self._certify(result.margins, weights, edge)
        return self

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
        else:
            own = self._learner_importances()
        return own / (weights.sum() if weights.sum() > 0.0 else 1.0)

    def contributions(self, X):
        """Return how much each feature moves the scores of each row away from the base value: exact Shapley values.

        The learners must be stumps, or trees of Eigenwood. The result has ``values``, of shape (n_rows, n_features)
        for two classes, else (n_rows, n_features, n_classes), and ``base``; the values of a row and the base add up to
        its ``decision_function``. A feature that is not known is answered by the share of weight that went each way:
        of the training rows at stumps, of the weights of its round in a tree.
        """
        check_is_fitted(self)
        return vote_contributions(self, X)

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
            check_shares(who, getattr(self, "left_shares_", np.empty(0)))
            return
        for learner in self.learners_:
            check_learner(who, learner, type(self._learner()), self.n_features_in_)
            check_learner_classes(who, learner, self.classes_.size)


def class_count(data: LearnerData) -> int:
    """Return the number of classes."""
    assert data.labels is not None
    return data.labels.size
