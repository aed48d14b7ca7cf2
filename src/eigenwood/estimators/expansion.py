"""Basis expansion with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.kernels.expansion import Expansion, expand, expansion, features_of, nonzero_terms, term_count
from eigenwood.core.threads import row_blocks
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE, FLAG
from eigenwood.estimators.watching import TIME_LIMIT, Deadline, Watch, Watched
from eigenwood.proofs.claim import Certificate, Claim, at_most
from eigenwood.validation.arrays import check_matrix, check_room, check_rows, check_weights
from eigenwood.validation.expansion import check_expansion_state, check_term_count, check_term_names, check_width
from eigenwood.validation.params import AnyOf, Choice, Flag, Number, check_params
from eigenwood.validation.threads import N_JOBS, thread_count

COUNT_ROWS = 65536  # rows looked at between two looks at the clock
SPARSE_PAYS = 0.1  # below this share of non-zeros csr takes less memory and time than a full array
IDENTITY_ROWS, IDENTITY_TERMS = 64, 20_000  # how much Φ(x)·Φ(z) = (1 + x·z)^p is checked on


class CountStep(NamedTuple):
    """How many terms are not zero in the rows seen so far, by weight."""

    nonzero: float
    weight: float
    whole: bool
    last: bool


@describe
class PolynomialExpansion(TransformerMixin, Watched, BaseEstimator):
    """All products of at most ``degree`` features, scaled so that Φ(x)·Φ(z) = (1 + x·z)^degree.

    Like :class:`sklearn.preprocessing.PolynomialFeatures`, in the same order of terms. Differences: (1) the scaling;
    (2) terms are multiplied from their parents, on several threads; (3) sparse output where it pays.

    Parameters
    ----------
    degree : int, default=2
    include_bias : bool, default=True
        Whether the constant is a feature; the identity above needs it.
    kernel_scale : bool, default=True
        False leaves the factors √(p!/∏k!) out: the plain products of the lecture's first page.
    sparse_output : 'auto', True or False, default='auto'
        'auto' returns csr if X was sparse in fit, or if under a tenth of the terms are not zero there.

    Attributes
    ----------
    n_output_features_, sparse_output_, n_features_in_, feature_names_in_, stop_reason_, certificate_
    powers_ : csr array of shape (n_output_features_, n_features_in_), the exponent of each feature in each term

    Examples
    --------
    >>> from eigenwood import PolynomialExpansion
    >>> expansion = PolynomialExpansion(include_bias=False, kernel_scale=False).fit([[1.0, 2.0]])
    >>> expansion.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> expansion.get_feature_names_out()
    array(['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2'], dtype=object)
    >>> expansion.inverse_names(["x0 x1"])
    [{'x0': 1, 'x1': 1}]
    """

    PARAMS = {
        "degree": Number(at_least=1, at_most=100, integer=True),
        "include_bias": Flag(),
        "kernel_scale": Flag(),
        "sparse_output": AnyOf(Choice(("auto",)), Flag()),
        "n_jobs": N_JOBS,
        "time_limit": TIME_LIMIT,
    }
    FITTED = {**FEATURE_STATE, "degree_": COUNT, "n_output_features_": COUNT, "sparse_output_": FLAG, **FIT_STATE}

    def __init__(
        self, *, degree=2, include_bias=True, kernel_scale=True, sparse_output="auto", n_jobs=None, time_limit=None
    ):
        self.degree = degree
        self.include_bias = include_bias
        self.kernel_scale = kernel_scale
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Learn the number of features, and whether sparse output pays."""
        check_params(self)
        watch = Watch(self)
        X = check_rows(self, X, reset=True, accept_sparse=True)
        weights = check_weights(self, sample_weight, X.shape[0])
        n_terms = term_count(X.shape[1], self.degree)
        check_term_count(type(self).__name__, n_terms, self.degree, X.shape[1])

        was_sparse = sparse.issparse(X)
        outcome = watch.follow(
            count_steps(X, weights, self.degree),
            max_rounds=1,
            fitted=lambda step: self._attributes(step, n_terms, was_sparse),
            X=X,
            y=y,
        )

        for name, value in self._attributes(outcome.step, n_terms, was_sparse).items():
            setattr(self, name, value)
        self.stop_reason_ = outcome.reason
        self.certificate_ = expansion_certificate(self, X[weights > 0])
        return self

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit the parameters: what a model file says is not taken on trust."""
        n_terms = term_count(self.n_features_in_, self.degree) - (0 if self.include_bias else 1)
        check_expansion_state(type(self).__name__, self.degree, n_terms, self.degree_, self.n_output_features_)

    def transform(self, X):
        """Return Φ(X)."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=True)
        return self._expanded(X)

    def inverse_transform(self, X):
        """Return the features that the terms were made of, read from the terms of degree 1."""
        check_is_fitted(self)
        first = 1 if self.include_bias else 0
        X = check_matrix("PolynomialExpansion", X, accept_sparse=True)
        check_width(type(self).__name__, X.shape[1], self.n_output_features_)
        factor = np.sqrt(self.degree_) if self.kernel_scale else 1.0  # p!/((p-1)! 1!) = p
        return X[:, first : first + self.n_features_in_] / X.dtype.type(factor)

    def get_feature_names_out(self, input_features=None):
        """Return a name for each term, such as 'x0 x1' or 'x0^2'."""
        check_is_fitted(self)
        names = input_names(self, input_features)
        shape = self._shape()
        terms = range(0 if self.include_bias else 1, shape.last.size)
        return np.array([term_name(features_of(shape, term), names) for term in terms], dtype=object)

    def inverse_names(self, names, input_features=None):
        """Return for each name of a term the features it is made of, with their exponents."""
        check_is_fitted(self)
        inputs = input_names(self, input_features)
        known = dict(zip(self.get_feature_names_out(input_features), range(self.n_output_features_), strict=True))
        check_term_names(type(self).__name__, names, known)
        shape, skip = self._shape(), 0 if self.include_bias else 1
        terms = [features_of(shape, known[name] + skip) for name in names]
        return [{str(inputs[j]): term.count(j) for j in sorted(set(term))} for term in terms]

    @property
    def powers_(self):
        """The exponent of each feature in each term, as a csr array."""
        check_is_fitted(self)
        shape = self._shape()
        skip = 0 if self.include_bias else 1
        terms = [features_of(shape, term) for term in range(skip, shape.last.size)]
        columns = np.array([j for term in terms for j in term], dtype=np.int64)
        rows = np.repeat(np.arange(len(terms)), [len(term) for term in terms])
        entries = (np.ones(columns.size, dtype=np.int64), (rows, columns))
        return sparse.coo_array(entries, shape=(len(terms), self.n_features_in_)).tocsr()

    def _shape(self) -> Expansion:
        return expansion(self.n_features_in_, self.degree_, self.kernel_scale)

    def _expanded(self, X: Any) -> Any:
        if self.sparse_output_ and not sparse.issparse(X):
            X = sparse.csr_array(X)
        if not self.sparse_output_:
            n_bytes = float(X.shape[0]) * self.n_output_features_ * X.dtype.itemsize
            check_room("PolynomialExpansion", "the dense output", n_bytes, "sparse_output=True takes less")
        terms = expand(X, self._shape(), self.include_bias, thread_count("PolynomialExpansion", self.n_jobs))
        return terms if self.sparse_output_ or not sparse.issparse(terms) else terms.toarray()

    def _attributes(self, step: CountStep, n_terms: int, was_sparse: bool) -> dict:
        share = step.nonzero / (step.weight * n_terms)
        pays = was_sparse or share < SPARSE_PAYS
        return {
            "degree_": self.degree,
            "n_output_features_": n_terms - (0 if self.include_bias else 1),
            "sparse_output_": pays if self.sparse_output == "auto" else bool(self.sparse_output),
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def count_steps(X: Any, weights: np.ndarray, degree: int) -> Iterator[CountStep]:
    """Yield how many terms are not zero in the rows seen so far."""
    nonzero = weight = 0.0
    for rows in row_blocks(X.shape[0], COUNT_ROWS):
        nonzero += float(weights[rows] @ nonzero_terms(X[rows], degree))
        weight += float(weights[rows].sum())
        done = rows.stop == X.shape[0]
        yield CountStep(nonzero, weight, whole=done, last=done)


def term_name(features: tuple[int, ...], names: np.ndarray) -> str:
    """Return the name of a product; an input's name that looks like a product stands in brackets.

    >>> term_name((0, 0, 2), ["a", "b", "c d"])
    'a^2 (c d)'
    """
    powers = [(_bracketed(names[j]), features.count(j)) for j in sorted(set(features))]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers) or "1"


def _bracketed(name: str) -> str:
    return f"({name})" if name == "1" or " " in name or "^" in name else name


def expansion_certificate(model: PolynomialExpansion, X: Any) -> Certificate:
    """Return Φ(x)·Φ(z) = (1 + x·z)^p to rounding, on some rows and as many features as have few enough terms."""
    if not (model.kernel_scale and model.include_bias):
        return Certificate(())  # without scaling and constant there is nothing to claim
    n_features = X.shape[1]
    while term_count(n_features, model.degree_) > IDENTITY_TERMS:
        n_features = n_features // 2
    some = X[:IDENTITY_ROWS, :n_features].astype(np.float64)
    terms = expand(some, expansion(n_features, model.degree_, True), True, 1)
    products, inner = _dense(terms @ terms.T), _dense(some @ some.T)
    with np.errstate(over="ignore"):
        exact = (1.0 + inner) ** model.degree_
    if not np.isfinite(exact).all():
        return Certificate(())  # beyond all floats
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    error = float((np.abs(products - exact) / size).max())
    statement = (
        f"|Φ(x)·Φ(z) - (1 + x·z)^{model.degree_}| / (‖Φ(x)‖ ‖Φ(z)‖) on {some.shape[0]} rows, {n_features} features"
    )
    return Certificate((at_most("kernel identity", statement, error, 1e-12 * model.degree_),))


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def verify_expansion(model: PolynomialExpansion, X: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed on the rows given."""
    rows = check_rows(model, X, reset=False, accept_sparse=True)
    deadline.check()
    yield from expansion_certificate(model, rows)
