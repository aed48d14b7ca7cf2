"""Scikit-learn's tests of its principal components, passed by ours."""

from __future__ import annotations

from eigenwood import PCA
from tests.drop_in.borrowed import Loan, borrow

OURS = {"sklearn.decomposition": {"PCA": PCA}}

ALL_FROM_ARPACK = "wants 'arpack' to leave out the last component; ours finds all"

NO_LAST = "wants 'arpack' to refuse all components, which ours finds"
NAMES_FULL = "wants to be told svd_solver='full' where 'auto' was asked for; ours says 'auto'"
VALIDATION = {
    f"test_pca_validation[{case}-data{data}]": reason
    for data in (0, 1)
    for case, reason in {
        "arpack-0-must be between 1 and min\\\\(n_samples, n_features\\\\)": NO_LAST,
        "arpack-2-must be strictly less than min": NO_LAST,
        "auto-3-n_components=3 must be between 0 and min\\\\(n_samples, n_features\\\\)=2 "
        "with svd_solver='full'": NAMES_FULL,
    }.items()
}

DESELECTED = {
    "test_n_components_none[data0-arpack-3]": ALL_FROM_ARPACK,
    "test_n_components_none[data1-arpack-3]": ALL_FROM_ARPACK,
    "test_pca_score": (
        "wants whitened scores to make the rows less likely: scikit-learn puts the variances into the covariance twice "
        "(its issue 13898); the model is the same, and so is the likelihood here"
    ),
    "test_pca_svd_solver_auto": "reads scikit-learn's private _fit_svd_solver, and wants its choices; ours is solver_",
    **VALIDATION,
    "test_sparse_pca_solver_error": (
        "wants a TypeError that 'randomized' and 'full' take no sparse rows; ours takes them with the former, and says "
        "of the latter in a ValueError that it does not"
    ),
}

FOREIGN = (
    "test_assess_dimension_bad_rank",
    "test_assess_dimension_rank_one",
    "test_small_eigenvalues_mle",
    # Arrays of other packages (torch, cupy, …): skipped where these are not installed, and a skip is no pass.
    "test_array_api_error_and_warnings_on_unsupported_params",
    "test_pca_array_api_compliance",
    "test_pca_mle_array_api_compliance",
)

globals().update(
    borrow(
        Loan(
            module="sklearn.decomposition.tests.test_pca",
            ours=OURS,
            deselected=DESELECTED,
            foreign=FOREIGN,
            # Of the 216 cases of sparse rows, all of which pass, a third is enough for every day.
            foreign_cases=("test_pca_sparse[1-", "test_pca_sparse[10-"),
            least_share=0.85,
        )
    )
)
