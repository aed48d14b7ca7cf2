"""The best cut of a feature at a node, from its histogram.

Splitting a node into sides with sums of gradients G and of hessians H gains

    G_left² / (H_left + λ) + G_right² / (H_right + λ) - G² / (H + λ)

Sums are whole numbers; λ is in the units of the hessians, and gains are in those of gradients² / hessians. Of equal
gains the first feature and the first cut win.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.bits import ONE

SMOOTHING = 10.0  # rows of the whole node that a category is thought to have besides its own, where it is put in order
NO_GAIN = 0.0
LEAST_SUM = 1e-3  # of hessians and λ, in units of whole hessians: less is nothing, and nothing can be divided by it


@njit_no_refcount
def bin_of(code, first_code, common):
    """Return the bin behind a code of a shared column that belongs to a feature."""
    place = code - first_code
    return place + (place >= common)


@njit_no_refcount
def write_sums(histogram, table, f, total, sums):
    """Write rows, hessians and gradients of bins 0 … b, and return how many bins of values there are."""
    n_bins, missing, common = table.n_bins[f], table.missing[f], table.common[f]
    first = table.bin_start[table.column[f]] + table.first_code[f]
    n_values = n_bins - (missing >= 0)
    if common >= 0:
        rest_c, rest_h, rest_g = total[0], total[1], total[2]
        for b in range(n_bins - 1):
            rest_c -= histogram[0, first + b]
            rest_h -= histogram[1, first + b]
            rest_g -= histogram[2, first + b]
        c = h = g = 0.0
        for b in range(n_values):
            if b == common:
                c, h, g = c + rest_c, h + rest_h, g + rest_g
            else:
                at = first + b - (b > common)
                c, h, g = c + histogram[0, at], h + histogram[1, at], g + histogram[2, at]
            sums[0, b], sums[1, b], sums[2, b] = c, h, g
        return n_values
    whole_c = whole_h = whole_g = np.int64(0)
    for b in range(n_values):
        whole_c += histogram[0, first + b]
        whole_h += histogram[1, first + b]
        whole_g += histogram[2, first + b]
        sums[0, b], sums[1, b], sums[2, b] = whole_c, whole_h, whole_g
    return n_values


@njit_no_refcount
def best_cut(sums, n_cuts, more, total, min_samples_leaf, min_hessian, l2):
    """Return the largest gain of a cut after bin 0 … n_cuts - 1, and the bin; ``more`` goes left with every cut.

    Gains are at least 0, so that their bits are in their order as whole numbers: those are compared side by side.
    """
    counts, hessians, gradients, gains = sums[0], sums[1], sums[2], sums[3]
    more_c, more_h, more_g = more[0], more[1] + l2, more[2]
    least_h = max(min_hessian + l2, LEAST_SUM)
    for b in range(n_cuts):
        c, h, g = counts[b] + more_c, hessians[b] + more_h, gradients[b] + more_g
        rest_c, rest_h, rest_g = total[0] - c, total[1] + 2.0 * l2 - h, total[2] - g
        fits = (c >= min_samples_leaf) & (rest_c >= min_samples_leaf) & (h >= least_h) & (rest_h >= least_h)
        gains[b] = (g * g * rest_h + rest_g * rest_g * h) / (h * rest_h) if fits else NO_GAIN
    bits, most = gains.view(np.int64), np.int64(0)
    for b in range(n_cuts):
        most = max(most, bits[b])
    at = 0
    while at < n_cuts - 1 and bits[at] != most:
        at += 1
    return gains[at] if n_cuts > 0 else NO_GAIN, at


@njit_no_refcount
def bounded_gain(g, h, l2, lower, upper):
    """Return what a side gains whose value must lie between bounds, both in units of gradients by hessians."""
    value = min(max(-g / (h + l2), lower), upper)
    return -2.0 * g * value - (h + l2) * value * value


@njit_no_refcount
def best_bounded_cut(sums, n_cuts, more, total, min_samples_leaf, min_hessian, l2, lower, upper, sign):
    """Return the largest gain of a cut whose sides keep within bounds and in order, and the bin."""
    best, at = NO_GAIN, 0
    for b in range(n_cuts):
        c, h, g = sums[0, b] + more[0], sums[1, b] + more[1], sums[2, b] + more[2]
        rest_c, rest_h, rest_g = total[0] - c, total[1] - h, total[2] - g
        if min(c, rest_c) < min_samples_leaf or min(h, rest_h) < max(min_hessian, LEAST_SUM - l2):
            continue
        left = min(max(-g / (h + l2), lower), upper)
        right = min(max(-rest_g / (rest_h + l2), lower), upper)
        if sign * (right - left) < 0.0:
            continue
        gain = bounded_gain(g, h, l2, lower, upper) + bounded_gain(rest_g, rest_h, l2, lower, upper)
        if gain > best:
            best, at = gain, b
    return best, at


@njit_no_refcount
def order_categories(histogram, first, n_bins, total, l2, order):
    """Write the bins that occur, by gradient over hessian, smoothed towards that of the node; return their number."""
    n = 0
    share_g, share_h = SMOOTHING * total[2] / total[0], SMOOTHING * total[1] / total[0]
    for b in range(n_bins):
        if histogram[0, first + b] == 0:
            continue
        key = (histogram[2, first + b] + share_g) / (histogram[1, first + b] + share_h + l2)
        at = n
        while at > 0:
            other = order[at - 1]
            if (histogram[2, first + other] + share_g) / (histogram[1, first + other] + share_h + l2) <= key:
                break
            order[at] = other
            at -= 1
        order[at] = b
        n += 1
    return n


@njit_no_refcount
def write_category_sums(histogram, first, order, n, sums):
    """Write rows, hessians and gradients of the first bins in order."""
    c = h = g = np.int64(0)
    for i in range(n):
        b = first + order[i]
        c += histogram[0, b]
        h += histogram[1, b]
        g += histogram[2, b]
        sums[0, i], sums[1, i], sums[2, i] = c, h, g


@njit_no_refcount
def write_listed(order, n, listed):
    """Write which bins go left, as bits."""
    for k in range(listed.size):
        listed[k] = 0
    for i in range(n):
        listed[order[i] >> 6] |= ONE << np.uint64(order[i] & 63)


@njit_no_refcount
def list_absent(histogram, first, n_bins, listed):
    """Let the bins of categories that do not occur at a node go left."""
    for b in range(n_bins):
        if histogram[0, first + b] == 0:
            listed[b >> 6] |= ONE << np.uint64(b & 63)


@njit_no_refcount
def write_sides(table, f, bin_left, missing_left, listed, side):
    """Write for each code of the feature's column whether it goes left."""
    first_code, common, missing = table.first_code[f], table.common[f], table.missing[f]
    for code in range(side.size):
        b = code
        if common >= 0:
            inside = first_code <= code < first_code + table.n_bins[f] - 1
            b = bin_of(code, first_code, common) if inside else common
        if table.is_category[f]:
            side[code] = np.uint8((listed[b >> 6] >> np.uint64(b & 63)) & ONE)
        elif b == missing:
            side[code] = np.uint8(missing_left)
        else:
            side[code] = np.uint8(b <= bin_left)
