"""What was taken for what: true labels down, predicted labels across."""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import APART, SCALE, styled
from eigenwood.plots.tree import plain, shortened

LONGEST_LABEL = 18
MOST_WRITTEN = 10  # classes, up to which there is room for counts


def confusion_figure(labels: list[str], counts: list[list[int]]) -> go.Figure:
    """Return a figure of the confusion matrix, coloured by the share of each true label."""
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    names = [plain(shortened(label, LONGEST_LABEL)) for label in labels]
    places = list(range(len(labels)))
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=places,
            y=places,
            customdata=[[[plain(true), plain(predicted)] for predicted in labels] for true in labels],
            text=[[f"{count:,}" for count in row] for row in counts],
            texttemplate="%{text}" if len(labels) <= MOST_WRITTEN else "",
            colorscale=SCALE,
            zmin=0,
            zmax=1,
            showscale=False,
            hovertemplate="true %{customdata[0]}, predicted %{customdata[1]}: %{text} (%{z:.1%})<extra></extra>",
        )
    )
    ticks = {"tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False, **APART}
    figure.update_xaxes(title="predicted", **ticks)
    figure.update_yaxes(title="true", autorange="reversed", **ticks)
    return styled(figure, height=min(760, 220 + 40 * len(labels)))
