"""The answer at a glance: the score with its interval, and the score of guessing beside it.

guessing ○ · · · · · · · · · ├──●──┤ this model
         0.5                  0.87
"""

from __future__ import annotations

import plotly.graph_objects as go

from eigenwood.plots.style import ACCENT, GRID, INK, MUTED, SOFT, styled

HEIGHT, BESIDE = 140, 25  # pixels; of words from the line
ROOM = 0.06  # of the span, on both sides


def answer_figure(score: float, low: float, high: float, baseline: float, name: str, form: str) -> go.Figure:
    """Return a figure of a score between the ends of its interval, beside the baseline; ``form`` is Plotly's format."""
    figure = go.Figure()
    figure.add_scatter(
        x=[baseline, score],
        y=[0, 0],
        mode="lines",
        line={"color": MUTED, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[low, high], y=[0, 0], mode="lines", line={"color": ACCENT, "width": 10}, opacity=0.35, hoverinfo="skip"
    )
    marks = ((baseline, "guessing", MUTED, "circle-open", -BESIDE), (score, "this model", ACCENT, "circle", BESIDE))
    for x, words, colour, symbol, shift in marks:
        figure.add_scatter(
            x=[x],
            y=[0],
            mode="markers",
            marker={"color": colour, "size": 16, "symbol": symbol, "line": {"width": 2, "color": colour}},
            hovertemplate=f"{words}: %{{x:{form}}}<extra></extra>",
            cliponaxis=False,
        )
        look = {"size": 14, "color": INK if shift > 0 else SOFT}
        figure.add_annotation(
            x=x, y=0, text=f"<b>{words}</b>" if shift > 0 else words, yshift=shift, showarrow=False, font=look
        )
    ends = [low, high, baseline, score]
    room = ROOM * ((max(ends) - min(ends)) or 1.0)
    figure.update_xaxes(title=name, tickformat=form, range=[min(ends) - 2 * room, max(ends) + 2 * room], zeroline=False)
    figure.update_yaxes(visible=False, range=[-1, 1])
    return styled(figure, HEIGHT).update_layout(margin={"l": 24, "r": 24}, xaxis_gridcolor=GRID)
