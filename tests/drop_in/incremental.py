"""Scikit-learn's IncrementalPCA, made of our PCA: batches, one after another, through ``partial_fit``.

    fit(X)     X[0:50] ──► partial_fit     X[50:100] ──► partial_fit     …     and the components are those of all rows

The numbers are all ours, of sparse batches too. What the adapter adds is a face: the parameters, how rows are cut into
batches, the names of attributes, and that ``partial_fit`` refuses the sparse rows which ours would take.
"""

from __future__ import annotations

from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from eigenwood import PCA

NO_SPARSE_ROWS = (
    "IncrementalPCA.partial_fit does not support sparse input. "
    "Either convert data to dense or use IncrementalPCA.fit to do so in batches."
)


class IncrementalPCA(PCA):
    """Principal components of batches of rows."""

    def __init__(self, n_components=None, *, whiten=False, copy=True, batch_size=None):
        super().__init__(n_components, whiten=whiten, copy=copy)
        self.batch_size = batch_size

    def fit(self, X, y=None):
        X = validate_data(self, X, accept_sparse=["csr", "csc", "lil"])
        for name in ("components_", "_moments"):  # by these ours knows that there were rows before
            vars(self).pop(name, None)
        self.batch_size_ = self.batch_size or 5 * X.shape[1]
        for batch in gen_batches(X.shape[0], self.batch_size_, min_batch_size=self.n_components or 0):
            self._add(X[batch])
        return self

    def partial_fit(self, X, y=None, check_input=True):
        if sparse.issparse(X):
            raise TypeError(NO_SPARSE_ROWS)
        return self._add(X)

    def _add(self, X):
        super().partial_fit(X)
        self.n_samples_seen_ = self.n_samples_
        self.var_ = self._moments.scatter.diagonal() / self._moments.weight
        return self
