"""Scikit-learn's tests of its Nystroem features, passed by ours."""

from __future__ import annotations

from eigenwood import LowRankKernel
from tests.drop_in.borrowed import Loan, borrow

OURS = {"sklearn.kernel_approximation": {"Nystroem": LowRankKernel}}

DESELECTED = {
    "test_nystroem_approximation": "wants features of additive_chi2, which is no kernel: k(x, x) = 0 and k(x, z) < 0",
    "test_nystroem_callable": "counts the calls of a function of two rows: ours asks about other pairs",
}

# Tests of other approximations, and of arrays of other packages (torch, cupy, …), which are skipped without these.
FOREIGN = (
    "test_additive_chi2_sampler",
    "test_additive_chi2_sampler_sample_steps",
    "test_additive_chi2_sampler_wrong_sample_steps",
    "test_additivechi2sampler_get_feature_names_out",
    "test_input_validation",
    "test_nystroem_approximation_array_api",
    "test_polynomial_count_sketch",
    "test_polynomial_count_sketch_dense_sparse",
    "test_rbf_sampler",
    "test_rbf_sampler_dtype_equivalence",
    "test_rbf_sampler_fitted_attributes_dtype",
    "test_rbf_sampler_gamma_scale",
    "test_skewed_chi2_sampler",
    "test_skewed_chi2_sampler_dtype_equivalence",
    "test_skewed_chi2_sampler_fitted_attributes_dtype",
    "test_additive_chi2_sampler_exceptions",
)

globals().update(
    borrow(
        Loan(
            module="sklearn.tests.test_kernel_approximation",
            ours=OURS,
            deselected=DESELECTED,
            foreign=FOREIGN,
            foreign_cases=("[PolynomialCountSketch]", "[RBFSampler]", "[SkewedChi2Sampler]"),
            least_share=0.75,
        )
    )
)
