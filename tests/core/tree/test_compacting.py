"""A table of its own for some rows: the same numbers, ranked anew, and in an order that every split keeps."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.tree.compacting import compacted, compacted_entries, move_orders, rows_by_code
from tests.core.tree import cases
from tests.core.tree.roots import SHARES


def coded_rows(seed, rare_share):
    """Return a coded table of numbers and categories, and some of its rows in any order."""
    data = cases.table(seed, "gini", n_rows=40, n_features=6)
    X, categories = cases.with_categories(np.random.default_rng(seed), data.X)
    data = data._replace(X=X, categories=categories)
    n_rows = (1, 2, 3, 5, 20, 40)[seed % 6]
    rows = np.random.default_rng(seed).permutation(40)[:n_rows].astype(np.int32)
    return cases.binned(data, rare_share=rare_share).codes, rows


def meanings(codes, at, rows):
    """Return the feature's code of each row in one column."""
    return codes.meaning[codes.start[at] + codes.columns[at, rows].astype(int)]


def entries_of(codes, row, slots=None):
    """Return what a row has that is rare: features and codes, perhaps only those of some slots."""
    own = codes.entries[codes.entry_start[row] : codes.entry_start[row + 1]]
    own = own if slots is None else [slot for slot in own if slot in slots]
    return [(int(codes.slot_feature[slot]), int(codes.slot_code[slot])) for slot in own]


@pytest.mark.parametrize("rare_share", [-1.0, *SHARES])
@pytest.mark.parametrize("seed", range(12))
def test_columns_mean_the_same_and_constant_ones_are_gone(seed, rare_share):
    codes, rows = coded_rows(seed, rare_share)
    own = compacted(codes, rows, True)
    varying = [at for at in range(codes.feature.size) if len(set(codes.columns[at, rows])) > 1]
    assert_array_equal(own.feature, codes.feature[varying])
    for new, old in enumerate(varying):
        assert_array_equal(meanings(own, new, np.arange(rows.size)), meanings(codes, old, rows))
        assert_array_equal(np.unique(own.columns[new]), np.arange(own.start[new + 1] - own.start[new]))
        assert_array_equal(own.columns[new], np.unique(codes.columns[old, rows], return_inverse=True)[1])
    assert own.meaning.size == own.start[-1]


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("seed", range(12))
def test_slots_that_all_or_none_have_are_gone(seed, rare_share):
    codes, rows = coded_rows(seed, rare_share)
    own = compacted(codes, rows, False)
    having = [entries_of(codes, row) for row in rows]
    n_having = {entry: sum(entry in row for row in having) for row in having for entry in row}
    varying = {entry for entry, n in n_having.items() if n < rows.size}
    assert {*zip(own.slot_feature.tolist(), own.slot_code.tolist(), strict=True)} == varying
    for i, row in enumerate(having):
        assert entries_of(own, i) == [entry for entry in row if entry in varying]
    _, _, slots = compacted_entries(codes, rows)
    assert_array_equal(slots, np.unique(slots))


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_each_column_is_numpys(seed):
    codes, rows = coded_rows(seed, 0.5)
    own = compacted(codes, rows, True)
    assert_array_equal(own.order, np.argsort(own.columns, axis=1, kind="stable"))
    assert_array_equal(rows_by_code(own.columns, own.start), own.order)
    assert compacted(codes, rows, False).order.shape == (0, 0)


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("seed", range(6))
def test_twice_is_once(seed, rare_share):
    codes, rows = coded_rows(seed, rare_share)
    some = np.arange(rows.size, dtype=np.int32)[:: 2 if rows.size > 3 else 1]
    for twice, once in zip(
        compacted(compacted(codes, rows, False), some, True), compacted(codes, rows[some], True), strict=True
    ):
        assert_array_equal(twice, once)


@pytest.mark.parametrize("seed", range(10))
def test_both_sides_of_a_split_keep_the_order_of_every_column(seed):
    rng = np.random.default_rng(seed)
    n_rows, start = 30, int(rng.integers(0, 8))
    columns = rng.integers(5, size=(4, n_rows)).astype(np.uint16)
    outside = rng.permutation(n_rows)[:start]  # rows of another node, which stand first
    inside = np.setdiff1d(np.arange(n_rows), outside)
    own = np.array([inside[np.argsort(column[inside], kind="stable")] for column in columns])
    order = np.hstack([np.tile(outside, (4, 1)), own]).astype(np.uint16)
    rows = rng.permutation(inside).astype(np.int32)
    n_left = int(rng.integers(1, inside.size))
    move_orders(order, rows, start, n_left, np.empty(n_rows, dtype=bool), np.empty(n_rows, dtype=np.int32))
    assert_array_equal(order[:, :start], np.tile(outside, (4, 1)))
    for at in range(4):
        for side, found in (
            (rows[:n_left], order[at, start : start + n_left]),
            (rows[n_left:], order[at, start + n_left :]),
        ):
            side = np.sort(side)
            assert_array_equal(found, side[np.argsort(columns[at, side], kind="stable")])
