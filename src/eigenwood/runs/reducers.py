"""The ways to fewer columns, each a function: rows in blocks → the scores of the same rows in blocks.

    pca       streams, and holds the table in memory where it is small
    random    streams: what it multiplies with depends on the number of columns alone
    kernel-pca    the same: a table that is large gives some rows as landmarks, and is read again for all others
    ica, autoencoder    learn from the whole table in memory, and are applied block by block

PCA scales and fills by itself, so that its model file knows how. For the others the rows are made ready first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.random_projection import GaussianRandomProjection

from eigenwood.core.spectral.filling import with_means
from eigenwood.core.spectral.moments import column_moments_of, merged_columns, no_column_moments
from eigenwood.core.threads import one_blas_thread
from eigenwood.data.blocks import blocks
from eigenwood.data.genotypes import Genotypes
from eigenwood.data.row_blocks import Blocks
from eigenwood.errors import InputError
from eigenwood.estimators.autoencoder import Autoencoder
from eigenwood.estimators.kernel_pca import KernelPCA
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.pca.input_checks import observed_means, record_columns
from eigenwood.estimators.pca.scaling import standard_scale
from eigenwood.estimators.watching import TIME_LIMIT, TIME_UP
from eigenwood.runs.kernel_view import kernel_view_of
from eigenwood.runs.names import METHOD_NAMES, SCALE_NAMES
from eigenwood.runs.reduce_record import KernelViewRecord
from eigenwood.validation.arrays import check_room
from eigenwood.validation.params import AnyOf, Choice, Nothing, Number, Rule, Seed, Share, check_values

HELD_BYTES = 2**28  # a table up to this size is held in memory, where PCA has more routes to choose from
COPIES = 3  # of the table, itself among them, that a method makes which holds it
ICA_ROUNDS, NETWORK_ROUNDS = 1000, 2000
SCALES: dict[str, bool | str] = dict(zip(SCALE_NAMES, (False, True, "allele_frequency"), strict=True))


class ReduceSettings(NamedTuple):
    """What the user of ``reduce`` can choose beside the columns."""

    components: int | float = 2  # so many, or the share of the variance that they must hold
    method: str = "pca"
    scale: str = "none"
    missing: str | None = None
    seed: int = 0
    time_limit: float | None = None  # seconds for the fit


class Reduced(NamedTuple):
    """The scores of all rows, made when they are asked for, and the model that makes them."""

    scores: Blocks
    model: Any
    how: str  # what was computed, in words
    notes: tuple[str, ...] = ()  # what the user should know
    kernel_view: KernelViewRecord | None = None


# --- principal components -------------------------------------------------------------------------


def reduce_by_pca(rows: Blocks | Genotypes, settings: ReduceSettings) -> Reduced:
    model = PCA(
        settings.components,
        scale=SCALES[settings.scale],
        missing=settings.missing,
        random_state=settings.seed,
        n_jobs=-1,
        time_limit=settings.time_limit,
    )
    scores = pca_scores(model, rows, settings)
    how = f"the solver {model.solver_!r} ({model.solver_reason_})"
    return Reduced(scores, model, how, cut_notes(model))


def pca_scores(model: PCA, rows: Blocks | Genotypes, settings: ReduceSettings) -> Blocks:
    """Fit the model to all rows; return their scores."""
    if isinstance(rows, Genotypes):
        return as_blocks(model, model.fit(rows).transform(rows))
    X = all_rows(rows, settings) if settings.missing == "em" else few_rows(rows, settings)
    if X is None:
        return model.fit(rows).transform(rows)
    scores = as_blocks(model, model.fit(X).transform(X))
    record_columns(model, rows.columns)
    return scores


def as_blocks(model: PCA, scores: np.ndarray) -> Blocks:
    return replace(blocks(scores), columns=tuple(model.get_feature_names_out()))


# --- others ---------------------------------------------------------------------------------------


def reduce_by_random(rows: Blocks, settings: ReduceSettings) -> Reduced:
    """Multiply with random numbers: distances between rows stay about what they are."""
    model = GaussianRandomProjection(settings.components, random_state=settings.seed)
    model.fit(np.zeros((1, rows.n_columns), dtype=rows.dtype))
    return Reduced(transformed(made_ready(rows, settings), model), model, "scikit-learn's GaussianRandomProjection")


def reduce_by_ica(rows: Blocks, settings: ReduceSettings) -> Reduced:
    """Find directions whose scores are as independent as can be."""
    ready = made_ready(rows, settings)
    model = FastICA(settings.components, whiten="unit-variance", max_iter=ICA_ROUNDS, random_state=settings.seed)
    fit(model, all_rows(ready, settings))
    how = f"scikit-learn's FastICA, {model.n_iter_} iterations"
    return Reduced(transformed(ready, model), model, how, unsettled(model.n_iter_, ICA_ROUNDS))


def reduce_by_kernel_pca(rows: Blocks, settings: ReduceSettings) -> Reduced:
    """Find principal components in the space of the RBF kernel; of a table that is large, from some of its rows."""
    ready = made_ready(rows, settings)
    model = KernelPCA(
        int(settings.components),
        kernel="rbf",
        gamma="scale",
        random_state=settings.seed,
        n_jobs=-1,
        time_limit=settings.time_limit,
    )
    X = few_rows(ready, settings)
    scores = model.fit(ready).transform(ready) if X is None else transformed(ready, model.fit(X))
    how = f"RBF kernel with gamma = {model.gamma_:.4g}, the solver {model.solver_!r} ({model.solver_reason_})"
    return Reduced(scores, model, how, cut_notes(model), kernel_view_of(model, ready.columns))


def cut_notes(model: Any) -> tuple[str, ...]:
    """Return what the user should know of a fit that the time limit ended."""
    cut = ("the time limit ended the fit; the certificate tells how exact it is",)
    return cut if model.stop_reason_ == TIME_UP else ()


def reduce_by_autoencoder(rows: Blocks, settings: ReduceSettings) -> Reduced:
    """Train a network to repeat each row through one narrow linear layer; what stands in that layer is the score."""
    ready = made_ready(rows, settings)
    X = all_rows(ready, settings)
    model = Autoencoder(int(settings.components), max_iter=NETWORK_ROUNDS, random_state=settings.seed)
    fit(model, X)
    variance = float((((X - model.mean_) / model.scale_) ** 2).sum()) / len(X)
    kept = 1.0 - model.error_ / max(variance, np.finfo(np.float64).tiny)
    how = f"scikit-learn's MLPRegressor, {model.n_iter_} iterations; {kept:.1%} of the variance comes through"
    return Reduced(transformed(ready, model), model, how, unsettled(model.n_iter_, NETWORK_ROUNDS))


def fit(model: Any, X: np.ndarray, y: np.ndarray | None = None) -> Any:
    """Return the model, fitted without the warning of an iteration that does not settle: ``unsettled`` says it.

    With one thread of BLAS the bits are the same on any number of cores, and small products do not wait for threads.
    """
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def unsettled(n_rounds: int, most: int) -> tuple[str, ...]:
    return (f"not settled after {n_rounds} iterations",) if n_rounds >= most else ()


def transformed(rows: Blocks, model: Any) -> Blocks:
    return scored(rows, tuple(model.get_feature_names_out()), model.transform)


def scored(rows: Blocks, names: tuple[str, ...], scores: Callable[[np.ndarray], np.ndarray]) -> Blocks:
    """Return the scores of all rows, block by block."""

    def pieces() -> Iterator[np.ndarray]:
        for block in rows:
            with one_blas_thread():
                found = scores(block)
            yield found

    return rows.changed(pieces, names)


# --- the choice -----------------------------------------------------------------------------------


class Method(NamedTuple):
    """A way to fewer columns, and what there must not be less of than components."""

    reduce: Callable[[Any, ReduceSettings], Reduced]
    limits: tuple[str, ...] = ("columns", "rows")


METHODS = dict(
    zip(
        METHOD_NAMES,
        (
            Method(reduce_by_pca),
            Method(reduce_by_kernel_pca, ("rows",)),
            Method(reduce_by_random, ("columns",)),
            Method(reduce_by_ica),
            Method(reduce_by_autoencoder),
        ),
        strict=True,
    )
)
RULES: dict[str, Rule] = {
    "method": Choice(tuple(METHODS)),
    "components": AnyOf(Number(at_least=1, integer=True), Share(below=1.0)),
    "scale": Choice(tuple(SCALES)),
    "missing": AnyOf(Nothing(), Choice(("em", "mean"))),
    "seed": Seed(),
    "time_limit": TIME_LIMIT,
}


def check_settings(settings: ReduceSettings, *, is_saved: bool = False) -> None:
    """Raise for the first choice that is none, or that the method does not have."""
    check_values("reduce", RULES, settings._asdict())
    method = settings.method
    if method == "pca":
        return
    if isinstance(settings.components, float):
        raise InputError(f"reduce: components must be an integer with method {method!r}; got {settings.components!r}.")
    if settings.missing == "em":
        raise InputError(f"reduce: missing must be None or 'mean' with method {method!r}; got 'em'.")
    if settings.time_limit is not None and method != "kernel-pca":
        raise InputError(f"reduce: time_limit must be None with method {method!r}; got {settings.time_limit!r}.")
    if is_saved:
        raise InputError(f"reduce: method must be 'pca' to be saved as a model file; got {method!r}.")


def check_count(settings: ReduceSettings, n_rows: int | None, n_columns: int) -> None:
    """Raise if there are more components than rows or columns to make them of."""
    counts = {"columns": n_columns, "rows": n_rows}
    for what in METHODS[settings.method].limits:
        most = counts[what]
        if most is not None and settings.components > most:
            raise InputError(
                f"reduce: components must be at most {most}, the number of {what}; got {settings.components}."
            )


# --- rows -----------------------------------------------------------------------------------------


def few_rows(rows: Blocks, settings: ReduceSettings) -> np.ndarray | None:
    """Return all rows as one array, or None where they are too many to be held."""
    return gathered(rows, settings, lambda n_bytes: n_bytes <= HELD_BYTES)


def all_rows(rows: Blocks, settings: ReduceSettings) -> Any:
    """Return all rows as one array; raise as soon as it is known that they do not fit."""
    return gathered(rows, settings, fits_in_memory)


def gathered(rows: Blocks, settings: ReduceSettings, fits: Callable[[int], bool]) -> np.ndarray | None:
    """Return all rows as one array, or None if their bytes do not fit; how many these are a text file tells late."""
    n_bytes, parts = 0, []
    if not fits((rows.n_rows or 0) * rows.n_columns * rows.dtype.itemsize):
        return None
    for block in rows:
        n_bytes += block.nbytes
        if not fits(n_bytes):
            return None
        parts.append(block)
    X = np.concatenate(parts)
    check_count(settings, *X.shape)
    return X


def fits_in_memory(n_bytes: int) -> bool:
    """Return True; raise if copies of a table of so many bytes do not fit."""
    check_room("reduce", "the table and its copies", float(COPIES * n_bytes), "pca and random read it in blocks")
    return True


def made_ready(rows: Blocks, settings: ReduceSettings) -> Blocks:
    """Return the rows with means in their holes, centred and scaled as PCA does it, if that is asked for."""
    whole = rows if settings.missing is None else with_column_means(rows)
    if settings.scale == "none":
        return whole
    parts = (column_moments_of(block, np.ones(len(block))) for block in whole)
    moments = reduce(merged_columns, parts, no_column_moments(rows.n_columns))
    scale = standard_scale(SCALES[settings.scale], rows.dtype)(moments)
    return whole.changed(lambda: (((block - moments.mean) / scale).astype(rows.dtype) for block in whole))


def with_column_means(rows: Blocks) -> Blocks:
    means = observed_means(rows, None)
    return rows.changed(lambda: (with_means(block, means) for block in rows))
