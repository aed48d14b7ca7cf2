"""Pictures: components of images as images, and images put together from a few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from eigenwood.estimators.rules import percent
from eigenwood.plots.loadings import NEGATIVE
from eigenwood.plots.style import ACCENT, styled

DIVERGING = [[0.0, NEGATIVE], [0.5, "#f7f8f7"], [1.0, ACCENT]]
SHADES = [[0.0, "#000000"], [1.0, "#ffffff"]]
PER_LINE = 6  # component images
SIDE, GAP, HEAD, BUTTONS = 118, 10, 26, 30  # pixels: the longer side of an image, between two, above one, above all


def component_images_figure(
    components: np.ndarray, image_shape: tuple[int, int], shares: Sequence[float], mean: np.ndarray | None = None
) -> go.Figure:
    """Return a grid of unit axes (k, d) as images, the ``mean`` before them if it is given.

    Zero is white, and each component has a scale of its own, up to its largest entry of either sign.
    """
    words = [f"PC{i + 1} ({percent(share)})" for i, share in enumerate(shares)]
    ends = [float(np.abs(axis).max()) or 1.0 for axis in components]
    images = [picture(axis, image_shape, DIVERGING, -end, end) for axis, end in zip(components, ends, strict=True)]
    if mean is not None:
        images.insert(0, picture(mean, image_shape, SHADES, float(mean.min()), float(mean.max())))
        words.insert(0, "mean")
    n_across = min(PER_LINE, len(images))
    return grid([images[i : i + n_across] for i in range(0, len(images), n_across)], words, image_shape, HEAD)


def reconstruction_figure(
    originals: np.ndarray, reconstructions_by_k: Mapping[int, np.ndarray], image_shape: tuple[int, int]
) -> go.Figure:
    """Return a line of images for each row of ``originals``: itself, then what is left of it with k components."""
    kept = {f"k = {k:,}": rows for k, rows in reconstructions_by_k.items()}
    return side_by_side_figure({"original": originals, **kept}, image_shape)


def side_by_side_figure(rows_by_name: Mapping[str, np.ndarray], image_shape: tuple[int, int]) -> go.Figure:
    """Return a line of images for each row: what it is in each of several tables, all in the shades of the first."""
    columns = list(rows_by_name.values())
    low, high = float(np.nanmin(columns[0])), float(np.nanmax(columns[0]))
    lines = [[picture(rows[i], image_shape, SHADES, low, high) for rows in columns] for i in range(len(columns[0]))]
    return grid(lines, list(rows_by_name), image_shape, GAP)


def picture(values: np.ndarray, image_shape: tuple[int, int], scale: Sequence, low: float, high: float) -> go.Heatmap:
    """Return one image, as numbers that can be pointed at."""
    return go.Heatmap(
        z=np.reshape(values, image_shape),
        colorscale=scale,
        zmin=low,
        zmax=high,
        showscale=False,
        hovertemplate="row %{y}, column %{x}: %{z:.4~g}<extra></extra>",
    )


def grid(lines: Sequence[Sequence[go.Heatmap]], words: Sequence[str], image_shape: tuple[int, int], gap: int):
    """Return the images in lines; ``words`` stand above as many of them as there are words."""
    n_down, n_across = len(lines), len(lines[0])
    tall, wide = (SIDE * side / max(image_shape) for side in image_shape)
    wide = max(wide, SIDE)
    height, width = n_down * tall + (n_down - 1) * gap, n_across * wide + (n_across - 1) * GAP
    figure = make_subplots(
        n_down,
        n_across,
        subplot_titles=words,
        vertical_spacing=gap / height if n_down > 1 else 0.0,
        horizontal_spacing=GAP / width if n_across > 1 else 0.0,
    )
    for i, line in enumerate(lines):
        for j, image in enumerate(line):
            figure.add_trace(image, row=i + 1, col=j + 1)
    margin = {"l": 10, "r": 10, "t": BUTTONS + HEAD, "b": 10}
    styled(figure, height=round(height) + margin["t"] + margin["b"])
    figure.update_layout(width=round(width) + margin["l"] + margin["r"], margin=margin)
    figure.update_annotations(font_size=12, yshift=2)
    figure.update_xaxes(visible=False, constrain="domain")
    for axis in figure.select_yaxes():
        axis.update(visible=False, autorange="reversed", constrain="domain", scaleanchor=axis.anchor)
    return figure
