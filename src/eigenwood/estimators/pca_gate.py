"""What a PCA takes: the gate between what a user has and the sources that the routes read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config

from eigenwood.core.spectral.filling import column_means, observed_scores, with_means
from eigenwood.core.spectral.moments import ColumnMoments, Moments
from eigenwood.core.threads import row_blocks
from eigenwood.data.genotypes import Genotypes
from eigenwood.data.row_blocks import Blocks
from eigenwood.errors import InputError
from eigenwood.estimators.pca_sources import ColumnStream, RowStream, Source, Whole
from eigenwood.validation.arrays import check_finite, check_room, check_rows, check_weights

WHO = "PCA"
NAN_CURE = "missing='em' fills it by a low-rank fit"
STREAM_CURE = "missing='mean' fills blocks with the mean"
MAY_FIND_NOTHING = ("auto", "full", "covariance_eigh")  # take n_components=0, as in scikit-learn
VERIFIED_VALUES = 2**22  # of a block that the verifier looks at
CONSTANT = 10.0  # times rounding: a column that varies less, beside its mean, is constant


# --- data in --------------------------------------------------------------------------------------


def checked_source(model: Any, X: Any, sample_weight: Any, *, reset: bool = True) -> Source:
    """Return the rows to learn from, behind the face that all sources have."""
    if isinstance(X, Blocks):
        return row_stream(model, X, sample_weight)
    if isinstance(X, Genotypes):
        return column_stream(model, X, sample_weight)
    return table(model, X, sample_weight, reset)


def table(model: Any, X: Any, sample_weight: Any, reset: bool) -> Whole:
    X = check_rows(model, X, reset=reset, accept_sparse=True, finite=False)
    weights = check_weights(model, sample_weight, X.shape[0])
    if reset:
        check_enough(X.shape[0], float(weights.sum()))
    check = partial(check_numbers_of, model, X)
    if not weights.all():
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    if model.missing is None or sparse.issparse(X) or not np.isnan(X).any():
        return Whole(X, weights, check)
    check_filling(model)
    rows, columns = np.nonzero(np.isnan(X))
    filled = with_means(X, column_means(X, weights))
    return Whole(filled, weights, check, (rows, columns) if model.missing == "em" else None, n_filled=rows.size)


def check_numbers_of(model: Any, X: Any) -> None:
    """Raise for the first NaN or infinity, and name the cure for the former."""
    names = getattr(model, "feature_names_in_", None)
    allowed = model.missing is not None and not sparse.issparse(X)
    check_finite(WHO, X, names, missing=allowed, nan_cure="" if sparse.issparse(X) else NAN_CURE)
    raise InputError(f"{WHO}: X must hold numbers whose sums are finite; got some that are too large.")


def check_whole(source: Source, X: Any) -> Whole:
    """Return a batch for ``partial_fit``: a table in memory without holes."""
    if not isinstance(source, Whole):
        raise InputError(f"{WHO}: partial_fit must have an array; got {type(X).__name__} (fit takes it as a whole).")
    if source.n_filled:
        raise InputError(f"{WHO}: partial_fit must have X without NaN; got {source.n_filled} (fit fills them).")
    return source


def check_finite_means(model: Any, source: Whole, moments: Moments) -> None:
    """Raise where a mean is not finite: some number was not."""
    if not np.isfinite(moments.mean).all():
        source.check()


def row_stream(model: Any, X: Blocks, sample_weight: Any) -> RowStream:
    weights = stream_weights(model, X, sample_weight)
    if X.n_rows is not None:
        check_enough(X.n_rows, float(X.n_rows) if weights is None else float(weights.sum()))
    record_columns(model, X.columns)
    if model.missing == "em":
        raise InputError(f"{WHO}: missing='em' must have a table in memory; got blocks of rows ({STREAM_CURE}).")
    means = observed_means(X, weights) if model.missing == "mean" else None
    total = None if weights is None else float(weights.sum())
    pieces = partial(weighted_blocks, X, weights, means)
    return RowStream(X.n_rows, X.n_columns, X.dtype, pieces, partial(check_end, model, X.n_columns), total)


def stream_weights(model: Any, X: Blocks, sample_weight: Any) -> np.ndarray | None:
    """Return checked weights; how many there must be, a text file tells only at its end."""
    if sample_weight is None:
        return None
    return check_weights(model, sample_weight, np.size(sample_weight) if X.n_rows is None else X.n_rows)


def observed_means(X: Blocks, weights: np.ndarray | None) -> np.ndarray:
    """Return the mean of what is observed in each column, by one pass over a stream."""
    sums, counts, start = np.zeros(X.n_columns), np.zeros(X.n_columns), 0
    for block in X:
        of_block = np.ones(block.shape[0]) if weights is None else weights[start : start + block.shape[0]]
        observed = of_block @ (~np.isnan(block)).astype(np.float64)
        sums += column_means(block, of_block) * observed
        counts += observed
        start += block.shape[0]
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0.0)


def weighted_blocks(
    X: Blocks, weights: np.ndarray | None, means: np.ndarray | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield checked blocks with their weights, without rows of weight zero."""
    start = 0
    for block in checked_blocks(X, means):
        of_block = np.ones(block.shape[0]) if weights is None else weights[start : start + block.shape[0]]
        start += block.shape[0]
        if of_block.size < block.shape[0]:
            raise InputError(f"{WHO}: sample_weight must have a weight for every row; got {weights.size}.")  # type: ignore[union-attr]
        there = of_block > 0.0
        if there.any():
            yield (block, of_block) if there.all() else (np.ascontiguousarray(block[there]), of_block[there])
    if weights is not None and start < weights.size:
        raise InputError(f"{WHO}: sample_weight must have shape ({start},); got {weights.shape}.")


def check_end(model: Any, n_columns: int, moments: ColumnMoments | Moments) -> None:
    """Raise where all rows of a stream together are not enough for what is asked; a text file tells only at its end."""
    check_enough(moments.n_rows, moments.weight)
    asked_count(model, int(moments.weight), n_columns)


def checked_blocks(X: Blocks, means: np.ndarray | None, missing: bool = False) -> Iterator[np.ndarray]:
    """Yield the blocks of a stream, each checked for NaN and infinity; ``means`` stand for NaN where there are any."""
    names, first_row = np.array(X.columns, dtype=object), 0
    for block in X:
        if means is not None:
            block = with_means(block, means)
        check_finite(WHO, block, names, missing=missing, first_row=first_row, nan_cure=STREAM_CURE)
        first_row += block.shape[0]
        yield block


def column_stream(model: Any, X: Genotypes, sample_weight: Any) -> ColumnStream:
    weights = check_weights(model, sample_weight, X.n_people)
    check_enough(X.n_people, float(weights.sum()))
    record_columns(model, X.columns)
    people = weights > 0.0

    def pieces() -> Iterator[np.ndarray]:
        for block in X:
            rows = block if people.all() else np.ascontiguousarray(block[people])
            yield with_means(rows, column_means(rows, weights[people]))

    return ColumnStream(int(people.sum()), X.n_variants, X.dtype, weights[people], pieces)


def record_columns(model: Any, columns: tuple[str, ...]) -> None:
    """Remember number and names of the columns; x0, x1, … are no names."""
    model.n_features_in_ = len(columns)
    if columns == tuple(f"x{j}" for j in range(len(columns))):
        model.__dict__.pop("feature_names_in_", None)
    else:
        model.feature_names_in_ = np.array(columns, dtype=object)


def check_blocks_are_wanted(model: Any) -> None:
    """Raise where ``set_output`` asks for frames: scores of blocks are blocks, and a frame would hold all of them."""
    wanted = getattr(model, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    if wanted != "default":
        raise InputError(
            f"{WHO}: set_output must be 'default' for blocks, whose scores are blocks with names in .columns; "
            f"got {wanted!r}."
        )


def check_columns(model: Any, X: Blocks) -> None:
    """Raise unless a stream has the columns of fit."""
    known = getattr(model, "feature_names_in_", None)
    if X.n_columns != model.n_features_in_:
        raise InputError(f"{WHO}: X must have {model.n_features_in_} columns, as in fit; got {X.n_columns}.")
    unnamed = X.columns == tuple(f"x{j}" for j in range(X.n_columns))
    if known is not None and not unnamed and tuple(known) != X.columns:
        raise InputError(f"{WHO}: X must have the columns of fit in their order; got other names.")


def given_rows(model: Any, X: Any) -> Any:
    """Return rows to project: a checked table, or the blocks of genotypes beside their columns."""
    if not isinstance(X, Genotypes):
        return check_rows(
            model, X, reset=False, accept_sparse=True, missing=model.missing is not None, nan_cure=NAN_CURE
        )
    known = getattr(model, "feature_names_in_", None)
    if known is None and X.n_variants != model.n_features_in_:
        raise InputError(f"{WHO}: X must have {model.n_features_in_} columns, as in fit; got {X.n_variants} variants.")
    return mean_filled(model, X if known is None else X.aligned(tuple(known)))


def mean_filled(model: Any, X: Genotypes) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield blocks of variants with the means of fit in their holes, beside the columns they are."""
    start = 0
    for block in X:
        columns = slice(start, start + block.shape[1])
        yield with_means(block, model.mean_[columns]), columns
        start = columns.stop


def row_pieces(model: Any, X: Any, sample_weight: Any) -> Callable[[], Iterator]:
    """Return what the verifier reads: blocks of rows with their weights, as often as it likes."""
    if isinstance(X, Blocks):
        check_columns(model, X)
        weights = stream_weights(model, X, sample_weight)
        if model.missing is not None:
            known = partial(checked_blocks, X, None, missing=True)
            X = replace(X, pieces=lambda: (completed(model, block) for block in known()))
        return partial(weighted_blocks, X, weights, None)
    if isinstance(X, Genotypes):
        check_room(WHO, "the genotypes to verify", 4.0 * X.n_people * X.n_variants, "verify on fewer people")
        X = np.hstack([block for block, _ in given_rows(model, X)])
    else:
        X = given_rows(model, X)
        if model.missing is not None and not sparse.issparse(X):
            X = completed(model, X)
    weights = check_weights(model, sample_weight, X.shape[0])
    blocks = row_blocks(X.shape[0], max(1, VERIFIED_VALUES // X.shape[1]))
    return lambda: ((X[rows], weights[rows]) for rows in blocks)


def filled_pieces(model: Any, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows as a model fills them, and where they had holes; sparse rows have none, genotypes have means there."""
    if sparse.issparse(X) or isinstance(X, Genotypes):
        return
    blocks = checked_blocks(X, None, missing=True) if isinstance(X, Blocks) else (given_rows(model, X),)
    for block in blocks:
        yield completed(model, block), np.isnan(block)


def completed(model: Any, X: np.ndarray) -> np.ndarray:
    """Return X with what the model says in its holes: the mean, or the row that the scores stand for."""
    if model.missing == "mean":
        return with_means(X, model.mean_)
    V = model.components_.astype(np.float64)
    scores = observed_scores(X, model.mean_, model.scale_, V)
    return np.where(np.isnan(X), ((scores @ V) * model.scale_ + model.mean_).astype(X.dtype), X)


# --- what is asked for ----------------------------------------------------------------------------


def check_enough(n_rows: int, weight: float) -> None:
    if weight <= 1.0:
        raise InputError(
            f"{WHO}: X must have rows of a weight above 1 in all, at least 2 rows; got {n_rows} sample(s)."
        )


def check_filling(model: Any) -> None:
    """Raise unless a low-rank fit is asked for with a rank."""
    if model.missing == "em" and (model.n_components is None or isinstance(model.n_components, (str, float))):
        raise InputError(f"{WHO}: missing='em' must have an integer n_components; got {model.n_components!r}.")


def asked_count(model: Any, n_rows: int | None, n_columns: int) -> tuple[int, float | None]:
    """Return how many components at most, and the share of variance that they must hold, if one is asked for."""
    most = n_columns if n_rows is None else min(n_rows, n_columns)
    asked = model.n_components
    if asked is None:
        return most, None
    if asked == "mle":
        if n_rows is not None and n_rows < n_columns:
            raise InputError(
                f"{WHO}: n_components='mle' is only supported if n_samples >= n_features; got {n_rows} < {n_columns}."
            )
        return most, None
    if isinstance(asked, (float, np.floating)):
        return most, float(asked)
    least = 0 if model.svd_solver in MAY_FIND_NOTHING else 1
    if not least <= asked <= most:
        raise InputError(
            f"{WHO}: n_components={asked} must be between {least} and min(n_samples, n_features)={most} with "
            f"svd_solver={model.svd_solver!r}."
        )
    return int(asked), None


def check_route(model: Any, source: Source) -> None:
    """Raise where a route cannot read a source, or cannot find what is asked for."""
    solver, asked = model.svd_solver, model.n_components
    is_sparse = isinstance(source, Whole) and sparse.issparse(source.X)
    by_columns, by_rows = isinstance(source, ColumnStream), isinstance(source, RowStream)
    wrong = {
        "full": (is_sparse or by_columns or by_rows, "a dense table in memory"),
        "gram_refined": (is_sparse or by_columns or by_rows, "a dense table in memory"),
        "covariance_eigh": (by_columns, "rows; blocks of variants take 'gram_eigh' or 'krylov'"),
        "gram_eigh": (by_rows, "a table in memory or genotypes; blocks of rows take 'covariance_eigh' or 'krylov'"),
        "oja": (by_columns, "rows; blocks of variants take 'gram_eigh' or 'krylov'"),
    }
    refused, needs = wrong.get(solver, (False, ""))
    if refused:
        got = "sparse rows" if is_sparse else "blocks of variants" if by_columns else "blocks of rows"
        raise InputError(f"{WHO}: svd_solver={solver!r} must have {needs}; got {got}.")
    if asked == "mle" and (by_columns or solver not in ("auto", "full", "covariance_eigh")):
        raise InputError(f"{WHO}: n_components='mle' cannot be a string with svd_solver={solver!r}; 'full' finds it.")


def standard_scale(scale: bool | str, dtype: np.dtype) -> Callable[[ColumnMoments], np.ndarray]:
    """Return the function that says what columns are divided by."""
    if scale == "allele_frequency":
        return allele_scale
    return partial(unit_scale, dtype=dtype) if scale else no_scale


def no_scale(columns: ColumnMoments) -> np.ndarray:
    return np.ones(columns.mean.size)


def unit_scale(columns: ColumnMoments, dtype: np.dtype) -> np.ndarray:
    """Return the standard deviations; 1 for a column that is constant up to rounding."""
    deviation = np.sqrt(columns.squares / columns.weight)
    constant = deviation <= CONSTANT * np.finfo(dtype).eps * np.abs(columns.mean)
    return np.where(constant, 1.0, deviation)


def allele_scale(columns: ColumnMoments) -> np.ndarray:
    """Return √(2p(1-p)), the deviation of the count of an allele of frequency p where people mate freely."""
    p = np.clip(columns.mean / 2.0, 0.0, 1.0)
    deviation = np.sqrt(2.0 * p * (1.0 - p))
    return np.where(deviation > 0.0, deviation, 1.0)
