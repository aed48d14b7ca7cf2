"""Figures: numbers in, Plotly figures out.

Each file draws numbers and knows nothing of models. The two functions here take a fitted tree and hand its numbers on:

    plots.tree(model)       rules(model)                    → tree_figure
    plots.pruning(model)    its pruning_curve_              → pruning_figure
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from eigenwood.estimators.rules import pruning_of, rules
from eigenwood.plots.pruning import pruning_figure
from eigenwood.plots.tree import tree_figure

__all__ = ["pruning", "tree"]


def tree(model: Any, max_depth: int | None = None) -> go.Figure:
    """Return an interactive figure of a fitted decision tree, from the root at the left to the leaves at the right.

    Boxes have the colour of their class, the paler the more mixed they are, or are darker the larger their amount is;
    streams are as wide as the weight of the rows. Point at a box to see all that is known of it. What lies deeper than
    ``max_depth`` is only counted; without it, a large tree is drawn as deep as it can be seen at one glance.

    >>> import eigenwood.plots as plots
    >>> from eigenwood import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [5.0, 7.0, 7.0])
    >>> [box.text.split("<br>")[0] for box in plots.tree(model).layout.annotations if box.hovertext]
    ['<b>x[0]?</b>', '<b>5</b>', '<b>7</b>']
    """
    return tree_figure(rules(model), max_depth)


def pruning(model: Any) -> go.Figure:
    """Return a figure of how the error changed while a decision tree was pruned, by validation or cross-validation."""
    alphas, n_leaves, errors, chosen, measure = pruning_of(model)
    form = ".1%" if measure == "error" else ".4~g"
    return pruning_figure(alphas, n_leaves, errors, chosen, f"{measure} on validation rows", form)
