"""Rounds one after the other, as steps for ``Watch``, and the trees that they leave.

Many rounds are made in one call, as many as take some hundredths of a second; one by one where somebody wants to hear
of each, or where something must be computed from all scores between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.boosting.losses import CUSTOM
from eigenwood.core.boosting.trees import trees_of
from eigenwood.core.boosting.types import FEATURE, GAIN, LEFT, BoostNodes
from eigenwood.core.boosting.workspace import DELTA
from eigenwood.core.forest.packing import Forest, pack_batch
from eigenwood.core.tree.criteria import SQUARED_ERROR
from eigenwood.estimators.boosting.params import DEVIANCES
from eigenwood.estimators.boosting.setup import Setup
from eigenwood.estimators.boosting.stopping import best_round, stop_round
from eigenwood.proofs.boosting import total_loss
from eigenwood.validation.boosting import check_gradients

SECONDS = 0.03  # between two looks at the clock
MOST_NODES = 1 << 22  # of the rounds of one call, if all were as large as they may be
OUTPUT_START = np.array([0, 1])

OwnLoss = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # y, scores → gradients, hessians


class Step(NamedTuple):
    """How many rounds there are; ``stops`` says that the rows held out want no more of them."""

    n_rounds: int
    whole: bool
    last: bool
    stops: bool


class Stopping(NamedTuple):
    """When a fit stops early."""

    patience: int
    tol: float
    by_training: bool  # nothing is held out
    metric: Callable[[np.ndarray], float] | None  # scores of the rows held out, (n_outputs, n_rows) → how good they are


def own_loss(model: Any) -> OwnLoss | None:
    """Return the user's function with checks of what it gives, if there is one."""
    if not callable(model.loss):
        return None
    return lambda y, scores: check_gradients(type(model).__name__, model.loss(y, scores), y.size)


class Rounds:
    """The rounds of a fit so far."""

    def __init__(
        self,
        setup: Setup,
        start: np.ndarray,
        n_earlier: int,
        stopping: Stopping | None,
        loss: OwnLoss | None,
        earlier_scores: np.ndarray,
    ) -> None:
        """``start`` are scores, (n_outputs, n_rows); ``loss`` is a function of the user's."""
        self.setup, self.n_earlier, self._stopping, self._loss = setup, n_earlier, stopping, loss
        self._run, self._nodes, self._losses = setup.run(), list[BoostNodes](), list[np.ndarray]()
        first = self._run.start(start)
        self._factor = 2.0 if setup.params.loss in DEVIANCES else 1.0
        self._oob = list[tuple[float, float]]()
        self._scores: list[float] = [*earlier_scores] or ([self._score(first)] if stopping else [])

    def steps(self, n_rounds: int, by_one: bool) -> Iterator[Step]:
        """Yield after each call; ``n_rounds`` are wanted in all, earlier ones counted."""
        done, n_together = self.n_earlier, 1
        by_one |= self.setup.is_by_round() or self.setup.has_out_of_bag()
        by_one |= self._stopping is not None and self._stopping.metric is not None
        while True:
            n = 1 if by_one else min(n_together, n_rounds - done, self._most_rounds())
            seconds = self._make(done, n)
            done += n
            n_together = max(1, int(SECONDS / max(seconds / n, 1e-9)))
            stops = self._stopping is not None and self._stop_round() is not None
            yield Step(done, whole=True, last=done == n_rounds, stops=stops)

    def _most_rounds(self) -> int:
        params = self.setup.params
        return max(1, MOST_NODES // (2 * params.max_leaves * params.n_outputs))

    def _make(self, first: int, n: int) -> float:
        """Make some rounds, and note their nodes and losses; return how long it took."""
        start = perf_counter()
        if self._loss is not None:
            self._follow(self._loss)
        before = self._run.work.rows.scores.copy() if self.setup.has_out_of_bag() else None
        nodes, losses = self._run.go_on(first, n)
        if before is not None:
            self._oob.append(self._out_of_bag(before, self._run.drawn_rows(nodes)))
        self._nodes.append(nodes)
        self._losses.append(losses)
        if self._stopping is not None:
            self._scores += [self._score(own) for own in losses]
        return perf_counter() - start

    def _out_of_bag(self, before: np.ndarray, drawn: np.ndarray) -> tuple[float, float]:
        """Return the loss, before and after a round, of the rows that it did not draw."""
        setup = self.setup
        is_out = np.arange(setup.data.n_rows()) < setup.n_train
        is_out[drawn] = False
        delta, weights = float(self._run.work.job.real[DELTA]), setup.data.row_weights()[is_out]

        def loss(scores: np.ndarray) -> float:
            own = total_loss(setup.params.loss, setup.alphas, delta, setup.data.y[is_out], scores[:, is_out], weights)
            return self._factor * own

        return loss(before), loss(self._run.work.rows.scores)

    def _follow(self, loss: OwnLoss) -> None:
        """Hand the gradients of the user's loss on; rows held out have none."""
        n_train, n_rows = self.setup.n_train, self.setup.data.n_rows()
        y, scores = self.setup.data.y[:n_train].copy(), self._run.work.rows.scores[0, :n_train].copy()
        gradients, hessians = np.zeros(n_rows), np.zeros(n_rows)
        gradients[:n_train], hessians[:n_train] = loss(y, scores)
        self._run.follow(gradients, hessians)

    def _score(self, losses: np.ndarray) -> float:
        """Return how good the scores at hand are for the rows held out."""
        assert self._stopping is not None
        if self._stopping.metric is None:
            return -steady(self._factor * losses[0 if self._stopping.by_training else 1])
        first = 0 if self._stopping.by_training else self.setup.n_train
        return self._stopping.metric(self._run.work.rows.scores[:, first:])

    def _stop_round(self) -> int | None:
        assert self._stopping is not None
        return stop_round(np.array(self._scores), self._stopping.patience, self._stopping.tol)

    def kept(self, n_rounds: int) -> int:
        """Return how many of so many rounds are kept: all, or those up to the best one before boosting stops."""
        if self._stopping is None:
            return n_rounds
        scores = np.array(self._scores[: n_rounds + 1])
        stop = stop_round(scores, self._stopping.patience, self._stopping.tol)
        return max(best_round(scores[: (n_rounds if stop is None else stop) + 1]), self.n_earlier + 1)

    def result(self, n_rounds: int) -> RoundsResult:
        """Return what the first rounds leave, without the earlier ones."""
        n_new = n_rounds - self.n_earlier
        nodes = first_trees(self._nodes, n_new * self.setup.params.n_outputs)
        losses = np.concatenate(self._losses)[:n_new, 0]
        has_loss = self.setup.params.loss != CUSTOM
        return RoundsResult(
            forest=pack_batch(trees_of(nodes, self.setup.cuts), nodes.start, SQUARED_ERROR, OUTPUT_START),
            gains=gains_of(nodes, self.setup.data.n_features()),
            losses=steady(self._factor * losses) if has_loss else None,
            scores=None if self._stopping is None else np.array(self._scores[: n_rounds + 1]),
            oob=np.array(self._oob[:n_new]) if self._oob else None,
        )


class RoundsResult(NamedTuple):
    """What rounds leave."""

    forest: Forest
    gains: np.ndarray  # (n_features,)
    losses: np.ndarray | None  # of training rows after each round
    scores: np.ndarray | None  # of rows held out, before the first round and after each
    oob: np.ndarray | None  # (n_rounds, 2) loss of rows not drawn, before and after each round


def steady(losses: Any) -> Any:
    """Return losses rounded to seven digits, which the order of rows hardly ever changes; of any size."""
    digits, powers = np.frexp(losses)
    return np.ldexp(np.float64(np.float32(digits)), powers)


def first_trees(parts: list[BoostNodes], n_trees: int) -> BoostNodes:
    """Return the first trees of several calls as those of one."""
    sizes = np.concatenate([np.diff(part.start) for part in parts])[:n_trees]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    whole, real, listed = (np.concatenate([part[k] for part in parts])[: start[-1]] for k in range(3))
    return BoostNodes(whole, real, listed, start)


def gains_of(nodes: BoostNodes, n_features: int) -> np.ndarray:
    """Return what the questions about each feature gain in all."""
    asked = nodes.whole[:, LEFT] > 0
    gains = np.bincount(nodes.whole[asked, FEATURE], nodes.real[asked, GAIN], minlength=n_features)
    return gains.astype(np.float64)  # it counts, in whole numbers, where nothing was asked


def is_watched(model: Any) -> bool:
    """Return whether somebody wants to hear of each round."""
    return bool(getattr(model, "_skl_callbacks", [])) or hasattr(model, "_parent_callback_ctx")
