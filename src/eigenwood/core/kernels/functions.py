"""The kernel functions k(x, z), each finished in place from a tile of inner products.

linear        x·z
polynomial    (gamma x·z + coef0)^degree          deck C: (1 + x·z)^p is gamma=1, coef0=1, degree=p
rbf           exp(-gamma ‖x-z‖²)                  deck C: exp(-‖x-z‖²/s²), deck A: exp(-‖x-z‖²/2σ²)
laplacian     exp(-gamma Σ|x_j-z_j|)
sigmoid       tanh(gamma x·z + coef0)             not a Mercer kernel
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from eigenwood.core.kernels.exponential import STRIP, negative_exp_32, negative_exp_64

LINEAR, POLYNOMIAL, RBF, LAPLACIAN, SIGMOID = range(5)

KERNELS = {
    "linear": LINEAR,
    "poly": POLYNOMIAL,
    "rbf": RBF,
    "laplacian": LAPLACIAN,
    "sigmoid": SIGMOID,
}

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


def finish_rbf(products, X, Z, x_norms, z_norms, gamma):
    """Turn a tile of inner products into exp(-gamma ‖x-z‖²), in place.

    ``products`` and the squared norms are those of the centred rows; ``X`` and ``Z`` are the rows themselves.
    ‖x‖² + ‖z‖² - 2x·z cancels when x and z are close, so those pairs are computed again from their differences.
    """
    too_close = closeness_bounds(products.dtype, x_norms, z_norms, gamma)
    scaled_distances(products, x_norms, z_norms, products.dtype.type(gamma))
    if too_close.max() > 0:
        repair_close_pairs(products, X, Z, gamma, too_close)
    _negative_exp(products)


def finish_sparse_rbf(products, X, Z, x_norms, z_norms, gamma):
    """Turn a float64 tile of inner products of sparse ``Rows`` into exp(-gamma ‖x-z‖²), in place."""
    too_close = closeness_bounds(products.dtype, x_norms, z_norms, gamma)
    scaled_distances(products, x_norms, z_norms, gamma)
    if too_close.max() > 0:
        repair_close_sparse_pairs(products, X, Z, gamma, too_close)
    _negative_exp(products)


def closeness_bounds(dtype, x_norms, z_norms, gamma):
    """Return for each row the gamma·‖x-z‖² below which rounding would spoil exp(-gamma ‖x-z‖²).

    exp(-t) is wrong by up to exp(-t)·worst, which is too much where t < log(worst / allowed).
    """
    eps = np.finfo(dtype).eps / 2
    worst = gamma * _ROUNDINGS * eps * (x_norms.astype(np.float64) + z_norms.max())
    with np.errstate(divide="ignore"):
        return np.log(worst / _ALLOWED_ERROR[dtype]).astype(dtype)


def laplacian(X, Z, gamma):
    """Return the tile of exp(-gamma Σ|x_j-z_j|)."""
    tile = absolute_distances(X, Z)
    tile *= tile.dtype.type(gamma)
    _negative_exp(tile)
    return tile


def _negative_exp(tile):
    negative_exp = negative_exp_32 if tile.dtype == np.float32 else negative_exp_64
    negative_exp(tile.reshape(-1))


@njit(cache=True, nogil=True, fastmath={"contract"})
def scaled_distances(products, x_norms, z_norms, gamma):
    """Turn x·z into gamma·‖x-z‖², never below 0, in place."""
    zero, two = gamma * 0, gamma + gamma
    for i in range(products.shape[0]):
        row = products[i]
        x_part = gamma * x_norms[i]
        for j in range(row.size):
            t = (x_part + gamma * z_norms[j]) - two * row[j]
            row[j] = t if t > zero else zero


@njit(cache=True, nogil=True)
def repair_close_pairs(scaled, X, Z, gamma, too_close):
    """Compute gamma·‖x-z‖² again, in float64 from the differences, where it is below ``too_close`` of its row."""
    for i in range(scaled.shape[0]):
        for start in range(0, scaled.shape[1], STRIP):
            strip = scaled[i, start : start + STRIP]
            if too_close[i] > 0 and any_below(strip, too_close[i]):
                for j in range(strip.size):
                    if strip[j] < too_close[i]:
                        strip[j] = gamma * squared_distance(X[i], Z[start + j])


@njit(cache=True, nogil=True)
def repair_close_sparse_pairs(scaled, X, Z, gamma, too_close):
    """The same for sparse rows."""
    for i in range(scaled.shape[0]):
        for j in range(scaled.shape[1]):
            if scaled[i, j] < too_close[i]:
                scaled[i, j] = gamma * sparse_distance(
                    X.data, X.indices, X.indptr, i, Z.data, Z.indices, Z.indptr, j, True
                )


@njit(cache=True, nogil=True)
def sparse_absolute_distances(X, Z):
    """Return Σ|x_j-z_j| for every pair of sparse rows, in float64."""
    x_data, x_indices, x_indptr = X.data, X.indices, X.indptr
    z_data, z_indices, z_indptr = Z.data, Z.indices, Z.indptr
    distances = np.empty((x_indptr.size - 1, z_indptr.size - 1))
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            distances[i, j] = sparse_distance(x_data, x_indices, x_indptr, i, z_data, z_indices, z_indptr, j, False)
    return distances


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def any_below(strip, bound):
    """Return whether any value is below ``bound``; without a way out of the loop, so that it becomes vector code."""
    found = False
    for j in range(strip.size):
        found |= strip[j] < bound
    return found


@njit(cache=True, nogil=True)
def squared_distance(x, z):
    """Return ‖x-z‖², in float64."""
    total = 0.0
    for k in range(x.size):
        difference = np.float64(x[k]) - np.float64(z[k])
        total += difference * difference
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
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
