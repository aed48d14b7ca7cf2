"""Rounds of boosting, side by side: how errors fall and what bounds them, losses, and how margins grow.

error │╲                    share of  │        ╭──        one line for each of some numbers of rounds: the share of
      │ ╲___ bound          the rows  │    ╭───╯          rows whose margin is at most x; at 0 it is that of the
      │  ╲___ training                │────╯              rows that are wrong
      └────────── rounds              └───────┼── margin
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eigenwood.plots.style import ACCENT, GRID, INK, MUTED, styled
from eigenwood.plots.tree import blended

HEIGHT, PALEST = 420, 0.35  # pixels; of the colour of the first of some numbers of rounds
MOST_DOTS = 30  # rounds that have dots of their own
MOST_STEPS = 500  # of a distribution; more rows are seen by this many of their quantiles
GAP = 0.11  # between two panels, of the width
TEST, PAPER = "#c2571a", "rgba(255,255,255,0.7)"
LOOKS = {
    "training": {"color": ACCENT, "width": 2.5},
    "test": {"color": TEST, "width": 2.5},
    "validation": {"color": TEST, "width": 2.0, "dash": "dot"},
    "out of bag": {"color": ACCENT, "width": 2.5},
    "bound": {"color": MUTED, "width": 1.5, "dash": "6px,4px"},
}


class Rounds(NamedTuple):
    """What is shown of the rounds; each curve has a number for each round, under one of the names of ``LOOKS``."""

    errors: Mapping[str, Sequence[float] | np.ndarray]
    measure: str  # of the errors
    losses: Mapping[str, Sequence[float] | np.ndarray] = {}  # nothing is drawn of what is empty
    margins: Mapping[int, np.ndarray] = {}  # of the rows, after so many rounds
    margin: str = "margin"


def rounds_figure(rounds: Rounds) -> go.Figure:
    """Return a figure with a panel each for errors, losses and margins, as far as they are known."""
    panels = [name for name in ("errors", "losses", "margins") if getattr(rounds, name)]
    figure = make_subplots(rows=1, cols=len(panels), horizontal_spacing=GAP)
    for place, name in enumerate(panels):
        axes = {"xaxis": axis_name("x", place), "yaxis": axis_name("y", place)}
        legend = axis_name("legend", place)
        curves = getattr(rounds, name)
        figure.add_traces(margin_lines(curves) if name == "margins" else curve_lines(curves, rounds.measure, name))
        figure.update_traces(**axes, legend=legend, selector={"meta": name})
    styled(figure, height=HEIGHT).update_layout(showlegend=True, margin_t=64)
    for place, name in enumerate(panels):
        titles = {
            "errors": ("rounds", rounds.measure),
            "losses": ("rounds", "loss"),
            "margins": (rounds.margin, ""),
        }
        dress_panel(
            figure, place, *titles[name], is_share=name == "margins" or (name == "errors" and "rate" in rounds.measure)
        )
    if rounds.margins:
        mark_zero(figure, len(panels) - 1)
    return figure


def axis_name(letter: str, place: int) -> str:
    """Return Plotly's name of an axis or legend."""
    return letter if place == 0 else f"{letter}{place + 1}"


def curve_lines(curves: Mapping[str, Sequence[float] | np.ndarray], measure: str, panel: str) -> list[go.Scatter]:
    """Return a line for each curve over the rounds; one that is longer than others begins before the first."""
    n_rounds = min(len(values) for values in curves.values())
    form = ".2%" if panel == "errors" and "rate" in measure else ".4~g"
    return [
        go.Scatter(
            x=np.arange(n_rounds - len(values), n_rounds) + 1,
            y=np.asarray(values, dtype=np.float64),
            mode="lines+markers" if len(values) <= MOST_DOTS else "lines",
            line=LOOKS[name],
            marker={"size": 6, "color": LOOKS[name]["color"]},
            name=name,
            meta=panel,
            hovertemplate=f"{name}, round %{{x:,}}: %{{y:{form}}}<extra></extra>",
        )
        for name, values in curves.items()
    ]


def margin_lines(margins: Mapping[int, np.ndarray]) -> list[go.Scatter]:
    """Return the distribution of the margins after some numbers of rounds, the later the darker."""
    return [
        go.Scatter(
            x=steps_of(values)[0],
            y=steps_of(values)[1],
            mode="lines",
            line={"color": later_colour(place, len(margins)), "width": 2, "shape": "hv"},
            name=f"{n_rounds:,} round{'s' if n_rounds > 1 else ''}",
            meta="margins",
            hovertemplate=f"{n_rounds:,} rounds: %{{y:.1%}} have at most %{{x:.3f}}<extra></extra>",
        )
        for place, (n_rounds, values) in enumerate(margins.items())
    ]


def steps_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where a distribution steps up, and to which share; the first step comes from 0."""
    places, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    if places.size > MOST_STEPS:
        kept = np.unique(np.searchsorted(shares, np.linspace(0.0, 1.0, MOST_STEPS)).clip(0, places.size - 1))
        places, shares = places[kept], shares[kept]
    return np.append(places[:1], places), np.append(0.0, shares)


def later_colour(place: int, n: int) -> str:
    """Return a colour that is the darker the later one of n lines comes."""
    return ACCENT if place == n - 1 else blended(ACCENT, PALEST + (1.0 - PALEST) * place / (n - 1))


def dress_panel(figure: go.Figure, place: int, across: str, up: str, is_share: bool) -> None:
    """Write titles and scales of a panel, and put its legend above it; that of margins inside, where lines are few."""
    where = {"row": 1, "col": place + 1}
    is_margin = across != "rounds"
    figure.update_xaxes(title=across, gridcolor=GRID, zeroline=False, automargin=True, **where)
    figure.update_yaxes(
        title="share of the rows" if is_margin else up,
        tickformat="~%" if is_share else "",
        rangemode="tozero",
        gridcolor=GRID,
        zeroline=False,
        automargin=True,
        **where,
    )
    axis = figure.layout[axis_name("xaxis", place)]
    above = {"x": axis.domain[0], "y": 1.02, "yanchor": "bottom", "orientation": "h"}
    inside = {"x": axis.domain[0] + 0.01, "y": 0.98, "yanchor": "top", "orientation": "v", "bgcolor": PAPER}
    figure.layout[axis_name("legend", place)] = {
        "font": {"size": 12},
        "xanchor": "left",
        **(inside if is_margin else above),
    }


def mark_zero(figure: go.Figure, place: int) -> None:
    """Draw a line between rows that are wrong and rows that are right."""
    figure.add_vline(x=0.0, line={"color": INK, "width": 1, "dash": "dot"}, row=1, col=place + 1)
