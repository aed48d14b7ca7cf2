"""One look for all figures: plain paper, one colour that speaks."""

from __future__ import annotations

import plotly.graph_objects as go

ACCENT, MUTED, INK, GRID = "#1f6f54", "#8a939b", "#1d2327", "#e3e7e5"
SOFT = "#586369"  # words that are less important
# told apart also by people who see few colours, on light paper and on dark
PALETTE = (ACCENT, "#c9772b", "#3b6fb6", "#a8456b", "#8a7a1f", "#6b57b0", "#2f8f9d", "#b0503c", "#5c7d2e", "#7a6a5a")
APART = {
    "ticks": "outside",
    "ticklen": 6,
    "tickcolor": "rgba(0,0,0,0)",
}  # of an axis: names do not touch what they name
SCALE = [[0.0, "#f4f7f5"], [1.0, ACCENT]]


def styled(figure: go.Figure, height: int) -> go.Figure:
    """Return the figure with Eigenwood's fonts, margins and colours."""
    return figure.update_layout(
        height=height,
        showlegend=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 14, "color": INK},
        modebar={"bgcolor": "rgba(0,0,0,0)"},
        margin={"l": 10, "r": 20, "t": 10, "b": 10},
        xaxis={"automargin": True, "gridcolor": GRID},
        yaxis={"automargin": True, "gridcolor": "rgba(0,0,0,0)"},
    )
