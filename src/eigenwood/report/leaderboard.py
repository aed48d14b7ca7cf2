"""The leaderboard: candidates on all rows by score, then those tried on samples only, then those that were cut.

A trial that was cut has no rank and no score: what it did until then says nothing about what it would have done.
"""

from __future__ import annotations

from typing import NamedTuple

from eigenwood.report.words import duration, is_cut, method_words, parameter_words, score_words
from eigenwood.runs.record import FINISHED, CandidateRecord, Run

ON_SAMPLE, CHOSEN, CUT_WORDS = "on a sample", "chosen", "cut by the time limit"


class Line(NamedTuple):
    """One candidate, as text; ``place`` is its place among the run's candidates."""

    place: int
    rank: str  # of candidates on all rows; else empty
    method: str
    params: str
    score: str
    folds: str  # the lowest and the highest
    value: float | None  # what a table is sorted by
    n_rows: int
    rounds: str
    seconds: float
    status: str
    is_chosen: bool
    is_cut: bool

    @property
    def time(self) -> str:
        return duration(self.seconds)


def leaderboard(run: Run) -> list[Line]:
    """Return a line for each candidate, the best first; of one that was tried on more and more rows the last trial."""
    most = max((candidate.n_rows for candidate in run.candidates if is_ranked(candidate)), default=0)
    last = {(candidate.method, str(candidate.params)): place for place, candidate in enumerate(run.candidates)}
    chosen = {member.candidate for member in run.recipe.members}
    kept = chosen | set(last.values())
    places = sorted(kept, key=lambda place: order_of(run.candidates[place], most, run.validation.n_folds))
    lines, rank = list[Line](), 0
    for place in places:
        candidate = run.candidates[place]
        is_whole = is_on_all_rows(candidate, most, run.validation.n_folds)
        rank += is_whole
        lines.append(line_of(run, place, str(rank) if is_whole else "", place in chosen))
    return lines


def is_ranked(candidate: CandidateRecord) -> bool:
    return candidate.status == FINISHED and bool(candidate.fold_scores)


def is_on_all_rows(candidate: CandidateRecord, most: int, n_folds: int) -> bool:
    """Return whether a candidate is compared with the others: on as many rows and folds as any."""
    return is_ranked(candidate) and candidate.n_rows == most and len(candidate.fold_scores) == n_folds


def order_of(candidate: CandidateRecord, most: int, n_folds: int) -> tuple:
    """Return what the leaderboard is sorted by."""
    is_whole = is_on_all_rows(candidate, most, n_folds)
    return (not is_whole, not is_ranked(candidate), -candidate.n_rows, -candidate.mean_score, candidate.loss)


def line_of(run: Run, place: int, rank: str, is_chosen: bool) -> Line:
    """Return a candidate as text."""
    candidate = run.candidates[place]
    ranked = is_ranked(candidate)
    low, high = fold_range(candidate)
    return Line(
        place=place,
        rank=rank,
        method=method_words(candidate.method),
        params=parameter_words(candidate.params),
        score=score_words(run, candidate.mean_score) if ranked else "–",
        folds=f"{score_words(run, low)} – {score_words(run, high)}" if ranked and low != high else "",
        value=candidate.mean_score if ranked else None,
        n_rows=candidate.n_rows,
        rounds="" if candidate.n_rounds is None else f"{candidate.n_rounds:,}",
        seconds=candidate.seconds,
        status=status_words(candidate, rank, is_chosen),
        is_chosen=is_chosen,
        is_cut=is_cut(candidate),
    )


def fold_range(candidate: CandidateRecord) -> tuple[float, float]:
    """Return the lowest and the highest score of a fold, the nearer to zero first where they are errors."""
    low, high = min(candidate.fold_scores, default=0.0), max(candidate.fold_scores, default=0.0)
    return (high, low) if high <= 0.0 and low < 0.0 else (low, high)


def status_words(candidate: CandidateRecord, rank: str, is_chosen: bool) -> str:
    """Return how a trial ended."""
    if is_cut(candidate):
        return CUT_WORDS
    if candidate.status != FINISHED:
        return candidate.status
    return CHOSEN if is_chosen else "" if rank else f"{ON_SAMPLE} of {candidate.n_rows:,} rows"
