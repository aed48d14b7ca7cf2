"""exp(-t) for whole arrays, written so that the compiler turns it into vector instructions.

    exp(-t) = 2^n · exp(r),   n = round(-t / ln 2),   |r| ≤ ln(2)/2

exp(r) is a short polynomial; 2^n is an integer shifted into the exponent bits of a float. Working on strips of a
few hundred values keeps both the integers and the floats in the first-level cache. A call to the C library's exp
for each value would cost more than the matrix product that computed the distances.

    exp(-t) - 1 = 2^n (exp(r) - 1) + (2^n - 1)        keeps its digits where t is small: there n = 0
"""

import numpy as np

from eigenwood.compiling import njit

STRIP = 256  # values at a time

# ln 2 in two parts: n * LN2_HIGH is exact for every n that occurs, LN2_LOW carries the rest.
_LN2_HIGH_32, _LN2_LOW_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LN2_HIGH_64, _LN2_LOW_64 = 0.6931471803691238, 1.9082149292705877e-10
_LOG2E_32, _LOG2E_64 = np.float32(1.4426950408889634), 1.4426950408889634

# Beyond these exp(-t) is below the smallest normal number, and counts as 0.
_LARGEST_32, _LARGEST_64 = np.float32(87.0), 708.0


def negative_exp(t):
    """Replace each value of the vector ``t`` (all ≥ 0), float32 or float64, by exp(-t)."""
    exp_by_strips(t, new_bits(t.dtype), t.dtype.type(0.0))


def negative_expm1(t):
    """Replace each value of the vector ``t`` (all ≥ 0), float32 or float64, by exp(-t) - 1."""
    exp_by_strips(t, new_bits(t.dtype), t.dtype.type(1.0))


def new_bits(dtype) -> np.ndarray:
    """Return room for the bits of 2^n, as wide as the floats."""
    return np.empty(STRIP, dtype=np.int32 if dtype == np.float32 else np.int64)


@njit
def exp_by_strips(t, bits, less):
    """Replace each value of a vector by exp(-t) - less."""
    for start in range(0, t.size, STRIP):
        exp_of_strip(t[start : start + STRIP], bits, bits.view(t.dtype), less)


@njit(fastmath={"contract"})
def exp_of_strip(strip, bits, power_of_two, less):
    """The same for a strip; ``bits`` and ``power_of_two`` are the same memory, as integers and as floats."""
    if strip.itemsize == 4:  # the compiler knows, and leaves the other one out
        split_powers_32(strip, bits)
    else:
        split_powers_64(strip, bits)
    for i in range(strip.size):
        strip[i] = strip[i] * power_of_two[i] + (power_of_two[i] - less)


@njit(fastmath={"contract"})
def split_powers_32(strip, shifted):
    """Write exp(r) - 1 in place of each value, and the bits of 2^n beside it."""
    half = np.float32(0.5)
    c2, c3, c4 = np.float32(0.5), np.float32(0.166666672), np.float32(0.0416664854)
    c5, c6 = np.float32(0.00833338592), np.float32(0.00139304355)
    for i in range(strip.size):
        value = strip[i]
        small = value < _LARGEST_32
        value = value if small else _LARGEST_32
        n = np.int32(value * _LOG2E_32 + half)
        shifted[i] = (np.int32(127) - n) << np.int32(23) if small else np.int32(0)
        exponent = np.float32(n)
        r = (exponent * _LN2_HIGH_32 - value) + exponent * _LN2_LOW_32
        tail = ((((c6 * r + c5) * r + c4) * r + c3) * r + c2) * (r * r)
        strip[i] = tail + r


@njit(fastmath={"contract"})
def split_powers_64(strip, shifted):
    """The same for float64."""
    for i in range(strip.size):
        value = strip[i]
        small = value < _LARGEST_64
        value = value if small else _LARGEST_64
        n = np.int64(value * _LOG2E_64 + 0.5)
        shifted[i] = (np.int64(1023) - n) << np.int64(52) if small else np.int64(0)
        exponent = np.float64(n)
        r = (exponent * _LN2_HIGH_64 - value) + exponent * _LN2_LOW_64
        # Taylor to the 13th power: the first term left out is below 1e-17 for |r| ≤ 0.35.
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        strip[i] = p * r * r + r
