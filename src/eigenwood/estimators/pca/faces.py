"""PCA with scikit-learn's face: one class for every shape and size of data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.spectral.centred import Centred, row_products
from eigenwood.core.spectral.filling import observed_scores, with_means
from eigenwood.core.spectral.moments import Moments, merged, no_moments
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks
from eigenwood.data.genotypes import Genotypes
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators.blockwise import block_results
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.pca.clock import Clock
from eigenwood.estimators.pca.fitting import (
    attributes_of,
    batch_moments,
    certificate_of,
    moments_of_model,
    request_of,
    solver_steps,
    step_of_moments,
    tolerances,
)
from eigenwood.estimators.pca.input_checks import (
    check_columns,
    check_output_of_blocks,
    checked_batch,
    checked_block,
    checked_blocks,
    checked_source,
    given_rows,
    kind_of,
)
from eigenwood.estimators.pca.routes import ROUTES
from eigenwood.estimators.pca.scaling import in_range
from eigenwood.estimators.pca.sources import InMemory
from eigenwood.estimators.pca.types import PCAResult, Step
from eigenwood.estimators.state import AMOUNT, COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, Watch, Watched
from eigenwood.validation.arrays import check_matrix, check_rows
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, Share, check_params
from eigenwood.validation.pca import check_fitted_numbers, check_route, check_score_columns
from eigenwood.validation.state import Array, Scalar, Sentence, Size
from eigenwood.validation.threads import N_JOBS, thread_count

SOLVERS = ("full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "randomized", "power", "oja")
BLOCK_VALUES = 2**22  # of rows that are made from scores at once


@describe
class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Watched, BaseEstimator):
    """Principal components: the directions of largest variance, exact to a bound that is stated.

    Like :class:`sklearn.decomposition.PCA`, with its parameters and attributes. Differences: (1) float32 rows keep
    their digits whatever their mean; (2) a share of variance works with every route; (3) rows may come from
    ``data.blocks`` or ``data.genotypes`` and need not fit in memory; (4) ``sample_weight``, missing values, sparse
    rows with every route but 'full'; (5) ``partial_fit``, ``time_limit``, callbacks, and a ``certificate_`` with an
    interval for every variance; (6) variances and means are float64 also for float32 rows.

    Parameters
    ----------
    n_components : int, float in (0, 1), 'mle' or None, default=None
        How many components: a number, as many as hold more than a share of the variance, Minka's guess, or all.
    scale : bool or 'allele_frequency', default=False
        Divide each column by its standard deviation, or by √(2p(1-p)) with p half its mean, as is usual for genotypes.
    whiten : bool, default=False
        Divide the scores by their standard deviations.
    svd_solver : str, default='auto'
        'covariance_eigh', 'gram_eigh' (for fewer rows than columns), 'gram_refined' (the same, first roughly from
        bytes, then by exact products), 'full' (SVD of the rows), 'krylov' or 'arpack' (block Lanczos until the
        residuals are small), 'randomized', 'power' (the lecture's, one component at a time), 'oja' (stochastic).
        'auto' takes the cheapest exact one; ``solver_`` and ``solver_reason_`` tell which and why.
    tol : float, default=0.0
        Iterations end when ‖Cv - λv‖ is at most this times the largest variance; 0 is 1e-5 for
        float32 and 1e-8 for float64.
    iterated_power : 'auto' or int, default='auto'
        Products of 'randomized', or the most products of 'power' for one component.
    n_oversamples : int, default=10
        Columns of the block of 'randomized' beside the components.
    random_state : int, RandomState or None, default=0
        Draws the first block of an iteration.
    missing : 'em', 'mean' or None, default=None
        What stands for NaN: a low-rank fit, iterated; the mean of the column; or None, which refuses it. In genotypes
        a missing value is the mean.
    power_iteration_normalizer, copy
        Accepted for scikit-learn's sake: blocks are always orthonormal, and X is never written to.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_, n_samples_,
    noise_variance_, n_features_in_, feature_names_in_
        As in scikit-learn.
    scale_ : ndarray of shape (n_features,), what the columns are divided by
    total_variance_ : float, the trace of the covariance
    explained_variance_interval_ : ndarray of shape (n_components, 2), each holds an eigenvalue of the covariance
    solver_, solver_reason_ : str
    stop_reason_ : 'finished', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import PCA
    >>> model = PCA(0.9).fit([[1.0, 1.1], [2.0, 1.9], [3.0, 3.2], [4.0, 3.8]])
    >>> model.n_components_, model.explained_variance_ratio_.round(4), model.certificate_.holds
    (1, array([0.9954]), True)
    """

    PARAMS = {
        "n_components": AnyOf(Nothing(), Number(at_least=0, integer=True), Share(below=1.0), Choice(("mle",))),
        "scale": AnyOf(Flag(), Choice(("allele_frequency",))),
        "whiten": Flag(),
        "svd_solver": Choice(tuple(ROUTES)),
        "tol": Number(at_least=0),
        "iterated_power": AnyOf(Choice(("auto",)), Number(at_least=0, integer=True)),
        "n_oversamples": Number(at_least=1, integer=True),
        "power_iteration_normalizer": Choice(("auto", "QR", "LU", "none")),
        "missing": AnyOf(Nothing(), Choice(("em", "mean"))),
        "random_state": Seed(),
        "copy": Flag(),
        "n_jobs": N_JOBS,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        **FEATURE_STATE,
        "n_components_": Size("n_components"),
        "components_": Array("f", ("n_components", "n_features")),
        "explained_variance_": Array("f", ("n_components",)),
        "explained_variance_ratio_": Array("f", ("n_components",)),
        "explained_variance_interval_": Array("f", ("n_components", 2)),
        "singular_values_": Array("f", ("n_components",)),
        "mean_": Array("f", ("n_features",)),
        "scale_": Array("f", ("n_features",)),
        "n_samples_": COUNT,
        "noise_variance_": AMOUNT,
        "total_variance_": AMOUNT,
        "solver_": Scalar(Choice(SOLVERS)),
        "solver_reason_": Sentence(),
        **FIT_STATE,
    }

    def __init__(
        self,
        n_components=None,
        *,
        scale=False,
        whiten=False,
        svd_solver="auto",
        tol=0.0,
        iterated_power="auto",
        n_oversamples=10,
        power_iteration_normalizer="auto",
        missing=None,
        random_state=0,
        copy=True,
        n_jobs=None,
        time_limit=None,
    ):
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.missing = missing
        self.random_state = random_state
        self.copy = copy
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    @one_blas_thread()
    def fit(self, X, y=None, sample_weight=None):
        """Learn the components of the rows of X: an array, a frame, a csr matrix, ``Blocks`` or ``Genotypes``."""
        check_params(self)
        watch = Watch(self)
        source = checked_source(self, X, sample_weight)
        check_route(self.svd_solver, self.n_components, kind_of(source))
        request = request_of(self, source.weight(), source.shape[1], source.dtype)
        request = request._replace(clock=Clock(watch.seconds_left, request.n_threads))

        outcome = watch.follow(
            in_range(source, request, partial(solver_steps, self.svd_solver)),
            max_rounds=None,
            fitted=lambda step: self._attributes(step.result(), step, source.dtype),
            X=source.X if isinstance(source, InMemory) else None,
            y=y,
            seconds_after=lambda step: step.seconds_after,
        )
        result = outcome.step.result()  # where the last decomposition is made

        self._store(result, outcome.step, source.dtype, outcome.reason)
        return self

    @with_callbacks
    @one_blas_thread()
    def partial_fit(self, X, y=None, sample_weight=None, check_input=True):
        """Add the rows of X to those of the calls before; the components are those of all rows so far.

        The sums are exact (``core/spectral/moments.py``), so the result is that of ``fit`` on all rows, whatever the
        batches were. They take n_features² numbers, which a model file does not keep: after ``fit`` or ``load`` the
        components, with equal noise beside them, stand for the rows before.
        """
        check_params(self)
        before = self._moments_so_far()
        source = checked_batch(self, X, sample_weight, reset=before is None)
        moments = merged(before or no_moments(source.shape[1]), batch_moments(source, thread_count("PCA", self.n_jobs)))
        source.check_finite(moments.mean)
        request = request_of(self, int(moments.weight), moments.mean.size, source.dtype)

        step = step_of_moments(moments, request)
        result = step.result()

        self._store(result, step, source.dtype, FINISHED)
        self._moments = moments
        return self

    def transform(self, X):
        """Return the scores of the rows of X; of ``Blocks``, as ``Blocks``, made when they are asked for."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            check_output_of_blocks(self)
            return self._scored_blocks(X)
        rows = given_rows(self, X)
        if isinstance(X, Genotypes):
            return self._whitened(np.sum([self._projected(block, columns) for block, columns in rows], axis=0))
        return self._scores(rows)

    def inverse_transform(self, X):
        """Return the rows that the scores stand for: as close to the original ones as the components allow.

        Of ``Blocks`` of scores they are ``Blocks`` too.
        """
        check_is_fitted(self)
        X = X if isinstance(X, Blocks) else check_matrix("PCA", X)
        n_columns = X.n_columns if isinstance(X, Blocks) else X.shape[1]
        check_score_columns(n_columns, self.n_components_)
        return self._rebuilt_blocks(X) if isinstance(X, Blocks) else self._rows_of(X)

    @one_blas_thread()
    def get_covariance(self):
        """Return the covariance of the rows by the model: that of the components, and equal noise beside them."""
        check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        V = self.components_.astype(np.float64)
        covariance = (V.T * excess) @ V + self.noise_variance_ * np.eye(self.n_features_in_)
        return covariance * np.outer(self.scale_, self.scale_)

    @one_blas_thread()
    def get_precision(self):
        """Return the inverse of ``get_covariance`` (Woodbury); without noise its pseudo-inverse."""
        check_is_fitted(self)
        noise, V = self.noise_variance_, self.components_.astype(np.float64)
        if noise == 0.0:
            return np.linalg.pinv(self.get_covariance(), hermitian=True)
        kept = np.maximum(self.explained_variance_, noise)
        precision = np.eye(self.n_features_in_) / noise + (V.T * (1.0 / kept - 1.0 / noise)) @ V
        return precision / np.outer(self.scale_, self.scale_)

    def score_samples(self, X):
        """Return the log-likelihood of each row under the model (probabilistic PCA, Tipping and Bishop).

        It is -inf where the model has directions without any variance: no density has that covariance.
        """
        check_is_fitted(self)
        if isinstance(X, Blocks):
            check_columns(self, X)
            return np.concatenate([self._likelihoods(block) for block in checked_blocks(X, None)])
        return self._likelihoods(check_rows(self, X, reset=False))

    def score(self, X, y=None):
        """Return the mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def check_fitted(self) -> None:
        """Raise unless the fitted numbers can be those of some rows."""
        check_fitted_numbers(
            scale=self.scale_,
            n_samples=self.n_samples_,
            variances=self.explained_variance_,
            singular_values=self.singular_values_,
            ratios=self.explained_variance_ratio_,
            intervals=self.explained_variance_interval_,
        )

    # --- fit, in parts

    def _attributes(self, result: PCAResult, step: Step, dtype: np.dtype) -> dict[str, Any]:
        """Return the fitted attributes that a result stands for, and how it was found."""
        reason = step.reason or f"svd_solver={self.svd_solver!r}"
        return {**attributes_of(result, dtype), "solver_": step.route, "solver_reason_": reason}

    def _store(self, result: PCAResult, step: Step, dtype: np.dtype, reason: str) -> None:
        attributes = self._attributes(result, step, dtype)
        limits = tolerances(self, step.route, dtype)
        certificate = certificate_of(result, attributes["components_"], limits, reason)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.stop_reason_ = reason
        self.certificate_ = certificate
        self.__dict__.pop("_moments", None)

    def _moments_so_far(self) -> Moments | None:
        if hasattr(self, "_moments") or not hasattr(self, "components_"):
            return getattr(self, "_moments", None)
        return moments_of_model(self)

    # --- transform, in parts

    @one_blas_thread()
    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of checked rows."""
        if self.missing is not None and not sparse.issparse(X) and np.isnan(X).any():
            if self.missing == "em":
                scores = observed_scores(X, self.mean_, self.scale_, self.components_.astype(np.float64))
                return self._whitened(scores.astype(X.dtype))
            X = with_means(X, self.mean_)
        return self._whitened(self._projected(X, slice(0, self.n_features_in_)))

    def _projected(self, X: Any, columns: slice) -> np.ndarray:
        """Return what some columns add to the scores."""
        A = Centred(X, np.ones(X.shape[0]), self.mean_[columns], self.scale_[columns])
        return row_products(A, self.components_[:, columns].T, thread_count("PCA", self.n_jobs))

    def _whitened(self, scores: np.ndarray) -> np.ndarray:
        return scores / self._spread().astype(scores.dtype) if self.whiten else scores

    def _rows_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the rows that checked scores stand for."""
        V = self.components_.astype(scores.dtype, copy=False)
        spread = self._spread().astype(scores.dtype) if self.whiten else scores.dtype.type(1.0)

        def part(rows: slice) -> np.ndarray:
            return (((scores[rows] * spread) @ V) * self.scale_ + self.mean_).astype(scores.dtype)

        blocks = row_blocks(len(scores), max(1, BLOCK_VALUES // self.n_features_in_))
        return np.concatenate(results_of(part, blocks, thread_count("PCA", self.n_jobs)))

    def _spread(self) -> np.ndarray:
        """Return the standard deviation of each score, at least what is no rounding beside the largest."""
        spread = np.sqrt(self.explained_variance_)
        largest = float(spread.max(initial=0.0)) or 1.0
        return np.maximum(spread, np.finfo(self.components_.dtype).eps * largest)

    @one_blas_thread()
    def _likelihoods(self, X: np.ndarray) -> np.ndarray:
        """Return the log-likelihoods of checked rows."""
        centred = (X - self.mean_) / self.scale_
        squares = (centred @ self.components_.astype(np.float64).T) ** 2
        kept, n_left = (
            np.maximum(self.explained_variance_, self.noise_variance_),
            self.n_features_in_ - self.n_components_,
        )
        spreads = np.append(kept, np.full(n_left, self.noise_variance_))
        if (spreads == 0.0).any():
            return np.full(X.shape[0], -np.inf)
        distance = (squares / kept).sum(axis=1)
        if n_left:
            distance += ((centred**2).sum(axis=1) - squares.sum(axis=1)) / self.noise_variance_
        log_determinant = np.log(spreads).sum() + 2.0 * np.log(self.scale_).sum()
        return -0.5 * (distance + self.n_features_in_ * np.log(2.0 * np.pi) + log_determinant)

    def _scored_blocks(self, X: Blocks) -> Blocks:
        names = tuple(self.get_feature_names_out())
        check_columns(self, X)
        return X.changed(partial(block_results, partial(scores_of_block, self, X.columns), X), names)

    def _rebuilt_blocks(self, X: Blocks) -> Blocks:
        blocks = partial(checked_blocks, X, None)
        names = tuple(input_names(self, None))
        return X.changed(lambda: (self._rows_of(block) for block in blocks()), names)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def scores_of_block(
    model: PCA, columns: tuple[str, ...], block: np.ndarray, weights: np.ndarray | None, first_row: int
) -> np.ndarray:
    """Return the scores of a block of a stream."""
    return model._scores(checked_block(block, columns, first_row, None, missing=model.missing is not None))
