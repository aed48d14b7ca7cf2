"""Where each problem gets its kernel values, within the memory that all of them share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import LINEAR, RBF, Kernel
from eigenwood.core.kernels.plain import GivenRows, LinearRows
from eigenwood.core.kernels.row_cache import KernelRowCache, kernel_table
from eigenwood.core.margin.kernel_sources import (
    Resources,
    dense_if_small,
    kernel_sources,
    value_rounding,
    within_class_grams,
    write_within_classes,
)
from eigenwood.core.margin.one_against_one import class_problems
from eigenwood.core.pieces import at_once

CODES = np.repeat(np.arange(5), [4, 3, 6, 2, 5])
X = np.random.default_rng(0).normal(size=(CODES.size, 3)).round(2)
PROBLEMS = class_problems(CODES, np.ones(CODES.size), np.arange(5), "hinge")
PLENTY = Resources(1e9, 1)
GAUSSIAN = Kernel(RBF, 0.5)


@pytest.mark.parametrize(
    "kernel",
    [None, Kernel(LINEAR), GAUSSIAN, lambda A, B: A @ B.T + 1.0],
    ids=["precomputed", "linear", "rbf", "function"],
)
def test_each_problem_has_the_values_among_its_rows(kernel):
    K = gram(X, X, Kernel(LINEAR) if kernel is None else kernel)
    sources = kernel_sources(K if kernel is None else X, kernel, PROBLEMS, PLENTY)
    at_once(sources.writing)
    for rows, problem in zip(sources.rows, PROBLEMS, strict=True):
        places, some = problem.places(), np.arange(0, problem.costs.size, 2)
        beta = np.linspace(-1.0, 1.0, some.size)
        scores = at_once(rows.exact_scores(some, beta, np.arange(places.size)))
        assert_allclose(scores + rows.shift(some, beta), beta @ K[np.ix_(places[some], places)], atol=1e-9)


def test_the_kind_of_source_follows_from_the_kernel():
    kinds = {None: GivenRows, Kernel(LINEAR): LinearRows, GAUSSIAN: KernelRowCache}
    for kernel, kind in kinds.items():
        given = X @ X.T if kernel is None else X
        assert all(isinstance(rows, kind) for rows in kernel_sources(given, kernel, PROBLEMS, PLENTY).rows)


def test_values_within_a_class_are_written_once_for_all_its_problems():
    table = kernel_table(X, GAUSSIAN)
    within = within_class_grams(table, PROBLEMS, PLENTY)
    at_once(write_within_classes(table, within, 1))
    K = gram(X, X, GAUSSIAN)
    assert sorted(within) == [0, 4, 7, 13, 15]
    for first, values in within.items():
        rows = slice(first, first + len(values))
        assert_allclose(values, K[rows, rows], atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "n_classes", "max_bytes"),
    [(X, 5, 4.0), (X, 3, 1e9), (sparse.csr_array(X), 5, 1e9)],
    ids=["no memory", "few classes", "sparse"],
)
def test_they_are_not_kept_where_that_does_not_pay(rows, n_classes, max_bytes):
    few = np.less(CODES, n_classes)
    problems = class_problems(CODES[few], np.ones(few.sum()), np.arange(n_classes), "hinge")
    assert within_class_grams(kernel_table(rows[few], GAUSSIAN), problems, Resources(max_bytes, 1)) == {}


def test_sparse_rows_are_made_dense_where_they_fit():
    thin = sparse.csr_array(X)
    assert isinstance(dense_if_small(thin, PLENTY), np.ndarray)
    assert dense_if_small(thin, Resources(4.0 * X.nbytes - 1.0, 1)) is thin
    assert dense_if_small(X, PLENTY) is X


def test_only_values_in_float32_are_rounded():
    assert (
        value_rounding(X, GAUSSIAN, PLENTY) == kernel_sources(X, GAUSSIAN, PROBLEMS[:1], PLENTY).rows[0].rounding > 0.0
    )
    assert value_rounding(X, Kernel(LINEAR), PLENTY) == value_rounding(X @ X.T, None, PLENTY) == 0.0
