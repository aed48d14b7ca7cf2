"""Scikit-learn's tests of its forests, passed by ours.

Its extra trees and its embedding stay its own: we have no such forests, and their cases are left out.
"""

from __future__ import annotations

from eigenwood import RandomForestClassifier, RandomForestRegressor
from tests.drop_in.borrowed import Loan, borrow

OURS = {
    "sklearn.ensemble": {
        "RandomForestClassifier": RandomForestClassifier,
        "RandomForestRegressor": RandomForestRegressor,
    }
}

DESELECTED: dict[str, str] = {}

FOREIGN = (
    "test_distribution",
    "test_importances_asymptotic",
    "test_random_hasher",
    "test_random_hasher_sparse_data",
    "test_random_trees_dense_equal",
    "test_random_trees_dense_type",
    "test_random_trees_embedding_feature_names_out",
    "test_random_trees_embedding_raise_error_oob",
)

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble.tests.test_forest",
            ours=OURS,
            deselected=DESELECTED,
            foreign=FOREIGN,
            foreign_cases=("ExtraTrees", "RandomTreesEmbedding"),
            least_share=0.95,
        )
    )
)
