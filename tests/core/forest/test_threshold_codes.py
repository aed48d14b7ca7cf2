"""Codes of numbers: how many thresholds are below them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.forest import threshold_codes
from eigenwood.core.forest.threshold_codes import CHUNK, HIGHEST, TILE, coded, write_codes

LARGEST, SMALLEST = np.finfo(np.float64).max, 5e-324
RNG = np.random.default_rng(0)
CUTS = {
    "one": [0.25],
    "two": [-1.0, 2.0],
    "around zero": [-SMALLEST, 0.0, SMALLEST],
    "even": np.arange(300) + 0.5,
    "clustered": np.append(1e-9 * RNG.random(200), [1.0, 1e6]),
    "skewed": np.exp(20 * RNG.normal(size=500)),
    "from end to end": [-LARGEST, -1.0, 0.0, 1.0, LARGEST],
    "infinite": [-np.inf, -1.0, 0.5, 3.0, np.inf],
    "neighbours": 1.0 + np.arange(20) * 2.0**-52,
}


def numbers_around(cuts):
    """Return the cuts, their neighbours, numbers between and beyond them, and the ends of all numbers."""
    cuts = np.asarray(cuts, dtype=np.float64)
    near = [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), cuts[:-1] / 2 + cuts[1:] / 2]
    near = [numbers[~np.isnan(numbers)] for numbers in near]
    far = [0.0, -0.0, 1.0, -1e300, 1e300, LARGEST, -LARGEST, np.inf, -np.inf]
    return np.concatenate([*near, far])


def codes_of(found, X):
    """Return the codes of rows as (n_rows, n_columns), and what was counted beside."""
    n_columns, n_chunks = found.feature.size, -(-X.shape[0] // CHUNK)
    codes = np.zeros(n_chunks * n_columns * CHUNK, dtype=np.uint16)
    counts = write_codes(X, found, codes)
    by_row = codes.reshape(n_chunks, n_columns, CHUNK).transpose(0, 2, 1).reshape(-1, n_columns)
    return by_row[: X.shape[0]].astype(np.int64), counts


def below(cuts, x):
    """The textbook: how many different cuts are below a number."""
    return sum(1 for cut in set(np.asarray(cuts, dtype=np.float64).tolist()) if cut < x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", CUTS)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # beyond the largest number is infinity
def test_a_code_counts_the_cuts_below(kind, dtype):
    cuts = RNG.permutation(np.repeat(CUTS[kind], 2))
    found, _ = coded(np.zeros(cuts.size, dtype=np.int64), cuts, np.ones(cuts.size, dtype=bool), np.array([False]))
    x = numbers_around(CUTS[kind]).astype(dtype)
    codes, (n_infinite, n_unforeseen) = codes_of(found, x[:, None])
    assert_array_equal(codes[:, 0], [below(cuts, float(number)) for number in x])
    assert n_infinite == np.isinf(x).sum()
    assert n_unforeseen == 0


def test_comparing_codes_answers_the_question():
    feature, threshold = RNG.integers(3, size=200), np.round(RNG.normal(size=200), 1)
    found, questions = coded(feature, threshold, np.ones(200, dtype=bool), np.zeros(3, dtype=bool))
    X = np.round(RNG.normal(size=(CHUNK + TILE + 5, 3)), 1)
    codes, _ = codes_of(found, X)
    assert_array_equal(codes[:, questions.column] >= questions.code, X[:, feature] > threshold)


def test_a_feature_that_nobody_asks_about_has_no_column():
    found, questions = coded(np.array([4, 1]), np.array([0.0, 0.5]), np.array([True, True]), np.zeros(6, dtype=bool))
    assert_array_equal(found.feature, [1, 4])
    assert_array_equal(questions.column, [1, 0])


def test_missing_numbers_have_the_lowest_or_the_highest_code():
    feature, default_left = np.array([0, 0, 1]), np.array([True, False, False])
    threshold = np.array([0.5, 0.5, 0.5])
    found, questions = coded(feature, threshold, default_left, np.array([True, True]))
    X = np.array([[np.nan, np.nan], [1.0, np.nan], [0.0, 0.0]])
    codes, counts = codes_of(found, X)
    assert counts == (0, 0)
    assert_array_equal(codes[:, questions.column], [[0, HIGHEST, HIGHEST], [1, 1, HIGHEST], [0, 0, 0]])


def test_missing_numbers_that_are_not_foreseen_are_counted():
    found, _ = coded(np.array([0, 1]), np.array([0.5, 0.5]), np.array([True, True]), np.array([True, False]))
    X = np.full((TILE + 3, 3), np.nan)
    X[0] = 0.0
    assert codes_of(found, X)[1] == (0, TILE + 2)  # nobody asks about the third feature


def test_more_cuts_than_codes(monkeypatch):
    questions = np.zeros(6, dtype=np.int64), np.arange(6) / 2, np.ones(6, dtype=bool), np.zeros(1, dtype=bool)
    monkeypatch.setattr(threshold_codes, "HIGHEST", 6)
    assert coded(*questions) is not None
    monkeypatch.setattr(threshold_codes, "HIGHEST", 5)
    assert coded(*questions) is None


def test_as_many_cuts_as_codes():
    cuts = np.arange(HIGHEST + 1.0)
    ones = np.ones(cuts.size, dtype=bool)
    assert coded(np.zeros(cuts.size, dtype=np.int64), cuts, ones, ~ones[:1]) is None
    found, _ = coded(np.zeros(HIGHEST, dtype=np.int64), cuts[1:], ones[1:], ~ones[:1])
    x = np.array([[0.0], [1.0], [1.5], [30000.0], [30000.5], [HIGHEST], [1e9]])
    assert_array_equal(codes_of(found, x)[0][:, 0], [0, 0, 1, 29999, 30000, HIGHEST - 1, HIGHEST])
