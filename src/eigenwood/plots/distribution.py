"""How a target is distributed: a bar for each class, or a histogram of amounts."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, APART, GRID, SOFT, styled
from eigenwood.plots.tree import plain, shortened

LONGEST_LABEL = 24
BAR, FRAME, HISTOGRAM = 44, 30, 240  # pixels


def classes_figure(labels: Sequence[str], counts: Sequence[int]) -> go.Figure:
    """Return a figure with a bar for each class, as long as it is frequent."""
    total = max(sum(counts), 1)
    figure = go.Figure(
        go.Bar(
            x=list(counts),
            y=list(range(len(labels))),
            orientation="h",
            marker={"color": ACCENT, "opacity": 0.8},
            hoverinfo="skip",
        )
    )
    texts = [label_text(label, count, count / total) for label, count in zip(labels, counts, strict=True)]
    figure.update_xaxes(visible=False, rangemode="tozero")
    figure.update_yaxes(tickvals=list(range(len(labels))), ticktext=texts, autorange="reversed", **APART)
    return styled(figure, height=FRAME + BAR * len(labels)).update_layout(bargap=0.35)


def label_text(label: str, count: int, share: float) -> str:
    """Return a class with how frequent it is."""
    words = f"{count:,} · {100 * share:.3g} %"
    return f"{plain(shortened(label, LONGEST_LABEL))}<br><span style='font-size:11px;color:{SOFT}'>{words}</span>"


def amounts_figure(edges: Sequence[float], counts: Sequence[int], name: str) -> go.Figure:
    """Return a histogram of amounts; the outer bins count what is beyond them, too."""
    middles = [(low + high) / 2 for low, high in zip(edges[:-1], edges[1:], strict=True)]
    figure = go.Figure(
        go.Bar(
            x=middles,
            y=list(counts),
            width=[high - low for low, high in zip(edges[:-1], edges[1:], strict=True)],
            marker={"color": ACCENT, "opacity": 0.8, "line": {"width": 0}},
            customdata=list(zip(edges[:-1], edges[1:], strict=True)),
            hovertemplate="%{customdata[0]:.4~g} to %{customdata[1]:.4~g}: %{y:,} rows<extra></extra>",
        )
    )
    figure.update_xaxes(title=plain(name), zeroline=False)
    figure.update_yaxes(title="rows", zeroline=False)
    return styled(figure, HISTOGRAM).update_layout(yaxis_gridcolor=GRID, bargap=0.02)
