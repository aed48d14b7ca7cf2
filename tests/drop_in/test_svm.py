"""Scikit-learn's tests of its support vector machines, passed by ours.

Its machines by nu, of one class and for lines only stay its own, as do probabilities, which it has deprecated.
"""

from __future__ import annotations

from eigenwood import SVC, SVR
from tests.drop_in.borrowed import Loan, borrow

DIGITS = (
    "wants the sixth digit of coefficients of which tol fixes three: ours measures rows from their mean where the "
    "kernel is linear, and where several moves are equally good the last bits choose"
)

DESELECTED = {
    "test_bad_input": "wants sparse queries to be refused by a model of dense rows; ours answers them",
    "test_custom_kernel_not_array_input": "gives texts to a function of its own; ours hands over rows of numbers",
    "test_precomputed": DIGITS,
    "test_sparse_fit_support_vectors_empty": "wants dual_coef_ to be sparse if the rows are; ours is an array always",
    "test_svc_clone_with_callable_kernel": DIGITS,
    "test_svc_nonfinite_params": "wants other words for numbers that are too large to be squared",
    "test_svr_errors": "wants a kernel of a wrong shape to be learnt and refused at prediction; ours refuses it in fit",
}

INNER = (  # of LIBSVM and its wrapper: _gamma, _n_support, _dual_coef_
    "test_gamma_scale",
    "test_svc_raises_error_internal_representation",
    "test_tweak_params",
)

FOREIGN = (
    *INNER,
    "test_crammer_singer_binary",
    "test_dense_liblinear_intercept_handling",
    "test_dual_auto",
    "test_dual_auto_edge_cases",
    "test_hasattr_predict_proba",
    "test_liblinear_set_coef",
    "test_linear_svm_convergence_warnings",
    "test_linearsvc",
    "test_linearsvc_crammer_singer",
    "test_linearsvc_fit_sampleweight",
    "test_linearsvc_iris",
    "test_linearsvc_parameters",
    "test_linearsvc_verbose",
    "test_linearsvm_liblinear_sample_weight",
    "test_linearsvr",
    "test_linearsvr_fit_sampleweight",
    "test_lsvc_intercept_scaling_zero",
    "test_oneclass",
    "test_oneclass_decision_function",
    "test_oneclass_score_samples",
    "test_probability",
    "test_probability_raises_futurewarning",
    "test_svc_nusvc_probA_probB_deprecated",
)

globals().update(
    borrow(
        Loan(
            module="sklearn.svm.tests.test_svm",
            ours={"sklearn.svm": {"SVC": SVC, "SVR": SVR}},
            deselected=DESELECTED,
            foreign=FOREIGN,
            foreign_cases=("NuSVC", "NuSVR", "OneClassSVM", "sided_sample_weight[estimator1]"),
            least_share=0.8,
        )
    )
)
