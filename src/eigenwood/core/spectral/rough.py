"""A rough AAᵀ: every row a row of bytes. It shows where the leading pairs are; exact products then settle them
(``refining``).

    columns    [ piece 0 ][ piece 1 ][ piece 2 ] …                  a few pieces are made into bytes at a time
    a piece    c = round(a / f),  f = largest |a| / 127             of a row, with a factor of its own
    AAᵀ        ≈ Σ f_i f_j Σ c_i c_j                                whole numbers in a piece, float64 between pieces

A number is off by f / 2 at most, here up and there down, so the sums are off by far less than their terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.spectral.bytes import Pieces, add_pieces, no_pieces
from eigenwood.core.spectral.centred import Centred, Narrow, narrow, write_centred_row
from eigenwood.core.threads import results_of, row_blocks

PIECES_AT_ONCE, ROWS_AT_ONCE = 4, 64  # that are made into bytes
LARGEST = 127  # of the codes


def rough_grams(A: Centred, n_threads: int = 1) -> Iterator[tuple[np.ndarray, int]]:
    """Yield a rough AAᵀ over the columns so far, and how many these are: the same array each time, of a dense A.

    >>> X = np.array([[1.0, 0.0, 3.0], [-1.0, 0.0, -3.0]])
    >>> [(gram.round(2).tolist(), n) for gram, n in rough_grams(Centred(X, np.ones(2), np.zeros(3), np.ones(3)))]
    [([[9.98, -9.98], [-9.98, 9.98]], 3)]
    """
    n, d = A.X.shape
    source, total, pieces = narrow(A), np.zeros((n, n)), no_pieces(PIECES_AT_ONCE, n, d)
    width = pieces.codes.shape[2]
    for columns in row_blocks(d, PIECES_AT_ONCE * width):
        write = partial(_write_codes, source, columns, pieces)
        results_of(write, row_blocks(n, ROWS_AT_ONCE), n_threads)
        add_pieces(pieces, -(-(columns.stop - columns.start) // width), total, n_threads)
        yield total, columns.stop


def _write_codes(source: Narrow, columns: slice, pieces: Pieces, rows: slice) -> None:
    centred = np.empty(pieces.codes.shape[2] + 1, dtype=source.X.dtype)
    write_codes(
        source.X[rows, columns],
        source.roots[rows],
        source.shift[columns],
        source.rest[columns],
        source.factor[columns],
        pieces.codes[:, rows],
        pieces.sums[:, rows],
        pieces.factors[:, rows],
        centred,
        centred.view(f"i{centred.itemsize}"),
    )


@njit
def write_codes(X, roots, shift, rest, factor, codes, sums, factors, centred, bits):
    """Write the codes of some rows piece by piece, their sums, and the factor of each row and piece.

    ``centred`` holds a piece, and behind it its largest size; ``bits`` are the same bytes as whole numbers.
    """
    n_rows, n_columns = X.shape
    width = codes.shape[2]
    for i in range(n_rows):
        for start in range(0, n_columns, width):
            stop, p = min(start + width, n_columns), start // width
            piece = centred[: stop - start]
            write_centred_row(
                X[i, start:stop], roots[i], shift[start:stop], rest[start:stop], factor[start:stop], piece
            )
            bits[width] = largest_without_sign(bits[: stop - start])
            largest = centred[width]
            factors[p, i] = largest / LARGEST
            sums[p, i] = write_rounded(piece, LARGEST / largest if largest > 0 else 0.0, codes[p, i])


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
