"""The arithmetic of a group of examples: means of contexts, scores of answers, and what both change by.

An example is a context C, the word w in its middle, and k words that were drawn as negatives. With the mean h of the
context's vectors c and the answers' vectors o, its loss is

    L = -log σ(h·o_w) - Σ_n log σ(-h·o_n),      ∂L/∂o = (σ(h·o) - label) h,      ∂L/∂c = 1/|C| Σ (σ(h·o) - label) o

``corrected = 0`` leaves out the 1/|C|, as word2vec.c does. The examples of a group share their negatives: a row is read
once for all of them. All scores of a group are computed before anything changes.
"""

from __future__ import annotations

import math

import numpy as np

from eigenwood.compiling import njit_no_refcount, njit_sum
from eigenwood.core.kernels.exponential import exp_of_strip
from eigenwood.core.words.workspace import ANSWER, CENTRE, GROUP, HIGH, LOW, PICKED, WORD

SMALL = 1e-280  # a probability below this has the logarithm -|score|, to the last bit


@njit_no_refcount
def train_group(copies, places, examples, negatives, work, n, rule, rate):
    """Train on the ``n`` examples of a group; return the sum of their losses as they were before."""
    means, changes, scores, shares = work.means, work.changes, work.scores, work.shares
    for g in range(n):
        write_mean(copies, places, examples, work.picked, means, g, shares)
    write_scores(copies, examples, negatives, means, scores, n)
    loss = write_steps(examples, negatives, work, n, rate)
    for g in range(n):
        first_change(copies, examples[ANSWER, g], means, changes, g, np.float32(scores[g]))
        if rule.corrected == 0:
            shares[g] = 1.0
    for m in range(negatives.shape[1]):
        change_for_four(copies, negatives[1, m], means, changes, scores, (m + 1) * GROUP)
    change_contexts(copies, places, examples, changes, n, shares)
    return loss


@njit_no_refcount
def write_mean(copies, places, examples, picked, means, g, shares):
    """Write the mean of a context's vectors, some rows at a time: the sum stays in registers meanwhile."""
    low, high, centre = examples[LOW, g], examples[HIGH, g], examples[CENTRE, g]
    share, k, is_first = np.float32(1.0 / (high - low)), low, True
    shares[g] = share
    while k <= high:
        n = 0
        while k <= high and n < PICKED:
            if k != centre:
                picked[n] = places[k]
                n += 1
            k += 1
        for rest in range(n, PICKED):
            picked[rest] = copies.shape[0] - 1  # a row of zeros
        if is_first and n <= PICKED // 2:
            write_sum_of_four(copies, picked, means, g, share)
        elif is_first:
            write_sum_of_eight(copies, picked, means, g, share)
        else:
            add_sum_of_eight(copies, picked, means, g, share)
        is_first = False


@njit_no_refcount
def write_sum_of_four(copies, picked, means, g, share):
    """Write four rows' sum, times the share of each."""
    a, b, c, d = picked[0], picked[1], picked[2], picked[3]
    for j in range(copies.shape[1]):
        means[g, j] = share * ((copies[a, j] + copies[b, j]) + (copies[c, j] + copies[d, j]))


@njit_no_refcount
def write_sum_of_eight(copies, picked, means, g, share):
    """Write eight rows' sum, times the share of each."""
    a, b, c, d, e, f, h, i = picked[0], picked[1], picked[2], picked[3], picked[4], picked[5], picked[6], picked[7]
    for j in range(copies.shape[1]):
        first = (copies[a, j] + copies[b, j]) + (copies[c, j] + copies[d, j])
        means[g, j] = share * (first + ((copies[e, j] + copies[f, j]) + (copies[h, j] + copies[i, j])))


@njit_no_refcount
def add_sum_of_eight(copies, picked, means, g, share):
    """Add eight rows' sum, times the share of each."""
    a, b, c, d, e, f, h, i = picked[0], picked[1], picked[2], picked[3], picked[4], picked[5], picked[6], picked[7]
    for j in range(copies.shape[1]):
        first = (copies[a, j] + copies[b, j]) + (copies[c, j] + copies[d, j])
        means[g, j] += share * (first + ((copies[e, j] + copies[f, j]) + (copies[h, j] + copies[i, j])))


@njit_no_refcount
def write_scores(copies, examples, negatives, means, scores, n):
    """Write h·o for the word of each example, and then for all examples of one negative after the other."""
    for g in range(n):
        scores[g] = product(copies, examples[ANSWER, g], means, g)
    for m in range(negatives.shape[1]):
        four_products(copies, negatives[1, m], means, scores, (m + 1) * GROUP)


@njit_sum
def product(copies, place, means, g):
    """Return h·o."""
    total = np.float32(0.0)
    for j in range(copies.shape[1]):
        total += copies[place, j] * means[g, j]
    return total


@njit_sum
def four_products(copies, place, means, scores, at):
    """Write h·o for four examples, with one look at o."""
    first = second = third = fourth = np.float32(0.0)
    for j in range(copies.shape[1]):
        entry = copies[place, j]
        first += entry * means[0, j]
        second += entry * means[1, j]
        third += entry * means[2, j]
        fourth += entry * means[3, j]
    scores[at], scores[at + 1], scores[at + 2], scores[at + 3] = first, second, third, fourth


@njit_no_refcount
def write_steps(examples, negatives, work, n, rate):
    """Replace each score by rate · (label - σ(score)); return the sum of all losses in float64.

    A score whose sign is turned where the label is 1 says how wrong its answer is: the probability of that is σ of it.
    """
    scores, right, wrong = work.scores, work.right, work.wrong
    for i in range(GROUP):
        scores[i] = -scores[i]
    for i in range(scores.size):
        wrong[i] = abs(scores[i])
    exp_of_strip(wrong, work.bits, work.powers, 0.0)
    for i in range(scores.size):
        likely = 1.0 / (1.0 + wrong[i])
        unlikely = wrong[i] * likely
        right[i] = unlikely if scores[i] > 0.0 else likely
        wrong[i] = likely if scores[i] > 0.0 else unlikely
    leave_out(examples, negatives, right, wrong, n)
    loss = loss_of(scores, right)
    for i in range(scores.size):
        scores[i] = rate * wrong[i] if i < GROUP else -rate * wrong[i]
    return loss


@njit_no_refcount
def leave_out(examples, negatives, right, wrong, n):
    """Make certain what is no example, and negatives that are the answer itself: then nothing is to change."""
    for g in range(n, GROUP):
        for at in range(g, right.size, GROUP):
            right[at], wrong[at] = 1.0, 0.0
    for m in range(negatives.shape[1]):
        for g in range(n):
            if negatives[0, m] == examples[WORD, g]:
                right[(m + 1) * GROUP + g], wrong[(m + 1) * GROUP + g] = 1.0, 0.0


@njit_no_refcount
def loss_of(scores, right):
    """Return the sum of -log of all probabilities: one logarithm of their product, unless that is too small."""
    a = b = c = d = 1.0
    for i in range(0, right.size, GROUP):
        a, b, c, d = a * right[i], b * right[i + 1], c * right[i + 2], d * right[i + 3]
    product_of_all = (a * b) * (c * d)
    if product_of_all > SMALL:
        return -math.log(product_of_all)
    loss = 0.0
    for i in range(right.size):
        loss += -math.log(right[i]) if right[i] > SMALL else abs(scores[i])
    return loss


@njit_no_refcount
def first_change(copies, place, means, changes, g, step):
    """Change the vector of an example's word; what its mean is to change by begins here."""
    for j in range(copies.shape[1]):
        entry = copies[place, j]
        changes[g, j] = step * entry
        copies[place, j] = entry + step * means[g, j]


@njit_no_refcount
def change_for_four(copies, place, means, changes, scores, at):
    """Change one negative by four examples; where a group has fewer, the steps of the others are 0."""
    first, second = np.float32(scores[at]), np.float32(scores[at + 1])
    third, fourth = np.float32(scores[at + 2]), np.float32(scores[at + 3])
    for j in range(copies.shape[1]):
        entry = copies[place, j]
        changes[0, j] += first * entry
        changes[1, j] += second * entry
        changes[2, j] += third * entry
        changes[3, j] += fourth * entry
        step = (first * means[0, j] + second * means[1, j]) + (third * means[2, j] + fourth * means[3, j])
        copies[place, j] = entry + step


@njit_no_refcount
def change_contexts(copies, places, examples, changes, n, shares):
    """Change the vectors of all contexts: those of a word by all examples whose context it is in, at once."""
    for g in range(n, GROUP):  # no example: nothing is in its context
        examples[LOW, g], examples[HIGH, g] = examples[HIGH, 0], examples[LOW, 0] - 1
    first, last = examples[LOW, 0], examples[HIGH, n - 1]
    for g in range(n):
        first, last = min(first, examples[LOW, g]), max(last, examples[HIGH, g])
    for k in range(first, last + 1):
        a, b = share_of(examples, shares, 0, k), share_of(examples, shares, 1, k)
        c, d = share_of(examples, shares, 2, k), share_of(examples, shares, 3, k)
        if a + b + c + d > 0.0:
            change_context_word(copies, places[k], changes, a, b, c, d)


@njit_no_refcount
def share_of(examples, shares, g, k):
    """Return which part of an example's change goes to the word at ``k``: 0 outside of its context."""
    is_inside = (k >= examples[LOW, g]) & (k <= examples[HIGH, g]) & (k != examples[CENTRE, g])
    return shares[g] if is_inside else np.float32(0.0)


@njit_no_refcount
def change_context_word(copies, place, changes, a, b, c, d):
    """Add the shares of four changes to a row."""
    for j in range(copies.shape[1]):
        copies[place, j] += (a * changes[0, j] + b * changes[1, j]) + (c * changes[2, j] + d * changes[3, j])
