"""Curves of a classifier on rows it has not seen: ROC, precision over recall, and calibration.

recall │  ╭──────     precision │───╮        observed │     ╱
       │ ╱                      │    ╲                │   ╱●      thin: guessing, or probabilities
       │╱ · · ·                 │· · ·╲· ·            │ ╱         that are exactly right
       └── false alarms         └── recall            └── predicted
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, MUTED, PALETTE, styled
from eigenwood.plots.tree import plain, shortened

HEIGHT = 340
LONGEST_LABEL = 24
MOST_ZOOMED = 0.6  # of the probabilities, below which a figure shows only the part that is used
DIAGONAL = ([0.0, 1.0], [0.0, 1.0])


class Curve(NamedTuple):
    """A curve of one class; ``words`` say what it comes to."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    words: str = ""


def roc_figure(curves: Sequence[Curve]) -> go.Figure:
    """Return a figure of the share of a class that is found, over the share of the other rows taken for it."""
    return curves_figure(curves, "false alarms, of the other rows", "found (recall)", DIAGONAL)


def precision_recall_figure(curves: Sequence[Curve], share: float | None) -> go.Figure:
    """Return a figure of the precision over the recall; guessing has the ``share`` of the class everywhere."""
    guessing = None if share is None else ([0.0, 1.0], [share, share])
    return curves_figure(curves, "found (recall)", "right when predicted (precision)", guessing)


def calibration_figure(curves: Sequence[Curve]) -> go.Figure:
    """Return a figure of how often a class was there, over the probability that it was given."""
    highest = max((value for curve in curves for value in (*curve.x, *curve.y)), default=1.0)
    figure = curves_figure(curves, "predicted probability", "observed share", DIAGONAL, mode="lines+markers")
    if highest < MOST_ZOOMED:  # a rare class: all would stand in one corner
        end = 1.08 * highest
        figure.update_xaxes(range=[-0.02 * end, end], dtick=None, tickformat=".1~%")
        figure.update_yaxes(range=[-0.02 * end, end], dtick=None, tickformat=".1~%")
    return figure


def curves_figure(
    curves: Sequence[Curve],
    across: str,
    up: str,
    reference: tuple[list[float], list[float]] | None,
    mode: str = "lines",
) -> go.Figure:
    """Return a figure of curves in the unit square, and a thin line to compare them with."""
    figure = go.Figure()
    if reference is not None:
        look = {"color": MUTED, "width": 1, "dash": "dot"}
        figure.add_scatter(x=reference[0], y=reference[1], mode="lines", line=look, hoverinfo="skip", showlegend=False)
    for place, curve in enumerate(curves):
        colour = ACCENT if len(curves) == 1 else PALETTE[place % len(PALETTE)]
        name = plain(shortened(curve.label, LONGEST_LABEL)) + (f" ({curve.words})" if curve.words else "")
        figure.add_scatter(
            x=list(curve.x),
            y=list(curve.y),
            mode=mode,
            line={"color": colour, "width": 2},
            marker={"size": 7, "color": colour},
            name=name,
            hovertemplate=f"{across} %{{x:.1%}}<br>{up} %{{y:.1%}}<extra>{name}</extra>",
        )
    look = {"range": [-0.02, 1.02], "tickformat": ".0%", "zeroline": False, "dtick": 0.25}
    figure.update_xaxes(title=across, gridcolor=GRID, **look)
    figure.update_yaxes(title=up, **look)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left", "font": {"size": 12}}
    return styled(figure, HEIGHT).update_layout(showlegend=True, legend=legend, yaxis_gridcolor=GRID)
