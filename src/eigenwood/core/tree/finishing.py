"""A small node grows to its end, with its rows at hand.

A tree has many more small nodes than large ones, and each has little work: so they are grown by one loop that calls
little, makes nothing, and keeps what it needs close together.

    rows of the small node     0  1  2  3  4  5  6  7      their labels, weights and thin columns lie in this order
    its first question         0  2  5  7 │ 1  3  4  6     a node below has a stretch of it
                               2  5 │ 0  7

A column is cut where its rows stand in order: a few are put in order by counting for each how many are less, more by
their codes. Where there are many rows for each code, they are added up instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit_forceinline, njit_no_refcount
from eigenwood.core.bits import ONE, add_member, is_member, taken_out, word_count
from eigenwood.core.distinct import mixed
from eigenwood.core.fetching import fetch_row
from eigenwood.core.memory import room_for
from eigenwood.core.tree.adding import add_up_slots, cleared, code_at, code_of, ordered_slots, write_groups
from eigenwood.core.tree.branching import (
    DEFAULT_LEFT,
    FEATURE,
    LEFT,
    N_LATER,
    N_NODES,
    RIGHT,
    ROUNDING,
    THRESHOLD,
    Place,
    described_amounts,
    described_sums,
    middle_between,
    stays_leaf,
    write_leaf,
)
from eigenwood.core.tree.cutting import best_class_cut, is_free, line_cost, tie_of
from eigenwood.core.tree.drawing import NO_KEY, band_for, make_small_draw, next_band, next_drawn
from eigenwood.core.tree.impurity import GINI, SQUARED_ERROR, is_classifying, squared_sides
from eigenwood.core.tree.scanning import (
    AT_A_TIME,
    NONE,
    PLACE,
    PLACE_BITS,
    SMALL,
    UNCLEAR,
    code_in,
    cut_amounts,
    cut_classes,
    cut_pair,
    split_of_amounts,
)
from eigenwood.core.tree.splitting import (
    AHEAD,
    NO_GAP,
    NOTHING,
    Node,
    Split,
    dense_range,
    gap_between,
    leaves_nothing,
    pair_gap,
    thin_range,
)
from eigenwood.core.tree.summing import SPREAD, cut_of_sums

TURNS, MANY = 4, 32  # labels of more rows are added up in turns
VERY_FEW, FEW, LANES = 8, 64, 16  # so few rows are ordered by insertion, and by counting
MANY_ZEROS = 4  # codes of 0 are taken out before, if they are one in so many
NEAR, WORTH = 256, 4  # rows of a node below which orders are kept, if at least one column in four is looked at …
FARTHEST = 1024  # … and if all are
BYTE_BITS, BYTE = 8, 255
START, END, DEPTH, PARENT, SIDE, KEPT = range(6)  # a node that waits
CODES = 1 << 20  # more than a feature has
NO_ROWS = np.uint64(0)  # a count without a sign: Numba need not ask of a place whether it is counted from the end
LAST = np.uint32(np.iinfo(np.uint32).max)
NOT_LOOKED = NOTHING._replace(candidate=UNCLEAR)


class Hand(NamedTuple):
    """Room for a small node."""

    rows: np.ndarray  # (SMALL,) in the table
    labels: np.ndarray  # (SMALL,) of these rows, in their order …
    amounts: np.ndarray
    weights: np.ndarray
    pulls: np.ndarray  # (SMALL,) of the node at hand: weight times distance from the mean
    own: np.ndarray  # (SMALL,) which of these rows the nodes below have
    table: np.ndarray  # (SMALL, n_columns) their codes, if the table is kept by row, or all are looked at
    entry_start: np.ndarray  # (SMALL + 1,) their thin columns: entries in slots that some of them have …
    entries: np.ndarray
    slot_at: np.ndarray  # (n_slots,) … where such a slot of the table is found, and -1 for others
    slot_feature: np.ndarray  # (n_slots,) the feature of a slot, its code, and random bits
    slot_code: np.ndarray
    slot_keys: np.ndarray
    slot_sums: np.ndarray  # (n_slots + 1, n_sums + 1) all zero between two uses, but the last, that of the common code
    slot_bits: np.ndarray
    slots: np.ndarray  # of the node at hand: the slots that occur …
    group: np.ndarray  # … and where those of a feature begin among them
    lines: np.ndarray  # (n_slots + 1,) the lines of one feature, in the order of their codes
    node_rows: np.ndarray  # of the node at hand: its rows in the table, and their targets
    node_labels: np.ndarray  # (SMALL, 1)
    node_amounts: np.ndarray  # (SMALL, 1)
    node_weights: np.ndarray
    tallies: np.ndarray  # (TURNS, n_sums) parts of the total
    total: np.ndarray  # (n_sums,) of all its rows
    left: np.ndarray  # (n_sums + 2,)
    order: np.ndarray  # (n_columns, SMALL) the keys of all its columns in order, if those are kept
    is_left: np.ndarray  # (SMALL,) where a row goes
    keys: np.ndarray  # of one of its columns: codes, and in the last bits which rows they are of
    ordered: np.ndarray  # the same in order
    spare: np.ndarray
    lefts: np.ndarray  # of the cuts of one or more columns: the weight on the left …
    parts: np.ndarray  # … its part of the impurity, and that of the right side
    rests: np.ndarray
    costs: np.ndarray
    ranks: np.ndarray  # (FEW,)
    counts: np.ndarray
    sums: np.ndarray
    feature_keys: np.ndarray  # (n_columns,) random bits
    draw: np.ndarray  # (n_columns + n_slots,) of the candidates: random bits, and in the last bits which they are of
    near: np.ndarray  # of the same, those that come next
    constant: np.ndarray  # columns that are known to be constant, as bits
    stack: np.ndarray  # the nodes that wait
    seeds: np.ndarray
    constants: np.ndarray


def new_hand(codes, target, n_sums: int, all_tried: bool) -> Hand:
    """Return room for the small nodes of a table; whether they look at all features."""
    n_slots, n_columns = codes.slot_feature.size, codes.feature.size
    n_words, n_labels = word_count(n_columns), SMALL if target.labels.shape[0] else 0
    n_amounts, longest = SMALL - n_labels, int(np.diff(codes.entry_start).max(initial=0))
    has_table = codes.by_row.shape[0] > 0 or all_tried
    return Hand(
        rows=np.empty(SMALL, dtype=np.uint32),
        labels=np.empty(n_labels, dtype=np.uint32),
        amounts=np.empty(n_amounts),
        weights=np.empty(SMALL),
        pulls=np.empty(n_amounts),
        own=np.empty(SMALL, dtype=np.uint32),
        table=np.empty((SMALL if has_table else 0, n_columns), dtype=codes.columns.dtype),
        entry_start=np.zeros(SMALL + 1, dtype=np.int64),
        entries=np.empty(SMALL * longest, dtype=np.int32),
        slot_at=np.zeros(n_slots, dtype=np.int32),
        slot_feature=np.empty(n_slots, dtype=codes.slot_feature.dtype),
        slot_code=np.empty(n_slots, dtype=codes.slot_code.dtype),
        slot_keys=np.empty(n_slots, dtype=np.uint64),
        slot_sums=room_for((n_slots + 1, n_sums + 1)),
        slot_bits=np.zeros(word_count(n_slots), dtype=np.uint64),
        slots=np.empty(n_slots, dtype=np.int64),
        group=np.empty(n_slots + 1, dtype=np.int64),
        lines=np.empty(n_slots + 1, dtype=np.int64),
        node_rows=np.empty(SMALL, dtype=np.uint32),
        node_labels=np.empty((n_labels, 1), dtype=np.uint32),
        node_amounts=np.empty((n_amounts, 1)),
        node_weights=np.empty(SMALL),
        tallies=np.empty((TURNS, n_sums)),
        total=np.empty(n_sums),
        left=np.empty(n_sums + 2),
        order=room_for((n_columns, SMALL), np.uint32),
        is_left=np.empty(SMALL, dtype=np.uint8),
        keys=np.empty(SMALL + LANES, dtype=np.uint32),
        ordered=np.empty(SMALL, dtype=np.uint32),
        spare=np.empty(SMALL, dtype=np.uint32),
        lefts=np.zeros(SMALL + AT_A_TIME),
        parts=np.zeros(SMALL + AT_A_TIME),
        rests=np.zeros(SMALL + AT_A_TIME),
        costs=np.empty(SMALL + AT_A_TIME),
        ranks=np.empty(FEW, dtype=np.int32),
        counts=np.zeros(SPREAD * SMALL, dtype=np.int32),
        sums=np.zeros(SPREAD * SMALL),
        feature_keys=mixed(codes.feature.astype(np.uint64) + ONE),
        draw=np.empty(n_columns + n_slots, dtype=np.uint64),
        near=np.empty(n_columns + n_slots, dtype=np.uint64),
        constant=np.empty(n_words, dtype=np.uint64),
        stack=np.empty((SMALL + 1, 6), dtype=np.int32),
        seeds=np.empty(SMALL + 1, dtype=np.uint64),
        constants=np.empty((SMALL + 1, n_words), dtype=np.uint64),
    )


@njit_no_refcount
def finish(codes, features, target, rows, rule, logs, growth, hand):
    """Grow the small nodes that are left for later, each to its end."""
    later = growth.later
    for i in range(growth.counts[N_LATER]):
        start, end = later[i, START], later[i, END]
        take(target, rows[start:end], hand)
        if codes.by_row.shape[0] > 0:
            take_codes(codes.by_row, rows[start:end], hand.table)
        elif hand.table.shape[0] > 0:
            take_columns(codes.columns, rows[start:end], hand.table)
        n_slots = take_entries(codes, rows[start:end], hand)
        hand.constant[:] = 0
        line = (later[i, DEPTH], later[i, PARENT])
        wait(hand, 0, 0, end - start, line, later[i, SIDE], False, growth.later_seeds[i])
        grow_small(codes, features, target.starts, rule, logs, growth, hand, n_slots)


@njit_no_refcount
def take(target, rows, hand):
    """Write the rows of a small node and their targets."""
    for i in range(rows.size):
        row = rows[i]
        hand.rows[i], hand.own[i] = row, i
        hand.weights[i] = target.weights[row] if target.weights.size > 0 else 1.0
        if hand.labels.size > 0:
            hand.labels[i] = target.labels[row, 0]
        else:
            hand.amounts[i] = target.amounts[row, 0]


@njit_no_refcount
def take_codes(by_row, rows, table):
    """Write the codes of the rows one after the other."""
    for i in range(rows.size):
        fetch_row(by_row, rows[min(i + AHEAD, rows.size - 1)])
        source, room = by_row[rows[i]], table[i]
        for j in range(room.size):
            room[j] = source[j]


@njit_no_refcount
def take_columns(columns, rows, table):
    """Write the same where the codes of a column stand together."""
    for at in range(columns.shape[0]):
        for i in range(rows.size):
            table[i, at] = columns[at, rows[i]]


@njit_no_refcount
def take_entries(codes, rows, hand):
    """Write the entries in slots that some of the rows have and others do not, and return how many slots those are."""
    at, n_kept, n = hand.slot_at, 0, 0
    if at.size == 0:
        return 0
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            at[codes.entries[e]] += 1
    for slot in range(at.size):
        if at[slot] == 0 or at[slot] == rows.size:
            at[slot] = -1
            continue
        at[slot], hand.slot_feature[n_kept], hand.slot_code[n_kept] = (
            n_kept,
            codes.slot_feature[slot],
            codes.slot_code[slot],
        )
        hand.slot_keys[n_kept] = mixed(np.uint64(codes.slot_feature[slot] + 1))
        n_kept += 1
    for i in range(rows.size):
        for e in range(codes.entry_start[rows[i]], codes.entry_start[rows[i] + 1]):
            slot = at[codes.entries[e]]
            if slot >= 0:
                hand.entries[n] = slot
                n += 1
        hand.entry_start[i + 1] = n
    for slot in range(at.size):
        at[slot] = 0
    return n_kept


@njit_no_refcount
def grow_small(codes, features, starts, rule, logs, growth, hand, n_slots):
    """Grow the node that waits in ``hand`` to its end."""
    stack, seeds, counts = hand.stack, hand.seeds, growth.counts
    n_stack, own, weights = 1, hand.own, hand.node_weights
    classifying, rows, first = is_classifying(rule.criterion), hand.node_rows, counts[N_NODES]
    all_tried = rule.max_features >= features.kind.size and n_slots == 0 and is_free(rule, 0)
    near = max(NEAR, FARTHEST * rule.max_features // features.kind.size)
    together = all_tried and rule.criterion == SQUARED_ERROR and not has_missing(codes.feature, features.missing)
    while n_stack > 0:
        n_stack -= 1
        start, end, depth = stack[n_stack, START], stack[n_stack, END], stack[n_stack, DEPTH]
        parent, side, seed, node = stack[n_stack, PARENT], stack[n_stack, SIDE], seeds[n_stack], counts[N_NODES]
        place, n = Place(start, end, depth, seed, -np.inf, np.inf), end - start
        if parent >= 0:
            growth.whole[parent, side] = node
        counts[N_NODES] = node + 1
        if n == 1:
            write_lone(hand.labels, hand.amounts, hand.weights, own[start], growth, node)
            continue
        here = own[start:end]
        if classifying:
            for i in range(n):
                at = here[i]
                rows[i], weights[i], hand.node_labels[i, 0] = hand.rows[at], hand.weights[at], hand.labels[at]
            add_labels(hand.node_labels, weights, n, hand.tallies, hand.total)
            known, pure = described_sums(hand.total, starts, rule.criterion, place, growth.value[node])
        else:
            for i in range(n):
                at = here[i]
                rows[i], weights[i], hand.node_amounts[i, 0] = hand.rows[at], hand.weights[at], hand.amounts[at]
            known, pure = described_amounts(
                hand.node_amounts[:n], weights[:n], starts, rule.criterion, hand.total, place, growth.value[node]
            )
            for i in range(n):  # the mean was taken off
                hand.pulls[here[i]] = weights[i] * hand.node_amounts[i, 0]
        write_leaf(growth.whole, growth.real, node, n, known)
        if stays_leaf(known, pure, place, rule):
            continue
        if n == 2 and all_tried:
            grow_pair(codes, features, rule, growth, hand, known, node, own[start], own[start + 1])
            continue
        for k in range(hand.constant.size):
            hand.constant[k] = hand.constants[n_stack, k]
        kept = stack[n_stack, KEPT] == 1 and n > 2
        if not kept and 2 < n <= near and codes.feature.size <= WORTH * rule.max_features:
            write_orders(
                codes.columns,
                hand.table,
                hand.constant,
                rows,
                own,
                start,
                n,
                hand.keys,
                hand.ranks,
                hand.counts,
                hand.order,
            )
            kept = True
        split = NOT_LOOKED
        if kept and together and n * codes.feature.size <= SMALL:
            split = split_together(codes, hand, known, start, n)
        if split.candidate == UNCLEAR:
            split = small_split(codes, features, starts, rule, logs, hand, n_slots, known, start, n, kept)
        if split.candidate < 0 or gains_little(split.cost, known, rule):
            continue
        if not kept or split.candidate >= codes.feature.size:
            write_keys(codes, features, hand, split.candidate, start, n)
        missing = missing_at(codes, features, split.candidate, split.feature) if split.missing_left == 1 else -1
        if kept and split.candidate < codes.feature.size:
            mark_left(hand.order[split.candidate, start:end], n, split.place, missing, hand.is_left)
        else:
            mark_left(hand.keys, n, split.place, missing, hand.is_left)
        n_left, balance = moved(hand.is_left, n, own, start, hand.weights, hand.spare)
        if kept and max(n_left, n - n_left) > 2:
            move_orders(hand.order, hand.constant, hand.is_left, start, n, hand.spare)
        growth.real[node, THRESHOLD], growth.whole[node, FEATURE] = both_codes(split.below, split.above), split.feature
        growth.whole[node, DEFAULT_LEFT] = split.missing_left if split.missing_left >= 0 else balance > 0.0
        middle, line = start + n_left, (depth + 1, node)
        wait(hand, n_stack, middle, end, line, RIGHT, kept, mixed(seed + ONE + ONE))
        wait(hand, n_stack + 1, start, middle, line, LEFT, kept, mixed(seed + ONE))
        n_stack += 2
    write_thresholds(features, growth.whole, growth.real, first, counts[N_NODES])


@njit_no_refcount
def add_labels(labels, weights, n, tallies, total):
    """Add the whole weights of the classes up, in turns on different lines: a sum is not to wait for the one before."""
    n_turns = TURNS if n > MANY else 1
    for t in range(n_turns):
        for k in range(total.size):
            tallies[t, k] = 0.0
    for i in range(n):
        tallies[np.uint64(i & (n_turns - 1)), labels[i, 0]] += weights[i]
    for k in range(total.size):
        total[k] = 0.0
        for t in range(n_turns):
            total[k] += tallies[t, k]


@njit_no_refcount
def has_missing(feature, missing):
    """Return whether a dense column may have missing numbers."""
    for at in range(feature.size):
        if missing[feature[at]] >= 0:
            return True
    return False


@njit_no_refcount
def gains_little(cost, known, rule):
    """Return whether a split decreases the impurity by less than is wanted."""
    rounding = max(ROUNDING, tie_of(known) / rule.total_weight)
    return (known.cost - cost) / rule.total_weight + rounding < rule.min_decrease


@njit_no_refcount
def both_codes(below, above):
    """Return the codes on both sides of a cut as one number, for the time until it becomes a threshold."""
    return np.float64(below * CODES + above)


@njit_no_refcount
def write_thresholds(features, whole, real, first, last):
    """Write the thresholds of some nodes: the values are looked up together, because they lie far apart."""
    for node in range(first, last):
        feature = whole[node, FEATURE]
        if feature >= 0:
            both = np.int64(real[node, THRESHOLD])
            real[node, THRESHOLD] = middle_between(features, feature, both // CODES, both % CODES)


@njit_forceinline
def split_together(codes, hand, known, start, n):
    """Return the best split of a node that looks at all columns, whose keys are in order; its candidate is ``UNCLEAR``
    if they must be looked at one by one.
    """
    cost, at, j = split_of_amounts(
        hand.order, hand.constant, hand.feature_keys, start, n, hand.pulls, hand.weights, hand.total[1], known,
        hand.lefts, hand.parts, hand.costs,
    )  # fmt: skip
    if at < 0:
        return Split(cost, at, -1, -1, -1, -1, -1)
    below, above, first = code_in(hand.order[at, start + j]), code_in(hand.order[at, start + j + 1]), codes.start[at]
    meant = np.int64(codes.meaning[first + below]), np.int64(codes.meaning[first + above])
    return Split(cost, at, np.int64(codes.feature[at]), below, meant[0], meant[1], -1)


@njit_forceinline
def grow_pair(codes, features, rule, growth, hand, known, node, one, other):
    """Grow a node of two rows that looks at all columns: each that tells two numbers apart does as well, so a draw
    decides; columns in which one is missing come after those.
    """
    whole, weights = growth.whole, hand.weights
    at = column_of_two(codes, features, hand.table, hand.feature_keys, one, other, known.seed)
    if at == NONE or gains_little(cost_of_two(hand.pulls, weights, one, other), known, rule):
        return
    if hand.table[one, at] > hand.table[other, at]:
        one, other = other, one
    feature, first = codes.feature[at], codes.start[at]
    below, above = codes.meaning[first + hand.table[one, at]], codes.meaning[first + hand.table[other, at]]
    growth.real[node, THRESHOLD], whole[node, FEATURE] = both_codes(np.int64(below), np.int64(above)), feature
    whole[node, DEFAULT_LEFT] = above != features.missing[feature] and weights[one] > weights[other]
    whole[node, LEFT], whole[node, RIGHT], growth.counts[N_NODES] = node + 1, node + 2, node + 3
    for child, row in ((node + 1, one), (node + 2, other)):
        write_lone(hand.labels, hand.amounts, weights, row, growth, child)


@njit_no_refcount
def column_of_two(codes, features, table, feature_keys, one, other, seed):
    """Return the column of those that tell two rows apart with the widest gap (``pair_gap``) and, of these, the least
    random bits; ``NONE`` if none does.
    """
    best, least, best_gap = NONE, np.uint64(0), NO_GAP
    for at in range(feature_keys.size):
        if table[one, at] != table[other, at]:
            above = np.int64(max(table[one, at], table[other, at]))
            key, gap = (
                mixed(seed ^ feature_keys[at]),
                pair_gap(above, missing_at(codes, features, at, codes.feature[at])),
            )
            if gap > best_gap or (gap == best_gap and key < least):
                best, least, best_gap = at, key, gap
    return best


@njit_no_refcount
def cost_of_two(pulls, weights, one, other):
    """Return what two rows cost that are alone: of classes nothing is left to tell apart."""
    if pulls.size == 0:
        return 0.0
    return -pulls[one] * pulls[one] / weights[one] - pulls[other] * pulls[other] / weights[other]


@njit_forceinline
def wait(hand, at, start, end, line, side, kept, seed):
    """Let a node wait at a place of the stack; ``line`` has its depth and its parent."""
    stack = hand.stack
    hand.seeds[at] = seed
    stack[at, START], stack[at, END], stack[at, DEPTH], stack[at, PARENT] = start, end, line[0], line[1]
    stack[at, SIDE], stack[at, KEPT] = side, kept
    for k in range(hand.constant.size):
        hand.constants[at, k] = hand.constant[k]


@njit_forceinline
def write_lone(labels, amounts, weights, row, growth, node):
    """Write a node that has one row."""
    value = growth.value
    if labels.size > 0:
        for k in range(value.shape[1]):
            value[node, k] = 0.0
        value[node, labels[row]] = 1.0
    else:
        value[node, 0] = amounts[row]
    write_leaf(growth.whole, growth.real, node, 1, Node(0.0, weights[row], 0.0, 0.0, -np.inf, np.inf, ONE))


@njit_forceinline
def missing_at(codes, features, at, feature):
    """Return the code of missing numbers in a column, -1 if none is missing: it is the last one."""
    missing = np.int64(features.missing[feature])
    if missing < 0 or at >= codes.feature.size:
        return missing
    last = codes.start[at + 1] - codes.start[at] - 1
    return last if codes.meaning[codes.start[at] + last] == missing else np.int64(-1)


@njit_forceinline
def write_keys(codes, features, hand, at, start, n):
    """Write the keys of the node's rows in a column; the codes of a thin one are those of the feature."""
    n_columns = codes.feature.size
    if at < n_columns:
        gather_keys(codes.columns, hand.table, at, hand.node_rows, hand.own, start, n, hand.keys)
        return
    first, last = hand.slots[hand.group[at - n_columns]], hand.slots[hand.group[at - n_columns + 1] - 1]
    common = np.uint32(features.common[hand.slot_feature[first]])
    spread_keys(hand.entry_start, hand.entries, hand.slot_code, first, last, common, hand.own, start, n, hand.keys)


@njit_no_refcount
def gather_keys(columns, table, at, rows, own, start, n, keys):
    """Write the keys of some rows, from the table of those at hand if there is one."""
    here = own[start : start + n]
    for i in range(n):
        code = np.uint32(code_at(columns, table, at, rows[i], here[i]))
        keys[i] = (code << PLACE_BITS) | here[i]


@njit_no_refcount
def spread_keys(entry_start, entries, slot_code, first, last, common, own, start, n, keys):
    """Write the same of a thin column, which has the slots from ``first`` to ``last``."""
    for i in range(n):
        code = common
        for e in range(entry_start[own[start + i]], entry_start[own[start + i] + 1]):
            if first <= entries[e] <= last:
                code = np.uint32(slot_code[entries[e]])
        keys[i] = (code << PLACE_BITS) | own[start + i]


@njit_no_refcount
def mark_left(keys, n, below, missing, is_left):
    """Note which rows go left."""
    for i in range(n):
        code = code_in(keys[i])
        is_left[keys[i] & PLACE] = code <= below or code == missing


@njit_no_refcount
def moved(is_left, n, own, start, weights, spare):
    """Bring the rows that go left to the front; return how many they are and how much heavier than the others."""
    here, n_left, n_right, balance = own[start : start + n], NO_ROWS, NO_ROWS, 0.0
    for i in range(n):
        row = here[i]
        left = np.uint64(is_left[row])
        here[n_left] = row
        spare[n_right] = row
        n_left += left
        n_right += ONE - left
        balance += weights[row] if left != NO_ROWS else -weights[row]
    for i in range(n_right):
        here[n_left + i] = spare[i]
    return np.int64(n_left), balance


@njit_no_refcount
def move_orders(order, constant, is_left, start, n, spare):
    """Do the same in the order of every column that may vary."""
    for at in range(order.shape[0]):
        if is_member(constant, at):
            continue
        keys, n_front, n_back = order[at, start : start + n], NO_ROWS, NO_ROWS
        for i in range(n):
            key = keys[i]
            left = np.uint64(is_left[key & PLACE])
            keys[n_front] = key
            spare[n_back] = key
            n_front += left
            n_back += ONE - left
        for i in range(n_back):
            keys[n_front + i] = spare[i]


@njit_no_refcount
def write_orders(columns, table, constant, rows, own, start, n, keys, ranks, counts, order):
    """Write the keys of every column that may vary, in order."""
    for at in range(order.shape[0]):
        if not is_member(constant, at):
            gather_keys(columns, table, at, rows, own, start, n, keys)
            put_in_order(keys, n, ranks, counts, order[at, start : start + n])


@njit_no_refcount
def put_in_order(keys, n, ranks, counts, ordered):
    """Write keys in order, in the way that is shortest for so many; ``keys`` may be overwritten."""
    if n <= VERY_FEW:
        order_very_few(keys, n, ordered)
    elif n <= FEW:
        order_few(keys, n, ranks, ordered)
    else:
        order_more(keys, n, counts, ordered)


@njit_no_refcount
def zeros_first(keys, n, ordered):
    """Write the keys of code 0 as they stand, if they are many, close the others up, and return how many there are.

    Many columns hold more zeros than all else: pixels, counts, amounts.
    """
    n_found = np.uint32(0)
    for i in range(n):
        n_found += np.uint32(keys[i] <= PLACE)
    if n_found * MANY_ZEROS < n:
        return 0
    n_zeros = n_others = NO_ROWS
    for i in range(n):
        key = keys[i]
        zero = np.uint64(key <= PLACE)
        ordered[n_zeros] = keys[n_others] = key
        n_zeros += zero
        n_others += ONE - zero
    return np.int64(n_zeros)


@njit_forceinline
def small_split(codes, features, starts, rule, logs, hand, n_slots, known, start, n, kept):
    """Return the best split of a node. Its place is the last code of the column that goes left; below and above it are
    codes of the feature.
    """
    n_columns, seed, tie, n_present, n_groups = codes.feature.size, known.seed, tie_of(known), 0, 0
    free = is_free(rule, 0)
    slots, group, sums, n_sums = hand.slots, hand.group, hand.slot_sums, hand.total.size
    if n_slots > 0:
        add_up_slots(
            hand.entry_start, hand.entries, hand.own[start : start + n], hand.node_labels[: min(n, hand.labels.size)],
            hand.node_amounts[: min(n, hand.amounts.size)], hand.node_weights[:n], starts, sums, hand.slot_bits,
        )  # fmt: skip
        n_present = taken_out(hand.slot_bits, word_count(n_slots), slots)
        n_groups = write_groups(slots, n_present, hand.slot_feature, group)
    drawing, n_candidates, n_tried = rule.max_features < features.kind.size, n_columns + n_groups, 0
    n_near, bar, band = 0, np.uint64(0), NO_KEY
    if drawing:
        n_candidates = make_small_draw(
            hand.draw, n_columns, n_groups, hand.feature_keys, hand.slot_keys, slots, group, hand.constant, seed
        )
        band = band_for(rule.max_features, n_candidates)
    best, best_key, best_gap = NOTHING, np.uint64(0), NO_GAP
    for t in range(n_candidates):
        at = t
        if drawing:
            while n_near == 0:
                n_near, bar = next_band(hand.draw, n_columns + n_groups, bar, band, hand.near)
            at = next_drawn(hand.near, n_near)
            n_near -= 1
        if at < n_columns:
            if is_member(hand.constant, at):
                continue
            feature, feature_key = np.int64(codes.feature[at]), hand.feature_keys[at]
            missing = missing_at(codes, features, at, feature)
            cost, below, above, side = dense_cut(
                codes, features, hand, at, missing, rule, free, logs, known, start, n, kept
            )
            if below == above:
                add_member(hand.constant, at)
                continue
            place, first = below, codes.start[at]
            below, above = np.int64(codes.meaning[first + below]), np.int64(codes.meaning[first + above])
        else:
            slot = slots[group[at - n_columns]]
            single = group[at - n_columns + 1] - group[at - n_columns] == 1
            if single and sums[slot, n_sums] >= n:
                continue
            feature, feature_key = np.int64(hand.slot_feature[slot]), hand.slot_keys[slot]
            missing, common = np.int64(features.missing[feature]), np.int64(features.common[feature])
            if single and free and missing < 0:  # a column of two values: nothing to put in order
                cost, side = slot_cost(sums, slot, hand.total, starts, known.weight, rule.criterion, logs), -1
                rare = np.int64(hand.slot_code[slot])
                below, above = min(rare, common), max(rare, common)
            elif is_classifying(rule.criterion) and missing < 0:
                cost, below, above = slots_cut(codes, hand, at - n_columns, common, starts, rule, logs, known, n)
                side = -1
            else:
                write_keys(codes, features, hand, at, start, n)
                put_in_order(hand.keys, n, hand.ranks, hand.counts, hand.ordered)
                cost, below, above, side = cut_in_order(hand, hand.ordered, 0, missing, rule, free, logs, known, n)
            place = below
        n_tried += 1
        if cost < np.inf and cost <= best.cost + tie:
            key, gap, is_better = mixed(seed ^ feature_key), NO_GAP, cost < best.cost - tie
            if not is_better:
                if leaves_nothing(cost, known, tie):
                    gap = small_gap(codes, features, hand, at, feature, below, above, start, n)
                    if best_gap == NO_GAP:
                        old = best.candidate, best.feature, best.below, best.above
                        best_gap = small_gap(codes, features, hand, *old, start, n)
                is_better = gap > best_gap or (gap == best_gap and key < best_key)
            if is_better:
                best, best_key, best_gap = Split(cost, at, feature, place, below, above, side), key, gap
        if drawing and n_tried >= rule.max_features and best.candidate >= 0:
            break
    cleared(sums, slots, n_present)
    return best


@njit_no_refcount
def small_gap(codes, features, hand, at, feature, below, above, start, n):
    """Return ``gap_between`` the two sides of a cut."""
    missing = np.int64(features.missing[feature])
    if n == 2:
        return pair_gap(above, missing)
    if at < codes.feature.size:
        own = hand.own[start : start + n]
        least, greatest = dense_range(codes, hand.table, at, missing, hand.node_rows, own, n)
    else:
        first, last = hand.group[at - codes.feature.size], hand.group[at - codes.feature.size + 1]
        shared = (features.common[feature], missing, hand.slot_sums, hand.total.size, n)
        least, greatest = thin_range(hand.slots, first, last, hand.slot_code, *shared)
    return gap_between(features, feature, below, above, least, greatest)


@njit_no_refcount
def slot_cost(sums, slot, total, starts, weight, criterion, logs):
    """Return the cost of one slot against all other rows."""
    if criterion == SQUARED_ERROR:
        a, x = sums[slot, 0], sums[slot, 1]
        return squared_sides(x, a, total[1] - x, weight - a)
    return line_cost(sums, slot, total, starts, criterion, logs)


@njit_forceinline
def slots_cut(codes, hand, at, common, starts, rule, logs, known, n):
    """Return the least cost of a cut of a thin column without missing numbers, and the codes on both sides of it."""
    n_sums, sums, lines, left, meaning = hand.total.size, hand.slot_sums, hand.lines, hand.left, codes.meaning
    first, last = hand.group[at], hand.group[at + 1]
    n_lines = ordered_slots(hand.slots, first, last, hand.slot_code, common, n, hand.total, sums, lines)
    left[:] = 0.0
    left[n_sums + 1] = n
    cost, _, place = best_class_cut(
        sums, lines, 0, n_lines - 2, left, hand.total, known, starts, rule, 0, False, logs
    )  # fmt: skip
    below = np.int64(code_of(lines[max(place, 0)], -1, meaning, hand.slot_code, common))
    above = np.int64(code_of(lines[max(place, 0) + 1], -1, meaning, hand.slot_code, common))
    return cost, below, above


@njit_forceinline
def dense_cut(codes, features, hand, at, missing, rule, free, logs, known, start, n, kept):
    """Return the least cost of a cut of a dense column, the codes on both sides of it (equal ones if the column does
    not vary), and the side of the missing rows.
    """
    if kept:
        return cut_in_order(hand, hand.order[at, start : start + n], 0, missing, rule, free, logs, known, n)
    most = SPREAD * n // hand.total.size if free and missing < 0 else 0
    width = codes.start[at + 1] - codes.start[at]
    if width <= most:
        return cut_of_sums(
            codes.columns, hand.table, at, width, hand.node_rows, hand.own[start : start + n], n, hand.node_labels,
            hand.node_amounts, hand.node_weights, hand.total, hand.left, hand.sums, known, rule.criterion, logs,
        )  # fmt: skip
    write_keys(codes, features, hand, at, start, n)
    if n == 2 and free:
        return cut_of_two(hand.keys, hand.pulls, hand.weights, missing)
    n_zeros = zeros_first(hand.keys, n, hand.ordered) if n > VERY_FEW else 0
    put_in_order(hand.keys, n - n_zeros, hand.ranks, hand.counts, hand.ordered[n_zeros:])
    return cut_in_order(hand, hand.ordered, n_zeros, missing, rule, free, logs, known, n)


@njit_forceinline
def cut_in_order(hand, keys, n_zeros, missing, rule, free, logs, known, n):
    """Return the same of a column whose keys are in order; so many of code 0 are known to come first."""
    side, n_missing = -1, 0
    greatest = code_in(keys[n - 1])
    if code_in(keys[0]) == greatest:
        return np.inf, greatest, greatest, -1
    cost, j = cut_of_order(hand, keys, n, n_zeros, 0, rule, free, logs, known)
    below, above = code_in(keys[max(j, 0)]), code_in(keys[j + 1]) if j >= 0 else greatest
    if greatest == missing:
        side = 0
        while code_in(keys[n - 1 - n_missing]) == missing:
            n_missing += 1
        if code_in(keys[0]) != code_in(keys[n - 1 - n_missing]):
            keys = with_last_first(keys, n, n_missing, hand.spare)
            other, j = cut_of_order(hand, keys, n, 0, n_missing, rule, free, logs, known)
            if other < cost - tie_of(known):
                cost, below, above, side = other, code_in(keys[j]), code_in(keys[j + 1]), 1
    return cost, below, above, side


@njit_no_refcount
def cut_of_two(keys, pulls, weights, missing):
    """Return the same of two rows, which are alone then: of classes nothing is left to tell apart."""
    one, other = code_in(keys[0]), code_in(keys[1])
    if one == other:
        return np.inf, one, one, -1
    cost = cost_of_two(pulls, weights, keys[0] & PLACE, keys[1] & PLACE)
    return cost, min(one, other), max(one, other), 0 if max(one, other) == missing else -1


@njit_no_refcount
def with_last_first(keys, n, n_last, spare):
    """Return keys of which the last come first, where their rows go left before all others."""
    for i in range(n):
        spare[(i + n_last) % n] = keys[i]
    return spare


@njit_no_refcount
def order_very_few(keys, n, ordered):
    """Write keys in order, by insertion."""
    for i in range(n):
        key, j = keys[i], i
        while j > 0 and ordered[j - 1] > key:
            ordered[j] = ordered[j - 1]
            j -= 1
        ordered[j] = key


@njit_no_refcount
def order_few(keys, n, ranks, ordered):
    """Write keys in order: for each it is counted how many are less."""
    n_lanes = (n + LANES - 1) & ~(LANES - 1)
    for i in range(n, n_lanes):
        keys[i] = LAST
    for j in range(n_lanes):
        ranks[j] = 0
    for i in range(n):
        key = keys[i]
        for j in range(n_lanes):
            ranks[j] += np.uint32(keys[j] > key)
    for i in range(n):
        ordered[ranks[i]] = keys[i]


@njit_no_refcount
def order_more(keys, n, counts, ordered):
    """Write keys in order by counting codes or, where those lie far apart, first their low and then their high byte.

    ``keys`` may be overwritten; ``counts`` are all zero before and after.
    """
    least, greatest = keys[0], keys[0]
    for i in range(n):
        least, greatest = min(least, keys[i]), max(greatest, keys[i])
    first, last = np.int64(least >> PLACE_BITS), np.int64(greatest >> PLACE_BITS)
    if last - first < SPREAD * n:
        put_by_digit(keys, n, PLACE_BITS, -1, first, last - first + 1, counts, ordered)
        return
    put_by_digit(keys, n, PLACE_BITS, BYTE, 0, BYTE + 1, counts, ordered)
    put_by_digit(ordered, n, PLACE_BITS + BYTE_BITS, BYTE, 0, BYTE + 1, counts, keys)
    for i in range(n):
        ordered[i] = keys[i]


@njit_no_refcount
def put_by_digit(keys, n, shift, mask, first, n_digits, counts, ordered):
    """Write keys in the order of some of their bits, equal ones as they stand."""
    for i in range(n):
        counts[np.uint64((np.int64(keys[i] >> shift) & mask) - first)] += 1
    before = np.int32(0)
    for digit in range(n_digits):
        here = counts[digit]
        counts[digit] = before
        before += here
    for i in range(n):
        at = np.uint64((np.int64(keys[i] >> shift) & mask) - first)
        j = counts[at]
        counts[at] = j + 1
        ordered[np.uint64(j)] = keys[i]
    for digit in range(n_digits):
        counts[digit] = 0


@njit_forceinline
def cut_of_order(hand, keys, n, n_zeros, first, rule, free, logs, known):
    """Return the least cost of a cut after row ``first`` or later of those in order, and its place."""
    weights, min_leaf, min_weight = hand.weights, rule.min_leaf, rule.min_leaf_weight
    if free:
        min_leaf, min_weight = 1, 0.0
    first = max(first, min_leaf - 1)
    last = n - min_leaf
    if rule.criterion == SQUARED_ERROR:
        return cut_amounts(
            keys, first, last, hand.pulls, weights, known.weight, hand.total[1], min_weight, tie_of(known),
            hand.lefts, hand.parts, hand.costs,
        )  # fmt: skip
    if rule.criterion == GINI and hand.total.size == 2:
        return cut_pair(
            keys, first, last, hand.labels, weights, hand.total[0], hand.total[1], min_weight,
            tie_of(known), hand.lefts, hand.parts, hand.costs,
        )  # fmt: skip
    return cut_classes(
        keys, n, max(min(n_zeros - 1, last), 0), first, last, hand.labels, weights, hand.total, hand.left,
        known.weight, min_weight, tie_of(known), rule.criterion, logs, hand.lefts, hand.parts, hand.rests, hand.costs,
    )  # fmt: skip
