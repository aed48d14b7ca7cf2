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
def plan_shard(b, s):
    """Find the examples of a shard's piece of text, draw their negatives, and list the rows they need."""
    shards, text = b.shards, b.text
    start = b.whole[FIRST_WORD] + s * b.whole[SHARD_WORDS]
    end = min(start + b.whole[SHARD_WORDS], text.ids.size)
    shards.n_rows[s], shards.n_groups[s], shards.part_ends[s, :] = 0, 0, 0
    if start >= end:
        return
    seed = splitmix64(np.uint64(b.whole[SEED]))
    k, last, n_words = write_words(text, seed, start, end, b.rule.window, shards.words[s])
    write_places(b, s, n_words)
    state, g = splitmix64(seed ^ (np.uint64(start) * GOLDEN)), 0
    while k < last:
        k, n, state = write_examples(b, s, g, k, last, n_words, state)
        if n > 0:
            shards.n_in_group[s, g] = n
            state = write_negatives(b, s, g, state)
            g += 1
    shards.n_groups[s] = g
    places = shards.places[s]
    for k in range(n_words, places.size):
        places[k] = 0
    sort_by_part(shards, s)


@njit_no_refcount
def find_rows(b, part):
    """Say for a part of the weights where each shard finds the rows: in their place if no other one needs them."""
    shards, n_copies, most = b.shards, b.n_copies, b.shards.rows.shape[1]
    for s in range(shards.n_rows.size):
        rows, by_part = shards.rows[s], shards.by_part[s]
        for i in range(shards.part_ends[s, part], shards.part_ends[s, part + 1]):
            n_copies[rows[by_part[i]]] += 1
    for s in range(shards.n_rows.size):
        slots, rows, where, by_part = shards.slots[s], shards.rows[s], shards.where[s], shards.by_part[s]
        first = b.weights.shape[0] + s * most
        for i in range(shards.part_ends[s, part], shards.part_ends[s, part + 1]):
            k = by_part[i]
            slots[rows[k]] = -1
            where[k] = rows[k] if n_copies[rows[k]] == 1 else first + k


@njit_no_refcount
def train_shard(b, s):
    """Train on a shard's examples; what changes are rows that nobody else needs, and its own copies."""
    shards, table = b.shards, b.table
    shards.loss[s, 0], shards.n_examples[s, 0] = 0.0, 0
    copy_shared_rows(b, s)  # where there is no example, too: all copies are added
    if shards.n_groups[s] == 0:
        return
    places, where = shards.places[s], shards.where[s]
    for k in range(places.size):
        places[k] = where[places[k]]
    for g in range(shards.n_groups[s]):
        find_answers(shards, s, g)
    work, rate, loss, n_examples = group_of(b.groups, s), b.real[RATE], 0.0, 0
    for g in range(shards.n_groups[s]):
        fetch_answers(b, s, min(g + 1, shards.n_groups[s] - 1))
        n = shards.n_in_group[s, g]
        loss += train_group(table, places, shards.examples[s, g], shards.negatives[s, g], work, n, b.rule, rate)
        n_examples += n
    shards.loss[s, 0], shards.n_examples[s, 0] = loss, n_examples


@njit_no_refcount
def copy_shared_rows(b, s):
    """Copy the rows that other shards need as well."""
    shards, table, n_own = b.shards, b.table, b.weights.shape[0]
    rows, where, n_rows = shards.rows[s], shards.where[s], shards.n_rows[s]
    for k in range(n_rows):
        fetch_row(table, rows[min(k + AHEAD, n_rows - 1)])
        if where[k] >= n_own:
            for j in range(table.shape[1]):
                table[where[k], j] = table[rows[k], j]


@njit_no_refcount
def find_answers(shards, s, g):
    """Write where the rows of a group's answers are, in place of their numbers."""
    where, examples, negatives = shards.where[s], shards.examples[s, g], shards.negatives[s, g]
    for i in range(shards.n_in_group[s, g]):
        examples[ANSWER, i] = where[examples[ANSWER, i]]
    for m in range(negatives.shape[1]):
        negatives[1, m] = where[negatives[1, m]]


@njit_no_refcount
def fetch_answers(b, s, g):
    """Ask for the rows of a group's answers."""
    examples, negatives = b.shards.examples[s, g], b.shards.negatives[s, g]
    for i in range(b.shards.n_in_group[s, g]):
        fetch_row(b.table, examples[ANSWER, i])
    for m in range(negatives.shape[1]):
        fetch_row(b.table, negatives[1, m])


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
    """Write the numbers of the rows of all words of the text."""
    words, places = b.shards.words[s], b.shards.places[s]
    for k in range(n_words):
        if words[k] != SENTENCE_END:
            places[k] = number_of(b, s, words[k])
        else:
            places[k] = 0


@njit_no_refcount
def write_examples(b, s, g, k, last, n_words, state):
    """Write the examples of the next group; return the centre after them, their number, and the random state."""
    words, examples, n = b.shards.words[s], b.shards.examples[s, g], 0
    window, n_vocabulary = np.uint64(b.rule.window), b.text.alias.size
    while k < last and n < GROUP:
        if words[k] != SENTENCE_END:
            state += GOLDEN
            reach = 1 + np.int64(((splitmix64(state) >> HALF) * window) >> HALF)
            low, high = context_of(words, k, reach, n_words)
            if low < high:
                examples[LOW, n], examples[HIGH, n], examples[CENTRE, n] = low, high, k
                examples[WORD, n], examples[ANSWER, n] = words[k], number_of(b, s, words[k] + n_vocabulary)
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
def write_negatives(b, s, g, state):
    """Draw the negatives of a group; return the random state."""
    negatives, text = b.shards.negatives[s, g], b.text
    n_vocabulary = np.uint64(text.alias.size)
    for m in range(negatives.shape[1]):
        state += GOLDEN
        bits = splitmix64(state)
        word = np.int64(((bits >> HALF) * n_vocabulary) >> HALF)
        if bits & LOW_BITS >= text.alias_share[word]:
            word = np.int64(text.alias[word])
        negatives[0, m] = word
        negatives[1, m] = number_of(b, s, word + text.alias.size)
    return state


@njit_no_refcount
def number_of(b, s, row):
    """Return the number of a row that is needed; a new one if it was not until now."""
    slots, rows, n_rows = b.shards.slots[s], b.shards.rows[s], b.shards.n_rows
    number = slots[row]
    if number < 0:
        number = np.int32(n_rows[s])
        slots[row], rows[number] = number, row
        n_rows[s] += 1
    return number


@njit_no_refcount
def sort_by_part(shards, s):
    """List the rows of a shard by the part of the weights that they are in; ``part_ends`` was 0."""
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
    """Add to a part of the weights what all shards have changed in copies, in their order.

    Where m shards have the copies c_s of a row w, that makes w + Σ (c_s - w), which is Σ c_s - (m - 1) w. At a rate of
    0, which is how losses are measured, nothing is to change.
    """
    shards, table, n_own, n_copies = b.shards, b.table, b.weights.shape[0], b.n_copies
    changes = b.real[RATE] != 0.0
    for s in range(shards.n_rows.size):
        rows, where, by_part = shards.rows[s], shards.where[s], shards.by_part[s]
        end = shards.part_ends[s, part + 1]
        for i in range(shards.part_ends[s, part], end):
            ahead, k = by_part[min(i + AHEAD, end - 1)], by_part[i]
            if where[ahead] >= n_own:
                fetch_row(table, rows[ahead])
                fetch_row(table, where[ahead])
            if changes and where[k] >= n_own:
                add_copy(table, where[k], rows[k], n_copies[rows[k]])
            n_copies[rows[k]] = 0  # the others are added to it


@njit_no_refcount
def add_copy(table, copy, row, n_copies):
    """Put the first of several copies in the place of a row, or add one to those before."""
    if n_copies > 0:
        others = np.float32(n_copies - 1)
        for j in range(table.shape[1]):
            table[row, j] = table[copy, j] - others * table[row, j]
    else:
        for j in range(table.shape[1]):
            table[row, j] += table[copy, j]
