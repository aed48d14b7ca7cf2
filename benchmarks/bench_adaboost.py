"""AdaBoost: stumps on many rows, on words and on few rows, and ten deep trees; the same learners, the same test set."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import covertype_two_classes

STUMPS, FEW_STUMPS, TREES, DEPTH = 200, 100, 10, 20


# ---- contenders


def ours(n_rounds, depth=None):
    def contender(threads):
        from eigenwood import AdaBoostClassifier, DecisionTreeClassifier

        learner = None if depth is None else DecisionTreeClassifier(max_depth=depth, n_jobs=threads)
        model = AdaBoostClassifier(learner, n_estimators=n_rounds, random_state=0, n_jobs=threads)
        return lambda arrays: model.fit(rows_of(arrays), arrays["y"])

    return contender


def scikit(n_rounds, depth=1):
    def contender(threads):
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=n_rounds, random_state=0)
        return lambda arrays: model.fit(rows_of(arrays), arrays["y"])

    return contender


def lightgbm(n_rounds):
    """Logistic loss over stumps: another loss, the same question a round."""

    def contender(threads):
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=n_rounds, num_leaves=2, n_jobs=threads, random_state=0, verbose=-1)
        return lambda arrays: model.fit(rows_of(arrays), arrays["y"])

    return contender


# ---- rows


def rows_of(arrays: Arrays, part: str = ""):
    """Return rows as a matrix; a sparse one is kept by its three arrays."""
    if "X" + part in arrays:
        return arrays["X" + part]
    from scipy import sparse

    data, indices, indptr = (arrays[f"{name}{part}"] for name in ("data", "indices", "indptr"))
    return sparse.csr_matrix((data, indices, indptr), shape=(indptr.size - 1, int(arrays["n_words"])))


def share_of_right_answers(arrays: Arrays, model) -> float:
    """Return the accuracy of a fitted classifier on the test rows, dense or sparse."""
    return float(np.mean(model.predict(rows_of(arrays, "_test")) == arrays["y_test"]))


ACCURACY = Quality("test accuracy", share_of_right_answers, better="higher")


@cache
def sms_words() -> Arrays:
    """Return messages as counts of words, every fifth for the test."""
    from sklearn.feature_extraction.text import CountVectorizer

    from eigenwood.data.datasets import load

    spam = load("sms_spam")
    X, y = CountVectorizer().fit_transform(spam.X).astype(np.float64), np.asarray(spam.y == "spam", dtype=np.int64)
    is_test = np.arange(y.size) % 5 == 0
    arrays = {"n_words": np.array(X.shape[1]), "source": np.array("sms_spam")}
    for part, rows in (("", ~is_test), ("_test", is_test)):
        own = X[rows]
        arrays |= {f"{name}{part}": getattr(own, name) for name in ("data", "indices", "indptr")}
        arrays[f"y{part}"] = y[rows]
    return arrays


@cache
def heart_numbers() -> Arrays:
    """Return the patients without a missing finding, categories as numbers, every fifth for the test."""
    from eigenwood.data.datasets import load

    heart = load("heart")
    frame = heart.X.to_pandas()
    X = np.column_stack([frame[name] if frame[name].dtype.kind in "fiub" else frame[name].astype("category").cat.codes
                         for name in frame]).astype(np.float64)  # fmt: skip
    there = ~np.isnan(X).any(axis=1)
    X, y = X[there], np.asarray(heart.y == "yes", dtype=np.int64)[there]
    is_test = np.arange(y.size) % 5 == 0
    return {"X": X[~is_test], "y": y[~is_test], "X_test": X[is_test], "y_test": y[is_test], "source": np.array("heart")}


CASES = [
    Case(
        name="covertype_200_stumps",
        make=covertype_two_classes,
        contenders={"eigenwood": ours(STUMPS), "scikit-learn": scikit(STUMPS), "lightgbm": lightgbm(STUMPS)},
        quality=ACCURACY,
        target="at least 50 times as fast as scikit-learn, as good",
    ),
    Case(
        name="covertype_10_trees_of_depth_20",
        make=covertype_two_classes,
        contenders={"eigenwood": ours(TREES, DEPTH), "scikit-learn": scikit(TREES, DEPTH)},
        quality=ACCURACY,
        target="at least 6 times as fast as scikit-learn, as good",
        small=lambda arrays: arrays,  # a tree of this depth is perfect on few rows, and large nodes are not warm then
    ),
    Case(
        name="sms_200_stumps",
        make=sms_words,
        contenders={"eigenwood": ours(STUMPS), "scikit-learn": scikit(STUMPS), "lightgbm": lightgbm(STUMPS)},
        quality=ACCURACY,
        target="at least 20 times as fast as scikit-learn, as good",
        small=lambda arrays: arrays,  # the first entries of a sparse matrix are none
    ),
    Case(
        name="heart_100_stumps",
        make=heart_numbers,
        contenders={
            "eigenwood": ours(FEW_STUMPS),
            "scikit-learn": scikit(FEW_STUMPS),
            "lightgbm": lightgbm(FEW_STUMPS),
        },
        quality=ACCURACY,
        target="not slower than the fastest, as good",
    ),
]
