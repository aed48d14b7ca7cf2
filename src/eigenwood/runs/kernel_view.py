"""What components in the space of a kernel say in the columns of the table: contours over a plane, and pre-images."""

from __future__ import annotations

import warnings

import numpy as np

from eigenwood.estimators.kernel_pca import KernelPCA
from eigenwood.plots.contours import plane_around
from eigenwood.runs.reduce_record import KernelViewRecord

MOST_POINTS = 500  # rows in the plane of two columns
N_BACK = 6  # rows that are brought back
MOST_COLUMNS = 8  # in which they are told
MOST_SURFACES = 6  # components with contours


def kernel_view_of(model: KernelPCA, columns: tuple[str, ...]) -> KernelViewRecord:
    """Return the view of a fitted model, with rows that it keeps: all rows of its table, or its landmarks."""
    few = spread(model.X_fit_, N_BACK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a row without a fixed point: its distance tells
        found = model.denoise(few)
    moved = np.abs(found.rows - few).sum(axis=0)
    places = np.sort(np.argsort(-moved, kind="stable")[:MOST_COLUMNS])
    points = spread(model.X_fit_, MOST_POINTS) if len(columns) == 2 else few[:0]
    return KernelViewRecord(
        columns=[columns[place] for place in places],
        rows=few[:, places].tolist(),
        back=found.rows[:, places].tolist(),
        distances=found.distances.tolist(),
        points=points.tolist(),
        surface=surface_of(model, points) if len(points) else [],
    )


def surface_of(model: KernelPCA, points: np.ndarray) -> list[list[float]]:
    """Return the scores of the first components on a grid around rows of two columns."""
    _, places = plane_around(points.astype(np.float64))
    return model.transform(places.astype(points.dtype))[:, :MOST_SURFACES].tolist()


def spread(rows: np.ndarray, most: int) -> np.ndarray:
    """Return rows from the first to the last, at about equal distances.

    >>> spread(np.arange(10.0), 4)
    array([0., 3., 6., 9.])
    """
    return rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.intp)]
