"""Likeness of neighbours: equal to plain loops, 1 for copies, 0 for noise, and its chance by counting all orders."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.runs.leaks.neighbours import (
    changes_of,
    label_likeness,
    log_chance_of,
    log_chance_of_ranks,
    mean_distance,
    order_of,
    rank_likeness,
)
from tests.naive import likeness as naive


def likeness_of_labels(values, codes):
    order = order_of(values)
    present = ~np.isnan(values)
    counts = np.array([np.bincount(codes[row], minlength=codes.max() + 1) for row in present], dtype=float)
    return label_likeness(changes_of(order, codes), counts)


@pytest.mark.parametrize("seed", range(5))
def test_label_likeness_equals_plain_loops(seed):
    rng = np.random.default_rng(seed)
    values, codes = rng.normal(size=(4, 40)), rng.integers(3, size=40)
    values[rng.random(values.shape) < 0.2] = np.nan
    expected = [naive.label_likeness(row, codes) for row in values]
    assert_allclose(likeness_of_labels(values, codes), expected)


@pytest.mark.parametrize("seed", range(5))
def test_rank_likeness_equals_plain_loops(seed):
    rng = np.random.default_rng(seed)
    values, ranks = rng.normal(size=(4, 40)), rng.integers(9, size=40) / 9
    expected = [naive.rank_likeness(row, ranks) for row in values]
    assert_allclose(rank_likeness(order_of(values), ranks), expected)


def test_a_copy_has_likeness_one_and_noise_about_none():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=3000)
    values = np.array([codes * -7.0, rng.normal(size=3000), codes % 2 * 1.0])
    copy, noise, part = likeness_of_labels(values, codes)
    assert copy == 1.0
    assert abs(noise) < 0.05
    assert 0.3 < part < 0.7


def test_likeness_falls_with_the_square_of_the_share_of_right_rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=20_000)
    values = codes * 1.0
    rows = np.flatnonzero(rng.random(codes.size) < 0.1)
    values[rows] = values[rng.permutation(rows)]
    assert_allclose(likeness_of_labels(values[None], codes), 0.9**2, atol=0.02)


def test_mean_distance_of_ranks_is_a_third():
    assert_allclose(mean_distance(np.arange(1, 5001) / 5000), 1 / 3, atol=1e-3)


@pytest.mark.parametrize("labels", ["aaabbb", "aaaabb", "aabbcc", "abbcccc"])
def test_chance_bounds_the_share_of_orders_and_is_exact_for_two_labels(labels):
    counts = np.array([labels.count(label) for label in sorted(set(labels))], dtype=float)
    for changes in range(counts.size - 1, len(labels) - 1):
        exact = naive.chance_of_changes(changes, labels)
        bound = np.exp(log_chance_of(changes, counts))
        assert bound >= exact - 1e-9
        if counts.size == 2:
            assert_allclose(bound, exact)


def test_one_label_has_no_chance_to_be_told():
    assert log_chance_of(0, np.array([30.0])) == 0.0


def test_noise_has_the_chance_that_is_claimed_for_ranks():
    rng = np.random.default_rng(0)
    values, ranks = rng.normal(size=(4000, 60)), np.arange(60) / 60
    found = rank_likeness(order_of(values), ranks)
    level = np.quantile(found, 0.99)
    assert 0.003 < np.exp(log_chance_of_ranks(level, 60)) < 0.03
