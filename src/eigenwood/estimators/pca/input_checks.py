"""From what a user has to the source that the routes read, checked by the functions of ``validation.pca``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from eigenwood.estimators.blockwise import block_results
from eigenwood.estimators.pca.sources import ColumnStream, InMemory, RowStream
from eigenwood.proofs.pca import RowResults
from eigenwood.validation import pca as checks
from eigenwood.validation.arrays import check_finite, check_room, check_rows, check_weights
from eigenwood.validation.pca import NAN_CURE, STREAM_CURE, WHO

VERIFIED_VALUES = 2**22  # of a block that the verifier looks at

AnySource = InMemory | RowStream | ColumnStream


# --- rows to learn from ---------------------------------------------------------------------------


def checked_source(model: Any, X: Any, sample_weight: Any, *, reset: bool = True) -> AnySource:
    """Return the rows to learn from as a source."""
    if isinstance(X, Blocks):
        return row_stream(model, X, sample_weight)
    if isinstance(X, Genotypes):
        return column_stream(model, X, sample_weight)
    return table(model, X, sample_weight, reset)


def table(model: Any, X: Any, sample_weight: Any, reset: bool) -> InMemory:
    """Return an array, a frame or a csr matrix as a source, with means in place of missing values."""
    X = check_rows(model, X, reset=reset, accept_sparse=True, finite=False)
    weights = check_weights(model, sample_weight, X.shape[0])
    if reset:
        checks.check_enough(X.shape[0], float(weights.sum()))
    names = getattr(model, "feature_names_in_", None)
    check = partial(checks.check_numbers, X, names, missing=model.missing is not None)
    if not weights.all():
        X, weights = X[weights > 0.0], weights[weights > 0.0]
    if model.missing is None or sparse.issparse(X) or not np.isnan(X).any():
        return InMemory(X, weights, check)
    checks.check_filling(model.missing, model.n_components)
    rows, columns = np.nonzero(np.isnan(X))
    filled = with_means(X, column_means(X, weights))
    return InMemory(filled, weights, check, (rows, columns) if model.missing == "em" else None, n_filled=rows.size)


def checked_batch(model: Any, X: Any, sample_weight: Any, *, reset: bool) -> InMemory:
    """Return a batch for ``partial_fit``: a table in memory without missing values."""
    source = checked_source(model, X, sample_weight, reset=reset)
    checks.check_batch(X, isinstance(source, InMemory), getattr(source, "n_filled", 0))
    assert isinstance(source, InMemory)
    return source


def kind_of(source: AnySource) -> str:
    """Return which of the kinds of ``validation.pca`` a source is."""
    if isinstance(source, InMemory):
        return checks.SPARSE if sparse.issparse(source.X) else checks.DENSE
    return checks.COLUMN_BLOCKS if isinstance(source, ColumnStream) else checks.ROW_BLOCKS


# --- streams --------------------------------------------------------------------------------------


def row_stream(model: Any, X: Blocks, sample_weight: Any) -> RowStream:
    """Return blocks of rows as a source."""
    weights = stream_weights(model, X, sample_weight)
    if X.n_rows is not None:
        checks.check_enough(X.n_rows, float(X.n_rows) if weights is None else float(weights.sum()))
    record_columns(model, X.columns)
    checks.check_filling_of_stream(model.missing)
    means = observed_means(X, weights) if model.missing == "mean" else None
    total = None if weights is None else float(weights.sum())
    results = partial(weighted_results, X, weights, means)
    return RowStream(X.n_rows, X.n_columns, X.dtype, results, partial(check_end, model, X.n_columns), total)


def stream_weights(model: Any, X: Blocks, sample_weight: Any) -> np.ndarray | None:
    """Return checked weights; how many there must be, a text file tells only at its end."""
    if sample_weight is None:
        return None
    return check_weights(model, sample_weight, np.size(sample_weight) if X.n_rows is None else X.n_rows)


def observed_means(X: Blocks, weights: np.ndarray | None) -> np.ndarray:
    """Return the mean of what is observed in each column, by one pass over a stream."""
    sums, counts = np.zeros(X.n_columns), np.zeros(X.n_columns)
    for of_block, observed in block_results(observed_sums, X, weights):
        sums += of_block
        counts += observed
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0.0)


def observed_sums(block: np.ndarray, weights: np.ndarray | None, first_row: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column the sum of what is observed, and how much that weighs."""
    of_block = np.ones(block.shape[0]) if weights is None else weights
    observed = of_block @ (~np.isnan(block)).astype(np.float64)
    return column_means(block, of_block) * observed, observed


def weighted_results(
    X: Blocks, weights: np.ndarray | None, means: np.ndarray | None, work: Callable[[np.ndarray, np.ndarray], Any]
) -> Iterator[Any]:
    """Yield ``work(rows, their weights)`` for each block that is checked, without rows of weight zero."""
    n_rows = 0
    for n_in_block, results in block_results(partial(of_weighted_rows, work, means, X.columns), X, weights):
        n_rows += n_in_block
        yield from results
    if weights is not None:
        checks.check_no_weights_left(weights, n_rows)


def of_weighted_rows(
    work: Callable[[np.ndarray, np.ndarray], Any],
    means: np.ndarray | None,
    columns: tuple[str, ...],
    block: np.ndarray,
    weights: np.ndarray | None,
    first_row: int,
) -> tuple[int, list[Any]]:
    """Return how many rows a block has, and the result of those that weigh something, if any do."""
    block = checked_block(block, columns, first_row, means)
    n_rows = block.shape[0]
    of_block = np.ones(n_rows) if weights is None else checks.check_block_weights(weights, first_row, n_rows)
    there = of_block > 0.0
    if not there.any():
        return n_rows, []
    if there.all():
        return n_rows, [work(block, of_block)]
    return n_rows, [work(np.ascontiguousarray(block[there]), of_block[there])]


def check_end(model: Any, n_columns: int, moments: ColumnMoments | Moments) -> None:
    """Raise where all rows of a stream together are not enough for what is asked; a text file tells only at its end."""
    checks.check_enough(moments.n_rows, moments.weight)
    checks.asked_count(model.n_components, model.svd_solver, int(moments.weight), n_columns)


def checked_blocks(
    X: Blocks, means: np.ndarray | None, missing: bool = False, who: str = WHO, nan_cure: str = STREAM_CURE
) -> Iterator[np.ndarray]:
    """Yield the blocks of a stream, each checked for NaN and infinity; ``means`` stand for NaN where there are any."""
    first_row = 0
    for block in X:
        yield checked_block(block, X.columns, first_row, means, missing, who, nan_cure)
        first_row += block.shape[0]


def checked_block(
    block: np.ndarray,
    columns: tuple[str, ...],
    first_row: int,
    means: np.ndarray | None,
    missing: bool = False,
    who: str = WHO,
    nan_cure: str = STREAM_CURE,
) -> np.ndarray:
    """Return a block of a stream, checked for NaN and infinity; ``means`` stand for NaN where there are any."""
    if means is not None:
        block = with_means(block, means)
    names = np.array(columns, dtype=object)
    check_finite(who, block, names, missing=missing, first_row=first_row, nan_cure=nan_cure)
    return block


def column_stream(model: Any, X: Genotypes, sample_weight: Any) -> ColumnStream:
    """Return genotypes as a source: blocks of columns with means in place of missing values."""
    weights = check_weights(model, sample_weight, X.n_people)
    checks.check_enough(X.n_people, float(weights.sum()))
    record_columns(model, X.columns)
    people = weights > 0.0

    def blocks() -> Iterator[np.ndarray]:
        for block in X:
            rows = block if people.all() else np.ascontiguousarray(block[people])
            yield with_means(rows, column_means(rows, weights[people]))

    return ColumnStream(int(people.sum()), X.n_variants, X.dtype, weights[people], blocks)


def record_columns(model: Any, columns: tuple[str, ...]) -> None:
    """Remember number and names of the columns; x0, x1, … are no names."""
    model.n_features_in_ = len(columns)
    if checks.are_unnamed(columns):
        model.__dict__.pop("feature_names_in_", None)
    else:
        model.feature_names_in_ = np.array(columns, dtype=object)


# --- rows to project ------------------------------------------------------------------------------


def check_output_of_blocks(model: Any) -> None:
    """Raise where ``set_output``, of the model or of scikit-learn, asks for frames."""
    config = getattr(model, "_sklearn_output_config", {})
    checks.check_output_of_blocks(config.get("transform", get_config()["transform_output"]), type(model).__name__)


def check_columns(model: Any, X: Blocks) -> None:
    """Raise unless a stream has the columns of fit."""
    checks.check_column_names(X.columns, model.n_features_in_, getattr(model, "feature_names_in_", None))


def given_rows(model: Any, X: Any) -> Any:
    """Return rows to project: a checked table, or the blocks of genotypes beside their columns."""
    if not isinstance(X, Genotypes):
        return check_rows(
            model, X, reset=False, accept_sparse=True, missing=model.missing is not None, nan_cure=NAN_CURE
        )
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        checks.check_variant_count(X.n_variants, model.n_features_in_)
    return mean_filled(model, X if known is None else X.aligned(tuple(known)))


def mean_filled(model: Any, X: Genotypes) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield blocks of variants with the means of fit in place of missing values, beside the columns they are."""
    start = 0
    for block in X:
        columns = slice(start, start + block.shape[1])
        yield with_means(block, model.mean_[columns]), columns
        start = columns.stop


# --- rows to verify -------------------------------------------------------------------------------


def results_to_verify(model: Any, X: Any, sample_weight: Any) -> RowResults:
    """Return what the verifier asks: the results of a function of rows and their weights, as often as it likes."""
    if isinstance(X, Blocks):
        check_columns(model, X)
        weights = stream_weights(model, X, sample_weight)
        if model.missing is not None:
            given = partial(checked_blocks, X, None, missing=True)
            X = X.changed(lambda: (completed(model, block) for block in given()))
        return partial(weighted_results, X, weights, None)
    if isinstance(X, Genotypes):
        check_room(WHO, "the genotypes to verify", 4.0 * X.n_people * X.n_variants, "verify on fewer people")
        X = np.hstack([block for block, _ in given_rows(model, X)])
    else:
        X = given_rows(model, X)
        if model.missing is not None and not sparse.issparse(X):
            X = completed(model, X)
    weights = check_weights(model, sample_weight, X.shape[0])
    blocks = row_blocks(X.shape[0], max(1, VERIFIED_VALUES // X.shape[1]))
    return lambda work: (work(X[rows], weights[rows]) for rows in blocks)


def filled_blocks(model: Any, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows as a model fills them, and where values were missing: nowhere in sparse rows and in genotypes."""
    if sparse.issparse(X) or isinstance(X, Genotypes):
        return
    blocks = checked_blocks(X, None, missing=True) if isinstance(X, Blocks) else (given_rows(model, X),)
    for block in blocks:
        yield completed(model, block), np.isnan(block)


def completed(model: Any, X: np.ndarray) -> np.ndarray:
    """Return X with the model's values in place of missing ones: the mean, or what the scores of the row stand for."""
    if model.missing == "mean":
        return with_means(X, model.mean_)
    V = model.components_.astype(np.float64)
    scores = observed_scores(X, model.mean_, model.scale_, V)
    return np.where(np.isnan(X), ((scores @ V) * model.scale_ + model.mean_).astype(X.dtype), X)
