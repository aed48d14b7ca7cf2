"""Cuts that cannot gain enough are told from others without a division."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenwood.core.boosting.histogram import FLAT, NARROW, WIDE, words_of
from eigenwood.core.boosting.split import reaches, write_gains

NOTHING = (np.int64(0), np.int64(0))
word_pair = getattr(words_of, "py_func", words_of)


def sums_up_to(rng, form, n_bins):
    """Return words of the bins up to each, filled up with the total, and the total's parts."""
    counts = rng.integers(0, 40, size=n_bins)
    counts[0] += 1
    hessians = counts if form == FLAT else counts * rng.integers(1, 200, size=n_bins)
    gradients = rng.integers(-3000, 3000, size=n_bins)
    parts = [np.cumsum(part) for part in (counts, hessians, gradients)]
    sums = np.zeros((2, 256), dtype=np.int64)
    for b in range(256):
        at = min(b, n_bins - 1)
        sums[0, b], sums[1, b] = word_pair(form, *(np.int64(part[at]) for part in parts))
    return sums, tuple(float(part[-1]) for part in parts)


@pytest.mark.parametrize("form", [FLAT, NARROW, WIDE])
@given(seed=st.integers(0, 10_000), n_bins=st.integers(2, 60), least=st.integers(1, 60), l2=st.sampled_from([0.0, 7.5]))
def test_a_feature_reaches_what_its_best_cut_gains_and_no_more(form, seed, n_bins, least, l2):
    sums, total = sums_up_to(np.random.default_rng(seed), form, n_bins)
    gains = np.zeros(256)
    write_gains(form, sums[0], sums[1], n_bins, NOTHING, total, least, 0.0, l2, gains)
    most = gains.max()

    def reached(gain):
        return reaches(form, sums[0], sums[1], n_bins, NOTHING, total, least, l2, gain)

    if most > 0.0:
        assert reached(0.0)
        assert reached(most)
        assert not reached(most * (1.0 + 1e-9))
    else:
        assert not reached(1.0)
