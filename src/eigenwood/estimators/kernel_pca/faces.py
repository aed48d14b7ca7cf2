"""Kernel PCA with scikit-learn's face."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.sums import kernel_sums
from eigenwood.core.threads import one_blas_thread
from eigenwood.data.row_blocks import Blocks
from eigenwood.estimators.kernel_pca.fitting import attributes_of, certificate_of, ridge_attributes
from eigenwood.estimators.kernel_pca.going_back import Denoised, distances_to, rows_of_scores, usual_way
from eigenwood.estimators.kernel_pca.input_checks import (
    checked_problem,
    checked_queries,
    query_blocks,
    request_of,
    threads_of,
)
from eigenwood.estimators.kernel_pca.planning import LOW_RANK, ROUTES, planned
from eigenwood.estimators.kernel_pca.routes import solver_steps
from eigenwood.estimators.kernel_pca.streaming import drawn_rows, stream_problem, stream_steps
from eigenwood.estimators.kernel_pca.types import Problem, Request, Result, Step, Steps
from eigenwood.estimators.kernels import SIMILARITY_PARAMS, similarity, takes_sparse
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.pca.input_checks import check_output_of_blocks
from eigenwood.estimators.state import AMOUNT, COUNT, FEATURE_STATE, FIT_STATE, POSITIVE
from eigenwood.estimators.watching import TIME_LIMIT, Watch, Watched, all_or_nothing
from eigenwood.validation.arrays import check_matrix
from eigenwood.validation.kernel_pca import (
    PREIMAGES,
    RIDGE,
    WHO,
    check_blocks,
    check_can_go_back,
    check_fitted_numbers,
    check_fitted_shapes,
    check_score_columns,
    preimage_of,
    warn_of_negative,
)
from eigenwood.validation.memory import MEMORY_LIMIT, memory_bytes
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Seed, Share, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array, Scalar, Sentence
from eigenwood.validation.threads import N_JOBS

PER_COMPONENT, PER_KEPT = Array("f", ("n_components",)), Array("f", ("n_kept",))


@describe
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Watched, BaseEstimator):
    """Principal components in the space of a kernel, at any number of rows.

    Like :class:`sklearn.decomposition.KernelPCA`, with its parameters and attributes. Differences: (1) K need not fit
    in memory: its values are computed again for each product, or a low-rank kernel stands for it, and every eigenvalue
    has an interval; (2) ``explained_variance_ratio_``, from the trace of the centred K; (3) rows may come from
    ``data.blocks``; (4) three ways back to rows, and ``denoise``; (5) ``time_limit``, callbacks, and a
    ``certificate_``; (6) a function compares two blocks of rows, or two rows; (7) eigenvalues are float64.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components; None is all whose eigenvalue is above 0.
    kernel : str or function, default='linear'
        'linear', 'poly', 'rbf', 'laplacian', 'sigmoid', 'cosine', 'chi2', 'precomputed', or a function of two blocks of
        rows (or, as for scikit-learn, of two rows).
    gamma : float, 'scale', 'auto' or None, default=None
        The kernel's width; None is 1 / n_features, and 1 for 'chi2'.
    degree, coef0 : float, default=3, 1
        The power of 'poly', and the constant of 'poly' and 'sigmoid'.
    kernel_params : dict or None, default=None
        Arguments for a function.
    alpha : float, default=1.0
        The ridge of ``preimage='ridge'``.
    fit_inverse_transform : bool, default=False
        Scikit-learn's name for ``preimage='ridge'``.
    eigen_solver : str, default='auto'
        'dense' (LAPACK), 'krylov' or 'arpack' (block Lanczos until residuals are small, on K in memory or in tiles),
        'randomized', 'low_rank' (F Fᵀ ≈ K from some rows). 'auto' takes what is exact as long as memory allows it;
        ``solver_`` and ``solver_reason_`` tell which and why.
    tol : float, default=0
        Iterations end when ‖K̃v - λv‖ is at most this times the largest eigenvalue; 0 is 1e-5 for float32, 1e-8 for
        float64, and 1e-6 for float64 where K is not in memory.
    max_iter : int or None, default=None
        The most products of 'krylov' with a block.
    iterated_power : 'auto' or int, default='auto'
        Products of 'randomized'.
    remove_zero_eig : bool, default=False
        Whether components of eigenvalue 0 are left out, as they are for ``n_components=None``.
    random_state : int, RandomState or None, default=0
        Draws landmarks and first blocks.
    copy_X : bool, default=True
        Whether X_fit_ is a copy of X.
    n_landmarks : int, float in (0, 1) or None, default=None
        Rows that make a low-rank kernel: so many, or as many as leave at most this share of the trace; None is 10 for
        each component, at least 300.
    preimage : 'ridge', 'fixed_point', 'distances' or None, default=None
        How ``inverse_transform`` goes back: kernel ridge regression, the fixed point of a Gaussian kernel, or distances
        to training rows; None is 'ridge' with ``fit_inverse_transform``, and else no way.
    memory_limit : float or None, default=None
        Megabytes for values of K; None is half of what is free.

    Attributes
    ----------
    eigenvalues_, eigenvectors_, X_fit_, gamma_, n_features_in_, feature_names_in_
        As in scikit-learn; X_fit_ are the landmarks where there are some, and rows in blocks have no eigenvectors_.
    dual_coef_, X_transformed_fit_
        Of ``preimage='ridge'``, as in scikit-learn.
    eigenvalue_interval_ : ndarray of shape (n_components, 2), each holds an eigenvalue of the centred K
    explained_variance_ratio_, total_variance_, trace_, trace_error_
        Shares of the trace of the centred K, that trace, tr K, and what a low-rank kernel misses of it.
    projection_, offset_, mean_weights_
        The score of x is k(x, X_fit_) @ projection_ - offset_; the mean of all rows is Σ mean_weights_ φ(X_fit_).
    landmark_indices_ : ndarray, the places of the landmarks among the rows; empty if all are kept
    n_samples_, solver_, solver_reason_, stop_reason_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwood import KernelPCA
    >>> angle = np.linspace(0.0, 6.2, 40)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3.0 * ring])
    >>> model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    >>> scores = model.transform(X)
    >>> model.explained_variance_ratio_.round(3).tolist(), model.solver_, model.certificate_.holds
    ([0.161, 0.131], 'dense', True)
    """

    PARAMS = {
        "n_components": AnyOf(Nothing(), Number(at_least=1, integer=True)),
        **SIMILARITY_PARAMS,
        "alpha": Number(at_least=0),
        "fit_inverse_transform": Flag(),
        "eigen_solver": Choice(("auto", "dense", "arpack", "krylov", "randomized", "low_rank")),
        "tol": Number(at_least=0),
        "max_iter": AnyOf(Nothing(), Number(at_least=1, integer=True)),
        "iterated_power": AnyOf(Choice(("auto",)), Number(at_least=0, integer=True)),
        "remove_zero_eig": Flag(),
        "random_state": Seed(),
        "copy_X": Flag(),
        "n_landmarks": AnyOf(Nothing(), Number(at_least=1, integer=True), Share(below=1.0)),
        "preimage": AnyOf(Nothing(), Choice(PREIMAGES)),
        "n_jobs": N_JOBS,
        "memory_limit": MEMORY_LIMIT,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        **FEATURE_STATE,
        "eigenvalues_": PER_COMPONENT,
        "eigenvectors_": Array("f", ("n_samples", "n_components")),
        "eigenvalue_interval_": Array("f", ("n_components", 2)),
        "explained_variance_ratio_": PER_COMPONENT,
        "total_variance_": AMOUNT,
        "trace_": Scalar(Number()),
        "trace_error_": AMOUNT,
        "X_fit_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
        "projection_": Array("f", ("n_kept", "n_components")),
        "offset_": PER_COMPONENT,
        "mean_weights_": PER_KEPT,
        "landmark_indices_": Array("i", ("n_landmarks",)),
        "X_transformed_fit_": Array("f", ("n_samples", "n_components")),
        "dual_coef_": Array("f", ("n_samples", "n_features")),
        "gamma_": POSITIVE,
        "n_samples_": COUNT,
        "solver_": Scalar(Choice(ROUTES)),
        "solver_reason_": Sentence(),
        **FIT_STATE,
    }
    OPTIONAL = frozenset({"eigenvectors_", "X_transformed_fit_", "dual_coef_"})

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=0,
        copy_X=True,
        n_landmarks=None,
        preimage=None,
        n_jobs=None,
        memory_limit=None,
        time_limit=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_landmarks = n_landmarks
        self.preimage = preimage
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.time_limit = time_limit

    @with_callbacks
    @one_blas_thread()
    def fit(self, X, y=None):
        """Learn the components of the rows of X: an array, a frame, a csr matrix, ``Blocks``, or their Gram matrix."""
        check_params(self)
        watch = Watch(self)
        problem, request, steps = self._stream(X, watch) if isinstance(X, Blocks) else self._table(X, watch)

        outcome = watch.follow(
            steps,
            max_rounds=None,
            fitted=lambda step: self._attributes(problem, request, step),
            X=None if isinstance(X, Blocks) else problem.X,
            y=y,
            seconds_after=lambda step: step.seconds_after,
        )
        result, step = outcome.step.result(), outcome.step  # where the last decomposition is made

        attributes = self._attributes(problem, request, step)
        certificate = certificate_of(self, result, step.route, problem.K.dtype(), outcome.reason)
        for name in self.OPTIONAL:
            self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.stop_reason_ = outcome.reason
        self.certificate_ = certificate
        warn_of_negative(result.smallest, certificate)
        return self

    def fit_transform(self, X, y=None):
        """Learn the components; return the scores of the rows of X, which are known by then."""
        self.fit(X, y)
        if isinstance(X, Blocks):
            return self.transform(X)
        dtype = self.X_fit_.dtype if self.kernel != "precomputed" else np.float64
        return (self.eigenvectors_ * np.sqrt(self.eigenvalues_)).astype(dtype)

    def transform(self, X):
        """Return the scores of the rows of X; of ``Blocks``, as ``Blocks``, made when they are asked for."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            check_output_of_blocks(self)
            names = tuple(self.get_feature_names_out())
            blocks = partial(query_blocks, self, X)
            return X.changed(lambda: (self._scores(block) for block in blocks()), names)
        return self._scores(checked_queries(self, X))

    @one_blas_thread()
    def inverse_transform(self, X):
        """Return the rows that scores stand for, by the way that ``preimage`` says."""
        check_is_fitted(self)
        way = preimage_of(self)
        check_can_go_back(way)
        scores = check_matrix(WHO, X)
        check_score_columns(scores.shape[1], self.eigenvalues_.size)
        return rows_of_scores(self, scores, str(way), None, threads_of(self))

    @one_blas_thread()
    def denoise(self, X) -> Denoised:
        """Return the rows of X, projected on the components and brought back, and ‖Pφ(x) - φ(z)‖² for each.

        The way back is that of ``preimage``, or the fixed point of a Gaussian kernel, which also starts from x itself.
        """
        check_is_fitted(self)
        way = preimage_of(self) or usual_way(self)
        check_can_go_back(way)
        rows = checked_queries(self, X)
        scores = self._scores(rows)
        found = rows_of_scores(self, scores, str(way), rows, threads_of(self))
        return Denoised(found, distances_to(self, scores, found, threads_of(self)))

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.size

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters: what a model file says is not taken on trust."""
        check_fitted_shapes(
            is_precomputed=self.kernel == "precomputed",
            is_low_rank=self.solver_ == LOW_RANK,
            vectors=self.X_fit_.shape,
            n_kept=self.mean_weights_.size,
            landmarks=self.landmark_indices_,
            n_samples=self.n_samples_,
            n_features=self.n_features_in_,
        )
        check_fitted_numbers(
            self.eigenvalues_, self.eigenvalue_interval_, self.explained_variance_ratio_, self.total_variance_
        )

    # --- fit, in parts

    def _table(self, X: Any, watch: Watch) -> tuple[Problem, Request, Steps]:
        problem = checked_problem(self, X)
        request = request_of(self, problem.n_rows(), watch)
        return problem, request, solver_steps(problem, planned(problem, self.eigen_solver, request), request)

    def _stream(self, X: Blocks, watch: Watch) -> tuple[Problem, Request, Steps]:
        check_blocks(self.eigen_solver, self.kernel == "precomputed", preimage_of(self))
        with all_or_nothing(self):
            seed = int(integer_seeds(self.random_state, 1)[0])
            problem = stream_problem(self, *drawn_rows(self, X, memory_bytes(self.memory_limit), seed))
        request = request_of(self, problem.n_rows(), watch)
        return problem, request, stream_steps(problem, X, request)

    def _attributes(self, problem: Problem, request: Request, step: Step) -> dict[str, Any]:
        """Return the fitted attributes that a step stands for."""
        result = step.result()
        kept = None if self.kernel == "precomputed" else self._kept_rows(problem, result)
        found = attributes_of(problem, result, kept)
        if preimage_of(self) == RIDGE:
            kernel = similarity(self, problem.gamma, problem.X)
            found |= ridge_attributes(result, problem.X, kernel, float(self.alpha), request)
        return {**found, "solver_": step.route, "solver_reason_": step.reason}

    def _kept_rows(self, problem: Problem, result: Result) -> Any:
        return problem.X if result.landmarks is None else problem.X[result.landmarks]

    # --- transform, in parts

    @one_blas_thread()
    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of checked rows."""
        if self.kernel == "precomputed":
            near = X[:, self.landmark_indices_] if self.landmark_indices_.size else X
            return (near @ self.projection_ - self.offset_).astype(X.dtype, copy=False)
        kernel, vectors = similarity(self, self.gamma_, self.X_fit_), self.X_fit_
        assert kernel is not None
        if sparse.issparse(X) != sparse.issparse(vectors):
            X, vectors = sparse.csr_array(X), sparse.csr_array(vectors)
        sums = kernel_sums(X, vectors.astype(X.dtype, copy=False), kernel, self.projection_, threads_of(self))
        return (sums - self.offset_).astype(X.dtype, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
