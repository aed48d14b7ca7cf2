"""Scores of predictions out of bag by any metric of scikit-learn, with their interval."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, get_scorer, r2_score

from eigenwood.proofs.out_of_bag import Score, resampled_interval, row_total, share_interval

ACCURACY, R2 = "accuracy", "r2"
NAMES: dict[Any, str] = {accuracy_score: ACCURACY, r2_score: R2}

RowScore = Callable[[np.ndarray], float]  # of the rows at these places


class OobAnswers(NamedTuple):
    """Targets of rows, what an ensemble predicts for them, and their weights."""

    y_true: np.ndarray
    y_pred: np.ndarray
    y_proba: np.ndarray  # of the classes; no columns for regression
    weights: np.ndarray
    labels: np.ndarray | None  # the classes; None for regression


class KnownPredictions(BaseEstimator):
    """An estimator whose predictions are known already: a scorer gives it the places of rows instead of rows."""

    def __init__(self, answers: OobAnswers) -> None:
        self.answers = answers
        self.fitted_ = True

    def predict(self, rows):
        return self.answers.y_pred[rows]


class KnownClassifier(ClassifierMixin, KnownPredictions):
    """A classifier whose predictions are known already."""

    @property
    def classes_(self):
        return self.answers.labels

    def predict_proba(self, rows):
        return self.answers.y_proba[rows]


class KnownRegressor(RegressorMixin, KnownPredictions):
    """A regressor whose predictions are known already."""


def oob_score_of(metric: Any, answers: OobAnswers, share: float, seed: int, time_is_up: Callable[[], bool]) -> Score:
    """Return the score of predictions out of bag; ``share`` is that of their rows among all rows."""
    name, score = metric_of(metric, answers)
    rows = np.arange(answers.y_true.shape[0])
    value = score(rows)
    if name == ACCURACY:
        return Score(name, value, share_interval(value, row_total(answers.weights)), share)
    interval = resampled_interval(nan_where_refused(score), value, rows.size, seed, time_is_up=time_is_up)
    return Score(name, value, interval, share)


def metric_of(metric: Any, answers: OobAnswers) -> tuple[str, RowScore]:
    """Return the name of a metric, and what computes it for some rows; True is accuracy, or R² for regression."""
    if isinstance(metric, (bool, np.bool_)):
        metric = R2 if answers.labels is None else ACCURACY
    if isinstance(metric, str):
        function = next((function for function, name in NAMES.items() if name == metric), None)
        score = scorer_score(get_scorer(metric), answers) if function is None else function_score(function, answers)
        return metric, score
    if is_scorer(metric):
        return metric_name(metric), scorer_score(metric, answers)
    return metric_name(metric), function_score(metric, answers)


def metric_name(metric: Callable) -> str:
    """Return what a metric is called."""
    return NAMES.get(metric, getattr(metric, "__name__", "a metric without a name"))


def is_scorer(metric: Callable) -> bool:
    """Return whether a function wants an estimator, rows and targets, as scikit-learn's scorers do.

    >>> is_scorer(get_scorer("roc_auc")), is_scorer(accuracy_score)
    (True, False)
    """
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [one for one in signature(metric).parameters.values() if one.kind in by_place and one.default is one.empty]
    return len(wanted) > 2


def function_score(metric: Callable, answers: OobAnswers) -> RowScore:
    """Return what applies a function of y_true and y_pred to some rows."""

    def score(rows: np.ndarray, **weights: np.ndarray) -> float:
        return float(metric(answers.y_true[rows], answers.y_pred[rows], **weights))

    return weighted_if_taken(score, answers)


def scorer_score(scorer: Callable, answers: OobAnswers) -> RowScore:
    """Return what applies a scorer of scikit-learn to some rows."""
    known = KnownRegressor(answers) if answers.labels is None else KnownClassifier(answers)

    def score(rows: np.ndarray, **weights: np.ndarray) -> float:
        return float(scorer(known, rows, answers.y_true[rows], **weights))

    return weighted_if_taken(score, answers)


def weighted_if_taken(score: Callable[..., float], answers: OobAnswers) -> RowScore:
    """Return the score with the weights of the rows, unless all are 1 or the metric has no place for them."""
    if (answers.weights == 1.0).all():
        return score
    try:
        score(np.arange(answers.weights.size), sample_weight=answers.weights)
    except TypeError:
        return score
    return lambda rows: score(rows, sample_weight=answers.weights[rows])


def nan_where_refused(score: RowScore) -> RowScore:
    """Return the score, NaN where a resample has too little in it: only one class, or equal targets."""

    def quiet_score(rows: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return score(rows)
            except ValueError:
                return float("nan")

    return quiet_score
