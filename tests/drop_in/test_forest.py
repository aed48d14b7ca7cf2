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

PRIVATE = "reads scikit-learn's private {}; what it stands for is tested in tests/estimators/test_forest.py"

DESELECTED = {
    "test_backend_respected": "wants joblib to run the work; ours runs on threads of its own, as many as joblib says",
    "test_class_weights_forest": PRIVATE.format("_sample_weight"),
    "test_forest_multioutput_integral_regression_target": PRIVATE.format("way to draw rows from a seed"),
    "test_friedman_mse_deprecation": "wants the warning when the object is made; ours warns in fit",
    "test_max_samples_geq_one": PRIVATE.format("_n_samples_bootstrap, which is n_draws_ here"),
    "test_mse_criterion_object_segfault_smoke_test": "hands over a Cython object as criterion; ours takes names only",
    "test_oob_not_computed_twice": (
        "reads scikit-learn's private _set_oob_score_and_attributes; ours asks the trees again: the metric may be new"
    ),
    "test_validate_y_class_weight": PRIVATE.format("_validate_y_class_weight"),
}

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

ROUNDING = (
    "grows a tree anew from its sample, and draws other numbers each time it runs; what an inner node of a packed "
    "forest says is added up from its leaves, which may be 8e-17 where the new tree says 0"
)
BY_CHANCE = {
    "test_estimators_samples[RandomForestClassifier-True-None]": ROUNDING,
    "test_estimators_samples[RandomForestRegressor-True-None]": ROUNDING,
    "test_estimators_samples[RandomForestRegressor-False-None]": ROUNDING,
    "test_forest_regressor_oob[True-X0-y0-0.7": (
        "wants an R² of 0.7 out of bag, which seed 0 misses by 0.008; the mean over 40 seeds is 0.711, scikit-learn's "
        "0.708"
    ),
}

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble.tests.test_forest",
            ours=OURS,
            deselected=DESELECTED,
            foreign=FOREIGN,
            by_chance=BY_CHANCE,
            foreign_cases=("ExtraTrees", "RandomTreesEmbedding"),
            least_share=0.85,
        )
    )
)
