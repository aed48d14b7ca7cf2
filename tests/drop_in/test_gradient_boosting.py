"""Scikit-learn's tests of its gradient boosting, passed by ours."""

from __future__ import annotations

from eigenwood import GradientBoostingClassifier, GradientBoostingRegressor
from tests.drop_in.borrowed import Loan, borrow

CLASSES = {
    "GradientBoostingClassifier": GradientBoostingClassifier,
    "GradientBoostingRegressor": GradientBoostingRegressor,
}
OURS = {"sklearn.ensemble": CLASSES, "sklearn.ensemble._gb": CLASSES}

WORDS = "is refused, in a sentence of other words"
DIGITS = "wants eight digits of trees whose splits were found in other sums, or of steps with a factor (K - 1) / K"
PROGRESS = "prints; ours has progress by callbacks"
SHARED = "our trees are shown with the parameters of the model, as it is now"
PRIVATE = "reads scikit-learn's private _loss"

DESELECTED = {
    "test_binomial_error_exact_backward_compat": DIGITS,
    "test_early_stopping_n_classes": WORDS,
    "test_early_stopping_stratified": WORDS,
    "test_feature_importance_regression": "wants a data set from the net",
    "test_gradient_boosting_validation_fraction": "counts rounds after the best one, which are not kept",
    "test_huber_overfit": PRIVATE,
    "test_max_feature_regression": PRIVATE,
    "test_min_impurity_decrease": SHARED,
    "test_monitor_early_stopping": "hands a function to fit; ours takes scikit-learn's callbacks",
    "test_more_verbose_output": PROGRESS,
    "test_multinomial_error_exact_backward_compat": DIGITS,
    "test_oob_improvement": "wants the numbers of other draws; ours compares the same rows before and after a round",
    "test_raise_if_init_has_no_predict_proba": WORDS,
    "test_single_class_with_sample_weight": WORDS,
    "test_squared_error_exact_backward_compat": DIGITS,
    "test_verbose_output": PROGRESS,
    "test_warm_start_max_depth": SHARED,
}

globals().update(
    borrow(
        Loan(module="sklearn.ensemble.tests.test_gradient_boosting", ours=OURS, deselected=DESELECTED, least_share=0.83)
    )
)
