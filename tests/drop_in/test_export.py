"""Scikit-learn's tests of its pictures and texts of trees, passed with ours."""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.extra_trees import OURS

EQUALLY_GOOD = (
    "wants the feature that scikit-learn's generator draws, with random_state=0, out of two that are equally good; "
    "tests/estimators/test_tree_viewers.py compares the text of the same tree"
)

DESELECTED = {
    "test_export_text": EQUALLY_GOOD,
    "test_export_text_feature_class_names_array_support": EQUALLY_GOOD,
}

globals().update(
    borrow(
        Loan(
            module="sklearn.tree.tests.test_export",
            ours=OURS,
            deselected=DESELECTED,
            foreign=("test_rgb_to_hexstring",),
            least_share=0.84,
        )
    )
)
