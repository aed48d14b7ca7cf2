"""Two small methods for amounts, one behind the encoder and one that takes tables, and a table to learn from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, RegressorMixin

import eigenwood.estimators.registry as registry
from eigenwood.data.tables import Table, read_table
from eigenwood.estimators.registry import REGRESSION, Entry
from eigenwood.estimators.state import FEATURE_STATE
from eigenwood.proofs.claim import Certificate, measured
from eigenwood.runs import learn as stages
from eigenwood.validation.state import Array, Proof


class LeastSquares(RegressorMixin, BaseEstimator):
    """The best line through the rows."""

    PARAMS: dict = {}
    FITTED = {**FEATURE_STATE, "coef_": Array("f", ("n_terms",)), "certificate_": Proof()}

    def fit(self, X, y):
        assert y.dtype == np.float64
        self.n_features_in_ = X.shape[1]
        self.coef_ = np.linalg.lstsq(with_one(X), y, rcond=None)[0]
        self.certificate_ = Certificate((measured("error", "mean of the errors", (y - self.predict(X)).mean()),))
        return self

    def predict(self, X):
        return with_one(X) @ self.coef_


def with_one(X):
    return np.column_stack([X, np.ones(len(X))])


class GroupMeans(RegressorMixin, BaseEstimator):
    """The mean of the rows that have the same category in the first column that has categories."""

    def fit(self, X, y):
        assert isinstance(X, pa.Table)
        self.feature_names_in_ = np.array(X.column_names, dtype=object)
        self.is_categorical_ = np.array([pa.types.is_string(kind) for kind in X.schema.types])
        groups = np.array(self._groups(X))
        self.mean_ = y.mean()
        self.means_ = {group: y[groups == group].mean() for group in set(groups)}
        self.certificate_ = Certificate((measured("groups", "number of groups", len(self.means_)),))
        return self

    def predict(self, X):
        assert not any(pa.types.is_string(X.schema.types[i]) for i in np.flatnonzero(~self.is_categorical_))
        return np.array([self.means_.get(group, self.mean_) for group in self._groups(X)])

    def _groups(self, X):
        return X[int(self.is_categorical_.argmax())].to_pylist()


def no_proof(model, data):
    return model.certificate_


LINES = (
    Entry("least-squares", LeastSquares, REGRESSION, no_proof, ({},)),
    Entry("group-means", GroupMeans, REGRESSION, no_proof, ({},), takes_tables=True),
)


def install(lines: tuple[Entry, ...] = LINES) -> None:
    """Make the methods candidates of ``learn`` and classes of the model file, in this process."""
    stages.ENTRIES = lines
    registry.BY_CLASS |= {line.estimator.__name__: line for line in lines}


def houses(n: int = 200, noise: float = 10.0, town_matters: float = 40.0) -> Table:
    """Return houses with their size, town and price; some sizes and towns are missing."""
    rng = np.random.default_rng(0)
    size, town = rng.uniform(50.0, 150.0, n), rng.integers(3, size=n)
    price = 2.0 * size + town_matters * town + rng.normal(scale=noise, size=n)
    size[::17] = np.nan
    towns = [None if i % 19 == 0 else "abc"[code] for i, code in enumerate(town)]
    return read_table(pa.table({"size": pa.array(size, from_pandas=True), "town": towns, "price": price}))
