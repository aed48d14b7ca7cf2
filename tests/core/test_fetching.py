"""Asking for memory changes nothing, wherever it is asked."""

import numpy as np
from numba import njit

from eigenwood.core.fetching import fetch_row


@njit
def fetched(table, rows):
    for i in rows:
        fetch_row(table, i)
    return table.sum()


def test_asking_for_rows_changes_nothing():
    table = np.arange(5 * 200, dtype=np.uint8).reshape(5, 200)
    before = table.copy()
    for rows in (np.arange(5), np.array([4, 0, 4], dtype=np.int32), np.arange(2, dtype=np.uint32)):
        assert fetched(table, rows) == before.sum()
    np.testing.assert_array_equal(table, before)
    assert fetch_row(table, 0) is None  # without a compiler there is nothing to do
