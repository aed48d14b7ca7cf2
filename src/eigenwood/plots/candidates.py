"""How the candidates did on the validation folds: one line each, a dot for every fold, a bar for the mean."""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, MUTED, styled


def candidates_figure(
    names: list[tuple[str, str]], fold_scores: list[list[float]], chosen: int, score: str, tickformat: str
) -> go.Figure:
    """Return a figure of the scores; ``names`` are method and parameters, and the chosen candidate is coloured.

    ``score`` is the name of the score, which is 1 at best; ``tickformat`` is Plotly's, for the axis.
    """
    figure = go.Figure()
    labels = [f"{method}<br><span style='font-size:11px'>{params}</span>" for method, params in names]
    for i, scores in enumerate(fold_scores):
        colour = ACCENT if i == chosen else MUTED
        mean = sum(scores) / len(scores)
        figure.add_bar(x=[mean], y=[labels[i]], orientation="h", marker_color=colour, opacity=0.35, hoverinfo="x")
        figure.add_scatter(
            x=scores, y=[labels[i]] * len(scores), mode="markers", marker={"color": colour, "size": 9}, hoverinfo="x"
        )
    lowest = min(0.0, *map(min, fold_scores))
    left = lowest - 0.03 * (1 - lowest) if lowest < 0 else 0.0  # room for the whole dot
    figure.update_xaxes(title=f"{score} on the validation folds", range=[left, 1], tickformat=tickformat)
    figure.update_yaxes(autorange="reversed")
    return styled(figure, height=110 + 52 * len(names))
