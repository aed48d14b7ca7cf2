"""Word vectors: how the loss falls from epoch to epoch, and which kinds of analogies are answered.

loss │╲                      family  ████████████ 40.6 %   139 of 342
     │ ╲__                 capitals  ██ 10.8 %              50 of 462
     └────── epoch
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from eigenwood.plots.rounds import LOOKS
from eigenwood.plots.style import ACCENT, GRID, styled
from eigenwood.plots.tree import plain, shortened

HEIGHT, BAR = 380, 30  # pixels
LONGEST_NAME = 34  # letters
HEADROOM = 1.6  # of the longest bar, for the words behind it


class Section(NamedTuple):
    """The analogies of a section."""

    name: str
    n_right: int
    n_asked: int


def losses_figure(losses: np.ndarray, validation_losses: np.ndarray) -> go.Figure:
    """Return a figure of the loss of each epoch, on the text that was learnt and on the one that was held out."""
    figure = go.Figure()
    for name, values in (("training", losses), ("validation", validation_losses)):
        if len(values):
            epochs = np.arange(1, len(values) + 1)
            figure.add_trace(
                go.Scatter(
                    x=epochs, y=values, name=name, mode="lines+markers", line=LOOKS[name], hovertemplate="%{y:.4f}"
                )
            )
    styled(figure, HEIGHT).update_layout(showlegend=len(validation_losses) > 0, margin_t=40, hovermode="x")
    figure.update_xaxes(title="epoch", dtick=max(1, len(losses) // 10))
    return figure.update_yaxes(title="mean loss of an example", gridcolor=GRID)


def analogies_figure(sections: Sequence[Section]) -> go.Figure:
    """Return a figure with a bar for each section: the share of its analogies that are answered rightly."""
    asked = [section for section in sections if section.n_asked]
    shares = [section.n_right / section.n_asked for section in asked]
    labels = [
        f"{100 * share:.1f} %  ({section.n_right:,} of {section.n_asked:,})"
        for share, section in zip(shares, asked, strict=True)
    ]
    figure = go.Figure(
        go.Bar(
            x=shares,
            y=[plain(shortened(section.name, LONGEST_NAME)) for section in asked],
            text=labels,
            textposition="outside",
            cliponaxis=False,
            orientation="h",
            marker={"color": ACCENT},
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    styled(figure, 80 + BAR * len(asked))
    figure.update_xaxes(range=[0.0, HEADROOM * max([*shares, 0.01])], tickformat=".0%", title="right answers")
    return figure.update_yaxes(autorange="reversed")
