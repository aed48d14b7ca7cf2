"""Sums of products of bytes, in integers: four times as many an instruction as of float32 numbers, and exact.

    codes      int8 from -127 to 127      [ row 0 ][ row 1 ] …     WORD bytes are read at once; zeros fill up
    a tile     4 x 4 rows: 16 sums side by side, so that every word that is read is used four times

The instruction (VNNI) multiplies bytes without a sign by bytes with one: Σ (a + 128) b = Σ a b + 128 Σ b, and the
last sum is known. Where a machine lacks it, the same integers come from narrower instructions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import code_features, instructions_in, njit
from eigenwood.core.threads import results_of, row_blocks

instructions_in("eigenwood.core.llvm.bytes")

VNNI = "avx512vnni"
WORD = 64  # bytes
TILE = 4  # rows
BLOCK_CODES = 4032  # codes of a row that are summed as integers: 63 words, because rows that start a power of two apart
# drive each other from the cache; below 2**31 / 2**15, so that no sum is too large
NEAR_ROWS = 128  # so many rows are met by all others before the next ones: they stay in the cache
OFFSET = 128  # makes a code a number without a sign


def multiplies_bytes() -> bool:
    """Return whether this process has code with the instruction; without it, integers are slower than float32."""
    return VNNI in code_features()


def padded_to_words(n_bytes: int) -> int:
    """Return the length of a row of so many codes with the zeros that fill its last word."""
    return -(-n_bytes // WORD) * WORD


def padded_to_tiles(n_rows: int) -> int:
    """Return how many rows of codes there are with those of zeros that fill the last tile."""
    return -(-n_rows // TILE) * TILE


class CodeBlocks(NamedTuple):
    """Rows of codes, cut into blocks of columns with one table of codes for each."""

    codes: np.ndarray  # (n_blocks, rows padded to tiles, codes padded to words), int8
    sums: np.ndarray  # (n_blocks, n_rows), of the codes of a row
    factors: np.ndarray  # (n_blocks, n_rows): a code stands for so many times itself


def empty_code_blocks(n_blocks: int, n_rows: int, length: int) -> CodeBlocks:
    """Return blocks of codes, all of them 0."""
    codes = np.zeros((n_blocks, padded_to_tiles(n_rows), min(BLOCK_CODES, padded_to_words(length))), dtype=np.int8)
    return CodeBlocks(codes, np.zeros((n_blocks, n_rows), dtype=np.int64), np.ones((n_blocks, n_rows)))


def add_block_products(blocks: CodeBlocks, n_blocks: int, total: np.ndarray, n_threads: int = 1) -> None:
    """Add the products of all rows over the first blocks to ``total``, in integers within a block.

    The rows are met by others in tasks that share nothing, and each sum grows block by block: the bits do not depend on
    the threads.
    """

    def add(rows: slice) -> None:
        for p in range(n_blocks):
            add_products(blocks.codes[p], blocks.sums[p], blocks.factors[p], rows.start, rows.stop, total)

    tasks = row_blocks(blocks.codes.shape[1], NEAR_ROWS)
    results_of(add, tasks[::-1], n_threads)  # the last meet most others
    mirror(total)


@njit
def mirror(total):
    """Write what is above the diagonal below it."""
    for i in range(total.shape[0]):
        for j in range(i):
            total[i, j] = total[j, i]


@njit
def add_products(codes, sums, factors, rows_from, rows_to, total):
    """Add f_i f_j Σ c_i c_j to ``total``, for j in a range of rows that starts at a tile and all i up to j's tile.

    ``codes`` has rows padded to tiles; ``sums`` and ``factors`` have one entry for each row of ``total``.
    """
    products = np.empty((TILE, TILE), dtype=np.int32)
    n_rows = sums.size
    for i in range(0, rows_to, TILE):
        for j in range(max(rows_from, i), rows_to, TILE):
            write_tile(codes, i, j, products)
            for q in range(j, min(j + TILE, n_rows)):
                beyond = OFFSET * sums[q]
                for p in range(i, min(i + TILE, n_rows)):
                    total[p, q] += factors[p] * factors[q] * (products[p - i, q - j] - beyond)


def write_tile(codes, i, j, products):
    """Write Σ (c_p + 128) c_q for the rows p of the tile at ``i`` and q of the one at ``j``."""
    one, other = codes[i : i + TILE].astype(np.int32), codes[j : j + TILE].astype(np.int32)
    products[:] = (one + OFFSET) @ other.T
