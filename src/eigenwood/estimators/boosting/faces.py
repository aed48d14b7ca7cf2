"""Gradient boosting with scikit-learn's face."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from eigenwood.core.boosting.losses import EXPONENTIAL, POISSON
from eigenwood.estimators.boosting.base import GradientBoosting
from eigenwood.estimators.boosting.input_checks import BoostData
from eigenwood.estimators.boosting.params import (
    BOOSTING_PARAMS,
    BOOSTING_STATE,
    CLASS_LOSSES,
    LOSS,
    NO_CRITERION,
    OWN_LOSS,
    REGRESSION_PARAMS,
    loss_code,
)
from eigenwood.estimators.ensemble.metrics import OobAnswers
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import CLASS_STATE
from eigenwood.estimators.tree.data import log_proba
from eigenwood.validation.categories import FROM_DTYPE
from eigenwood.validation.params import AnyOf, Choice, ClassWeights
from eigenwood.validation.targets import labels_from_scores


@describe
class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Add trees one by one, each of which follows the gradient of the loss where the others have left it.

    Like :class:`sklearn.ensemble.GradientBoostingRegressor` and
    :class:`sklearn.ensemble.HistGradientBoostingRegressor`, with the parameters and attributes of both. Differences:
    (1) trees grow from one table of bytes, and their splits are found in sums of whole numbers: the same bits for any
    number of threads; (2) a leaf moves the scores of curved losses by at most 4 times the learning rate; (3)
    categories and missing values are used as they are, and sparse rows stay sparse; (4) several quantiles in one
    model, which never cross; (5) a loss may be a function; (6) early stopping keeps the best round; (7)
    ``time_limit``, callbacks and a ``certificate_``.

    Parameters
    ----------
    loss : str or function, default='squared_error'
        'squared_error', 'absolute_error', 'huber', 'quantile', 'poisson', or a function of y and score that returns
        gradient and hessian, an array each; boosting then begins at 0.
    alpha : float or list of float, default=0.9
        The quantile of 'quantile', or several that rise; of 'huber' the share of rows whose error is squared.
    quantile : float, list of float or None, default=None
        Another name for ``alpha``, which goes first when it is given.
    learning_rate : float, default=0.1
        By how much each tree counts.
    n_estimators : int, default=100
        How many rounds, each of one tree for each score of a row.
    max_iter : int or None, default=None
        Another name for ``n_estimators``, which goes first when it is given.
    subsample : float, default=1.0
        The share of the rows that each round learns from, drawn without replacement.
    criterion : str, default='deprecated'
        Is there for scikit-learn's sake: gains are those of the loss.
    init : estimator, 'zero' or None, default=None
        Where boosting begins: at the predictions of an estimator, at 0, or at the best constant.
    max_depth : int or None, default=3
        The most questions on the way to a leaf; None is no limit.
    validation_fraction : float, int or None, default=0.1
        The rows held out to stop by, as a share or as a number; None stops by the training rows.
    n_iter_no_change : int or None, default=None
        Stop after so many rounds without a gain on the rows held out; None is 10 where boosting stops early.
    tol : float, default=1e-4
        What counts as a gain.
    early_stopping : bool, 'auto' or None, default=None
        Whether to stop early; 'auto' does with more than 10,000 rows, None where ``n_iter_no_change`` or ``X_val`` is
        given. Rounds after the best one are dropped.
    scoring : str, function or None, default='loss'
        What is looked at to stop early: the loss, or a metric of scikit-learn.
    max_bins : int, default=255
        A column with more values than this is cut into so many bins of about equally many rows.
    l2_regularization : float, default=0.0
        Is added to the hessian of each leaf, which makes its value smaller.
    interaction_cst : list of lists of int, 'pairwise', 'no_interactions' or None, default=None
        Groups of columns: those on the way to a leaf must be of one group.
    ccp_alpha : float, default=0.0
        Is there for scikit-learn's sake: trees are not pruned, so 0 is all it may be. ``min_impurity_decrease`` leaves
        out questions that gain little.
    verbose : int, default=0
        Is there for scikit-learn's sake; ``set_callbacks(ProgressBar())`` shows progress.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add more, up to ``n_estimators``.
    random_state : int, RandomState or None, default=None
        Draws rows, features, and rows held out; without any of these it does not matter.

    Attributes
    ----------
    n_estimators_, n_iter_, n_trees_per_iteration_, n_features_in_, feature_names_in_, feature_importances_,
    estimators_, init_, max_features_, do_early_stopping_
        As in scikit-learn; importances are by gain.
    train_score_ : ndarray of shape (n_rounds,)
        The loss of the training rows after each round, to seven digits.
    oob_scores_, oob_improvement_ : ndarray of shape (n_rounds,)
        The loss of the rows that a round did not draw, and by how much the round lowered it, where ``subsample`` is
        below 1; ``oob_score_`` is that of the last round.
    validation_score_ : ndarray of shape (n_rounds + 1,)
        How well the rows held out were predicted, before the first round and after each: minus the loss, or
        ``scoring``.
    baseline_ : ndarray of shape (n_trees_per_iteration_,)
        The scores that boosting began with.
    feature_gains_ : ndarray of shape (n_features,)
        What questions about each feature gained in all.
    categories_, is_categorical_, has_missing_
        As in :class:`DecisionTreeClassifier`.
    stop_reason_ : 'finished', 'early_stopping', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import GradientBoostingRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 7.0]
    >>> model = GradientBoostingRegressor().fit(X, y)
    >>> model.predict([[0.5], [2.5]]).round(2), model.certificate_.holds
    (array([1., 5.]), True)
    """

    PARAMS = REGRESSION_PARAMS
    FITTED = BOOSTING_STATE

    def __init__(
        self,
        *,
        loss="squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion=NO_CRITERION,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        alpha=0.9,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
        quantile=None,
        max_iter=None,
        max_bins=255,
        l2_regularization=0.0,
        categorical_features=FROM_DTYPE,
        monotonic_cst=None,
        interaction_cst=None,
        early_stopping=None,
        scoring=LOSS,
        n_jobs=None,
        time_limit=None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.quantile = quantile
        self.max_iter = max_iter
        self.max_bins = max_bins
        self.l2_regularization = l2_regularization
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    def predict(self, X):
        """Return what is predicted for each row of X; several quantiles side by side, in order."""
        return self._amounts(self._raw(X))

    def staged_predict(self, X):
        """Yield what is predicted after each round."""
        return (self._amounts(raw) for raw in self._staged_raw(X))

    def _amounts(self, raw: np.ndarray) -> np.ndarray:
        """Return predictions from raw scores."""
        if np.ndim(self.alpha if self.quantile is None else self.quantile) == 1 and self.loss == "quantile":
            return np.sort(raw, axis=1)
        return np.exp(raw[:, 0]) if loss_code(self, 0) == POISSON else raw[:, 0]

    def _answers(self, held_out: BoostData, raw: np.ndarray) -> OobAnswers:
        no_classes = np.empty((held_out.n_rows(), 0))
        return OobAnswers(held_out.y, self._amounts(raw), no_classes, held_out.row_weights(), None)


@describe
class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """Add trees one by one to the scores of the classes, each of which follows the gradient of the loss.

    Like :class:`sklearn.ensemble.GradientBoostingClassifier` and
    :class:`sklearn.ensemble.HistGradientBoostingClassifier`, with the parameters and attributes of both; it differs
    from them as :class:`GradientBoostingRegressor` does from its twins.

    Parameters
    ----------
    loss : 'log_loss', 'exponential' or function, default='log_loss'
        The logistic loss, with one tree for each class and round where there are more than two; the exponential loss of
        AdaBoost, for two classes; or, for two classes, a function of y, which is 0 or 1, and score, the logarithm of
        the odds of 1, that returns gradient and hessian; boosting then begins at 0.
    class_weight : dict, 'balanced' or None, default=None
        A factor for the weights of each class, as in scikit-learn.
    learning_rate, n_estimators, max_iter, subsample, criterion, init, max_depth, validation_fraction,
    n_iter_no_change, tol, early_stopping, scoring, max_bins, l2_regularization, interaction_cst, ccp_alpha, verbose,
    warm_start, random_state
        As in :class:`GradientBoostingRegressor`.

    Attributes
    ----------
    classes_, n_classes_
        As in scikit-learn.
    n_estimators_, n_iter_, n_trees_per_iteration_, n_features_in_, feature_names_in_, feature_importances_,
    estimators_, init_, max_features_, train_score_, validation_score_, oob_scores_, oob_improvement_, baseline_,
    feature_gains_, categories_, is_categorical_, has_missing_, stop_reason_, certificate_
        As in :class:`GradientBoostingRegressor`.

    Examples
    --------
    >>> from eigenwood import GradientBoostingClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, ["a", "a", "b", "b"] * 5
    >>> model = GradientBoostingClassifier().fit(X, y)
    >>> model.predict([[0.5], [2.5]]), model.certificate_.holds
    (array(['a', 'b'], dtype='<U1'), True)
    """

    PARAMS = {"loss": AnyOf(Choice(CLASS_LOSSES), OWN_LOSS), **BOOSTING_PARAMS, "class_weight": ClassWeights()}
    FITTED = {**CLASS_STATE, **BOOSTING_STATE}

    classes_: np.ndarray

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion=NO_CRITERION,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
        max_iter=None,
        max_bins=255,
        l2_regularization=0.0,
        categorical_features=FROM_DTYPE,
        monotonic_cst=None,
        interaction_cst=None,
        early_stopping=None,
        scoring=LOSS,
        class_weight=None,
        n_jobs=None,
        time_limit=None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.max_iter = max_iter
        self.max_bins = max_bins
        self.l2_regularization = l2_regularization
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return self.classes_.size

    def decision_function(self, X):
        """Return the raw scores: shape (n_rows,) for two classes, else (n_rows, n_classes)."""
        return self._scores(self._raw(X))

    def predict(self, X):
        """Return the class with the highest score for each row of X."""
        scores = self.decision_function(X)
        return labels_from_scores(self.classes_, scores)

    def predict_proba(self, X):
        """Return the shares of the classes for each row of X."""
        return self._proba(self._raw(X))

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return log_proba(self.predict_proba(X))

    def staged_decision_function(self, X):
        """Yield the raw scores after each round, shape (n_rows, n_trees_per_iteration_)."""
        return self._staged_raw(X)

    def staged_predict(self, X):
        """Yield the classes that are predicted after each round."""
        return (labels_from_scores(self.classes_, self._scores(raw)) for raw in self._staged_raw(X))

    def staged_predict_proba(self, X):
        """Yield the shares of the classes after each round."""
        return (self._proba(raw) for raw in self._staged_raw(X))

    def _scores(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def _proba(self, raw: np.ndarray) -> np.ndarray:
        """Return the shares of the classes from raw scores."""
        if raw.shape[1] > 1:
            return softmax(raw, axis=1)
        share = expit((2.0 if loss_code(self, 2) == EXPONENTIAL else 1.0) * raw[:, 0])
        return np.column_stack([1.0 - share, share])

    def _columns(self, data: BoostData, has_missing: np.ndarray) -> dict:
        return {"classes_": data.labels, **super()._columns(data, has_missing)}

    def _answers(self, held_out: BoostData, raw: np.ndarray) -> OobAnswers:
        labels = held_out.labels
        assert labels is not None
        pred = labels_from_scores(labels, self._scores(raw))
        return OobAnswers(
            labels[held_out.y.astype(np.int64)], pred, self._proba(raw), held_out.row_weights(), labels
        )  # fmt: skip
