"""The figures of a run, each with its heading and what it shows; those of its members are in ``winner``."""

from __future__ import annotations

from itertools import accumulate

import plotly.graph_objects as go

from eigenwood.plots.answer import answer_figure
from eigenwood.plots.candidates import TrialDot, candidates_figure
from eigenwood.plots.dependence import dependence_figure
from eigenwood.plots.importances import importances_figure
from eigenwood.report.leaderboard import fold_range, is_on_all_rows, is_ranked
from eigenwood.report.task_report import TASK_REPORTS, Shown
from eigenwood.report.words import measure_form, method_words, metric_words, parameter_words, unsigned
from eigenwood.runs.metrics import metric_named
from eigenwood.runs.record import DROPPED, CandidateRecord, DependenceRecord, Run

MOST_IMPORTANCES, MOST_RESPONSES = 25, 6  # bars; classes in one figure of dependence


def run_figures(run: Run) -> dict[str, Shown]:
    """Return the figures of a run by name."""
    found = {"answer": Shown("", "", answer_of(run))}
    target = run.explanation.details.get("target")
    if target:
        words = f"How {run.target!r} is distributed over the training rows."
        found["target"] = Shown("The target", words, TASK_REPORTS[run.task].target(target, run.target))
    if run.candidates:
        found["candidates"] = candidates_shown(run)
    if run.explanation.importances:
        found["importances"] = Shown("Importances", run.explanation.importance_words, importances_of(run))
    for place, record in enumerate(run.explanation.dependence):
        found[f"dependence_{place}"] = Shown(record.column, "", dependence_of(run, record))
    return found | TASK_REPORTS[run.task].figures(run.assessment, run.split.n_test)


def answer_of(run: Run) -> go.Figure:
    """Return the score beside that of guessing."""
    found = run.assessment
    form = measure_form(found.metric, run.task)
    return answer_figure(found.score, found.low, found.high, found.baseline, found.metric, form)


# --- candidates -----------------------------------------------------------------------------------


def candidates_shown(run: Run) -> Shown:
    words = (
        "Each dot is a trial, at the second at which it ended; bars at the chosen ones reach from their lowest "
        "to their highest fold. Filled dots learnt from all rows of every fold, rings from a sample."
    )
    if any(candidate.status == DROPPED for candidate in run.candidates):
        words += " Not drawn: who was behind after the first folds and was dropped."
    return Shown("Score over time", words, candidates_of(run))


def candidates_of(run: Run) -> go.Figure:
    """Return the trials over time."""
    metric, form = metric_words(run), measure_form(metric_words(run), run.task)
    ends = accumulate(candidate.seconds for candidate in run.candidates)
    most = max((candidate.n_rows for candidate in run.candidates if is_ranked(candidate)), default=0)
    chosen = {member.candidate for member in run.recipe.members}
    dots = [
        trial_dot(run, candidate, end, most, place in chosen)
        for place, (candidate, end) in enumerate(zip(run.candidates, ends, strict=True))
        if candidate.status != DROPPED
    ]
    return candidates_figure(
        dots, f"{metric}, out of fold", form, not metric_named(run.metric, run.task).larger_is_better
    )


def trial_dot(run: Run, candidate: CandidateRecord, ended: float, most: int, is_chosen: bool) -> TrialDot:
    """Return one trial; errors are drawn as they are, without the minus of the record."""
    low, high = sorted(unsigned(run, end) for end in fold_range(candidate))
    return TrialDot(
        method_words(candidate.method),
        parameter_words(candidate.params),
        ended,
        unsigned(run, candidate.mean_score) if is_ranked(candidate) else None,
        low,
        high,
        is_on_all_rows(candidate, most, run.validation.n_folds),
        is_chosen,
    )


# --- what the model looks at ----------------------------------------------------------------------


def importances_of(run: Run) -> go.Figure:
    names, means, lows, highs = zip(*run.explanation.importances[:MOST_IMPORTANCES], strict=True)
    form = measure_form(metric_words(run), run.task)
    return importances_figure(names, means, lows, highs, f"loss of {metric_words(run)}", form)


def dependence_of(run: Run, record: DependenceRecord) -> go.Figure:
    """Return the response to one column: of two classes that of one, of many those that change most."""
    lines = responses(run, record)
    values = [value for one in run.explanation.dependence for line in responses(run, one).values() for value in line]
    is_share = bool(labels_of(run))
    title = "probability" if is_share else run.target
    name = f"probability of {next(iter(lines))}" if len(lines) == 1 and is_share else title
    form = ".0%" if is_share else ",.3~s"
    return dependence_figure(record.kind, record.values, lines, name, form, (min(values), max(values)))


def labels_of(run: Run) -> list[str]:
    """Return the classes in the order of the probabilities; none of amounts."""
    labels = getattr(run.assessment, "labels", [])
    n_responses = {len(line) for record in run.explanation.dependence for line in record.response}
    return labels[: max(n_responses, default=0)]


def responses(run: Run, record: DependenceRecord) -> dict[str, list[float]]:
    """Return the lines that are drawn, by name."""
    labels, columns = labels_of(run), list(zip(*record.response, strict=True))
    if not labels:
        return {run.target: list(columns[0])}
    if len(labels) == 2:
        positive = getattr(run.assessment, "positive_label", None) or labels[1]
        return {positive: list(columns[labels.index(positive)])}
    order = sorted(range(len(columns)), key=lambda k: min(columns[k]) - max(columns[k]))[:MOST_RESPONSES]
    return {labels[k]: list(columns[k]) for k in sorted(order)}
