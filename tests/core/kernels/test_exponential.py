"""exp(-t) against NumPy's, over the whole range and at the seams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwood.core.kernels.exponential import STRIP, negative_exp, negative_expm1

CASES = [(np.float32, negative_exp, 87.0, 3e-7), (np.float64, negative_exp, 708.0, 5e-16)]
IDS = ["float32", "float64"]


def computed(function, t):
    out = t.copy()
    function(out)
    return out


def relative_error(function, t):
    exact = np.exp(-t.astype(np.float64))
    return np.abs(computed(function, t) - exact) / exact


@pytest.mark.parametrize(("dtype", "function", "largest", "allowed"), CASES, ids=IDS)
def test_equals_numpy_over_the_whole_range(dtype, function, largest, allowed):
    rng = np.random.default_rng(0)
    even = np.linspace(0.0, largest, 2001)[:-1]
    tiny = 10.0 ** rng.uniform(-30, 0, size=500)
    t = np.concatenate([even, tiny]).astype(dtype)
    assert relative_error(function, t).max() <= allowed


@pytest.mark.parametrize(("dtype", "function", "largest", "allowed"), CASES, ids=IDS)
def test_the_seams_between_powers_of_two(dtype, function, largest, allowed):
    seams = ((np.arange(int(largest / np.log(2))) + 0.5) * np.log(2)).astype(dtype)
    t = np.concatenate([np.nextafter(seams, dtype(0)), seams, np.nextafter(seams, dtype(1e9))])
    assert relative_error(function, t[t < largest]).max() <= allowed


@pytest.mark.parametrize(("dtype", "function", "largest", "allowed"), CASES, ids=IDS)
def test_exactly_one_at_zero_and_nothing_far_out(dtype, function, largest, allowed):
    t = np.array([0.0, -0.0, largest, 1e5, np.finfo(dtype).max, np.inf], dtype=dtype)
    assert computed(function, t).tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    below = np.nextafter(dtype(largest), dtype(0))
    assert computed(function, np.array([below]))[0] >= np.finfo(dtype).tiny


@pytest.mark.parametrize(("dtype", "function", "largest", "allowed"), CASES, ids=IDS)
@pytest.mark.parametrize("size", [0, 1, STRIP - 1, STRIP, STRIP + 1, 2 * STRIP + 3])
def test_every_length(dtype, function, largest, allowed, size):
    t = np.random.default_rng(size).uniform(0, 20, size=size).astype(dtype)
    assert (relative_error(function, t) <= allowed).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 700), min_size=2, max_size=5))
def test_never_grows_with_t(values):
    t = np.sort(np.array(values))
    steps = np.diff(computed(negative_exp, t))
    assert (steps <= 1e-15).all()


@pytest.mark.parametrize(("dtype", "allowed"), [(np.float32, 5e-7), (np.float64, 1e-15)])
def test_less_one_keeps_its_digits(dtype, allowed):
    t = np.concatenate([10.0 ** np.linspace(-30, 1.8, 997), [0.0, 1e9]]).astype(dtype)
    out = t.copy()
    negative_expm1(out)
    np.testing.assert_allclose(out, np.expm1(-t.astype(np.float64)), rtol=allowed, atol=0.0)
