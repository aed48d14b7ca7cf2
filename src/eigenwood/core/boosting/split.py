"""The best cut of a feature at a node, from its histogram.

Splitting a node into sides with sums of gradients G and of hessians H gains

    G_left² / (H_left + λ) + G_right² / (H_right + λ) - G² / (H + λ)

Sums are whole numbers; λ is in the units of the hessians, and gains are in those of gradients² / hessians. Of equal
gains the first feature and the first cut win.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE
from eigenwood.core.boosting.histogram import FLAT, NARROW, WIDE, sums_in

SMOOTHING = 10.0  # rows of the whole node that a category is thought to have besides its own, where it is put in order
NO_GAIN = 0.0
LEAST_SUM = 1e-3  # of hessians and λ, in units of whole hessians: less is nothing, and nothing can be divided by it
MARGIN = 1e-12  # of a gain, more than rounding can take away
STEP = 16  # cuts that are looked at together


@njit_no_refcount
def bin_of(code, first_code, common):
    """Return the bin behind a code of a shared column that belongs to a feature."""
    place = code - first_code
    return place + (place >= common)


# ---- sums of the bins up to each -----------------------------------------------------------------------------------


@njit_no_refcount
def write_sums(words, first, n_bins, common, total, sums):
    """Write the sums of bins 0 … b; the one that is not stored, if there is one, has what others leave of the total.

    Behind the last bin stands the total, up to a multiple of ``STEP``: a cut there has no rows to its right.
    """
    up_to, n = np.int64(0), -(-n_bins // STEP) * STEP
    if common < 0:
        own = words[first : first + n]
        for b in range(n):
            up_to += own[b]
            sums[b] = up_to
        return
    rest = total
    for b in range(first, first + n_bins - 1):
        rest -= words[b]
    for b in range(n_bins):
        up_to += rest if b == common else words[first + b - (b > common)]
        sums[b] = up_to
    for b in range(n_bins, n):
        sums[b] = total


# ---- the best cut of numbers ---------------------------------------------------------------------------------------


@njit_forceinline
def gain_of(c, h, g, total, min_samples_leaf, least_h, l2):
    """Return what two sides are worth, of which the left one has these sums, λ added to hessians; 0 if they do not fit.

    Gains are at least 0, so that their bits are in their order as whole numbers: those are compared side by side.
    """
    rest_c, rest_h, rest_g = total[0] - c, total[1] + 2.0 * l2 - h, total[2] - g
    fits = (c >= min_samples_leaf) & (rest_c >= min_samples_leaf) & (h >= least_h) & (rest_h >= least_h)
    return (g * g * rest_h + rest_g * rest_g * h) / (h * rest_h) if fits else NO_GAIN


@njit_forceinline
def sums_at(form, sums, seconds, more, b):
    """Return what goes left at a cut: rows, hessians and gradients; ``more`` goes left with every cut."""
    c, h, g = sums_in(form, sums[b] + more[0], seconds[b] + more[1])
    return np.float64(c), np.float64(h), np.float64(g)


@njit_forceinline
def write_gains_of(form, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, gains):
    """Write the gains of all cuts."""
    least_h = max(min_hessian + l2, LEAST_SUM)
    for b in range(-(-n_bins // STEP) * STEP):
        c, h, g = sums_at(form, sums, seconds, more, b)
        gains[b] = gain_of(c, h + l2, g, total, min_samples_leaf, least_h, l2)


@njit_no_refcount
def write_gains(form, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, gains):
    """Write the gains of all cuts, by code that is written for each form of words."""
    if form == FLAT:
        write_gains_of(FLAT, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, gains)
    elif form == NARROW:
        write_gains_of(NARROW, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, gains)
    else:
        write_gains_of(WIDE, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, gains)


@njit_forceinline
def reaches_of(form, sums, seconds, n_bins, more, total, min_samples_leaf, l2, least):
    """Return whether a cut may gain so much, and has rows enough at its sides."""
    found = np.int64(0)
    for b in range(-(-n_bins // STEP) * STEP):
        c, h, g = sums_at(form, sums, seconds, more, b)
        h += l2
        rest_h, rest_g = total[1] + 2.0 * l2 - h, total[2] - g
        fits = (c >= min_samples_leaf) & (total[0] - c >= min_samples_leaf)
        found |= np.int64(fits & (g * g * rest_h + rest_g * rest_g * h >= least * (h * rest_h)))
    return found != 0


@njit_no_refcount
def reaches(form, sums, seconds, n_bins, more, total, min_samples_leaf, l2, most):
    """Return whether a cut may gain as much as one that was found before.

    It takes no division, which is most of what a gain takes; so most features of a node are done with here. Rounding
    may let a cut through that gains a little less, and none that gains more is left out.
    """
    least = most * (1.0 - MARGIN)
    if form == FLAT:
        return reaches_of(FLAT, sums, seconds, n_bins, more, total, min_samples_leaf, l2, least)
    if form == NARROW:
        return reaches_of(NARROW, sums, seconds, n_bins, more, total, min_samples_leaf, l2, least)
    return reaches_of(WIDE, sums, seconds, n_bins, more, total, min_samples_leaf, l2, least)


@njit_no_refcount
def largest_gain(gains, n_bins):
    """Return the bits of the largest gain."""
    bits, most = gains.view(np.int64), np.int64(0)
    for b in range(-(-n_bins // STEP) * STEP):
        most = max(most, bits[b])
    return most


@njit_no_refcount
def place_of(gains, most):
    """Return the first place of a gain that is there, given its bits."""
    bits, at = gains.view(np.int64), 0
    while bits[at] != most:
        at += 1
    return at


# ---- the best cut within bounds ------------------------------------------------------------------------------------


@njit_no_refcount
def bounded_gain(g, h, l2, lower, upper):
    """Return what a side gains whose value must lie between bounds, both in units of gradients by hessians."""
    value = min(max(-g / (h + l2), lower), upper)
    return -2.0 * g * value - (h + l2) * value * value


@njit_no_refcount
def write_bounded_gains(form, sums, seconds, n_bins, more, total, min_samples_leaf, min_hessian, l2, bounds, gains):
    """Write the gains of all cuts: 0 where the sides do not keep within bounds and in order."""
    lower, upper, sign = bounds
    for b in range(-(-n_bins // STEP) * STEP):
        gains[b] = NO_GAIN
        whole_c, whole_h, whole_g = sums_in(form, sums[b] + more[0], seconds[b] + more[1])
        c, h, g = np.float64(whole_c), np.float64(whole_h), np.float64(whole_g)
        rest_c, rest_h, rest_g = total[0] - c, total[1] - h, total[2] - g
        if min(c, rest_c) < min_samples_leaf or min(h, rest_h) < max(min_hessian, LEAST_SUM - l2):
            continue
        left = min(max(-g / (h + l2), lower), upper)
        right = min(max(-rest_g / (rest_h + l2), lower), upper)
        if sign * (right - left) < 0.0:
            continue
        gain = bounded_gain(g, h, l2, lower, upper) + bounded_gain(rest_g, rest_h, l2, lower, upper)
        gains[b] = max(gain, NO_GAIN)


# ---- categories ----------------------------------------------------------------------------------------------------


@njit_no_refcount
def order_categories(form, histogram, first, n_bins, total, l2, order, keys):
    """Write the bins that occur, by gradient over hessian, smoothed towards that of the node; return their number."""
    n = 0
    share_g, share_h = SMOOTHING * total[2] / total[0], SMOOTHING * total[1] / total[0]
    for b in range(n_bins):
        count, hessian, gradient = sums_in(form, histogram[0, first + b], histogram[-1, first + b])
        if count == 0:
            continue
        key = (gradient + share_g) / (hessian + share_h + l2)
        at = n
        while at > 0 and keys[at - 1] > key:
            order[at], keys[at] = order[at - 1], keys[at - 1]
            at -= 1
        order[at], keys[at] = b, key
        n += 1
    return n


@njit_no_refcount
def write_category_sums(words, first, order, n, sums):
    """Write the sums of the first bins in order, and the last one up to a multiple of ``STEP``."""
    up_to = np.int64(0)
    for i in range(-(-n // STEP) * STEP):
        if i < n:
            up_to += words[first + order[i]]
        sums[i] = up_to


@njit_no_refcount
def write_listed(order, n_left, n, n_bins, absent_left, listed):
    """Write as bits which bins go left: the first ones in order, and those that do not occur if they do."""
    for k in range(listed.size):
        listed[k] = 0
    if not absent_left:
        for i in range(n_left):
            listed[order[i] >> 6] |= ONE << np.uint64(order[i] & 63)
        return
    for b in range(n_bins):
        listed[b >> 6] |= ONE << np.uint64(b & 63)
    for i in range(n_left, n):
        listed[order[i] >> 6] ^= ONE << np.uint64(order[i] & 63)


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
