"""The record of a reduction: what was done and measured, as plain data for its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ComponentRecord:
    """One principal component: its variance, the share of all variance, and an interval that holds an eigenvalue."""

    variance: float
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class KernelViewRecord:
    """What components in the space of a kernel say in the columns of the table, as the kernel saw these."""

    columns: list[str]  # those in which the rows that came back differ most
    rows: list[list[float]]  # some rows, in these columns
    back: list[list[float]]  # each of them, projected on the components and brought back: its pre-image
    distances: list[float]  # of each from the pre-image in the space of the kernel, squared
    points: list[list[float]]  # of a table of two columns, rows in their plane
    surface: list[list[float]]  # the scores of the components on a grid around these


@dataclass(frozen=True)
class ReduceRecord:
    """One run of ``reduce``."""

    version: str
    table: str
    method: str
    components: int | float  # as asked for: so many, or a share of the variance
    scale: str
    missing: str | None
    seed: int
    how: str  # the solver, or the class of scikit-learn, and why
    notes: list[str]
    n_rows: int
    columns: list[str]
    left_out: dict[str, str]  # the other columns, each with what it is
    kept: list[str]  # columns that were copied
    names: list[str]  # of the columns that were made
    principal: list[ComponentRecord]  # empty for all methods but pca and kernel-pca
    total_variance: float | None
    certificate: dict[str, Any] | None
    shown: dict[str, list[Any]]  # of some rows, evenly spaced, for the figure: the first two scores, and kept
    shown_every: int  # these rows are every so many-th
    seconds: dict[str, float]
    kernel_view: KernelViewRecord | None = None  # of kernel-pca
