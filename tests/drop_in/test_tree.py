"""Scikit-learn's tests of its trees, passed by ours."""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.extra_trees import OURS

OTHER_WORDS = "wants scikit-learn's own words, from its tables of parameters; ours says the same in its way"
CYTHON = "hands our tree to a function that wants scikit-learn's own Cython tree"

DESELECTED = {
    "test_almost_constant_feature": (
        "wants values 1e-8 apart to count as equal, as they are in float32; here they are different numbers, and a "
        "column in other units is not lost"
    ),
    "test_big_input": "wants 1e40 to be refused because float32 cannot hold it; ours takes it",
    "test_build_pruned_tree_infinite_loop": CYTHON,
    "test_build_pruned_tree_py": CYTHON,
    "test_error": (
        "its last lines give one row and three amounts, and want to hear that these are negative; ours says first that "
        "there are three (tests/estimators/test_tree.py asks with three rows)"
    ),
    "test_friedman_mse_deprecation": "wants the warning when the object is made; ours warns in fit",
    "test_huge_allocations": "wants a MemoryError for 2^63 leaves; ours needs no memory for leaves that do not come",
    "test_mae": (
        "in its second table neither of two cuts gains anything, and it wants the first; ours takes that by which the "
        "means are farther apart (its other tables: tests/estimators/test_tree.py)"
    ),
    "test_min_sample_split_1_error": OTHER_WORDS,
    "test_missing_value_errors": "wants missing values in sparse rows to be refused; ours takes them",
    "test_random_splitter_missing_values_uses_non_missing_min_max[single-non-missing]": (
        "wants a threshold at the only value there is; the question is 'is it missing?', for which ours writes the "
        "largest number, so that larger values than that one are not taken for missing"
    ),
    "test_sample_weight_invalid": "wants a TypeError for a weight that is a single number; ours is a ValueError",
}

FOREIGN = (
    "test_absolute_errors_precomputation_function",
    "test_check_n_classes",
    "test_check_node_ndarray",
    "test_check_value_ndarray",
    "test_criterion_copy",
    "test_realloc",
    "test_splitter_serializable",
)

globals().update(
    borrow(
        Loan(
            module="sklearn.tree.tests.test_tree",
            ours=OURS,
            deselected=DESELECTED,
            foreign=FOREIGN,
            least_share=0.95,
        )
    )
)
