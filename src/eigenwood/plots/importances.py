"""What the model looks at: a bar for each column, and a line from end to end of its interval."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, APART, GRID, INK, MUTED, styled
from eigenwood.plots.tree import plain, shortened

LONGEST_NAME = 26
BAR, FRAME = 28, 70  # pixels of a column, and of what is around them


def importances_figure(
    names: Sequence[str], means: Sequence[float], lows: Sequence[float], highs: Sequence[float], title: str, form: str
) -> go.Figure:
    """Return a figure of importances in the given order; those whose interval holds 0 are grey."""
    figure = go.Figure(
        go.Bar(
            x=list(means),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [ACCENT if low > 0.0 else MUTED for low in lows], "opacity": 0.8},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - mean for mean, high in zip(means, highs, strict=True)],
                "arrayminus": [mean - low for mean, low in zip(means, lows, strict=True)],
                "color": INK,
                "thickness": 1.2,
                "width": 3,
            },
            customdata=[[plain(name), low, high] for name, low, high in zip(names, lows, highs, strict=True)],
            hovertemplate=f"<b>%{{customdata[0]}}</b> %{{x:{form}}}"
            f" (%{{customdata[1]:{form}}} to %{{customdata[2]:{form}}})<extra></extra>",
        )
    )
    labels = [plain(shortened(name, LONGEST_NAME)) for name in names]
    figure.update_xaxes(title=title, tickformat=form, zeroline=True, zerolinecolor=MUTED, gridcolor=GRID)
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=labels, autorange="reversed", **APART)
    return styled(figure, height=FRAME + BAR * len(names)).update_layout(bargap=0.4)
