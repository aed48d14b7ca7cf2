"""What a PCA refuses: each check says so in one sentence, and lets what is allowed pass."""

import numpy as np
import pytest
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.validation import pca
from tests.models.crafting import assert_one_sentence

FITTED = {
    "scale": np.ones(3),
    "n_samples": 5,
    "variances": np.array([2.0, 1.0]),
    "singular_values": np.array([3.0, 2.0]),
    "ratios": np.array([0.6, 0.3]),
    "intervals": np.array([[1.9, 2.1], [0.0, 1.5]]),
}
WEIGHTS = np.ones(5)

REFUSED = {
    "NaN": (lambda: pca.check_numbers(np.array([[1.0], [np.nan]]), None, missing=False), "NaN"),
    "sums": (lambda: pca.check_numbers(np.array([[1e308], [1e308]]), None, missing=True), "sums are finite"),
    "sparse sums": (lambda: pca.check_numbers(sparse.csr_array([[1e308]]), None, missing=True), "sums are finite"),
    "squares": (lambda: pca.check_sum_of_squares(np.inf), "sum of squares of at most 1.8e+308; got more"),
    "large": (lambda: pca.check_variance(1e308), "whose squares are larger"),
    "small": (lambda: pca.check_variance(1e-300), "whose squares are smaller"),
    "one row": (lambda: pca.check_enough(1, 1.0), "at least 2 rows; got 1 sample(s)"),
    "a stream": (lambda: pca.check_batch((), False, 0), "must have an array; got tuple"),
    "holes": (lambda: pca.check_batch(np.ones((2, 2)), True, 3), "without NaN; got 3"),
    "few weights": (lambda: pca.check_block_weights(WEIGHTS[3:], 3, 4), "a weight for every row; got 5"),
    "many weights": (lambda: pca.check_no_weights_left(WEIGHTS, 4), "must have shape (4,); got (5,)"),
    "width": (lambda: pca.check_column_names(("x0",), 2, None), "must have 2 columns, as in fit; got 1"),
    "names": (lambda: pca.check_column_names(("b", "a"), 2, ["a", "b"]), "in their order; got other names"),
    "variants": (lambda: pca.check_variant_count(3, 4), "must have 4 columns, as in fit; got 3 variants"),
    "scores": (lambda: pca.check_score_columns(3, 2), "must have 2 columns; got 3"),
    "frames": (lambda: pca.check_output_of_blocks("pandas"), "must be 'default' for blocks"),
    "no rank": (lambda: pca.check_filling("em", 0.5), "an integer n_components; got 0.5"),
    "em of blocks": (lambda: pca.check_filling_of_stream("em"), "a table in memory; got blocks of rows"),
    "too many": (lambda: pca.asked_count(4, "full", 3, 9), "between 0 and min(n_samples, n_features)=3"),
    "none": (lambda: pca.asked_count(0, "krylov", 3, 9), "between 1 and min(n_samples, n_features)=3"),
    "mle": (lambda: pca.asked_count("mle", "full", 3, 9), "n_samples >= n_features; got 3 < 9"),
    "sparse svd": (lambda: pca.check_route("full", 2, pca.SPARSE), "a dense table in memory; got sparse rows"),
    "gram of rows": (lambda: pca.check_route("gram_eigh", 2, pca.ROW_BLOCKS), "got blocks of rows"),
    "mle by krylov": (lambda: pca.check_route("krylov", "mle", pca.DENSE), "'full' finds it"),
    "mle of variants": (lambda: pca.check_route("auto", "mle", pca.COLUMN_BLOCKS), "'full' finds it"),
    "scale_": (lambda: pca.check_fitted_numbers(**FITTED | {"scale": np.zeros(3)}), "scale_ must be above 0"),
    "n_samples_": (lambda: pca.check_fitted_numbers(**FITTED | {"n_samples": 0}), "n_samples_ must be at least 1"),
    "rising": (lambda: pca.check_fitted_numbers(**FITTED | {"variances": np.array([1.0, 2.0])}), "and descend"),
    "intervals": (lambda: pca.check_fitted_numbers(**FITTED | {"intervals": np.ones((2, 2))}), "hold the variances"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_allowed_is_refused_in_one_sentence(name):
    call, words = REFUSED[name]
    with pytest.raises(InputError) as caught:
        call()
    assert_one_sentence(str(caught.value))
    assert str(caught.value).startswith("PCA: ")
    assert words in str(caught.value)


def test_what_is_allowed_passes():
    pca.check_sum_of_squares(1e308)
    pca.check_variance(1e-290)
    pca.check_enough(2, 1.5)
    pca.check_batch(np.ones((2, 2)), True, 0)
    pca.check_no_weights_left(WEIGHTS, 5)
    pca.check_column_names(("x0", "x1"), 2, ["a", "b"])  # an array has no names
    pca.check_column_names(("a", "b"), 2, ["a", "b"])
    pca.check_output_of_blocks("default")
    pca.check_filling("em", 2)
    pca.check_filling("mean", None)
    pca.check_filling_of_stream("mean")
    pca.check_route("krylov", 2, pca.SPARSE)
    pca.check_route("full", "mle", pca.DENSE)
    pca.check_fitted_numbers(**FITTED)
    assert pca.check_block_weights(WEIGHTS[3:], 3, 2).size == 2


@pytest.mark.parametrize(
    ("asked", "n_rows", "answer"),
    [(None, 4, (4, None)), (None, None, (9, None)), ("mle", 12, (9, None)), (0.5, 4, (4, 0.5)), (3, 4, (3, None))],
)
def test_a_count_and_perhaps_a_share_is_asked_for(asked, n_rows, answer):
    assert pca.asked_count(asked, "auto", n_rows, 9) == answer
