"""The kernel functions k(x, z), each finished in place from a tile of inner products.

linear        x·z
polynomial    (gamma x·z + coef0)^degree          the kernel lecture: (1 + x·z)^p is gamma=1, coef0=1, degree=p
rbf           exp(-gamma ‖x-z‖²)                  also written exp(-‖x-z‖²/s²) and exp(-‖x-z‖²/2σ²)
laplacian     exp(-gamma Σ|x_j-z_j|)
sigmoid       tanh(gamma x·z + coef0)             not a Mercer kernel
rbf - 1       exp(-gamma ‖x-z‖²) - 1              as good as rbf where coefficients add up to 0, and with more digits
                                                  where rows are close: what the dual of a support vector machine uses
… about c     k(x,z) - k(x,c) - k(z,c) + k(c,c)   the same for polynomial and sigmoid: where rows are far from 0, k is
                                                  large and hardly varies
"""

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.kernels.exponential import STRIP, exp_of_strip, negative_exp, new_bits
from eigenwood.core.rows import Rows

LINEAR, POLYNOMIAL, RBF, LAPLACIAN, SIGMOID, RBF_LESS_ONE, POLYNOMIAL_ABOUT, SIGMOID_ABOUT = range(8)

KERNELS = {
    "linear": LINEAR,
    "poly": POLYNOMIAL,
    "rbf": RBF,
    "laplacian": LAPLACIAN,
    "sigmoid": SIGMOID,
}

GAUSSIAN = (RBF, RBF_LESS_ONE)
ABOUT_A_CENTRE = {POLYNOMIAL_ABOUT: POLYNOMIAL, SIGMOID_ABOUT: SIGMOID}

# How far a kernel value may be from the exact one because of rounding in the distances.
_ALLOWED_ERROR = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-13}
# Rounding of ‖x‖² + ‖z‖² - 2x·z, in units of (‖x‖² + ‖z‖²)·eps: a long inner product loses a few of them.
_ROUNDINGS = 6.0


class Kernel(NamedTuple):
    """One kernel function: an integer code and its numbers (those it does not use are ignored)."""

    code: int
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3


def finish_products(products, kernel):
    """Turn a tile of x·z into the kernel's values, in place, where these follow from x·z alone."""
    code = ABOUT_A_CENTRE.get(kernel.code, kernel.code)
    if code == POLYNOMIAL:
        finish_polynomial(products, kernel)
    elif code == SIGMOID:
        finish_sigmoid(products, kernel)


def finish_polynomial(products, kernel):
    """Turn a tile of x·z into (gamma x·z + coef0)^degree, in place."""
    _finish_affine(products, kernel)
    base = products.copy()
    for _ in range(kernel.degree - 1):
        products *= base


def finish_sigmoid(products, kernel):
    """Turn a tile of x·z into tanh(gamma x·z + coef0), in place."""
    _finish_affine(products, kernel)
    np.tanh(products, out=products)


def _finish_affine(products, kernel):
    products *= products.dtype.type(kernel.gamma)
    products += products.dtype.type(kernel.coef0)


def finish_rbf(products, X, Z, x_norms, z_norms, kernel):
    """Turn a tile of inner products into exp(-gamma ‖x-z‖²), or what is left of it after 1, in place.

    ``products`` and the squared norms are those of the centred rows; ``X`` and ``Z`` are the rows themselves, dense or
    ``Rows``. ‖x‖² + ‖z‖² - 2x·z cancels when x and z are close, so those pairs are computed again from their
    differences.
    """
    dtype = products.dtype
    finish_strips = finish_sparse_strips if isinstance(X, Rows) else finish_dense_strips
    finish_strips(
        products,
        X,
        Z,
        x_norms,
        z_norms,
        dtype.type(kernel.gamma),
        closeness_bounds(dtype, x_norms, kernel.gamma),
        closeness_bounds(dtype, z_norms, kernel.gamma),
        new_bits(dtype),
        dtype.type(kernel.code == RBF_LESS_ONE),
    )


def closeness_bounds(dtype, norms, gamma):
    """Return for each row the gamma·‖x-z‖² below which its norm's rounding would spoil exp(-gamma ‖x-z‖²).

    A distance t is wrong by up to ``worst``, and so exp(-t) by exp(-t)·worst, which is too much where the true t is
    below log(worst / allowed), and the computed one below that and ``worst``. ``worst`` is a sum of two parts, one of
    each row; a pair is close if it is so by twice one of them.
    """
    worst = 2.0 * gamma * _ROUNDINGS * (np.finfo(dtype).eps / 2) * norms.astype(np.float64)
    with np.errstate(divide="ignore"):
        return (worst + np.log(worst / _ALLOWED_ERROR[dtype])).astype(dtype)


def laplacian(X, Z, gamma):
    """Return the tile of exp(-gamma Σ|x_j-z_j|)."""
    tile = absolute_distances(X, Z)
    tile *= tile.dtype.type(gamma)
    negative_exp(tile.reshape(-1))
    return tile


@njit
def finish_dense_strips(products, X, Z, x_norms, z_norms, gamma, x_close, z_close, bits, less):
    """Finish one strip of a row after the other, while it is in the first-level cache."""
    power_of_two = bits.view(products.dtype)
    for i in range(products.shape[0]):
        for start in range(0, products.shape[1], STRIP):
            strip = products[i, start : start + STRIP]
            scaled_distances(strip, gamma * x_norms[i], z_norms[start : start + STRIP], gamma)
            if any_close(strip, x_close[i], z_close[start : start + STRIP]):
                for j in range(strip.size):
                    if strip[j] < max(x_close[i], z_close[start + j]):
                        strip[j] = gamma * squared_distance(X[i], Z[start + j])
            exp_of_strip(strip, bits, power_of_two, less)


@njit
def finish_sparse_strips(products, X, Z, x_norms, z_norms, gamma, x_close, z_close, bits, less):
    """The same for sparse rows."""
    x_data, x_indices, x_indptr = X.data, X.indices, X.indptr
    z_data, z_indices, z_indptr = Z.data, Z.indices, Z.indptr
    power_of_two = bits.view(products.dtype)
    for i in range(products.shape[0]):
        for start in range(0, products.shape[1], STRIP):
            strip = products[i, start : start + STRIP]
            scaled_distances(strip, gamma * x_norms[i], z_norms[start : start + STRIP], gamma)
            if any_close(strip, x_close[i], z_close[start : start + STRIP]):
                for j in range(strip.size):
                    if strip[j] < max(x_close[i], z_close[start + j]):
                        strip[j] = gamma * sparse_distance(
                            x_data, x_indices, x_indptr, i, z_data, z_indices, z_indptr, start + j, True
                        )
            exp_of_strip(strip, bits, power_of_two, less)


@njit(fastmath={"contract"})
def scaled_distances(products, x_part, z_norms, gamma):
    """Turn x·z for one x into gamma·‖x-z‖², never below 0, in place."""
    zero, two = gamma * 0, gamma + gamma
    for j in range(products.size):
        t = (x_part + gamma * z_norms[j]) - two * products[j]
        products[j] = t if t > zero else zero


@njit
def sparse_absolute_distances(X, Z):
    """Return Σ|x_j-z_j| for every pair of sparse rows, in float64."""
    x_data, x_indices, x_indptr = X.data, X.indices, X.indptr
    z_data, z_indices, z_indptr = Z.data, Z.indices, Z.indptr
    distances = np.empty((x_indptr.size - 1, z_indptr.size - 1))
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            distances[i, j] = sparse_distance(x_data, x_indices, x_indptr, i, z_data, z_indices, z_indptr, j, False)
    return distances


@njit
def sparse_distance(x_data, x_indices, x_indptr, i, z_data, z_indices, z_indptr, j, squared):
    """Return Σ|x_k-z_k| of row i of X and row j of Z, or Σ(x_k-z_k)², by walking along both sorted lists of columns."""
    a, a_end, b, b_end = x_indptr[i], x_indptr[i + 1], z_indptr[j], z_indptr[j + 1]
    total = 0.0
    while a < a_end or b < b_end:
        difference = 0.0
        if b == b_end or (a < a_end and x_indices[a] < z_indices[b]):
            difference = np.float64(x_data[a])
            a += 1
        elif a == a_end or z_indices[b] < x_indices[a]:
            difference = np.float64(z_data[b])
            b += 1
        else:
            difference = np.float64(x_data[a]) - np.float64(z_data[b])
            a += 1
            b += 1
        total += difference * difference if squared else abs(difference)
    return total


@njit
def any_close(strip, bound, bounds):
    """Return whether any value is below a bound; without a way out of the loop, so that it becomes vector code."""
    found = False
    for j in range(strip.size):
        found |= (strip[j] < bound) | (strip[j] < bounds[j])
    return found


@njit
def squared_distance(x, z):
    """Return ‖x-z‖², in float64."""
    total = 0.0
    for k in range(x.size):
        difference = np.float64(x[k]) - np.float64(z[k])
        total += difference * difference
    return total


@njit(fastmath={"reassoc", "contract"})
def absolute_distances(X, Z):
    """Return Σ|x_j-z_j| for every pair of rows; Z is walked in strips that stay in the cache."""
    distances = np.empty((X.shape[0], Z.shape[0]), dtype=X.dtype)
    strip = max(1, 32768 // max(1, Z.shape[1]))
    for start in range(0, Z.shape[0], strip):
        stop = min(start + strip, Z.shape[0])
        for i in range(X.shape[0]):
            x = X[i]
            for j in range(start, stop):
                z = Z[j]
                total = x.dtype.type(0)
                for k in range(x.size):
                    total += abs(x[k] - z[k])
                distances[i, j] = total
    return distances
