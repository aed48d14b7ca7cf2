"""Scikit-learn's tests of monotonic constraints, passed by our trees; its forests are left out."""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.extra_trees import OURS

globals().update(
    borrow(
        Loan(
            module="sklearn.tree.tests.test_monotonic_tree",
            ours=OURS,
            foreign_cases=("RandomForest", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        )
    )
)
