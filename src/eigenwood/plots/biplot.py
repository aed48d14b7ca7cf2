"""Biplots: rows as points and columns as arrows, in one plane.

A row x and its scores t, a column and its entries v of the unit axes, the variances λ of the components:

    scaling       point       arrow       so that
    form          t           v           distances between points are distances between rows
    covariance    t / √λ      v √λ        inner products of arrows are covariances of columns

In both the inner product of a point and an arrow is what the row has in the column, less the column's mean. All of
this holds as far as the two components show it, and only for arrows before they are made longer to be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from eigenwood.plots.scores import (
    MOST_NAMED,
    Frame,
    frame_of,
    framed,
    free_places,
    label_notes,
    name_notes,
    point_traces,
)
from eigenwood.plots.style import INK
from eigenwood.plots.tree import STREAM, plain, shortened

TOP, BUTTONS = 116, 46  # pixels for the words above, and for Plotly's buttons above these
SHAFT, STEP = 2.0, 5.0  # pixels that a label keeps from an arrow, and between the places where it is looked at
SHORTEST = 0.3  # of the reach of the points: the longest arrow
LONGEST_NAME = 26  # letters
SMALLEST = 1e-10  # of the largest variance: a component with less holds nothing but rounding


class Scaling(NamedTuple):
    """How the singular values are shared between points and arrows."""

    given_to_arrows: bool
    words: str


SCALINGS = {
    "form": Scaling(False, "distances between points are distances between rows;<br>arrows are the unit axes"),
    "covariance": Scaling(
        True,
        "inner products of arrows are covariances of columns, their lengths<br>"
        "standard deviations; points are standardised",
    ),
}


def biplot_coordinates(
    scores: np.ndarray, axes: np.ndarray, variances: np.ndarray, scaling: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, k) and arrows (d, k), of scores (n, k), unit axes (k, d) and variances (k,)."""
    if not SCALINGS[scaling].given_to_arrows:
        return scores, axes.T
    deviations = np.sqrt(np.maximum(variances, 0.0))
    is_there = variances > SMALLEST * variances.max()
    return np.where(is_there, scores / np.where(is_there, deviations, 1.0), 0.0), axes.T * deviations


def biplot_figure(
    points: np.ndarray,
    loadings: np.ndarray,
    shares: Sequence[float],
    names: Sequence[str],
    scaling: str,
    *,
    axes: tuple[int, int] = (0, 1),
    colours: Any = None,
    row_names: Sequence[str] | None = None,
    colour_name: str = "",
    is_scaled: bool = False,
    most: int = 20,
) -> go.Figure:
    """Return a figure of points (n, 2) and arrows to the ``loadings`` (d, 2), which ``biplot_coordinates`` makes.

    ``names`` are those of the columns; if each was divided by its scale, the figure says so. All arrows are made longer
    by one factor, which it says too; the longest ``most`` carry their names.
    """
    factor = arrow_factor(points, loadings)
    tips = factor * loadings
    frame = frame_of(np.vstack([np.zeros(2), points, tips]), equal_aspect=True)
    by_length = np.argsort(-np.hypot(*loadings.T), kind="stable")
    longest, others = by_length[:most], by_length[most:]
    figure = go.Figure(
        [
            *arrow_traces(tips, loadings, names, others, axes, STREAM, 0.6),
            *point_traces(points, axes, colours, row_names, colour_name),
            *arrow_traces(tips, loadings, names, longest, axes, INK, 1.3),
        ]
    )
    shafts = shafts_of(frame, tips[longest])
    taken: list = []
    rows = [] if row_names is None or len(points) > MOST_NAMED else name_notes(frame, points, row_names, taken, shafts)
    columns = arrow_notes(frame, tips[longest], [str(names[j]) for j in longest], [*taken, *shafts])
    figure.layout.annotations = [*rows, *columns]
    figure = framed(figure, frame, shares, axes, colour_name, TOP).update_yaxes(scaleanchor="x")
    return figure.update_layout(title=title(scaling, axes, is_scaled, factor, (len(columns), len(names))))


def arrow_factor(points: np.ndarray, loadings: np.ndarray) -> float:
    """Return by how much arrows are made longer to reach as far as the points: two digits, which can be said.

    Where the points are nearly on a line, arrows across it reach further.

    >>> arrow_factor(np.array([[477.4, -158.9], [-144.9, 2.5]]), np.array([[0.5, 0.0], [0.1, 0.4]]))
    400.0
    """
    reach, size, longest = np.abs(points).max(axis=0), np.abs(loadings).max(axis=0), np.hypot(*loadings.T).max()
    if reach.max() == 0.0 or longest == 0.0:
        return 1.0
    within = (reach[size > 0.0] / size[size > 0.0]).min()
    return float(f"{max(within, SHORTEST * reach.max() / longest):.1e}")


def arrow_traces(
    tips: np.ndarray,
    loadings: np.ndarray,
    names: Sequence[str],
    which: np.ndarray,
    axes: tuple[int, int],
    colour: str,
    width: float,
) -> list[go.Scatter]:
    """Return some of the arrows: their shafts in one trace, their heads in another."""
    if which.size == 0:
        return []
    x, y = tips[which].T
    gaps, zeros = np.full(which.size, np.nan), np.zeros(which.size)
    shafts = go.Scatter(
        x=np.column_stack([zeros, x, gaps]).ravel(),
        y=np.column_stack([zeros, y, gaps]).ravel(),
        mode="lines",
        line={"color": colour, "width": width},
        hoverinfo="skip",
        showlegend=False,
    )
    heads = go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"symbol": "arrow", "size": 6 + 2.5 * width, "color": colour, "angle": np.rad2deg(np.arctan2(x, y))},
        text=[plain(str(names[j])) for j in which],
        customdata=loadings[which],
        hovertemplate=(
            f"<b>%{{text}}</b><br>PC{axes[0] + 1} %{{customdata[0]:.4~g}}"
            f"<br>PC{axes[1] + 1} %{{customdata[1]:.4~g}}<extra></extra>"
        ),
        showlegend=False,
    )
    return [shafts, heads]


def shafts_of(frame: Frame, tips: np.ndarray) -> list:
    """Return small boxes in pixels along the arrows, where no label should stand."""
    start, boxes = frame.to_pixels(np.zeros(2)), []
    for end in frame.to_pixels(tips):
        n_steps = 1 + int(np.hypot(*(end - start)) / STEP)
        boxes += [(*(at - SHAFT), *(at + SHAFT)) for at in np.linspace(start, end, n_steps)]
    return boxes


def arrow_notes(frame: Frame, tips: np.ndarray, names: Sequence[str], taken: list) -> list[dict]:
    """Return the names of arrows, as many as have room beside the boxes in pixels that are ``taken``."""
    lengths = np.hypot(*tips.T)[:, None]
    directions = np.where(lengths > 0.0, tips, [1.0, 0.0])
    texts = [shortened(name, LONGEST_NAME) for name in names]
    return label_notes(frame, free_places(frame, frame.to_pixels(tips), directions, texts, taken), texts)


def title(scaling: str, axes: tuple[int, int], is_scaled: bool, factor: float, counts: tuple[int, int]) -> dict:
    """Return the words above: the scaling, what it means, how long the arrows are, and how many have names."""
    n_named, n_columns = counts
    named = "" if n_named == n_columns else f" {n_named:,} of {n_columns:,} carry their names, all show them on hover."
    scaled = " Columns are scaled." if is_scaled else ""
    text = (
        f"<b>{scaling.capitalize()} biplot</b>: {SCALINGS[scaling].words}, as far as PC{axes[0] + 1} and "
        f"PC{axes[1] + 1} show them.{scaled}<br>The lengths of arrows are multiplied by {factor:,g}.{named}"
    )
    place = {"x": 0, "xref": "paper", "y": 1, "yanchor": "top", "pad": {"t": BUTTONS}}
    return {"text": text, "font": {"size": 14}, **place}
