"""Kernel values for a learner that changes a few hundred coefficients at a time, again and again.

    among       k(members, members)              computed for each request: a small square
    add         scores += Σ change_i k(x_i, ·)   a tile of K at a time, used while it is in the cache, and gone
    kept        slot 0      k(x_17, ·)           rows that are likely to be needed again are kept, as many as fit in the
                slot 1      k(x_4, ·)            memory that is allowed; then the one not used for longest makes room

The columns are the rows that take part; the solver may shrink them for a while. What is kept depends on the requests
alone, never on time or threads.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.compiling import njit
from eigenwood.core.kernels.blocks import KernelFunction, Prepared, fill_tile, gram_diagonal, origin, prepared, taken
from eigenwood.core.kernels.functions import ABOUT_A_CENTRE, GAUSSIAN, LAPLACIAN, Kernel
from eigenwood.core.kernels.source import NO_SLOT, work_of_a_value
from eigenwood.core.kernels.sums import kernel_sums_in_pieces
from eigenwood.core.pieces import Pieces
from eigenwood.core.rows import rows_of, squared_row_norms
from eigenwood.core.threads import one_blas_thread, results_in_turn, row_blocks

BLOCK_COLUMNS = 2048  # of one task: enough tasks for all threads, each long enough for BLAS
TILE_ROWS, TILE_COLUMNS = 256, 1024  # of one product: what is made of it happens while it is in the cache
STRIP = 1024  # scores that stay in the first-level cache while rows are added to them
CHEAP = 256.0  # a value that costs fewer multiplications is kept when it is computed the second time: memory costs too
LARGEST_NORM = 1e30  # of what is squared in float32


class KernelTable(NamedTuple):
    """All rows that several problems have in common, ready for products."""

    X: np.ndarray
    kernel: Kernel | KernelFunction
    rows: Prepared  # scaled by gamma where only distances count
    scaled: Kernel | KernelFunction  # the kernel of these rows
    diagonal: np.ndarray  # k(x, x), in float64
    value_work: float  # of one kernel value, in multiplications of a matrix product


class Part(NamedTuple):
    """Rows of the table from ``start`` to ``stop``, and the values among them if several problems share these."""

    start: int
    stop: int
    within_class_gram: np.ndarray | None = None


def kernel_table(X, kernel: Kernel | KernelFunction) -> KernelTable:
    """Return the table of some rows.

    Distances are computed in float32, unless the numbers are too large for it, and products in float64, because high
    powers need its digits, and so does what is left of them about a centre.
    """
    return KernelTable(X, kernel, *working_rows(X, kernel), gram_diagonal(X, kernel), work_of_a_value(X, kernel))


class KernelRowCache:
    """The kernel values among the rows of one or two parts of a table, of which at most ``max_bytes`` are kept.

    What is kept is float32, except for what a function of the user's returns.
    """

    has_all = False

    def __init__(self, table: KernelTable, parts: tuple[Part, ...], max_bytes: float, n_threads: int = 1) -> None:
        self._table, self._parts = table, parts
        self._threads = 1 if callable(table.kernel) else n_threads  # a function of the user's may not take them
        self._ids = np.concatenate([np.arange(part.start, part.stop) for part in parts])  # rows of the table
        self._ends = np.cumsum([0] + [part.stop - part.start for part in parts])
        self.n_rows, self.value_work = self._ids.size, table.value_work
        dtype = np.dtype(np.float64 if callable(table.kernel) else np.float32)
        n_kept = int(min(self.n_rows, max_bytes / (self.n_rows * dtype.itemsize)))
        self._buffer = np.empty(n_kept * self.n_rows, dtype=dtype)  # memory that no row needs is never touched
        self._slots = np.full(self.n_rows, NO_SLOT)
        self._owners, self._used = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._clock, self._was_here = 0, np.full(self.n_rows, self.value_work >= CHEAP)
        self._take(np.arange(self.n_rows))

    @property
    def rounding(self) -> float:
        """How far a value is off, about."""
        kernel, rows = self._table.scaled, self._table.rows
        if not isinstance(kernel, Kernel):
            return 0.0
        eps = float(np.finfo(np.float32).eps) / 2.0
        if kernel.code in GAUSSIAN:  # an error of the distance t counts exp(-t) times; that of an entry, √t exp(-t)
            distance = 2.0 * kernel.gamma * float(rows.norms.mean())
            return eps * (2.0 * min(1.0, distance) + 0.5 * float(np.sqrt(distance)))
        return eps * float(np.abs(self._table.diagonal).mean())

    def exact_scores(self, rows: np.ndarray, beta: np.ndarray, of: np.ndarray) -> Pieces[np.ndarray]:
        """Return Σ β_i k(x_i, ·) for some rows, computed in float64."""
        X, kernel = self._table.X, plain_kernel(self._table.kernel)
        asked, support = X[self._ids[of]], X[self._ids[rows]]
        if not callable(kernel):
            asked, support = asked.astype(np.float64), support.astype(np.float64)
        sums = yield from kernel_sums_in_pieces(asked, support, kernel, beta[:, None], self._threads)
        if kernel is self._table.kernel:
            return sums[:, 0]
        return sums[:, 0] - self.shift(rows, beta) - beta.sum() * self._table.rows.norms[self._ids[of]]

    def shift(self, rows: np.ndarray, beta: np.ndarray) -> float:
        """Return by how much Σ β_i k(x_i, ·) is more than the scores, where Σβ = 0: Σ β_i (k(x_i, c) - k(c, c) / 2)."""
        if plain_kernel(self._table.kernel) is self._table.kernel:
            return 0.0
        return float(beta @ self._table.rows.norms[self._ids[rows]])

    def among(self, rows: np.ndarray) -> Pieces[np.ndarray]:
        """Return the kernel values among some rows."""
        square = np.empty((rows.size, rows.size), dtype=self._buffer.dtype)
        groups = [np.flatnonzero((rows >= start) & (rows < stop)) for start, stop in pairwise(self._ends)]
        for number, (own, part) in enumerate(zip(groups, self._parts, strict=True)):
            if part.within_class_gram is None:
                square[np.ix_(own, own)] = yield from self._within(self._ids[rows[own]])
            else:
                local = rows[own] - self._ends[number]
                square[np.ix_(own, own)] = part.within_class_gram[np.ix_(local, local)]
            for other in groups[number + 1 :]:
                if own.size == 0 or other.size == 0:  # no function of the user's is asked about no rows
                    continue
                across = self._across(self._ids[rows[own]], self._ids[rows[other]])
                square[np.ix_(own, other)], square[np.ix_(other, own)] = across, across.T
                yield
        square[np.arange(rows.size), np.arange(rows.size)] = self._table.diagonal[self._ids[rows]]
        return square

    def _within(self, ids: np.ndarray) -> Pieces[np.ndarray]:
        """Return the kernel values among some rows of the table; half of them are computed."""
        square = np.empty((ids.size, ids.size), dtype=self._buffer.dtype)
        members = taken(self._table.rows, ids)

        def fill(some: slice) -> None:
            rest = slice(some.start, ids.size)
            square[some, rest] = self._tile(taken(members, some), taken(members, rest))
            square[rest, some] = square[some, rest].T

        for _ in results_in_turn(fill, row_blocks(ids.size, TILE_ROWS), self._threads):
            yield
        return square

    def _across(self, ids: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the kernel values of some rows of the table and others."""
        with one_blas_thread():
            return self._tile(taken(self._table.rows, ids), taken(self._table.rows, others))

    def add(self, rows: np.ndarray, change: np.ndarray, scores: np.ndarray, again: np.ndarray) -> Pieces[None]:
        """Add Σ change_i k(x_i, ·) to the scores of all columns; rows marked ``again`` are kept, if there is room.

        Whoever leaves it before its end may ask for exact scores only, or must begin anew: slots are given before they
        are filled.
        """
        self._clock += 1
        slots = self._slots[rows]
        kept = slots != NO_SLOT
        self._used[slots[kept]] = self._clock
        fresh = Fresh(rows[~kept], change[~kept], self._given(rows[~kept], again[~kept]))

        def add_kept(block: slice) -> None:
            add_rows(self._store, slots[kept], change[kept], scores, block.start, block.stop)

        for _ in results_in_turn(add_kept, row_blocks(self.columns.size, BLOCK_COLUMNS), self._threads):
            yield
        for (start, stop), part in zip(pairwise(self._ends), self._parts, strict=True):
            mine = fresh.taken((fresh.rows >= start) & (fresh.rows < stop))
            for columns in self._columns:
                if columns.part is part and part.within_class_gram is not None:
                    self._add_within_class(mine, part.within_class_gram, start, columns, scores)
                    yield
                elif mine.rows.size:
                    yield from self._add_fresh(mine, columns, scores[columns.first : columns.last])

    def _add_within_class(
        self, fresh: Fresh, gram: np.ndarray, start: int, columns: CachedColumns, scores: np.ndarray
    ) -> None:
        """Add rows whose values stand in the Gram matrix of their class, and keep what is to be kept."""
        local, here = fresh.rows - start, slice(columns.first, columns.last)
        if here.stop - here.start < gram.shape[0]:
            gram, local = gram[np.ix_(local, self.columns[here] - start)], np.arange(local.size)
        add_rows(gram, local, fresh.change, scores[here], 0, gram.shape[1])
        kept = fresh.slots != NO_SLOT
        self._store[fresh.slots[kept], here] = gram[local[kept]]

    def _add_fresh(self, fresh: Fresh, columns: CachedColumns, scores: np.ndarray) -> Pieces[None]:
        """Compute some rows, tile by tile; add each tile to the scores, and keep what is to be kept."""
        left = taken(self._table.rows, self._ids[fresh.rows])

        def add_block(block: slice) -> None:
            for tiles in row_blocks(block.stop - block.start, TILE_COLUMNS):
                places = slice(block.start + tiles.start, block.start + tiles.stop)
                right = taken(columns.rows, places)
                for some in row_blocks(fresh.rows.size, TILE_ROWS):
                    tile = self._tile(taken(left, some), right)
                    add_rows(tile, np.arange(tile.shape[0]), fresh.change[some], scores[places], 0, tile.shape[1])
                    kept = np.flatnonzero(fresh.slots[some] != NO_SLOT)
                    store = self._store[:, columns.first : columns.last]
                    store[fresh.slots[some][kept], places] = tile[kept]

        width = TILE_COLUMNS if callable(self._table.kernel) else BLOCK_COLUMNS  # a function may take its time
        for _ in results_in_turn(add_block, row_blocks(scores.size, width), self._threads):
            yield

    def shrink_to(self, columns: np.ndarray) -> None:
        """Let only some of the columns (ascending) be columns from now on; what is kept of them stays."""
        n_slots = int(np.flatnonzero(self._owners != NO_SLOT).max(initial=-1)) + 1
        squeeze(self._buffer, self.columns.size, self._places[columns], n_slots)
        self._take(columns)

    def unshrink(self, columns: np.ndarray) -> None:
        """Let more rows be columns again; kept rows are forgotten, because they lack these."""
        self._forget_kept()
        self._take(np.union1d(self.columns, columns))

    def begin_anew(self) -> None:
        """Let all rows be columns, and trust nothing that was kept or given: work may have stopped half-way."""
        self._parts = tuple(part._replace(within_class_gram=None) for part in self._parts)
        self._forget_kept()
        self._take(np.arange(self.n_rows))

    def _forget_kept(self) -> None:
        self._slots[:] = NO_SLOT
        self._owners[:] = NO_SLOT
        self._used[:] = 0

    def _take(self, columns: np.ndarray) -> None:
        """Let these rows be the columns; rows that are kept stay in their slots, and there may be more slots."""
        self.columns = columns
        self._columns = [
            self._columns_of(part, *ends) for part, ends in zip(self._parts, pairwise(self._ends), strict=True)
        ]
        self._places = np.full(self.n_rows, NO_SLOT)
        self._places[columns] = np.arange(columns.size)
        capacity = min(self.n_rows, self._buffer.size // columns.size)
        self._store = self._buffer[: capacity * columns.size].reshape(capacity, columns.size)
        more = max(0, capacity - self._owners.size)
        self._owners = np.append(self._owners, np.full(more, NO_SLOT))[:capacity]
        self._used = np.append(self._used, np.zeros(more, dtype=np.int64))[:capacity]

    def _given(self, fresh: np.ndarray, again: np.ndarray) -> np.ndarray:
        """Return the slots that fresh rows get, if they are needed again: those that were not used for longest."""
        slots = np.full(fresh.size, NO_SLOT)
        again = again & self._was_here[fresh]
        self._was_here[fresh] = True
        free = np.flatnonzero(self._used < self._clock)
        n_given = min(np.count_nonzero(again), free.size)
        given = free[np.argsort(self._used[free], kind="stable")[:n_given]]
        slots[np.flatnonzero(again)[:n_given]] = given
        lost = self._owners[given]
        self._slots[lost[lost != NO_SLOT]] = NO_SLOT
        owners = fresh[slots != NO_SLOT]
        self._slots[owners], self._owners[given], self._used[given] = given, owners, self._clock
        return slots

    def _columns_of(self, part: Part, start: int, stop: int) -> CachedColumns:
        """Return the columns that lie in a part; a whole part is not copied."""
        first, last = np.searchsorted(self.columns, [start, stop])
        if last - first == stop - start:
            rows = taken(self._table.rows, slice(part.start, part.stop))
        else:
            rows = taken(self._table.rows, self._ids[self.columns[first:last]])
        return CachedColumns(part, int(first), int(last), rows)

    def _tile(self, left: Prepared, right: Prepared) -> np.ndarray:
        """Return the kernel values of some rows and some columns."""
        kernel = self._table.scaled
        if not isinstance(kernel, Kernel):  # a function of the user's: queries first, then those who vote on them
            return np.ascontiguousarray(kernel(right.rows, left.rows).T)
        tile = np.empty((left.rows.shape[0], right.rows.shape[0]), dtype=left.rows.dtype)
        fill_tile(tile, left, right, kernel)
        return tile


class CachedColumns(NamedTuple):
    """The columns from ``first`` to ``last``, which lie in one part."""

    part: Part
    first: int
    last: int
    rows: Prepared


class Fresh(NamedTuple):
    """Rows to be computed, what is to be added of each, and the slot in which it is to be kept, if any."""

    rows: np.ndarray
    change: np.ndarray
    slots: np.ndarray

    def taken(self, some: np.ndarray) -> Fresh:
        """Return some of them."""
        return Fresh(self.rows[some], self.change[some], self.slots[some])


def working_rows(X, kernel: Kernel | KernelFunction) -> tuple[Prepared, Kernel | KernelFunction]:
    """Return the rows ready for products, in the float type that the kernel needs, and the kernel of these rows.

    Where only distances count, rows are measured from their mean and in units of the kernel's width, so that their
    squares fit in float32 wherever they matter.
    """
    if not isinstance(kernel, Kernel):
        return Prepared(X, X, np.empty(0)), kernel  # a function of the user's has them as they are
    if kernel.code in ABOUT_A_CENTRE:
        return prepared(X.astype(np.float64, copy=False), kernel, origin(X, kernel)), kernel
    if kernel.code not in (*GAUSSIAN, LAPLACIAN) or sparse.issparse(X):
        return prepared(X, kernel, None), kernel
    units = kernel.gamma if kernel.code == LAPLACIAN else np.sqrt(kernel.gamma)
    centred = (X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)) * np.float64(units)
    largest = float(np.abs(centred).max(initial=0.0))
    if largest * largest * X.shape[1] < LARGEST_NORM:
        centred = np.ascontiguousarray(centred, dtype=np.float32)
    norms = squared_row_norms(rows_of(centred)).astype(centred.dtype)
    return Prepared(centred, centred, norms), kernel._replace(gamma=1.0)


def plain_kernel(kernel: Kernel | KernelFunction) -> Kernel | KernelFunction:
    """Return the kernel itself, without a centre."""
    if isinstance(kernel, Kernel) and kernel.code in ABOUT_A_CENTRE:
        return kernel._replace(code=ABOUT_A_CENTRE[kernel.code])
    return kernel


@njit
def squeeze(buffer, width, places, n_rows):
    """Move the entries at ``places`` of rows of some width together; a row never moves backwards, so none is lost."""
    for i in range(n_rows):
        for j in range(places.size):
            buffer[i * places.size + j] = buffer[i * width + places[j]]


@njit(fastmath={"contract"})
def add_rows(store, slots, change, scores, start, stop):
    """Add Σ change_i · row_i to the scores from ``start`` to ``stop``; four rows at a time, so that these stay put."""
    n_fours = slots.size - slots.size % 4
    for first in range(start, stop, STRIP):
        last = min(first + STRIP, stop)
        line = scores[first:last]
        for i in range(0, n_fours, 4):
            a, b = store[slots[i], first:last], store[slots[i + 1], first:last]
            c, d = store[slots[i + 2], first:last], store[slots[i + 3], first:last]
            p, q, r, s = change[i], change[i + 1], change[i + 2], change[i + 3]
            for j in range(line.size):
                line[j] += p * a[j] + q * b[j] + r * c[j] + s * d[j]
        for i in range(n_fours, slots.size):
            row = store[slots[i], first:last]
            for j in range(line.size):
                line[j] += change[i] * row[j]
