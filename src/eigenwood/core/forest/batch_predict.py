"""Very many rows through many trees: the top levels for all rows at once, what is below row by row.

Rows are coded once (``threshold_codes``), so that a question compares two small whole numbers. A tree has two parts.

The top levels are its heaviest questions, by the rows they were learnt from, as many as 63. All of them are asked of
all rows, one question after the other; that is a comparison of two columns, for dozens of rows in one instruction. A
row has a path, at first 0. Question number i stands on some path; who is on it and goes right takes the new path i + 1:

    question 0, on path 0              path 0 ─── 1, on path 0 ─── left: path 0
    question 1, on path 0                  │                  └── right: path 2
    question 2, on path 1                  └── 2, on path 1 ─── left: path 1
                                                              └── right: path 3

In a lopsided tree the top levels are half of the depth or more. Each path leads to a node below them.

Below them, a node is one word:

    bits   63 … 42                   41 … 16                   15 … 0
           where its column begins   its left child's place    from which code on a row goes right

Siblings stand side by side, so the next place is the left child's, plus one if the code is large enough: no branch,
nothing to select. A leaf is its own left child, and no code is as large as its own. Below a pair of siblings follow the
children of the heavier. Sixteen walkers take a step each in turn, since a step waits for two reads; after some steps
those who have arrived are taken out.

Leaves add their values tree by tree, as in ``predict``: means have the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.compiling import njit, njit_forceinline, njit_no_refcount
from eigenwood.core.forest.packing import Forest, add_up, all_trees, columns_at, right_children, spread, starts_of
from eigenwood.core.forest.predict import Means, dense_rows, over_blocks, value_codes
from eigenwood.core.forest.threshold_codes import CHUNK, CHUNK_BITS, ThresholdCodes, coded, write_codes

TOP_LEVEL_QUESTIONS = 63  # questions
MOST_ROWS, CODE_BYTES = 4096, 1 << 19  # rows that go through a tree together, and their codes
FIRST_STEPS, STEPS = 6, 4  # before those who have arrived are taken out, the first time and later
TOGETHER = 16  # walkers
TOUCHED_PER_ROW = 8  # words of a tree: larger ones are read where somebody comes by
LEAF_CODE = 65535
CODE_BITS, PLACE_BITS, COLUMN_BITS = 16, 26, 22
PLACE_SHIFT, COLUMN_SHIFT = np.uint64(CODE_BITS), np.uint64(CODE_BITS + PLACE_BITS)
PLACE_MASK, CODE_MASK = np.uint64((1 << PLACE_BITS) - 1), np.uint64(LEAF_CODE)
ROW_SHIFT = np.uint64(CHUNK_BITS)
COLUMNS_PER_TREE = 4  # above, coding takes longer than it spares
# so many rows use the top levels; to set them apart, rows must enter trees so many times, in all and for each node
FEWEST_ROWS, FEWEST_ENTRIES, ENTRIES_PER_NODE = 256, 1 << 20, 8


class BatchForest(NamedTuple):
    """A forest with its top levels apart.

    A place is counted from the first one of its tree; the root is at 0, and nobody at 1.
    """

    threshold_codes: ThresholdCodes
    tree_start: np.ndarray  # (n_trees + 1,) int64: where the places of a tree begin
    words: np.ndarray  # (n_places,) uint64
    code: np.ndarray  # (n_places,) int32: which row of ``value`` a leaf has
    value: np.ndarray  # (n, n_values) float64
    n_asked: np.ndarray  # (n_trees,) int64: the questions of the top levels, …
    column: np.ndarray  # (n_trees, TOP_LEVEL_QUESTIONS) int64: … where their columns begin, …
    least: np.ndarray  # (n_trees, TOP_LEVEL_QUESTIONS) uint16: … from which code on a row goes right, …
    path_id: np.ndarray  # (n_trees, TOP_LEVEL_QUESTIONS) uint16: … and the path they stand on
    ends: np.ndarray  # (n_trees, TOP_LEVEL_QUESTIONS + 1) uint32: the place to which each path leads


def pays(forest: Forest, n_rows: int, made: bool) -> bool:
    """Return whether batch prediction pays for so many rows; ``made`` says that the batch forest is there already."""
    if made or n_rows < FEWEST_ROWS:
        return n_rows >= FEWEST_ROWS
    n_trees, n_nodes = forest.node_start.size - 1, int(forest.node_start[-1])
    return n_rows * n_trees >= max(FEWEST_ENTRIES, ENTRIES_PER_NODE * n_nodes)


def make_batch_forest(forest: Forest, may_miss) -> BatchForest | None:
    """Return a forest prepared for batch prediction, or None if it cannot be.

    Then rows walk as in ``predict``.

    ``may_miss`` says for each feature whether its numbers may be missing.
    """
    if forest.n_listed.size > 0:  # questions about categories
        return None
    shape = forest._replace(value=forest.value[:, :0])  # values are looked up by their codes
    columns = columns_at(shape, all_trees(shape))
    found = coded(columns.feature, columns.threshold, columns.default_left, may_miss)
    sizes = np.diff(forest.node_start)
    if found is None or not has_room(found[0].feature.size, sizes):
        return None
    threshold_codes, questions = found
    inner, right = columns.inner, right_children(columns.inner)
    n_rows = spread(columns.n_rows, ~inner, 0)
    add_up(right, n_rows)
    column, least = spread(questions.column * CHUNK, inner, 0), spread(questions.code, inner, LEAF_CODE)
    place, tree_start = places_of(inner, right, n_rows, forest.node_start), starts_of(sizes + 1)
    codes = value_codes(forest, inner)
    words, code = placed(inner, place, column, least, codes, forest.node_start, tree_start)
    top_levels = top_levels_of(inner, right, n_rows, place, column, least, forest.node_start)
    return BatchForest(threshold_codes, tree_start, words, code, forest.value.astype(np.float64), *top_levels)


def has_room(n_columns: int, sizes) -> bool:
    """Return whether columns and nodes have their place in a word, and columns are few enough beside the trees."""
    fits = 0 < n_columns * CHUNK <= 1 << COLUMN_BITS and sizes.max() < 1 << PLACE_BITS
    return fits and n_columns <= COLUMNS_PER_TREE * sizes.size


@njit
def places_of(inner, right, n_rows, node_start):
    """Return the place of each node within its tree: siblings side by side, the children of the heavier first."""
    place = np.empty(inner.size, dtype=np.int64)
    waiting = np.empty(inner.size, dtype=np.int64)
    for t in range(node_start.size - 1):
        waiting[0], n_waiting, n_placed = node_start[t], 1, 2
        place[node_start[t]] = 0
        while n_waiting > 0:
            n_waiting -= 1
            node = waiting[n_waiting]
            if not inner[node]:
                continue
            place[node + 1], place[right[node]] = n_placed, n_placed + 1
            n_placed += 2
            left_first = n_rows[node + 1] >= n_rows[right[node]]
            waiting[n_waiting] = right[node] if left_first else node + 1
            waiting[n_waiting + 1] = node + 1 if left_first else right[node]
            n_waiting += 2
    return place


@njit
def placed(inner, place, column, least, code, node_start, tree_start):
    """Return the words of all nodes, and the code of the value of each leaf, at their places."""
    words, own_code = np.zeros(tree_start[-1], dtype=np.uint64), np.zeros(tree_start[-1], dtype=np.int32)
    for t in range(node_start.size - 1):
        for node in range(node_start[t], node_start[t + 1]):
            at = tree_start[t] + place[node]
            left = place[node + 1] if inner[node] else place[node]
            word = (np.uint64(column[node]) << COLUMN_SHIFT) | (np.uint64(left) << PLACE_SHIFT)
            words[at] = word | np.uint64(least[node])
            if not inner[node]:
                own_code[at] = code[node]
    return words, own_code


@njit
def top_levels_of(inner, right, n_rows, place, column, least, node_start):
    """Return the top levels of every tree: one by one, the heaviest question just below them is added."""
    n_trees = node_start.size - 1
    n_asked = np.zeros(n_trees, dtype=np.int64)
    columns, leasts = (
        np.zeros((n_trees, TOP_LEVEL_QUESTIONS), dtype=np.int64),
        np.zeros((n_trees, TOP_LEVEL_QUESTIONS), dtype=np.uint16),
    )
    path_ids, ends = (
        np.zeros((n_trees, TOP_LEVEL_QUESTIONS), dtype=np.uint16),
        np.zeros((n_trees, TOP_LEVEL_QUESTIONS + 1), dtype=np.uint32),
    )
    node_of = np.empty(TOP_LEVEL_QUESTIONS + 1, dtype=np.int64)  # where each path leads
    for t in range(n_trees):
        node_of[0] = node_start[t]
        for i in range(TOP_LEVEL_QUESTIONS):
            path = heaviest(inner, n_rows, node_of[: i + 1])
            if path < 0:
                break
            node = node_of[path]
            columns[t, i], leasts[t, i], path_ids[t, i] = column[node], least[node], path
            node_of[path], node_of[i + 1] = node + 1, right[node]
            n_asked[t] += 1
        for path in range(n_asked[t] + 1):
            ends[t, path] = place[node_of[path]]
    return n_asked, columns, leasts, path_ids, ends


@njit
def heaviest(inner, n_rows, nodes):
    """Return where the heaviest of some nodes is that ask a question, or -1 if none does."""
    best, most = -1, -1
    for i in range(nodes.size):
        if inner[nodes[i]] and n_rows[nodes[i]] > most:
            best, most = i, n_rows[nodes[i]]
    return best


def batch_means(forest: BatchForest, X, n_threads: int = 1) -> Means | None:
    """Return the mean of each row's leaf values over the trees; None if a number is missing where none was in training.

    X is dense or csr, as for a single tree.
    """
    return batch_added_up(forest, X, np.zeros(forest.value.shape[1]), forest.n_asked.size, n_threads)


def batch_sums(forest: BatchForest, X, start: np.ndarray, n_threads: int = 1) -> Means | None:
    """Return ``start`` plus the values of each row's leaves; None if a number is missing where none was in training."""
    return batch_added_up(forest, X, start, 1, n_threads)


def batch_added_up(forest: BatchForest, X, start: np.ndarray, divisor: int, n_threads: int) -> Means | None:
    """Return ``start`` plus the values of each row's leaves, divided by ``divisor``."""
    values = np.empty((X.shape[0], start.size))

    def block(rows: slice) -> tuple[int, int]:
        return write_batch_sums(dense_rows(X, rows), forest, start, divisor, values[rows])

    met = over_blocks(block, X, n_threads)
    if any(unforeseen for _, unforeseen in met):
        return None
    return Means(values, any(infinite for infinite, _ in met))


@njit
def write_batch_sums(X, forest, start, divisor, totals):
    """Write what the leaves of every row add up to, divided by a number.

    Returns how many numbers are infinite, and missing where none may be.
    """
    n_columns, n_infinite = forest.threshold_codes.feature.size, 0
    n_together = rows_together(n_columns, X.shape[0])
    codes, paths = aligned(n_together * n_columns), aligned(CHUNK)
    places, names = np.empty(n_together, dtype=np.uint32), np.empty(n_together + TOGETHER + 1, dtype=np.uint32)
    for first in range(0, X.shape[0], n_together):
        rows = X[first : first + n_together]
        infinite, unforeseen = write_codes(rows, forest.threshold_codes, codes)
        n_infinite += infinite
        if unforeseen > 0:
            return n_infinite, unforeseen
        sums = totals[first : first + n_together]
        sums[:] = start
        add_trees(codes, n_columns, rows.shape[0], forest, paths, places, names, sums)
        if divisor != 1:
            sums /= divisor
    return n_infinite, 0


@njit_no_refcount
def add_trees(codes, n_columns, n_rows, forest, paths, places, names, sums):
    """Add the values of each row's leaves in all trees to its sums."""
    value = forest.value
    for t in range(forest.n_asked.size):
        tree = slice(forest.tree_start[t], forest.tree_start[t + 1])
        words, code = forest.words[tree], forest.code[tree]
        write_top_level_places(codes, n_columns, n_rows, forest, t, paths, places)
        if code.size <= TOUCHED_PER_ROW * n_rows:
            names[-1] = touched(words, code)  # kept, or the compiler would spare itself the reading
        walk_below(words, codes, n_columns, n_rows, names, places)
        add_values(code, value, places, t * value.shape[1] % sums.shape[1], sums)


@njit
def rows_together(n_columns, n_rows):
    """Return how many rows go through a tree together: whole chunks, whose codes stay near."""
    needed = (n_rows + CHUNK - 1) // CHUNK * CHUNK
    fitting = CODE_BYTES // (2 * max(n_columns, 1)) // CHUNK * CHUNK
    return max(CHUNK, min(needed, MOST_ROWS, fitting))


@njit
def aligned(n):
    """Return n codes of 0 that begin with a line of the cache, so that no register is read from two."""
    workspace = np.zeros(n + 32, dtype=np.uint16)
    skip = -(workspace.ctypes.data // 2) % 32
    return workspace[skip : skip + n]


@njit_no_refcount
def write_top_level_places(codes, n_columns, n_rows, forest, t, paths, places):
    """Write the place to which the top levels of a tree lead each row; the last chunk may have fewer rows than room."""
    ends = forest.ends[t]
    for start in range(0, n_rows, CHUNK):
        write_paths(
            codes[start * n_columns :], forest.n_asked[t], forest.column[t], forest.least[t], forest.path_id[t], paths
        )
        for i in range(min(CHUNK, n_rows - start)):
            places[start + i] = ends[np.uint64(paths[i])]


@njit_no_refcount
def write_paths(codes, n_asked, column, least, path_id, paths):
    """Write the path through the top levels of each row of a chunk."""
    paths[:] = 0
    for i in range(n_asked):
        asked, own_least, own_path = codes[column[i] : column[i] + CHUNK], least[i], path_id[i]
        change = own_path ^ np.uint16(i + 1)
        for r in range(CHUNK):
            goes_right = (asked[r] >= own_least) & (paths[r] == own_path)
            paths[r] ^= change if goes_right else np.uint16(0)  # all is written: a part is slow to be read again


@njit_no_refcount
def walk_below(words, codes, n_columns, n_rows, names, places):
    """Let each row walk from its place to its leaf."""
    for i in range(n_rows):
        names[i] = i
    n_walkers, n_steps, stride = n_rows, FIRST_STEPS, np.uint64((n_columns - 1) * CHUNK)
    while n_walkers > 0:
        for a in range(n_walkers, n_walkers + TOGETHER):
            names[a] = names[n_walkers - 1]
        for a in range(0, n_walkers, TOGETHER):
            walk_together(words, codes, stride, names[a : a + TOGETHER], n_steps, places)
        n_walkers, n_steps = still_walking(words, places, names, n_walkers), STEPS


@njit_no_refcount
def touched(words, code):
    """Read all words and codes of a tree in order, to have them in the cache; the number returned means nothing."""
    total = np.uint64(0)
    for i in range(words.size):
        total ^= words[i]
    for i in range(code.size):
        total ^= np.uint64(code[i])
    return total & CODE_MASK


@njit_forceinline
def walk_together(words, codes, stride, names, n_steps, places):
    """Let sixteen rows take some steps."""
    a, b, c, d = four_at(names, 0), four_at(names, 4), four_at(names, 8), four_at(names, 12)
    a_rows, b_rows = four_rows(a, stride), four_rows(b, stride)
    c_rows, d_rows = four_rows(c, stride), four_rows(d, stride)
    a_at, b_at, c_at, d_at = four_of(places, a), four_of(places, b), four_of(places, c), four_of(places, d)
    for _ in range(n_steps):
        a_at, b_at = four_steps(words, codes, a_rows, a_at), four_steps(words, codes, b_rows, b_at)
        c_at, d_at = four_steps(words, codes, c_rows, c_at), four_steps(words, codes, d_rows, d_at)
    write_four(places, a, a_at)
    write_four(places, b, b_at)
    write_four(places, c, c_at)
    write_four(places, d, d_at)


@njit_forceinline
def four_at(numbers, i):
    """Return four numbers from the i-th on."""
    return np.uint64(numbers[i]), np.uint64(numbers[i + 1]), np.uint64(numbers[i + 2]), np.uint64(numbers[i + 3])


@njit_forceinline
def four_of(numbers, at):
    """Return the numbers at four places."""
    return np.uint64(numbers[at[0]]), np.uint64(numbers[at[1]]), np.uint64(numbers[at[2]]), np.uint64(numbers[at[3]])


@njit_forceinline
def four_rows(names, stride):
    """Return where the codes of the first column stand, of four rows."""
    return (
        (names[0] >> ROW_SHIFT) * stride + names[0],
        (names[1] >> ROW_SHIFT) * stride + names[1],
        (names[2] >> ROW_SHIFT) * stride + names[2],
        (names[3] >> ROW_SHIFT) * stride + names[3],
    )


@njit_forceinline
def four_steps(words, codes, rows, places):
    """Return where four walkers are after a step each."""
    return (
        step(words, codes, rows[0], places[0]),
        step(words, codes, rows[1], places[1]),
        step(words, codes, rows[2], places[2]),
        step(words, codes, rows[3], places[3]),
    )


@njit_forceinline
def write_four(numbers, at, values):
    """Write four numbers to their places."""
    numbers[at[0]], numbers[at[1]], numbers[at[2]], numbers[at[3]] = values


@njit_forceinline
def step(words, codes, row, place):
    """Return the next place."""
    word = words[place]
    goes_right = np.uint64(codes[row + (word >> COLUMN_SHIFT)]) >= word & CODE_MASK
    return ((word >> PLACE_SHIFT) & PLACE_MASK) + np.uint64(goes_right)


@njit_no_refcount
def still_walking(words, places, names, n_walkers):
    """Keep the names of the rows that are not at a leaf yet, and return how many there are."""
    n_kept = 0
    for a in range(n_walkers):
        name = names[a]
        names[n_kept] = name
        n_kept += words[np.uint64(places[np.uint64(name)])] & CODE_MASK != CODE_MASK
    return n_kept


@njit_no_refcount
def add_values(code, value, places, column, sums):
    """Add the values of each row's leaf to its sums from a column on, two at a time: the rows of a table are short."""
    n_values = value.shape[1]
    for k in range(0, n_values - 1, 2):
        for i in range(sums.shape[0]):
            own = np.uint64(code[np.uint64(places[i])])
            sums[i, column + k] += value[own, k]
            sums[i, column + k + 1] += value[own, k + 1]
    if n_values % 2 == 1:
        for i in range(sums.shape[0]):
            own = np.uint64(code[np.uint64(places[i])])
            sums[i, column + n_values - 1] += value[own, n_values - 1]
