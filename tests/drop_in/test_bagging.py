"""Scikit-learn's tests of its bagging, passed by ours."""

from __future__ import annotations

from eigenwood import BaggingClassifier, BaggingRegressor
from tests.drop_in.borrowed import Loan, borrow

WEIGHTLESS = (
    "wants rows of weight 0 to be handed on to the learners; here the input checks drop them, as if they had never "
    "been given. That weights draw what they should is tested in tests/estimators/test_bagging.py"
)

DESELECTED = {
    "test_warm_start_with_oob_score_fails": "wants oob_score with warm_start to be refused; ours can do both",
    "test_warning_bootstrap_sample_weight": (
        "wants a warning that weights lose their meaning without bootstrap; ours keep it: they are repeated rows"
    ),
    "test_invalid_sample_weight_max_samples_bootstrap_combinations": (
        "wants 151 draws without replacement from 150 rows to be refused, of which one has weight 2; ours are 151 rows"
    ),
    **{
        f"test_draw_indices_using_sample_weight[{max_samples}-{routing}-True-{name}]": WEIGHTLESS
        for max_samples in (10, 0.8)
        for routing in (False, True)
        for name in ("BaggingClassifier", "BaggingRegressor")
    },
    "test_max_samples_consistency": "reads scikit-learn's private _max_samples; ours is n_draws_",
}

globals().update(
    borrow(
        Loan(
            module="sklearn.ensemble.tests.test_bagging",
            ours={"sklearn.ensemble": {"BaggingClassifier": BaggingClassifier, "BaggingRegressor": BaggingRegressor}},
            deselected=DESELECTED,
            least_share=0.85,
        )
    )
)
