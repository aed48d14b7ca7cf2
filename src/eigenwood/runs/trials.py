"""One trial: a candidate fitted on each fold, or on a sample of the first, and what it says of the rows it did not see.

    folds ──► rows to learn from ──► columns (shared by all candidates) ──► fit ──► stages of predictions
                                                                                        │
    probabilities or amounts out of fold  ◄── the number of rounds with the least loss ◄┘

Additive models are fitted once, to many rounds; how many are kept is chosen by the loss of the rows left out, over
all folds together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from eigenwood.core.blending import calibrated, calibrations_of
from eigenwood.errors import InputError
from eigenwood.estimators.blending.fitting import in_columns, member_scores
from eigenwood.estimators.watching import TIME_UP, OutOfTimeError
from eigenwood.runs.candidates import (
    PAIRS_FRONT,
    ROUND_METHODS,
    Candidate,
    ColumnFacts,
    columns_step,
    entry_named,
    later_steps,
    method_of,
)
from eigenwood.runs.clock import Clock
from eigenwood.runs.deciding import decided, decision_weights
from eigenwood.runs.metrics import Answers, Metric, Score, score
from eigenwood.runs.record import CUT, DROPPED, FINISHED, CandidateRecord
from eigenwood.runs.settings import Fold

MOST_STAGES = 16  # numbers of rounds that are compared
UNFIT = (InputError, ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError)  # a method refuses these rows


class TrainingRows(NamedTuple):
    """What is learnt from, and how candidates are compared."""

    X: pa.Table
    y: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray | None  # None for amounts
    columns: ColumnFacts
    task: str
    metric: Metric
    positive: int | None  # the place of the class that is looked for, of two
    folds: list[Fold]
    seed: int

    def checked(self, n_folds: int) -> np.ndarray:
        """Return the rows that the first folds check on, fold after fold."""
        return np.concatenate([check for _, check in self.folds[:n_folds]])

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[rows]

    def answers(self, predictions: np.ndarray, decision_weights: Any = None) -> Answers:
        """Return predictions as metrics take them."""
        if self.classes is None:
            return Answers(predictions[:, 0])
        labels = decided(predictions, self.classes, decision_weights)
        return Answers(labels, predictions, self.classes, self.positive)

    def decision_weights(self, rows: np.ndarray, predictions: np.ndarray) -> np.ndarray | None:
        """Return the weight of each class that the metric asks for, found on these rows; None where there is none."""
        if self.classes is None:
            return None
        return decision_weights(self.y[rows], self.answers(predictions), self.metric, self.weights_of(rows))

    def answers_of_model(self, model: Any, X: pa.Table) -> Answers:
        """Return what a fitted model says of some rows."""
        predicted = model.predict(X)
        if self.classes is None:
            return Answers(np.asarray(predicted, dtype=np.float64))
        return Answers(predicted, answers_of(model, X, self.classes), self.classes, self.positive)

    def score(self, rows: np.ndarray, predictions: np.ndarray, decision_weights: Any = None) -> Score:
        """Return how good predictions of these rows are."""
        return score(self.metric, self.y[rows], self.answers(predictions, decision_weights), self.weights_of(rows))

    def learnt_in(self, fold: int) -> int:
        """Return how many rows a fold learns from."""
        return self.folds[fold][0].size


class Trial(NamedTuple):
    """What a candidate did."""

    candidate: Candidate
    record: CandidateRecord
    predictions: np.ndarray | None  # (n_checked, n_classes or 1): out of fold; None where it was cut
    calibration: np.ndarray | None  # (n_scores, 2): slope and offset of each score
    fitted: Pipeline | None  # to the first fold's rows

    @property
    def is_ranked(self) -> bool:
        return self.predictions is not None

    @property
    def rank(self) -> tuple[float, float]:
        """Return what candidates are compared by: the score, and where it is equal, the loss."""
        return self.record.mean_score, -self.record.loss


def sample_of(rows: np.ndarray, n_rows: int, seed: int) -> np.ndarray:
    """Return so many of the rows, in their order: those of a smaller sample are among them."""
    if n_rows >= rows.size:
        return rows
    return np.sort(np.random.default_rng(seed).permutation(rows)[:n_rows])


class SharedColumns:
    """Columns made of the rows of a fold, once for all candidates: texts take longer to read than trees to grow."""

    MOST = 12  # kept at a time

    def __init__(self, data: TrainingRows) -> None:
        self._data = data
        self._made: dict[tuple[int, int, bool, bool], tuple[Any, pa.Table, pa.Table, np.ndarray]] = {}

    def of(self, candidate: Candidate, fold: int, n_rows: int) -> tuple[Any, pa.Table, pa.Table, np.ndarray]:
        """Return the fitted step, the columns to learn from and to check on, and which rows are learnt from."""
        data = self._data
        key = (fold, n_rows, entry_named(candidate.method).takes_tables, candidate.front == PAIRS_FRONT)
        if key not in self._made:
            learn_rows, check_rows = data.folds[fold]
            rows = sample_of(learn_rows, n_rows, data.seed)
            step = columns_step(candidate, data.columns)
            learnt = step.fit_transform(data.X.take(rows), data.y[rows])
            if len(self._made) >= self.MOST:
                self._made.pop(next(iter(self._made)))
            self._made[key] = step, learnt, step.transform(data.X.take(check_rows)), rows
        return self._made[key]


def run_trial(
    candidate: Candidate,
    data: TrainingRows,
    shared: SharedColumns,
    n_rows: int,
    n_folds: int,
    clock: Clock,
    bars: Sequence[float] = (),
) -> Trial:
    """Return what a candidate does on the first folds, learning from at most so many rows of each.

    ``bars`` are the scores on the first fold, the first two, … below which it is dropped.
    """
    started, fit_seconds = time.perf_counter(), 0.0
    stages, rounds, first, status = [], np.zeros(0, dtype=int), None, FINISHED
    try:
        for fold in range(n_folds):
            began = time.perf_counter()
            fitted, checked = fit_fold(candidate, data, shared, fold, n_rows, clock)
            fit_seconds += time.perf_counter() - began
            if getattr(method_of(fitted), "stop_reason_", "") == TIME_UP:
                status = CUT
                break
            first = first or Pipeline([("columns", shared.of(candidate, fold, n_rows)[0]), *fitted.steps])
            fold_stages, rounds = staged_answers(candidate, fitted, checked, data)
            stages.append(fold_stages)
            if clock.time_is_up():
                status = CUT
                break
            if fold < len(bars) and is_behind(candidate, data, Stages(stages, rounds), bars[fold]):
                status = DROPPED
                break
    except OutOfTimeError:
        status = CUT
    except UNFIT as problem:
        status = f"failed: {problem}"
    seconds = time.perf_counter() - started, fit_seconds
    if status == DROPPED:
        so_far = ranked(candidate, data, n_rows, Stages(stages, rounds), None, seconds)
        return so_far._replace(record=replace(so_far.record, status=DROPPED), predictions=None, calibration=None)
    if status != FINISHED:
        return unranked(candidate, n_rows, status, seconds[0])
    return ranked(candidate, data, n_rows, Stages(stages, rounds), first, seconds)


def is_behind(candidate: Candidate, data: TrainingRows, stages: Stages, bar: float) -> bool:
    """Return whether a candidate scores less than it must on the folds so far."""
    return ranked(candidate, data, 0, stages, None, (0.0, 0.0)).record.mean_score < bar


def score_on_first(trial: Trial, data: TrainingRows, n_folds: int) -> float:
    """Return the score of a ranked trial on the first folds alone."""
    assert trial.predictions is not None
    checked = data.checked(n_folds)
    predictions = trial.predictions[: checked.size]
    return data.score(checked, predictions, data.decision_weights(checked, predictions)).value


def fit_fold(
    candidate: Candidate, data: TrainingRows, shared: SharedColumns, fold: int, n_rows: int, clock: Clock
) -> tuple[Pipeline, pa.Table]:
    """Return the steps behind the columns, fitted, and the columns to check on."""
    _, learnt, checked, rows = shared.of(candidate, fold, n_rows)
    steps = later_steps(candidate, data.seed, clock.time_limit())
    return fit_weighted(Pipeline(steps), learnt, data.y[rows], data.weights_of(rows)), checked


def fit_weighted(model: Pipeline, X: pa.Table, y: np.ndarray, weights: np.ndarray | None) -> Pipeline:
    """Return the pipeline, fitted; its last step is told the weights."""
    return model.fit(X, y, **({} if weights is None else {"model__sample_weight": weights}))


class Stages(NamedTuple):
    """Predictions of each fold after so many rounds; of methods without rounds there is one stage."""

    folds: list[np.ndarray]  # of each: (n_stages, n_checked, n_outputs)
    rounds: np.ndarray  # of each stage; none where a method has no rounds


def staged_answers(
    candidate: Candidate, fitted: Pipeline, checked: pa.Table, data: TrainingRows
) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions after several numbers of rounds, and those numbers."""
    if candidate.method not in ROUND_METHODS or candidate.target:
        return answers_of(fitted, checked, data.classes)[np.newaxis], np.zeros(0, dtype=int)
    X = fitted[:-1].transform(checked) if len(fitted.steps) > 1 else checked
    method = fitted.steps[-1][1]
    n_rounds = method.get_params()["n_estimators"]
    rounds = stage_numbers(n_rounds)
    classes = data.classes
    if classes is None:
        kept = [amounts_as_column(stage) for stage in picked(method.staged_predict(X), rounds)]
    else:
        staged = picked(method.staged_predict_proba(X), rounds)
        kept = [in_columns(np.asarray(stage), method, classes, 0.0) for stage in staged]
    kept += [kept[-1]] * (rounds.size - len(kept))  # rounds that were not needed change nothing
    return np.stack(kept), rounds


def stage_numbers(n_rounds: int) -> np.ndarray:
    """Return numbers of rounds up to all, closer together where there are few.

    >>> stage_numbers(400)
    array([ 25,  50,  75, 100, 150, 200, 300, 400])
    """
    numbers = np.array([25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1200, 1600])
    return np.append(numbers[numbers < n_rounds], n_rounds)[-MOST_STAGES:]


def picked(stages: Iterator[np.ndarray], numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the stages of these numbers, counted from 1, and the last if there are fewer."""
    wanted, last = set(numbers.tolist()), None
    for number, stage in enumerate(stages, start=1):
        last = None
        if number in wanted:
            yield stage
        else:
            last = stage
    if last is not None:
        yield last


def answers_of(fitted: Any, X: Any, classes: np.ndarray | None) -> np.ndarray:
    """Return probabilities, scores where a method has no probabilities, or amounts: one row for each row of X."""
    if classes is None:
        return amounts_as_column(fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        return in_columns(np.asarray(fitted.predict_proba(X)), fitted, classes, 0.0)
    return member_scores(fitted, X, classes)


def amounts_as_column(amounts: Any) -> np.ndarray:
    return np.asarray(amounts, dtype=np.float64)[:, np.newaxis]


def ranked(
    candidate: Candidate,
    data: TrainingRows,
    n_rows: int,
    stages: Stages,
    first: Pipeline | None,
    seconds: tuple[float, float],
) -> Trial:
    """Return the trial with its scores, after the best number of rounds."""
    checked = data.checked(len(stages.folds))
    together = np.concatenate(stages.folds, axis=1)
    calibration = None
    if data.classes is not None and has_scores(candidate):
        codes = np.searchsorted(data.classes, data.y[checked])
        calibration = calibrations_of(together[0], codes, data.classes.size, data.weights_of(checked))
        together = calibrated(together[0], calibration)[np.newaxis]
    found = [data.score(checked, stage) for stage in together]
    best = int(np.argmin([one.loss for one in found]))
    chosen = data.decision_weights(checked, together[best])
    record = CandidateRecord(
        method=candidate.method,
        params=candidate.words(),
        n_rows=min(n_rows, data.learnt_in(0)),
        fold_scores=fold_scores(data, together[best], len(stages.folds), chosen),
        mean_score=data.score(checked, together[best], chosen).value,
        loss=found[best].loss,
        seconds=seconds[0],
        fit_seconds=seconds[1],
        n_rounds=int(stages.rounds[best]) if stages.rounds.size else None,
        takes_tables=entry_named(candidate.method).takes_tables,
    )
    return Trial(candidate, record, together[best], calibration, first)


def has_scores(candidate: Candidate) -> bool:
    """Return whether a method has scores in place of probabilities."""
    method = entry_named(candidate.method).estimator
    return hasattr(method, "decision_function") and not hasattr(method, "predict_proba")


def fold_scores(data: TrainingRows, predictions: np.ndarray, n_folds: int, chosen: np.ndarray | None) -> list[float]:
    """Return the score of each fold."""
    scores, start = list[float](), 0
    for _, check in data.folds[:n_folds]:
        scores.append(data.score(check, predictions[start : start + check.size], chosen).value)
        start += check.size
    return scores


def unranked(candidate: Candidate, n_rows: int, status: str, seconds: float) -> Trial:
    """Return a trial that is recorded and not compared."""
    record = CandidateRecord(
        method=candidate.method,
        params=candidate.words(),
        n_rows=n_rows,
        fold_scores=[],
        mean_score=0.0,
        loss=0.0,
        seconds=seconds,
        fit_seconds=seconds,
        status=status,
        takes_tables=entry_named(candidate.method).takes_tables,
    )
    return Trial(candidate, record, None, None, None)
