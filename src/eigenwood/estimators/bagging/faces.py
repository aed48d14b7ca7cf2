"""Bagging with scikit-learn's face: many learners, each on its own draw of the rows, and their mean or vote."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
)
from sklearn.callback import with_callbacks
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.bagging.fitting import BaggingFitter, takes_weights
from eigenwood.estimators.bagging.input_checks import (
    BaggingData,
    check_same_features,
    check_same_table,
    check_training,
    refuses_infinity,
)
from eigenwood.estimators.bagging.params import BAGGING_PARAMS, BAGGING_STATE
from eigenwood.estimators.ensemble.base import Ensemble
from eigenwood.estimators.ensemble.learning import Step, learner_steps, sum_predictions
from eigenwood.estimators.ensemble.metrics import OobAnswers
from eigenwood.estimators.ensemble.out_of_bag import OobAccumulator, OobResiduals
from eigenwood.estimators.ensemble.sampling import Draws, draw_count, drawn_feature_count, has_all_features
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT
from eigenwood.estimators.tree.data import log_proba
from eigenwood.estimators.tree.faces import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.tree.fitting import shared_table
from eigenwood.estimators.watching import FINISHED, Watch, Watched, all_or_nothing
from eigenwood.proofs.claim import Certificate, Claim, measured
from eigenwood.proofs.out_of_bag import Score, assessed_vote, vote_claims
from eigenwood.validation.bagging import (
    AUTO,
    PROBABILITY,
    VOTINGS,
    check_all_classes_seen,
    check_learner,
    check_learner_classes,
    check_learner_outputs,
    check_rows_are_left_out,
    check_voting,
)
from eigenwood.validation.ensembles import check_classifier, check_codes, check_query, check_routed, part_of
from eigenwood.validation.params import Choice, check_params
from eigenwood.validation.state import Labels
from eigenwood.validation.threads import thread_count


class Bagging(Ensemble, MetaEstimatorMixin, Watched, BaseEstimator):
    """The part that the classifier and the regressor share."""

    estimators_: list
    drawn_features_: np.ndarray
    has_text_: bool

    @abstractmethod
    def _learner(self) -> Any:
        """Return the learner of which there will be many."""

    @abstractmethod
    def _predict_one(self, learner: Any, X: Any, n_values: int, params: dict) -> np.ndarray:
        """Return what one learner predicts for rows, as numbers of which the mean can be taken."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the learners, each on its own draw of the rows of X and their targets y.

        A weight is a repeated row. Other parameters are passed on to the learners, if scikit-learn's metadata routing
        is enabled.
        """
        with all_or_nothing(self, "_draws_of_fit") as before:
            check_params(self)
            self._check_choices()
            watch = Watch(self)
            data = check_training(self, X, y, sample_weight, self._routed("fit", fit_params).get("fit", {}))
            earlier = self._earlier(data, before)
            if len(earlier) == self.n_estimators:
                warnings.warn("Warm-start fitting without increasing n_estimators does not add learners.", stacklevel=3)
                return self._rescore(data, watch) if self._wants_score() else self
            seconds = self._check_metric(data)
            draws = self._draws(data, self._seed())
            check_same_features(self, draws, len(earlier))
            known_draws = self._known_draws(draws, data.places, len(earlier))
            threads = thread_count(type(self).__name__, self.n_jobs)

            oob = new_oob_accumulator(data)
            fitter = self._fitter(data, draws, watch, threads, wants_oob=self._wants_score())
            outcome = watch.follow(
                learner_steps(fitter, earlier, self.n_estimators, threads, oob.add),
                max_rounds=self.n_estimators - len(earlier),
                fitted=lambda step: self._attributes(data, draws, step),
                X=X,
                y=y,
                seconds_after=self._kept_for_score(seconds, watch),
            )

            for name, value in self._attributes(data, draws, outcome.step).items():
                setattr(self, name, value)
            self.stop_reason_, self._draws_of_fit = outcome.reason, known_draws
            self._set_oob_score(data, data.weights, oob, watch)
            return self

    @property
    def estimator_(self):
        """The learner as it was before any fit."""
        check_is_fitted(self)
        return self._learner()

    @property
    def estimators_features_(self):
        """The features that each learner got."""
        check_is_fitted(self)
        return list(self.drawn_features_)

    def get_metadata_routing(self):
        """Return who gets the parameters that scikit-learn passes on."""
        learner, mapping = self._learner(), MethodMapping().add(caller="fit", callee="fit")
        mapping.add(caller="decision_function", callee="decision_function")
        for caller in ("predict", "predict_proba", "predict_log_proba"):
            mapping.add(caller=caller, callee=self._callee(learner))
        return MetadataRouter(owner=self).add(estimator=learner, method_mapping=mapping)

    def _check_choices(self) -> None:
        """Raise if the learner does not go with the parameters; a regressor goes with all."""

    def _callee(self, learner: Any) -> str:
        """Return the method that is called to predict."""
        return "predict"

    def _routed(self, method: str, params: dict) -> dict[str, dict]:
        """Return the parameters for each method of the learners."""
        check_routed(self, method, params)
        return dict(process_routing(self, method, **params).estimator) if params else {}

    def _earlier(self, data: BaggingData, before: dict) -> list:
        """Return the learners that stay."""
        if self._earlier_count() == 0:
            return []
        check_same_table(self, data, before)
        return self.estimators_

    def _draws(self, data: BaggingData, seed: int) -> Draws:
        """Return how the learners draw."""
        who = type(self).__name__
        draws = Draws(
            data.population,
            n_rows=draw_count(who, self.max_samples, data.population, with_replacement=self.bootstrap),
            with_replacement=bool(self.bootstrap),
            n_features_in=self.n_features_in_,
            n_features=drawn_feature_count(who, self.max_features, self.n_features_in_),
            features_with_replacement=bool(self.bootstrap_features),
            seed=seed,
        )
        if self._wants_score() and not self.bootstrap:
            check_rows_are_left_out(who, self.oob_score, draws.n_rows, float(data.weights.sum()))
        return draws

    def _fitter(
        self, data: BaggingData, draws: Draws, watch: Watch | None, threads: int, *, wants_oob: bool
    ) -> BaggingFitter:
        learner, n_values = self._learner(), data.n_values()
        by_weights = not self.resample and takes_weights(learner)
        shared = None
        plain = by_weights and has_all_features(draws) and not data.training.fit_params
        if plain and type(learner) in (DecisionTreeClassifier, DecisionTreeRegressor):
            shared = shared_table(learner, data.training.X, data.training.y, threads)
        return BaggingFitter(
            learner,
            data.training,
            draws,
            by_weights,
            shared,
            predict=(lambda learner, X: self._predict_one(learner, X, n_values, {})) if wants_oob else None,
            watch=watch,
            own_threads=threads == 1,
        )

    def _attributes(self, data: BaggingData, draws: Draws, step: Step) -> dict:
        """Return the fitted attributes that some learners stand for."""
        return {
            "estimators_": [fitted.learner for fitted in step.learners],
            "drawn_features_": np.array([fitted.features for fitted in step.learners]),
            "n_draws_": draws.n_rows,
            "seed_": draws.seed,
            "has_text_": data.has_text,
        }

    def _rescore(self, data: BaggingData, watch: Watch):
        """Score the learners that are there."""
        draws = self._draws(data, self.seed_)
        check_same_features(self, draws, len(self))
        self._check_draws_of_fit(draws)
        fitter = self._fitter(data, draws, None, 1, wants_oob=True)
        self.stop_reason_ = FINISHED  # all learners are there: time can have cut nothing but the score
        self._set_oob_score(data, data.weights, self._oob_predictions(data, fitter), watch)
        return self

    def _oob_predictions(
        self, data: BaggingData, fitter: BaggingFitter, check: Callable[[], None] = lambda: None
    ) -> OobAccumulator:
        """Return what each learner predicts for the rows it did not see, which are drawn again."""
        oob = new_oob_accumulator(data)
        for number, learner in enumerate(self.estimators_):
            check()
            prediction = fitter.rescore(number, learner).oob
            if prediction is not None:
                oob.add(prediction)
        return oob

    def _certify(self, data: BaggingData, oob: OobAccumulator, score: Score | None) -> Certificate:
        """Return the claims about the fitted learners."""
        claims = [
            self._count_claim("learners", "learners that were fitted"),
            measured("rows drawn", "rows that each learner got, repeated ones counted", self.n_draws_),
        ]
        return Certificate((*claims, *self._oob_claims(data, oob, score)))

    def _query(self, X) -> Any:
        check_is_fitted(self)
        return check_query(self, X, has_text=self.has_text_, finite=refuses_infinity(self))

    def _mean(self, predict: Callable[[Any, Any], np.ndarray], X) -> np.ndarray:
        """Return the mean of what learners predict for X; ``predict`` takes a learner and its columns of X."""
        every_column = np.arange(self.n_features_in_)

        def predict_one(number: int) -> np.ndarray:
            features = self.drawn_features_[number]
            own = X if np.array_equal(features, every_column) else part_of(X, None, features)
            return predict(self.estimators_[number], own)

        threads = thread_count(type(self).__name__, self.n_jobs)
        return sum_predictions(predict_one, len(self.estimators_), threads) / len(self.estimators_)

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        for learner in self.estimators_:
            check_learner(type(self).__name__, learner, type(self._learner()), self.drawn_features_.shape[1])
            self._check_learner(learner)

    @abstractmethod
    def _check_learner(self, learner: Any) -> None:
        """Raise unless the predictions of a learner from a model file can be used."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inside = get_tags(self._learner()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags


def new_oob_accumulator(data: BaggingData) -> OobAccumulator:
    n_rows, of_classes = data.weights.size, data.labels is not None
    residuals = None if of_classes else OobResiduals(data.training.y.reshape(n_rows, -1), data.weights)
    return OobAccumulator(n_rows, data.n_values(), keeps_ballots=of_classes, residuals=residuals)


def has_scores(bagging: Bagging) -> bool:
    """Return whether the learners have ``decision_function``."""
    return hasattr(bagging._learner(), "decision_function")


@describe
class BaggingClassifier(ClassifierMixin, Bagging):
    """Let many classifiers vote, each of which learnt from its own draw of the rows.

    Like :class:`sklearn.ensemble.BaggingClassifier`, with its parameters and attributes. Differences: (1) the default
    learner is Eigenwood's :class:`DecisionTreeClassifier`; (2) ``resample`` and ``voting``; (3) a weight is a repeated
    row, also when rows are not put back, and ``max_samples=None`` draws as many rows as the weights stand for, at least
    as many as there are different ones; (4) ``oob_score`` takes any metric, goes with ``warm_start``, and comes with an
    interval; rows that every learner saw are left out of it; (5) frames with columns of text are handed on to learners
    as they are; (6) threads instead of processes, ``time_limit``, callbacks and a ``certificate_``.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The learner; None is :class:`DecisionTreeClassifier`. Where it has a ``random_state``, each gets its own seed.
    n_estimators : int, default=10
        How many learners.
    max_samples : int, float or None, default=None
        How many rows each learner draws; a float is a fraction, None as many as there are.
    max_features : int or float, default=1.0
        How many features each learner draws; a float is a fraction.
    bootstrap, bootstrap_features : bool, default=True and False
        Whether rows, and features, are put back after they were drawn.
    oob_score : bool, str or function, default=False
        Score the rows by those learners that did not see them: True is the accuracy; or the name of a scorer of
        scikit-learn, a scorer, or a function of y_true and y_pred.
    warm_start : bool, default=False
        Keep the learners of the last fit and add more, up to ``n_estimators``.
    random_state : int, RandomState or None, default=None
        Draws rows, features and the seeds of the learners. Learner t gets the same whatever ``n_jobs`` and
        ``n_estimators`` are.
    verbose : int, default=0
        Is there for scikit-learn's sake; ``set_callbacks(ProgressBar())`` shows progress.
    resample : bool, default=False
        Give each learner the rows that it drew, instead of all rows with weights that say how often it drew them. With
        a small ``max_samples`` these are fewer. Learners without ``sample_weight`` are always given
        the rows.
    voting : 'auto', 'probability' or 'majority', default='auto'
        The mean of the learners' probabilities, or one vote for each; 'auto' is the mean where learners have
        probabilities.

    Attributes
    ----------
    estimator_, estimators_, estimators_features_, estimators_samples_, classes_, n_classes_, n_features_in_
        As in scikit-learn, and so is feature_names_in_.
    drawn_features_ : ndarray of shape (n_learners, n_drawn)
        ``estimators_features_`` as one array.
    n_draws_ : int
        How many rows each learner drew.
    oob_score_, oob_decision_function_
        As in scikit-learn, if ``oob_score`` is set; NaN for rows that every learner saw.
    oob_interval_ : ndarray of shape (2,)
        The 95 % interval of ``oob_score_``: Wilson's for the accuracy, else from resamples of the rows.
    stop_reason_ : 'finished', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import BaggingClassifier
    >>> from eigenwood.data.datasets import load
    >>> heart = load("heart")
    >>> model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(heart.X, heart.y)
    >>> bool(model.oob_interval_[0] < model.oob_score_ < model.oob_interval_[1]), model.certificate_.holds
    (True, True)
    """

    classes_: np.ndarray

    PARAMS = {**BAGGING_PARAMS, "voting": Choice(VOTINGS)}
    FITTED = {"classes_": Labels("n_classes", least=1), **BAGGING_STATE}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        resample=False,
        voting=AUTO,
        time_limit=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.resample = resample
        self.voting = voting
        self.time_limit = time_limit

    @property
    def n_classes_(self):
        """The number of classes."""
        check_is_fitted(self)
        return self.classes_.size

    def predict(self, X, **params):
        """Return the class with the highest mean probability, or the most votes, for each row."""
        check_routed(self, "predict", params)
        proba = self.predict_proba(X, **params)
        return self.classes_.take(proba.argmax(axis=1))

    def predict_proba(self, X, **params):
        """Return the mean of the learners' probabilities for each row, or the shares of their votes."""
        routed = self._routed("predict_proba", params)
        X, n_classes = self._query(X), self.n_classes_
        own = routed.get(self._callee(self.estimator_), {})
        return self._mean(lambda learner, part: self._predict_one(learner, part, n_classes, own), X)

    def predict_log_proba(self, X, **params):
        """Return the logarithm of ``predict_proba``."""
        check_routed(self, "predict_log_proba", params)
        return log_proba(self.predict_proba(X, **params))

    @available_if(has_scores)
    def decision_function(self, X, **params):
        """Return the mean of the learners' scores for each row."""
        own = self._routed("decision_function", params).get("decision_function", {})
        X = self._query(X)
        seen = min(learner.classes_.size for learner in self.estimators_)
        check_all_classes_seen(type(self).__name__, seen, self.n_classes_)
        return self._mean(lambda learner, part: learner.decision_function(part, **own), X)

    def _learner(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _callee(self, learner: Any) -> str:
        if self.voting == PROBABILITY or (self.voting == AUTO and hasattr(learner, "predict_proba")):
            return "predict_proba"
        return "predict"

    def _check_choices(self) -> None:
        who, learner = type(self).__name__, self._learner()
        check_classifier(who, learner)
        check_voting(who, self.voting, learner)

    def _predict_one(self, learner: Any, X: Any, n_values: int, params: dict) -> np.ndarray:
        n_rows, callee = X.shape[0], self._callee(learner)
        pred = getattr(learner, callee)(X, **params)
        proba = np.zeros((n_rows, n_values))
        if callee == "predict":
            proba[np.arange(n_rows), check_codes(type(self).__name__, pred, n_values)] = 1.0
        else:
            proba[:, np.asarray(learner.classes_, dtype=np.intp)] = pred
        return proba

    def _oob_answers(self, data: BaggingData, rows: np.ndarray, means: np.ndarray) -> OobAnswers:
        labels = np.asarray(data.labels)
        return OobAnswers(labels[data.codes[rows]], labels[means.argmax(axis=1)], means, data.weights[rows], labels)

    def _perfect_means(self, data: BaggingData) -> np.ndarray:
        return np.eye(data.n_values())[data.codes]

    def _vote_claims(self, data: BaggingData, oob: OobAccumulator) -> list[Claim]:
        if self.n_classes_ < 2:
            return []
        return vote_claims(assessed_vote(oob.ballots, data.codes, data.weights, self.n_classes_))

    def _store_oob_means(self, means: np.ndarray) -> None:
        self.oob_decision_function_ = means

    def _attributes(self, data: BaggingData, draws: Draws, step: Step) -> dict:
        return {"classes_": data.labels, **super()._attributes(data, draws, step)}

    def _check_learner(self, learner: Any) -> None:
        check_learner_classes(type(self).__name__, learner, self.classes_.size)


@describe
class BaggingRegressor(RegressorMixin, Bagging):
    """Take the mean of many regressors, each of which learnt from its own draw of the rows.

    Like :class:`sklearn.ensemble.BaggingRegressor`, with its parameters and attributes; it differs from it as
    :class:`BaggingClassifier` does from its twin.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The learner; None is :class:`DecisionTreeRegressor`.
    oob_score : bool, str or function, default=False
        As in :class:`BaggingClassifier`; True is R².
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, warm_start, random_state, verbose, resample
        As in :class:`BaggingClassifier`.

    Attributes
    ----------
    oob_prediction_
        As in scikit-learn, if ``oob_score`` is set; NaN for rows that every learner saw.
    estimator_, estimators_, estimators_features_, estimators_samples_, n_features_in_, feature_names_in_, n_outputs_
        As in scikit-learn.
    drawn_features_, n_draws_, oob_score_, oob_interval_, stop_reason_, certificate_
        As in :class:`BaggingClassifier`.

    Examples
    --------
    >>> from eigenwood import BaggingRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model = BaggingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> bool(0.0 < model.predict([[1.0]])[0] < 3.0), len(model)
    (True, 20)
    """

    n_outputs_: int

    PARAMS = BAGGING_PARAMS
    FITTED = {"n_outputs_": COUNT, **BAGGING_STATE}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        resample=False,
        time_limit=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.resample = resample
        self.time_limit = time_limit

    def predict(self, X, **params):
        """Return the mean of what the learners predict for each row."""
        own = self._routed("predict", params).get("predict", {})
        X = self._query(X)
        return self._mean(lambda learner, part: learner.predict(part, **own), X)

    def _learner(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _predict_one(self, learner: Any, X: Any, n_values: int, params: dict) -> np.ndarray:
        return learner.predict(X, **params)

    def _oob_answers(self, data: BaggingData, rows: np.ndarray, means: np.ndarray) -> OobAnswers:
        y = data.training.y[rows]
        return OobAnswers(y, means.reshape(y.shape), np.empty((rows.size, 0)), data.weights[rows], None)

    def _perfect_means(self, data: BaggingData) -> np.ndarray:
        return data.training.y.reshape(data.weights.size, -1)

    def _vote_claims(self, data: BaggingData, oob: OobAccumulator) -> list[Claim]:
        return oob.mean_claims(data.weights)

    def _store_oob_means(self, means: np.ndarray) -> None:
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means

    def _attributes(self, data: BaggingData, draws: Draws, step: Step) -> dict:
        return {"n_outputs_": data.n_values(), **super()._attributes(data, draws, step)}

    def _check_learner(self, learner: Any) -> None:
        check_learner_outputs(type(self).__name__, learner, self.n_outputs_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._learner()).target_tags.multi_output
        return tags
