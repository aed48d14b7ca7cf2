"""Learners that are fitted side by side, each on rows and features of its own.

    number     0      1      2      3      4
    threads    ████   ██████ ███    █████            whoever is free takes the next number
    steps      0 ───► 1 ───► 2 ───► 3 ───► …         in order of number, whichever was ready first

A learner that time has cut short is left out, unless it is the only one: then the ensemble is the first learners of the
whole ensemble, however fast the machine was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from threading import get_ident
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from eigenwood.core.threads import WorkQueue, results_of, row_blocks
from eigenwood.estimators.ensemble_sampling import Draws, drawn_features, has_all_features, row_counts, seeds_of
from eigenwood.estimators.watching import TIME_UP, Watch
from eigenwood.validation.ensembles import part_of, routing_enabled

MOST_BLOCKS = 16  # of learners, whose answers are added up apart from each other
LEAST_SECONDS = 1e-9


class TrainingData(NamedTuple):
    """What learners learn from: trusted rows, their targets, and parameters for ``fit`` that were routed to them."""

    X: Any
    y: np.ndarray
    fit_params: dict[str, Any]


class OobPrediction(NamedTuple):
    """What a learner says about the rows it did not see."""

    rows: np.ndarray
    said: np.ndarray


class Learnt(NamedTuple):
    """One learner, its features, whether it had the time it needed, and what it says about rows it did not see."""

    learner: Any
    features: np.ndarray
    whole: bool
    left: OobPrediction | None


class Step(NamedTuple):
    """The learners so far."""

    learnt: tuple[Learnt, ...]
    whole: bool
    last: bool


class LearnerFitter(Protocol):
    """Makes learner number t, or asks one that was made before."""

    def made(self, number: int) -> Learnt | None: ...

    def rescore(self, number: int, learner: Any) -> Learnt: ...


class BaggingFitter(NamedTuple):
    """All that is needed to make learner number t."""

    learner: Any  # to be cloned
    material: TrainingData
    draws: Draws
    by_weights: bool  # say how often a row was drawn by its weight, or give the rows themselves
    shared: Any  # what learners share that get all rows by weight (``_fit_shared`` takes it); None if nothing
    ask: (
        Callable[[Any, Any], np.ndarray] | None
    )  # learner, rows → what it says about them; None if nobody wants to know
    watch: Watch | None  # looks at the clock; None if time does not matter
    alone: bool  # one thread: the learner may use several itself

    def made(self, number: int) -> Learnt | None:
        """Return a learner fitted to its rows; nothing if time is up and it is not the first."""
        return None if number > 0 and self._time_is_up() else self.fitted(number)

    def fitted(self, number: int) -> Learnt:
        """Return a learner fitted to its rows, as far as there is time."""
        counts, features = row_counts(self.draws, number), drawn_features(self.draws, number)
        learner = self.unfitted(number)
        for_now = self._settings_of_the_moment(learner)
        before = {name: value for name, value in learner.get_params().items() if name in for_now}
        learner.set_params(**for_now)
        self._fit(learner, counts, self._columns(features))
        learner.set_params(**before)
        whole = not (self._time_is_up() and getattr(last_step(learner), "stop_reason_", None) == TIME_UP)
        return Learnt(learner, features, whole, self._left(learner, counts, features))

    def unfitted(self, number: int) -> Any:
        """Return a learner before it is fitted, with its own seeds."""
        return with_seeds(clone(self.learner), seeds_of(self.draws, number).learner)

    def rescore(self, number: int, learner: Any) -> Learnt:
        """Return a learner that was fitted before."""
        features = drawn_features(self.draws, number)
        return Learnt(learner, features, True, self._left(learner, row_counts(self.draws, number), features))

    def columns_of(self, number: int) -> Any:
        """Return all rows with the features of a learner."""
        return part_of(self.material.X, None, self._columns(drawn_features(self.draws, number)))

    def _fit(self, learner: Any, counts: np.ndarray, features: np.ndarray | None) -> None:
        if self.shared is not None:
            learner._fit_shared(self.shared, counts.astype(np.float64))
            return
        X, y, fit_params = self._given(counts, features)
        learner.fit(X, y, **fit_params)

    def given(self, number: int) -> TrainingData:
        """Return what a learner learnt from; its weights are among the parameters, if it got them."""
        return self._given(row_counts(self.draws, number), self._columns(drawn_features(self.draws, number)))

    def _given(self, counts: np.ndarray, features: np.ndarray | None) -> TrainingData:
        X, y, fit_params = self.material
        if self.by_weights:
            return TrainingData(
                part_of(X, None, features), y, {**fit_params, "sample_weight": counts.astype(np.float64)}
            )
        rows = np.repeat(np.arange(counts.size), counts)
        own = {name: value[rows] if is_by_rows(value, counts.size) else value for name, value in fit_params.items()}
        return TrainingData(part_of(X, rows, features), y[rows], own)

    def _left(self, learner: Any, counts: np.ndarray, features: np.ndarray) -> OobPrediction | None:
        if self.ask is None:
            return None
        rows = np.flatnonzero(counts == 0)
        if rows.size == 0:
            return OobPrediction(rows, np.empty(0))
        return OobPrediction(rows, self.ask(learner, part_of(self.material.X, rows, self._columns(features))))

    def _columns(self, features: np.ndarray) -> np.ndarray | None:
        return None if has_all_features(self.draws) else features

    def _settings_of_the_moment(self, learner: Any) -> dict[str, Any]:
        """Return what a learner must do in this fit alone: leave the threads to us, and keep to the time there is."""
        settings: dict[str, Any] = {}
        seconds = None if self.watch is None else self.watch.seconds_left()
        for name, value in learner.get_params().items():
            if is_named(name, "n_jobs") and value is not None and not self.alone:
                settings[name] = 1
            if is_named(name, "time_limit") and seconds is not None:
                settings[name] = max(seconds if value is None else min(seconds, value), LEAST_SECONDS)
        return settings

    def _time_is_up(self) -> bool:
        return self.watch is not None and self.watch.time_is_up()


def is_named(name: str, wanted: str) -> bool:
    """Return whether a parameter, of an estimator or of one inside it, has this name."""
    return name == wanted or name.endswith(f"__{wanted}")


def is_by_rows(value: Any, n_rows: int) -> bool:
    return isinstance(value, np.ndarray) and value.shape[:1] == (n_rows,)


def last_step(learner: Any) -> Any:
    return learner.steps[-1][1] if isinstance(learner, Pipeline) else learner


def with_seeds(learner: Any, sequence: np.random.SeedSequence) -> Any:
    """Return the learner with a seed wherever it, or an estimator inside it, draws."""
    names = sorted(name for name in learner.get_params() if is_named(name, "random_state"))
    words = sequence.generate_state(len(names))
    return learner.set_params(**{name: int(word) for name, word in zip(names, words, strict=True)})


def seeds_in(learner: Any) -> dict[str, Any]:
    """Return the seeds of a learner, and of the estimators inside it."""
    return {name: value for name, value in learner.get_params().items() if is_named(name, "random_state")}


def takes_weights(learner: Any) -> bool:
    """Return whether a learner can be told by weights how often a row was drawn."""
    if routing_enabled():
        return bool(get_routing_for_object(learner).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(learner, "sample_weight")


def learner_steps(
    fitter: LearnerFitter, earlier: Sequence[Any], n_learners: int, n_threads: int, add: Callable[[OobPrediction], None]
) -> Iterator[Step]:
    """Yield the learners so far after each new one, in the order of their numbers; ``earlier`` ones are there already.

    ``add`` is told what each of them says about the rows it did not see, in the same order.
    """
    config, here = get_config(), get_ident()  # the configuration of this thread; others have their own

    def work(number: int) -> Learnt | None:
        with nullcontext() if get_ident() == here else config_context(**config):
            return fitter.rescore(number, earlier[number]) if number < len(earlier) else fitter.made(number)

    numbers = iter(range(n_learners))
    ready: dict[int, Learnt | None] = {}
    learnt: list[Learnt] = []
    with WorkQueue(work, n_threads) as queue:
        for number in islice(numbers, 2 * n_threads):  # a few wait, so that nobody has to
            queue.add(number)
        while len(learnt) < n_learners:
            number, ready[number] = queue.next_result()
            for number in islice(numbers, 1):
                queue.add(number)
            while len(learnt) in ready:
                found = ready.pop(len(learnt))
                if found is None or (learnt and not found.whole):
                    yield Step(tuple(learnt), whole=False, last=False)
                    return
                if found.left is not None:
                    add(found.left)
                learnt.append(found._replace(left=None))
                if len(learnt) > len(earlier) or len(earlier) == len(learnt) == n_learners:
                    yield Step(tuple(learnt), whole=True, last=len(learnt) == n_learners and found.whole)


def added_answers(ask: Callable[[int], np.ndarray], n_learners: int, n_threads: int) -> np.ndarray:
    """Return the sum of what learners say, added in an order that the number of threads does not change."""
    config = get_config()

    def work(block: slice) -> np.ndarray:
        with config_context(**config):
            total = np.array(ask(block.start), dtype=np.float64)
            for number in range(block.start + 1, block.stop):
                total += ask(number)
            return total

    total, *others = results_of(work, row_blocks(n_learners, -(-n_learners // MOST_BLOCKS)), n_threads)
    for other in others:
        total += other
    return total
