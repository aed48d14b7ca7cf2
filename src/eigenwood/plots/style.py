"""One look for all figures: plain paper, one colour that speaks."""

from __future__ import annotations

import plotly.graph_objects as go

ACCENT, MUTED, INK, GRID = "#1f6f54", "#8a939b", "#1d2327", "#e3e7e5"
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
