"""Scikit-learn's tests of its histogram-based gradient boosting, passed by ours.

A quarter of them read private parts, or want a failure that ours does not have; they do not apply. Of the others most
that fail count rounds after the best one, which ours drops.
"""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.hist_boosting import OURS

WORDS = "is refused, in a sentence of other words"
PRIVATE = "reads scikit-learn's private {}"
PREDICTORS, RAW = PRIVATE.format("_predictors"), PRIVATE.format("_raw_predict")
BEST = "counts rounds after the best one, which are not kept"
INFINITE = "hands infinity over, which ours refuses: a missing number is NaN"
NO_GAMMA = "needs loss='gamma', which ours does not have"
NONE = "wants is_categorical_ to be None without categories; ours has one truth value for each column"
MISSING = "wants an unknown category to be a missing one; ours are a category where some are missing"
FAILURE = "wants a failure that ours does not have: {}"
MANY = FAILURE.format("more categories than bins share a bin")

NO_LIST = r"None-categorical_features\\ must\\ be\\ an\\ array\\-like\\ of\\ bool,\\ int\\ or\\ str,\\ got:\\ "
SPEC_ERRORS = {
    "categorical_features0-" + NO_LIST + r"bytes40\\.": WORDS,
    "categorical_features1-" + NO_LIST + r"bytes,\\ float\\.": WORDS,
    r"categorical_features2-None-categorical_features\\ set\\ as\\ integer\\ indices\\ must\\ be\\ in\\ "
    r"\\[0,\\ n_features\\ \\-\\ 1\\]": FAILURE.format("-1 is the last column"),
}

DESELECTED = {
    "test_X_val_in_fit": "wants rows to be held out by the draw of train_test_split; ours draws by what stands in them",
    "test_binning_train_validation_are_separated": PRIVATE.format("_bin_mapper"),
    "test_categorical_bad_encoding_errors": MANY,
    "test_categorical_different_order_same_model": PREDICTORS,
    "test_categorical_encoding_strategies": PREDICTORS,
    **{
        f"test_categorical_spec_errors[{case}-HistGradientBoosting{kind}]": reason
        for kind in ("Classifier", "Regressor")
        for case, reason in SPEC_ERRORS.items()
    },
    "test_categorical_spec_no_categories": NONE,
    "test_check_interaction_cst": PRIVATE.format("_check_interaction_cst"),
    "test_consistent_lengths": INFINITE,
    "test_custom_loss": PRIVATE.format("loss objects"),
    "test_dataframe_categorical_errors": MANY,
    "test_dataframe_categorical_results_same_as_ndarray": PRIVATE.format("_preprocessor"),
    "test_early_stopping_classification[None-0.1-True-5-1e-07-data0]": BEST,
    "test_early_stopping_classification[None-0.1-True-5-1e-07-data1]": BEST,
    "test_early_stopping_classification[None-None-True-5-0.1-data0]": BEST,
    "test_early_stopping_classification[None-None-True-5-0.1-data1]": BEST,
    "test_early_stopping_classification[accuracy-0.1-True-5-1e-07-data0]": BEST,
    "test_early_stopping_classification[accuracy-0.1-True-5-1e-07-data1]": BEST,
    "test_early_stopping_classification[accuracy-None-True-5-0.1-data0]": BEST,
    "test_early_stopping_classification[accuracy-None-True-5-0.1-data1]": BEST,
    "test_early_stopping_default[HistGradientBoostingClassifier-X1-y1]": (
        "wants a logistic loss that falls by less than 0.1; ours is twice as large, as in GradientBoostingClassifier"
    ),
    "test_early_stopping_regression[None-0.1-True-5-1e-07]": BEST,
    "test_early_stopping_regression[loss-0.1-True-5-1e-07]": BEST,
    "test_early_stopping_regression[neg_mean_squared_error-0.1-True-5-1e-07]": BEST,
    "test_early_stopping_with_sample_weights": RAW,
    "test_gamma": NO_GAMMA,
    "test_gamma_y_positive": NO_GAMMA,
    "test_infinite_values": INFINITE,
    "test_infinite_values_missing_values": INFINITE,
    "test_max_depth_max_leaf_nodes": PREDICTORS,
    "test_raw_predict_is_called_with_custom_scorer": RAW,
    "test_sample_weight_effect": RAW,
    "test_should_stop": PRIVATE.format("_should_stop"),
    "test_single_node_trees": PREDICTORS,
    "test_small_trainset": PRIVATE.format("_get_small_trainset"),
    "test_staged_predict[HistGradientBoostingClassifier-X0-y0]": (
        "wants staged scores of two classes as a vector; ours are a column, as in GradientBoostingClassifier"
    ),
    "test_unknown_categories_nan[-1-False-HistGradientBoostingRegressor-True]": MISSING,
    "test_unknown_categories_nan[-1-True-HistGradientBoostingRegressor-True]": MISSING,
    "test_unknown_categories_nan[nan-False-HistGradientBoostingRegressor-True]": MISSING,
    "test_unknown_categories_nan[nan-True-HistGradientBoostingRegressor-True]": MISSING,
}

BY_CHANCE = {
    "test_missing_values_minmax_imputation": (
        "wants missing numbers and those that stand in for them to be learnt to seven digits alike; how gradients are "
        "rounded follows from the bins, which are others"
    )
}

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting",
            ours=OURS,
            deselected=DESELECTED,
            by_chance=BY_CHANCE,
            least_share=0.46,
            beside=("reads scikit-learn's private", "a failure that ours does not have"),
            least_share_applying=0.65,
        )
    )
)
