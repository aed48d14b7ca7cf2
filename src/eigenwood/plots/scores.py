"""Score plots: a point for each row where two components put it, coloured by what is known of the row.

Categories have a colour each, told apart also by people who do not see red or green, or not blue; from the fourteenth
on the points are diamonds. Amounts have a scale. Few points carry their names, many show them on hover.

What the biplot shares with it stands here too: the frame in data and pixels, the points, and free places for labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from eigenwood.data.tables import MAX_INTEGER_CLASSES, MIN_ROWS_PER_CLASS
from eigenwood.estimators.rules import percent
from eigenwood.plots.style import ACCENT, GRID, INK, styled
from eigenwood.plots.tree import ANSWER_LETTER, length, plain, shortened

COLOURS = (
    *(ACCENT, "#c9772b", "#3b6fb6", "#780069", "#4bd287", "#d2c34b", "#a5003c", "#9696ff", "#4b3c00"),
    *("#f0a5ff", "#4b3ca5", "#a56996", "#87875a", "#69a5c3", "#965a2d", "#d28796", "#87d269", "#87a55a"),
    *("#3c4b2d", "#692d4b", "#ff78d2", "#694b96", "#b43c78", "#785a00", "#a569d2", "#e14b78"),
)
SYMBOLS = ("circle", "diamond")
PER_SYMBOL = len(COLOURS) // len(SYMBOLS)
GREY = "#b9c0c5"
AMOUNTS = "Viridis"
FAST = 3000  # points from here on are drawn by the graphics card
MOST_NAMED = 40  # points that carry their names
LONGEST_LABEL = 22  # letters
PLANE, LEGEND_WIDTH = (665, 560), 150  # pixels
MARGIN = {"l": 75, "r": 20, "t": 34, "b": 60}  # above, room for Plotly's buttons
PADDING = 34  # pixels between the outermost point and the frame
LABEL_HEIGHT, DOT = 17, 6  # pixels; half of a dot and what is free around it
TURNS = np.deg2rad([0, 30, -30, 60, -60, 90, -90, 135, -135, 180])  # where a label may stand, best first
DISTANCES = (5, 14, 24)  # pixels from its point

Axis = int | str  # the place of a principal component, or the name of another score


class Frame(NamedTuple):
    """The part of the plane that is shown, and its size in pixels."""

    low: np.ndarray  # (2,)
    high: np.ndarray  # (2,)
    pixels: np.ndarray  # (2,)

    def to_pixels(self, points: np.ndarray) -> np.ndarray:
        return (points - self.low) / (self.high - self.low) * self.pixels

    def to_data(self, places: np.ndarray) -> np.ndarray:
        return self.low + places / self.pixels * (self.high - self.low)


def scores_figure(
    points: np.ndarray,
    shares: Sequence[float] | None,
    axes: tuple[Axis, Axis] = (0, 1),
    colours: Any = None,
    names: Sequence[str] | None = None,
    colour_name: str = "",
    equal_aspect: bool = True,
) -> go.Figure:
    """Return a figure of the points (n, 2); ``shares`` of the variance are those of the two components ``axes``.

    Scores that are no principal components have no shares, and axes with names. ``colours`` has a category or an amount
    for each point, and ``colour_name`` says what it is. With ``equal_aspect`` distances on the paper are distances
    between rows.
    """
    figure = go.Figure(point_traces(points, axes, colours, names, colour_name))
    frame = frame_of(points, equal_aspect)
    if names is not None and len(points) <= MOST_NAMED:
        figure.layout.annotations = name_notes(frame, points, names, [])
    figure = framed(figure, frame, shares, axes, colour_name)
    return figure.update_yaxes(scaleanchor="x") if equal_aspect else figure


def framed(
    figure: go.Figure,
    frame: Frame,
    shares: Sequence[float] | None,
    axes: tuple[Axis, Axis],
    colour_name: str,
    top: int = MARGIN["t"],
) -> go.Figure:
    """Return the figure of two components with its axes, beside it a legend if it has one, above it some pixels."""
    has_legend = any(trace.showlegend or trace.marker.showscale for trace in figure.data)
    titles = [axis_name(axis) for axis in axes]
    if shares is not None:
        titles = [f"{name} ({percent(share)})" for name, share in zip(titles, shares, strict=True)]
    right = MARGIN["r"] + (LEGEND_WIDTH if has_legend else 0)
    styled(figure, height=top + PLANE[1] + MARGIN["b"]).update_layout(
        width=MARGIN["l"] + PLANE[0] + right,
        margin={**MARGIN, "r": right, "t": top},
        showlegend=any(trace.showlegend for trace in figure.data),
        legend={"title": {"text": plain(colour_name)}, "itemsizing": "constant", "font": {"size": 12}},
    )
    line = {"gridcolor": GRID, "zerolinecolor": GRID, "zerolinewidth": 2, "automargin": False}
    figure.update_xaxes(title=titles[0], range=[frame.low[0], frame.high[0]], **line)
    return figure.update_yaxes(title=titles[1], range=[frame.low[1], frame.high[1]], **line)


def axis_name(axis: Axis) -> str:
    return plain(axis) if isinstance(axis, str) else f"PC{axis + 1}"


def frame_of(points: np.ndarray, equal_aspect: bool, plane: tuple[int, int] = PLANE) -> Frame:
    """Return a frame that holds the points with some room around them; ``plane`` is its size in pixels."""
    pixels = np.array(plane, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    per_pixel = (high - low) / (pixels - 2 * PADDING)
    if equal_aspect:
        per_pixel = np.full(2, per_pixel.max())
    per_pixel = np.where(per_pixel > 0.0, per_pixel, 1.0 / pixels)
    middle, half = 0.5 * (low + high), 0.5 * per_pixel * pixels
    return Frame(middle - half, middle + half, pixels)


# --- points ---------------------------------------------------------------------------------------


def point_traces(
    points: np.ndarray, axes: tuple[Axis, Axis], colours: Any, names: Sequence[str] | None, colour_name: str
) -> list[Any]:
    """Return the points as traces: one, or one for each category."""
    rows = np.arange(len(points))
    if colours is None:
        return [point_trace(points, axes, rows, names, {"color": ACCENT})]
    values = np.asarray(colours)
    if is_amount(values):
        return amount_traces(points, axes, values.astype(np.float64), names, colour_name)
    traces = []
    for group, members in groups_of(values):
        trace = point_trace(points, axes, members, names, group.marker())
        traces.append(trace.update(name=plain(shortened(group.name, LONGEST_LABEL)), showlegend=True))
        trace.legendrank = group.rank
        trace.hovertemplate = trace.hovertemplate.replace("<extra></extra>", f"<extra>{plain(group.name)}</extra>")
    return traces


def amount_traces(
    points: np.ndarray, axes: tuple[Axis, Axis], amounts: np.ndarray, names: Sequence[str] | None, colour_name: str
) -> list[Any]:
    """Return the points coloured by a scale, and those without an amount in grey beneath them."""
    is_known = np.isfinite(amounts)
    marker = {
        "color": amounts[is_known],
        "colorscale": AMOUNTS,
        "showscale": True,
        "colorbar": {"title": {"text": plain(colour_name)}, "thickness": 14, "outlinewidth": 0},
    }
    known = point_trace(points, axes, np.flatnonzero(is_known), names, marker)
    known.hovertemplate = known.hovertemplate.replace(
        "<extra></extra>", f"<br>{plain(colour_name) or 'colour'} %{{marker.color:.4~g}}<extra></extra>"
    )
    if is_known.all():
        return [known]
    return [point_trace(points, axes, np.flatnonzero(~is_known), names, {"color": GREY}), known]


def point_trace(
    points: np.ndarray, axes: tuple[Axis, Axis], rows: np.ndarray, names: Sequence[str] | None, marker: dict
) -> Any:
    """Return one trace of the points in some rows."""
    size, opacity = (9, 0.9) if len(points) < 300 else (6, 0.7) if len(points) < FAST else (4, 0.6)
    draw = go.Scattergl if len(points) >= FAST else go.Scatter
    who = "row %{customdata}" if names is None else "<b>%{customdata}</b>"
    across, up = map(axis_name, axes)
    return draw(
        x=points[rows, 0],
        y=points[rows, 1],
        mode="markers",
        marker={"size": size, "opacity": opacity, "line": {"width": 0}, **marker},
        customdata=rows if names is None else [plain(str(names[row])) for row in rows],
        hovertemplate=f"{who}<br>{across} %{{x:.4~g}}<br>{up} %{{y:.4~g}}<extra></extra>",
        showlegend=False,
    )


# --- categories -----------------------------------------------------------------------------------


class Group(NamedTuple):
    """A category, or all those that have no colour of their own."""

    name: str
    place: int  # among the coloured ones; -1 for the others
    rank: int  # in the legend

    def marker(self) -> dict:
        """Return its colour and symbol."""
        if self.place < 0:
            return {"color": GREY, "symbol": "circle"}
        return {"color": COLOURS[self.place], "symbol": SYMBOLS[self.place // PER_SYMBOL]}


def is_amount(values: np.ndarray) -> bool:
    """Return whether values are amounts; few integers that repeat are categories, as they are in a table."""
    if values.dtype.kind in "iu":
        n_distinct = np.unique(values).size
        return n_distinct > MAX_INTEGER_CLASSES or values.size < MIN_ROWS_PER_CLASS * n_distinct
    return values.dtype.kind == "f"


def groups_of(values: np.ndarray) -> list[tuple[Group, np.ndarray]]:
    """Return the categories with their rows; the smallest of very many are one group, which is drawn first."""
    labels, codes = np.unique(values if values.dtype.kind in "iu" else texts_of(values), return_inverse=True)
    by_size = np.argsort(-np.bincount(codes), kind="stable")
    kept, others = np.sort(by_size[: len(COLOURS)]), by_size[len(COLOURS) :]
    groups = [(Group(str(labels[k]), i, i), np.flatnonzero(codes == k)) for i, k in enumerate(kept)]
    if others.size == 0:
        return groups
    rest = Group(f"other ({others.size:,})", -1, len(kept))
    return [(rest, np.flatnonzero(np.isin(codes, others))), *groups]


def texts_of(values: np.ndarray) -> np.ndarray:
    """Return values as texts; one that is not there is "missing"."""
    is_missing = [value is None or (isinstance(value, float) and value != value) for value in values.tolist()]
    return np.where(is_missing, "missing", values.astype(str))


# --- labels ---------------------------------------------------------------------------------------


def name_notes(frame: Frame, points: np.ndarray, names: Sequence[str], taken: list, lines: Sequence = ()) -> list[dict]:
    """Return the names of points, as many as have room; to ``taken``, boxes in pixels, the new ones are added."""
    dots = frame.to_pixels(points)
    taken += [(*(dot - DOT), *(dot + DOT)) for dot in dots]
    texts = [shortened(str(name), LONGEST_LABEL) for name in names]
    places = free_places(frame, dots, np.tile([0.0, 1.0], (len(points), 1)), texts, taken, lines)
    return label_notes(frame, places, texts, weight="bold")


def label_notes(frame: Frame, places: list, texts: Sequence[str], weight: str = "normal") -> list[dict]:
    """Return the labels that have a place."""
    return [
        {
            "x": float(x),
            "y": float(y),
            "text": plain(text),
            "font": {"size": 12, "color": INK, "weight": weight},
            "bgcolor": "rgba(255,255,255,0.6)",
            "borderpad": 0,
            "showarrow": False,
        }
        for place, text in zip(places, texts, strict=True)
        if place is not None
        for x, y in [frame.to_data(place)]
    ]


def free_places(
    frame: Frame,
    tips: np.ndarray,
    directions: np.ndarray,
    texts: Sequence[str],
    taken: list,
    lines: Sequence = (),
) -> list[np.ndarray | None]:
    """Return the middle of each label in pixels, None where there is no room; the first labels choose first.

    A label stands in its one of the ``directions`` (n, 2) from its tip, or turned from it; on no box of ``taken``,
    and on none of ``lines`` where that can be avoided. Its own box is added to ``taken``.
    """
    places: list[np.ndarray | None] = []
    for tip, (across, up), text in zip(tips, directions, texts, strict=True):
        half = np.array([0.5 * ANSWER_LETTER * length(text), 0.5 * LABEL_HEIGHT])
        angle = np.arctan2(up, across)
        tries = [
            tip + (half + distance) * np.array([np.cos(angle + turn), np.sin(angle + turn)])
            for distance in DISTANCES
            for turn in TURNS
        ]
        free = [one for one in tries if is_free(frame, one - half, one + half, taken)]
        clear = (one for one in free if is_free(frame, one - half, one + half, lines))
        place = next(clear, free[0] if free else None)
        if place is not None:
            taken.append((*(place - half), *(place + half)))
        places.append(place)
    return places


def is_free(frame: Frame, low: np.ndarray, high: np.ndarray, taken: Sequence) -> bool:
    """Return whether a box in pixels is inside the frame and on no other."""
    if (low < 0).any() or (high > frame.pixels).any():
        return False
    boxes = np.reshape(taken, (-1, 4))
    return not ((boxes[:, :2] < high).all(axis=1) & (boxes[:, 2:] > low).all(axis=1)).any()
