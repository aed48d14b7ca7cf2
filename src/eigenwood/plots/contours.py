"""Components on a plane: what each of them says everywhere, as contours, with the rows on top (the PCA and boosting
lecture).

A component of a kernel PCA bends around the rows. One colour stands for scores above 0 and another for those below, the
stronger the farther from 0; a line runs wherever a level is passed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eigenwood.estimators.rules import percent
from eigenwood.plots.images import DIVERGING
from eigenwood.plots.scores import COLOURS, FAST, MARGIN, Frame
from eigenwood.plots.style import INK, styled
from eigenwood.plots.tree import plain

PER_ROW, PLANE, GAP, HEAD = 3, 240, 24, 44  # panels beside each other, and pixels: all fit into a report's column
LEVELS = 12
GRID = 90  # places along each side at which components are asked
DOT = 5
OUTSIDE = 0.12  # of the span, shown around the rows


def plane_around(points: np.ndarray) -> tuple[Frame, np.ndarray]:
    """Return the part of the plane that is shown, and the places of a grid in it, (GRID², 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    low, high = low - OUTSIDE * span, high + OUTSIDE * span
    across, up = (np.linspace(low[i], high[i], GRID) for i in range(2))
    places = np.column_stack([part.ravel() for part in np.meshgrid(across, up)])
    return Frame(low, high, np.full(2, float(PLANE))), places


def contours_figure(
    frame: Frame,
    values: np.ndarray,
    points: np.ndarray,
    shares: Sequence[float],
    names: Sequence[str],
    codes: np.ndarray | None = None,
    labels: Sequence[str] = (),
) -> go.Figure:
    """Return a panel for each component; ``values`` (GRID², k) are its scores on the grid of ``plane_around``.

    ``codes`` number the classes of the rows, and ``labels`` name these.
    """
    k = values.shape[1]
    n_across, n_down = min(k, PER_ROW), -(-k // PER_ROW)
    width, height = n_across * PLANE + (n_across - 1) * GAP, n_down * (PLANE + HEAD)
    titles = [f"PC{i + 1} ({percent(share)})" for i, share in enumerate(shares)]
    figure = make_subplots(
        n_down,
        n_across,
        subplot_titles=titles,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=GAP / width,
        vertical_spacing=HEAD / height if n_down > 1 else 0.0,
    )
    for i in range(k):
        where = {"row": i // PER_ROW + 1, "col": i % PER_ROW + 1}
        figure.add_trace(component(frame, values[:, i]), **where)
        for trace in rows_on_top(points, codes, labels, is_first=i == 0):
            figure.add_trace(trace, **where)
        figure.update_xaxes(title=plain(names[0]) if i + PER_ROW >= k else "", **where)
        figure.update_yaxes(title=plain(names[1]) if i % PER_ROW == 0 else "", **where)
    styled(figure, height=round(HEAD + height + MARGIN["b"])).update_layout(
        width=round(MARGIN["l"] + width + (150 if codes is not None else MARGIN["r"])),
        margin={**MARGIN, "t": HEAD},
        showlegend=codes is not None,
    )
    figure.update_xaxes(range=[frame.low[0], frame.high[0]], showgrid=False, zeroline=False)
    return figure.update_yaxes(range=[frame.low[1], frame.high[1]], showgrid=False, zeroline=False)


def component(frame: Frame, values: np.ndarray) -> go.Contour:
    """Return the scores of a component over the plane; both colours go as far as the score that is farthest from 0."""
    end = float(np.abs(values).max()) or 1.0
    return go.Contour(
        x=np.linspace(frame.low[0], frame.high[0], GRID),
        y=np.linspace(frame.low[1], frame.high[1], GRID),
        z=values.reshape(GRID, GRID).astype(np.float32),
        zmin=-end,
        zmax=end,
        colorscale=DIVERGING,
        contours={"start": -end, "end": end, "size": 2.0 * end / LEVELS},
        line={"width": 0.6, "color": INK},
        showscale=False,
        hovertemplate="%{x:.4~g}, %{y:.4~g}<br>score %{z:.4~g}<extra></extra>",
    )


def rows_on_top(points: np.ndarray, codes: np.ndarray | None, labels: Sequence[str], is_first: bool) -> list:
    """Return the rows, a trace for each class; the legend is told by the first panel."""
    draw = go.Scattergl if len(points) >= FAST else go.Scatter
    groups = [np.full(len(points), True)] if codes is None else [codes == code for code in range(len(labels))]
    return [
        draw(
            x=points[group, 0],
            y=points[group, 1],
            mode="markers",
            marker={
                "size": DOT,
                "color": INK if codes is None else COLOURS[code % len(COLOURS)],
                "line": {"width": 0.5, "color": "white"},
            },
            name="" if codes is None else plain(labels[code]),
            legendgroup=f"class {code}",
            showlegend=is_first and codes is not None,
            hoverinfo="skip",
        )
        for code, group in enumerate(groups)
    ]
