"""Scikit-learn's tests of its kernel principal components, passed by ours."""

from __future__ import annotations

from eigenwood import KernelPCA
from tests.drop_in.borrowed import Loan, borrow

OURS = {"sklearn.decomposition": {"KernelPCA": KernelPCA}}

DESELECTED = {
    "test_kernel_pca_precomputed_non_symmetric[randomized]": (
        "wants the same bits from two matrices that differ in theirs"
    ),
    "test_precomputed_kernel_not_psd[randomized]": (
        "wants 'randomized' to choose eigenvalues by their size, and to refuse negative ones among them; ours chooses "
        "the largest, and warns that the matrix is no kernel"
    ),
}

globals().update(
    borrow(
        Loan(module="sklearn.decomposition.tests.test_kernel_pca", ours=OURS, deselected=DESELECTED, least_share=0.94)
    )
)
