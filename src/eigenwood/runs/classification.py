"""Learn classes: rows are put aside class by class, accuracy is the score, the most frequent class the baseline."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold, train_test_split

from eigenwood.errors import TableError
from eigenwood.runs.record import ClassificationRecord
from eigenwood.runs.settings import CONFIDENCE, MOST_FOLDS, Fold, Settings, Split


def blind_split(name: str, target: str, labels: np.ndarray, settings: Settings) -> Split:
    """Return the training rows and the blind test rows, with the same share of each class."""
    check_class_sizes(name, target, labels)
    n_classes = np.unique(labels).size
    # at least one row of each class on either side, also in a table of ten rows
    n_test = min(max(round(settings.test_fraction * labels.size), n_classes), labels.size - n_classes)
    rows = np.arange(labels.size)
    train, test = train_test_split(rows, test_size=n_test, stratify=labels, random_state=settings.seed)
    return Split(np.sort(train), np.sort(test))


def check_class_sizes(name: str, target: str, labels: np.ndarray) -> None:
    """Raise unless every class can be split, learnt and tested."""
    values, counts = np.unique(labels, return_counts=True)
    if counts.min() < 3:
        label = values[counts.argmin()]
        raise TableError(
            f"{name}: every class of {target!r} must have at least 3 rows to learn, tune and test; "
            f"got {counts.min()} of {str(label)!r}."
        )


def validation_folds(labels: np.ndarray, seed: int) -> list[Fold]:
    """Return five folds, or as many as the smallest class has rows, with the same share of each class."""
    n_folds = max(2, min(MOST_FOLDS, int(np.unique(labels, return_counts=True)[1].min())))
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels))


def score(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share that is right."""
    return float(accuracy_score(labels, predicted))


def assessed(labels: np.ndarray, predicted: np.ndarray, training_labels: np.ndarray, seed: int) -> ClassificationRecord:
    """Return how good the predictions of the blind test rows are; Wilson's interval needs no ``seed``."""
    n_right = int((predicted == labels).sum())
    interval = binomtest(n_right, labels.size).proportion_ci(CONFIDENCE, method="wilson")
    values, counts = np.unique(training_labels, return_counts=True)
    majority = values[counts.argmax()]
    return ClassificationRecord(
        metric="accuracy",
        score=n_right / labels.size,
        low=float(interval.low),
        high=float(interval.high),
        baseline=float((labels == majority).mean()),
        baseline_label=str(majority),
        labels=[str(value) for value in values],
        confusion=confusion_matrix(labels, predicted, labels=values).tolist(),
    )
