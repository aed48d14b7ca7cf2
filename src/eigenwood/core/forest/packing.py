"""A random forest in few bytes, from which every tree comes back.

Trees stand one after the other, each in preorder. A bit for each node says whether it asks a question, and that is
the whole shape: the left child is the next node, and the right one follows the last below the left.

    node          0    1    2    3    4   │   5    6    7
    inner         1    0    1    0    0   │   1    0    0       two trees, of 5 and 3 nodes
    question      0         1             │   2                 feature, threshold, … stand by question
    leaf               0         1    2   │        3    4       rows, weight, value, … stand by leaf

A tree has one leaf more than questions, so where a tree begins in each of the three counts follows from its first
node. What is known of an inner node adds up from its leaves: rows, weights, the weights of the classes, means, and
variances by the law of total variance. Medians and values that were kept within bounds do not add up; then values
and impurities stand by node.

Numbers are in the narrowest dtype that holds them all without a bit lost. Of shares of classes, most of which are one
and zeros, a table of the distinct rows is kept and a narrow code for each leaf, if that is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit
from eigenwood.core.distinct import splitmix64
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, impurity_of_shares, is_classifying, spread_of_two_means
from eigenwood.core.tree.types import LEAF, NO_FEATURE, NO_THRESHOLD, Tree

NARROW = (np.uint8, np.uint16, np.uint32, np.float32, np.float64)
MOST = (255.0, 65535.0, 4294967295.0)  # what the first three hold


class Forest(NamedTuple):
    """The trees of a forest; bits are packed eight to a byte, and an empty array says what its comment says."""

    criterion: np.ndarray  # (1,) uint8
    bounded: np.ndarray  # (1,) bool: whether values were kept within bounds
    output_start: np.ndarray  # (n_outputs + 1,) int64: where the values of an output begin
    node_start: np.ndarray  # (n_trees + 1,) int64
    inner: np.ndarray  # a bit for each node
    feature: np.ndarray  # (n_questions,)
    threshold: np.ndarray  # (n_questions,)
    default_left: np.ndarray  # a bit for each question
    chained: np.ndarray  # a bit for each question; empty if none is
    n_listed: np.ndarray  # (n_questions,) how many categories are listed; empty if none are
    categories: np.ndarray
    n_rows: np.ndarray  # (n_leaves,)
    weight: np.ndarray  # (n_leaves,); empty if each is the number of rows
    value: np.ndarray  # (n_leaves or n_nodes, n_values) or the distinct ones
    value_code: np.ndarray  # (n_leaves or n_nodes,) a place among those; empty without a table
    impure: np.ndarray  # a bit for each leaf or node whose impurity is above 0; empty where shares of classes say it
    impurity: np.ndarray  # where that bit is set


class PackedColumns(NamedTuple):
    """What is kept of some trees, before it is made narrow."""

    inner: np.ndarray  # (n_nodes,) bool
    feature: np.ndarray  # (n_questions,), as the next four
    threshold: np.ndarray
    default_left: np.ndarray
    chained: np.ndarray
    n_listed: np.ndarray
    categories: np.ndarray
    n_rows: np.ndarray  # (n_leaves,), as the weight
    weight: np.ndarray
    value: np.ndarray  # (n_leaves or n_nodes, n_values)
    impurity: np.ndarray  # (n_leaves or n_nodes,); empty where shares of classes say it


class Part(NamedTuple):
    """Where some trees stand among all nodes, questions and leaves."""

    nodes: slice
    questions: slice
    leaves: slice


class PackedTree(NamedTuple):
    """One tree of a forest."""

    forest: Forest
    number: int


def pack(trees: list[Tree], criterion: int, output_start, bounded: bool = False) -> Forest:
    """Return a forest of trees; ``bounded`` says that values were kept within bounds (monotonic constraints)."""
    kept = keeps_inner(criterion, bounded)
    columns = joined_columns([columns_of_tree(tree, kept, is_classifying(criterion)) for tree in trees])
    return narrowed_forest(columns, starts_of([tree.left.size for tree in trees]), criterion, output_start, bounded)


def pack_batch(trees: Tree, node_start: np.ndarray, criterion: int, output_start) -> Forest:
    """Return a forest of trees whose nodes stand one after the other, as if they were parts of one."""
    columns = columns_of_tree(trees, keeps_inner(criterion, False), is_classifying(criterion))
    return narrowed_forest(columns, node_start, criterion, output_start, False)


def forest_of(trees: Sequence[PackedTree]) -> Forest:
    """Return one forest of some trees of others, which have grown by the same criterion."""
    runs: list[tuple[Forest, int, int]] = []  # neighbours in one forest: from which tree to before which
    for forest, number in trees:
        if runs and runs[-1][0] is forest and runs[-1][2] == number:
            runs[-1] = (forest, runs[-1][1], number + 1)
        else:
            runs.append((forest, number, number + 1))
    return joined(*(forest_part(*run) for run in runs))


def forest_part(forest: Forest, first: int, last: int) -> Forest:
    """Return the trees from ``first`` to before ``last`` as a forest of their own."""
    if (first, last) == (0, forest.node_start.size - 1):
        return forest
    node_start = forest.node_start[first : last + 1] - forest.node_start[first]
    columns = columns_at(forest, part_at(forest, first, last))
    return narrowed_forest(columns, node_start, int(forest.criterion[0]), forest.output_start, bool(forest.bounded[0]))


def joined(*forests: Forest) -> Forest:
    """Return one forest of the trees of several, which have grown by the same criterion; nothing is made wide."""
    first, parts = forests[0], [all_trees(forest) for forest in forests]
    weighted = any(forest.weight.size > 0 for forest in forests)
    value, value_code = joined_values(forests)
    return Forest(
        criterion=first.criterion,
        bounded=first.bounded,
        output_start=first.output_start,
        node_start=starts_of(np.concatenate([np.diff(forest.node_start) for forest in forests])),
        inner=joined_bits([forest.inner for forest in forests], [part.nodes for part in parts]),
        feature=together([forest.feature for forest in forests]),
        threshold=together([forest.threshold for forest in forests]),
        default_left=joined_bits([forest.default_left for forest in forests], [part.questions for part in parts]),
        chained=joined_bits([forest.chained for forest in forests], [part.questions for part in parts]),
        n_listed=joined_or_zero([forest.n_listed for forest in forests], [part.questions for part in parts]),
        categories=together([forest.categories for forest in forests]),
        n_rows=together([forest.n_rows for forest in forests]),
        weight=together([forest.weight if forest.weight.size > 0 else forest.n_rows for forest in forests if weighted]),
        value=value,
        value_code=value_code,
        impure=joined_bits([forest.impure for forest in forests], [described_at(forest) for forest in forests]),
        impurity=together([forest.impurity for forest in forests]),
    )


def joined_values(forests: tuple[Forest, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of several forests as ``coded_values`` does; of those that have a table only that is read."""
    rows = together([forest.value for forest in forests])
    if rows.shape[1] < 2:
        return rows, np.empty(0, dtype=np.uint8)
    first, codes = distinct_rows(bits_of(rows))
    start, code = starts_of([forest.value.shape[0] for forest in forests]), narrowed(codes)
    parts = [code[start[i] : start[i + 1]] for i in range(len(forests))]
    return smaller_of(
        narrowed(rows[first]),
        np.concatenate(
            [
                part[forest.value_code] if forest.value_code.size > 0 else part
                for part, forest in zip(parts, forests, strict=True)
            ]
        ),
    )


def together(parts: list[np.ndarray]) -> np.ndarray:
    """Return narrow arrays as one, which is narrow too."""
    if not parts:
        return np.empty(0, dtype=np.uint8)
    one = np.concatenate(parts)
    return one if all(part.dtype == one.dtype for part in parts) else narrowed(one)


def joined_bits(parts: list[np.ndarray], places: list[slice]) -> np.ndarray:
    """Return packed bits as one; where a part has none of them they are 0, and where no part has any there are none."""
    if not any(bits.size > 0 for bits in parts):
        return parts[0]
    bits = [
        bits_at(bits, where) if bits.size > 0 else np.zeros(where.stop, dtype=bool)
        for bits, where in zip(parts, places, strict=True)
    ]
    return np.packbits(np.concatenate(bits))


def joined_or_zero(parts: list[np.ndarray], places: list[slice]) -> np.ndarray:
    """Return integers of some forests joined: zeros for a forest that has none, nothing if no forest has any."""
    if not any(part.size > 0 for part in parts):
        return parts[0]
    zeros = (np.zeros(where.stop, dtype=np.uint8) for where in places)
    return together([part if part.size > 0 else none for part, none in zip(parts, zeros, strict=True)])


def described_at(forest: Forest) -> slice:
    """Return where all that is described stands: nodes or leaves."""
    part = all_trees(forest)
    return part.nodes if keeps_inner(int(forest.criterion[0]), bool(forest.bounded[0])) else part.leaves


def tree_at(forest: Forest, i: int) -> Tree:
    """Return the i-th tree; what adds up from leaves is that of the packed tree within rounding, the rest exactly."""
    return trees_at(forest, part_at(forest, i, i + 1))


def trees_at(forest: Forest, part: Part) -> Tree:
    """Return some trees, whose nodes stand one after the other, as if they were parts of one."""
    columns = columns_at(forest, part)
    criterion, inner = int(forest.criterion[0]), columns.inner
    right = right_children(inner)
    n_rows, weight = spread(columns.n_rows, ~inner, 0), spread(columns.weight, ~inner, 0.0)
    add_up(right, n_rows)
    add_up(right, weight)
    value, impurity = columns.value, columns.impurity
    if not keeps_inner(criterion, bool(forest.bounded[0])):
        value = np.zeros((inner.size, value.shape[1]))
        value[~inner] = columns.value
        if is_classifying(criterion):
            add_up_shares(right, weight, value)
            impurity = impurity_of_shares(value, forest.output_start, criterion)
        else:
            impurity = spread(columns.impurity, ~inner, 0.0)
            add_up_means(right, weight, value, impurity, criterion)
    return Tree(
        left=np.where(inner, np.arange(1, inner.size + 1), LEAF).astype(np.int32),
        right=right.astype(np.int32),
        feature=spread(columns.feature.astype(np.int32), inner, NO_FEATURE),
        threshold=spread(columns.threshold, inner, NO_THRESHOLD),
        default_left=spread(columns.default_left, inner, False),
        chained=spread(columns.chained, inner, False),
        category_start=starts_of(spread(columns.n_listed, inner, 0)),
        categories=columns.categories.astype(np.int32),
        impurity=impurity,
        n_rows=n_rows,
        weight=weight,
        value=value,
    )


def keeps_inner(criterion: int, bounded: bool) -> bool:
    """Return whether values and impurities are kept for inner nodes too, because they do not add up from leaves."""
    return bounded or criterion == ABSOLUTE_ERROR


def columns_of_tree(tree: Tree, kept: bool, classifying: bool) -> PackedColumns:
    """Return what is to be kept of a tree."""
    inner = tree.left != LEAF
    questions, leaves = np.flatnonzero(inner), np.flatnonzero(~inner)
    described = np.arange(inner.size) if kept else leaves
    return PackedColumns(
        inner=inner,
        feature=tree.feature[questions],
        threshold=tree.threshold[questions],
        default_left=tree.default_left[questions],
        chained=tree.chained[questions],
        n_listed=np.diff(tree.category_start)[questions] if tree.categories.size > 0 else np.zeros_like(questions),
        categories=tree.categories,
        n_rows=tree.n_rows[leaves],
        weight=tree.weight[leaves],
        value=tree.value[described],
        impurity=np.empty(0) if classifying and not kept else tree.impurity[described],
    )


def joined_columns(parts: list[PackedColumns]) -> PackedColumns:
    """Return the columns of several parts, one below the other."""
    return PackedColumns(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def narrowed_forest(
    columns: PackedColumns, node_start: np.ndarray, criterion: int, output_start, bounded: bool
) -> Forest:
    """Return columns, which hold trees that begin at these nodes, in few bytes."""
    value, value_code = coded_values(columns.value)
    impure = columns.impurity != 0.0
    return Forest(
        criterion=np.array([criterion], dtype=np.uint8),
        bounded=np.array([bounded]),
        output_start=np.asarray(output_start, dtype=np.int64),
        node_start=node_start,
        inner=np.packbits(columns.inner),
        feature=narrowed(columns.feature),
        threshold=narrowed(columns.threshold),
        default_left=np.packbits(columns.default_left),
        chained=np.packbits(columns.chained[: columns.chained.size * columns.chained.any()]),
        n_listed=narrowed(columns.n_listed[: columns.n_listed.size * columns.n_listed.any()]),
        categories=narrowed(columns.categories),
        n_rows=narrowed(columns.n_rows),
        weight=narrowed(columns.weight[: columns.weight.size * (columns.weight != columns.n_rows).any()]),
        value=value,
        value_code=value_code,
        impure=np.packbits(impure),
        impurity=narrowed(columns.impurity[impure]),
    )


def columns_at(forest: Forest, part: Part) -> PackedColumns:
    """Return the columns of some trees."""
    questions, leaves = part.questions, part.leaves
    n_questions = questions.stop - questions.start
    n_listed = np.zeros(n_questions, dtype=np.int64)
    chained = np.zeros(n_questions, dtype=bool)
    first_listed = 0
    if forest.n_listed.size > 0:
        n_listed[:] = forest.n_listed[questions]
        first_listed = int(forest.n_listed[: questions.start].sum(dtype=np.int64))
    if forest.chained.size > 0:
        chained[:] = bits_at(forest.chained, questions)
    n_rows = forest.n_rows[leaves].astype(np.int64)
    described = part.nodes if keeps_inner(int(forest.criterion[0]), bool(forest.bounded[0])) else leaves
    return PackedColumns(
        inner=bits_at(forest.inner, part.nodes),
        feature=forest.feature[questions].astype(np.int64),
        threshold=forest.threshold[questions].astype(np.float64),
        default_left=bits_at(forest.default_left, questions),
        chained=chained,
        n_listed=n_listed,
        categories=forest.categories[first_listed : first_listed + int(n_listed.sum())],
        n_rows=n_rows,
        weight=(forest.weight[leaves] if forest.weight.size > 0 else n_rows).astype(np.float64),
        value=values_at(forest, described).astype(np.float64),
        impurity=impurities_at(forest, described),
    )


def all_trees(forest: Forest) -> Part:
    """Return where all trees stand."""
    return part_at(forest, 0, forest.node_start.size - 1)


def part_at(forest: Forest, first: int, last: int) -> Part:
    """Return where the trees from ``first`` to before ``last`` stand; each has one leaf more than questions."""
    start, stop = int(forest.node_start[first]), int(forest.node_start[last])
    return Part(
        slice(start, stop),
        slice((start - first) // 2, (stop - last) // 2),
        slice((start + first) // 2, (stop + last) // 2),
    )


def values_at(forest: Forest, described: slice) -> np.ndarray:
    """Return the values of some leaves or nodes, as narrow as they are kept."""
    return forest.value[described] if forest.value_code.size == 0 else forest.value[forest.value_code[described]]


def impurities_at(forest: Forest, described: slice) -> np.ndarray:
    """Return the impurities of some leaves or nodes; none where they follow from the shares of the classes."""
    if forest.impure.size == 0:
        return np.empty(0)
    impure = bits_at(forest.impure, described)
    first = int(bits_at(forest.impure, slice(0, described.start)).sum())
    return spread(forest.impurity[first : first + int(impure.sum())].astype(np.float64), impure, 0.0)


def narrowed(numbers) -> np.ndarray:
    """Return numbers in the narrowest dtype that holds each without a bit lost (whole numbers must not be negative).

    >>> narrowed(np.array([1.0, 255.0])).dtype, narrowed(np.array([0.5, 3.0])).dtype, narrowed(np.array([0.1])).dtype
    (dtype('uint8'), dtype('float32'), dtype('float64'))
    """
    if numbers.dtype.kind != "f":
        return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
    return numbers.astype(NARROW[narrowest(np.ascontiguousarray(numbers).reshape(-1))])


@njit
def narrowest(numbers):
    """Return the place of the first dtype from which all numbers come back bit for bit, also a zero below 0."""
    at = 0
    for x in numbers:
        if at < 3 and not (math.copysign(1.0, x) > 0.0 and x <= MOST[2] and math.floor(x) == x):
            at = 3
        while at < 3 and x > MOST[at]:
            at += 1
        if at == 3 and np.float64(np.float32(x)) != x:
            return 4
    return at


def coded_values(value) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of values and a code for each; or the rows themselves, and no code, if smaller.

    Single values are left as they are: means are hardly ever equal.
    """
    if value.shape[1] < 2:
        return narrowed(value), np.empty(0, dtype=np.uint8)
    first, codes = distinct_rows(bits_of(value))
    return smaller_of(narrowed(value[first]), narrowed(codes))


def bits_of(value) -> np.ndarray:
    """Return the bits of numbers, by which equal ones are found."""
    return np.ascontiguousarray(value, dtype=np.float64).view(np.int64)


def smaller_of(table, code) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of values with the codes into it, or the values themselves and no code: what takes fewer bytes."""
    if table.nbytes + code.nbytes < code.size * table[:1].nbytes:
        return table, code
    return table[code], np.empty(0, dtype=np.uint8)


@njit
def distinct_rows(rows):
    """Return where each distinct row of whole numbers stands first, and for every row the number of its like."""
    n_rows, n_columns = rows.shape
    n_sparse_bins = 8
    while n_sparse_bins < 2 * n_rows:
        n_sparse_bins *= 2
    sparse_bins = np.full(n_sparse_bins, -1, dtype=np.int32)  # a hash table of numbers of distinct rows, half empty
    first, codes, n_distinct = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64), 0
    for i in range(n_rows):
        mark = np.uint64(0)
        for j in range(n_columns):
            mark = splitmix64(mark ^ np.uint64(rows[i, j]))
        sparse_bin = np.int64(mark & np.uint64(n_sparse_bins - 1))
        while sparse_bins[sparse_bin] >= 0 and not same_row(rows, first[sparse_bins[sparse_bin]], i):
            sparse_bin = (sparse_bin + 1) & (n_sparse_bins - 1)
        if sparse_bins[sparse_bin] < 0:
            sparse_bins[sparse_bin], first[n_distinct] = n_distinct, i
            n_distinct += 1
        codes[i] = sparse_bins[sparse_bin]
    return first[:n_distinct].copy(), codes


@njit
def same_row(rows, i, other):
    """Return whether two rows are equal."""
    for j in range(rows.shape[1]):
        if rows[i, j] != rows[other, j]:
            return False
    return True


def bits_at(bits, where: slice) -> np.ndarray:
    """Return some of the packed bits as booleans."""
    shift = where.start % 8
    part = np.unpackbits(bits[where.start // 8 : (where.stop + 7) // 8], count=shift + where.stop - where.start)
    return part[shift:].astype(bool)


def spread(numbers, places, otherwise) -> np.ndarray:
    """Return an array with the numbers where ``places`` is true, and ``otherwise`` elsewhere."""
    array = np.full(places.size, otherwise, dtype=numbers.dtype)
    array[places] = numbers
    return array


def starts_of(sizes) -> np.ndarray:
    """Return where parts of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@njit
def right_children(inner):
    """Return the right child of each node of one or more trees in preorder, and LEAF for leaves."""
    right = np.full(inner.size, LEAF, dtype=np.int64)
    roots = np.empty(inner.size, dtype=np.int64)  # of the parts behind node i, the nearest last
    n_roots = 0
    for i in range(inner.size - 1, -1, -1):
        if inner[i]:
            right[i] = roots[n_roots - 2]
            n_roots -= 2
        roots[n_roots] = i
        n_roots += 1
    return right


@njit
def add_up(right, numbers):
    """Write the sums over its two children to each inner node."""
    for i in range(right.size - 1, -1, -1):
        if right[i] != LEAF:
            numbers[i] = numbers[i + 1] + numbers[right[i]]


@njit
def add_up_shares(right, weight, value):
    """Write the shares of the classes at each inner node, given those at the leaves."""
    sums = value * weight.reshape(-1, 1)
    for i in range(right.size - 1, -1, -1):
        if right[i] != LEAF:
            for k in range(value.shape[1]):
                sums[i, k] = sums[i + 1, k] + sums[right[i], k]
                value[i, k] = sums[i, k] / weight[i]


@njit
def add_up_means(right, weight, value, impurity, criterion):
    """Write the means and the impurity of each inner node: that within its children and that between them."""
    n_outputs = value.shape[1]
    for i in range(right.size - 1, -1, -1):
        if right[i] == LEAF:
            continue
        left_share, right_share = weight[i + 1] / weight[i], weight[right[i]] / weight[i]
        impurity[i] = left_share * impurity[i + 1] + right_share * impurity[right[i]]
        for o in range(n_outputs):
            left_mean, right_mean = value[i + 1, o], value[right[i], o]
            mean = left_share * left_mean + right_share * right_mean
            value[i, o] = mean
            between = spread_of_two_means(left_share, left_mean, right_share, right_mean, mean, criterion)
            impurity[i] += between / n_outputs
