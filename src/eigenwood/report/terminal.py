"""Runs as tables for the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Group
from rich.table import Table
from rich.text import Text

from eigenwood.proofs.claim import Certificate
from eigenwood.report.reducing import component_lines, reduce_title, treatment, verdict
from eigenwood.report.task_report import TASK_REPORTS, Measure
from eigenwood.report.words import candidate_name
from eigenwood.runs.record import ReduceRecord, Run

MOST_LINES = 25  # components that the terminal shows one by one


def run_summary(run: Run) -> Group:
    """Return the run in the order of its stages."""
    kinds = Counter(column.kind for column in run.columns if column.use == "feature")
    features = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    rows = f"{run.n_rows} rows: {run.split.n_train} to learn from, {run.split.n_test} put aside for the blind test"
    task_report = TASK_REPORTS[run.task]
    measures = task_report.measures(run.assessment)
    return Group(
        f"{run.table}: predict {run.target!r} from {features} columns",
        rows,
        candidates_table(run),
        Certificate.from_dict(run.certificate),
        *([measures_table(measures)] if measures else []),
        task_report.verdict(run.assessment, run.split.n_test),
    )


def candidates_table(run: Run) -> Table:
    """Return the candidates with their scores on the validation folds; the chosen one is marked."""
    score, written = TASK_REPORTS[run.task].score, TASK_REPORTS[run.task].written
    table = Table(title=f"candidates, {run.n_folds}-fold cross-validation")
    for heading in ("", "candidate", f"mean {score}", "folds", "seconds"):
        table.add_column(heading, justify="left" if heading in ("", "candidate") else "right")
    for i, candidate in enumerate(run.candidates):
        spread = f"{written(min(candidate.fold_scores))} – {written(max(candidate.fold_scores))}"
        mark = "→" if i == run.chosen else ""
        table.add_row(
            mark, candidate_name(candidate), written(candidate.mean_score), spread, f"{candidate.seconds:.2f}"
        )
    return table


def measures_table(measures: list[Measure]) -> Table:
    """Return what was measured on the blind test rows, beside the baseline."""
    table = Table(title="blind test")
    for heading in ("measure", "model", "baseline"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for measure in measures:
        table.add_row(*measure)
    return table


def reduce_summary(record: ReduceRecord) -> Group:
    """Return what a reduction found."""
    return Group(
        Text(f"{reduce_title(record)} ({record.n_rows:,} rows)"),
        Text(f"{treatment(record)} Computed by {record.how}."),
        *([components_table(record)] if record.principal else []),
        *([Text(verdict(record.certificate))] if record.certificate else []),
        *(Text(f"Note: {note}.") for note in record.notes),
    )


def components_table(record: ReduceRecord) -> Table:
    """Return the first principal components in numbers."""
    lines = component_lines(record)
    more = f", the first {MOST_LINES} of {len(lines):,}" if len(lines) > MOST_LINES else ""
    table = Table(title=f"components{more}")
    for heading in ("column", "variance", "share", "together", "an eigenvalue lies within"):
        table.add_column(heading, justify="left" if heading == "column" else "right")
    for line in lines[:MOST_LINES]:
        table.add_row(*line)
    return table
