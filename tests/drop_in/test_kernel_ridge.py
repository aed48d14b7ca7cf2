"""Scikit-learn's tests of its kernel ridge regression, passed by ours."""

from __future__ import annotations

from eigenwood import KernelRidge
from tests.drop_in.borrowed import Loan, borrow

DESELECTED = {
    "test_kernel_ridge_precomputed": "goes through four kernels, of which 'cosine' is none of ours; the others are "
    "compared with scikit-learn's in tests/estimators/test_kernel_ridge.py",
}

globals().update(
    borrow(
        Loan(
            module="sklearn.tests.test_kernel_ridge",
            ours={"sklearn.kernel_ridge": {"KernelRidge": KernelRidge}},
            deselected=DESELECTED,
            least_share=0.9,
        )
    )
)
