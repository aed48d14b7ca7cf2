"""A run as one HTML file that opens offline: figures, tables and styles are all inside."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader
from plotly.io import to_html

from eigenwood.plots.candidates import candidates_figure
from eigenwood.report.telling import TELLINGS
from eigenwood.report.words import candidate_name, parameter_words, preparation, title
from eigenwood.runs.record import Run


def run_page(run: Run) -> str:
    """Return the page of a run."""
    environment = Environment(
        loader=PackageLoader("eigenwood.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    telling = TELLINGS[run.task]
    environment.filters["score"] = telling.written
    names = [(candidate.method, parameter_words(candidate)) for candidate in run.candidates]
    scores = [candidate.fold_scores for candidate in run.candidates]
    figures = [
        candidates_figure(names, scores, run.chosen, telling.score, telling.tickformat),
        telling.figure(run.assessment),
    ]
    candidates, predictions = (
        to_html(figure, full_html=False, include_plotlyjs=first, config={"displayModeBar": False}, div_id=f"figure-{i}")
        for i, (figure, first) in enumerate(zip(figures, (True, False), strict=True))
    )
    return environment.get_template("run.html").render(
        run=run,
        title=title(run),
        headline=telling.headline(run.assessment),
        preparation=preparation(run),
        score=telling.score,
        verdict=telling.verdict(run.assessment, run.split.n_test),
        measures=telling.measures(run.assessment),
        caption=telling.caption(run.assessment, run.split.n_test),
        chosen=candidate_name(run.chosen_candidate()),
        candidates=candidates,
        predictions=predictions,
    )
