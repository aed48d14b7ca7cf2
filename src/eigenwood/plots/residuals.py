"""Residuals over predictions: where the model says too much, where too little, and how widely it errs."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, MUTED, styled

HEIGHT = 340


def residuals_figure(true: Sequence[float], predicted: Sequence[float]) -> go.Figure:
    """Return a figure of true less predicted amounts, over the predicted ones."""
    figure = go.Figure()
    figure.add_hline(y=0.0, line={"color": MUTED, "width": 1})
    figure.add_scatter(
        x=list(predicted),
        y=[t - p for t, p in zip(true, predicted, strict=True)],
        mode="markers",
        marker={"color": ACCENT, "size": 6, "opacity": 0.4},
        hovertemplate="predicted %{x:.4~g}, off by %{y:+.4~g}<extra></extra>",
    )
    figure.update_xaxes(title="predicted", zeroline=False)
    figure.update_yaxes(title="true less predicted", zeroline=False)
    return styled(figure, HEIGHT).update_layout(yaxis_gridcolor=GRID)
