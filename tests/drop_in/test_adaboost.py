"""Scikit-learn's tests of its AdaBoost, passed by ours."""

from __future__ import annotations

from eigenwood import AdaBoostClassifier, AdaBoostRegressor
from tests.drop_in.borrowed import Loan, borrow

WORDS = "wants scikit-learn's words for a wrong sample_weight; ours are one sentence that names the class"
MIXED = "has words beside numbers as labels, which ours refuse"
DESELECTED = {
    "test_oneclass_adaboost_proba": "has a single class, of which there is nothing to learn",
    "test_classification_toy": MIXED,
    "test_estimator": MIXED,
    "test_iris": "wants random_state of the default learners to differ; our stumps draw nothing and have none",
    "test_adaboost_classifier_sample_weight_error": WORDS,
    "test_adaboost_negative_weight_error": WORDS,
    "test_sample_weights_infinite": "wants a warning that weights became infinite; ours are kept within bounds",
    "test_multidimensional_X": "has rows of more than one dimension, which are no table",
    "test_adaboostclassifier_without_sample_weight": (
        "wants learners without sample_weight to be refused; ours get rows that are drawn by their weights"
    ),
    "test_adaboostregressor_sample_weight": (
        "wants one outlier of 1,000 rows to be drawn in the only round; with this seed ours does not draw it"
    ),
}

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble.tests.test_weight_boosting",
            ours={
                "sklearn.ensemble": {"AdaBoostClassifier": AdaBoostClassifier, "AdaBoostRegressor": AdaBoostRegressor}
            },
            deselected=DESELECTED,
            least_share=0.74,
        )
    )
)
