"""Partial dependence: the mean answer when one column has the same value in all rows, for some of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenwood.runs.record import DependenceRecord

MOST_VALUES, MOST_CATEGORIES = 20, 10
OUTER = 0.025  # of the rows, at each end, that a grid of numbers leaves out

Responses = Callable[[pa.Table], np.ndarray]  # rows → probabilities of the classes, or amounts: (n_rows, n)


def dependence(
    name: str, kind: str, X: pa.Table, weights: np.ndarray | None, responses: Responses, importance: float
) -> DependenceRecord | None:
    """Return how the answers follow a column; None if it has fewer than two values, or is free text."""
    column = X.column(name)
    grid = grid_of(column, kind)
    if len(grid) < 2:
        return None
    everywhere = X.take(np.tile(np.arange(X.num_rows), len(grid)))
    values = pa.array(grid, column.type).take(np.repeat(np.arange(len(grid)), X.num_rows))
    place = X.column_names.index(name)
    answers = responses(everywhere.set_column(place, X.schema.field(place), values))
    means = [np.average(part, axis=0, weights=weights) for part in np.split(answers, len(grid))]
    return DependenceRecord(name, kind, grid, [mean.tolist() for mean in means], importance)


def grid_of(column: pa.ChunkedArray, kind: str) -> list[Any]:
    """Return the values to compare: quantiles of numbers and dates, the most frequent categories."""
    if kind in ("number", "date"):
        return quantiles(column)
    return frequent_values(column) if kind == "category" else []


def quantiles(column: pa.ChunkedArray) -> list[Any]:
    """Return values of the column, evenly spaced in rank.

    >>> quantiles(pa.chunked_array([[3, 1, None, 2, 2]]))
    [1, 2, 3]
    """
    known = np.sort(column.drop_null().to_numpy())
    if known.dtype.kind == "f":
        known = known[np.isfinite(known)]
    distinct = np.unique(known)
    if distinct.size <= MOST_VALUES:
        return distinct.tolist()
    places = np.linspace(OUTER, 1.0 - OUTER, MOST_VALUES) * (known.size - 1)
    return np.unique(known[places.round().astype(int)]).tolist()


def frequent_values(column: pa.ChunkedArray) -> list[Any]:
    """Return the most frequent values, missing ones too, the most frequent first.

    >>> frequent_values(pa.chunked_array([["b", "a", "b", None]]))
    ['b', 'a', None]
    """
    counts = pc.value_counts(column.combine_chunks())
    values, numbers = counts.field("values").to_pylist(), counts.field("counts").to_pylist()
    order = sorted(range(len(values)), key=lambda i: (-numbers[i], values[i] is None, str(values[i])))
    return [values[i] for i in order[:MOST_CATEGORIES]]
