"""What the model looks at: importances and partial dependence of raw columns on the blind rows, and its own numbers.

blind rows ──► some of them, rare classes whole, others by weight
                    │
  importances  of as many columns as there is time for, those first that the model itself ranks highest
  dependence   of the strongest columns
  details      of each member: rules, rounds, support vectors (``details``)
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.estimators.watching import Deadline
from eigenwood.runs.assess import Blind
from eigenwood.runs.deciding import decided
from eigenwood.runs.dependence import dependence
from eigenwood.runs.details import Kept, LearntRows, member_details, target_details
from eigenwood.runs.importances import N_REPEATS, Importance, Resamples, drawn_rows, importances
from eigenwood.runs.members import members_of, own_importances
from eigenwood.runs.metrics import Answers, Metric, score
from eigenwood.runs.record import DependenceRecord, ExplanationRecord

MOST_ROWS, FEW_ROWS = 1000, 250  # that importances are measured on; the second where time is short
MANY_COLUMNS, MOST_COLUMNS = 50, 200  # shuffled on few rows, and at all, where no time is limited
MOST_DEPENDENCE_ROWS = 300
MOST_DEPENDENT, MOST_IMPORTANCES = 6, 500  # columns of which dependence is shown; importances that are recorded
DETAILS_SHARE, IMPORTANCES_SHARE = 0.25, 0.75  # of the limit, after which no more of them is begun
SLACK = 0.9  # of the time left, that is planned


class Rows(NamedTuple):
    """Blind rows, or some of them."""

    X: pa.Table
    y: np.ndarray
    weights: np.ndarray | None
    answers: Answers

    def take(self, rows: np.ndarray) -> Rows:
        weights = None if self.weights is None else self.weights[rows]
        return Rows(self.X.take(rows), self.y[rows], weights, taken(self.answers, rows))


def explained(model: Any, blind: Blind, limit: float | None, kept: Kept | None = None) -> ExplanationRecord:
    """Return what the model looks at, as far as ``limit`` seconds allow; without a limit, of so many columns.

    ``kept`` is the model that the user gets, which may have learnt from the blind rows since: what is known from the
    fit is said of that one, and what is measured on blind rows of the one that has not seen them.
    """
    whole = Rows(blind.X, blind.y, blind.weights, blind.answers)
    details: dict[str, Any] = {"target": target_details(blind.y_train, blind.answers.classes)}
    clock = Deadline(limit)
    rows = sampled(whole, MOST_ROWS, blind.seed)
    details["members"] = members_details(model, kept, rows, Deadline(None if limit is None else DETAILS_SHARE * limit))
    began = time.perf_counter()
    found, words = column_importances(model, rows, blind.metric, Deadline(part_left(clock, limit)), blind.seed)
    of_a_column = (time.perf_counter() - began) / max(len(found), 1)
    few = sampled(rows, MOST_DEPENDENCE_ROWS, blind.seed)
    followed = dependences(model, few, blind.kinds, found, clock, of_a_column)
    return ExplanationRecord(found[:MOST_IMPORTANCES], words, followed, details)


def part_left(clock: Deadline, limit: float | None) -> float | None:
    """Return the seconds that importances may take."""
    left = clock.seconds_left()
    return None if left is None or limit is None else max(left - (1.0 - IMPORTANCES_SHARE) * limit, 0.0)


def members_details(model: Any, kept: Kept | None, rows: Rows, deadline: Deadline) -> list[dict[str, Any]]:
    """Return the numbers of each member; those that need its predictions only while there is time."""
    members = members_of(model)
    learnt = [None] * len(members) if kept is None else [LearntRows(member, kept) for member in members_of(kept.model)]
    pairs = zip(members, learnt, strict=True)
    return [member_details(member, rows.X, rows.y, deadline, own) for member, own in pairs]


# --- importances --------------------------------------------------------------------------------------


def column_importances(
    model: Any, rows: Rows, metric: Metric, deadline: Deadline, seed: int
) -> tuple[list[Importance], str]:
    """Return the importances, the largest first, and what they are."""
    names = rows.X.column_names
    own = own_importances(model, names)
    order = names if own is None else sorted(names, key=lambda name: -own[name])
    order = order if deadline.seconds_left() is not None else order[:MOST_COLUMNS]
    n_rows = affordable_rows(model, rows, len(names), deadline)
    if n_rows == 0:
        return [], "There was no time to shuffle a single column."
    rows = sampled(rows, n_rows, seed)
    drawn = drawn_rows(rows.y.size, N_REPEATS, np.random.default_rng(seed))

    def scored(X: pa.Table, which: np.ndarray) -> np.ndarray:
        return scores_of(rows, metric, which, answers_like(model, X, rows.answers))

    resamples = Resamples(
        rows.X.take(drawn.ravel()), drawn, scores_of(rows, metric, drawn, taken(rows.answers, drawn.ravel()))
    )
    found = importances(order, resamples, scored, deadline, seed)
    return found, importance_words(metric, rows.y.size, len(found), len(names), own is not None)


def affordable_rows(model: Any, rows: Rows, n_columns: int, deadline: Deadline) -> int:
    """Return on how many rows there is time to shuffle every column, or at least one: all, few or none."""
    left = deadline.seconds_left()
    if left is None:
        return rows.y.size if n_columns <= MANY_COLUMNS else min(FEW_ROWS, rows.y.size)
    if left <= 0.0:
        return 0
    began = time.perf_counter()
    answers_like(model, rows.X, rows.answers)
    whole = (time.perf_counter() - began) * N_REPEATS
    few = whole * min(FEW_ROWS / rows.y.size, 1.0)
    if whole * n_columns < SLACK * left:
        return rows.y.size
    return min(FEW_ROWS, rows.y.size) if few < SLACK * left else 0


def scores_of(rows: Rows, metric: Metric, drawn: np.ndarray, answers: Answers) -> np.ndarray:
    """Return the score of each resample."""
    n_rows = drawn.shape[1]
    found = []
    for place, which in enumerate(drawn):
        own = taken(answers, np.arange(place * n_rows, (place + 1) * n_rows))
        weights = None if rows.weights is None else rows.weights[which]
        found.append(score(metric, rows.y[which], own, weights).value)
    return np.array(found)


def importance_words(metric: Metric, n_rows: int, n_found: int, n_columns: int, is_screened: bool) -> str:
    """Return what the importances are, in words."""
    words = (
        f"How much worse the {metric.words} gets when the values of a column are shuffled: "
        f"mean and 95 % interval of {N_REPEATS} repeats, each on {n_rows:,} blind rows drawn with replacement."
    )
    if n_found == n_columns:
        return words
    which = "those that the model's own importances rank highest" if is_screened else "the first of the table"
    return f"{words} Measured for {n_found:,} of {n_columns:,} columns: {which}."


# --- partial dependence -------------------------------------------------------------------------------


def dependences(
    model: Any, rows: Rows, kinds: dict[str, str], found: list[Importance], clock: Deadline, expected: float
) -> list[DependenceRecord]:
    """Return the dependence on the strongest columns, as time allows; ``expected`` are the seconds of the first."""
    followed = list[DependenceRecord]()
    took = expected
    for name, mean, _, _ in found:
        left = clock.seconds_left()
        if len(followed) == MOST_DEPENDENT or mean <= 0.0 or (left is not None and left < took):
            break
        began = time.perf_counter()
        record = dependence(
            name, kinds[name], rows.X, rows.weights, lambda X: responses_of(model, X, rows.answers.classes), mean
        )
        took = max(took, time.perf_counter() - began)
        if record is not None:
            followed.append(record)
    return followed


# --- rows and answers ---------------------------------------------------------------------------------


def sampled(rows: Rows, most: int, seed: int) -> Rows:
    """Return at most so many rows: of classes the same number of each, which weights make up for."""
    n_rows = rows.y.size
    if n_rows <= most:
        return rows
    rng = np.random.default_rng(seed)
    if rows.answers.classes is None:
        return rows.take(np.sort(rng.choice(n_rows, most, replace=False)))
    labels, codes, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
    quotas = fair_quotas(counts, most)
    chosen = [rng.choice(np.flatnonzero(codes == k), quotas[k], replace=False) for k in range(labels.size)]
    kept = np.sort(np.concatenate(chosen))
    stand_for = (counts / np.maximum(quotas, 1))[codes[kept]]
    found = rows.take(kept)
    return found._replace(weights=stand_for if found.weights is None else found.weights * stand_for)


def fair_quotas(counts: np.ndarray, most: int) -> np.ndarray:
    """Return how many rows of each class are taken: all of rare ones, and of the others the same number of each.

    >>> fair_quotas(np.array([9900, 60, 40]), 1000)
    array([900,  60,  40])
    """
    quotas, left = np.zeros(counts.size, dtype=int), most
    order = np.argsort(counts, kind="stable")
    for place, k in enumerate(order):
        quotas[k] = min(counts[k], max(left // (counts.size - place), 1))
        left -= quotas[k]
    return quotas


def taken(answers: Answers, rows: np.ndarray) -> Answers:
    """Return the answers for some of the rows."""
    probabilities = None if answers.probabilities is None else answers.probabilities[rows]
    return answers._replace(labels_or_amounts=answers.labels_or_amounts[rows], probabilities=probabilities)


def answers_like(model: Any, X: pa.Table, like: Answers) -> Answers:
    """Return what the model says of other rows."""
    responses = responses_of(model, X, like.classes)
    if like.classes is None:
        return like._replace(labels_or_amounts=responses[:, 0])
    labels = decided(responses, like.classes, getattr(model, "decision_weights", None))
    return like._replace(labels_or_amounts=labels, probabilities=responses)


def responses_of(model: Any, X: pa.Table, classes: np.ndarray | None) -> np.ndarray:
    """Return the probabilities of the classes, or the amounts as one column."""
    if classes is None:
        return np.asarray(model.predict(X), dtype=np.float64)[:, np.newaxis]
    return np.asarray(model.predict_proba(X), dtype=np.float64)
