"""A wide table whose numbers lie on a uniform grid (``quantized``), packed as bytes: a quarter of float32 to read.

x     = low + step (base_j + c)         base_j: the level nearest to the mean of the column; c: a byte
a     = √w (step c - rest_j) / σ_j      rest_j = μ_j - low - step base_j, at most half a step: no digits cancel

AᵀB   = (step CᵀB' - rest 1ᵀB') / σ                        B' = √w B
AAᵀB  = √w (C z - 1 restᵀt),  z = step t,  t = AᵀB / σ     block of columns by block, as in ``packed``
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.centred import Centred, summed
from eigenwood.core.spectral.moments import even_slices
from eigenwood.core.spectral.packed import (
    BLOCKS_OF_A_CALL,
    GROUP,
    add_combined,
    in_groups,
    packed_width,
    sums_of,
    turn_to_image,
    uncentred_sums,
    write_products,
)
from eigenwood.core.spectral.quantized import UniformGrid, grid_constants, level_of
from eigenwood.core.threads import results_of, row_blocks

FARTHEST = 127  # levels from a base
BLOCKS_AT_ONCE = 16  # while packing


class PackedQuantized(NamedTuple):
    """Blocks of columns; behind the last column there are zeros."""

    blocks: np.ndarray  # (n_blocks, n, width), int8
    roots: np.ndarray  # (n,) √w
    step: np.ndarray  # (n_blocks, width): step / σ
    rest: np.ndarray  # (n_blocks, width): rest / σ


def pack_quantized(A: Centred, grid: UniformGrid, n_threads: int = 1) -> PackedQuantized | None:
    """Return a dense A as bytes; None if a number lies on no level, or too far from its column's base."""
    n, d = A.X.shape
    width = packed_width(n, 1)
    blocks = np.empty((-(-d // width), n, width), dtype=np.int8)
    base = np.rint((A.mean - grid.low) / grid.step)
    constants, bases = grid_constants(grid, A.X.dtype), base.astype(A.X.dtype)

    def pack(some: slice) -> bool:
        return write_quantized(A.X, some.start * width, constants, bases, blocks[some])

    if not all(results_of(pack, row_blocks(blocks.shape[0], BLOCKS_AT_ONCE), n_threads)):
        return None
    rest = A.mean - (grid.low + grid.step * base)
    step, rest = (in_blocks(values / A.scale, blocks, A.X.dtype) for values in (np.full(d, grid.step), rest))
    return PackedQuantized(blocks, A.roots, step, rest)


def in_blocks(values: np.ndarray, blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a number for each column as rows of the blocks' width, zeros behind the last."""
    padded = np.zeros((blocks.shape[0], blocks.shape[2]), dtype=dtype)
    padded.reshape(-1)[: values.size] = values
    return padded


def normal_of_packed_quantized(packed: PackedQuantized, B: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Return AAᵀ B, shape (n, b), in float64."""
    vectors = in_groups(packed.roots[:, None] * B, packed.step.dtype)
    sums = sums_of(vectors)

    def work(some: slice, total: np.ndarray) -> None:
        products = np.empty((GROUP, packed.step.shape[1]), dtype=vectors.dtype)
        add_quantized_normals(packed.blocks[some], packed.step[some], packed.rest[some], vectors, sums, products, total)

    shape = vectors.shape[0], vectors.shape[1] + 1
    total = summed(work, even_slices(packed.blocks.shape[0], BLOCKS_OF_A_CALL), shape, n_threads)
    return uncentred_sums(total, packed.roots)[:, : B.shape[1]]


@njit
def write_quantized(X, first_column, constants, base, blocks):
    """Write c of some blocks of columns, and zeros beyond the last column; return whether all numbers have one."""
    n_blocks, n_rows, width = blocks.shape
    low, step, per_step, most_beside, nowhere = constants[0], constants[1], constants[2], constants[3], constants[4]
    for i in range(n_rows):
        n_beside = 0
        for q in range(n_blocks):
            first = first_column + q * width
            n_here = min(width, X.shape[1] - first)
            values, bases, out = X[i, first : first + n_here], base[first : first + n_here], blocks[q, i]
            for j in range(n_here):
                code = level_of(values[j], low, step, per_step, most_beside, nowhere) - bases[j]
                n_beside += not abs(code) <= FARTHEST
                out[j] = np.int32(code)
            for j in range(n_here, width):
                out[j] = 0
        if n_beside > 0:
            return False
    return True


@njit
def add_quantized_normals(blocks, step, rest, vectors, sums, products, total):
    """Add C z of each vector to ``total`` for some blocks, and restᵀt behind it; there are whole groups of vectors."""
    n_blocks, n_rows, width = blocks.shape
    for p in range(n_blocks):
        for first in range(0, vectors.shape[0], GROUP):
            out = total[first : first + GROUP]
            write_products(blocks[p], 0, width, None, vectors[first : first + GROUP], products)
            for g in range(GROUP):
                out[g, n_rows] += turn_to_image(products[g], step[p], rest[p], sums[first + g])
                products[g] *= step[p]
            add_combined(blocks[p], 0, width, None, products, out)
