"""The rows of a node added up by code: as many and as heavy as the textbook's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.tree.criteria import GINI
from eigenwood.core.tree.split.histogram import (
    add_up_classes,
    add_up_sparse,
    add_up_targets,
    bins_of_rows,
    cleared,
    ordered_sparse_bins,
    place_of,
    write_groups,
)
from tests.core.tree import cases
from tests.core.tree.roots import sample_of, sums_of, table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_dense_columns_equal_the_textbook(seed, criterion, weighted):
    data = table(seed, criterion, weighted=weighted, n_classes=(2, 3), n_outputs=2)
    rows = np.random.default_rng(seed).permutation(len(data.X))[: len(data.X) // 2 + 1].astype(np.int32)
    codes, target = cases.binned(data, rare_share=-1.0).codes, cases.target_of(data)
    sample, n_sums = sample_of(target, rows, GINI), 5 if criterion == "gini" else 3
    assert codes.sparse_feature.size == 0
    for at in range(codes.feature.size):
        n_codes = int(np.diff(codes.start).max())
        sums, bits = np.zeros((n_codes, n_sums + 1)), np.zeros(n_codes // 64 + 1, dtype=np.uint64)
        if criterion == "gini":
            add_up_classes(codes.columns, at, rows, sample.class_codes, sample.weights, target.starts, sums, bits)
        else:
            add_up_targets(codes.columns, at, rows, sample.y, sample.weights, sums, bits)
        for code in range(n_codes):
            expected = sums_of(data, rows[codes.columns[at, rows] == code])
            assert_allclose(sums[code], expected, rtol=1e-12)
            assert (bits[code // 64] >> np.uint64(code % 64)) % np.uint64(2) == (expected[-1] > 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_thin_columns_equal_the_textbook(seed, criterion, weighted):
    data = table(seed, criterion, weighted=weighted, n_classes=(2, 3), n_outputs=2)
    rows = np.random.default_rng(seed).permutation(len(data.X))[: len(data.X) // 2 + 1].astype(np.int32)
    (codes, features), target = cases.binned(data, rare_share=1.0), cases.target_of(data)
    sample, total = sample_of(target, rows, GINI), sums_of(data, rows)
    n_sparse_bins = codes.sparse_feature.size
    sums, bits = np.zeros((n_sparse_bins + 1, total.size)), np.zeros(n_sparse_bins // 64 + 1, dtype=np.uint64)
    add_up_sparse(
        codes.entry_start,
        codes.entries,
        rows,
        sample.class_codes,
        sample.y,
        sample.weights,
        target.starts,
        sums,
        bits,
    )
    present = np.flatnonzero(sums[:n_sparse_bins, -1])
    group, order = np.empty(n_sparse_bins + 1, dtype=np.int64), np.empty(n_sparse_bins + 1, dtype=np.int64)
    group = group[: write_groups(present, present.size, codes.sparse_feature, group) + 1]
    assert_array_equal(codes.sparse_feature[present[group[:-1]]], np.unique(codes.sparse_feature[present]))
    for first, last in zip(group, group[1:], strict=False):
        feature = codes.sparse_feature[present[first]]
        n_order = ordered_sparse_bins(
            present,
            first,
            last,
            codes.sparse_code,
            features.common[feature],
            len(rows),
            total[:-1],
            sums,
            order,
        )
        bins = bins_of_rows(codes, rows, codes.feature.size, feature)
        column = data.X[rows, feature]
        values = [set(column[bins == line].astype(str)) for line in order[:n_order]]
        assert values == [{value} for value in np.unique(column).astype(str)]
        for line in order[:n_order]:
            assert_allclose(sums[line], sums_of(data, rows[bins == line]), rtol=1e-9, atol=1e-12)


def test_lines_are_cleared():
    sums = np.ones((5, 3))
    cleared(sums, np.array([3, 1, 0]), 2)
    assert_array_equal(sums.sum(axis=1), [3, 0, 3, 0, 3])


def test_the_place_of_a_value_is_numpys():
    ascending = np.array([0, 0, 2, 2, 2, 5])
    for value in range(-1, 7):
        assert place_of(ascending, value) == np.searchsorted(ascending, value)
