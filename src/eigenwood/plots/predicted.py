"""Predicted against true: a dot for each row, and the line on which the two are equal."""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, MUTED, styled


def predicted_figure(true: list[float], predicted: list[float]) -> go.Figure:
    """Return a figure of the rows: the true amount across, the predicted amount up."""
    low, high = min(*true, *predicted), max(*true, *predicted)
    ends = [low - 0.05 * (high - low), high + 0.05 * (high - low)]
    figure = go.Figure()
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"color": MUTED, "width": 1}, hoverinfo="skip")
    figure.add_scatter(
        x=true,
        y=predicted,
        mode="markers",
        marker={"color": ACCENT, "size": 6, "opacity": 0.35},
        hovertemplate="true %{x:.4~g}, predicted %{y:.4~g}<extra></extra>",
    )
    figure.update_xaxes(title="true", range=ends, zeroline=False)
    figure.update_yaxes(title="predicted", range=ends, zeroline=False)
    return styled(figure, height=380).update_layout(yaxis_gridcolor=GRID)
