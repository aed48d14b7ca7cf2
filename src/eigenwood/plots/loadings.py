"""Loadings: what each feature adds to each component, as a figure of numbers and as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa

from eigenwood.estimators.rules import percent
from eigenwood.plots.style import ACCENT, INK, MUTED, styled
from eigenwood.plots.tree import ANSWER_LETTER, blended, length, plain, shortened

NEGATIVE = "#6a3d9a"  # told apart from the other end also without red or green
SCALE = [[0.0, blended(NEGATIVE, 1.0)], [0.5, "#f7f8f7"], [1.0, blended(ACCENT, 1.0)]]  # dark text is readable on it
MOST_FEATURES = 30
LONGEST_NAME = 34  # letters
ROW_HEIGHT, COLUMN_WIDTH, TOP, BOTTOM = 25, 92, 76, 34  # pixels; above, room for Plotly's buttons


def loadings_figure(
    components: np.ndarray,
    names: Sequence[str],
    shares: Sequence[float] | None = None,
    most: int = MOST_FEATURES,
) -> go.Figure:
    """Return a figure of unit axes (k, d), features down and components across.

    The features with the largest entries of the first component, with either sign, come first; what is beyond ``most``
    of them is only counted. ``shares`` of the variance stand under the names of the components.
    """
    order = np.argsort(-np.abs(components[0]), kind="stable")[:most]
    values, n_left = components[:, order].T, components.shape[1] - order.size
    largest = float(np.abs(values).max()) or 1.0
    rows, labels = np.arange(order.size), [plain(shortened(str(names[j]), LONGEST_NAME)) for j in order]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=np.arange(len(components)),
            y=rows,
            customdata=np.tile([[plain(str(names[j]))] for j in order], (1, len(components))),
            texttemplate="%{z:.3f}",
            textfont={"color": INK},
            colorscale=SCALE,
            zmin=-largest,
            zmax=largest,
            showscale=False,
            xgap=2,
            ygap=1,
            hovertemplate="%{customdata}<br>%{x}: %{z:.5~g}<extra></extra>",
        )
    )
    below = [""] * len(components) if shares is None else [f"<br>{percent(share)}" for share in shares]
    heads = [f"<b>PC{i + 1}</b>{share}" for i, share in enumerate(below)]
    width = 40 + ANSWER_LETTER * max(map(length, labels)) + COLUMN_WIDTH * len(components)
    bottom = BOTTOM if n_left else 10
    styled(figure, height=TOP + ROW_HEIGHT * order.size + bottom)
    figure.update_layout(width=max(400, round(width)), margin_t=TOP, margin_b=bottom)
    figure.update_xaxes(side="top", tickvals=np.arange(len(components)), ticktext=heads, showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", tickvals=rows, ticktext=labels, zeroline=False)
    return figure.add_annotation(left_out(n_left)) if n_left else figure


def left_out(n_left: int) -> dict:
    """Return the words for features that are not shown."""
    features = "1 feature" if n_left == 1 else f"{n_left:,} features"
    return {
        "text": f"{features} with smaller loadings on PC1 left out",
        "font": {"color": MUTED, "size": 12},
        "showarrow": False,
        "x": 1,
        "xref": "paper",
        "xanchor": "right",
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -6,
    }


def loadings_table(components: np.ndarray, names: Sequence[str]) -> pa.Table:
    """Return a table with a row for each feature and a column for each component.

    >>> loadings_table(np.array([[0.6, 0.8], [-0.8, 0.6]]), ["width", "height"]).to_pylist()[0]
    {'feature': 'width', 'PC1': 0.6, 'PC2': -0.8}
    """
    columns = {f"PC{i + 1}": axis for i, axis in enumerate(components)}
    return pa.table({"feature": [str(name) for name in names], **columns})
