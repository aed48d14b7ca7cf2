"""Ensembles by weight: models of any kind, and the weighted mean of what they predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.blending import weighted_mean
from eigenwood.estimators.blending.fitting import calibration_of, fitted_member, member_proba
from eigenwood.estimators.blending.input_checks import MemberData, checked_amounts, checked_classes
from eigenwood.estimators.blending.params import (
    CLASSIFIER_PARAMS,
    CLASSIFIER_STATE,
    MEMBER_PARAMS,
    MEMBER_STATE,
    MEMBERS,
)
from eigenwood.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
from eigenwood.estimators.state import OPTIONAL
from eigenwood.estimators.watching import all_or_nothing
from eigenwood.proofs.blending import certificate_of_members
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.blending import (
    check_decision_weights,
    check_lengths,
    check_member_classes,
    check_member_rows,
    check_members,
    check_regressor,
    check_shares,
)
from eigenwood.validation.params import check_params
from eigenwood.validation.state import check_state

Members = Sequence[tuple[str, Any]]


class WeightedEnsemble(MetaEstimatorMixin, BaseEstimator):
    """The part that the classifier and the regressor share."""

    estimators: Any
    weights: Any
    estimators_: list
    weights_: np.ndarray
    n_features_in_: int

    FITTED: dict[str, Any]

    @abstractmethod
    def _default_members(self) -> Members:
        """Return the members of an ensemble that was given none."""

    def _members(self) -> Members:
        """Return the members before any fit, by name."""
        return self._default_members() if self.estimators is None else self.estimators

    @property
    def named_estimators_(self):
        """The fitted members by name."""
        check_is_fitted(self)
        names = [name for name, _ in self._members()]
        return Bunch(**dict(zip(names, self.estimators_, strict=True)))

    @property
    def certificate_(self) -> Certificate:
        """What the members claim, each claim behind the name of its member."""
        check_is_fitted(self)
        return certificate_of_members(self.named_estimators_)

    def get_params(self, deep=True):
        """Return the parameters; with ``deep`` the members by name and theirs, too."""
        params = super().get_params(deep=False)
        for name, member in self._given() if deep else ():
            params[name] = member
            params.update({f"{name}__{key}": value for key, value in member.get_params().items()})
        return params

    def set_params(self, **params):
        """Set parameters; a member by its name, and a parameter of a member by ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if any(name in params for name, _ in self._given()):
            self.estimators = [(name, params.pop(name, member)) for name, member in self._given()]
        return super().set_params(**params)

    def _given(self) -> Members:
        """Return the members that were given, if they are any."""
        return self.estimators if MEMBERS.allows(self.estimators) else []

    def _fit_members(self, data: MemberData) -> None:
        """Fit each member to the rows, and store their weights."""
        members = self._members()
        check_lengths(type(self).__name__, len(members), "members", weights=self.weights)
        self.estimators_ = [fitted_member(self, name, member, data) for name, member in members]
        self.weights_ = shares_of(self.weights, len(members))

    def _take(self, fitted: Members, **state: Any) -> None:
        """Store members that are fitted already, if they can be those of this ensemble."""
        self.estimators_ = [member for _, member in fitted]
        self.weights_ = shares_of(self.weights, len(fitted))
        self.n_features_in_ = self.estimators_[0].n_features_in_
        if hasattr(self.estimators_[0], "feature_names_in_"):
            self.feature_names_in_ = self.estimators_[0].feature_names_in_
        for name, value in state.items():
            setattr(self, name, value)
        known = {name: getattr(self, name) for name in self.FITTED if hasattr(self, name)}
        check_state(type(self).__name__, self.FITTED, known, OPTIONAL)
        self.check_fitted()

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other."""
        who = type(self).__name__
        check_members(who, self.estimators_, self._members(), self.n_features_in_)
        check_shares(who, self.weights_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        members = [get_tags(member).input_tags for _, member in self._members()]
        tags.input_tags.sparse = all(member.sparse for member in members)
        tags.input_tags.allow_nan = all(member.allow_nan for member in members)
        return tags


def shares_of(weights: Any, n_members: int) -> np.ndarray:
    """Return weights that sum to 1; None is the same for each."""
    given = np.ones(n_members) if weights is None else np.asarray(weights, dtype=np.float64)
    return given / given.sum()


class WeightedEnsembleClassifier(ClassifierMixin, WeightedEnsemble):
    """Predict by the weighted mean of the probabilities of several classifiers.

    Like :class:`sklearn.ensemble.VotingClassifier` with ``voting='soft'``; differs in (1) members without probabilities
    take part, since their scores are calibrated, (2) classes may have decision weights, (3) ``from_fitted`` makes an
    ensemble of models that are fitted already, (4) there is a ``certificate_``, and the model file keeps all members,
    (5) rows of weight 0 are left out before any member sees them.

    Parameters
    ----------
    estimators : list of (name, estimator) or None, default=None
        The members; None is gradient boosting and a random forest.
    weights : list of float or None, default=None
        The weight of each member; None is the same for each.
    calibrations : list or None, default=None
        For each member None, or slope and offset for each column of its scores. Where all is None, members with
        probabilities are taken at their word, and the scores of the others are calibrated by Platt's method on rows
        that they had not seen, in 5 folds.
    decision_weights : list of float or None, default=None
        The weight of each class in ``predict``, which returns the class with the largest weight · probability.

    Attributes
    ----------
    estimators_, named_estimators_ : the fitted members, as a list and by name
    weights_ : the weights of the members, which sum to 1
    calibrations_ : what makes probabilities of the scores of members without any
    decision_weights_ : the weights of the classes
    classes_, n_features_in_, feature_names_in_, certificate_

    Examples
    --------
    >>> from eigenwood import DecisionTreeClassifier, SVC, WeightedEnsembleClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low"] * 3 + ["high"] * 3
    >>> members = [("tree", DecisionTreeClassifier(random_state=0)), ("svm", SVC())]
    >>> model = WeightedEnsembleClassifier(members, weights=[1, 3]).fit(X, y)
    >>> model.predict([[0.5], [4.5]]).tolist(), model.weights_.tolist()
    (['low', 'high'], [0.25, 0.75])
    """

    classes_: np.ndarray
    calibrations_: list[np.ndarray | None]
    decision_weights_: np.ndarray

    PARAMS = CLASSIFIER_PARAMS
    FITTED = CLASSIFIER_STATE

    def __init__(self, estimators=None, *, weights=None, calibrations=None, decision_weights=None):
        self.estimators = estimators
        self.weights = weights
        self.calibrations = calibrations
        self.decision_weights = decision_weights

    def fit(self, X, y, sample_weight=None):
        """Fit the members to the rows of X and their labels y; a weight is a repeated row."""
        with all_or_nothing(self):
            check_params(self)
            data = checked_classes(self, X, y, sample_weight)
            assert data.classes is not None
            self.classes_ = data.classes.labels
            self._check_lengths()
            self._fit_members(data)
            self.calibrations_ = self._calibrations(data)
            self.decision_weights_ = self._decision_weights()
            self.check_fitted()
            return self

    @classmethod
    def from_fitted(cls, fitted, classes, *, weights=None, calibrations=None, decision_weights=None):
        """Return an ensemble of fitted members, given as (name, model); nothing is fitted again."""
        model = cls(
            [(name, clone(member)) for name, member in fitted],
            weights=as_lists(weights),
            calibrations=as_lists(calibrations),
            decision_weights=as_lists(decision_weights),
        )
        check_params(model)
        model.classes_ = np.asarray(classes)
        model._check_lengths()
        model._take(
            fitted,
            calibrations_=arrays_of(calibrations, len(fitted)),
            decision_weights_=model._decision_weights(),
        )
        return model

    def predict(self, X):
        """Return for each row the class with the largest probability times decision weight."""
        proba = self.predict_proba(X)
        return self.classes_.take((proba * self.decision_weights_).argmax(axis=1))

    def predict_proba(self, X):
        """Return the weighted mean of the members' probabilities for each row."""
        check_is_fitted(self)
        X = check_member_rows(self, X, reset=False)
        members = zip(self.estimators_, self.calibrations_, strict=True)
        return weighted_mean(
            np.stack([member_proba(member, X, self.classes_, calibration) for member, calibration in members]),
            self.weights_,
        )

    def _default_members(self) -> Members:
        return [
            ("boosting", GradientBoostingClassifier(random_state=0)),
            ("forest", RandomForestClassifier(random_state=0)),
        ]

    def _check_lengths(self) -> None:
        """Raise unless there is a calibration for each member, and a decision weight for each class."""
        who = type(self).__name__
        check_lengths(who, len(self._members()), "members", weights=self.weights, calibrations=self.calibrations)
        check_lengths(who, self.classes_.size, "classes", decision_weights=self.decision_weights)

    def _calibrations(self, data: MemberData, check=lambda: None) -> list[np.ndarray | None]:
        """Return the calibration of each member, as it was given or as the rows give it."""
        members = self._members()
        if self.calibrations is not None:
            return arrays_of(self.calibrations, len(members))
        return [
            calibration_of(self, name, member, fitted, data, check)
            for (name, member), fitted in zip(members, self.estimators_, strict=True)
        ]

    def _decision_weights(self) -> np.ndarray:
        """Return the weight of each class."""
        given = self.decision_weights
        return np.ones(self.classes_.size) if given is None else np.asarray(given, dtype=np.float64)

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other."""
        super().check_fitted()
        who = type(self).__name__
        check_decision_weights(who, self.decision_weights_)
        for member, calibration in zip(self.estimators_, self.calibrations_, strict=True):
            check_member_classes(who, member, self.classes_, calibration)


def as_lists(values: Any) -> Any:
    """Return what was found as a parameter, which may hold arrays, as lists: they can be compared and written down."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    return [as_lists(part) for part in values] if isinstance(values, (list, tuple)) else values


def arrays_of(calibrations: Any, n_members: int) -> list[np.ndarray | None]:
    """Return calibrations as arrays; None for members that need none."""
    given = [None] * n_members if calibrations is None else calibrations
    return [None if part is None else np.asarray(part, dtype=np.float64) for part in given]


class WeightedEnsembleRegressor(RegressorMixin, WeightedEnsemble):
    """Predict by the weighted mean of several regressors.

    Like :class:`sklearn.ensemble.VotingRegressor`; differs in (1) ``from_fitted`` makes an ensemble of models that are
    fitted already, (2) there is a ``certificate_``, and the model file keeps all members, (3) rows of weight 0 are left
    out before any member sees them.

    Parameters
    ----------
    estimators : list of (name, estimator) or None, default=None
        The members; None is gradient boosting and a random forest.
    weights : list of float or None, default=None
        The weight of each member; None is the same for each.

    Attributes
    ----------
    estimators_, named_estimators_ : the fitted members, as a list and by name
    weights_ : the weights of the members, which sum to 1
    n_features_in_, feature_names_in_, certificate_

    Examples
    --------
    >>> from eigenwood import DecisionTreeRegressor, KernelRidge, WeightedEnsembleRegressor
    >>> members = [("tree", DecisionTreeRegressor(random_state=0)), ("ridge", KernelRidge(alpha=1.0))]
    >>> model = WeightedEnsembleRegressor(members, weights=[1, 1]).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> [round(float(amount), 3) for amount in model.predict([[1.0], [2.0]])]
    [0.917, 1.833]
    """

    PARAMS = MEMBER_PARAMS
    FITTED = MEMBER_STATE

    def __init__(self, estimators=None, *, weights=None):
        self.estimators = estimators
        self.weights = weights

    def fit(self, X, y, sample_weight=None):
        """Fit the members to the rows of X and their amounts y; a weight is a repeated row."""
        with all_or_nothing(self):
            check_params(self)
            self._fit_members(checked_amounts(self, X, y, sample_weight, reset=True))
            self.check_fitted()
            return self

    @classmethod
    def from_fitted(cls, fitted, *, weights=None):
        """Return an ensemble of fitted members, given as (name, model); nothing is fitted again."""
        model = cls([(name, clone(member)) for name, member in fitted], weights=as_lists(weights))
        check_params(model)
        check_lengths(cls.__name__, len(fitted), "members", weights=weights)
        model._take(fitted)
        return model

    def predict(self, X):
        """Return the weighted mean of what the members predict for each row."""
        check_is_fitted(self)
        X = check_member_rows(self, X, reset=False)
        predictions = np.stack([np.asarray(member.predict(X), dtype=np.float64) for member in self.estimators_])
        return weighted_mean(predictions, self.weights_)

    def _default_members(self) -> Members:
        return [
            ("boosting", GradientBoostingRegressor(random_state=0)),
            ("forest", RandomForestRegressor(random_state=0)),
        ]

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other."""
        super().check_fitted()
        for member in self.estimators_:
            check_regressor(type(self).__name__, "estimators_", member)
