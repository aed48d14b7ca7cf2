"""Scikit-learn's tests of its gradient boosting, passed by ours."""

from __future__ import annotations

from eigenwood import GradientBoostingClassifier, GradientBoostingRegressor
from tests.drop_in.borrowed import Loan, borrow

CLASSES = {
    "GradientBoostingClassifier": GradientBoostingClassifier,
    "GradientBoostingRegressor": GradientBoostingRegressor,
}
OURS = {"sklearn.ensemble": CLASSES}

globals().update(borrow(Loan(module="sklearn.ensemble.tests.test_gradient_boosting", ours=OURS, least_share=0.0)))
