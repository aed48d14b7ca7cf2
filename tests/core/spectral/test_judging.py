"""An iteration is judged by the rate at which its residuals fall, not before it has cost a part of the other way."""

import numpy as np
import pytest

from eigenwood.core.spectral import symmetric
from eigenwood.core.spectral.judging import LOOKS, PROBE, Look, is_slow
from eigenwood.core.spectral.pairs import Wanted, symmetric_pairs
from eigenwood.core.spectral.symmetric import judged_lanczos_steps, leading_pairs
from tests.core.spectral.cases import assert_same_span, with_spectrum


def looks_at(excess, block=10):
    return [Look(block * (i + 1), value) for i, value in enumerate(excess)]


def falling(rate, n_looks, first=1e6):
    return looks_at(first * rate ** np.arange(n_looks))


@pytest.mark.parametrize("n_looks", range(1, 12))
def test_nothing_is_judged_before_it_has_cost_its_part(n_looks):
    looks = falling(0.999, n_looks)
    is_early = n_looks <= LOOKS or looks[-1].n_products < PROBE * 500.0
    assert is_slow(looks, per_product=1.0, other_cost=500.0) == (not is_early)


def test_what_is_left_at_the_rate_so_far_is_compared():
    looks = falling(0.1, 4)  # 1000 times too large, a tenth for each block: 30 products are left
    assert not is_slow(looks, per_product=1.0, other_cost=31.0)
    assert is_slow(looks, per_product=1.0, other_cost=29.0)


@pytest.mark.parametrize("excess", [[5.0] * 5, [1.0, 2.0, 3.0, 4.0], [np.inf] * 4])
def test_what_does_not_fall_is_slow(excess):
    assert is_slow(looks_at(excess), per_product=1.0, other_cost=100.0)


@pytest.mark.parametrize(
    ("values", "gives_way"), [(0.5 ** np.arange(200.0), False), (np.linspace(2.0, 1.0, 200), True)]
)
def test_lanczos_in_memory_gives_way_to_lapack_where_the_spectrum_is_flat(monkeypatch, values, gives_way):
    monkeypatch.setattr(symmetric, "LARGE", 150)
    M = with_spectrum(values)
    assert any(is_slower for _, is_slower in judged_lanczos_steps(M, Wanted(10), 1)) == gives_way
    assert_same_span(leading_pairs(M, Wanted(10)).vectors, symmetric_pairs(M, Wanted(10)).vectors, atol=1e-8)
