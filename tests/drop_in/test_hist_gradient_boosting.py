"""Scikit-learn's tests of its histogram-based gradient boosting, passed by ours."""

from __future__ import annotations

from eigenwood import GradientBoostingClassifier, GradientBoostingRegressor
from tests.drop_in.borrowed import Loan, borrow

CLASSES = {
    "HistGradientBoostingClassifier": GradientBoostingClassifier,
    "HistGradientBoostingRegressor": GradientBoostingRegressor,
}
OURS = {"sklearn.ensemble": CLASSES}

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
            ours=OURS,
            least_share=0.0,
        )
    )
)
