"""Where each dual problem gets its kernel values, and how the memory for those that are kept is shared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.kernels.blocks import KernelFunction, origin, prepared, taken, write_symmetric
from eigenwood.core.kernels.functions import (
    ABOUT_A_CENTRE,
    LINEAR,
    POLYNOMIAL,
    POLYNOMIAL_ABOUT,
    RBF,
    RBF_LESS_ONE,
    SIGMOID,
    SIGMOID_ABOUT,
    Kernel,
)
from eigenwood.core.kernels.plain import GivenRows, LinearRows, WholeRows
from eigenwood.core.kernels.row_cache import KernelRowCache, KernelTable, Part, kernel_table
from eigenwood.core.kernels.source import work_of_a_dense_value
from eigenwood.core.margin.dual_svm import KernelRows
from eigenwood.core.margin.interior import interior_work
from eigenwood.core.margin.one_against_one import Problem
from eigenwood.core.pieces import Pieces

IN_DUAL = {RBF: RBF_LESS_ONE, POLYNOMIAL: POLYNOMIAL_ABOUT, SIGMOID: SIGMOID_ABOUT}
MANY_CLASSES = 4  # from here on the kernel values within a class serve several problems
DENSE_SHARE = 0.25  # of the memory, for sparse rows made dense and for kernel values within classes
WORTH_THREADS = 2e6  # kernel values of all problems: fewer are dealt with before threads have begun
FEW_BYTES, SEVERAL = 2**29, 1.5  # of all kernel values of a fit, in float64; as many times more if problems share them
FEW_WORK = 1e10  # multiplications, half a second
MOST_COLUMNS = 512  # of rows by which problems are solved without a matrix
VALUES_AT = 4.0  # multiplications of a matrix product in the time of an addition along a row


class Resources(NamedTuple):
    """The memory and the threads that the solvers may use."""

    max_bytes: float
    n_threads: int


class KernelSources(NamedTuple):
    """Where each problem gets its kernel values, and what must be written before it does."""

    rows: list[KernelRows]
    writing: Pieces[None]
    gram: np.ndarray | None = None  # all kernel values, where they are at hand when that is done
    factor: np.ndarray | None = None  # X of K = X Xᵀ, where it has so few columns that problems can be solved by it


def kernel_sources(
    X: Any, kernel: Kernel | KernelFunction | None, problems: list[Problem], resources: Resources
) -> KernelSources:
    """Return where each problem gets its kernel values; without a kernel, X holds them."""
    threads = resources.n_threads if len(problems) == 1 else 1  # several problems run side by side
    if kernel is None:
        return KernelSources([GivenRows(given_part(X, problem), threads) for problem in problems], nothing_to_write())
    if isinstance(kernel, Kernel) and are_few(X, kernel, problems, resources) and is_worth_a_matrix(X, kernel):
        return whole_gram(dense_if_small(X, resources), kernel, problems, resources.n_threads)
    if isinstance(kernel, Kernel) and kernel.code == LINEAR:
        return KernelSources(
            [LinearRows(rows_in(X, problem), threads) for problem in problems], nothing_to_write(), factor=factor_of(X)
        )
    table = table_of(X, kernel, resources)
    within = within_class_grams(table, problems, resources)
    rows = shared_rows(table, within, problems, resources, threads)
    return KernelSources(rows, write_within_classes(table, within, resources.n_threads))


def nothing_to_write() -> Pieces[None]:
    """Do nothing, in no piece."""
    yield from ()


def resources_worth_using(problems: list[Problem], resources: Resources) -> Resources:
    """Return the resources, with one thread where the problems are small."""
    sizes = np.array([problem.dual.target.size for problem in problems], dtype=np.float64)
    return resources._replace(n_threads=1) if sizes @ sizes < WORTH_THREADS else resources


def are_few(X: Any, kernel: Kernel, problems: list[Problem], resources: Resources) -> bool:
    """Return whether all kernel values among the rows are few and cheap."""
    n_bytes, work = 8.0 * X.shape[0] ** 2, float(X.shape[0]) ** 2 * work_of_a_dense_value(X.shape[1], kernel)
    few = FEW_BYTES * (1.0 if len(problems) == 1 else SEVERAL)
    fit = n_bytes <= min(few, DENSE_SHARE * resources.max_bytes)
    return bool(fit and work <= FEW_WORK and may_be_dense(X, resources))


def factor_of(X: Any) -> np.ndarray | None:
    """Return the rows from their mean, where they are dense and have few columns."""
    if sparse.issparse(X) or X.shape[1] > MOST_COLUMNS:
        return None
    X = X.astype(np.float64, copy=False)
    return X - X.mean(axis=0)


def is_mercer(kernel: Kernel) -> bool:
    """Return whether K has no direction of negative curvature; else the best point of a face may be a saddle.

    A kernel that is less g(x) + g(z) has none where Σβ = 0.
    """
    is_power = kernel.code in (POLYNOMIAL, POLYNOMIAL_ABOUT)
    return kernel.code not in (SIGMOID, SIGMOID_ABOUT) and not (is_power and kernel.coef0 < 0.0)


def is_worth_a_matrix(X: Any, kernel: Kernel) -> bool:
    """Return whether all values are had for less than a solution without them, for a line."""
    values = float(X.shape[0]) ** 2 * (X.shape[1] + 16.0) / VALUES_AT
    return kernel.code != LINEAR or X.shape[1] > MOST_COLUMNS or values <= interior_work(*X.shape)


def whole_gram(X: np.ndarray, kernel: Kernel, problems: list[Problem], n_threads: int) -> KernelSources:
    """Return the rows of each problem, with all kernel values; no problem copies its part unless it is asked for."""
    X, kernel = X.astype(np.float64, copy=False), kernel._replace(code=dual_code(kernel))
    rows, g = prepared(X, kernel, origin(X, kernel)), None
    if kernel.code == LINEAR:  # (x - c)ᵀ(z - c) = xᵀz - g(x) - g(z)
        centre = X.mean(axis=0)
        rows, g = prepared(X - centre, kernel, None), X @ centre - 0.5 * (centre @ centre)
    if kernel.code in ABOUT_A_CENTRE:
        g = rows.norms
    K = np.empty((X.shape[0], X.shape[0]))
    sources: list[KernelRows] = [WholeRows(K, g, problem.slices) for problem in problems]
    factor = rows.rows if kernel.code == LINEAR else None
    return KernelSources(sources, write_symmetric(K, rows, kernel, n_threads), K if is_mercer(kernel) else None, factor)


def shared_rows(
    table: KernelTable, within: dict[int, np.ndarray], problems: list[Problem], resources: Resources, threads: int
) -> list[KernelRows]:
    """Return the rows of each problem; the memory that is left is shared as their sizes ask for."""
    left = resources.max_bytes - sum(values.nbytes for values in within.values())
    sizes = np.array([problem.dual.target.size for problem in problems], dtype=np.float64)
    shares = np.square(sizes) / np.square(sizes).sum()
    return [
        KernelRowCache(
            table, tuple(Part(s.start, s.stop, within.get(s.start)) for s in problem.slices), share * left, threads
        )
        for problem, share in zip(problems, shares, strict=True)
    ]


def table_of(X: Any, kernel: Kernel | KernelFunction, resources: Resources) -> KernelTable:
    """Return the rows of all problems, ready for the kernel."""
    return kernel_table(dense_if_small(X, resources), dual_kernel(kernel))


def value_rounding(
    X: Any, kernel: Kernel | KernelFunction | None, problems: list[Problem], resources: Resources
) -> float:
    """Return how far the kernel values are off that ``kernel_sources`` hand out, about."""
    if kernel is None:
        return 0.0
    if isinstance(kernel, Kernel) and (kernel.code == LINEAR or are_few(X, kernel, problems, resources)):
        return 0.0
    return KernelRowCache(table_of(X, kernel, resources), (Part(0, X.shape[0]),), 0.0).rounding


def dual_kernel(kernel: Kernel | KernelFunction) -> Kernel | KernelFunction:
    """Return the kernel that the solver uses: k - g(x) - g(z) is as good as k, and may have more digits."""
    return kernel._replace(code=dual_code(kernel)) if isinstance(kernel, Kernel) else kernel


def dual_code(kernel: Kernel) -> int:
    """Return the code of the kernel that the solver uses."""
    return IN_DUAL.get(kernel.code, kernel.code)


def dense_if_small(X: Any, resources: Resources) -> Any:
    """Return sparse rows as dense ones where they fit: BLAS is far ahead of any walk along lists."""
    return X.toarray() if sparse.issparse(X) and may_be_dense(X, resources) else X


def may_be_dense(X: Any, resources: Resources) -> bool:
    """Return whether rows are dense, or fit into their share of the memory as dense ones."""
    return not sparse.issparse(X) or X.shape[0] * X.shape[1] * X.dtype.itemsize <= DENSE_SHARE * resources.max_bytes


def within_class_grams(table: KernelTable, problems: list[Problem], resources: Resources) -> dict[int, np.ndarray]:
    """Return empty matrices for the values within each class, by its first row, where several problems share them."""
    slices = {part.start: part for problem in problems for part in problem.slices}
    needed = sum(4.0 * (part.stop - part.start) ** 2 for part in slices.values())
    by_products = isinstance(table.scaled, Kernel) and not sparse.issparse(table.X)
    if len(slices) < MANY_CLASSES or not by_products or needed > DENSE_SHARE * resources.max_bytes:
        return {}
    sizes = {first: part.stop - part.start for first, part in slices.items()}
    return {first: np.empty((size, size), dtype=np.float32) for first, size in sizes.items()}


def write_within_classes(table: KernelTable, within: dict[int, np.ndarray], n_threads: int) -> Pieces[None]:
    """Write the kernel values within classes, in pieces."""
    kernel = table.scaled
    for first, values in within.items():
        assert isinstance(kernel, Kernel)  # else there are none
        yield from write_symmetric(values, taken(table.rows, slice(first, first + len(values))), kernel, n_threads)


def rows_in(X: Any, problem: Problem) -> Any:
    """Return the rows of a problem, without a copy where these are all."""
    return X if problem.dual.target.size == X.shape[0] else X[problem.places()]


def given_part(K: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the similarities among the rows of a problem."""
    if problem.dual.target.size == K.shape[0]:
        return K
    return np.block([[K[rows, columns] for columns in problem.slices] for rows in problem.slices])
