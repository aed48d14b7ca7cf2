"""Histograms: sums of whole numbers that nothing overflows, in any order; rounding is right on average."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.boosting import histogram
from eigenwood.core.boosting.histogram import (
    FLAT,
    FLAT_ROWS,
    NARROW,
    NARROW_ROWS,
    WIDE,
    add_to_histogram,
    bins_of,
    form_of,
    subtract,
    sums_in,
    write_words,
)
from eigenwood.core.boosting.rounds import MOST_FLAT_SUM, MOST_SUM
from tests.core.boosting.cases import boost, follow, table_of

BITS = 13  # of a quantised gradient, at most
COMPILED = not config.DISABLE_JIT


def rounded(gradients, hessians, flat, seed=1, scale=1.0, hashes=None):
    """Return gradients and hessians as whole numbers side by side."""
    words = np.empty(gradients.size, dtype=np.int64)
    hashes = np.arange(gradients.size, dtype=np.uint64) << np.uint64(40) if hashes is None else hashes
    write_words(gradients, hessians, hashes, scale, scale, flat, np.uint64(seed), 0, gradients.size, words)
    return words


def parts_of(words, form=NARROW):
    """Return rows, hessians and gradients that words hold; those of two words stand one below the other."""
    first, second = (words[0], words[1]) if form == WIDE else (words, words)
    return getattr(sums_in, "py_func", sums_in)(form, first, second)


def summed(form, table, words, rows, group):
    """Return the histograms of one group of columns: new ones, where others stood, and more rows added to them."""
    out, packed = np.zeros((2, int(table.bin_start[-1])), dtype=np.int64), np.zeros(2048, dtype=np.int64)
    first, last = bins_of(table.bin_start, group)
    out[: 2 if form == WIDE else 1, first:last] = 99
    n = rows.size - rows.size // 3
    add_to_histogram(form, table.codes, group, words, rows[:n], table.bin_start, packed, True, out)
    add_to_histogram(form, table.codes, group, words, rows[n:], table.bin_start, packed, False, out)
    assert not packed.any()
    return out


def test_words_hold_whole_numbers_as_they_are():
    g = np.array([0.0, 1.0, -1.0, 4095.0, -4095.0, 17.0])
    h = np.array([0.0, 1.0, 4095.0, 2.0, 3.0, 0.0])
    assert_array_equal(parts_of(rounded(g, h, False)), [np.ones(6), h, g])
    assert_array_equal(parts_of(rounded(g, h, True), FLAT), [np.ones(6), np.ones(6), g])


def test_as_many_rows_as_a_word_can_hold_do_not_overflow_it():
    """Gradients and hessians as large as they get, of both signs, also where -levels is rounded down."""
    levels = float((1 << BITS) - 1)
    for g in (levels, -levels - 1.0):
        words = rounded(np.full(NARROW_ROWS, g), np.full(NARROW_ROWS, levels), False)
        assert_array_equal(parts_of(words.sum()), [NARROW_ROWS, NARROW_ROWS * levels, NARROW_ROWS * g])


@pytest.mark.parametrize("form", [FLAT, NARROW, WIDE])
@pytest.mark.parametrize("n_columns", [1, 3, 8, 9, 17] if COMPILED else [1, 9])
def test_histograms_are_sums_by_bin(n_columns, form):
    n_rows = (NARROW_ROWS if form == NARROW else 2 * NARROW_ROWS + 5) if COMPILED else 60
    rng = np.random.default_rng(n_columns)
    X = rng.integers(0, [2 + 40 * (j % 7) for j in range(n_columns)], size=(n_rows, n_columns)).astype(float)
    table, _, _ = table_of(X)
    g, h = rng.integers(-4095, 4096, size=n_rows).astype(float), rng.integers(4096, size=n_rows).astype(float)
    h = np.ones(n_rows) if form == FLAT else h
    words, rows = rounded(g, h, form == FLAT), rng.permutation(n_rows)[: n_rows - 7].astype(np.uint32)
    found = np.sum([summed(form, table, words, rows, group) for group in range(table.codes.shape[0])], axis=0)
    for column in range(table.bin_start.size - 1):
        own = found[:, table.bin_start[column] : table.bin_start[column + 1]]
        codes = (table.codes[column // 8] >> np.uint64(8 * (column % 8))).astype(np.int64) & 255
        parts = parts_of(own if form == WIDE else own[0], form)
        for part, each in zip(parts, (np.ones(n_rows), h, g), strict=True):
            assert_array_equal(part, np.bincount(codes[rows], each[rows], part.size))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("n_part", [20, 4000, 5000] if COMPILED else [20])
def test_a_node_without_one_child_is_the_other(flat, n_part):
    """The smaller child is left out. Words of a large node hold other things than those of its children."""
    n_rows = 3 * NARROW_ROWS if COMPILED else 60
    rng = np.random.default_rng(n_part)
    X = rng.integers(40, size=(n_rows, 3)).astype(float)
    table, _, _ = table_of(X)
    g = rng.integers(-4095, 4096, size=n_rows).astype(float)
    h = np.ones(n_rows) if flat else rng.integers(4096, size=n_rows).astype(float)
    words, rows = rounded(g, h, flat), rng.permutation(n_rows)[: n_rows - 7].astype(np.uint32)
    if not flat and n_part == 4000:
        rows = rows[:7500]  # both parts are small, both together are not
    forms = [form_of(flat, n) for n in (n_part, rows.size, rows.size - n_part)]
    parts = rows[:n_part], rows, rows[n_part:]
    part, whole, expected = (summed(form, table, words, own, 0) for form, own in zip(forms, parts, strict=True))
    subtract(part, forms[0], table.bin_start, 0, whole, forms[1], forms[2])
    n_words = 2 if forms[2] == WIDE else 1
    assert_array_equal(whole[:n_words], expected[:n_words])


def test_rounding_is_right_on_average():
    rng = np.random.default_rng(8)
    g, h, hashes = rng.normal(size=40), rng.uniform(size=40), rng.integers(1 << 63, size=40).astype(np.uint64)
    n_seeds, scale = 400, 3.0
    seeds = rng.integers(1 << 62, size=n_seeds)
    found = np.array([parts_of(rounded(g, h, False, int(seed), scale, hashes))[1:] for seed in seeds])
    assert (np.abs(found[:, 0] - scale * h) < 1.0).all()
    assert (np.abs(found[:, 1] - scale * g) < 1.0).all()
    error = 0.5 / np.sqrt(n_seeds)
    assert_allclose(found[:, 0].mean(axis=0), scale * h, atol=5 * error)
    assert_allclose(found[:, 1].mean(axis=0), scale * g, atol=5 * error)
    assert_allclose(found[:, 1].mean(), (scale * g).mean(), atol=5 * error / np.sqrt(40))


def test_rounding_depends_on_the_codes_of_a_row_and_not_on_its_place():
    rng = np.random.default_rng(9)
    X = rng.integers(4, size=(60, 3)).astype(float)
    table, _, _ = table_of(X)
    g, order = rng.normal(size=60), rng.permutation(60)
    mixed, _, _ = table_of(X[order])
    words = rounded(g, g * g, False, 5, 3.0, table.row_hash)
    assert_array_equal(rounded(g[order], g[order] ** 2, False, 5, 3.0, mixed.row_hash), words[order])
    assert (rounded(g, g * g, False, 6, 3.0, table.row_hash) != words).any()


@pytest.mark.skipif(not COMPILED, reason="takes minutes without the JIT")
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_bin_with_more_rows_than_32_bits_hold_at_full_precision(loss):
    """2^31 / 4,095 rows with the largest gradient or hessian are as many as one bin could hold."""
    n_rows = 1_300_000
    X = np.zeros((n_rows, 1))
    X[: n_rows // 2] = 1.0
    y = (X[:, 0] > 0) * 1.0
    found = boost(X, 2.0 * y - 1.0 if loss == "squared" else y, loss, max_leaves=2, base=0.0)
    assert found.nodes.whole[0, 0] > 0  # it is split
    gain = n_rows if loss == "squared" else n_rows  # ΣG²/H = n / 1, or n ¼ / ¼
    assert_allclose(found.nodes.real[0, 2], gain, rtol=1e-3)
    assert_allclose(np.abs(found.scores[0, [0, -1]]), [1.0, 1.0] if loss == "squared" else [2.0, 2.0])


def test_a_word_has_room_for_every_sum():
    """By the numbers of the module: Σg in the bits above, Σh and rows below, of as many rows as are added at once."""
    levels = (1 << BITS) - 1
    assert NARROW_ROWS * (levels + 1) <= 1 << (63 - int(histogram.GRADIENT_SHIFT))
    assert NARROW_ROWS * levels <= int(histogram.HESSIAN_MASK)
    assert int(histogram.COUNT_MASK) >= NARROW_ROWS
    assert int(histogram.HESSIAN_MASK) << int(histogram.HESSIAN_SHIFT) < 1 << int(histogram.GRADIENT_SHIFT)
    assert int(histogram.FLAT_MASK) >= 2 * (FLAT_ROWS - 1)
    assert 1 << (63 - int(histogram.FLAT_SHIFT)) >= MOST_FLAT_SUM
    assert int(histogram.WIDE_MASK) >= MOST_SUM


def test_gradients_that_are_whole_numbers_are_exact_in_a_fit():
    """What the other tests lean on: follow() does not round."""
    g, h = np.array([4095.0, -1.0, 2.0, -4.0]), np.array([1.0, 2.0, 4095.0, 4.0])
    found = follow(np.arange(4.0)[:, None], g, h)
    assert_array_equal(parts_of(found.run.work.rows.words), [np.ones(4), h, g])
