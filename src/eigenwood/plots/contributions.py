"""Contributions of features to predictions: bars for one row, and for many rows a swarm of dots for each feature.

one row      lstat = 4.98   ████████ +3.1        how far each feature moves the prediction, the farthest first,
             rm = 6.6          ██    -0.8        from the base value to what is said

many rows    lstat     ∴∵∴∵∴|∴∵ ∴ ∵ ∴            a dot for each row; dark where the feature is large; features in
             rm            ∵|∴∵∴∵  ∴ ∵           the order of their mean size of contribution
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, INK, MUTED, styled
from eigenwood.plots.tree import plain

MOST_FEATURES, MOST_ROWS = 15, 1000  # that are drawn; of more rows, this many, evenly taken
DOWN = "#c2571a"
ROW_HEIGHT, FRAME = 34, 110  # pixels of a feature, and of what is around them
BAR_ROWS = 4  # as many features as a colour bar is high at least
N_BINS, SPREAD = 60, 0.38  # places along the axis at which dots are stacked, and how high a full stack is
SMALL_TO_LARGE = [[0.0, "#e8b48f"], [0.5, "#b9c4be"], [1.0, ACCENT]]
SCALED = {"colorscale": SMALL_TO_LARGE, "cmin": 0.0, "cmax": 1.0}
UNKNOWN = "#c9cfd2"  # of a value that has no size


def row_figure(
    values: np.ndarray, base: float, names: Sequence[str], given: Sequence[str], what: str = "prediction"
) -> go.Figure:
    """Return a figure of the contributions to one prediction; ``given`` are the row's values in words."""
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:MOST_FEATURES], order[MOST_FEATURES:]
    labels = [plain(f"{names[j]} = {given[j]}") for j in shown]
    amounts = list(values[shown])
    if rest.size:
        labels.append(f"{rest.size:,} other feature{'s' if rest.size > 1 else ''}")
        amounts.append(float(values[rest].sum()))
    figure = go.Figure(
        go.Bar(
            x=amounts,
            y=labels,
            orientation="h",
            marker={"color": [ACCENT if amount >= 0 else DOWN for amount in amounts]},
            text=[f"{amount:+.3g}" for amount in amounts],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.4~g}<extra></extra>",
        )
    )
    total = base + float(values.sum())
    styled(figure, height=FRAME + ROW_HEIGHT * len(labels)).update_layout(
        title={"text": f"<b>{plain(what)} {total:.4g}</b> = base {base:.4g} {total - base:+.4g}", "font": {"size": 14}},
        margin={"t": 50, "r": 60},
    )
    low, high = min(0.0, *amounts), max(0.0, *amounts)
    room = 0.12 * ((high - low) or 1.0)
    figure.update_xaxes(
        title="contribution", range=[low - room, high + room], zeroline=True, zerolinecolor=INK, zerolinewidth=1
    )
    return figure.update_yaxes(autorange="reversed", ticksuffix="  ")


def summary_figure(values: np.ndarray, X: np.ndarray, names: Sequence[str], what: str = "prediction") -> go.Figure:
    """Return a figure of the contributions to many predictions; the numbers in X colour the dots, NaN does not."""
    rows = np.unique(np.linspace(0, len(values) - 1, MOST_ROWS).round().astype(int)) if len(values) > MOST_ROWS else ...
    sizes = np.abs(values).mean(axis=0)
    shown = np.argsort(-sizes, kind="stable")[:MOST_FEATURES]
    figure = go.Figure()
    for place, j in enumerate(shown):
        own, numbers = values[rows, j], X[rows, j]
        heights, known = place + stacked(own, values[:, shown]), np.isfinite(numbers)
        for part, look in ((known, SCALED | {"color": ranks_of(numbers[known])}), (~known, {"color": UNKNOWN})):
            figure.add_scatter(
                x=own[part],
                y=heights[part],
                customdata=[f" = {number:.4g}" if math.isfinite(number) else "" for number in numbers[part]],
                mode="markers",
                marker={"size": 5, "opacity": 0.8, **look},
                hovertemplate=f"{plain(names[j])}%{{customdata}}: %{{x:+.4~g}}<extra></extra>",
                visible=bool(part.any()),
            )
    styled(figure, height=FRAME + ROW_HEIGHT * max(len(shown), BAR_ROWS)).update_layout(
        margin={"t": 50, "r": 90}, title={"text": hidden_note(values.shape[1], len(shown)), "font": {"size": 13}}
    )
    figure.add_scatter(  # the colour bar, for all features
        x=[None], y=[None], mode="markers",
        marker={**SCALED, "color": [0.0], "showscale": True,
                "colorbar": {"title": {"text": "value", "side": "top"}, "tickvals": [0.0, 1.0], "thickness": 10,
                             "ticktext": ["small", "large"], "len": 0.7}},
    )  # fmt: skip
    labels = [f"{plain(names[j])}<br><span style='font-size:11px;color:{MUTED}'>±{sizes[j]:.3g}</span>" for j in shown]
    figure.update_xaxes(title=f"contribution to the {plain(what)}", zeroline=True, zerolinecolor=INK, zerolinewidth=1)
    return figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=labels,
        range=[len(shown) - 0.4, -0.6],
        gridcolor=GRID,
        ticksuffix="  ",
    )


def hidden_note(n_features: int, n_shown: int) -> str:
    """Return what is not shown."""
    note = "± is the mean size of a contribution"
    return note if n_features == n_shown else f"{note}; {n_features - n_shown:,} features with less are not shown"


def stacked(own: np.ndarray, everything: np.ndarray) -> np.ndarray:
    """Return how far from its line each dot is drawn, so that those with about the same value stand side by side."""
    low, high = float(everything.min()), float(everything.max())
    bins = ((own - low) / ((high - low) or 1.0) * (N_BINS - 1)).astype(int)
    counts = np.bincount(bins, minlength=N_BINS)
    order = np.argsort(bins, kind="stable")
    number = np.empty(own.size, dtype=int)
    number[order] = np.arange(own.size) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(number % 2, 1.0, -1.0) * ((number + 1) // 2)
    return SPREAD * side / max(counts.max() / 2.0, 8.0)


def ranks_of(numbers: np.ndarray) -> np.ndarray:
    """Return the rank of each number among the distinct ones, from 0 to 1."""
    distinct, ranks = np.unique(numbers, return_inverse=True)
    return ranks / max(distinct.size - 1, 1)
