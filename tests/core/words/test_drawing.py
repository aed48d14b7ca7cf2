"""What is drawn at random: the shares are those of the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.words.drawing import alias_table, keep_thresholds, noise_shares


@pytest.mark.parametrize("counts", [[1], [3, 3], [1000, 10, 1], list(range(1, 200)), [10**9, 1, 1, 1]])
@pytest.mark.parametrize("exponent", [0.0, 0.75, 1.0])
def test_the_alias_table_draws_each_word_as_often_as_it_should(counts, exponent):
    shares = noise_shares(np.array(counts), exponent)
    own, other = alias_table(shares)
    drawn = own / 2.0**32
    np.add.at(drawn, other, 1.0 - own / 2.0**32)
    assert_allclose(drawn / len(counts), shares, atol=2e-9)
    assert shares.sum() == pytest.approx(1.0)


def test_frequent_words_are_left_out_as_in_word2vec():
    counts = np.array([900_000, 90_000, 9_000, 1_000])
    frequency = counts / counts.sum()
    expected = np.minimum((np.sqrt(frequency / 1e-3) + 1) * 1e-3 / frequency, 1.0)
    assert_allclose(keep_thresholds(counts, 1e-3) / 2.0**32, expected, atol=1e-9)
    assert (keep_thresholds(counts, None) == 2**32).all()
