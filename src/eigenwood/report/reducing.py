"""How a reduction is told: names, sentences and figures, for the page and the terminal alike."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from eigenwood.data.naming import MAX_NAMES_IN_A_SENTENCE
from eigenwood.plots.contours import contours_figure, plane_around
from eigenwood.plots.scores import scores_figure
from eigenwood.plots.scree import scree_figure
from eigenwood.proofs.claim import Certificate
from eigenwood.report.words import percent
from eigenwood.runs.reduce_record import ReduceRecord

SCALINGS = {
    "none": "Columns keep their units",
    "deviation": "Each column is divided by its standard deviation",
    "allele-frequency": "Each column is divided by √(2p(1-p)), where p is the frequency of its allele",
}
FILLINGS = {
    "mean": "what is missing is the mean of its column",
    "em": "what is missing is found by a low-rank fit, again and again until it stays",
}


class ComponentLine(NamedTuple):
    """One principal component, as text."""

    name: str
    variance: str
    share: str
    together: str  # the share of this one and those before it
    within: str  # of the variance, an eigenvalue lies


def reduce_title(record: ReduceRecord) -> str:
    return f"{record.table}: {len(record.columns):,} columns to {len(record.names):,} by {record.method}"


def reduce_headline(record: ReduceRecord) -> list[tuple[str, str]]:
    """Return numbers with what they are, the most important first."""
    n_made = len(record.names)
    sizes = [(f"{record.n_rows:,}", "rows"), (f"{len(record.columns):,} → {n_made:,}", "columns")]
    if not record.principal:
        return sizes[::-1]
    words = "of the variance in " + ("1 component" if n_made == 1 else f"{n_made:,} components")
    return [(percent(kept_share(record)), words), *sizes]


def kept_share(record: ReduceRecord) -> float:
    return min(sum(component.share for component in record.principal), 1.0)


def treatment(record: ReduceRecord) -> str:
    """Return what was done to the columns before anything else."""
    filled = f"; {FILLINGS[record.missing]}" if record.missing else ""
    return f"{SCALINGS[record.scale]}{filled}."


def left_out_words(left_out: dict[str, str]) -> str:
    """Return the columns that are not used, with what they are.

    >>> left_out_words({"sex": "category", "patient": "id"})
    'sex (category), patient (id)'
    """
    words = [f"{name} ({what})" for name, what in left_out.items()]
    more = f" … ({len(words)} in all)" if len(words) > MAX_NAMES_IN_A_SENTENCE else ""
    return ", ".join(words[:MAX_NAMES_IN_A_SENTENCE]) + more


def component_lines(record: ReduceRecord) -> list[ComponentLine]:
    """Return a line for each principal component; other methods have none."""
    sums = accumulate(component.share for component in record.principal)
    return [
        ComponentLine(
            name,
            f"{component.variance:.6g}",
            f"{100 * component.share:.2f} %",
            f"{100 * min(total, 1.0):.2f} %",
            f"± {component.high - component.variance:.1e}",
        )
        for name, component, total in zip(record.names, record.principal, sums, strict=False)
    ]


def verdict(certificate: dict[str, Any]) -> str:
    """Return what a certificate comes to, in a sentence."""
    return f"Certificate: {Certificate.from_dict(certificate).verdict()}."


def caption(record: ReduceRecord) -> str:
    n_shown = len(record.shown[record.names[0]])
    which = f"all {n_shown:,}" if n_shown == record.n_rows else f"{n_shown:,} of {record.n_rows:,}, evenly spaced"
    return f"Each dot is a row ({which}): {' across, '.join(record.names[:2])} up."


# --- back to rows -----------------------------------------------------------------------------------


def back_headings(record: ReduceRecord) -> list[str]:
    assert record.kernel_view is not None
    return [*record.kernel_view.columns, "distance²"]


def back_lines(record: ReduceRecord) -> list[list[str]]:
    """Return a line for each row that was brought back: the number in a column, and where an arrow leads from it."""
    view = record.kernel_view
    assert view is not None
    return [
        [*(f"{value:.4g} → {found:.4g}" for value, found in zip(row, back, strict=True)), f"{distance:.3g}"]
        for row, back, distance in zip(view.rows, view.back, view.distances, strict=True)
    ]


def back_caption(record: ReduceRecord) -> str:
    """Return what the table of pre-images shows."""
    assert record.kernel_view is not None
    n_columns, n_shown = len(record.columns), len(record.kernel_view.columns)
    which = "" if n_columns == n_shown else f", in the {n_shown} columns of {n_columns:,} that move most"
    units = "" if record.scale == "none" else " Numbers are those of the scaled columns."
    return (
        "Some rows, projected on the components, and the row that an arrow leads to: its image in the space of the "
        f"kernel is nearest to the projection, up to the last number{which}.{units}"
    )


# --- figures --------------------------------------------------------------------------------------


def scree_of(record: ReduceRecord) -> go.Figure:
    variances = [component.variance for component in record.principal]
    wanted = record.components if isinstance(record.components, float) else None
    return scree_figure(variances, record.total_variance or 0.0, len(variances), wanted)


def scores_of(record: ReduceRecord) -> go.Figure:
    """Return a figure of the first two scores; a kept column that tells rows apart names them, another colours them."""
    across, up = record.names[:2]
    points = np.column_stack([record.shown[across], record.shown[up]])
    shares = [component.share for component in record.principal[:2]] or None
    naming, colouring = (next(iter(names), None) for names in kept_for(record))
    return scores_figure(
        points,
        shares,
        (0, 1) if shares else (across, up),
        colours=None if colouring is None else colours(record.shown[colouring]),
        names=row_numbers(record) if naming is None else record.shown[naming],
        colour_name=colouring or "",
    )


def contours_of(record: ReduceRecord) -> go.Figure:
    """Return a figure of what the components say everywhere in the plane of two columns."""
    assert record.kernel_view is not None
    points, surface = np.array(record.kernel_view.points), np.array(record.kernel_view.surface)
    shares = [component.share for component in record.principal[: surface.shape[1]]]
    return contours_figure(plane_around(points)[0], surface, points, shares, record.columns)


def row_numbers(record: ReduceRecord) -> list[str] | None:
    """Return the names of rows that have none, where they are not all shown."""
    n_shown = len(record.shown[record.names[0]])
    return None if n_shown == record.n_rows else [f"row {i * record.shown_every:,}" for i in range(n_shown)]


def kept_for(record: ReduceRecord) -> tuple[list[str], list[str]]:
    """Return the kept columns that name rows, and those that colour them."""
    naming = [name for name in record.kept if tells_apart(record.shown[name])]
    return naming, [name for name in record.kept if name not in naming]


def tells_apart(values: list[Any]) -> bool:
    return len(set(map(str, values))) == len(values) and not any(isinstance(value, float) for value in values)


def colours(values: list[Any]) -> np.ndarray:
    """Return values as amounts where they are numbers, else as categories."""
    numbers = all(value is None or isinstance(value, int | float) for value in values)
    return np.array(values, dtype=np.float64 if None in values and numbers else None)
