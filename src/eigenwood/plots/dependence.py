"""Partial dependence: how the mean prediction follows one column while all others stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, PALETTE, styled
from eigenwood.plots.tree import plain, shortened

HEIGHT = 250
LONGEST_VALUE = 18


def dependence_figure(
    kind: str, values: Sequence, lines: Mapping[str, Sequence[float]], title: str, form: str, span: tuple[float, float]
) -> go.Figure:
    """Return a figure of the response to the values of a column: a line or dots for each name in ``lines``.

    All figures of one model share the ``span`` of the response, so that strong columns look strong.
    """
    figure = go.Figure()
    is_ordered = kind in ("number", "date")
    x = [day(value) for value in values] if kind == "date" else [text_of(value, kind) for value in values]
    for place, (name, response) in enumerate(lines.items()):
        colour = ACCENT if len(lines) == 1 else PALETTE[place % len(PALETTE)]
        figure.add_scatter(
            x=x,
            y=list(response),
            mode="lines+markers" if is_ordered else "markers",
            line={"color": colour, "width": 2},
            marker={"size": 5 if is_ordered else 10, "color": colour},
            name=plain(shortened(name, LONGEST_VALUE)),
            hovertemplate=f"%{{x}}: %{{y:{form}}}<extra>{plain(name)}</extra>",
        )
    low, high = span
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    figure.update_xaxes(type=None if is_ordered else "category", zeroline=False, nticks=6 if is_ordered else None)
    figure.update_yaxes(title=title, tickformat=form, range=[low - room, high + room], zeroline=False)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left", "font": {"size": 12}}
    return styled(figure, HEIGHT).update_layout(showlegend=len(lines) > 1, legend=legend, yaxis_gridcolor=GRID)


def text_of(value: object, kind: str) -> object:
    """Return a value as it stands on the axis."""
    if kind == "number":
        return value
    return plain(shortened("missing" if value is None else str(value), LONGEST_VALUE))


def day(value: float) -> str:
    """Return days since 1970 as a date.

    >>> day(0.5), day(19723)
    ('1970-01-01T12:00:00', '2024-01-01T00:00:00')
    """
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=value)).strftime("%Y-%m-%dT%H:%M:%S")
