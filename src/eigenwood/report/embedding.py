"""How word vectors are told: the terminal's lines and tables, and what the page shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from rich.console import Group
from rich.table import Table
from rich.text import Text

from eigenwood.plots.scores import scores_figure
from eigenwood.plots.words import Section, analogies_figure, losses_figure
from eigenwood.report.reducing import verdict
from eigenwood.report.words import percent
from eigenwood.runs.embed_record import EmbedRecord, Neighbours, SectionRecord


class NeighboursLine(NamedTuple):
    """A word and those nearest to it, as text."""

    word: str
    nearest: str


class SectionLine(NamedTuple):
    """A section of analogies, as text."""

    name: str
    right: str
    asked: str
    skipped: str
    share: str


def embed_summary(record: EmbedRecord) -> Group:
    """Return what was learnt, the loss of each epoch, and how analogies were answered."""
    times = f"{record.n_words:,} words of text in {record.seconds['fit']:.1f} s ({speed_words(record)})"
    stopped = [Text(f"Note: {stopped_words(record)}")] if stopped_words(record) else []
    losses = [losses_table(record.losses)] if record.losses else []
    sections = [sections_table(record.sections)] if record.sections else []
    title = Text(embed_title(record))
    return Group(title, Text(times), *losses, *sections, Text(verdict(record.certificate)), *stopped)


def embed_title(record: EmbedRecord) -> str:
    return f"{record.text}: {record.n_components} numbers for each of {record.n_vocabulary:,} words, by {record.method}"


def embed_headline(record: EmbedRecord) -> list[tuple[str, str]]:
    """Return numbers with what they are, the most important first."""
    total = record.sections[-1:]
    right = [(section_line(part).share, f"of {part.n_asked:,} analogies right") for part in total if part.n_asked]
    loss = [(f"{record.losses[-1]:.3f}", "mean loss in the last epoch")] if record.losses else []
    sizes = [(f"{record.n_vocabulary:,}", "words with a vector"), (f"{record.n_words:,}", "words of text")]
    return [*right, *loss, *sizes]


def speed_words(record: EmbedRecord) -> str:
    return f"{record.n_words * max(len(record.losses), 1) / max(record.seconds['fit'], 1e-9):,.0f} words/s"


def stopped_words(record: EmbedRecord) -> str:
    """Return that the fit did not come to its end, or nothing."""
    return "" if record.stop_reason == "finished" else f"the fit was stopped: {record.stop_reason}."


def losses_of(record: EmbedRecord) -> go.Figure:
    return losses_figure(np.array(record.losses), np.empty(0))


def map_of(record: EmbedRecord) -> go.Figure:
    """Return a figure of frequent words by their first two principal components."""
    points = np.array([(place.across, place.up) for place in record.places])
    return scores_figure(points, record.shares, names=[place.word for place in record.places])


def analogies_of(record: EmbedRecord) -> go.Figure:
    return analogies_figure([Section(part.name, part.n_right, part.n_asked) for part in record.sections])


def neighbours_line(found: Neighbours) -> NeighboursLine:
    return NeighboursLine(found.word, ", ".join(f"{word} {cosine:.2f}" for word, cosine in found.nearest))


def section_line(part: SectionRecord) -> SectionLine:
    share = percent(part.n_right / part.n_asked) if part.n_asked else ""
    return SectionLine(part.name, f"{part.n_right:,}", f"{part.n_asked:,}", f"{part.n_skipped:,}", share)


def sections_table(sections: list[SectionRecord]) -> Table:
    """Return how the analogies of each section were answered."""
    table = Table(title="analogies")
    table.add_column("section")
    for name in SectionLine._fields[1:]:
        table.add_column(name, justify="right")
    for part in sections:
        table.add_row(*map(Text, section_line(part)))
    return table


def losses_table(losses: list[float]) -> Table:
    """Return the mean loss of the examples of each epoch."""
    table = Table(title="loss, each example before it was learnt")
    table.add_column("epoch", justify="right")
    table.add_column("mean loss", justify="right")
    for epoch, loss in enumerate(losses, start=1):
        table.add_row(str(epoch), f"{loss:.4f}")
    return table


def neighbours_table(question: list[str], answers: list[tuple[str, float]]) -> Table:
    """Return the words nearest to a question."""
    table = Table(title=Text(" ".join(question)))
    table.add_column("word")
    table.add_column("cosine", justify="right")
    for word, cosine in answers:
        table.add_row(Text(word), f"{cosine:.3f}")
    return table
