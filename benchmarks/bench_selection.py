"""Selection of columns by what they tell about the classes; beside it, how well a tree does with half of them."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import adult_columns, covertype_seven_classes

DEPTH = 10


def adult_as_codes() -> Arrays:
    """Return the census with a code for each word; ``is_category`` says which columns were words."""
    arrays = adult_columns()
    words = np.concatenate([arrays["words"], arrays["words_test"]])
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in words.T]).astype(np.float64)
    n_train = len(arrays["y"])
    return {
        "X": np.column_stack([arrays["numbers"], codes[:n_train]]),
        "y": arrays["y"],
        "X_test": np.column_stack([arrays["numbers_test"], codes[n_train:]]),
        "y_test": arrays["y_test"],
        "is_category": np.r_[np.zeros(arrays["numbers"].shape[1], bool), np.ones(words.shape[1], bool)],
        "source": arrays["source"],
    }


def covertype() -> Arrays:
    arrays = covertype_seven_classes()
    return {**arrays, "is_category": np.r_[np.zeros(10, bool), np.ones(arrays["X"].shape[1] - 10, bool)]}


def small(arrays: Arrays) -> Arrays:
    """Return the first rows; the kinds of all columns stay."""
    per_row = ("X", "y", "X_test", "y_test")
    return {name: array[:512] if name in per_row else array for name, array in arrays.items()}


def ours(**options):
    def contender(threads):
        from eigenwood import GainSelector

        def run(arrays):
            chosen = np.flatnonzero(arrays["is_category"]) if options.get("multiway") else None
            more = {name: value for name, value in options.items() if name != "multiway"}
            return (
                GainSelector(categorical_features=chosen, n_jobs=threads, **more).fit(arrays["X"], arrays["y"]).support_
            )

        return run

    return contender


def mutual_information(threads):
    from sklearn.feature_selection import SelectKBest, mutual_info_classif

    def run(arrays):
        def score(X, y):
            return mutual_info_classif(X, y, discrete_features=arrays["is_category"], random_state=0, n_jobs=threads)

        return SelectKBest(score, k=max(1, arrays["X"].shape[1] // 2)).fit(arrays["X"], arrays["y"]).get_support()

    return run


def f_statistic(threads):
    """A yardstick of speed: one pass over the columns, and no more than means are compared."""
    from sklearn.feature_selection import SelectKBest, f_classif

    return lambda arrays: (
        SelectKBest(f_classif, k=max(1, arrays["X"].shape[1] // 2)).fit(arrays["X"], arrays["y"]).get_support()
    )


def accuracy_with(arrays: Arrays, support) -> float:
    """Return the test accuracy of scikit-learn's tree on the columns that were kept."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(arrays["X"][:, support], arrays["y"])
    return float(tree.score(arrays["X_test"][:, support], arrays["y_test"]))


CONTENDERS = {
    "eigenwood": ours(multiway=True),
    "eigenwood mRMR": ours(multiway=True, redundancy_aware=True),
    "mutual_info_classif": mutual_information,
    "f_classif": f_statistic,
}
QUALITY = Quality(f"accuracy of a tree of depth {DEPTH}", accuracy_with, better="higher")
TARGET = "3 x mutual_info_classif"

CASES = [
    Case("adult", adult_as_codes, CONTENDERS, QUALITY, TARGET, small=small),
    Case("covertype_100k", covertype, CONTENDERS, QUALITY, TARGET, small=small),
]
