"""A run as one HTML file that opens offline: figures, tables, styles and Plotly itself are all inside.

    figures ──► JSON in the page ──┐
    Plotly  ──► gzip, base64 ──────┴──► a small script unpacks Plotly and draws, in the colours of the reader's theme

Plotly's bundle takes 4.8 MB as it is and 2 MB packed; browsers have unpacked gzip by themselves since 2023.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader
from plotly.io import to_json
from plotly.offline import get_plotlyjs

from eigenwood.data.naming import listing
from eigenwood.proofs.claim import Certificate
from eigenwood.report import embedding, reducing
from eigenwood.report.certificate_words import certificate_line, claim_lines, member_lines
from eigenwood.report.columns import column_lines, dropped_words, kinds_words
from eigenwood.report.figures import run_figures
from eigenwood.report.leaderboard import leaderboard
from eigenwood.report.task_report import TASK_REPORTS, Shown, measure_lines
from eigenwood.report.winner import PAIRED, member_views
from eigenwood.report.words import (
    command_words,
    cut_words,
    guess_words,
    metric_words,
    result_words,
    rows_words,
    sentence,
    split_words,
    title,
    winner_words,
)
from eigenwood.runs.embed_record import EmbedRecord
from eigenwood.runs.record import Run
from eigenwood.runs.reduce_record import ReduceRecord

MOST_CANDIDATES = 100  # lines of the leaderboard
PLAIN_HEIGHT = 400  # pixels of a figure that has no height of its own


class Drawn(NamedTuple):
    """A figure, as the page holds it."""

    name: str
    heading: str
    caption: str
    height: int
    width: int | None  # where it has one of its own, it is scrolled
    content: str  # JSON


def run_page(run: Run) -> str:
    """Return the page of a run."""
    members = member_views(run)
    figures = run_figures(run) | {
        f"member_{place}_{name}": shown
        for place, member in enumerate(members)
        for name, shown in member.figures.items()
    }
    lines = leaderboard(run)
    certificate = Certificate.from_dict(run.certificate)
    return page(
        "run.html",
        figures,
        run=run,
        title=title(run),
        task_report=TASK_REPORTS[run.task],
        metric=metric_words(run),
        result=result_words(run),
        winner=winner_words(run.recipe),
        learnt_from=rows_words(run),
        cuts=cut_words(run),
        warning=guess_words(run),
        notes=[sentence(note) for note in run.notes],
        split=split_words(run),
        kinds=kinds_words(run),
        dropped=dropped_words(run),
        columns=column_lines(run),
        lines=lines[:MOST_CANDIDATES],
        n_more_lines=max(len(lines) - MOST_CANDIDATES, 0),
        members=members,
        paired=PAIRED,
        measures=measure_lines(run),
        claims=member_lines(claim_lines(certificate)),
        certificate=certificate,
        certificate_line=certificate_line(certificate),
        time=command_words(run),
    )


def reduce_page(record: ReduceRecord) -> str:
    """Return the page of a reduction."""
    figures = {}
    if record.principal:
        words = "A bar is the share of the variance that a component holds; the line adds them up."
        figures["scree"] = Shown("", words, reducing.scree_of(record))
    if len(record.names) > 1:
        figures["scores"] = Shown("", reducing.caption(record), reducing.scores_of(record))
    certificate = Certificate.from_dict(record.certificate) if record.certificate else None
    view = record.kernel_view
    if view is not None and view.points:
        figures["contours"] = Shown(
            "",
            "The plane of the columns: one colour for scores above 0 and one for those below, and rows on top.",
            reducing.contours_of(record),
        )
    return page(
        "reduce.html",
        figures,
        run=record,
        title=reducing.reduce_title(record),
        headline=reducing.reduce_headline(record),
        how=record.how,
        treatment=reducing.treatment(record),
        used=listing(record.columns),
        left_out=reducing.left_out_words(record.left_out),
        lines=reducing.component_lines(record),
        back_caption=None if view is None else reducing.back_caption(record),
        back_headings=[] if view is None else reducing.back_headings(record),
        back_lines=[] if view is None else reducing.back_lines(record),
        claims=member_lines(claim_lines(certificate)) if certificate else {},
        certificate=certificate,
        certificate_line=certificate_line(certificate) if certificate else "",
    )


def embed_page(record: EmbedRecord) -> str:
    """Return the page of word vectors."""
    figures = {}
    if record.losses:
        words = "The mean loss of the examples of an epoch, each as it was just before it was learnt."
        figures["losses"] = Shown("", words, embedding.losses_of(record))
    if record.places:
        words = f"{len(record.places)} frequent words, by the first two principal components of their vectors."
        figures["map"] = Shown("", words, embedding.map_of(record))
    if any(section.n_asked for section in record.sections):
        words = "Right answers by section; questions with a word beyond the 30,000 most frequent are skipped."
        figures["analogies"] = Shown("", words, embedding.analogies_of(record))
    certificate = Certificate.from_dict(record.certificate)
    return page(
        "embed.html",
        figures,
        run=record,
        title=embedding.embed_title(record),
        headline=embedding.embed_headline(record),
        how=embedding.speed_words(record),
        stopped=embedding.stopped_words(record),
        neighbours=[embedding.neighbours_line(found) for found in record.neighbours],
        sections=[embedding.section_line(part) for part in record.sections],
        claims=member_lines(claim_lines(certificate)),
        certificate=certificate,
        certificate_line=certificate_line(certificate),
    )


def page(template: str, figures: Mapping[str, Shown], **parts: Any) -> str:
    """Return a page with its figures."""
    environment = Environment(
        loader=PackageLoader("eigenwood.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    drawn = {name: drawn_figure(name, shown) for name, shown in figures.items()}
    return environment.get_template(template).render(**parts, figures=drawn, plotly=packed_plotly() if drawn else None)


def drawn_figure(name: str, shown: Shown) -> Drawn:
    """Return a figure as JSON that can stand in a page: no character of it begins a tag."""
    content = shown.figure.to_plotly_json()
    layout = content["layout"]
    layout.pop("template", None)  # the page's script has its own
    text = to_json(content, validate=False)
    return Drawn(
        name,
        shown.heading,
        shown.caption,
        layout.get("height", PLAIN_HEIGHT),
        layout.get("width"),
        text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
    )


@cache
def packed_plotly() -> str:
    """Return Plotly's bundle, packed."""
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 6, mtime=0)).decode()
