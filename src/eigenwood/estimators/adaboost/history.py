"""The rounds of a fit and what they come to: those of an earlier fit if it goes on, and only those up to the best one.

StumpHistory      rounds over stumps, many in one call
LearnerHistory    rounds with any learner

Both give the steps to follow, the fitted attributes that a step stands for, and at the end a ``Result``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.adaboost.resuming import repeat_stumps
from eigenwood.core.adaboost.rounds import (
    GOES_ON,
    NO_EDGE,
    PERFECT,
    StumpStep,
    largest_edge,
    margins_of,
    no_more_rounds,
    stump_steps,
)
from eigenwood.core.adaboost.stumps import Stumps, joined_stumps, part_of_stumps
from eigenwood.core.adaboost.table import CodedTable, coded_dense, coded_sparse
from eigenwood.core.adaboost.weights import integer_weights
from eigenwood.core.adaboost.workspace import StumpBoosting, new_boosting
from eigenwood.estimators.adaboost.fitting import LearnerStep
from eigenwood.estimators.adaboost.input_checks import StumpData
from eigenwood.estimators.adaboost.stopping import HeldOutVotes, Stopping, divided_stump_rows
from eigenwood.estimators.adaboost.votes import votes_of_each
from eigenwood.estimators.tree.fitting import RARE_SHARE
from eigenwood.validation.adaboost import check_same_rounds

HISTORY = ("estimator_errors_", "edges_", "estimator_weights_", "normalizers_", "train_errors_", "min_margins_")


class HeldOut(NamedTuple):
    """How rows held out are scored after each learner."""

    score: Callable[[Any, float], float]  # a learner and its weight → how well they are predicted with it
    n_rows: int
    patience: int


class Result(NamedTuple):
    """What rounds come to."""

    attributes: dict
    is_short: bool  # rounds after the best one were dropped
    margins: np.ndarray | None  # of the rows that were learnt from; None for regression
    edge: float | None  # the largest of any stump after the last round


class StumpHistory:
    """Rounds over stumps."""

    def __init__(self, model: Any, data: StumpData, n_earlier: int, seed: int) -> None:
        self._model, self._seed, self.n_earlier = model, seed, n_earlier
        self.learn, held_out = divided_stump_rows(model, data, seed)
        self._coded, self._counts = coded(self.learn, model._threads()), integer_weights(self.learn.weights)
        self._n_held_out = 0 if held_out is None else held_out.weights.size
        self.stopping: Stopping | None = None
        if held_out is not None:
            self._held_out = HeldOutVotes(held_out, False)
            self.stopping = Stopping(int(model.n_iter_no_change), self._scores)

    def steps(self, n_rounds: int, seconds: float) -> Iterator[StumpStep]:
        """Return the steps; ``n_rounds`` are wanted in all."""
        model, b, steps = self._model, self._begun(), None
        if self.n_earlier > 0:
            self._repeat(b, model.stumps_, model.estimator_weights_)
            end = end_of(model)
            if end != GOES_ON:
                steps = iter([no_more_rounds(b, self._coded.values, end)])
        if steps is None:
            rate = float(model.learning_rate)
            steps = stump_steps(b, self._coded.values, n_rounds - self.n_earlier, rate, seconds)
        return steps if self.stopping is None else self.stopping.scored(steps)

    def attributes(self, step: StumpStep) -> dict:
        """Return the fitted attributes that all rounds so far stand for."""
        return {
            "classes_": self.learn.classes.labels,
            "categories_": self.learn.mixed.categories,
            "stumps_": self._stumps(step),
            "left_shares_": self._with_earlier("left_shares_", step.left_shares(self._counts)),
            **{name: self._with_earlier(name, new) for name, new in zip(HISTORY, history_of_step(step), strict=True)},
            **stopping_attributes(self.stopping, self._seed, self._n_held_out),
        }

    def result(self, step: StumpStep) -> Result:
        """Return what the rounds come to that are kept."""
        attributes = self.attributes(step)
        n_rounds = attributes["estimator_weights_"].size
        n_kept = n_rounds if self.stopping is None else self.stopping.n_kept()
        if n_kept == n_rounds:
            return Result(attributes, False, step.margins, step.largest_edge)
        attributes, b = first_rounds(attributes, n_kept), self._begun()
        self._repeat(b, attributes["stumps_"], attributes["estimator_weights_"])
        return Result(attributes, True, margins_of(b), largest_edge(b))

    def _begun(self) -> StumpBoosting:
        classes = self.learn.classes
        n_threads = self._model._threads()
        return new_boosting(self._coded.table, classes.codes, self._counts, classes.labels.size, n_threads)

    def _repeat(self, b: StumpBoosting, stumps: Stumps, alphas: np.ndarray) -> None:
        """Repeat rounds, if they follow from the rows."""
        model, rate = self._model, float(self._model.learning_rate)
        found = repeat_stumps(b, stumps, alphas, self.learn.mixed.X, rate, model._threads())
        is_same = np.allclose(found.alphas, alphas, rtol=1e-9, atol=1e-12)
        check_same_rounds(type(model).__name__, is_same)

    def _with_earlier(self, name: str, new: np.ndarray) -> np.ndarray:
        return np.append(getattr(self._model, name), new) if self.n_earlier > 0 else new

    def _stumps(self, step: StumpStep) -> Stumps:
        return joined_stumps(self._model.stumps_, step.stumps()) if self.n_earlier > 0 else step.stumps()

    def _scores(self, step: StumpStep, n_known: int) -> list[float]:
        """Return the scores of rows held out after each round, but for the first ones."""
        weights = self._with_earlier("estimator_weights_", step.rounds.alphas)[n_known:]
        stumps = part_of_stumps(self._stumps(step), n_known, n_known + weights.size)
        n_classes, n_threads = self.learn.classes.labels.size, self._model._threads()
        each = votes_of_each(stumps, weights, self._held_out.X, n_classes, n_threads)
        return [self._held_out.add(votes, weight) for votes, weight in zip(each, weights, strict=True)]


class LearnerHistory:
    """Rounds with any learner."""

    def __init__(self, columns: tuple[str, ...], fixed: dict, held_out: HeldOut | None) -> None:
        """``columns`` name what is told of each round, ``fixed`` are other attributes."""
        self._columns, self._fixed, self._held_out = columns, fixed, held_out
        self.stopping = None if held_out is None else Stopping(held_out.patience, self._scores)
        self._best: LearnerStep | None = None

    def followed(self, steps: Iterator[LearnerStep]) -> Iterator[LearnerStep]:
        """Yield the steps, and keep the best one."""
        if self.stopping is None:
            yield from steps
            return
        for step in self.stopping.scored(steps):
            if self.stopping.n_kept() == len(step.learners):
                self._best = step
            yield step

    def attributes(self, step: LearnerStep) -> dict:
        """Return the fitted attributes that all rounds so far stand for."""
        told = np.array([one[: len(self._columns)] for one in step.rounds]).T
        return {
            **self._fixed,
            "learners_": step.learners,
            **{name: column.copy() for name, column in zip(self._columns, told, strict=True)},
            **stopping_attributes(self.stopping, self._fixed["seed_"], self._held_out.n_rows if self._held_out else 0),
        }

    def result(self, step: LearnerStep) -> Result:
        """Return what the rounds come to that are kept."""
        best = step if self._best is None else self._best
        n_kept = len(best.learners)
        attributes = first_rounds(self.attributes(step), n_kept)
        return Result(attributes, n_kept < len(step.learners), best.margins, None)

    def _scores(self, step: LearnerStep, n_known: int) -> list[float]:
        assert self._held_out is not None
        told = zip(step.learners[n_known:], step.rounds[n_known:], strict=True)
        return [self._held_out.score(learner, one.alpha) for learner, one in told]


def coded(data: StumpData, n_threads: int) -> CodedTable:
    """Return rows as codes."""
    rows = data.mixed.X
    if sparse.issparse(rows):
        return coded_sparse(rows.tocsc())
    return coded_dense(rows, data.mixed.counts(), RARE_SHARE, n_threads)


def history_of_step(step: StumpStep) -> tuple[np.ndarray, ...]:
    """Return what is told of the rounds of a step, in the order of ``HISTORY``."""
    errors, alphas = step.rounds.errors, step.rounds.alphas
    normalizers = (1.0 - errors) * np.exp(-alphas / 2.0) + errors * np.exp(alphas / 2.0)
    return errors, 1.0 - 2.0 * errors, alphas, normalizers, *step.rounds[-2:]


def end_of(model: Any) -> int:
    """Return whether the rounds of a fitted model can go on."""
    if model.estimator_errors_[-1] <= 0.0:
        return PERFECT
    return NO_EDGE if model.estimator_weights_[-1] <= 0.0 else GOES_ON


def stopping_attributes(stopping: Stopping | None, seed: int, n_held_out: int) -> dict:
    """Return what is known of rows held out."""
    if stopping is None:
        return {}
    return {"validation_score_": np.array(stopping.scores), "seed_": seed, "n_held_out_": n_held_out}


def first_rounds(attributes: dict, n_kept: int) -> dict:
    """Return the attributes that the first rounds stand for."""
    per_round = {"learners_", "left_shares_", "validation_score_", *HISTORY}
    kept = {name: value[:n_kept] if name in per_round else value for name, value in attributes.items()}
    if "stumps_" in kept:
        kept["stumps_"] = part_of_stumps(kept["stumps_"], 0, n_kept)
    return kept
