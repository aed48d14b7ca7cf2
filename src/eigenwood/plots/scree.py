"""How much of the variance each component holds, and how much the first of them hold together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from eigenwood.estimators.rules import percent
from eigenwood.plots.style import ACCENT, GRID, MUTED, styled
from eigenwood.plots.tree import blended

MANY = 40  # components from here on: two panels, the lower one in powers of ten, and no dots
SMALLEST = 1e-6  # of the largest share: the lower panel ends there
CHOSEN, FURTHER = blended(ACCENT, 0.6), blended(MUTED, 0.6)
HEIGHT, HEIGHT_OF_MANY, TOP = 440, 620, 34  # pixels; above, room for Plotly's buttons


def scree_figure(
    variances: Sequence[float] | np.ndarray, total: float, chosen: int, wanted_share: float | None = None
) -> go.Figure:
    """Return a figure of the shares of ``total``, one by one as bars and added up as a line.

    The first ``chosen`` components are coloured; a thin line is drawn at ``wanted_share``.
    """
    shares = np.asarray(variances, dtype=np.float64) / (total or 1.0)
    sums = np.minimum(np.cumsum(shares), 1.0)
    numbers, is_many = np.arange(1, shares.size + 1), shares.size >= MANY
    bar_colours = [CHOSEN if i <= chosen else FURTHER for i in numbers]
    figure = go.Figure()
    figure.add_bar(
        x=numbers,
        y=shares,
        yaxis="y2" if is_many else "y",
        marker={"color": bar_colours, "line": {"color": bar_colours, "width": 0.7}},  # no gaps where bars are thin
        hovertemplate="PC%{x}: %{y:.3%}<extra></extra>",
    )
    figure.add_scatter(
        x=numbers,
        y=sums,
        mode="lines" if is_many else "lines+markers",
        line={"color": MUTED, "width": 1.5},
        marker={"color": MUTED, "size": 6},
        hovertemplate="the first %{x:,}: %{y:.2%}<extra></extra>",
    )
    figure.add_scatter(
        x=[chosen],
        y=[sums[chosen - 1]],
        mode="markers",
        marker={"color": ACCENT, "size": 13},
        cliponaxis=False,
        hoverinfo="skip",
    )
    figure.add_annotation(chosen_note(chosen, shares.size, float(sums[chosen - 1]), wanted_share))
    if wanted_share is not None:
        figure.add_hline(y=wanted_share, line={"color": ACCENT, "width": 1, "dash": "dot"}, layer="below")
    styled(figure, height=HEIGHT_OF_MANY if is_many else HEIGHT)
    figure.update_layout(bargap=0 if is_many else 0.25, margin_t=TOP)
    figure.update_xaxes(title="component", range=[0.4, shares.size + 0.6], zeroline=False, showgrid=False)
    figure.update_yaxes(title="share of the variance", tickformat=".0%", range=[0, 1.12], dtick=0.2, gridcolor=GRID)
    figure.update_yaxes(zeroline=False)
    if shares.size <= 20:
        figure.update_xaxes(dtick=1)
    return with_lower_panel(figure, shares) if is_many else figure


def chosen_note(chosen: int, n_components: int, share: float, wanted_share: float | None) -> dict:
    """Return the words at the chosen component: above the line where they end there, below it where they begin."""
    share = round(share, 12)  # all is all, whatever rounding says
    words = f"1 component holds {percent(share)}" if chosen == 1 else f"{chosen:,} components hold {percent(share)}"
    wish = "" if wanted_share is None else f" ({percent(wanted_share)} wanted)"
    is_left = chosen < n_components / 2
    return {
        "x": chosen,
        "y": share,
        "text": f"<b>{words}</b>{wish}",
        "font": {"color": ACCENT},
        "showarrow": False,
        "xanchor": "left" if is_left else "right",
        "yanchor": "top" if is_left else "bottom",
        "xshift": 10 if is_left else 6,
        "yshift": -4 if is_left else 8,
    }


def with_lower_panel(figure: go.Figure, shares: np.ndarray) -> go.Figure:
    """Return the figure with its bars in a panel of their own, in powers of ten."""
    top = float(shares.max()) or 1.0
    seen = shares[shares > SMALLEST * top]
    low = float(seen.min()) if seen.size else 0.1 * top
    return figure.update_layout(
        yaxis={"domain": [0.44, 1.0], "title": "first components together"},
        xaxis_anchor="y2",
        yaxis2={
            "domain": [0.0, 0.38],
            "type": "log",
            "range": [np.log10(low) - 0.2, np.log10(top) + 0.2],
            "title": "each by itself",
            "tickformat": "~%",
            "dtick": 1,
            "gridcolor": GRID,
            "automargin": True,
        },
    )
