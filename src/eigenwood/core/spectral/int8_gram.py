"""An approximate AAᵀ from rows of bytes: it shows where the leading pairs are, and exact products settle them.

    columns    [ block 0 ][ block 1 ][ block 2 ] …                  a few blocks are made into bytes at a time
    a block    c = round(a / f),  f = largest |a| / 127             of a row, with a factor of its own
    AAᵀ        ≈ Σ f_i f_j Σ c_i c_j                                integers in a block, float64 between blocks

A number is off by f / 2 at most, here up and there down, so the sums are off by far less than their terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.bytes import CodeBlocks, add_block_products, empty_code_blocks
from eigenwood.core.spectral.centred import Centred, Narrow, narrow, write_centred_row
from eigenwood.core.threads import results_of, row_blocks

BLOCKS_AT_ONCE, ROWS_AT_ONCE = 4, 64  # that are made into bytes
LARGEST = 127  # of the codes


def int8_grams(A: Centred, n_threads: int = 1) -> Iterator[tuple[np.ndarray, int]]:
    """Yield an approximate AAᵀ over the columns so far, and how many these are: the same array each time, of a dense A.

    >>> X = np.array([[1.0, 0.0, 3.0], [-1.0, 0.0, -3.0]])
    >>> [(gram.round(2).tolist(), n) for gram, n in int8_grams(Centred(X, np.ones(2), np.zeros(3), np.ones(3)))]
    [([[9.98, -9.98], [-9.98, 9.98]], 3)]
    """
    n, d = A.X.shape
    source, total, blocks = narrow(A), np.zeros((n, n)), empty_code_blocks(BLOCKS_AT_ONCE, n, d)
    width = blocks.codes.shape[2]
    for columns in row_blocks(d, BLOCKS_AT_ONCE * width):
        write = partial(_write_codes, source, columns, blocks)
        results_of(write, row_blocks(n, ROWS_AT_ONCE), n_threads)
        add_block_products(blocks, -(-(columns.stop - columns.start) // width), total, n_threads)
        yield total, columns.stop


def _write_codes(source: Narrow, columns: slice, blocks: CodeBlocks, rows: slice) -> None:
    centred = np.empty(blocks.codes.shape[2] + 1, dtype=source.X.dtype)
    write_codes(
        source.X[rows, columns],
        source.roots[rows],
        source.shift[columns],
        source.rest[columns],
        source.factor[columns],
        blocks.codes[:, rows],
        blocks.sums[:, rows],
        blocks.factors[:, rows],
        centred,
        centred.view(f"i{centred.itemsize}"),
    )


@njit
def write_codes(X, roots, shift, rest, factor, codes, sums, factors, centred, bits):
    """Write the codes of some rows block by block, their sums, and the factor of each row and block.

    ``centred`` holds a block, and behind it its largest size; ``bits`` are the same bytes as integers.
    """
    n_rows, n_columns = X.shape
    width = codes.shape[2]
    for i in range(n_rows):
        for start in range(0, n_columns, width):
            stop, p = min(start + width, n_columns), start // width
            block = centred[: stop - start]
            write_centred_row(
                X[i, start:stop], roots[i], shift[start:stop], rest[start:stop], factor[start:stop], block
            )
            bits[width] = largest_without_sign(bits[: stop - start])
            largest = centred[width]
            factors[p, i] = largest / LARGEST
            sums[p, i] = write_rounded(block, LARGEST / largest if largest > 0 else 0.0, codes[p, i])


@njit
def largest_without_sign(bits):
    """Return the largest of the numbers without their signs: floats are in the order of their bits."""
    largest, all_but_sign = bits.dtype.type(0), bits.dtype.type(np.iinfo(bits.dtype).max)
    for j in range(bits.size):
        largest = max(largest, bits[j] & all_but_sign)
    return largest


@njit
def write_rounded(values, times, codes):
    """Write round(value times) to the codes and zeros behind them; return the sum."""
    factor, total = values.dtype.type(times), 0
    for j in range(values.size):
        codes[j] = np.int32(np.rint(values[j] * factor))
        total += codes[j]
    codes[values.size :] = 0
    return total
