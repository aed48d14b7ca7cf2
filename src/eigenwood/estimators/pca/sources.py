"""Where the rows of a PCA come from: an array or csr matrix, blocks of rows, blocks of columns.

    source       in memory     moments                operator M                     back to feature space
    InMemory     all of X      chunk by chunk         the smaller of AᵀA and AAᵀ     v, or Aᵀu / s
    RowStream    a block       block by block         AᵀA, one pass a product        v
    ColumnStream a block       column by column       AAᵀ, one pass a product        Aᵀu / s, one pass

A = √w (X - μ) / σ stands for the centred table (``core/spectral/centred.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenwood.core.spectral.centred import (
    Centred,
    column_products,
    normal_by_columns,
    normal_by_rows,
)
from eigenwood.core.spectral.gram import gram_of
from eigenwood.core.spectral.int8_gram import int8_grams
from eigenwood.core.spectral.moments import (
    ColumnMoments,
    Moments,
    column_moments_of,
    merged,
    merged_columns,
    moments_of,
    no_column_moments,
    no_moments,
)
from eigenwood.core.spectral.packed import feature_space_lengths, normal_of_packed, packed, products_both_ways
from eigenwood.core.spectral.packed_quantized import normal_of_packed_quantized, pack_quantized
from eigenwood.core.spectral.quantized import grid_of
from eigenwood.core.threads import ahead, row_blocks
from eigenwood.estimators.pca.units import Units, divided, largest_sizes

CHUNK_VALUES = 2**26  # of a table in memory, between two looks at the clock
PACKED_BYTES = 2**29  # of a copy that makes repeated products faster
GRAM_WORK = 10**11  # n² times columns, between two looks at the clock


def trying() -> np.errstate:
    """Let squares of huge numbers overflow in silence: the table then gets a unit."""
    return np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True)
class Scaling:
    """What A is made of beside X, known before any product with A."""

    columns: ColumnMoments
    scale: np.ndarray

    def total(self) -> float:
        """Return the trace of AᵀA."""
        return float((self.columns.squares / self.scale**2).sum())


Operator = Callable[[np.ndarray], np.ndarray]  # B → M B


class Source(Protocol):
    """What every source offers; M is the smaller of AᵀA and AAᵀ that the source can multiply with."""

    @property
    def shape(self) -> tuple[int | None, int]: ...  # None: how many rows a text file has, its end tells

    @property
    def dtype(self) -> np.dtype: ...

    def weight(self) -> int | None: ...  # how many rows these stand for, if that is known
    def is_wide(self) -> bool: ...  # M is AAᵀ
    def column_moments(self, n_threads: int) -> ColumnMoments: ...
    def sizes_at(self, columns: np.ndarray) -> np.ndarray: ...  # the largest |x| of some columns
    def operator(self, scaling: Scaling, n_threads: int) -> Operator: ...  # B → M B


class RowSource(Source, Protocol):
    """A source that can also be read row by row."""

    def moments(self, n_threads: int) -> Iterator[tuple[Moments, bool]]: ...  # of the rows so far; are these all?
    def feature_operator(self, scaling: Scaling, n_threads: int) -> Operator: ...  # B → AᵀA B
    def batches(self, n_rows: int, n_epochs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]: ...
    def sizes(self) -> np.ndarray: ...  # the largest |x| of each column
    def divided(self, units: Units) -> RowSource: ...


class WideSource(Source, Protocol):
    """A source that has all rows at hand, so that AAᵀ can be made."""

    def gram(self, scaling: Scaling, n_threads: int) -> Iterator[tuple[np.ndarray, bool]]: ...  # of the columns so far
    def to_feature_space(self, vectors: np.ndarray, scaling: Scaling, n_threads: int) -> np.ndarray: ...  # Aᵀu


def known_shape(source: Source) -> tuple[int, int]:
    """Return rows and columns of a source that knows both before it is read."""
    n_rows, n_columns = source.shape
    assert n_rows is not None  # only a stream of rows may not know it, and nobody asks that
    return n_rows, n_columns


def operator_size(source: Source) -> int:
    """Return how many rows M has."""
    return known_shape(source)[0] if source.is_wide() else source.shape[1]


@dataclass(frozen=True)
class InMemory:
    """A table in memory, dense or csr; ``holes`` are the rows and columns of values that are missing, if any are."""

    X: Any
    weights: np.ndarray
    check: Callable[[], None]  # asked for its sentence when a mean is not a number
    holes: tuple[np.ndarray, np.ndarray] | None = None
    n_filled: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def weight(self) -> int:
        """Return how many rows these stand for."""
        return int(self.weights.sum())

    def is_wide(self) -> bool:
        """Return whether AAᵀ is the smaller of the two matrices."""
        return self.X.shape[0] < self.X.shape[1]

    def moments(self, n_threads: int) -> Iterator[tuple[Moments, bool]]:
        """Yield the moments of the rows so far, and whether these are all."""
        n, d = self.shape
        total = no_moments(d)
        for rows in row_blocks(n, max(1, CHUNK_VALUES // d)):
            with trying():
                total = merged(total, moments_of(self.X[rows], self.weights[rows], n_threads))
            self.check_finite(total.mean)
            yield total, rows.stop == n

    def column_moments(self, n_threads: int) -> ColumnMoments:
        with trying():
            columns = column_moments_of(self.X, self.weights, n_threads)
        self.check_finite(columns.mean)
        return columns

    def sizes(self) -> np.ndarray:
        """Return the largest |x| of each column."""
        return largest_sizes(self.X)

    def sizes_at(self, columns: np.ndarray) -> np.ndarray:
        """Return the largest |x| of some columns."""
        return largest_sizes(self.X[:, columns])

    def some_rows(self, n_rows: int) -> InMemory:
        """Return a table of so many rows, taken evenly from all."""
        rows = np.linspace(0, self.shape[0] - 1, n_rows).round().astype(np.intp)
        return replace(self, X=self.X[rows], weights=self.weights[rows], holes=None)

    def divided(self, units: Units) -> InMemory:
        """Return the table in other units."""
        return replace(self, X=divided(self.X, units))

    def check_finite(self, mean: np.ndarray) -> None:
        """Raise where a mean is not finite: every number went into one, so NaN and infinity show there."""
        if not np.isfinite(mean).all():
            self.check()

    def centred(self, scaling: Scaling) -> Centred:
        return Centred(self.X, np.sqrt(self.weights), scaling.columns.mean, scaling.scale)

    def operator(self, scaling: Scaling, n_threads: int) -> Operator:
        A = self.centred(scaling)
        if self.is_packed():
            grid = grid_of(self.X)
            codes = None if grid is None else pack_quantized(A, grid, n_threads)
            if codes is not None:
                return lambda B: normal_of_packed_quantized(codes, B, n_threads)
            blocks = packed(A, n_threads)
            return lambda B: normal_of_packed(blocks, B, n_threads)
        normal = normal_by_columns if self.is_wide() else normal_by_rows
        return lambda B: normal(A, B, n_threads)

    def is_packed(self) -> bool:
        """Return whether a copy of A by blocks of columns is worth its memory."""
        return self.is_wide() and not sparse.issparse(self.X) and self.X.nbytes <= PACKED_BYTES

    def feature_operator(self, scaling: Scaling, n_threads: int) -> Operator:
        """Return AᵀA, also where AAᵀ is smaller."""
        return lambda B: normal_by_rows(self.centred(scaling), B, n_threads)

    def batches(self, n_rows: int, n_epochs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield so many rows at a time with their weights, in a new order in each epoch."""
        rng = np.random.default_rng(seed)
        for _ in range(n_epochs):
            order = rng.permutation(self.weights.size)
            for rows in row_blocks(order.size, n_rows):
                batch = self.X[order[rows]]
                yield batch.toarray() if sparse.issparse(batch) else batch, self.weights[order[rows]]

    def gram(self, scaling: Scaling, n_threads: int) -> Iterator[tuple[np.ndarray, bool]]:
        """Yield AAᵀ over the columns so far, and whether these are all."""
        A = self.centred(scaling)
        n, d = self.shape
        if sparse.issparse(self.X):
            yield gram_of(A, slice(0, d), n_threads), True
            return
        total = np.zeros((n, n))
        for columns in row_blocks(d, max(n, GRAM_WORK // n**2)):
            total += gram_of(A, columns, n_threads)
            yield total, columns.stop == d

    def int8_grams(self, scaling: Scaling, n_threads: int) -> Iterator[tuple[np.ndarray, bool]]:
        """Yield AAᵀ of a dense table over the columns so far, approximately: from bytes."""
        for total, n_seen in int8_grams(self.centred(scaling), n_threads):
            yield total, n_seen == self.shape[1]

    def both_ways(self, scaling: Scaling, n_threads: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return the function of B that returns AᵀB and AAᵀB of a dense table."""
        return lambda B: products_both_ways(self.centred(scaling), B, n_threads)

    def to_feature_space(self, vectors: np.ndarray, scaling: Scaling, n_threads: int) -> np.ndarray:
        """Return Aᵀu for every column u."""
        return column_products(self.centred(scaling), vectors, n_threads)

    def feature_space_lengths(self, vectors: np.ndarray, scaling: Scaling, n_threads: int) -> np.ndarray:
        """Return ‖Aᵀu‖ for every column u, of a dense table."""
        return feature_space_lengths(self.centred(scaling), vectors, n_threads)


@dataclass(frozen=True)
class RowStream:
    """Blocks of rows, as often as needed; ``results(work)`` yields ``work(rows, their weights)`` of each."""

    n_rows: int | None
    n_columns: int
    dtype: np.dtype
    results: Callable[[Callable[[np.ndarray, np.ndarray], Any]], Iterator[Any]]
    check_end: Callable[[ColumnMoments | Moments], None]  # raises where all rows together are not enough
    total_weight: float | None = None  # None: each row counts once

    @property
    def shape(self) -> tuple[int | None, int]:
        return self.n_rows, self.n_columns

    def weight(self) -> int | None:
        """Return how many rows these stand for, if that is known before they are read."""
        return self.n_rows if self.total_weight is None else int(self.total_weight)

    def is_wide(self) -> bool:
        return False

    def moments(self, n_threads: int) -> Iterator[tuple[Moments, bool]]:
        """Yield the moments of the rows so far, and whether these are all."""
        total = no_moments(self.n_columns)
        for of_block in self.results(partial(moments_of_rows, n_threads)):
            with trying():
                total = merged(total, of_block)
            if total.weight > 1.0 and total.n_rows != self.n_rows:
                yield total, False
        self.check_end(total)
        yield total, True

    def column_moments(self, n_threads: int) -> ColumnMoments:
        total = no_column_moments(self.n_columns)
        for of_block in self.results(partial(column_moments_of_rows, n_threads)):
            with trying():
                total = merged_columns(total, of_block)
        self.check_end(total)
        return total

    def sizes(self) -> np.ndarray:
        """Return the largest |x| of each column, by one more pass."""
        return np.max(list(self.results(sizes_of_rows)), axis=0)

    def sizes_at(self, columns: np.ndarray) -> np.ndarray:
        """Return the largest |x| of some columns."""
        return self.sizes()[columns]

    def divided(self, units: Units) -> RowStream:
        """Return the stream in other units."""
        results = self.results
        return replace(self, results=lambda work: results(partial(of_divided_rows, work, units)))

    def operator(self, scaling: Scaling, n_threads: int) -> Operator:
        def product(B: np.ndarray) -> np.ndarray:
            total = np.zeros((self.n_columns, B.shape[1]))
            for of_block in self.results(partial(normal_of_rows, scaling, B, n_threads)):
                total += of_block
            return total

        return product

    feature_operator = operator

    def batches(self, n_rows: int, n_epochs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield so many rows at a time with their weights, once, in the order of the stream."""
        for block, weights in self.results(as_they_are):
            for rows in row_blocks(block.shape[0], n_rows):
                yield block[rows], weights[rows]


# what is computed of a block of rows: functions of the module, as another process gets them by name


def moments_of_rows(n_threads: int, rows: np.ndarray, weights: np.ndarray) -> Moments:
    """Return the moments of a block."""
    with trying():
        return moments_of(rows, weights, n_threads)


def column_moments_of_rows(n_threads: int, rows: np.ndarray, weights: np.ndarray) -> ColumnMoments:
    """Return the moments of the columns of a block."""
    with trying():
        return column_moments_of(rows, weights, n_threads)


def sizes_of_rows(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the largest |x| of each column of a block."""
    return largest_sizes(rows)


def normal_of_rows(
    scaling: Scaling, B: np.ndarray, n_threads: int, rows: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return what a block adds to AᵀA B."""
    A = Centred(rows, np.sqrt(weights), scaling.columns.mean, scaling.scale)
    return normal_by_rows(A, B, n_threads)


def of_divided_rows(
    work: Callable[[np.ndarray, np.ndarray], Any], units: Units, rows: np.ndarray, weights: np.ndarray
) -> Any:
    """Return the result of a block in other units."""
    return work(divided(rows, units), weights)


def as_they_are(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a block with its weights."""
    return rows, weights


@dataclass(frozen=True)
class ColumnStream:
    """Blocks of columns, each with all rows: genotypes as PLINK stores them."""

    n_rows: int
    n_columns: int
    dtype: np.dtype
    weights: np.ndarray
    blocks: Callable[[], Iterator[np.ndarray]]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_columns

    def weight(self) -> int:
        """Return how many rows these stand for."""
        return int(self.weights.sum())

    def is_wide(self) -> bool:
        return True

    def column_moments(self, n_threads: int) -> ColumnMoments:
        parts = [column_moments_of(block, self.weights, n_threads) for block in ahead(self.blocks())]
        mean, squares = (np.concatenate([getattr(part, name) for part in parts]) for name in ("mean", "squares"))
        return ColumnMoments(self.n_rows, parts[0].weight, mean, squares)

    def sizes_at(self, columns: np.ndarray) -> np.ndarray:
        """Return nothing: where counts of alleles are only zeros, no tiny numbers are behind them."""
        return np.zeros(columns.size)

    def _centred(self, scaling: Scaling) -> Iterator[Centred]:
        start, roots = 0, np.sqrt(self.weights)
        for block in ahead(self.blocks()):
            columns = slice(start, start + block.shape[1])
            yield Centred(block, roots, scaling.columns.mean[columns], scaling.scale[columns])
            start = columns.stop

    def operator(self, scaling: Scaling, n_threads: int) -> Operator:
        def product(B: np.ndarray) -> np.ndarray:
            total = np.zeros((self.n_rows, B.shape[1]))
            for A in self._centred(scaling):
                total += normal_by_columns(A, B, n_threads)
            return total

        return product

    def gram(self, scaling: Scaling, n_threads: int) -> Iterator[tuple[np.ndarray, bool]]:
        """Yield AAᵀ over the columns so far, and whether these are all."""
        total, n_seen = np.zeros((self.n_rows, self.n_rows)), 0
        for A in self._centred(scaling):
            n_seen += A.X.shape[1]
            total += gram_of(A, slice(0, A.X.shape[1]), n_threads)
            yield total, n_seen == self.n_columns

    def to_feature_space(self, vectors: np.ndarray, scaling: Scaling, n_threads: int) -> np.ndarray:
        """Return Aᵀu for every column u."""
        return np.concatenate([column_products(A, vectors, n_threads) for A in self._centred(scaling)])
