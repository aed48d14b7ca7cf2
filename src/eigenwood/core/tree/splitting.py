"""The best question to ask of the rows of one node.

Each column is cut where the two sides cost least, and the best of the columns wins. Which way a column goes depends on
the node, never on the answer: a node of twenty rows is as exact as the root.

    column of numbers, many rows for each code      added up by code, then one pass over the codes     summing; with
                                                    missing values or limits to heed                   cutting
                       few rows for each code       rows in the order of their codes                   ordering
    thin columns                                    added up together, then one pass each              adding
    categories                                      added up, put in order, then one pass              categories
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_inline, njit_no_refcount, njit_refcount
from eigenwood.core.bits import add_member, taken_out, word_count
from eigenwood.core.fetching import fetch_row
from eigenwood.core.memory import room_for
from eigenwood.core.tree.absolute import cut_costs, cut_medians, line_costs
from eigenwood.core.tree.adding import (
    add_up_amounts,
    add_up_classes,
    add_up_slots,
    cleared,
    code_at,
    code_of,
    lines_of,
    ordered_slots,
    write_groups,
)
from eigenwood.core.tree.binning import CATEGORY
from eigenwood.core.tree.categories import multiway_cost, sort_categories
from eigenwood.core.tree.cutting import best_of_sums, is_free, line_cost, random_place, tie_of
from eigenwood.core.tree.drawing import drawn, key_of, make_draw, write_all
from eigenwood.core.tree.impurity import ABSOLUTE_ERROR, is_classifying
from eigenwood.core.tree.ordering import (
    FEW_ROWS,
    best_of_order,
    is_ordered,
    is_summed,
    most_summed,
    number_count,
    order_few,
    order_many,
    varies,
)
from eigenwood.core.tree.summing import SPREAD, cut_of_sums

TURN, AHEAD = 64, 8  # candidates that are looked at together, and rows that are asked for before they are read
PAGE, OFF_PAGE = 512, 72  # numbers in a page of memory: lines a whole number of pages apart hinder each other


class Rule(NamedTuple):
    """How a tree is grown."""

    criterion: int
    max_depth: int
    min_split: int  # rows
    min_leaf: int  # rows
    min_leaf_weight: float
    min_decrease: float
    uncertainty: float  # a node with at most this impurity is left alone
    max_features: int
    at_random: bool  # one random cut for each feature instead of the best
    multiway: bool  # one branch for each category
    whole: bool  # all weights are whole numbers, so that sums and differences of them are exact
    total_weight: float  # of all rows, for ``min_decrease``


class Bench(NamedTuple):
    """Room for one node after the other. Sums, counts and bits are all zero between two uses.

    The thin columns share ``slot_sums``, whose line after all slots is for the common code of the feature at hand.
    """

    sums: np.ndarray  # (n_codes, n_sums + 1), the last column counts rows
    flat: np.ndarray  # the same for columns with few codes, one after the other
    counts: np.ndarray  # (n_codes,)
    bits: np.ndarray  # which codes occur
    slot_sums: np.ndarray  # (n_slots + 1, n_sums + 1)
    slot_bits: np.ndarray
    slots: np.ndarray  # (n_slots,) those that occur
    group: np.ndarray  # (n_slots + 1,) where the slots of a feature begin among them
    keys: np.ndarray  # (n_rows,) the codes of a column in order …
    places: np.ndarray  # (n_rows,) … and the places of their rows
    lines: np.ndarray  # the lines of one column, in the order in which they are cut
    best_lines: np.ndarray  # those of the best one so far, if it is a category
    left: np.ndarray  # (n_sums + 2,)
    cuts: np.ndarray  # (6, n_rows) the cuts of a column whose rows are in order
    draw: np.ndarray  # (n_candidates,) a heap of keys, or all that can be looked at
    turn: np.ndarray  # (TURN,) the candidates that are looked at next …
    sheet: np.ndarray  # (TURN, n_rows) … and the codes that the rows of the node have there, of a table by row
    in_order: np.ndarray  # (n_rows,) 0, 1, 2, …: the rows of the sheet
    total: np.ndarray  # (n_sums,) of all rows of the node
    constant: np.ndarray  # the columns that are known to be constant there, as bits


class Sample(NamedTuple):
    """The rows of a node, and their targets one after the other."""

    rows: np.ndarray
    labels: np.ndarray  # (n_rows, n_outputs), empty for amounts
    amounts: np.ndarray  # (n_rows, n_outputs), empty for classes
    weights: np.ndarray  # empty when all are 1
    ranks: np.ndarray  # of the amounts, and the amounts by size (less one of them): for the absolute error
    ordered: np.ndarray


class Node(NamedTuple):
    """What is known of a node before it is split, beside the sums of its rows."""

    impurity: float
    weight: float
    cost: float
    centre: float  # what was taken off the amounts
    lower: float  # its rows' values must lie between these (monotonic constraints)
    upper: float
    seed: np.uint64


class Cut(NamedTuple):
    """The best cut of one column."""

    cost: float
    place: int  # of the last line that goes left; categories only
    below: int | np.integer  # the last line that goes left, and the first that goes right
    above: int | np.integer
    missing_left: int  # 1, 0, or -1 where no value is missing


class Split(NamedTuple):
    """The best cut of all columns."""

    cost: float
    candidate: int  # column, or n_columns + group of slots; -1 when there is none
    feature: int | np.integer
    place: int
    below: int | np.integer
    above: int | np.integer
    missing_left: int


NOTHING = Split(np.inf, -1, -1, -1, -1, -1, -1)
NO_GAP = -1.0  # it was not measured


def new_bench(codes, features, rule: Rule, n_sums: int, n_rows: int, n_outputs: int) -> Bench:
    """Return room for the nodes of a coded table."""
    widths, n_slots, n_read = np.diff(codes.start), codes.slot_feature.size, n_rows if codes.by_row.shape[0] > 0 else 0
    n_codes, summed = int(widths.max(initial=0)), widths
    if is_ordered(rule.criterion, rule.whole, n_outputs) and not rule.at_random:
        is_category = features.kind[codes.feature] == CATEGORY
        summed = np.where(is_category, widths, np.minimum(widths, most_summed(n_rows, n_sums)))
    n_lines = max(n_codes, n_slots + 1)
    return Bench(
        sums=room_for((int(summed.max(initial=0)), n_sums + 1)),
        flat=room_for((SPREAD * n_rows,)),
        counts=np.zeros(n_codes, dtype=np.int32),
        bits=np.zeros(word_count(n_codes), dtype=np.uint64),
        slot_sums=room_for((n_slots + 1, n_sums + 1)),
        slot_bits=np.zeros(word_count(n_slots), dtype=np.uint64),
        slots=np.empty(n_slots, dtype=np.int64),
        group=np.empty(n_slots + 1, dtype=np.int64),
        keys=np.empty(n_rows, dtype=np.int32),
        places=np.empty(n_rows, dtype=np.int32),
        lines=np.empty(n_lines, dtype=np.int64),
        best_lines=np.empty(n_lines, dtype=np.int64),
        left=np.empty(n_sums + 2),
        cuts=room_for((6, (n_rows // PAGE + 1) * PAGE + OFF_PAGE)),
        draw=np.empty(codes.feature.size + n_slots, dtype=np.uint64),
        turn=np.empty(TURN, dtype=np.int64),
        sheet=room_for((TURN, n_read), codes.columns.dtype),
        in_order=np.arange(n_read, dtype=np.int32),
        total=np.empty(n_sums),
        constant=np.zeros(word_count(codes.feature.size), dtype=np.uint64),
    )


@njit_no_refcount
def no_cut():
    """Return what stands for a column that cannot be cut."""
    return Cut(np.inf, -1, -1, -1, -1)


@njit(error_model="numpy")
def absolute_costs(own, lines, n_lines, ranks, ordered, amounts, weights, sign, last_goes_left):
    """Return the absolute error of every cut, and the medians of both sides where a sign has to be kept."""
    costs = cut_costs(own, lines[:n_lines], ranks, ordered, weights, last_goes_left)
    if sign == 0:
        return costs, np.empty(0), np.empty(0)
    lefts, rights = cut_medians(own, lines[:n_lines], amounts, weights, last_goes_left)
    return costs, lefts, rights


@njit_refcount
def cut_of_lines(
    codes, features, sample, candidate, feature, sums, lines, n_lines, total, starts, rule, sign, node, logs, left
):
    """Return the best cut of a column whose rows are added up."""
    classifying, unit, no_costs = is_classifying(rule.criterion), sample.weights.size == 0, np.empty(0)
    first_code = codes.start[candidate] if candidate < codes.feature.size else -1
    meaning, slot_code, common = codes.meaning, codes.slot_code, features.common[feature]
    is_category, place, draw = features.kind[feature] == CATEGORY, -1, node.seed
    has_missing = False
    if features.missing[feature] >= 0:
        has_missing = code_of(lines[n_lines - 1], first_code, meaning, slot_code, common) == features.missing[feature]
    own = lines_of(codes, sample.rows, candidate, feature) if rule.criterion == ABSOLUTE_ERROR else lines[:0]
    if is_category and rule.multiway:
        found = multiway_cost(lines, n_lines, sums, total.size, starts, rule, unit)
        if rule.criterion == ABSOLUTE_ERROR and found < np.inf:
            found = line_costs(own, lines[:n_lines], sample.amounts, sample.weights)
        return Cut(found, 0, lines[0], lines[1], -1)
    if is_category:
        sort_categories(lines, n_lines, sums, starts, classifying, total, node.weight)
    if rule.at_random:
        draw = key_of(node.seed, feature)
        if is_category:
            place = int(draw % np.uint64(n_lines - 1))
        else:
            place = random_place(
                lines,
                n_lines - has_missing,
                first_code,
                meaning,
                slot_code,
                common,
                features.start[feature],
                features.lows,
                features.highs,
                draw,
            )
    right_costs = left_costs = (no_costs, no_costs, no_costs)
    if rule.criterion == ABSOLUTE_ERROR:
        ranks, ordered, amounts, weights = sample.ranks, sample.ordered, sample.amounts, sample.weights
        right_costs = absolute_costs(own, lines, n_lines, ranks, ordered, amounts, weights, sign, 0)
        if has_missing:
            left_costs = absolute_costs(own, lines, n_lines, ranks, ordered, amounts, weights, sign, 1)
    found, place, side = best_of_sums(
        sums,
        lines,
        n_lines,
        has_missing,
        place,
        draw,
        right_costs,
        left_costs,
        total,
        sample.rows.size,
        starts,
        rule,
        sign,
        node,
        logs,
        unit,
        left,
    )
    if place < 0:
        return no_cut()
    return Cut(found, place, lines[place], lines[place + 1], side)


@njit_inline
def cut_of_column(
    codes, columns, at, rows, features, sample, candidate, feature, total, starts, rule, sign, node, logs, bench
):
    """Return the best cut of a column whose codes are all stored, and how many lines the bench has of it. They are
    those of the ``rows`` in line ``at`` of the ``columns``.
    """
    labels, amounts, weights = sample.labels, sample.amounts, sample.weights
    first, n_rows = codes.start[candidate], sample.rows.size
    sums, bits, lines, keys, places = bench.sums, bench.bits, bench.lines, bench.keys, bench.places
    n_codes, missing = codes.start[candidate + 1] - first, features.missing[feature]
    is_number = features.kind[feature] != CATEGORY
    ordered = is_ordered(rule.criterion, rule.whole, starts.size - 1) and not rule.at_random
    plain = ordered and is_number and missing < 0 and is_free(rule, sign)
    if plain and n_codes * total.size <= SPREAD * n_rows:
        found, below, above, side = cut_of_sums(
            columns, codes.by_row[:0], at, n_codes, rows, rows, n_rows, labels, amounts, weights, total,
            bench.left, bench.flat, node, rule.criterion, logs,
        )  # fmt: skip
        cut, n_lines = Cut(found, -1, below, above, side), 0
    elif ordered and is_number and not is_summed(n_codes, n_rows, total.size):
        if n_rows <= FEW_ROWS:
            order_few(columns, at, rows, keys, places)
        else:
            order_many(columns, at, n_codes, rows, bench.counts, bits, lines, keys, places)
        n_numbers = n_rows
        if missing >= 0 and codes.meaning[first + keys[n_rows - 1]] == missing:
            n_numbers = number_count(keys, n_rows, keys[n_rows - 1])
        found, j, side = best_of_order(
            keys, places, n_rows, n_numbers, labels, amounts, weights, total, bench.left, bench.cuts, rule, node,
            sign, logs,
        )  # fmt: skip
        cut = Cut(found, -1, np.int64(keys[j]), np.int64(keys[j + 1]), side) if j >= 0 else no_cut()
        n_lines = 0
    else:
        if is_classifying(rule.criterion):
            add_up_classes(columns, at, rows, labels, weights, starts, sums, bits)
        else:
            add_up_amounts(columns, at, rows, amounts, weights, sums, bits)
        n_lines = taken_out(bits, word_count(n_codes), lines)
        cut = cut_of_lines(
            codes, features, sample, candidate, feature, sums, lines, n_lines, total, starts, rule, sign, node, logs,
            bench.left,
        )  # fmt: skip
        cleared(sums, lines, n_lines)
    return cut, n_lines


@njit_inline
def cut_of_slots(codes, features, sample, candidate, feature, total, starts, rule, sign, node, logs, bench):
    """Return the same of a thin column, whose rows are added up already."""
    sums, slots, group, n_slots = bench.slot_sums, bench.slots, bench.group, codes.slot_feature.size
    first, last = group[candidate - codes.feature.size], group[candidate - codes.feature.size + 1]
    slot, common, n_lines = slots[first], features.common[feature], 0
    free = is_free(rule, sign) and not rule.at_random and is_classifying(rule.criterion)
    if free and last - first == 1 and features.kind[feature] != CATEGORY and features.missing[feature] < 0:
        # a column of two values: nothing to put in order
        found, rare_first = line_cost(sums, slot, total, starts, rule.criterion, logs), codes.slot_code[slot] < common
        cut = Cut(found, 0, slot if rare_first else n_slots, n_slots if rare_first else slot, -1)
    else:
        n_rows, lines = sample.rows.size, bench.lines
        n_lines = ordered_slots(slots, first, last, codes.slot_code, common, n_rows, total, sums, lines)
        cut = cut_of_lines(
            codes, features, sample, candidate, feature, sums, lines, n_lines, total, starts, rule, sign, node, logs,
            bench.left,
        )  # fmt: skip
    return cut, n_lines


@njit_inline
def can_split(codes, columns, at, rows, candidate, only_slot, n_sums, bench):
    """Return whether a column has two codes among the rows of the node; if not, that is noted for those below it."""
    if candidate >= codes.feature.size:
        varying = only_slot < 0 or bench.slot_sums[only_slot, n_sums] < rows.size
    else:
        varying = varies(columns, at, rows)
        if not varying:
            add_member(bench.constant, candidate)
    return varying


@njit_no_refcount
def leaves_nothing(cost, node, tie):
    """Return whether a cut leaves nothing to be asked: both of its sides are pure."""
    return node.cost - cost >= node.weight * node.impurity - tie


@njit_no_refcount
def gap_of(codes, features, sample, bench, n_sums, candidate, feature, below, above, n_lines):
    """Return ``gap_between`` the lines ``below`` and ``above`` of a column; categories are one step apart."""
    if features.kind[feature] == CATEGORY:
        return 1.0 / (n_lines - 1)
    common, n_columns, n_rows = features.common[feature], codes.feature.size, sample.rows.size
    missing, first_code = np.int64(features.missing[feature]), codes.start[candidate] if candidate < n_columns else -1
    low = code_of(below, first_code, codes.meaning, codes.slot_code, common)
    high = code_of(above, first_code, codes.meaning, codes.slot_code, common)
    if n_rows == 2:
        return pair_gap(high, missing)
    if candidate < n_columns:
        least, greatest = dense_range(codes, codes.by_row, candidate, missing, sample.rows, sample.rows, n_rows)
    else:
        first, last = bench.group[candidate - n_columns], bench.group[candidate - n_columns + 1]
        shared = (common, missing, bench.slot_sums, n_sums, n_rows)
        least, greatest = thin_range(bench.slots, first, last, codes.slot_code, *shared)
    return gap_between(features, feature, low, high, least, greatest)


@njit_no_refcount
def pair_gap(above, missing):
    """Return the gap of a cut between two rows: the whole way, or none if the one above is missing.

    It is the same where a row is repeated: a weight must not decide which column is asked.
    """
    return 0.0 if above == missing else 1.0


@njit_no_refcount
def gap_between(features, feature, below, above, least, greatest):
    """Return how much of the way from the least to the greatest number of a node lies between two neighbours in it.

    In a small node many columns tell the rows apart. A cut through a wide gap is far from the rows on either side, so
    new rows fall on the right one. The way is that within the node: the questions above have narrowed the columns that
    matter, and beside a whole column their gaps would look small. Missing numbers are not far from any.
    """
    if above == features.missing[feature]:
        return 0.0
    first, lows, highs = features.start[feature], features.lows, features.highs
    way = 0.5 * highs[first + greatest] - 0.5 * lows[first + least]  # halves: the whole may be infinite
    gap = 0.5 * lows[first + above] - 0.5 * highs[first + below]
    return gap / way if way > 0.0 else 1.0


@njit_no_refcount
def dense_range(codes, table, at, missing, rows, own, n):
    """Return the codes of the least and the greatest number that some rows have in a column."""
    first, last = codes.start[at], codes.start[at + 1] - codes.start[at] - 1
    if missing >= 0 and codes.meaning[first + last] == missing:
        last -= 1
    least, greatest = last, np.int64(0)
    for i in range(n):
        code = code_at(codes.columns, table, at, rows[i], own[i])
        if code <= last:
            least, greatest = min(least, code), max(greatest, code)
    return np.int64(codes.meaning[first + least]), np.int64(codes.meaning[first + greatest])


@njit_no_refcount
def thin_range(slots, first, last, slot_code, common, missing, sums, n_sums, n_rows):
    """Return the same for a thin column, which has ``slots[first:last]`` in the node."""
    least, greatest, n_rare = np.int64(common), np.int64(common), 0.0
    for i in range(first, last):
        n_rare += sums[slots[i], n_sums]
    known = n_rare < n_rows and common != missing
    for i in range(first, last):
        code = np.int64(slot_code[slots[i]])
        if code != missing:
            least, greatest = min(least, code) if known else code, max(greatest, code) if known else code
            known = True
    return least, greatest


@njit_inline
def write_turn(codes, rows, drawing, n_taken, n_candidates, n_wanted, bench):
    """Write the candidates that are looked at next, and their codes if the table is kept by row; return how many."""
    n = min(max(n_wanted, 1), n_candidates - n_taken, TURN)
    for k in range(n):
        bench.turn[k] = drawn(bench.draw, n_candidates - n_taken - k) if drawing else np.int64(bench.draw[n_taken + k])
    if codes.by_row.shape[0] > 0:
        read_columns(codes.by_row, rows, bench.turn, n, bench.sheet)
    return n


@njit_no_refcount
def read_columns(by_row, rows, turn, n, sheet):
    """Write the codes of some rows in the first ``n`` columns of a turn; thin ones have none, and get any."""
    last = by_row.shape[1] - 1
    for i in range(rows.size):
        fetch_row(by_row, rows[min(i + AHEAD, rows.size - 1)])
        row = by_row[rows[i]]
        for k in range(n):
            sheet[k, i] = row[np.uint64(min(turn[k], last))]


@njit_no_refcount
def find_split(codes, features, sample, total, starts, signs, rule, node, logs, bench):
    """Return the best split of a node and, if it is about a category, how many ``best_lines`` of the bench it has.

    Of cuts that are equally good and leave nothing to be asked, that with the widest gap is taken (``gap_between``).
    Where more questions follow, equal columns divide the rows alike, which in a small node says little about either:
    a draw decides, as it does between equal gaps.

    ``total`` are the sums of its rows.
    """
    column_feature, slot_feature, slots, group = codes.feature, codes.slot_feature, bench.slots, bench.group
    n_columns, n_slots, tie, n_present, n_groups = column_feature.size, slot_feature.size, tie_of(node), 0, 0
    if n_slots > 0:
        targets = sample.labels, sample.amounts, sample.weights
        add_up_slots(codes.entry_start, codes.entries, sample.rows, *targets, starts, bench.slot_sums, bench.slot_bits)
        n_present = taken_out(bench.slot_bits, word_count(n_slots), slots)
        n_groups = write_groups(slots, n_present, slot_feature, group)
    n_candidates, drawing = n_columns + n_groups, rule.max_features < features.kind.size
    if drawing:
        n_candidates = make_draw(
            bench.draw, n_candidates, column_feature, slot_feature, slots, group, bench.constant, node.seed
        )
    else:
        n_candidates = write_all(bench.draw, n_candidates, n_columns, bench.constant)
    best, n_best, n_tried, best_gap, at, n_turn = NOTHING, 0, 0, NO_GAP, -1, 0
    for t in range(n_candidates):
        at += 1
        if at == n_turn:
            n_wanted = rule.max_features - n_tried if drawing else n_candidates
            at, n_turn = 0, write_turn(codes, sample.rows, drawing, t, n_candidates, n_wanted, bench)
        candidate = bench.turn[at]
        columns, column, rows = codes.columns, candidate, sample.rows
        if codes.by_row.shape[0] > 0:
            columns, column, rows = bench.sheet, at, bench.in_order[: rows.size]
        dense, only_slot = candidate < n_columns, -1
        feature = np.int64(column_feature[candidate] if dense else slot_feature[slots[group[candidate - n_columns]]])
        if not dense and group[candidate - n_columns + 1] - group[candidate - n_columns] == 1:
            only_slot = slots[group[candidate - n_columns]]
        if not can_split(codes, columns, column, rows, candidate, only_slot, total.size, bench):
            continue
        n_tried += 1
        if dense:
            cut, n_lines = cut_of_column(
                codes, columns, column, rows, features, sample, candidate, feature, total, starts, rule,
                signs[feature], node, logs, bench,
            )  # fmt: skip
        else:
            cut, n_lines = cut_of_slots(
                codes, features, sample, candidate, feature, total, starts, rule, signs[feature], node, logs, bench
            )
        if cut.cost < np.inf:
            gap, is_better = NO_GAP, cut.cost < best.cost - tie
            if not is_better and cut.cost <= best.cost + tie:
                if leaves_nothing(cut.cost, node, tie):
                    here = codes, features, sample, bench, total.size
                    gap = gap_of(*here, candidate, feature, cut.below, cut.above, n_lines)
                    if best_gap == NO_GAP:
                        best_gap = gap_of(*here, best.candidate, best.feature, best.below, best.above, n_best)
                key, best_key = key_of(node.seed, feature), key_of(node.seed, best.feature)
                is_better = gap > best_gap or (gap == best_gap and key < best_key)
            if is_better:
                best_gap = gap
                best = Split(cut.cost, candidate, feature, cut.place, cut.below, cut.above, cut.missing_left)
                n_best = n_lines if features.kind[feature] == CATEGORY else 0
                for i in range(n_best):
                    bench.best_lines[i] = bench.lines[i]
        if drawing and n_tried >= rule.max_features and best.candidate >= 0:
            break
    cleared(bench.slot_sums, slots, n_present)
    for k in range(total.size + 1):
        bench.slot_sums[n_slots, k] = 0.0
    return best, n_best
