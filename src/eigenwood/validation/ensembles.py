"""Checks of learners, of metrics, and of rows that are handed on to learners as they are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.metrics import get_scorer_names
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from eigenwood.errors import InputError
from eigenwood.validation.arrays import (
    check_finite,
    check_is_a_table,
    check_matrix,
    frame_of,
    one_sentence,
    through_narwhals,
)
from eigenwood.validation.categories import Mixed, check_mixed

CLASSIFIER = "classifier"
PREDICTORS = (CLASSIFIER, "regressor")


class Learner:
    """The rule for the estimator inside an ensemble; some can predict only once they are fitted."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, type) or not hasattr(value, "fit"):
            return False
        return hasattr(value, "predict") or (hasattr(type(value), "predict") and kind_of(value) in PREDICTORS)

    def __str__(self) -> str:
        return "an estimator with fit and predict"


class Metric:
    """The rule for ``oob_score``."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in get_scorer_names()
        return isinstance(value, (bool, np.bool_)) or (callable(value) and not isinstance(value, type))

    def __str__(self) -> str:
        return "True, False, the name of a scorer of scikit-learn, a scorer, or a function of y_true and y_pred"


class Handed(NamedTuple):
    """Rows as learners get them, and as numbers that tell which are equal."""

    X: Any  # an array, a csr or csc matrix, or a frame that has columns of text
    mixed: Mixed
    has_text: bool


def check_handed(estimator: Any, X: Any, *, finite: bool) -> Handed:
    """Return rows to learn from; names and number of columns are recorded.

    ``finite`` is True where the learners are known to refuse infinity, which is then reported here, for the
    complete table. Other learners may be able to use it, or repair it.
    """
    who = type(estimator).__name__
    mixed = check_mixed(estimator, X)
    has_text = any(labels is not None for labels in mixed.categories)
    if finite:
        missing = estimator.__sklearn_tags__().input_tags.allow_nan
        check_finite(who, mixed.X, getattr(estimator, "feature_names_in_", None), missing=missing)
    if has_text:
        return Handed(X, mixed, True)
    return Handed(by_columns(X) if is_by_columns(X) else mixed.X, mixed, False)


def check_query(estimator: Any, X: Any, *, has_text: bool, finite: bool) -> Any:
    """Return rows to predict, of the kind that ``fit`` got."""
    who = type(estimator).__name__
    check_is_a_table(who, X)
    try:
        validate_data(estimator, X=X, reset=False, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(who, problem) from problem
    if has_text:
        if frame_of(who, X) is None:
            raise InputError(f"{who}: X must be a frame with the columns it had in fit; got {type(X).__name__}.")
        return X
    rows = by_columns(X) if is_by_columns(X) else check_matrix(who, X, accept_sparse=True, finite=False)
    if finite:
        missing = estimator.__sklearn_tags__().input_tags.allow_nan
        check_finite(who, rows, getattr(estimator, "feature_names_in_", None), missing=missing)
    return rows


def is_by_columns(X: Any) -> bool:
    """Return whether X is a csc matrix, which learners should get as such."""
    return sparse.issparse(X) and X.format == "csc"


def by_columns(X: Any) -> Any:
    return check_array(X, accept_sparse="csc", dtype=(np.float64, np.float32), ensure_all_finite=False)


def part_of(X: Any, rows: np.ndarray | None, features: np.ndarray | None) -> Any:
    """Return some rows and columns of an array, a sparse matrix or a frame; None is all of them."""
    frame = through_narwhals(X, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        frame = frame if features is None else selected_columns(frame, features)
        return (frame if rows is None else frame[rows.tolist(), :]).to_native()
    X = X if rows is None else X[rows]
    return X if features is None else X[:, features]


def selected_columns(frame: nw.DataFrame, features: np.ndarray) -> nw.DataFrame:
    """Return some columns of a frame; one that comes again gets a name of its own."""
    if np.unique(features).size == features.size:
        return frame[:, features.tolist()]
    columns, taken = list(frame.iter_columns()), set(map(str, frame.columns))
    named: dict[str, nw.Series] = {}
    for j in features.tolist():
        name = str(columns[j].name)
        if name in named:
            name = next(other for i in count(2) if (other := f"{name} ({i})") not in taken | named.keys())
        named[name] = columns[j].alias(name)
    return nw.concat([column.to_frame() for column in named.values()], how="horizontal")


def kind_of(learner: Any) -> str | None:
    """Return what scikit-learn calls this kind of estimator; None if it does not say."""
    return get_tags(learner).estimator_type if hasattr(learner, "__sklearn_tags__") else None


def check_classifier(who: str, learner: Any) -> None:
    """Raise if a learner is known to say other things than classes."""
    kind = kind_of(learner)
    if kind not in (None, CLASSIFIER):
        name = type(learner).__name__
        raise InputError(f"{who}: estimator must be a classifier; got {name} ({kind.replace('_', ' ')}).")


def check_codes(who: str, predicted: Any, n_classes: int) -> np.ndarray:
    """Return the classes that a learner predicts, as the codes they had when it learnt them."""
    pred = np.asarray(predicted)
    codes = pred.astype(np.intp) if pred.dtype.kind in "biuf" else np.full(pred.shape, -1)
    wrong = (codes != pred) | (codes < 0) | (codes >= n_classes)
    if wrong.any():
        raise InputError(f"{who}: estimator must predict classes that it learnt; got {pred[wrong].tolist()[0]!r}.")
    return codes


def check_routed(estimator: Any, method: str, params: Mapping[str, Any]) -> None:
    """Raise if parameters for the learners are given that scikit-learn was not told to pass on."""
    if params and not routing_enabled():
        raise InputError(
            f"{type(estimator).__name__}: {method} must be given no more parameters unless scikit-learn's "
            f"enable_metadata_routing is True; got {', '.join(params)}."
        )


def routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])
