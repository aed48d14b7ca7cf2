"""How good predictions of blind rows are, and who is before whom.

A file of predictions has the column "prediction" and, for classes, "probability of <class>" (or "score of <class>").
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score

from benchmarks.learn_tables import AMOUNTS

METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "AUC", "r2": "R²"}  # in tables
DIGITS = 4  # scores that agree in so many are a tie


def scores_of(file: Path, truth: np.ndarray, task: str) -> dict[str, float]:
    """Return the scores of a file of predictions; a ValueError says what is wrong with it."""
    answers = pyarrow.parquet.read_table(file)
    if answers.num_rows != truth.size:
        raise ValueError(f"{truth.size} predictions were wanted; got {answers.num_rows}")
    if answers["prediction"].null_count:
        raise ValueError(f"{answers['prediction'].null_count} predictions are missing")
    if task == AMOUNTS:
        return {"r2": float(r2_score(truth, answers["prediction"].to_numpy()))}
    return scores_of_classes(answers, np.array([plain(label) for label in truth.tolist()]))


def scores_of_classes(answers: pa.Table, truth: np.ndarray) -> dict[str, float]:
    """Return accuracy and balanced accuracy; of two classes also the area under the ROC curve."""
    labels = np.array([plain(label) for label in answers["prediction"].to_pylist()])
    scores = {
        "accuracy": float(accuracy_score(truth, labels)),
        "balanced_accuracy": float(balanced_accuracy_score(truth, labels)),
    }
    classes = np.unique(truth)
    likely = likelihood(answers, classes[-1])
    if classes.size == 2 and likely is not None:
        scores["auc"] = float(roc_auc_score(truth == classes[-1], likely))
    return scores


def likelihood(answers: pa.Table, label: str) -> np.ndarray | None:
    """Return what the answers say about how likely a class is; None where they say nothing."""
    for start in ("probability of ", "score of "):
        for name in answers.column_names:
            if name.startswith(start) and plain(name.removeprefix(start)) == label:
                return answers[name].to_numpy()
    return None


def plain(label: object) -> str:
    """Return a class as a word that does not depend on who writes it.

    >>> plain(1), plain(1.0), plain("1"), plain("yes")
    ('1.0', '1.0', '1.0', 'yes')
    """
    try:
        return repr(float(str(label)))
    except ValueError:
        return str(label)


def ranks(scores: list[float | None]) -> list[float]:
    """Return the ranks of scores, 1 for the best; equal ones share theirs, who has none shares the last ones.

    >>> ranks([0.9, None, 0.95, 0.90001])
    [2.5, 4.0, 1.0, 2.5]
    """
    losses = [np.inf if score is None else -round(score, DIGITS) for score in scores]
    return rankdata(losses).tolist()
