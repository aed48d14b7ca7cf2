"""Rounds of boosting: gradients of the loss → a tree that follows them → new scores, many times in one call.

scores ──► loss, gradients ──► whole numbers ──► tree ──► values of its leaves, from exact sums ──► scores ──► …
"""

from __future__ import annotations

import math

import numpy as np

from eigenwood.compiling import njit_no_refcount
from eigenwood.core.boosting.grower import grow_tree
from eigenwood.core.boosting.histogram import FLAT_ROWS
from eigenwood.core.boosting.leaves import keep_in_order
from eigenwood.core.boosting.losses import BY_ORDER, CUSTOM, HUBER, LONGEST_STEP, SOFTMAX, weighted_quantile
from eigenwood.core.boosting.losses import FLAT as FLAT_LOSSES
from eigenwood.core.boosting.tasks import Boosting, help_boosting, run_job
from eigenwood.core.boosting.types import (
    LEFT,
    LIST_WORDS,
    RIGHT,
    VALUE,
    WEIGHT,
    BoostNodes,
    BoostParams,
    BoostTable,
    BoostTarget,
    Constraints,
)
from eigenwood.core.boosting.workspace import (
    CLASS,
    DELTA,
    END,
    FIRST,
    GAIN_UNIT,
    GRADIENT_SCALE,
    GRADIENT_UNIT,
    GRADIENTS,
    HESSIAN_SCALE,
    HESSIAN_UNIT,
    IS_FLAT,
    L2,
    LAST,
    LEAST_HESSIAN,
    LOSS,
    LOWER,
    MOST_GRADIENT,
    MOST_HESSIAN,
    N_THREADS,
    N_TRAIN,
    NODE,
    ORDER,
    OUTPUT,
    REPEATS,
    ROOT,
    ROUND,
    ROW_BLOCK,
    SIDE,
    START,
    SUMS,
    UPDATE,
    UPPER,
    WALK,
    WEIGHT_UNIT,
    WORDS,
    most_leaves,
    new_histograms,
    new_job,
    new_leaves,
    new_rows,
    new_scan,
)
from eigenwood.core.crew import crew_of, new_crew
from eigenwood.core.distinct import splitmix64
from eigenwood.core.kernels.exponential import STRIP
from eigenwood.core.memory import lazy_zeros

EXACT_BITS = 62  # of a sum of whole numbers
TREE_SEED, DRAW_SEED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
UNIT = 1.0 / (1 << 53)
TINY, HUGE = 1e-280, 1e300  # largest gradients whose sums can be made exact
MOST_SUM, MOST_FLAT_SUM = 1 << 31, 1 << 37  # that a bin of a histogram can hold
FLAT_BITS = 24  # of a gradient alone


# ---- one round, in compiled code -----------------------------------------------------------------------------------


@njit_no_refcount
def make_rounds(b, first_round, n_rounds, losses):
    """Make rounds, and write the loss of training and validation rows after each; return how many nodes there are.

    Gradients of the scores at hand must be there.
    """
    n_nodes = b.nodes.start[0]
    for t in range(n_rounds):
        b.job.whole[ROUND] = first_round + t
        for k in range(b.params.n_outputs):
            draw_rows(b, first_round + t)  # the same for all trees of a round; the one before has moved them
            b.job.whole[OUTPUT] = k
            if b.params.loss == SOFTMAX:
                run_job(b, CLASS, block_count(b), 2 * b.rows.gradients.size)
            elif b.params.n_outputs > 1:
                run_job(b, GRADIENTS, block_count(b), 3 * b.rows.gradients.size)
            n_nodes = make_tree(b, n_nodes)
            b.nodes.start[t * b.params.n_outputs + k + 1] = n_nodes
        b.job.whole[OUTPUT] = 0
        write_losses(b, losses[t])
    return n_nodes


@njit_no_refcount
def block_count(b):
    """Return how many blocks of rows there are: of training rows, and of others."""
    n_train, n_rows = b.job.whole[N_TRAIN], b.rows.gradients.size
    return -(-n_train // ROW_BLOCK) + -(-(n_rows - n_train) // ROW_BLOCK)


@njit_no_refcount
def write_losses(b, losses):
    """Write gradients of the scores at hand, and the sums of the losses of training and of validation rows."""
    losses[0] = losses[1] = 0.0
    n_train_blocks = -(-b.job.whole[N_TRAIN] // ROW_BLOCK)
    n_outputs = 1 if b.params.loss == SOFTMAX else b.params.n_outputs
    for k in range(n_outputs - 1, -1, -1):
        b.job.whole[OUTPUT] = k
        run_job(b, GRADIENTS, block_count(b), 3 * b.rows.gradients.size)
        for block in range(block_count(b)):
            losses[0 if block < n_train_blocks else 1] += b.job.block[block, LOSS]


@njit_no_refcount
def draw_rows(b, number):
    """Write the rows of a round: all, or as many as are wanted, each with the same chance."""
    rows, n_rows, n_wanted = b.rows.order[0], b.job.whole[N_TRAIN], b.params.n_drawn
    if b.job.whole[REPEATS] != 0:
        write_repeated(b.target.weights, n_rows, rows)
        return
    if n_wanted == n_rows:  # then they are written with their whole numbers
        return
    seed, n = splitmix64(b.params.seed ^ (DRAW_SEED * np.uint64(number + 1))), 0
    for i in range(n_rows):
        chance = np.float64(splitmix64(seed + np.uint64(i)) >> np.uint64(11)) * UNIT
        if chance * (n_rows - i) < n_wanted - n:
            rows[n] = i
            n += 1


@njit_no_refcount
def write_repeated(weights, n_rows, rows):
    """Write every row as often as its weight says."""
    n = 0
    for i in range(n_rows):
        for _ in range(np.int64(weights[i])):
            rows[n] = i
            n += 1


@njit_no_refcount
def make_tree(b, root):
    """Grow a tree on the gradients at hand, give its leaves their values, and add those to the scores of all rows."""
    write_scales(b)
    run_job(b, WORDS, block_count(b), 2 * b.rows.gradients.size)
    b.job.whole[ROOT] = root
    number = b.job.whole[ROUND] * b.params.n_outputs + b.job.whole[OUTPUT]
    tree_seed = splitmix64(b.params.seed ^ (TREE_SEED * np.uint64(number + 1)))
    n_nodes, n_leaves = grow_tree(b, tree_seed)
    n_tasks = write_leaf_tasks(b, n_leaves)
    for i in range(3 * n_leaves):
        b.leaves.sums[i] = 0
    run_job(b, SUMS, n_tasks, b.rows.order.shape[1])
    write_values(b, root, n_leaves)
    add_weights(b.nodes, root, n_nodes)
    if b.params.loss in BY_ORDER:
        run_job(b, ORDER, n_leaves, 20 * b.rows.order.shape[1])
        if b.params.has_bounds:
            last = root + n_nodes
            keep_in_order(
                b.nodes.whole[root:last], b.nodes.real[root:last], n_nodes, b.constraints.monotonic_cst, b.leaves.limits
            )
    n_train, n_rows = b.job.whole[N_TRAIN], b.rows.gradients.size
    first = n_train
    if b.params.n_drawn == n_train and b.job.whole[REPEATS] == 0:
        run_job(b, UPDATE, n_tasks, n_train)
    else:
        first = 0
    b.job.whole[FIRST], b.job.whole[LAST] = first, n_rows
    run_job(b, WALK, -(-(n_rows - first) // ROW_BLOCK), 10 * (n_rows - first))
    return root + n_nodes


@njit_no_refcount
def write_scales(b):
    """Write by how much gradients and hessians are multiplied to become whole, for histograms and for leaves."""
    job, most, most_h, n_drawn = b.job, TINY, TINY, b.rows.order.shape[1]
    for block in range(-(-job.whole[N_TRAIN] // ROW_BLOCK)):
        most, most_h = larger(job.block[block, MOST_GRADIENT], most), larger(job.block[block, MOST_HESSIAN], most_h)
    bits, most_sum = (FLAT_BITS, MOST_FLAT_SUM) if job.whole[IS_FLAT] != 0 else (b.params.scale_bits, MOST_SUM)
    levels = np.float64(max(min(1 << bits, most_sum // n_drawn) - 1, 1))
    job.real[GRADIENT_SCALE] = levels / most
    job.real[HESSIAN_SCALE] = 1.0 if job.whole[IS_FLAT] != 0 or most_h == TINY else levels / most_h
    job.real[L2] = b.params.l2 * job.real[HESSIAN_SCALE]
    job.real[LEAST_HESSIAN] = b.params.min_hessian * job.real[HESSIAN_SCALE]
    job.real[GAIN_UNIT] = job.real[HESSIAN_SCALE] / (job.real[GRADIENT_SCALE] * job.real[GRADIENT_SCALE])
    room = EXACT_BITS - math.ceil(math.log2(n_drawn + 1.0))
    job.real[GRADIENT_UNIT], job.real[HESSIAN_UNIT] = exact_unit(most, room), exact_unit(most_h, room)


@njit_no_refcount
def larger(number, most):
    """Return the larger of two numbers, or what is no number."""
    return number if number > most or number != number else most


@njit_no_refcount
def exact_unit(most, room):
    """Return the power of two by which numbers up to ``most`` become whole, in so many bits; NaN if it is infinite."""
    if not most <= HUGE:
        return np.nan
    return 2.0 ** (room - math.ceil(math.log2(most)) - 1)


@njit_no_refcount
def write_leaf_tasks(b, n_leaves):
    """Write which rows of which leaf are a task; return how many there are."""
    n = 0
    for leaf in range(n_leaves):
        first, last = b.leaves.whole[leaf, START], b.leaves.whole[leaf, END]
        for start in range(first, last, ROW_BLOCK):
            b.job.tasks[n, 0], b.job.tasks[n, 1], b.job.tasks[n, 2] = leaf, start, min(start + ROW_BLOCK, last)
            n += 1
    return n


@njit_no_refcount
def write_values(b, root, n_leaves):
    """Write value and weight of each leaf: a step of Newton's method, not too long, times the learning rate."""
    real, params, weighted = b.job.real, b.params, b.target.weights.size > 0 and b.job.whole[REPEATS] == 0
    for leaf in range(n_leaves):
        own, at = b.leaves.sums[3 * leaf : 3 * leaf + 3], root + b.leaves.whole[leaf, NODE]
        n_rows = np.float64(b.leaves.whole[leaf, END] - b.leaves.whole[leaf, START])
        gradient, hessian = own[0] / real[GRADIENT_UNIT], n_rows
        if b.job.whole[IS_FLAT] == 0:
            hessian = own[1] / real[HESSIAN_UNIT]
        value = 0.0 if hessian + params.l2 <= TINY else -gradient / (hessian + params.l2)
        if params.loss not in FLAT_LOSSES and params.loss != CUSTOM:
            value = min(max(value, -LONGEST_STEP), LONGEST_STEP)
        if params.has_bounds:
            unit = real[HESSIAN_SCALE] / real[GRADIENT_SCALE]
            value = min(max(value, b.leaves.real[leaf, LOWER] * unit), b.leaves.real[leaf, UPPER] * unit)
        b.nodes.real[at, VALUE] = params.learning_rate * value
        b.nodes.real[at, WEIGHT] = own[2] / real[WEIGHT_UNIT] if weighted else n_rows


@njit_no_refcount
def add_weights(nodes, root, n_nodes):
    """Write the weights of inner nodes: those of their children."""
    for at in range(root + n_nodes - 1, root - 1, -1):  # children before parents
        if nodes.whole[at, LEFT] > 0:
            left, right = root + nodes.whole[at, LEFT], root + nodes.whole[at, RIGHT]
            nodes.real[at, WEIGHT] = nodes.real[left, WEIGHT] + nodes.real[right, WEIGHT]


# ---- rounds from Python --------------------------------------------------------------------------------------------


class BoostingRun:
    """Rounds of one fit: memory that they share, and the helpers that they have."""

    def __init__(
        self,
        table: BoostTable,
        target: BoostTarget,
        params: BoostParams,
        constraints: Constraints,
        alphas: np.ndarray,
        n_train: int,
        repeats: bool,
        n_threads: int,
    ) -> None:
        n_rows, weights = target.y.size, target.weights
        n_drawn = int(weights[:n_train].sum()) if repeats else params.n_drawn
        max_leaves = most_leaves(params, n_drawn)
        job = new_job(max(n_rows, n_drawn), max_leaves, n_threads, STRIP)
        self._may_be_flat = (weights.size == 0 or repeats) and n_drawn < FLAT_ROWS
        flat = params.loss in FLAT_LOSSES and self._may_be_flat
        job.whole[N_TRAIN], job.whole[IS_FLAT], job.whole[REPEATS], job.whole[N_THREADS] = (
            n_train,
            flat,
            repeats,
            n_threads,
        )
        if weights.size:
            job.real[WEIGHT_UNIT] = 2.0 ** (EXACT_BITS - 1 - math.ceil(math.log2(weights[:n_train].sum())))
        rows = new_rows(n_rows, n_drawn, params.n_outputs, params.loss in BY_ORDER)
        histograms = new_histograms(table, params, flat, n_drawn, n_threads)
        scan = new_scan(table.column.size, table.codes.shape[0], n_threads)
        leaves, nodes = new_leaves(max_leaves, constraints.allowed.shape[1]), new_nodes(0, 0)
        self.work = Boosting(
            table, target, params, constraints, alphas, rows, histograms, scan, leaves, job, nodes
        )  # fmt: skip
        self._most_nodes = 2 * max_leaves - 1
        own = self._weights()
        self._totals = np.array([own[:n_train].sum(), max(own[n_train:].sum(), TINY)])

    def start(self, scores: np.ndarray) -> np.ndarray:
        """Begin at scores, (n_outputs, n_rows); return the mean losses of training and validation rows."""
        self.work.rows.scores[:] = scores
        return self._renewed_gradients()

    def go_on(self, first_round: int, n_rounds: int) -> tuple[BoostNodes, np.ndarray]:
        """Make rounds; return their nodes, and the mean losses after each."""
        nodes, losses = new_nodes(n_rounds * self.work.params.n_outputs, self._most_nodes), np.zeros((n_rounds, 2))
        work = self.work._replace(nodes=nodes, job=self.work.job._replace(crew=new_crew()))
        with crew_of(work.job.crew, lambda thread: help_boosting(work, thread), int(work.job.whole[N_THREADS]) - 1):
            n_nodes = make_rounds(work, first_round, n_rounds, losses)
        if work.params.loss == HUBER:  # which depends on what is left
            losses[-1] = self._renewed_gradients()
            return first_nodes(nodes, n_nodes), losses
        return first_nodes(nodes, n_nodes), self._means(losses)

    def drawn_rows(self, nodes: BoostNodes) -> np.ndarray:
        """Return the rows from which the last of these trees was grown, ascending; all trees of a round have them."""
        order, last = self.work.rows.order, nodes.whole[nodes.start[-2] : nodes.start[-1]]
        leaves = self.work.leaves.whole[: np.count_nonzero(last[:, LEFT] < 0)]
        return np.sort(np.concatenate([order[leaf[SIDE], leaf[START] : leaf[END]] for leaf in leaves]))

    def follow(self, gradients: np.ndarray, hessians: np.ndarray) -> None:
        """Take gradients and hessians of the scores at hand, for a loss that only the caller knows."""
        self.work.rows.gradients[:], self.work.rows.hessians[:] = gradients, hessians
        job, n_train = self.work.job.whole, int(self.work.job.whole[N_TRAIN])
        job[IS_FLAT] = self._may_be_flat and bool((hessians[:n_train] == 1.0).all())
        self._renewed_gradients()

    def _renewed_gradients(self) -> np.ndarray:
        """Write gradients of the scores at hand; return the mean losses."""
        work, n_train, sums = self.work, int(self.work.job.whole[N_TRAIN]), np.zeros(2)
        if work.params.loss == HUBER:
            rest = np.abs(work.target.y[:n_train] - work.rows.scores[0, :n_train])
            work.job.real[DELTA] = weighted_quantile(rest, self._weights()[:n_train], work.params.alpha)
        write_losses(work, sums)
        return self._means(sums)

    def _weights(self) -> np.ndarray:
        return self.work.target.weights if self.work.target.weights.size else np.ones(self.work.target.y.size)

    def _means(self, sums: np.ndarray) -> np.ndarray:
        """Return mean losses of training and validation rows from their sums; 0 where there are no rows."""
        return sums / self._totals


def new_nodes(n_trees: int, most_nodes: int) -> BoostNodes:
    """Return room for trees of at most so many nodes each."""
    n = n_trees * most_nodes
    return BoostNodes(
        whole=lazy_zeros((n, 6), np.int32),
        real=lazy_zeros((n, 3)),
        listed=lazy_zeros((n, LIST_WORDS), np.uint64),
        start=np.zeros(n_trees + 1, dtype=np.int64),
    )


def first_nodes(nodes: BoostNodes, n_nodes: int) -> BoostNodes:
    """Return the nodes that there are, without the room for others."""
    whole, real, listed, start = nodes
    return BoostNodes(whole[:n_nodes].copy(), real[:n_nodes].copy(), listed[:n_nodes].copy(), start)
