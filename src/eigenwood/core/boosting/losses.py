"""Losses, from the score F of a row to gradient and hessian, in whole blocks of rows.

squared       ½ (F - y)²           g = F - y            h = 1
absolute      |F - y|              g = ±1               h = 1        leaves: median of what is left
Huber         ½ r², δ|r| - ½ δ²    g = r within ± δ     h = 1        leaves: median, and the mean within ± δ of it
quantile      α or 1 - α times     g = -α or 1 - α      h = 1        leaves: quantile of what is left
Poisson       exp(F) - y F         g = exp(F) - y       h = exp(F)
logistic      log(1 + exp(F)) - yF g = p - y            h = p (1 - p)
exponential   exp(-F) or exp(F)    g = ∓ exp(∓ F)       h = exp(∓ F)       AdaBoost's
softmax       log Σ exp(F) - F[y]  g = p - [y = k]      h = p (1 - p)
"""

from __future__ import annotations

import math

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_sum
from eigenwood.core.kernels.exponential import exp_by_strips

SQUARED, ABSOLUTE, HUBER, QUANTILE, POISSON, LOGISTIC, EXPONENTIAL, SOFTMAX, CUSTOM = range(9)
BY_ORDER = (ABSOLUTE, HUBER, QUANTILE)  # leaves are order statistics of what is left
FLAT = (SQUARED, ABSOLUTE, HUBER, QUANTILE)  # the hessian is 1
LEAST_HESSIAN = 1e-16
# Newton's step for a class of few rows is their odds, and may turn confident mistakes into worse ones, round by round
LONGEST_STEP = 4.0
LEAST_SHARE = float(np.finfo(np.float64).eps)  # of a class that no row has, or a mean of amounts that are all 0
TINY = 1e-150
FACTORS = 32  # numbers from 1 to some thousands whose product is a number


@njit_no_refcount
def has_flat_hessian(loss):
    """Return whether the hessian of a loss is 1."""
    return loss in FLAT


@njit_no_refcount
def write_exp(scores, out, bits):
    """Write exp(-|F|) of some rows."""
    for i in range(scores.size):
        out[i] = abs(scores[i])
    exp_by_strips(out, bits, 0.0)


@njit_no_refcount
def write_gradients(loss, alpha, delta, y, scores, room, bits, gradients, hessians):
    """Write gradients and hessians of some rows, and return the sum of their losses."""
    total, small = 0.0, room[: scores.size]
    if loss == SQUARED:
        for i in range(scores.size):
            gradients[i] = scores[i] - y[i]
        return 0.5 * sum_of_squares(gradients)
    if loss == ABSOLUTE:
        for i in range(scores.size):
            rest = scores[i] - y[i]
            gradients[i] = np.sign(rest)
            total += abs(rest)
        return total
    if loss == HUBER:
        for i in range(scores.size):
            rest = scores[i] - y[i]
            gradients[i] = min(max(rest, -delta), delta)
            total += 0.5 * rest * rest if abs(rest) <= delta else delta * (abs(rest) - 0.5 * delta)
        return total
    if loss == QUANTILE:
        for i in range(scores.size):
            rest = scores[i] - y[i]
            gradients[i] = 1.0 - alpha if rest > 0.0 else -alpha
            total += rest * gradients[i]
        return total
    write_exp(scores, small, bits)
    if loss == LOGISTIC:
        return write_logistic(y, scores, small, gradients, hessians)
    if loss == EXPONENTIAL:
        for i in range(scores.size):
            wrong = (scores[i] > 0.0) != (y[i] > 0.0)
            found = 1.0 / small[i] if wrong else small[i]
            gradients[i] = -found if y[i] > 0.0 else found
            hessians[i] = found
            total += found
        return total
    for i in range(scores.size):  # Poisson
        mean = 1.0 / small[i] if scores[i] > 0.0 else small[i]
        gradients[i] = mean - y[i]
        hessians[i] = mean
        total += mean - y[i] * scores[i]
    return total


@njit_sum
def sum_of_squares(numbers):
    """Return the sum of the squares of some numbers."""
    total = 0.0
    for i in range(numbers.size):
        total += numbers[i] * numbers[i]
    return total


@njit_no_refcount
def write_logistic(y, scores, small, gradients, hessians):
    """Write gradients and hessians of the logistic loss from exp(-|F|), and return the sum of the losses."""
    for i in range(small.size):
        share = 1.0 / (1.0 + small[i])
        p = share if scores[i] >= 0.0 else small[i] * share
        gradients[i] = p - y[i]
        hessians[i] = max(small[i] * share * share, LEAST_HESSIAN)
    for i in range(small.size):
        small[i] += 1.0
    return sum_of_hinges(y, scores) + sum_of_logs(small)


@njit_sum
def sum_of_hinges(y, scores):
    """Return the sum of max(F, 0) - yF."""
    total = 0.0
    for i in range(y.size):
        total += max(scores[i], 0.0) - y[i] * scores[i]
    return total


@njit_sum
def product_of(factors):
    """Return the product of some numbers."""
    product = 1.0
    for i in range(factors.size):
        product *= factors[i]
    return product


@njit_no_refcount
def sum_of_logs(numbers):
    """Return the sum of the logarithms of numbers from 1 to some thousands: one logarithm for the product of many."""
    total = 0.0
    for start in range(0, numbers.size, FACTORS):
        total += math.log(product_of(numbers[start : start + FACTORS]))
    return total


@njit_no_refcount
def write_shares(scores, y, first, last, room, bits, shares):
    """Write the shares of the classes of some rows, (n_classes, n_rows), and return the sum of their losses."""
    n, n_classes, total = last - first, scores.shape[0], 0.0
    sums, most, own = room[:n], room[n : 2 * n], room[2 * n : 3 * n]
    for i in range(n):
        most[i], sums[i] = -np.inf, 0.0
    for k in range(n_classes):
        of_class = scores[k, first:last]
        for i in range(n):
            most[i] = max(most[i], of_class[i])
    for k in range(n_classes):
        of_class, share = scores[k, first:last], shares[k, first:last]
        for i in range(n):
            own[i] = most[i] - of_class[i]
        exp_by_strips(own, bits, 0.0)
        for i in range(n):
            share[i] = own[i]
            sums[i] += own[i]
    for i in range(n):
        total += most[i] - scores[np.int64(y[first + i]), first + i]
    total += sum_of_logs(sums)
    for k in range(n_classes):
        share = shares[k, first:last]
        for i in range(n):
            share[i] /= sums[i]
    return total


@njit_no_refcount
def row_loss(loss, alpha, delta, y, score):
    """Return the loss of one row."""
    rest = score - y
    if loss == SQUARED:
        return 0.5 * rest * rest
    if loss == ABSOLUTE:
        return abs(rest)
    if loss == HUBER:
        return 0.5 * rest * rest if abs(rest) <= delta else delta * (abs(rest) - 0.5 * delta)
    if loss == QUANTILE:
        return rest * (1.0 - alpha if rest > 0.0 else -alpha)
    if loss == POISSON:
        return math.exp(score) - y * score
    if loss == LOGISTIC:
        return max(score, 0.0) - y * score + math.log1p(math.exp(-abs(score)))
    if loss == EXPONENTIAL:
        return math.exp(-score if y > 0.0 else score)
    return np.nan


@njit_no_refcount
def write_class_gradients(shares, k, y, gradients, hessians):
    """Write gradients and hessians of one class from its shares."""
    for i in range(shares.size):
        p = shares[i]
        gradients[i] = p - (y[i] == k)
        hessians[i] = max(p * (1.0 - p), LEAST_HESSIAN)


def base_scores(loss: int, y: np.ndarray, weights: np.ndarray, n_outputs: int, alpha: float) -> np.ndarray:
    """Return the best score that is the same for all rows."""
    w = weights if weights.size else np.ones(y.size)
    if loss == SOFTMAX:
        shares = np.array([exact_sum((y == k) * w) for k in range(n_outputs)]) / exact_sum(w)
        logs = np.log(np.maximum(shares, LEAST_SHARE))
        return logs - logs.mean()
    if loss in BY_ORDER:
        return np.array([weighted_quantile(y, w, alpha if loss == QUANTILE else 0.5)])
    mean = exact_sum(y, w) / exact_sum(w)
    if loss == SQUARED:
        return np.array([mean])
    if loss == POISSON:
        return np.array([math.log(max(mean, LEAST_SHARE))])
    if loss in (LOGISTIC, EXPONENTIAL):
        mean = min(max(mean, LEAST_SHARE), 1.0 - LEAST_SHARE)
        return np.array([math.log(mean / (1.0 - mean)) * (0.5 if loss == EXPONENTIAL else 1.0)])
    return np.zeros(n_outputs)


def exact_sum(values: np.ndarray, times: np.ndarray | None = None) -> float:
    """Return a sum that is the same in any order: of whole numbers so fine that next to nothing is lost.

    A value that counts several times, a whole number of them, is the same as so many values.
    """
    n = values.size if times is None else max(values.size, times.sum())
    room = 61 - math.ceil(math.log2(n + 1.0))
    largest = max(float(np.abs(values).max()), TINY)
    if times is not None and not (times == np.round(times)).all():
        values, times = values * times, None
        largest = max(float(np.abs(values).max()), TINY)
    unit = 2.0 ** (room - math.ceil(math.log2(largest)))
    whole = np.rint(values * unit).astype(np.int64)
    return float(whole.sum() if times is None else (whole * times.astype(np.int64)).sum()) / unit


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """Return the value with so much of the weight at or below it; between two such values, the middle."""
    order = np.argsort(values, kind="stable")
    up_to, wanted = np.cumsum(weights[order]), share * weights.sum()
    at = int(np.searchsorted(up_to, wanted * (1.0 - 1e-12)))
    at = min(at, values.size - 1)
    if abs(up_to[at] - wanted) <= 1e-12 * wanted and at + 1 < values.size:
        return 0.5 * (values[order[at]] + values[order[at + 1]])
    return float(values[order[at]])


def mean_loss(loss: int, y: np.ndarray, scores: np.ndarray, weights: np.ndarray, alpha: float, delta: float) -> float:
    """Return the mean loss of rows, by weight; scores are (n_outputs, n_rows)."""
    F = scores[0]
    if loss == SQUARED:
        each = 0.5 * (F - y) ** 2
    elif loss == ABSOLUTE:
        each = np.abs(F - y)
    elif loss == HUBER:
        rest = np.abs(F - y)
        each = np.where(rest <= delta, 0.5 * rest**2, delta * (rest - 0.5 * delta))
    elif loss == QUANTILE:
        each = (F - y) * np.where(y < F, 1.0 - alpha, -alpha)
    elif loss == POISSON:
        each = np.exp(F) - y * F
    elif loss == LOGISTIC:
        each = np.logaddexp(0.0, F) - y * F
    elif loss == EXPONENTIAL:
        each = np.exp(np.where(y > 0, -F, F))
    else:
        most = scores.max(axis=0)
        each = most + np.log(np.exp(scores - most).sum(axis=0)) - scores[y.astype(np.int64), np.arange(y.size)]
    return float(np.average(each, weights=weights if weights.size else None))
