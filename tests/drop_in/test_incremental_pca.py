"""Scikit-learn's tests of its incremental PCA, passed by ``partial_fit`` of ours.

They compare it with a PCA of all rows at once. That one stays scikit-learn's own: our batches must find what it finds.
"""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.incremental import IncrementalPCA

OURS = {"sklearn.decomposition": {"IncrementalPCA": IncrementalPCA}}

DESELECTED = {
    "test_incremental_pca_set_params": (
        "wants another n_components to be refused after the first batch; ours keeps the sums, not the components, and "
        "can give any number of them"
    ),
    "test_incremental_pca_validation": "wants scikit-learn's own words for too many components; ours has others",
}

globals().update(
    borrow(
        Loan(
            module="sklearn.decomposition.tests.test_incremental_pca",
            ours=OURS,
            deselected=DESELECTED,
            least_share=0.85,
        )
    )
)
