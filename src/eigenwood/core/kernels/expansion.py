"""Basis expansion: all products of at most p features (the kernel lecture).

Terms are numbered degree by degree, each degree in lexicographic order; a term's children append one more feature
that is not before its last one. With d = 3:

    degree 0        1                              number  0
    degree 1        x0       x1     x2                     1 2 3
    degree 2        x0x0 x0x1 x0x2  x1x1 x1x2  x2x2        4 5 6  7 8  9

The children of a term are neighbours, so  number(child with x_j) = first_child[term] + j - last[term],  and a term
costs one multiplication: its parent's value times one feature.

The factor √(p! / (k₀! k₁! … k_d!)), with k₀ = p - degree of the term, makes Φ(x)·Φ(z) = (1 + x·z)^p.
"""

from __future__ import annotations

from math import comb, factorial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.rows import rows_of
from eigenwood.core.threads import results_of, row_blocks

BLOCK_VALUES = 4_000_000  # values written by one task


class Expansion(NamedTuple):
    """The terms of degree 0 to p, in the order above."""

    last: np.ndarray  # (n_terms,) the last feature of each term; 0 for the constant
    first_child: np.ndarray  # (n_parents,) the number of each parent's first child
    degree_starts: np.ndarray  # (p + 2,) where each degree begins
    factors: np.ndarray  # (n_terms,) what each product is multiplied by


def term_count(n_features: int, degree: int) -> int:
    """Return the number of terms of degree 0 to ``degree``.

    >>> term_count(784, 2) - 1     # MNIST, without the constant (the kernel lecture)
    308504
    """
    return comb(n_features + degree, degree)


def expansion(n_features: int, degree: int, kernel_factors: bool) -> Expansion:
    """Return the terms of at most ``degree`` in ``n_features`` features."""
    last = [np.zeros(1, dtype=np.int64)]
    first_child, n_terms = [], 1
    for _ in range(degree):
        n_children = n_features - last[-1]
        first_child.append(n_terms + np.cumsum(n_children) - n_children)
        parents = np.repeat(np.arange(n_children.size), n_children)
        place = np.arange(parents.size) - (first_child[-1] - n_terms)[parents]
        last.append(last[-1][parents] + place)
        n_terms += parents.size
    level_ends = np.cumsum([0, *(level.size for level in last)])
    shape = Expansion(np.concatenate(last), np.concatenate(first_child), level_ends, np.ones(n_terms))
    return shape._replace(factors=multinomial_factors(shape)) if kernel_factors else shape


def multinomial_factors(shape: Expansion) -> np.ndarray:
    """Return √(p! / (k₀! k₁! … k_d!)) for every term."""
    degree = shape.degree_starts.size - 2
    orders = np.zeros(shape.last.size)  # the product of the k_j! so far, and how often the last feature stands
    orders[0] = 1.0
    repeats = np.zeros(shape.last.size, dtype=np.int64)
    parents = parent_of_each(shape)
    factors = np.empty(shape.last.size)
    for level in range(degree + 1):
        terms = slice(shape.degree_starts[level], shape.degree_starts[level + 1])
        if level > 0:
            above = parents[terms]
            same = (shape.last[terms] == shape.last[above]) & (level > 1)
            repeats[terms] = np.where(same, repeats[above] + 1, 1)
            orders[terms] = orders[above] * repeats[terms]
        factors[terms] = np.sqrt(factorial(degree) / (factorial(degree - level) * orders[terms]))
    return factors


def parent_of_each(shape: Expansion) -> np.ndarray:
    """Return the number of every term's parent; -1 for the constant."""
    sizes = np.diff(np.append(shape.first_child, shape.last.size))
    return np.concatenate([[-1], np.repeat(np.arange(shape.first_child.size), sizes)])


def features_of(shape: Expansion, term: int) -> tuple[int, ...]:
    """Return the features of one term, in order, each as often as its exponent.

    >>> features_of(expansion(3, 2, False), 5)
    (0, 1)
    """
    features: tuple[int, ...] = ()
    while term > 0:
        features = (int(shape.last[term]), *features)
        term = int(np.searchsorted(shape.first_child, term, side="right")) - 1
    return features


def expand(X, shape: Expansion, with_constant: bool, n_threads: int):
    """Return Φ(X): dense for a dense X, csr for a sparse one."""
    if sparse.issparse(X):
        return _expand_sparse(X, shape, with_constant, n_threads)
    n_terms = shape.last.size
    skip = 0 if with_constant else 1
    out = np.empty((X.shape[0], n_terms - skip), dtype=X.dtype)

    def fill(block: slice) -> None:
        expand_dense(X[block], shape, skip, out[block])

    results_of(fill, row_blocks(X.shape[0], max(1, BLOCK_VALUES // n_terms)), n_threads)
    return out


def nonzero_terms(X, degree: int) -> np.ndarray:
    """Return for each row how many of its terms are not zero: C(m + p, p) for m non-zero features."""
    counts = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
    table = np.array([comb(m + degree, degree) for m in range(X.shape[1] + 1)], dtype=np.float64)
    return table[counts]


def _expand_sparse(X, shape: Expansion, with_constant: bool, n_threads: int):
    skip = 0 if with_constant else 1
    degree = shape.degree_starts.size - 2
    X = _clean_csr(X)
    counts = nonzero_terms(X, degree).astype(np.int64) - skip
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(indptr[-1], dtype=np.int64)
    data = np.empty(indptr[-1], dtype=X.dtype)

    rows = rows_of(X)

    def fill(block: slice) -> None:
        expand_csr(rows, block.start, block.stop, shape, skip, indptr, indices, data)

    results_of(fill, row_blocks(X.shape[0], 1024), n_threads)
    return sparse.csr_array((data, indices, indptr), shape=(X.shape[0], shape.last.size - skip))


def _clean_csr(X):
    """Return X as csr with sorted columns and no stored zeros; the caller's matrix stays as it is."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


@njit
def expand_dense(X, shape, skip, out):
    """Write Φ of each row to ``out``; ``skip`` leaves out the constant."""
    n_terms, d = shape.last.size, X.shape[1]
    values = np.empty(n_terms, dtype=X.dtype)
    for i in range(X.shape[0]):
        x = X[i]
        values[0] = 1.0
        for parent in range(shape.first_child.size):
            value, start = values[parent], shape.last[parent]
            children = values[shape.first_child[parent] : shape.first_child[parent] + d - start]
            for j in range(children.size):
                children[j] = value * x[start + j]
        for t in range(skip, n_terms):
            out[i, t - skip] = values[t] * shape.factors[t]


@njit
def expand_csr(rows, start, stop, shape, skip, indptr, indices, data):
    """Write the non-zero terms of rows ``start`` to ``stop`` into the csr arrays."""
    for i in range(start, stop):
        columns = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        x = rows.data[rows.indptr[i] : rows.indptr[i + 1]]
        n_terms = indptr[i + 1] - indptr[i] + skip
        term = np.empty(n_terms, dtype=np.int64)
        value = np.empty(n_terms, dtype=x.dtype)
        first = np.empty(n_terms, dtype=np.int64)  # the first of x's entries that a child may append
        term[0], value[0], first[0] = 0, 1.0, 0
        written, parent = 1, 0
        while written < n_terms:
            base = shape.first_child[term[parent]] - shape.last[term[parent]]
            for q in range(first[parent], x.size):
                term[written] = base + columns[q]
                value[written] = value[parent] * x[q]
                first[written] = q
                written += 1
            parent += 1
        for t in range(skip, n_terms):
            indices[indptr[i] + t - skip] = term[t] - skip
            data[indptr[i] + t - skip] = value[t] * shape.factors[term[t]]
