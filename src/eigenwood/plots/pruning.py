"""Pruning: the error of every tree on the way from the whole one to a single leaf; the chosen one is coloured."""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, MUTED, styled

WIDE = 50  # so many times more leaves at one end than at the other: the axis counts in powers of ten


def pruning_figure(
    alphas: list[float], n_leaves: list[int], errors: list[float], chosen: int, title: str, form: str
) -> go.Figure:
    """Return a figure of the errors over the leaves; ``title`` and ``form`` are the error's name and Plotly format."""
    figure = go.Figure()
    figure.add_scatter(
        x=n_leaves,
        y=errors,
        customdata=alphas,
        mode="lines+markers",
        line={"color": MUTED, "width": 1.5},
        marker={"color": MUTED, "size": 6},
        hovertemplate=f"%{{x:,}} leaves: %{{y:{form}}}<br>alpha %{{customdata:.4~g}}<extra></extra>",
    )
    figure.add_scatter(
        x=[n_leaves[chosen]],
        y=[errors[chosen]],
        mode="markers+text",
        marker={"color": ACCENT, "size": 13},
        text=f"<b>{n_leaves[chosen]:,} {'leaf' if n_leaves[chosen] == 1 else 'leaves'}</b>",
        textposition="bottom center",
        textfont_color=ACCENT,
        cliponaxis=False,
        hoverinfo="skip",
    )
    is_wide = max(n_leaves) > WIDE * min(n_leaves)
    span = (max(errors) - min(errors)) or 1.0
    figure.update_xaxes(title="leaves", **({"type": "log", "dtick": "D2"} if is_wide else {}))
    figure.update_yaxes(title=title, tickformat=form, range=[min(errors) - 0.14 * span, max(errors) + 0.06 * span])
    return styled(figure, height=420).update_layout(yaxis_gridcolor=GRID, margin_t=30)
