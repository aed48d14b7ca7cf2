"""Linear regression on the best k columns, with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.selection.hard_thresholding import SubsetFit, best_subset, correlations, design_of
from eigenwood.core.threads import one_blas_thread
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import AMOUNT, COUNT, FEATURE_STATE
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.best_subset import Regression, Stated, exchange_claim, regression_of, subset_claims
from eigenwood.proofs.claim import Certificate, Claim
from eigenwood.validation.arrays import check_rows
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.selection import CHOSEN_BY_CV, check_fold_count, check_regression, check_support, column_count
from eigenwood.validation.state import Array, Proof, Scalar


class LinearFit(NamedTuple):
    """Coefficients of the columns as they are, and how they were found."""

    coef: np.ndarray
    intercept: float
    found: SubsetFit


@describe
class IterativeHardThresholding(RegressorMixin, BaseEstimator):
    """Least squares on the k columns that leave the smallest residual, or nearly: ‖β‖₀ ≤ k (the boosting and SVM
    lecture).

    Steps of hard thresholding with a normalised length and least squares on the support (Blumensath and Davies 2010),
    from several starts, then exchanges of one column for another until none helps. Scikit-learn's nearest is
    :class:`~sklearn.linear_model.OrthogonalMatchingPursuit`, which never takes a column back. The certificate states
    how far a better subset can at most be.

    Parameters
    ----------
    n_nonzero_coefs : int, 'cv' or None, default=None
        How many columns: a number, the one with the least error in cross-validation, or (None) a tenth of all.
    fit_intercept : bool, default=True
    n_restarts : int, default=1
        Starts from random supports beside the first, from the columns that vary most with y.
    max_iter : int, default=100
        The most steps from one start, and the most exchanges.
    n_folds : int, default=5
        Folds of 'cv': of consecutive rows.
    max_nonzero_coefs : int, default=20
        The most columns that 'cv' tries.
    random_state : int, RandomState or None, default=0
        Draws the random supports.

    Attributes
    ----------
    coef_, intercept_ : array of shape (n_features,) and float
    support_ : array of int, the columns whose coefficients are not 0
    n_nonzero_coefs_ : int
    residual_ : float, the weighted sum of squares that is left
    residual_path_ : array, the same at the start, after each step and after each exchange
    n_iter_ : int, steps from the start that was best
    cv_errors_ : array, mean squared error in cross-validation with 1, 2, … columns; empty unless 'cv'
    certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwood import IterativeHardThresholding
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> model = IterativeHardThresholding(2).fit(X, 3.0 * X[:, 1] - X[:, 6] + 1.0)
    >>> model.support_, model.coef_[model.support_].round(6), round(model.intercept_, 6)
    (array([1, 6]), array([ 3., -1.]), 1.0)
    """

    PARAMS = {
        "n_nonzero_coefs": AnyOf(Nothing(), Number(at_least=1, integer=True), Choice((CHOSEN_BY_CV,))),
        "fit_intercept": Flag(),
        "n_restarts": Number(at_least=0, integer=True),
        "max_iter": Number(at_least=1, integer=True),
        "n_folds": Number(at_least=2, integer=True),
        "max_nonzero_coefs": Number(at_least=1, integer=True),
        "random_state": Seed(),
    }
    FITTED = {
        **FEATURE_STATE,
        "coef_": Array("f", ("n_features",)),
        "intercept_": Scalar(Number()),
        "support_": Array("i", ("n_support",), below="n_features"),
        "n_nonzero_coefs_": COUNT,
        "residual_": AMOUNT,
        "residual_path_": Array("f", ("n_path",)),
        "n_iter_": COUNT,
        "cv_errors_": Array("f", ("n_tried",)),
        "certificate_": Proof(),
    }

    def __init__(
        self,
        n_nonzero_coefs=None,
        *,
        fit_intercept=True,
        n_restarts=1,
        max_iter=100,
        n_folds=5,
        max_nonzero_coefs=20,
        random_state=0,
    ):
        self.n_nonzero_coefs = n_nonzero_coefs
        self.fit_intercept = fit_intercept
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.n_folds = n_folds
        self.max_nonzero_coefs = max_nonzero_coefs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Find the columns and their coefficients."""
        check_params(self)
        rows, target, weights = check_regression(self, X, y, sample_weight, reset=True)
        k, seed = column_count(self, rows.shape[1]), int(integer_seeds(self.random_state, 1)[0])

        with one_blas_thread():
            errors = np.empty(0)
            if k is None:
                errors = cv_errors(self, rows, target, weights, seed)
                k = int(np.argmin(errors)) + 1
            fitted = linear_fit(self, rows, target, weights, k, seed)

        best = fitted.found.best
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.support_, self.n_nonzero_coefs_ = best.support, k
        self.residual_, self.residual_path_ = best.residual, fitted.found.path
        self.n_iter_, self.cv_errors_ = fitted.found.n_steps, errors
        with one_blas_thread():
            self.certificate_ = Certificate(tuple(subset_claims(*claimed_of(self, rows, target, weights))))
        return self

    def predict(self, X):
        """Return X · coef + intercept."""
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        with one_blas_thread():
            return rows[:, self.support_].astype(np.float64) @ self.coef_[self.support_] + self.intercept_

    def check_fitted(self) -> None:
        """Raise unless the coefficients off the support are 0."""
        check_support(type(self).__name__, self.coef_, self.support_, self.n_nonzero_coefs_)


def linear_fit(model: IterativeHardThresholding, X, y, weights, k: int, seed: int) -> LinearFit:
    """Return the fit with k columns."""
    design, y_mean = design_of(X, y, weights, model.fit_intercept)
    rng = np.random.default_rng(seed)
    first = correlations(design, design.target)
    starts = [first, *(rng.permutation(X.shape[1]).astype(float) for _ in range(model.n_restarts))]
    found = best_subset(design, k, starts, model.max_iter)
    coef = np.zeros(X.shape[1])
    coef[found.best.support] = found.best.coef / design.scale[found.best.support]
    return LinearFit(coef, float(y_mean - design.mean @ coef), found)


def cv_errors(model: IterativeHardThresholding, X, y, weights, seed: int) -> np.ndarray:
    """Return the mean squared error on rows left out, with 1, 2, … columns."""
    check_fold_count(type(model).__name__, model.n_folds, X.shape[0])
    folds = list(KFold(model.n_folds).split(X))
    most = min(model.max_nonzero_coefs, X.shape[1], min(len(learn) for learn, _ in folds) - 1)
    errors = np.zeros(max(most, 1))
    for learn, left_out in folds:
        for k in range(1, errors.size + 1):
            fitted = linear_fit(model, X[learn], y[learn], weights[learn], k, seed)
            rest = y[left_out] - X[left_out] @ fitted.coef - fitted.intercept
            errors[k - 1] += float(weights[left_out] @ (rest * rest))
    return errors / weights.sum()


def claimed_of(model: IterativeHardThresholding, X, y, weights) -> tuple[Regression, Stated]:
    """Return a regression, and what the model states of it."""
    regression = regression_of(X, y, weights, model.fit_intercept)
    return regression, Stated(model.support_, model.coef_ * regression.norms, model.residual_, model.residual_path_)


def verify_subset(model: IterativeHardThresholding, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``."""
    rows, target, weights = check_regression(model, X, y, sample_weight, reset=False)
    deadline.check()
    with one_blas_thread():
        claimed: Any = claimed_of(model, rows, target, weights)
        yield from subset_claims(*claimed)
        deadline.check()
        yield exchange_claim(*claimed)
