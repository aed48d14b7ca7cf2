"""A run as one HTML file that opens offline: figures, tables and styles are all inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader
from plotly.io import to_html

from eigenwood.data.naming import listing
from eigenwood.plots.candidates import candidates_figure
from eigenwood.proofs.claim import Certificate
from eigenwood.report import reducing
from eigenwood.report.task_report import TASK_REPORTS
from eigenwood.report.words import candidate_name, parameter_words, preparation, title
from eigenwood.runs.record import ReduceRecord, Run


def run_page(run: Run) -> str:
    """Return the page of a run."""
    task_report = TASK_REPORTS[run.task]
    names = [(candidate.method, parameter_words(candidate)) for candidate in run.candidates]
    scores = [candidate.fold_scores for candidate in run.candidates]
    figures = {
        "candidates": candidates_figure(names, scores, run.chosen, task_report.score, task_report.tickformat),
        "predictions": task_report.figure(run.assessment),
    }
    return page(
        "run.html",
        figures,
        run=run,
        title=title(run),
        headline=task_report.headline(run.assessment),
        preparation=preparation(run),
        score=task_report.score,
        written=task_report.written,
        verdict=task_report.verdict(run.assessment, run.split.n_test),
        measures=task_report.measures(run.assessment),
        caption=task_report.caption(run.assessment, run.split.n_test),
        chosen=candidate_name(run.chosen_candidate()),
        certificate=Certificate.from_dict(run.certificate),
    )


def reduce_page(record: ReduceRecord) -> str:
    """Return the page of a reduction."""
    figures = {}
    if record.principal:
        figures["scree"] = reducing.scree_of(record)
    if len(record.names) > 1:
        figures["scores"] = reducing.scores_of(record)
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
        caption=reducing.caption(record),
        certificate=Certificate.from_dict(record.certificate) if record.certificate else None,
    )


def page(template: str, figures: Mapping[str, go.Figure], **parts: Any) -> str:
    """Return a page with its figures, the first of which brings Plotly along."""
    environment = Environment(
        loader=PackageLoader("eigenwood.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    drawn = {
        name: to_html(
            figure, full_html=False, include_plotlyjs=i == 0, config={"displayModeBar": False}, div_id=f"figure-{i}"
        )
        for i, (name, figure) in enumerate(figures.items())
    }
    return environment.get_template(template).render(**parts, **drawn)
