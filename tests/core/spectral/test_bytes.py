"""Products of bytes are those of integers, on any machine."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eigenwood.core.spectral import bytes as of_bytes
from eigenwood.core.spectral.bytes import (
    BLOCK_CODES,
    TILE,
    WORD,
    add_block_products,
    empty_code_blocks,
    padded_to_tiles,
    padded_to_words,
)
from tests.core.spectral.cases import THREADS

EXTREMES = (-128, -127, -1, 0, 1, 127)

ON_ANOTHER_MACHINE = """
import numpy as np
from eigenwood.core.spectral.bytes import add_block_products, multiplies_bytes, empty_code_blocks
assert not multiplies_bytes()
codes = np.random.default_rng(0).integers(-128, 128, size=(9, 500))
blocks = empty_code_blocks(1, 9, 500)
blocks.codes[0, :9, :500] = codes
blocks.sums[0] = codes.sum(axis=1)
total = np.zeros((9, 9))
add_block_products(blocks, 1, total)
assert (total == codes @ codes.T).all()
"""


def filled(codes, factors=None):
    """Return codes, shape (n_blocks, n_rows, length), as blocks."""
    n_blocks, n_rows, length = codes.shape
    blocks = empty_code_blocks(n_blocks, n_rows, length)
    blocks.codes[:, :n_rows, :length] = codes
    blocks.sums[:] = codes.sum(axis=2)
    blocks.factors[:] = 1.0 if factors is None else factors
    return blocks


def products(codes, factors):
    """Return the same entry by entry."""
    n_rows = codes.shape[1]
    total = np.zeros((n_rows, n_rows))
    for p in range(codes.shape[0]):
        for i in range(n_rows):
            for j in range(n_rows):
                dot = sum(int(a) * int(b) for a, b in zip(codes[p, i], codes[p, j], strict=True))
                total[i, j] += factors[p, i] * factors[p, j] * dot
    return total


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 64), (2, 4, 65), (1, 5, 63), (3, 9, 130), (1, 70, 3)])
def test_they_are_the_sums_of_products(shape):
    rng = np.random.default_rng(sum(shape))
    codes, factors = rng.integers(-128, 128, size=shape), 2.0 ** rng.integers(-3, 4, size=shape[:2])
    total = np.zeros((shape[1], shape[1]))
    add_block_products(filled(codes, factors), shape[0], total)
    assert_array_equal(total, products(codes, factors))  # powers of two: nothing is rounded


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 2 * TILE + 1),
    length=st.integers(1, 3 * WORD),
    codes=st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=64),
)
def test_extremes_do_not_overflow(rows, length, codes):
    table = np.resize(codes, (1, rows, length))
    total = np.zeros((rows, rows))
    add_block_products(filled(table), 1, total)
    assert_array_equal(total, table[0] @ table[0].T)
    assert_array_equal(total, total.T)


@pytest.mark.parametrize("code", EXTREMES)
def test_the_longest_piece_of_extremes_does_not_overflow(code):
    table = np.full((1, 2, BLOCK_CODES), code)
    total = np.zeros((2, 2))
    add_block_products(filled(table), 1, total)
    assert_array_equal(total, np.full((2, 2), BLOCK_CODES * code**2))


def test_only_the_first_pieces_are_added_and_to_what_was_there():
    codes = np.random.default_rng(3).integers(-9, 9, size=(2, 6, 20))
    total = np.ones((6, 6))
    add_block_products(filled(codes), 1, total)
    assert_array_equal(total, 1 + codes[0] @ codes[0].T)


def test_the_bits_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(4)
    blocks = filled(rng.integers(-128, 128, size=(3, 150, 100)), rng.uniform(0.1, 3.0, size=(3, 150)))
    totals = []
    for n_threads in THREADS:
        totals.append(np.zeros((150, 150)))
        add_block_products(blocks, 3, totals[-1], n_threads)
    for other in totals[1:]:
        assert_array_equal(other, totals[0])


def test_words_and_tiles_are_whole():
    assert [padded_to_words(n) for n in (1, WORD, WORD + 1)] == [WORD, WORD, 2 * WORD]
    assert [padded_to_tiles(n) for n in (1, TILE, TILE + 1)] == [TILE, TILE, 2 * TILE]


def test_python_and_compiled_tiles_are_the_same():
    codes = np.random.default_rng(5).integers(-128, 128, size=(2 * TILE, WORD)).astype(np.int8)
    expected = np.empty((TILE, TILE), dtype=np.int32)
    of_bytes.write_tile(codes, 0, TILE, expected)
    total, zeros = np.zeros((2 * TILE, 2 * TILE)), np.zeros(2 * TILE, dtype=np.int64)
    of_bytes.add_products(codes, zeros, np.ones(2 * TILE), TILE, 2 * TILE, total)
    assert_array_equal(total[:TILE, TILE:], expected)


def test_a_machine_without_the_instruction_finds_the_same(tmp_path):
    features = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", ON_ANOTHER_MACHINE], env=os.environ | features, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
