"""Low-rank kernels with the face of scikit-learn's Nystroem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.blocks import gram, gram_diagonal
from eigenwood.core.kernels.low_rank import (
    TRACE_ROUNDING,
    LowRank,
    LowRankStep,
    Rank,
    given_pivots,
    low_rank_features,
    random_pivots,
)
from eigenwood.core.kernels.matrix import KernelMatrix, kernel_matrix
from eigenwood.core.threads import one_blas_thread, row_blocks
from eigenwood.estimators.kernels import SIMILARITY_PARAMS, check_similarity_range, similarity, similarity_gamma
from eigenwood.estimators.kernels import takes_sparse as takes_sparse_rows
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import AMOUNT, FEATURE_STATE, FIT_STATE, POSITIVE
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, Deadline, Watch, Watched
from eigenwood.proofs.claim import Claim, at_most
from eigenwood.proofs.low_rank import (
    LowRankFacts,
    factor_error,
    inverse_of,
    low_rank_certificate,
    low_rank_claims,
    stopped_claim,
)
from eigenwood.validation.arrays import check_rows
from eigenwood.validation.kernels import check_dense_gram, check_square, check_symmetric
from eigenwood.validation.low_rank import (
    check_landmarks,
    check_own_numbers,
    check_rows_for_means,
    landmark_capacity,
)
from eigenwood.validation.memory import MEMORY_LIMIT
from eigenwood.validation.params import AnyOf, Choice, Number, Seed, Share, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array
from eigenwood.validation.threads import N_JOBS, thread_count

WHO = "LowRankKernel"
VERIFIED_VALUES = 2**22  # of the kernel, between two looks at the clock
PIVOTED, UNIFORM, MEANS = "rpcholesky", "uniform", "kmeans++"
FULL = "memory_limit left no room for more landmarks"


@describe
class LowRankKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Watched, BaseEstimator):
    """Features whose inner products are about a kernel: F Fᵀ ≈ K, from a few rows of the table.

    Like :class:`sklearn.kernel_approximation.Nystroem`, with its parameters and attributes. Differences: (1) landmarks
    are drawn where the kernel is least explained so far (randomly pivoted Cholesky), (2) what is missing is known:
    ``trace_error_`` is tr(K - F Fᵀ), and no eigenvalue of K is missed by more, (3) ``n_components`` may be a share of
    the trace that may be missing, (4) a function compares two blocks of rows, or two rows, (5) rows that add nothing
    are left out, so there may be fewer features than ``n_components``.

    Parameters
    ----------
    kernel : str or function, default='rbf'
        'linear', 'poly' or 'polynomial', 'rbf', 'laplacian', 'sigmoid', 'cosine', 'chi2', 'precomputed',
        or a function of two blocks of rows (or, as for scikit-learn, of two rows).
    gamma : float, 'scale', 'auto' or None, default=None
        The kernel's width; None is 1 / n_features, and 1 for 'chi2', as in scikit-learn.
    coef0, degree : float or None, default=None
        The constant of 'poly' and 'sigmoid', 1 if None, and the power of 'poly', 3 if None.
    kernel_params : dict or None, default=None
        Arguments for a function.
    n_components : int or float in (0, 1), default=100
        How many landmarks; or the share of the trace that may be missing, for which as many are taken as it needs.
    method : 'rpcholesky', 'uniform' or 'kmeans++', default='rpcholesky'
        How landmarks are drawn: by what is left of the kernel's diagonal, all rows alike, or far from each other.
    random_state : int, RandomState or None, default=0
        Draws the landmarks.
    memory_limit : float or None, default=None
        Megabytes for the features of the training rows; None is half of what is free.

    Attributes
    ----------
    components_, component_indices_ : the landmarks, by value and by place
    normalization_ : ndarray of shape (n_components, n_components)
        L⁻¹ with L Lᵀ = K[landmarks, landmarks]; the features of x are k(x, landmarks) @ normalization_.T.
    trace_error_, trace_ : float, tr(K - F Fᵀ) and tr K over the training rows
    gamma_, n_features_in_, feature_names_in_, stop_reason_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwood import LowRankKernel
    >>> X = np.linspace(0.0, 1.0, 50).reshape(-1, 1)
    >>> model = LowRankKernel(gamma=1.0, n_components=0.001).fit(X)
    >>> model.transform(X).shape, bool(model.trace_error_ <= 0.001 * model.trace_), model.certificate_.holds
    ((50, 3), True, True)
    """

    PARAMS = {
        **SIMILARITY_PARAMS,
        "n_components": AnyOf(Number(at_least=1, integer=True), Share(below=1.0)),
        "method": Choice((PIVOTED, UNIFORM, MEANS)),
        "random_state": Seed(),
        "n_jobs": N_JOBS,
        "memory_limit": MEMORY_LIMIT,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {
        **FEATURE_STATE,
        "component_indices_": Array("i", ("n_landmarks",)),
        "components_": Array("f", ("n_vectors", "n_vector_features"), or_sparse=True),
        "normalization_": Array("f", ("n_landmarks", "n_landmarks")),
        "trace_error_": AMOUNT,
        "trace_": AMOUNT,
        "gamma_": POSITIVE,
        **FIT_STATE,
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        method=PIVOTED,
        random_state=0,
        n_jobs=None,
        memory_limit=None,
        time_limit=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.time_limit = time_limit

    def fit(self, X, y=None):
        """Choose the landmarks among the rows of X (or of their Gram matrix, if precomputed)."""
        self._fitted(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Choose the landmarks; return the features of the rows of X, which are known by then."""
        return self._fitted(X, y).factor

    @with_callbacks
    def _fitted(self, X: Any, y: Any) -> LowRank:
        """Store the fitted attributes; return the factorisation."""
        check_params(self)
        watch = Watch(self)
        X, K, gamma = self._checked_kernel(X)
        rank = self._rank(K)

        outcome = watch.follow(
            self._steps(X, K, rank),
            max_rounds=None,
            fitted=lambda step: self._attributes(X, gamma, step.result),
            X=X,
            y=y,
        )
        found = outcome.step.result

        for name, value in self._attributes(X, gamma, found).items():
            setattr(self, name, value)
        self.stop_reason_ = outcome.reason
        facts = self._facts_of_fit(K, found, is_full=rank.count < K.n_rows())
        self.certificate_ = low_rank_certificate(facts, outcome.reason == FINISHED)
        return found

    @one_blas_thread()
    def transform(self, X):
        """Return the features of the rows of X; if precomputed, of their similarities to all training rows."""
        check_is_fitted(self)
        X = self._checked_rows(X, reset=False)
        if self.kernel == "precomputed":
            X, kernel, landmarks = X[:, self.component_indices_], None, None
        else:
            kernel, landmarks = similarity(self, self.gamma_, self.components_), self.components_
            check_similarity_range(WHO, kernel, X)
            X, landmarks = alike(X, landmarks)
        features = low_rank_features(X, landmarks, kernel, inverse_of(self.normalization_), self._threads())
        return features.astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return self.component_indices_.size

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters: what a model file says is not taken on trust."""
        is_gram = self.kernel == "precomputed"
        check_landmarks(WHO, self.components_.shape, self.component_indices_.size, self.n_features_in_, is_gram)

    # --- fit, in parts

    def _checked_rows(self, X: Any, reset: bool) -> Any:
        if self.kernel == "precomputed":
            check_dense_gram(WHO, X)
        return check_rows(self, X, reset=reset, accept_sparse=takes_sparse_rows(self))

    def _checked_kernel(self, X: Any) -> tuple[Any, KernelMatrix, float]:
        """Return the rows, their kernel matrix, and gamma."""
        numbers = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        check_own_numbers(WHO, self.kernel, numbers)
        check_rows_for_means(WHO, self.method, self.kernel == "precomputed")
        X = self._checked_rows(X, reset=True)
        if self.kernel == "precomputed":
            check_symmetric(WHO, check_square(WHO, X), "a precomputed X")
            return X, kernel_matrix(X, None), 1.0
        gamma = similarity_gamma(self, X)
        kernel = similarity(self, gamma, X)
        check_similarity_range(WHO, kernel, X)
        return X, kernel_matrix(X, kernel), gamma

    def _rank(self, K: KernelMatrix) -> Rank:
        """Return how many landmarks there may be, and the share of the trace that may be missing."""
        count = landmark_capacity(WHO, self.n_components, K.n_rows(), K.dtype(), self.memory_limit)
        return Rank(count) if isinstance(self.n_components, int | np.integer) else Rank(count, float(self.n_components))

    def _steps(self, X: Any, K: KernelMatrix, rank: Rank) -> Iterator[LowRankStep]:
        seed = int(integer_seeds(self.random_state, 1)[0])
        if self.method == PIVOTED:
            return random_pivots(K, rank, seed, self._threads())
        if self.method == UNIFORM:
            order = np.random.default_rng(seed).permutation(K.n_rows())
        else:
            order = kmeans_plusplus(X, rank.count, random_state=seed)[1].astype(np.int64)
        return given_pivots(K, order, rank, self._threads())

    def _threads(self) -> int:
        asked = thread_count(WHO, self.n_jobs)
        return 1 if callable(self.kernel) else asked

    def _attributes(self, X: Any, gamma: float, found: LowRank) -> dict[str, Any]:
        """Return the fitted attributes that a factorisation stands for."""
        return {
            "component_indices_": found.pivots,
            "components_": np.empty((0, 0)) if self.kernel == "precomputed" else X[found.pivots],
            "normalization_": inverse_of(found.triangle.astype(np.float64)),
            "trace_error_": found.trace_error(),
            "trace_": found.trace(),
            "gamma_": gamma,
        }

    def _facts_of_fit(self, K: KernelMatrix, found: LowRank, is_full: bool) -> LowRankFacts:
        S = found.pivots
        among = K.tile(S, K.columns(S)).astype(np.float64) if S.size else np.empty((0, 0))
        return LowRankFacts(
            n_landmarks=found.pivots.size,
            trace=found.trace(),
            trace_error=found.trace_error(),
            lowest=found.lowest,
            factor_error=factor_error(inverse_of(found.triangle.astype(np.float64)), among),
            dtype=K.dtype(),
            target=self._target(),
            reason=FULL if is_full else "",
        )

    def _target(self) -> float | None:
        return None if isinstance(self.n_components, int | np.integer) else float(self.n_components)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse_rows(self)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def alike(X: Any, landmarks: Any) -> tuple[Any, Any]:
    """Return rows and landmarks both sparse or both dense, in the dtype of the rows."""
    if sparse.issparse(X) != sparse.issparse(landmarks):
        X, landmarks = sparse.csr_array(X), sparse.csr_array(landmarks)
    return X, landmarks.astype(X.dtype, copy=False)


# --- the verifier ---------------------------------------------------------------------------------


def verify_low_rank_kernel(model: LowRankKernel, X: Any, *, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed in float64 from the rows and the landmarks."""
    given = model._checked_rows(X, reset=False)
    rows = given.astype(np.float64)
    if model.stop_reason_ != FINISHED:
        yield stopped_claim(model.component_indices_.size)
    yield at_most(
        "components", "landmarks that are not the rows they are said to be", n_other_landmarks(model, rows), 0
    )
    deadline.check()
    yield from low_rank_claims(facts_from_rows(model, rows, given.dtype, deadline))


def n_other_landmarks(model: LowRankKernel, rows: Any) -> int:
    """Return how many landmarks are not the rows of the table where they are said to come from."""
    places = model.component_indices_
    n_outside = int((places >= rows.shape[0]).sum()) + places.size - np.unique(places).size
    if n_outside or model.kernel == "precomputed":
        return n_outside
    return int((np.asarray(abs(rows[places] - model.components_).sum(axis=1)).ravel() != 0.0).sum())


@one_blas_thread()
def facts_from_rows(model: LowRankKernel, rows: Any, dtype: np.dtype, deadline: Deadline) -> LowRankFacts:
    """Return the facts, from kernel values that are computed anew."""
    is_gram, places = model.kernel == "precomputed", model.component_indices_.clip(max=rows.shape[0] - 1)
    kernel = None if is_gram else similarity(model, model.gamma_, rows)
    landmarks = None if kernel is None else model.components_.astype(np.float64)
    diagonal = rows.diagonal() if kernel is None else gram_diagonal(rows, kernel)
    among = rows[np.ix_(places, places)] if kernel is None or not places.size else gram(landmarks, landmarks, kernel)
    error = factor_error(model.normalization_.astype(np.float64), among.astype(np.float64))
    kept = np.zeros(rows.shape[0])
    blocks = row_blocks(rows.shape[0], max(1, VERIFIED_VALUES // max(1, places.size)))
    for block in blocks if places.size else []:
        deadline.check()
        values = rows[block][:, places] if kernel is None else gram(rows[block], landmarks, kernel)
        kept[block] = np.square(values @ model.normalization_.T.astype(np.float64)).sum(axis=1)
    sizes = np.maximum(diagonal, max(TRACE_ROUNDING[dtype] * float(diagonal.max()), np.finfo(float).tiny))
    trace, missing = float(diagonal.sum()), float((diagonal - kept).sum())
    gamma = 1.0 if kernel is None else similarity_gamma(model, rows.astype(dtype))
    misstated = max(abs(model.trace_ - trace) / trace, abs(model.trace_error_ - missing) / trace) if trace else 0.0
    return LowRankFacts(
        n_landmarks=places.size,
        trace=trace,
        trace_error=max(missing, 0.0),
        lowest=min(0.0, float(((diagonal - kept) / sizes).min())),
        factor_error=error,
        dtype=dtype,
        target=model._target(),
        reason=FULL if model.stop_reason_ == FINISHED else "the fit was stopped early",
        misstated=float(max(misstated, abs(model.gamma_ / gamma - 1.0))),
    )
