"""What "good" means: the metrics of ``--metric``, and which one is taken where none is asked for.

Trials score hundreds of stages of predictions, so a metric of 100,000 rows and 7 classes has to take milliseconds:
labels become numbers once, and where scikit-learn's own function takes longer (it checks and binarises labels on each
call) the value follows from the confusion matrix, or from sorted scores; tests compare all of them with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    mean_absolute_error,
    mean_squared_error,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from eigenwood.data.naming import suggestion
from eigenwood.errors import InputError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.thresholds import AtThresholds, at_thresholds

RARE = 0.1  # of two classes, the share of rows below which one is rare
SMALLEST = float(np.finfo(np.float64).eps)  # the least probability of which a logarithm is taken, as in scikit-learn


class Answers(NamedTuple):
    """What a model says of some rows."""

    labels_or_amounts: np.ndarray
    probabilities: np.ndarray | None = None  # (n_rows, n_classes); None for amounts
    classes: np.ndarray | None = None  # sorted labels; None for amounts
    positive: int | None = None  # of two classes the place of the one that is looked for


class Score(NamedTuple):
    """How good answers are: of two values the larger one is better, and where they are equal, the smaller loss."""

    value: float
    loss: float


class ClassRows(NamedTuple):
    """True and predicted classes of rows as numbers; a class that training did not know has a number from k on."""

    codes: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray  # (n_rows, k)
    positive: int | None
    weights: np.ndarray | None

    def true_probabilities(self) -> np.ndarray:
        """Return the probability that each row's own class was given."""
        known = self.codes < self.probabilities.shape[1]
        given = self.probabilities[np.arange(self.codes.size), np.where(known, self.codes, 0)]
        return np.where(known, given, 0.0)

    def ranking(self, code: int) -> AtThresholds:
        """Return how the probabilities of one class rank its rows before the others."""
        return at_thresholds(self.probabilities[:, code], self.codes == code, self.weights)

    def ranked_classes(self) -> list[int]:
        """Return the classes whose ranking counts: the one that is looked for, or all with rows on both sides."""
        if self.positive is not None:
            return [self.positive]
        counts = np.bincount(self.codes, minlength=self.probabilities.shape[1])[: self.probabilities.shape[1]]
        return np.flatnonzero((counts > 0) & (counts < self.codes.size)).tolist()


class AmountRows(NamedTuple):
    """True and predicted amounts of rows."""

    y: np.ndarray
    predicted: np.ndarray
    weights: np.ndarray | None


class Metric(NamedTuple):
    """One measure of how good answers are."""

    name: str  # of --metric
    task: str
    words: str  # in sentences and tables
    value: Callable[[Any], float]  # of ClassRows or AmountRows, as the field defines it
    larger_is_better: bool = True


def score(metric: Metric, y: np.ndarray, answers: Answers, weights: np.ndarray | None = None) -> Score:
    """Return how good the answers are: the metric (an error with a minus), and the loss that breaks ties.

    >>> answers = Answers(np.array([3.0, 5.0]))
    >>> score(metric_named("mae", REGRESSION), np.array([3.0, 6.0]), answers)
    Score(value=-0.5, loss=0.2222222222222222)
    """
    if metric.task == REGRESSION:
        amounts = AmountRows(y, answers.labels_or_amounts, weights)
        return Score(signed(metric, metric.value(amounts)), share_of_variance(amounts))
    rows = class_rows(y, answers, weights)
    return Score(signed(metric, metric.value(rows)), log_loss(rows))


def signed(metric: Metric, value: float) -> float:
    """Return a value of which more is better, or the value of it: the function is its own inverse."""
    return value if metric.larger_is_better else -value


def class_rows(y: np.ndarray, answers: Answers, weights: np.ndarray | None = None) -> ClassRows:
    """Return labels as numbers."""
    assert answers.classes is not None
    assert answers.probabilities is not None
    predicted = np.searchsorted(answers.classes, answers.labels_or_amounts)
    return ClassRows(codes_of(y, answers.classes), predicted, answers.probabilities, answers.positive, weights)


def codes_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the place of each label among the classes; labels that are not among them get places behind.

    >>> codes_of(np.array(["b", "x", "a", "w"]), np.array(["a", "b"]))
    array([1, 3, 0, 2])
    """
    codes = np.searchsorted(classes, y)
    strange = classes[np.minimum(codes, classes.size - 1)] != y
    if strange.any():
        codes[strange] = classes.size + np.unique(y[strange], return_inverse=True)[1]
    return codes


# --- classes ------------------------------------------------------------------------------------------


def confusion(rows: ClassRows) -> np.ndarray:
    """Return the weight of rows of each true class (lines) that is predicted to be of each class (columns)."""
    n_classes = max(rows.probabilities.shape[1], int(rows.codes.max()) + 1)
    cells = np.bincount(rows.codes * n_classes + rows.predicted, rows.weights, minlength=n_classes**2)
    return cells.astype(np.float64).reshape(n_classes, n_classes)


def accuracy(rows: ClassRows) -> float:
    """Return the share of rows that are right."""
    return float(accuracy_score(rows.codes, rows.predicted, sample_weight=rows.weights))


def balanced_accuracy(rows: ClassRows) -> float:
    """Return the mean over the classes of the share of their rows that is found."""
    counts = confusion(rows)
    totals = counts.sum(axis=1)
    present = totals > 0.0
    return float(np.mean(np.diag(counts)[present] / totals[present]))


def f1(rows: ClassRows) -> float:
    """Return F1 of the class that is looked for, or the mean over the classes."""
    counts = confusion(rows)
    around = counts.sum(axis=0) + counts.sum(axis=1)
    present = around > 0.0
    values = np.divide(2.0 * np.diag(counts), around, out=np.zeros(around.size), where=present)
    return float(values[present].mean() if rows.positive is None else values[rows.positive])


def auc(rows: ClassRows) -> float:
    """Return the area under the ROC curve; of several classes the mean, each against the rest."""
    areas = [rows.ranking(code).auc() for code in rows.ranked_classes()]
    return float(np.mean(areas)) if areas else 0.5


def average_precision(rows: ClassRows) -> float:
    """Return the average precision of the class that is looked for, or the mean over the classes."""
    values = [rows.ranking(code).average_precision() for code in rows.ranked_classes()]
    return float(np.mean(values)) if values else 0.0


def log_losses(rows: ClassRows) -> np.ndarray:
    """Return minus the logarithm of the probability that each row's own class was given."""
    return -np.log(np.clip(rows.true_probabilities(), SMALLEST, 1.0))


def log_loss(rows: ClassRows) -> float:
    """Return the mean over the rows of minus the logarithm of the probability of the true class."""
    return float(np.average(log_losses(rows), weights=rows.weights))


# --- amounts ------------------------------------------------------------------------------------------


def r2(rows: AmountRows) -> float:
    """Return the share of the variance that is explained; 0 of a single row."""
    return 0.0 if rows.y.size < 2 else float(r2_score(rows.y, rows.predicted, sample_weight=rows.weights))


def share_of_variance(rows: AmountRows) -> float:
    """Return the mean squared error as a share of the variance, or as it is where there is none."""
    error = float(mean_squared_error(rows.y, rows.predicted, sample_weight=rows.weights))
    mean = np.average(rows.y, weights=rows.weights)
    variance = float(np.average((rows.y - mean) ** 2, weights=rows.weights))
    return error / variance if variance > 0.0 else error


def of_amounts(measure: Callable[..., Any]) -> Callable[[AmountRows], float]:
    """Return a measure of scikit-learn as a function of rows."""
    return lambda rows: float(measure(rows.y, rows.predicted, sample_weight=rows.weights))


# --- which one ----------------------------------------------------------------------------------------

METRICS = (
    Metric("accuracy", CLASSIFICATION, "accuracy", accuracy),
    Metric("balanced-accuracy", CLASSIFICATION, "balanced accuracy", balanced_accuracy),
    Metric("f1", CLASSIFICATION, "F1", f1),
    Metric("auc", CLASSIFICATION, "AUC", auc),
    Metric("average-precision", CLASSIFICATION, "average precision", average_precision),
    Metric("log-loss", CLASSIFICATION, "log loss", log_loss, larger_is_better=False),
    Metric("r2", REGRESSION, "R²", r2),
    Metric("mae", REGRESSION, "mean absolute error", of_amounts(mean_absolute_error), larger_is_better=False),
    Metric("rmse", REGRESSION, "root mean squared error", of_amounts(root_mean_squared_error), larger_is_better=False),
    Metric("median-error", REGRESSION, "median absolute error", of_amounts(median_absolute_error), False),
)


def metrics_of(task: str) -> list[Metric]:
    """Return the metrics of a task."""
    return [metric for metric in METRICS if metric.task == task]


def metric_named(name: str, task: str) -> Metric:
    """Return the metric of this name; raise if it is not one of the task."""
    known = {metric.name: metric for metric in metrics_of(task)}
    if name not in known:
        of_what = "classes" if task == CLASSIFICATION else "amounts"
        raise InputError(
            f"--metric must be one of {', '.join(known)} for {of_what}; got {name!r}{suggestion(name, known)}."
        )
    return known[name]


def default_metric(task: str, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[Metric, str]:
    """Return the metric that is taken where none is asked for, and why, from the training rows.

    Accuracy, unless one of two classes has less than a tenth of the rows: then a model that never finds it would be
    right on nine rows of ten, and every class counts the same. Of more classes some are nearly always that rare, and
    accuracy is what people compare.

    >>> default_metric(CLASSIFICATION, np.array(["fine"] * 199 + ["fraud"]))[1]
    "1 row in 200 is 'fraud': every class counts the same"
    """
    if task == REGRESSION:
        return metric_named("r2", task), "the usual measure for amounts"
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes, weights)
    shares = counts / counts.sum()
    rarest = int(shares.argmin())
    if classes.size == 2 and shares[rarest] < RARE:
        label = str(classes[rarest])
        words = f"1 row in {round(1.0 / shares[rarest]):,} is {label!r}: every class counts the same"
        return metric_named("balanced-accuracy", task), words
    words = "neither class is rare" if classes.size == 2 else f"the usual measure for {classes.size} classes"
    return metric_named("accuracy", task), words


def positive_class(y: np.ndarray) -> int | None:
    """Return the place of the class that is looked for: the rarer one of two, the second where they are equal.

    >>> positive_class(np.array(["a", "b", "a"])), positive_class(np.array(["a", "b"])), positive_class(np.arange(3))
    (1, 1, None)
    """
    _, counts = np.unique(y, return_counts=True)
    if counts.size != 2:
        return None
    return 0 if counts[0] < counts[1] else 1
