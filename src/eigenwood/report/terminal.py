"""Runs as tables for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from eigenwood.proofs.claim import Certificate
from eigenwood.report.certificate_words import certificate_line
from eigenwood.report.columns import dropped_words
from eigenwood.report.leaderboard import Line, leaderboard
from eigenwood.report.reducing import component_lines, reduce_title, treatment, verdict
from eigenwood.report.task_report import measure_lines
from eigenwood.report.words import (
    cut_words,
    guess_words,
    metric_words,
    result_words,
    rows_words,
    sentence,
    winner_words,
)
from eigenwood.runs.record import Run
from eigenwood.runs.reduce_record import ReduceRecord

MOST_LINES = 25  # components that the terminal shows one by one
MOST_CANDIDATES = 12
BAD = "bold red"


def run_summary(run: Run) -> Group:
    """Return the leaderboard, the result in a sentence, the columns not used, and a line on the certificate."""
    dropped = dropped_words(run)
    return Group(
        leaderboard_table(leaderboard(run), metric_words(run), f"candidates, {run.validation.how}"),
        Text(),
        Text(run.assessment.headline, style="bold"),
        Text(f"{result_words(run)} {origin_words(run)}"),
        *(Text(words, style=BAD) for words in warnings_of(run)),
        *(Text(f"Note: {sentence(note)}") for note in run.notes),
        *([Text(f"Not used: {dropped}.")] if dropped else []),
        Text(certificate_line(Certificate.from_dict(run.certificate))),
    )


def run_details(run: Run) -> Group:
    """Return every measure, everything that looks like a leak, and every claim."""
    return Group(
        measures_table(run),
        *(Text(f"{'Leak' if finding.serious else 'Note'}: {finding.sentence}") for finding in run.findings),
        Certificate.from_dict(run.certificate),
    )


def origin_words(run: Run) -> str:
    """Return what the model is, and what it learnt from."""
    return f"The model: {winner_words(run.recipe)}, fitted to {rows_words(run)}."


def warnings_of(run: Run) -> list[str]:
    """Return what nobody should miss."""
    cuts = [f"Cut by the time limit. {words}" for words in cut_words(run)]
    leaks = [f"This looks like a leak: {finding.sentence}" for finding in run.findings if finding.serious]
    return [words for words in (guess_words(run), *cuts, *leaks) if words]


def leaderboard_table(lines: list[Line], metric: str, title: str) -> Table:
    """Return the first lines of a leaderboard; those of the final model are marked."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "candidate", "parameters", metric, "rows", "time", ""):
        is_number = heading in (metric, "rows", "time")
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=is_number, overflow="ellipsis")
    for line in lines[:MOST_CANDIDATES]:
        table.add_row(*leaderboard_cells(line), style="bold green" if line.is_chosen else "" if line.rank else "dim")
    if len(lines) > MOST_CANDIDATES:
        table.caption, table.caption_justify = f"… and {len(lines) - MOST_CANDIDATES:,} more", "left"
    return table


def leaderboard_cells(line: Line) -> list[RenderableType]:
    """Return the cells of one candidate."""
    rank = f"→ {line.rank}" if line.is_chosen else f"  {line.rank}"
    cells = (rank, line.method, line.params, line.score, f"{line.n_rows:,}", line.time, line.status)
    return [Text(cell) for cell in cells]


def measures_table(run: Run) -> Table:
    """Return what was measured on the blind rows, beside guessing."""
    table = Table(title=f"blind test, {run.split.n_test:,} rows", title_justify="left")
    for heading in ("measure", "model", "95 % interval", "guessing"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for line in measure_lines(run):
        table.add_row(*map(Text, line))
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
