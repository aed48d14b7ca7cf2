"""One shard of a round: the words of its piece of text, its examples in groups, and what they changed.

    text      … x x x | w w w w w w w w w w | x x x …      its own words are centres; those around them only contexts
    examples  groups of 4, each with negatives of its own

Whether a word is kept follows from the seed of the epoch and the word's place alone, so two shards see the same text
where they meet.
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.distinct import splitmix64
from eigenwood.core.fetching import fetch_row
from eigenwood.core.words.groups import train_group
from eigenwood.core.words.workspace import (
    ANSWER,
    CENTRE,
    FIRST_WORD,
    GROUP,
    HIGH,
    LOW,
    MERGES,
    RATE,
    SEED,
    SENTENCE_END,
    SHARD_WORDS,
    WORD,
    Group,
)

AHEAD = 3  # rows that are asked for before they are needed
GOLDEN, HALF, LOW_BITS = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(0xFFFFFFFF)


@njit_no_refcount
def train_shard(b, s):
    """Train on a shard's piece of text; what changes are its copies."""
    shards, text = b.shards, b.text
    start = b.whole[FIRST_WORD] + s * b.whole[SHARD_WORDS]
    end = min(start + b.whole[SHARD_WORDS], text.ids.size)
    shards.loss[s, 0], shards.n_examples[s, 0], shards.n_rows[s] = 0.0, 0, 0
    shards.part_ends[s, :] = 0
    if start >= end:
        return
    seed = splitmix64(np.uint64(b.whole[SEED]))
    k, last, n_words = write_words(text, seed, start, end, b.rule.window, shards.words[s])
    write_places(b, s, n_words)
    state = splitmix64(seed ^ (np.uint64(start) * GOLDEN))
    work, rate = group_of(b.groups, s), b.real[RATE]
    copies, places, examples, negatives = shards.copies[s], shards.places[s], shards.examples[s], shards.negatives[s]
    while k < last:
        k, n, state = write_examples(b, s, k, last, n_words, state)
        if n > 0:
            state = write_negatives(b, s, state)
            shards.loss[s, 0] += train_group(copies, places, examples, negatives, work, n, b.rule, rate)
            shards.n_examples[s, 0] += n
    sort_by_part(shards, s)


@njit_no_refcount
def group_of(groups, s):
    """Return the part of the workspace that is for the groups of one shard."""
    return Group(
        groups.means[s],
        groups.changes[s],
        groups.shares[s],
        groups.picked[s],
        groups.scores[s],
        groups.right[s],
        groups.wrong[s],
        groups.bits[s],
        groups.powers[s],
    )


@njit_no_refcount
def write_words(text, seed, start, end, window, words):
    """Write the words that are kept, with contexts on both sides; return first and last centre, and their number."""
    ids = text.ids
    at, n_before = start, 0
    while at > 0 and n_before < window and ids[at - 1] != SENTENCE_END:
        at -= 1
        n_before += is_kept(text, seed, at)
    n, first = 0, 0
    while at < end:
        if at == start:
            first = n
        if ids[at] == SENTENCE_END or is_kept(text, seed, at):
            words[n] = ids[at]
            n += 1
        at += 1
    last, n_after = n, 0
    while at < ids.size and n_after < window and ids[at] != SENTENCE_END:
        if is_kept(text, seed, at):
            words[n] = ids[at]
            n += 1
            n_after += 1
        at += 1
    return first, last, n


@njit_no_refcount
def is_kept(text, seed, at):
    """Return whether subsampling keeps the word at a place."""
    return splitmix64(seed + np.uint64(at) * GOLDEN) >> HALF < text.keep[text.ids[at]]


@njit_no_refcount
def write_places(b, s, n_words):
    """Write where the copies of all words of the text are."""
    words, places = b.shards.words[s], b.shards.places[s]
    for k in range(n_words):
        if words[k] != SENTENCE_END:
            places[k] = place_of(b, s, words[k])


@njit_no_refcount
def write_examples(b, s, k, last, n_words, state):
    """Write the examples of the next group; return the centre after them, their number, and the random state."""
    words, examples, n = b.shards.words[s], b.shards.examples[s], 0
    window, n_vocabulary = np.uint64(b.rule.window), b.text.alias.size
    while k < last and n < GROUP:
        if words[k] != SENTENCE_END:
            state += GOLDEN
            reach = 1 + np.int64(((splitmix64(state) >> HALF) * window) >> HALF)
            low, high = context_of(words, k, reach, n_words)
            if low < high:
                examples[LOW, n], examples[HIGH, n], examples[CENTRE, n] = low, high, k
                examples[WORD, n], examples[ANSWER, n] = words[k], place_of(b, s, words[k] + n_vocabulary)
                n += 1
        k += 1
    return k, n, state


@njit_no_refcount
def context_of(words, k, reach, n_words):
    """Return the first and the last word of a window that ends with the sentence."""
    low = high = k
    while low > 0 and k - low < reach and words[low - 1] != SENTENCE_END:
        low -= 1
    while high + 1 < n_words and high - k < reach and words[high + 1] != SENTENCE_END:
        high += 1
    return low, high


@njit_no_refcount
def write_negatives(b, s, state):
    """Draw the negatives of a group; return the random state."""
    negatives, text = b.shards.negatives[s], b.text
    n_vocabulary = np.uint64(text.alias.size)
    for m in range(negatives.shape[1]):
        state += GOLDEN
        bits = splitmix64(state)
        word = np.int64(((bits >> HALF) * n_vocabulary) >> HALF)
        if bits & LOW_BITS >= text.alias_share[word]:
            word = np.int64(text.alias[word])
        negatives[0, m] = word
        negatives[1, m] = place_of(b, s, word + text.alias.size)
    return state


@njit_no_refcount
def place_of(b, s, row):
    """Return where the copy of a row is; make one if there is none."""
    shards = b.shards
    place = shards.slots[s, row]
    if place < 0:
        place = np.int32(shards.n_rows[s])
        shards.slots[s, row], shards.rows[s, place] = place, row
        shards.n_rows[s] += 1
        copies = shards.copies[s]
        for j in range(copies.shape[1]):
            copies[place, j] = b.weights[row, j]
    return place


@njit_no_refcount
def sort_by_part(shards, s):
    """List the copies of a shard by the part of the weights that their rows are in; ``part_ends`` was 0."""
    rows, by_part, ends, n_rows = shards.rows[s], shards.by_part[s], shards.part_ends[s], shards.n_rows[s]
    for k in range(n_rows):
        ends[rows[k] % MERGES + 1] += 1
    for part in range(1, MERGES):
        ends[part + 1] += ends[part]
    for k in range(n_rows):  # each end moves from where a part begins to where it ends, and is behind that of the next
        part = rows[k] % MERGES
        by_part[ends[part]] = k
        ends[part] += 1
    for part in range(MERGES, 0, -1):
        ends[part] = ends[part - 1]
    ends[0] = 0


@njit_no_refcount
def add_changes(b, part):
    """Add to a part of the weights what all shards have changed, in their order.

    Where m shards have the copies c_s of a row w, that makes w + Σ (c_s - w), which is Σ c_s - (m - 1) w. At a rate of
    0, which is how losses are measured, nothing is to change.
    """
    shards, weights, n_copies, changes = b.shards, b.weights, b.n_copies, b.real[RATE] != 0.0
    for s in range(shards.n_rows.size):
        rows, by_part = shards.rows[s], shards.by_part[s]
        for i in range(shards.part_ends[s, part], shards.part_ends[s, part + 1]):
            n_copies[rows[by_part[i]]] += 1
    for s in range(shards.n_rows.size):
        slots, rows, copies, by_part = shards.slots[s], shards.rows[s], shards.copies[s], shards.by_part[s]
        end = shards.part_ends[s, part + 1]
        for i in range(shards.part_ends[s, part], end):
            ahead = by_part[min(i + AHEAD, end - 1)]
            fetch_row(weights, rows[ahead])
            fetch_row(copies, ahead)
            k = by_part[i]
            row = rows[k]
            slots[row] = -1
            if changes:
                add_copy(copies, k, weights, row, n_copies[row])
            n_copies[row] = 0  # the others are added to it


@njit_no_refcount
def add_copy(copies, k, weights, row, n_copies):
    """Put a copy in the place of a row, or the first of several, or add one to those before."""
    if n_copies == 1:
        for j in range(copies.shape[1]):
            weights[row, j] = copies[k, j]
    elif n_copies > 1:
        others = np.float32(n_copies - 1)
        for j in range(copies.shape[1]):
            weights[row, j] = copies[k, j] - others * weights[row, j]
    else:
        for j in range(copies.shape[1]):
            weights[row, j] += copies[k, j]
