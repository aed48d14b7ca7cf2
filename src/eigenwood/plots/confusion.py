"""What was taken for what: true labels down, predicted labels across."""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import SCALE, styled


def confusion_figure(labels: list[str], counts: list[list[int]]) -> go.Figure:
    """Return a figure of the confusion matrix, coloured by the share of each true label."""
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=labels,
            y=labels,
            text=counts,
            texttemplate="%{text}" if len(labels) <= 20 else "",
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            showscale=False,
            hovertemplate="true %{y}, predicted %{x}: %{text} (%{z:.1%})<extra></extra>",
        )
    )
    figure.update_xaxes(title="predicted", type="category")
    figure.update_yaxes(title="true", type="category", autorange="reversed")
    size = min(760, 220 + 50 * len(labels))
    return styled(figure, height=size).update_layout(width=size + 60)
