"""PCA with scikit-learn's face: one class for every shape and size of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.spectral.centred import Centred, row_products
from eigenwood.core.spectral.filling import observed_scores, with_means
from eigenwood.core.spectral.moments import Moments, columns_of, merged, moments_of, no_moments
from eigenwood.core.spectral.pairs import Wanted, products_of_columns
from eigenwood.core.threads import one_blas_thread, results_of, row_blocks
from eigenwood.data.genotypes import Genotypes
from eigenwood.data.row_blocks import Blocks
from eigenwood.errors import InputError
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.pca_clock import Clock
from eigenwood.estimators.pca_filling import filling_steps
from eigenwood.estimators.pca_gate import (
    asked_count,
    check_blocks_are_wanted,
    check_columns,
    check_finite_means,
    check_route,
    check_whole,
    checked_blocks,
    checked_source,
    filled_pieces,
    given_rows,
    row_pieces,
    standard_scale,
)
from eigenwood.estimators.pca_growing import growing_steps
from eigenwood.estimators.pca_routes import ROUTES, SETTLED, Request, Step, from_moments, in_range, in_true_units, once
from eigenwood.estimators.pca_sources import Source, Whole, trying
from eigenwood.estimators.pca_units import BeyondRangeError, check_range, in_units, units_for, units_of_moments
from eigenwood.estimators.state import AMOUNT, COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, Deadline, Watch, Watched
from eigenwood.proofs.claim import Claim
from eigenwood.proofs.pca import (
    FILLED,
    REFILLED,
    PcaFacts,
    Pieces,
    Stated,
    Tolerances,
    change_of_holes,
    excused,
    facts_from_rows,
    intervals,
    is_cut,
    largest_variance_beside,
    missed_claim,
    pca_certificate,
    turned_count,
    unsettled_claim,
    without_components,
)
from eigenwood.validation.arrays import check_matrix, check_rows
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, Share, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array, Scalar, Sentence, Size
from eigenwood.validation.threads import N_JOBS, thread_count

SOLVERS = ("full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "randomized", "power", "oja")
APPROXIMATE = ("randomized", "oja")
COUNTED = (*APPROXIMATE, "gram_refined")  # these find so many components, not a share of the variance
LOOSE = 1e-2  # ‖Cv - λv‖ / λ₁ up to which an approximate route is to be trusted
BLOCK_VALUES = 2**22  # of rows that are made from scores at once
ROUNDING = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-10}


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
        "n_components": AnyOf(Nothing(), Number(at_least=0, whole=True), Share(below=1.0), Choice(("mle",))),
        "scale": AnyOf(Flag(), Choice(("allele_frequency",))),
        "whiten": Flag(),
        "svd_solver": Choice(tuple(ROUTES)),
        "tol": Number(at_least=0),
        "iterated_power": AnyOf(Choice(("auto",)), Number(at_least=0, whole=True)),
        "n_oversamples": Number(at_least=1, whole=True),
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
        check_route(self, source)
        request = self._request(source.weight(), source.shape[1], source.dtype)
        request = request._replace(clock=Clock(watch.seconds_left, request.n_threads))

        outcome = watch.follow(
            in_range(source, request, self._steps),
            max_rounds=None,
            fitted=lambda step: self._attributes(step, source.dtype),
            X=source.X if isinstance(source, Whole) else None,
            y=y,
            seconds_after=lambda step: step.seconds_after,
        )

        self._store(outcome.step, source.dtype, outcome.reason)
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
        source = check_whole(checked_source(self, X, sample_weight, reset=before is None), X)
        moments = merged(before or no_moments(source.shape[1]), batch_moments(source, thread_count("PCA", self.n_jobs)))
        check_finite_means(self, source, moments)
        units = units_of_moments(moments, self.scale is True)
        request = self._request(int(moments.weight), moments.mean.size, source.dtype)._replace(units=units)
        found = once(in_true_units, once(from_moments, in_units(moments, units), request), units)
        step = Step(found, "covariance_eigh", "the moments of all batches", whole=True, last=True)
        self._store(step, source.dtype, FINISHED)
        self._moments = moments
        return self

    def transform(self, X):
        """Return the scores of the rows of X; of ``Blocks``, as ``Blocks``, made when they are asked for."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            check_blocks_are_wanted(self)
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
        if n_columns != self.n_components_:
            raise InputError(f"PCA: X must have {self.n_components_} columns; got {n_columns}.")
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
        variances, (low, high) = self.explained_variance_, self.explained_variance_interval_.T
        rules = {
            "scale_": ((self.scale_ > 0.0).all(), "be above 0"),
            "n_samples_": (self.n_samples_ >= 1, "be at least 1"),
            "explained_variance_": ((variances >= 0.0).all() and is_falling(variances), "be at least 0 and descend"),
            "singular_values_": ((self.singular_values_ >= 0.0).all(), "be at least 0"),
            "explained_variance_ratio_": ((self.explained_variance_ratio_ >= 0.0).all(), "be at least 0"),
            "explained_variance_interval_": (
                ((low >= 0.0) & (low <= variances) & (variances <= high)).all(),
                "hold the variances, from 0 on",
            ),
        }
        for name, (is_kept, rule) in rules.items():
            if not is_kept:
                raise InputError(f"PCA: {name} must {rule}; got other numbers.")

    # --- fit, in parts

    def _request(self, n_rows: int | None, n_columns: int, dtype: np.dtype) -> Request:
        """Return what is asked for, as numbers; raise where the data cannot give it."""
        count, share = asked_count(self, n_rows, n_columns)
        return Request(
            wanted=Wanted(count, share),
            mle=self.n_components == "mle",
            scale=standard_scale(self.scale, dtype),
            tol=float(self.tol),
            n_oversamples=int(self.n_oversamples),
            n_iter=None if self.iterated_power == "auto" else int(self.iterated_power),
            seed=int(integer_seeds(self.random_state, 1)[0]),
            n_threads=thread_count("PCA", self.n_jobs),
            dtype=dtype,
            nothing=max(8.0 * np.finfo(dtype).eps, 4.0 * np.finfo(np.float64).eps * np.sqrt(n_columns)),
            by_column=self.scale is True,
        )

    def _steps(self, source: Source, request: Request) -> Iterator[Step]:
        route = ROUTES[self.svd_solver]
        if request.wanted.share is not None and self.svd_solver in COUNTED:
            return growing_steps(source, request, route)
        if isinstance(source, Whole) and source.holes is not None:
            return filling_steps(source, request, route)
        return route(source, request)

    def _attributes(self, step: Step, dtype: np.dtype) -> dict[str, Any]:
        """Return the fitted attributes that a step stands for."""
        found = step.found()
        columns, variances = found.columns, found.variances
        n_left = min(columns.weight, columns.mean.size) - variances.size
        rest = max(found.total - float(variances.sum()), 0.0)
        return {
            "n_components_": variances.size,
            "components_": found.components.astype(dtype, copy=False),
            "explained_variance_": variances,
            "explained_variance_ratio_": variances / found.total if found.total > 0.0 else np.zeros(variances.size),
            "explained_variance_interval_": intervals(variances, found.residuals, ROUNDING[dtype]),
            "singular_values_": np.sqrt(variances * (columns.weight - 1.0)),
            "mean_": columns.mean,
            "scale_": found.scale,
            "n_samples_": columns.n_rows,
            "noise_variance_": rest / n_left if n_left >= 1.0 else 0.0,
            "total_variance_": found.total,
            "solver_": step.route,
            "solver_reason_": step.reason or f"svd_solver={self.svd_solver!r}",
        }

    def _store(self, step: Step, dtype: np.dtype, reason: str) -> None:
        attributes = self._attributes(step, dtype)
        certificate = pca_certificate(facts_of(step, attributes, tolerances(self, step.route, dtype)))
        if reason != FINISHED or (step.found().is_cut and not certificate.holds):
            certificate = without_components(certificate, attributes["n_components_"], reason)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.stop_reason_ = reason
        self.certificate_ = certificate
        self.__dict__.pop("_moments", None)

    def _moments_so_far(self) -> Moments | None:
        if hasattr(self, "_moments") or not hasattr(self, "components_"):
            return getattr(self, "_moments", None)
        V = self.components_.astype(np.float64)
        n_left = self.n_features_in_ - self.n_components_
        rest = max(self.total_variance_ - float(self.explained_variance_.sum()), 0.0) / max(n_left, 1)
        covariance = (V.T * (self.explained_variance_ - rest)) @ V + rest * np.eye(self.n_features_in_)
        degrees = self._degrees()
        scatter = degrees * covariance * np.outer(self.scale_, self.scale_)
        return Moments(self.n_samples_, degrees + 1.0, self.mean_, scatter)

    def _degrees(self) -> float:
        """Return the weight of all rows without 1, which singular values and variances tell."""
        largest = self.explained_variance_.max(initial=0.0)
        return float(self.singular_values_[0] ** 2 / largest) if largest > 0.0 else self.n_samples_ - 1.0

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
        blocks = partial(checked_blocks, X, None, missing=self.missing is not None)
        return replace(X, columns=names, pieces=lambda: (self._scores(block) for block in blocks()))

    def _rebuilt_blocks(self, X: Blocks) -> Blocks:
        blocks = partial(checked_blocks, X, None)
        names = tuple(input_names(self, None))
        return replace(X, columns=names, pieces=lambda: (self._rows_of(block) for block in blocks()))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_falling(values: np.ndarray) -> bool:
    return bool((np.diff(values) <= 0.0).all())


def batch_moments(source: Whole, n_threads: int) -> Moments:
    """Return the moments of a batch; huge and tiny numbers are summed in units."""
    with trying():
        moments = moments_of(source.X, source.weights, n_threads)
    try:
        check_range(columns_of(moments), False, source.dtype, source.sizes_at)
    except BeyondRangeError:
        units = units_for(source.sizes(), False, source.dtype)
        moments = units.of_moments(moments_of(source.divided(units).X, source.weights, n_threads))
    return moments


def tolerances(model: PCA, route: str, dtype: np.dtype) -> Tolerances:
    """Return how exact a route is meant to be."""
    exact = REFILLED if model.missing == "em" else 2.0 * SETTLED[dtype]  # components follow the holes
    tolerance = LOOSE if route in APPROXIMATE else max(float(model.tol), exact)
    return Tolerances(tolerance, exact, ROUNDING[dtype])


def facts_of(step: Step, attributes: dict[str, Any], limits: Tolerances) -> PcaFacts:
    """Return the facts as the route knows them, which costs no further look at the rows."""
    found, angles = step.found(), products_of_columns(attributes["components_"].T)
    lost = found.total - float(found.variances @ angles.diagonal())
    return PcaFacts(
        variances=found.variances,
        residuals=found.residuals,
        skew=float(np.abs(angles - np.eye(angles.shape[0])).max(initial=0.0)),
        n_turned=turned_count(attributes["components_"]),
        kept_and_lost=float(found.variances.sum()) + lost,
        total=found.total,
        filling=None if found.filling is None else (f"the last of {found.filling[0]} rounds", found.filling[1], FILLED),
        tolerance=limits.residual,
        rounding=limits.rounding,
    )


def verify_pca(model: PCA, X: Any, sample_weight: Any = None, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, measured anew on the rows given, and at the end what a search for larger variances finds."""
    pieces, stated = partial(each_in_time, row_pieces(model, X, sample_weight), deadline), stated_by(model)
    facts = measured_facts(model, X, pieces, stated)
    is_settled = model.stop_reason_ == FINISHED and not is_cut(model.certificate_)
    if not is_settled:
        yield unsettled_claim(model.n_components_, model.stop_reason_)
    knew_all = facts.n_other_rows == 0 and facts.filling is None
    for claim in claims_about_rows(pieces, stated, facts):
        yield claim if is_settled else excused(claim, knew_all)


@one_blas_thread()
def measured_facts(model: PCA, X: Any, pieces: Pieces, stated: Stated) -> PcaFacts:
    """Return what one look at the rows tells."""
    facts = facts_from_rows(pieces, stated, tolerances(model, model.solver_, model.components_.dtype))
    if model.missing == "em":
        change = change_of_holes(partial(filled_pieces, model, X), pieces, stated)
        facts = facts._replace(filling=None if change is None else ("one more round", change, REFILLED))
    return facts


def claims_about_rows(pieces: Pieces, stated: Stated, facts: PcaFacts) -> Iterator[Claim]:
    """Yield what follows from one look at the rows, and then what a search finds."""
    yield from pca_certificate(facts)
    if facts.variances.size > 0:
        with one_blas_thread():
            beside = largest_variance_beside(pieces, stated, facts)
        yield missed_claim(facts, beside)


def each_in_time(pieces: Callable[[], Iterator], deadline: Deadline) -> Iterator:
    """Yield the pieces, as long as there is time."""
    for piece in pieces():
        deadline.check()
        yield piece


def stated_by(model: PCA) -> Stated:
    """Return the numbers that a model states, to be checked."""
    return Stated(
        mean=model.mean_,
        scale=model.scale_,
        components=model.components_,
        variances=model.explained_variance_,
        ratios=model.explained_variance_ratio_,
        singular_values=model.singular_values_,
        intervals=model.explained_variance_interval_,
        total=float(model.total_variance_),
        noise=float(model.noise_variance_),
        n_rows=model.n_samples_,
    )
