"""An autoencoder of one hidden layer: scikit-learn's MLPRegressor, taught to repeat its rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.network.autoencoder import ACTIVATIONS, Layers, code_of, rows_of_code
from eigenwood.core.threads import one_blas_thread
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import AMOUNT, COUNT, FEATURE_STATE
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.autoencoder import linear_claims, reconstruction_claim
from eigenwood.proofs.claim import Certificate, Claim
from eigenwood.validation.arrays import check_matrix, check_rows, check_squares
from eigenwood.validation.expansion import check_scale, check_width
from eigenwood.validation.params import Choice, Flag, Number, Seed, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array, Proof

CALLS_PER_ITERATION = 10  # of the loss, that the line search may make
LEAST_GAIN, MOST_RUNS = 1e-8, 3  # of the loss: what gains less in a whole run has settled


@describe
class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Repeat each row through one narrow hidden layer; what stands in that layer is its code (the boosting and SVM
    lecture).

    Built on scikit-learn's :class:`~sklearn.neural_network.MLPRegressor`, which predicts but has no ``transform``: here
    ``transform`` gives the code, and ``inverse_transform`` the row again. With the linear activation the code spans the
    subspace of the principal components, which the certificate measures by its angles.

    Parameters
    ----------
    n_components : int, default=2
        Units of the hidden layer.
    activation : 'identity', 'tanh', 'logistic' or 'relu', default='identity'
    scale : bool, default=False
        Divide each column by its standard deviation; otherwise all by the largest, so that wide ones stay wide.
    alpha : float, default=0.0
        What weights cost: half of their squares, times this.
    max_iter : int, default=2000
        The most iterations of L-BFGS.
    tol : float, default=1e-9
        The largest slope of the loss at which the fit is done.
    random_state : int, RandomState or None, default=0
        Draws the weights to begin with.

    Attributes
    ----------
    encoder_, encoder_intercept_, decoder_, decoder_intercept_ : arrays, the weights of both layers, for scaled rows
    mean_, scale_ : arrays of shape (n_features,), how rows are scaled
    error_ : float, the mean squared error of a scaled row that comes back, summed over its columns
    n_iter_ : int
    certificate_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwood import Autoencoder
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0], [3.0, 7.0]])
    >>> network = Autoencoder(1).fit(X)
    >>> network.transform(X).shape, network.inverse_transform(network.transform(X)).round(3).tolist()
    ((4, 1), [[0.0, 1.0], [1.0, 3.0], [2.0, 5.0], [3.0, 7.0]])
    """

    PARAMS = {
        "n_components": Number(at_least=1, integer=True),
        "activation": Choice(tuple(ACTIVATIONS)),
        "scale": Flag(),
        "alpha": Number(at_least=0),
        "max_iter": Number(at_least=1, integer=True),
        "tol": Number(above=0),
        "random_state": Seed(),
    }
    FITTED = {
        **FEATURE_STATE,
        "encoder_": Array("f", ("n_features", "n_components")),
        "encoder_intercept_": Array("f", ("n_components",)),
        "decoder_": Array("f", ("n_components", "n_features")),
        "decoder_intercept_": Array("f", ("n_features",)),
        "mean_": Array("f", ("n_features",)),
        "scale_": Array("f", ("n_features",)),
        "error_": AMOUNT,
        "n_iter_": COUNT,
        "certificate_": Proof(),
    }

    def __init__(
        self,
        n_components=2,
        *,
        activation="identity",
        scale=False,
        alpha=0.0,
        max_iter=2000,
        tol=1e-9,
        random_state=0,
    ):
        self.n_components = n_components
        self.activation = activation
        self.scale = scale
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn to repeat the rows."""
        check_params(self)
        rows = check_rows(self, X, reset=True)
        check_squares(type(self).__name__, rows)
        rows = rows.astype(np.float64)
        seed = int(integer_seeds(self.random_state, 1)[0])

        with one_blas_thread():
            mean, scale = rows.mean(axis=0), column_scale(rows, self.scale)
            scaled = (rows - mean) / scale
            network, n_iter = trained(self, scaled, seed)
            layers = layers_of(network, mean, scale)
            code = code_of(rows, layers, self.activation)
            error = float(((scaled - (code @ layers.decoder + layers.decoder_intercept)) ** 2).sum() / len(rows))

        self.encoder_, self.encoder_intercept_, self.decoder_, self.decoder_intercept_, self.mean_, self.scale_ = layers
        self.error_, self.n_iter_ = error, n_iter
        self.certificate_ = Certificate(tuple(claims_of(self, rows)))
        return self

    def transform(self, X):
        """Return the code of each row."""
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        with one_blas_thread():
            return code_of(rows, self._layers(), self.activation).astype(rows.dtype, copy=False)

    def inverse_transform(self, X):
        """Return the row that each code stands for."""
        check_is_fitted(self)
        code = check_matrix(type(self).__name__, X)
        check_width(type(self).__name__, code.shape[1], self.decoder_.shape[0])
        with one_blas_thread():
            return rows_of_code(code, self._layers()).astype(code.dtype, copy=False)

    def check_fitted(self) -> None:
        """Raise unless columns are divided by numbers above 0."""
        check_scale(type(self).__name__, self.scale_)

    def _layers(self) -> Layers:
        return Layers(
            self.encoder_, self.encoder_intercept_, self.decoder_, self.decoder_intercept_, self.mean_, self.scale_
        )

    @property
    def _n_features_out(self) -> int:
        return self.decoder_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def column_scale(rows: np.ndarray, each: bool) -> np.ndarray:
    """Return what columns are divided by: their standard deviations, or the largest of these; 1 instead of 0."""
    spread = rows.std(axis=0)
    spread = np.where(spread > 1e-12 * np.abs(rows).max(axis=0), spread, 0.0)
    scale = spread if each else np.full(spread.size, spread.max())
    return np.where(scale > 0.0, scale, 1.0)


def trained(model: Autoencoder, scaled: np.ndarray, seed: int) -> tuple[MLPRegressor, int]:
    """Return scikit-learn's network, fitted to the rows as their own targets, and the iterations; say so if it has not
    settled.

    L-BFGS ends where one iteration gains little, which it may at a saddle: it begins anew from there until a whole run
    gains little, three times at most.
    """
    target = scaled if scaled.shape[1] > 1 else scaled.ravel()
    network = MLPRegressor(
        hidden_layer_sizes=(int(model.n_components),),
        activation=model.activation,
        solver="lbfgs",
        alpha=model.alpha,
        tol=model.tol,
        random_state=seed,
        warm_start=True,
    )
    n_iter, n_runs, before = 0, 0, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while n_iter < model.max_iter:
            left = int(model.max_iter) - n_iter
            network.set_params(max_iter=left, max_fun=CALLS_PER_ITERATION * left).fit(scaled, target)
            n_iter, n_runs = n_iter + max(int(network.n_iter_), 1), n_runs + 1
            has_settled = before - network.loss_ <= LEAST_GAIN * network.loss_ or n_runs == MOST_RUNS
            if has_settled and n_iter < model.max_iter:
                return network, n_iter
            before = network.loss_
    sentence = f"{type(model).__name__}: max_iter={model.max_iter} iterations were not enough to settle."
    warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
    return network, int(model.max_iter)


def layers_of(network: MLPRegressor, mean: np.ndarray, scale: np.ndarray) -> Layers:
    """Return the weights of encoder and decoder, and how rows are scaled."""
    encoder, decoder = network.coefs_
    encoder_intercept, decoder_intercept = network.intercepts_
    return Layers(encoder, encoder_intercept, decoder, decoder_intercept, mean, scale)


def claims_of(model: Autoencoder, rows: np.ndarray) -> Iterator[Claim]:
    """Yield what the network shows on some rows."""
    layers = model._layers()
    with one_blas_thread():
        again = rows_of_code(code_of(rows, layers, model.activation), layers)
        scaled = (rows - layers.mean) / layers.scale
        yield reconstruction_claim(scaled, (again - layers.mean) / layers.scale, model.error_)
        if model.activation == "identity":
            has_settled = model.n_iter_ < model.max_iter and model.alpha == 0.0
            yield from linear_claims(scaled, model.decoder_, model.error_, has_settled)


def verify_autoencoder(model: Autoencoder, X, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``."""
    rows = check_rows(model, X, reset=False).astype(np.float64)
    deadline.check()
    yield from claims_of(model, rows)
