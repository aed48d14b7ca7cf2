"""Candidates over time: a dot for each trial when it ended, how far its folds are apart, and the best so far as a line.

score │        ●──────●────    line: the best score so far, of trials on all rows
      │    ●   │   ○           filled: on all rows;  open: on a sample of them;  ×: cut by the time limit
      └──────────── seconds
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from eigenwood.plots.style import GRID, MUTED, PALETTE, styled
from eigenwood.plots.tree import plain

HEIGHT = 380
BEST_SO_FAR, CUT_NAME = "best so far", "cut by the time limit"
ROOM = 0.08  # of the span of the scores, above and below it


class TrialDot(NamedTuple):
    """One trial, as it is drawn."""

    method: str
    words: str  # its parameters
    ended: float  # seconds after the first trial began
    score: float | None  # None where it was cut
    low: float  # of its folds
    high: float
    is_whole: bool  # on all rows of every fold
    is_chosen: bool  # a member of the final model


def candidates_figure(dots: Sequence[TrialDot], score: str, form: str, smaller_is_better: bool = False) -> go.Figure:
    """Return a figure of the trials; ``score`` names the score, and ``form`` is Plotly's format of it."""
    figure = go.Figure()
    ranked = [dot for dot in dots if dot.score is not None]
    add_best_line(figure, ranked, smaller_is_better)
    for place, method in enumerate(dict.fromkeys(dot.method for dot in ranked)):
        own = [dot for dot in ranked if dot.method == method]
        figure.add_traces(method_traces(own, method, method_colour(place), form))
    cut = [dot for dot in dots if dot.score is None]
    if cut:
        figure.add_trace(cut_marks(cut, ranked, smaller_is_better))
    figure.update_xaxes(title="seconds of trials", rangemode="tozero", zeroline=False)
    figure.update_yaxes(title=score, tickformat=form, zeroline=False, **score_range(ranked))
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left", "font": {"size": 12}}
    return styled(figure, HEIGHT).update_layout(showlegend=True, legend=legend, yaxis_gridcolor=GRID)


def method_colour(place: int) -> str:
    return PALETTE[place] if place < len(PALETTE) else MUTED


def score_range(ranked: Sequence[TrialDot]) -> dict:
    """Return the range of the scores themselves: folds that are far off would make all others look alike."""
    scores = [dot.score for dot in ranked if dot.is_whole and dot.score is not None]
    scores = scores or [dot.score for dot in ranked if dot.score is not None]
    if not scores or len(ranked) < 2:
        return {}
    ends = [end for dot in ranked if dot.is_chosen for end in (dot.low, dot.high)]
    low, high = min(scores + ends), max(scores + ends)
    room = ROOM * ((high - low) or abs(high) or 1.0)
    return {"range": [low - room, high + room]}


def add_best_line(figure: go.Figure, ranked: Sequence[TrialDot], smaller_is_better: bool) -> None:
    """Draw the best score so far of the trials on all rows."""
    x, y = list[float](), list[float]()
    choose = min if smaller_is_better else max
    for dot in ranked:
        if dot.is_whole and dot.score is not None:
            x.append(dot.ended)
            y.append(choose(y[-1], dot.score) if y else dot.score)
    if len(x) > 1:
        look = {"color": MUTED, "width": 1.5, "shape": "hv"}
        figure.add_scatter(x=x, y=y, mode="lines", line=look, name=BEST_SO_FAR, hoverinfo="skip")


def method_traces(dots: Sequence[TrialDot], method: str, colour: str, form: str) -> list[go.Scatter]:
    """Return the trials of one method: on samples, on all rows, and those of the final model; one is in the legend."""
    whole = [dot for dot in dots if dot.is_whole and not dot.is_chosen]
    chosen = [dot for dot in dots if dot.is_chosen]
    sampled = [dot for dot in dots if not dot.is_whole and not dot.is_chosen]
    parts = [part for part in (whole, chosen, sampled) if part]
    return [trial_dots(part, method, colour, form, is_named=part is parts[0]) for part in parts]


def trial_dots(dots: Sequence[TrialDot], method: str, colour: str, form: str, is_named: bool) -> go.Scatter:
    """Return trials of one kind; those of the final model show how far their folds are apart."""
    first, scores = dots[0], [0.0 if dot.score is None else dot.score for dot in dots]
    reach = {
        "type": "data",
        "symmetric": False,
        "array": [dot.high - score for dot, score in zip(dots, scores, strict=True)],
        "arrayminus": [score - dot.low for dot, score in zip(dots, scores, strict=True)],
        "thickness": 1.5,
        "width": 4,
        "color": colour,
    }
    return go.Scatter(
        x=[dot.ended for dot in dots],
        y=scores,
        name=plain(method),
        legendgroup=plain(method),
        showlegend=is_named,
        mode="markers",
        marker={
            "color": colour,
            "size": 13 if first.is_chosen else 8,
            "symbol": "circle" if first.is_whole else "circle-open",
            "line": {"width": 0 if first.is_whole else 1.5, "color": colour},
        },
        cliponaxis=False,
        error_y=reach if first.is_chosen else None,
        customdata=[[plain(dot.words), dot.low, dot.high] for dot in dots],
        hovertemplate=f"<b>{plain(method)}</b> %{{customdata[0]}}<br>%{{y:{form}}}"
        f" (folds %{{customdata[1]:{form}}} to %{{customdata[2]:{form}}})<extra></extra>",
    )


def cut_marks(cut: Sequence[TrialDot], ranked: Sequence[TrialDot], smaller_is_better: bool) -> go.Scatter:
    """Return marks, beside the worst score shown, for trials that were cut: they have no score."""
    shown = score_range(ranked).get("range") or [dot.score for dot in ranked] or [0.0]
    edge = max(shown) if smaller_is_better else min(shown)
    return go.Scatter(
        x=[dot.ended for dot in cut],
        y=[edge] * len(cut),
        name=CUT_NAME,
        mode="markers",
        marker={"symbol": "x-thin", "size": 9, "color": MUTED, "line": {"width": 2, "color": MUTED}},
        customdata=[f"{plain(dot.method)} {plain(dot.words)}" for dot in cut],
        hovertemplate="<b>%{customdata}</b><br>cut by the time limit: not compared<extra></extra>",
        cliponaxis=False,
    )
