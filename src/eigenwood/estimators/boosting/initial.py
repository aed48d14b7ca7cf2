"""Another estimator whose predictions boosting begins with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from eigenwood.core.boosting.losses import EXPONENTIAL, LOGISTIC, POISSON, SOFTMAX
from eigenwood.estimators.boosting.input_checks import BoostData
from eigenwood.validation.boosting import check_init_scores, check_init_takes_weights
from eigenwood.validation.ensembles import part_of

LEAST_SHARE = float(np.finfo(np.float64).eps)  # of a class, so that it has a logarithm


def fitted_init(model: Any, X: Any, learn: BoostData, has_weights: bool) -> list:
    """Return the estimator of ``init``, fitted to the rows to learn from; none where there is no estimator."""
    if model.init is None or isinstance(model.init, str):
        return []
    init = clone(model.init)
    y = learn.y if learn.labels is None else learn.labels[learn.y.astype(np.int64)]
    weights = {}
    if has_weights:
        check_init_takes_weights(type(model).__name__, init, has_fit_parameter(init, "sample_weight"))
        weights = {"sample_weight": learn.row_weights()}
    return [init.fit(part_of(X, learn.places, None), y, **weights)]


def init_scores(who: str, init: Any, X: Any, loss: int, n_outputs: int) -> np.ndarray:
    """Return raw scores that say what an estimator predicts, (n_rows, n_outputs)."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if loss not in (LOGISTIC, EXPONENTIAL, SOFTMAX):
        amounts = np.asarray(init.predict(X), dtype=np.float64).reshape(n_rows, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.log(amounts) if loss == POISSON else amounts
        return check_init_scores(
            who, np.broadcast_to(scores, (n_rows, max(n_outputs, scores.shape[1]))), (n_rows, n_outputs)
        )
    shares = np.clip(np.asarray(init.predict_proba(X), dtype=np.float64), LEAST_SHARE, 1.0 - LEAST_SHARE)
    logs = np.log(shares)
    if loss == SOFTMAX:
        return check_init_scores(who, logs - logs.mean(axis=1, keepdims=True), (n_rows, n_outputs))
    score = np.log(shares[:, -1:]) - np.log1p(-shares[:, -1:])
    return check_init_scores(who, score * (0.5 if loss == EXPONENTIAL else 1.0), (n_rows, n_outputs))
