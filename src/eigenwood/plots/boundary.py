"""Boundaries in the plane: what classifiers of two features say everywhere, side by side.

region            its colour says which class; of two classes, the stronger the larger |f| is
surface           f = 0, a whole line
margin            f = ±1, dashed; of a classifier that knows no such margin, where its nearest row stands
support vectors   ringed: those on the margin (free) darkly, those with slack (at bound) palely
slack             a dotted line from a row to the margin of its class, which it should not have crossed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.ndimage import gaussian_filter
from scipy.spatial import KDTree

from eigenwood.plots.scores import COLOURS, FAST, LONGEST_LABEL, MARGIN, PER_SYMBOL, PLANE, SYMBOLS, Frame, frame_of
from eigenwood.plots.style import INK, styled
from eigenwood.plots.tree import blended, plain, shortened

SMALL_PLANE = (430, 400)  # pixels of one of several panels
PER_ROW, GAP, ROW_GAP = 2, 24, 86  # panels beside each other, and pixels between them
HEAD, LEGEND_WIDTH = 74, 250  # pixels above the panels, for their names, and beside them
STEP = 3  # pixels between two places at which a model is asked
ALIKE = 2.0  # spans of two features that differ by less share one scale
FARTHEST = 2.5  # f of a support vector machine: from here on regions have their full colour
PALE, STRONG = 0.16, 0.5  # of their colours, at the surface and far from it
REGION = 0.3  # where only the class is known
NEARLY = 0.01  # slack that nobody sees
RING_GREY = "#5d666d"
SMALLEST_DOT, LARGEST_DOT = 3, 30  # pixels
SURFACE, MARGIN_LINES, NEAREST = "surface f = 0", "margin f = ±1", "level of the nearest row"
FREE, BOUND, SUPPORT, SLACK = "support vector on the margin", "support vector with slack", "support vector", "slack"
BELOW_CLASSES = {name: 1001 + i for i, name in enumerate((SURFACE, MARGIN_LINES, NEAREST, FREE, BOUND, SUPPORT, SLACK))}
BLUR = 1.2  # places of the grid, so that lines between regions have no steps


class Panel(NamedTuple):
    """What one model says, at the places of a grid and of the rows; f is known of two classes only, if at all."""

    title: str
    codes: np.ndarray  # (n_up, n_across) the classes of the grid
    row_codes: np.ndarray  # (n_rows,) predicted
    support: np.ndarray  # (n_support,) the places of the support vectors among the rows
    scores: np.ndarray | None = None  # (n_up, n_across) f
    row_scores: np.ndarray | None = None  # (n_rows,)
    level: float | None = None  # margin lines are at f = ±level
    width: float | None = None  # of the margin, in the space in which the model is linear
    has_slack: bool = False  # it is a support vector machine
    row_weights: np.ndarray | None = None  # (n_rows,) mean 1; areas of dots stand for them, if they differ


class Scene(NamedTuple):
    """What all panels share."""

    points: np.ndarray  # (n_rows, 2)
    codes: np.ndarray  # (n_rows,) the true classes
    labels: Sequence[str]
    frame: Frame
    across: np.ndarray  # the grid
    up: np.ndarray


def scene_of(
    points: np.ndarray, codes: np.ndarray, labels: Sequence[str], n_panels: int, equal_aspect: bool | None
) -> Scene:
    """Return the part of the plane that is shown and where models are asked; see ``plots.boundary``."""
    plane = PLANE if n_panels == 1 else SMALL_PLANE
    if equal_aspect is None:
        spans = np.ptp(points, axis=0)
        equal_aspect = bool(spans.max() < ALIKE * spans.min())
    frame = frame_of(points, equal_aspect, plane)
    across, up = (
        np.linspace(low, high, pixels // STEP + 1)
        for low, high, pixels in zip(frame.low, frame.high, plane, strict=True)
    )
    return Scene(points, codes, labels, frame, across, up)


def grid_points(scene: Scene) -> np.ndarray:
    """Return the places of the grid, (n_up · n_across, 2)."""
    return np.column_stack([values.ravel() for values in np.meshgrid(scene.across, scene.up)])


def boundary_figure(scene: Scene, panels: Sequence[Panel], names: Sequence[str]) -> go.Figure:
    """Return a figure with a panel for each model, all with the same axes; ``names`` are those of the features."""
    n_down, n_across = -(-len(panels) // PER_ROW), min(len(panels), PER_ROW)
    width = n_across * scene.frame.pixels[0] + (n_across - 1) * GAP
    height = n_down * scene.frame.pixels[1] + (n_down - 1) * ROW_GAP
    figure = make_subplots(
        rows=n_down,
        cols=n_across,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=GAP / width,
        vertical_spacing=ROW_GAP / height,
        specs=[[{} if i * PER_ROW + j < len(panels) else None for j in range(n_across)] for i in range(n_down)],
    )
    told: set[str] = set()
    for place, panel in enumerate(panels):
        where = {"row": place // PER_ROW + 1, "col": place % PER_ROW + 1}
        is_lowest, is_first = place + PER_ROW >= len(panels), where["col"] == 1
        for trace in panel_traces(scene, panel):
            figure.add_trace(told_once(trace, told), **where)
        figure.update_xaxes(title=plain(names[0]) if is_lowest else "", showticklabels=is_lowest, **where)
        figure.update_yaxes(title=plain(names[1]) if is_first else "", showticklabels=is_first, **where)
    (left, bottom), (right, top) = scene.frame.low, scene.frame.high
    styled(figure, height=round(HEAD + height + MARGIN["b"])).update_layout(
        width=round(MARGIN["l"] + width + LEGEND_WIDTH),
        margin={**MARGIN, "t": HEAD, "r": LEGEND_WIDTH},
        showlegend=True,
        legend={"font": {"size": 12}, "tracegroupgap": 3, "y": 1, "yanchor": "top"},
        annotations=[title_note(scene, panel, place) for place, panel in enumerate(panels)],
    )
    figure.update_xaxes(range=[left, right], showgrid=False, zeroline=False, automargin=False)
    return figure.update_yaxes(range=[bottom, top], showgrid=False, zeroline=False, automargin=False)


def title_note(scene: Scene, panel: Panel, place: int) -> dict:
    """Return the name of a panel and what can be counted in it."""
    number = "" if place == 0 else str(place + 1)
    n_wrong = int((panel.row_codes != scene.codes).sum())
    facts = [f"{n_wrong:,} of {scene.codes.size:,} rows wrong" if n_wrong else "no row wrong"]
    if panel.width is not None:
        facts.insert(0, f"margin {panel.width:.3g}")
    if panel.support.size:
        facts.append(f"{panel.support.size:,} support vector{'s' if panel.support.size > 1 else ''}")
    return {
        "text": f"<b>{plain(panel.title)}</b><br><span style='font-size:12px'>{' · '.join(facts)}</span>",
        "xref": f"x{number} domain",
        "yref": f"y{number} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "showarrow": False,
    }


def told_once(trace: Any, told: set[str]) -> Any:
    """Return a trace, in the legend if nothing of its name is there yet."""
    is_named = trace.name is not None and trace.showlegend is not False
    trace.showlegend = is_named and trace.name not in told
    trace.legendrank = BELOW_CLASSES.get(trace.name, 1000)
    if is_named:
        told.add(trace.name)
    return trace


def panel_traces(scene: Scene, panel: Panel) -> list[Any]:
    """Return what is drawn of a model, from the paper upwards."""
    lines = [region(scene, panel)]
    if panel.scores is None:
        lines += edges(scene, panel)
    else:
        lines += level_lines(scene, panel.scores, (0.0, 0.0), SURFACE, {"color": INK, "width": 2.5})
        if panel.level is not None:
            name = MARGIN_LINES if panel.has_slack else NEAREST
            look = {"color": INK, "width": 1.4, "dash": "6px,4px"}
            lines += level_lines(scene, panel.scores, (-panel.level, panel.level), name, look)
    slack = slack_of(scene, panel)
    return [*lines, *slack_lines(scene, panel, slack), *row_traces(scene, panel, slack), *rings(scene, panel, slack)]


# --- what a model says ----------------------------------------------------------------------------


def region(scene: Scene, panel: Panel) -> go.Heatmap:
    """Return the regions of the classes."""
    colours = [COLOURS[code % len(COLOURS)] for code in range(len(scene.labels))]
    look = {"x": scene.across, "y": scene.up, "showscale": False, "hoverinfo": "skip", "showlegend": False}
    if panel.scores is None:
        ends = np.arange(len(colours) + 1) / len(colours)
        steps = [[end, blended(colours[i], REGION)] for i in range(len(colours)) for end in (ends[i], ends[i + 1])]
        z = panel.codes.astype(np.int16)
        return go.Heatmap(z=z, zmin=-0.5, zmax=len(colours) - 0.5, colorscale=steps, zsmooth=False, **look)
    first, second = colours[:2]
    steps = [
        [0.0, blended(first, STRONG)],
        [0.5, blended(first, PALE)],
        [0.5, blended(second, PALE)],
        [1.0, blended(second, STRONG)],
    ]
    far = full_colour(panel)
    return go.Heatmap(
        z=np.clip(panel.scores, -far, far).astype(np.float32), zmin=-far, zmax=far, colorscale=steps, **look
    )


def full_colour(panel: Panel) -> float:
    """Return the size of f from which on a region has its full colour."""
    if panel.has_slack or panel.row_scores is None:
        return FARTHEST
    return float(np.quantile(np.abs(panel.row_scores), 0.9)) or 1.0


def edges(scene: Scene, panel: Panel) -> list[Any]:
    """Return the lines between regions of which only the class is known."""
    found: list[Any] = []
    for code in np.unique(panel.codes)[:-1]:  # between the last one and the others there are lines then
        is_here = gaussian_filter((panel.codes == code).astype(np.float32), BLUR, mode="nearest")
        found += level_lines(scene, is_here, (0.5, 0.5), None, {"color": INK, "width": 1.5})
    return found


def level_lines(
    scene: Scene, scores: np.ndarray, levels: tuple[float, float], name: str | None, look: dict
) -> list[Any]:
    """Return the lines on which the scores have two levels, or one, and their place in the legend."""
    first, last = levels
    contours = {"start": first, "end": last, "size": last - first or 1.0, "coloring": "none"}
    lines = go.Contour(
        x=scene.across,
        y=scene.up,
        z=scores.astype(np.float32),
        contours=contours,
        autocontour=False,
        line=look,
        hoverinfo="skip",
        showlegend=False,
        showscale=False,
        legendgroup=name,
    )
    if name is None:
        return [lines]
    return [lines, go.Scatter(x=[None], y=[None], mode="lines", line=look, name=name, legendgroup=name)]


# --- rows -----------------------------------------------------------------------------------------


def row_traces(scene: Scene, panel: Panel, slack: np.ndarray) -> list[Any]:
    """Return the rows, a trace for each class."""
    n_rows = scene.codes.size
    draw = go.Scattergl if n_rows >= FAST else go.Scatter
    size, sizes = dot_size(n_rows), dot_sizes(n_rows, panel.row_weights)
    scores = np.full(n_rows, np.nan) if panel.row_scores is None else panel.row_scores
    told = "" if panel.row_scores is None else "<br>f %{customdata[1]:.4~g}"
    told += "<br>slack %{customdata[2]:.4~g}" if panel.has_slack else ""
    traces = []
    for code, label in enumerate(scene.labels):
        rows = np.flatnonzero(scene.codes == code)
        place = code % len(COLOURS)
        traces.append(
            draw(
                x=scene.points[rows, 0],
                y=scene.points[rows, 1],
                mode="markers",
                marker={
                    "color": COLOURS[place],
                    "symbol": SYMBOLS[place // PER_SYMBOL],
                    "size": size if sizes is None else sizes[rows],
                    "line": {"width": 1 if size > 6 else 0.5, "color": "white"},
                },
                name=plain(shortened(label, LONGEST_LABEL)),
                legendgroup=f"class {code}",
                customdata=np.column_stack([rows, scores[rows], slack[rows]]),
                hovertemplate=f"row %{{customdata[0]}}<br>%{{x:.4~g}}, %{{y:.4~g}}{told}<extra>{plain(label)}</extra>",
            )
        )
    return traces


def dot_size(n_rows: int) -> int:
    return 10 if n_rows < 300 else 7 if n_rows < FAST else 4


def dot_sizes(n_rows: int, weights: np.ndarray | None) -> np.ndarray | None:
    """Return the diameter of each dot, whose area is its weight, within what can be seen; None if all are alike."""
    if weights is None:
        return None
    return np.clip(dot_size(n_rows) * np.sqrt(weights), SMALLEST_DOT, LARGEST_DOT)


def rings(scene: Scene, panel: Panel, slack: np.ndarray) -> list[Any]:
    """Return the rings around support vectors, those on the margin apart from those with slack."""
    size = dot_size(scene.codes.size)
    support = panel.support
    if not panel.has_slack:
        return [ring(scene.points[support], SUPPORT, size + 6, 1.3, RING_GREY)] if support.size else []
    bound, free = support[slack[support] > NEARLY], support[slack[support] <= NEARLY]
    kinds = [ring(scene.points[bound], BOUND, size + 5, 1.2, RING_GREY)] if bound.size else []
    return [*kinds, ring(scene.points[free], FREE, size + 8, 2.4, INK)] if free.size else kinds


def ring(points: np.ndarray, name: str, size: int, width: float, colour: str) -> Any:
    draw = go.Scattergl if len(points) >= FAST else go.Scatter
    return draw(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={"symbol": "circle-open", "size": size, "color": colour, "line": {"width": width, "color": colour}},
        name=name,
        legendgroup=name,
        hoverinfo="skip",
    )


def slack_of(scene: Scene, panel: Panel) -> np.ndarray:
    """Return ξ of each row: how far it is from where it should be, in units of f; 0 where nobody knows."""
    if not panel.has_slack or panel.row_scores is None:
        return np.zeros(scene.codes.size)
    return np.maximum(0.0, 1.0 - np.where(scene.codes == 1, 1.0, -1.0) * panel.row_scores)


def slack_lines(scene: Scene, panel: Panel, slack: np.ndarray) -> list[go.Scatter]:
    """Return lines from rows with slack to the nearest place on the margin of their class."""
    if panel.scores is None:
        return []
    ends = []
    for code, sign in enumerate((-1.0, 1.0)):
        rows = np.flatnonzero((slack > NEARLY) & (scene.codes == code))
        margin = level_points(scene, sign * panel.scores - 1.0)
        if rows.size and len(margin):
            tree = KDTree(scene.frame.to_pixels(margin))
            nearest = tree.query(scene.frame.to_pixels(scene.points[rows]))[1]
            ends.append(np.stack([scene.points[rows], margin[nearest], np.full((rows.size, 2), np.nan)], axis=1))
    if not ends:
        return []
    x, y = np.concatenate(ends).reshape(-1, 2).T
    line = {"color": RING_GREY, "width": 1.2, "dash": "dot"}
    return [go.Scatter(x=x, y=y, mode="lines", line=line, name=SLACK, legendgroup=SLACK, hoverinfo="skip")]


def level_points(scene: Scene, values: np.ndarray) -> np.ndarray:
    """Return places between two neighbours of the grid at which the values are 0, (n, 2)."""
    found = []
    for axis, (first, second) in enumerate(((values[:, :-1], values[:, 1:]), (values[:-1], values[1:]))):
        up, across = np.nonzero((first > 0.0) != (second > 0.0))
        share = first[up, across] / (first[up, across] - second[up, across])
        places = np.column_stack([scene.across[across], scene.up[up]])
        places[:, axis] += share * (scene.across[1] - scene.across[0], scene.up[1] - scene.up[0])[axis]
        found.append(places)
    return np.concatenate(found)
