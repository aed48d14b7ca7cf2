"""A regressor whose amounts are scaled, or taken as logarithms, before another one learns them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.blending.fitting import fitted_member
from eigenwood.estimators.blending.input_checks import MemberData, checked_amounts
from eigenwood.estimators.blending.params import LOG, SCALED_PARAMS, SCALED_STATE, STANDARD
from eigenwood.estimators.blending.scaling import Scaling, correction_of, scaling_of
from eigenwood.estimators.svm import SVR
from eigenwood.estimators.watching import all_or_nothing
from eigenwood.proofs.blending import own_certificate
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.blending import check_above_zero, check_member_rows, check_regressor, check_same_class
from eigenwood.validation.params import check_params


class ScaledTargetRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Scale the amounts, or take their logarithms, before a regressor learns them; predictions are amounts again.

    Like :class:`sklearn.compose.TransformedTargetRegressor` with a scaler; differs in (1) weights count for the
    scaling, too, (2) predictions from logarithms are corrected from medians to means, (3) there is a ``certificate_``,
    and it goes into a model file. Time limit, callbacks, seed and threads are those of the regressor inside. For
    support vector machines, whose ``C`` and ``epsilon`` are in the unit of the amounts, and for amounts with a long
    tail.

    Parameters
    ----------
    regressor : estimator or None, default=None
        What learns the scaled amounts; None is :class:`SVR`.
    scale : 'standard' or 'log', default='standard'
        Bring the amounts to mean 0 and variance 1, or first take their logarithms, for which they must be above 0.

    Attributes
    ----------
    regressor_ : the fitted regressor, which knows scaled amounts only
    mean_, scale_ : of the amounts, or of their logarithms
    correction_ : for 'log', what takes predicted medians to means, so that they sum to what the amounts sum to; else 1
    n_features_in_, feature_names_in_, certificate_

    Examples
    --------
    >>> from eigenwood import SVR, ScaledTargetRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1000.0, 2000.0, 3000.0, 4000.0]
    >>> plain, scaled = SVR(kernel="linear"), ScaledTargetRegressor(SVR(kernel="linear"))
    >>> round(plain.fit(X, y).score(X, y), 2), round(scaled.fit(X, y).score(X, y), 2)
    (0.01, 0.99)
    """

    regressor_: Any
    mean_: float
    scale_: float
    correction_: float
    n_features_in_: int

    PARAMS = SCALED_PARAMS
    FITTED = SCALED_STATE

    def __init__(self, regressor=None, *, scale=STANDARD):
        self.regressor = regressor
        self.scale = scale

    def fit(self, X, y, sample_weight=None):
        """Fit the regressor to the rows of X and their scaled amounts; a weight is a repeated row."""
        with all_or_nothing(self):
            check_params(self)
            data = checked_amounts(self, X, y, sample_weight, reset=True)
            scaling = self._scaling_of(data)
            scaled = data._replace(y=scaling.to_scaled(data.y))
            self.regressor_ = fitted_member(self, "regressor", self._inner(), scaled)
            self.mean_, self.scale_ = scaling.mean, scaling.scale
            self.correction_ = self._correction_of(scaling, data)
            self.check_fitted()
            return self

    @property
    def certificate_(self) -> Certificate:
        """What the regressor claims about the scaled amounts."""
        check_is_fitted(self)
        return own_certificate(self.regressor_)

    def predict(self, X):
        """Return the amount of each row: for 'log', the estimated mean of it, not the median."""
        check_is_fitted(self)
        X = check_member_rows(self, X, reset=False)
        z = np.asarray(self.regressor_.predict(X), dtype=np.float64)
        return Scaling(self.scale, self.mean_, self.scale_).to_amounts(z, self.correction_)

    def _inner(self) -> Any:
        return SVR() if self.regressor is None else self.regressor

    def _scaling_of(self, data: MemberData) -> Scaling:
        """Return the scaling of the amounts of these rows."""
        if self.scale == LOG:
            check_above_zero(type(self).__name__, data.y)
        return scaling_of(data.y, data.mass(), self.scale)

    def _correction_of(self, scaling: Scaling, data: MemberData) -> float:
        """Return what takes the medians that the fitted regressor predicts for these rows to means."""
        z = np.asarray(self.regressor_.predict(data.X), dtype=np.float64)
        return correction_of(scaling, data.y, z, data.mass())

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters and each other."""
        who = type(self).__name__
        check_same_class(who, "regressor_", self.regressor_, self._inner(), self.n_features_in_)
        check_regressor(who, "regressor_", self.regressor_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inside = get_tags(self._inner()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags
