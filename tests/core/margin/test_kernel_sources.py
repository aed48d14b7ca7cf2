"""Where each problem gets its kernel values, within the memory that all of them share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import LAPLACIAN, LINEAR, POLYNOMIAL, RBF, SIGMOID, Kernel
from eigenwood.core.kernels.plain import GivenRows, LinearRows, WholeRows
from eigenwood.core.kernels.row_cache import KernelRowCache, kernel_table
from eigenwood.core.margin.kernel_sources import (
    Resources,
    dense_if_small,
    kernel_sources,
    resources_worth_using,
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


def test_the_kind_of_source_follows_from_the_kernel(monkeypatch):
    monkeypatch.setattr("eigenwood.core.margin.kernel_sources.FEW_BYTES", 0)
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


def test_only_values_in_float32_are_rounded(monkeypatch):
    def rounding(rows, kernel):
        return value_rounding(rows, kernel, PROBLEMS, PLENTY)

    assert rounding(X, GAUSSIAN) == rounding(X, Kernel(LINEAR)) == rounding(X @ X.T, None) == 0.0
    monkeypatch.setattr("eigenwood.core.margin.kernel_sources.FEW_BYTES", 0)
    assert rounding(X, GAUSSIAN) == kernel_sources(X, GAUSSIAN, PROBLEMS[:1], PLENTY).rows[0].rounding > 0.0
    assert rounding(X, Kernel(LINEAR)) == rounding(X @ X.T, None) == 0.0


@pytest.mark.parametrize("code", [LINEAR, POLYNOMIAL, RBF, LAPLACIAN])
def test_few_rows_have_all_their_values_at_once(code):
    """What the source hands out, and what it took away, is the kernel itself; of pairs of classes, too."""
    kernel = Kernel(code, gamma=0.3, coef0=1.0, degree=3)
    rows = 1.0 + X
    K = gram(rows, rows, kernel)
    sources = kernel_sources(rows, kernel, PROBLEMS, PLENTY)
    at_once(sources.writing)
    for problem, source in zip(PROBLEMS, sources.rows, strict=True):
        places, n_rows = problem.places(), problem.dual.target.size
        assert isinstance(source, WholeRows)
        assert source.rounding == 0.0
        beta = np.random.default_rng(0).normal(size=n_rows)
        beta -= beta.mean()
        scores = at_once(source.exact_scores(np.arange(n_rows), beta, np.arange(n_rows)))
        plain = K[np.ix_(places, places)] @ beta
        off = plain - scores - source.shift(np.arange(n_rows), beta)
        assert_allclose(off, off.mean(), atol=1e-9 * np.abs(plain).max())  # g(x) Σβ, and that is 0
        assert abs(off.mean()) <= 1e-9 * np.abs(plain).max()


def test_small_problems_are_no_work_for_threads():
    assert resources_worth_using(PROBLEMS, Resources(1e9, 4)).n_threads == 1
    large = class_problems(np.repeat([0, 1], 1000), np.ones(2000), np.arange(2), "hinge")
    assert resources_worth_using(large, Resources(1e9, 4)).n_threads == 4


def test_values_of_many_features_are_not_computed_all_at_once():
    """That would take seconds, where few of them may be needed."""
    wide = np.zeros((1100, 9_000), dtype=np.float32)
    (problem,) = class_problems(np.repeat([0, 1], 550), np.ones(1100), np.arange(2), "hinge")
    for kernel in (Kernel(LINEAR), GAUSSIAN):
        assert kernel_sources(wide, kernel, [problem], PLENTY).gram is None
        assert kernel_sources(wide[:, :1000], kernel, [problem], PLENTY).rows[0].has_all
    assert not kernel_sources(wide[:, :1000], Kernel(LAPLACIAN), [problem], PLENTY).rows[0].has_all


def test_a_line_of_few_columns_needs_no_matrix():
    (problem,) = class_problems(np.repeat([0, 1], 3000), np.ones(6000), np.arange(2), "hinge")
    thin = np.random.default_rng(0).normal(size=(6000, 5))
    sources = kernel_sources(thin, Kernel(LINEAR), [problem], PLENTY)
    assert sources.gram is None
    assert_allclose(sources.factor, thin - thin.mean(axis=0))
    assert kernel_sources(thin, GAUSSIAN, [problem], PLENTY).factor is None


def test_a_kernel_that_is_not_mercers_is_solved_by_pairs():
    """The best point of a face may be a saddle there."""
    assert kernel_sources(X, Kernel(SIGMOID), PROBLEMS, PLENTY).gram is None
    assert kernel_sources(X, GAUSSIAN, PROBLEMS, PLENTY).gram is not None
