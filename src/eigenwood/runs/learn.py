"""Learn from a table, in five stages, under one clock.

1 data preparation    kinds of columns, what looks like a leak, a blind test set put aside      ``preparing``
2 model selection     candidates on growing samples, the better half of them on more rows       ``search``
3 training            the survivors on all rows of every fold                                   ``trials``
4 tuning              neighbours of the best, mixtures, the fit to all training rows            ``recipes``, ``final``
5 blind assessment    once, on the rows put aside                                               ``assess``, ``explain``

Then the same recipe is fitted to all rows, if there is time: that is the model the user gets.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenwood.data.kinds import NUMBER
from eigenwood.data.tables import Table
from eigenwood.estimators.columns import TableColumns
from eigenwood.proofs.claim import Certificate
from eigenwood.runs.assess import Blind, assessed
from eigenwood.runs.candidates import candidates_for
from eigenwood.runs.clock import Clock
from eigenwood.runs.details import Kept
from eigenwood.runs.explain import explained
from eigenwood.runs.final import Final, final_model, fitted_in_time, recipe_of_every_row, rows_learnt, rows_of
from eigenwood.runs.journal import Journal
from eigenwood.runs.preparing import (
    Prepared,
    column_records,
    prepared,
    settings_words,
    split_record,
    validation_record,
)
from eigenwood.runs.record import Run
from eigenwood.runs.search import Found, Report, Search
from eigenwood.runs.settings import LONGEST, MOST_TUNED, N_TUNED, Settings
from eigenwood.runs.trials import TrainingRows, sample_of

MOST_FOR_PAIRS = 5000  # rows, in which correlated numbers are looked for
EARLIER_SHARE = 0.5  # of the time limit, that an earlier process may have used
EXPLAINED_SHARE, MOST_EXPLAINED = 0.06, 6.0  # of the time limit, and seconds, for what the model looks at


class Learned(NamedTuple):
    """The fitted model and the record of how it came about."""

    model: Any
    run: Run


def learn(
    table: Table,
    target: str,
    settings: Settings,
    report: Report = lambda *_, **__: None,
    clock: Clock | None = None,
    journal_folder: Path | None = None,
) -> Learned:
    """Return the best model for ``target`` and the record of the run; the clock may have begun before."""
    clock = clock or Clock(settings.time_limit or LONGEST)
    seconds = dict[str, float]()
    with timed("preparation", seconds, clock):
        data = prepared(table, target, settings, clock)
    report("prepared", data=data)
    journal = Journal(journal_folder, data.digest)
    clock.began_earlier(counted_seconds(journal, settings))
    later = later_seconds(data, clock)
    with timed("search", seconds, clock):
        found = searched(data, settings, clock, journal, report, later)
    report("final fit", n_rows=data.rows.y.size)
    with timed("final fit", seconds, clock):
        final = final_model(found, data.rows, clock, later)
    report("assessment", n_rows=data.split.test.size)
    with timed("assessment", seconds, clock):
        blind = blind_of(data, final)
        assessment = assessed(blind)
    with timed("fit to all rows", seconds, clock):
        kept = learnt_from_every_row(final, data, clock, later, report)
    with timed("explanation", seconds, clock):
        limit = None if settings.time_limit is None else explanation_limit(clock)
        among = rows_learnt(kept.recipe, data)
        explanation = explained(final.model, blind, limit, Kept(kept.model, among, rows_of(kept.recipe, among)))
    run = Run(
        version=version("eigenwood"),
        table=table.name,
        target=target,
        task=data.task,
        metric=data.rows.metric.name,
        metric_words=data.metric_words,
        n_rows=table.n_rows,
        settings={**settings_words(settings), "time_limit": settings.time_limit},
        columns=column_records(data),
        findings=data.findings,
        split=split_record(data, settings),
        validation=validation_record(data),
        candidates=[trial.record for trial in found.trials],
        recipe=kept.recipe,
        assessment=assessment,
        explanation=explanation,
        certificate=certificate_of(kept.model).as_dict(),
        seconds=seconds,
        notes=[*data.notes, *found.notes, *final.notes],
        assessed=None if kept is final else final.recipe,
    )
    return Learned(kept.model, run)


@contextmanager
def timed(stage: str, seconds: dict[str, float], clock: Clock) -> Iterator[None]:
    """Note the seconds of a stage."""
    began = clock.used()
    yield
    seconds[stage] = clock.used() - began


def counted_seconds(journal: Journal, settings: Settings) -> float:
    """Return the seconds of an earlier process that count: the final fit has half of the time in any case."""
    return journal.seconds if settings.time_limit is None else min(journal.seconds, EARLIER_SHARE * settings.time_limit)


def searched(data: Prepared, settings: Settings, clock: Clock, journal: Journal, report: Report, later: float) -> Found:
    """Return what the search among the candidates found."""
    amounts = data.rows.y if data.rows.classes is None else None
    n_learnt, has_pairs = data.rows.learnt_in(0), has_correlated_pairs(data.rows)
    candidates = candidates_for(data.task, settings.models, n_learnt, data.n_columns, amounts, has_pairs=has_pairs)
    search = Search(data.rows, clock, journal, report, later, data.y.size)
    return search.run(candidates, N_TUNED if settings.time_limit is None else MOST_TUNED)


def has_correlated_pairs(rows: TrainingRows) -> bool:
    """Return whether some numbers among the columns are strongly correlated, in some of the rows."""
    kinds = {name: kind for name, kind in rows.columns.kinds.items() if kind == NUMBER}
    if len(kinds) < 2:
        return False
    some = sample_of(np.arange(rows.y.size), MOST_FOR_PAIRS, rows.seed)
    return TableColumns(kinds=kinds, pairs=True).fit(rows.X.select(list(kinds)).take(some)).pairs_.size > 0


def later_seconds(data: Prepared, clock: Clock) -> float:
    """Return the seconds that are kept for the assessment and the explanation."""
    return explanation_limit(clock) + 2e-6 * data.split.test.size + 0.2


def explanation_limit(clock: Clock) -> float:
    left = clock.seconds_left()
    return MOST_EXPLAINED if left is None else min(MOST_EXPLAINED, EXPLAINED_SHARE * max(left + clock.used(), 0.0))


def learnt_from_every_row(final: Final, data: Prepared, clock: Clock, later: float, report: Report) -> Final:
    """Return the model that was assessed, fitted again to all rows; as it is where there is no time for that."""
    recipe = recipe_of_every_row(final, data, clock.spare(later))
    if recipe is None:
        return final
    report("refit", n_rows=recipe.n_rows)
    model = fitted_in_time(recipe, data.every_row(), clock, later)
    return final if model is None else Final(model, recipe, final.notes)


def blind_of(data: Prepared, final: Final) -> Blind:
    """Return the rows put aside with what the model says of them: they are asked once."""
    test = data.split.test
    return Blind(
        X=data.X.take(test),
        y=data.y[test],
        y_train=data.rows.y,
        weights=None if data.weights is None else data.weights[test],
        rows=data.known[test],
        answers=data.rows.answers_of_model(final.model, data.X.take(test)),
        metric=data.rows.metric,
        kinds=dict(data.rows.columns.kinds),
        seed=data.rows.seed,
        target=data.target,
        train_weights=data.rows.weights,
        decision_weights=final.recipe.decision_weights,
    )


def certificate_of(model: Any) -> Certificate:
    """Return the certificate of a model, or of the last step of a pipeline."""
    return getattr(model, "certificate_", None) or model[-1].certificate_
