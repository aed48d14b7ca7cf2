"""A run in a notebook: the headline, the leaderboard and the certificate, without a script."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader

from eigenwood.proofs.claim import Certificate
from eigenwood.report.certificate_words import certificate_line
from eigenwood.report.columns import dropped_words
from eigenwood.report.leaderboard import leaderboard
from eigenwood.report.words import (
    cut_words,
    guess_words,
    metric_words,
    result_words,
    sentence,
    winner_words,
)
from eigenwood.runs.record import Run

MOST_LINES = 10


def run_view(run: Run) -> str:
    """Return a run as HTML that stands in a notebook's page, in its colours."""
    environment = Environment(
        loader=PackageLoader("eigenwood.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    lines = leaderboard(run)
    return environment.get_template("notebook.html").render(
        run=run,
        result=result_words(run),
        winner=winner_words(run.recipe),
        metric=metric_words(run),
        warnings=[words for words in (guess_words(run), *cut_words(run)) if words]
        + [finding.sentence for finding in run.findings if finding.serious]
        + [sentence(note) for note in run.notes],
        lines=lines[:MOST_LINES],
        n_more=max(len(lines) - MOST_LINES, 0),
        dropped=dropped_words(run),
        certificate=certificate_line(Certificate.from_dict(run.certificate)),
    )
