"""Small fitted models of every kind, made from fixed numbers: what the model file must be able to keep."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline

from eigenwood import (
    CBOW,
    PCA,
    SVC,
    SVR,
    AdaBoostClassifier,
    AdaBoostRegressor,
    Autoencoder,
    BaggingClassifier,
    BaggingRegressor,
    BagOfWords,
    CovarianceEmbedding,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GainSelector,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IterativeHardThresholding,
    KernelLogisticRegression,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LowRankKernel,
    Perceptron,
    PolynomialExpansion,
    RandomForestClassifier,
    RandomForestRegressor,
    ScaledTargetRegressor,
    TableColumns,
    TableEncoder,
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
)

METHODS = ("predict", "predict_proba", "decision_function", "transform")


class Sample(NamedTuple):
    """A fitted model with the data it was fitted to, which are also the queries."""

    model: Any
    X: Any
    y: Any


def rows(n_rows: int = 24, dtype: type = np.float64) -> np.ndarray:
    """Return rows of three features that are whole eighths: exact in float32, and no two are equal."""
    i = np.arange(n_rows)
    return np.column_stack([(5 * i) % 17, (3 * i) % 11, i % 7]).astype(dtype) / 8.0


def two(X: np.ndarray) -> np.ndarray:
    """Return codes 0 and 1: a curved border, which no hyperplane follows."""
    return (X[:, 0] * X[:, 1] + X[:, 2] > 1.0).astype(int)


def three(X: np.ndarray) -> np.ndarray:
    """Return codes 0, 1 and 2."""
    return np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [0.8, 1.6])


def thirds(X: np.ndarray) -> np.ndarray:
    """Return codes 0, 1 and 2 of about as many rows each."""
    total = X.sum(axis=1)
    return np.digitize(total, np.quantile(total, [0.33, 0.67]))


def mixed_frame() -> pa.Table:
    """Return a table with numbers, categories and holes."""
    sizes = [1.5, None, 3.0, 4.5, 2.0, 2.5, None, 8.0]
    colours = ["red", "blue", None, "red", "green", "blue", "blue", "red"]
    return pa.table({"size": sizes, "colour": colours, "old": [True, False] * 4})


def dated_frame() -> pa.Table:
    """Return a table of dates as people write them, texts, numbers with decimal commas, categories and row numbers."""
    return pa.table(
        {
            "row": list(range(1, 9)),
            "when": ["31.12.2023 8:30", "1.3.2024 23:59", None, *(f"{day}.7.2024 12:00" for day in range(2, 27, 5))],
            "text": [f"{how} and really {how}, {what} {i}" for i, how in enumerate(("good", "bad")) for what in "wxyz"],
            "price": ["1.234,50", "7,5", None, "12,25", "8", "9,75", "3,5", "2.000"],
            "colour": ["red", "blue", None, "red", "green", "blue", "blue", "red"],
            "day": [f"2024-0{month}-01" for month in range(1, 9)],
        }
    )


def columns_sample(estimator: TableColumns) -> Callable[[], Sample]:
    """Return what fits the first step of a table to labels that follow from the text."""
    y = ["yes"] * 4 + ["no"] * 4
    return lambda: Sample(estimator.fit(dated_frame(), y), dated_frame(), y)


def labelled(estimator: Any, label: Callable[[np.ndarray], Any], X: Any = None) -> Callable[[], Sample]:
    """Return what fits ``estimator`` to the labels."""

    def fit() -> Sample:
        given = rows() if X is None else X
        plain = given.toarray() if sparse.issparse(given) else np.asarray(given)
        y = label(plain)
        return Sample(estimator.fit(given, y), given, y)

    return fit


def transforming(estimator: Any, X: Any) -> Callable[[], Sample]:
    return lambda: Sample(estimator.fit(X), X, None)


def named(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=["length", "width", "größe"])


REVIEWS = ["I liked it, liked it a lot", "The été was boring: BORING", "", "Nobody liked the \n  second été of it"]


def linear_gram(X: np.ndarray) -> np.ndarray:
    return X @ X.T


def gram_sample() -> Sample:
    X = rows()
    K = linear_gram(X) ** 2
    return Sample(KernelPerceptron(kernel="precomputed", max_iter=20).fit(K, three(X)), K, three(X))


def svm_gram_sample() -> Sample:
    X = rows()
    K = linear_gram(X) ** 2
    return Sample(SVC(kernel="precomputed").fit(K, three(X)), K, three(X))


def logistic_gram_sample() -> Sample:
    X = rows()
    K = linear_gram(X) ** 2
    return Sample(KernelLogisticRegression(kernel="precomputed").fit(K, three(X)), K, three(X))


def table_pipeline() -> Sample:
    X, y = mixed_frame(), ["no", "yes", "yes", "yes", "no", "no", "no", "yes"]
    steps = [("encode", TableEncoder()), ("expand", PolynomialExpansion()), ("learn", Perceptron(max_iter=50))]
    return Sample(Pipeline(steps).fit(X, y), X, y)


def nested_pipeline() -> Sample:
    X = rows()
    inner = make_pipeline(TableEncoder(), PolynomialExpansion(include_bias=False))
    return Sample(make_pipeline(inner, KernelPerceptron(vote="voted", max_iter=5)).fit(X, three(X)), X, three(X))


def amounts(X: np.ndarray) -> np.ndarray:
    """Return amounts that are whole eighths, and not the same for two rows that look alike."""
    return np.round(8.0 * (X[:, 0] * X[:, 1] + X[:, 2])) / 8.0


def with_holes(X: np.ndarray) -> np.ndarray:
    """Return the rows with some numbers missing."""
    return np.where((np.arange(X.size) % 9 == 4).reshape(X.shape), np.nan, X)


def table_tree(estimator: Any) -> Callable[[], Sample]:
    """Return what fits a tree to labels that follow from the colour."""
    y = ["warm", "cold", "none", "warm", "mild", "cold", "cold", "warm"]
    return lambda: Sample(estimator.fit(mixed_frame(), y), mixed_frame(), y)


def fitted_ensemble() -> Sample:
    """Return an ensemble of models that were fitted before, with calibrations of scores and decision weights."""
    X, y = mixed_frame(), np.array(["no", "yes", "yes", "yes", "no", "no", "no", "yes"])
    members = [
        ("a tree", DecisionTreeClassifier(random_state=0).fit(X, y)),
        ("a machine", make_pipeline(TableEncoder(), PolynomialExpansion(), Perceptron(max_iter=50)).fit(X, y)),
    ]
    model = WeightedEnsembleClassifier.from_fitted(
        members, np.unique(y), weights=[0.7, 0.3], calibrations=[None, [[0.75, -0.5]]], decision_weights=[1.0, 1.5]
    )
    return Sample(model, X, y)


def several(X: np.ndarray) -> np.ndarray:
    """Return two columns of labels, of two and of three classes."""
    return np.column_stack([two(X), three(X)])


SENTENCES = [
    f"we {verb} {kind} {what}"
    for verb in ("like", "têst", "sell")
    for kind, what in [("hot", "tea"), ("hot", "coffee"), ("old", "books"), ("old", "letters")]
] * 4
WORDS = np.array(["low", "", "très haut"])
SPARSE = sparse.csr_array(np.where(rows() > 1.0, 0.0, rows()))

MAKERS: dict[str, Callable[[], Sample]] = {
    "perceptron": labelled(Perceptron(), two),
    "perceptron-strings": labelled(Perceptron(), lambda X: WORDS[three(X)]),
    "perceptron-objects": labelled(Perceptron(), lambda X: WORDS[three(X)].astype(object)),
    "perceptron-bool": labelled(Perceptron(), lambda X: two(X) == 1),
    "perceptron-floats": labelled(Perceptron(), lambda X: two(X) - 1.0),
    "perceptron-int8": labelled(Perceptron(), lambda X: three(X).astype(np.int8) - 1),
    "perceptron-uint64": labelled(Perceptron(), lambda X: two(X).astype(np.uint64)),
    "perceptron-names": labelled(Perceptron(), three, named(rows())),
    "perceptron-penalty": labelled(
        Perceptron(penalty="elasticnet", alpha=1e-3, max_iter=20, tol=None, class_weight={0: 1, 1: 2.5}), two
    ),
    "perceptron-early": labelled(Perceptron(early_stopping=True, validation_fraction=0.25), two),
    "perceptron-limit": labelled(Perceptron(time_limit=1e-9, random_state=np.int64(3)), two),
    "perceptron-sparse": labelled(Perceptron(class_weight="balanced"), two, SPARSE),
    "kernel-perceptron": labelled(KernelPerceptron(), two),
    "kernel-perceptron-averaged": labelled(
        KernelPerceptron(kernel="poly", degree=2, coef0=1.0, vote="averaged", max_iter=10), three
    ),
    "kernel-perceptron-voted": labelled(KernelPerceptron(vote="voted", max_iter=10), lambda X: WORDS[three(X)]),
    "kernel-perceptron-budget": labelled(KernelPerceptron(max_support=5, max_iter=10), two),
    "kernel-perceptron-float32": labelled(KernelPerceptron(gamma=0.5, max_iter=10), two, rows(dtype=np.float32)),
    "kernel-perceptron-laplacian": labelled(KernelPerceptron(kernel="laplacian", gamma=2, max_iter=10), two),
    "kernel-perceptron-sigmoid": labelled(KernelPerceptron(kernel="sigmoid", coef0=-1.0, max_iter=5), two),
    "kernel-perceptron-sparse": labelled(KernelPerceptron(vote="voted", max_iter=10), three, SPARSE),
    "kernel-perceptron-names": labelled(KernelPerceptron(max_iter=10), two, named(rows())),
    "kernel-perceptron-precomputed": gram_sample,
    "svm": labelled(SVC(C=10.0), two),
    "svm-strings": labelled(SVC(kernel="poly", degree=2, coef0=1.0), lambda X: WORDS[three(X)]),
    "svm-pairs": labelled(SVC(C=3.0, decision_function_shape="ovo", class_weight="balanced"), thirds, SPARSE),
    "svm-many": labelled(SVC(kernel="sigmoid", gamma=0.1), lambda X: np.arange(len(X)) % 5),
    "svm-squared": labelled(SVC(slack="squared", kernel="laplacian", gamma=0.5), two, rows(dtype=np.float32)),
    "svm-names": labelled(SVC(kernel="linear", class_weight={0: 1.0, 1: 2.5}), two, named(rows())),
    "svm-limit": labelled(SVC(time_limit=1e-9, random_state=np.int64(3)), two),
    "svm-precomputed": svm_gram_sample,
    "svm-landmarks": labelled(SVC(approximation="low_rank", memory_limit=0.002), thirds, named(rows())),
    "svm-regression-landmarks": labelled(SVR(approximation="low_rank", memory_limit=0.002, gamma=0.1), amounts),
    "svm-regression": labelled(SVR(C=10.0, epsilon=0.05), amounts),
    "svm-regression-linear": labelled(SVR(kernel="linear", slack="squared"), amounts, SPARSE),
    "kernel-logistic": labelled(KernelLogisticRegression(C=10.0), two),
    "kernel-logistic-strings": labelled(
        KernelLogisticRegression(kernel="poly", degree=2, coef0=1.0, n_components=4), lambda X: WORDS[three(X)]
    ),
    "kernel-logistic-sparse": labelled(
        KernelLogisticRegression(n_components=0.1, class_weight="balanced"), three, SPARSE
    ),
    "kernel-logistic-names": labelled(
        KernelLogisticRegression(kernel="linear", fit_intercept=False, class_weight={0: 1.0, 1: 2.5}),
        two,
        named(rows()),
    ),
    "kernel-logistic-limit": labelled(KernelLogisticRegression(time_limit=1e-9, random_state=np.int64(3)), two),
    "kernel-logistic-precomputed": logistic_gram_sample,
    "kernel-ridge": labelled(KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5), amounts),
    "kernel-ridge-several": labelled(
        KernelRidge(alpha=[0.1, 1.0], kernel="poly", degree=2), lambda X: np.column_stack([amounts(X), X[:, 0]]), SPARSE
    ),
    "kernel-ridge-landmarks": labelled(KernelRidge(kernel="rbf", gamma=0.1, n_components=6), amounts, named(rows())),
    "kernel-ridge-precomputed": lambda: Sample(
        KernelRidge(kernel="precomputed").fit(linear_gram(rows()), amounts(rows())),
        linear_gram(rows()),
        amounts(rows()),
    ),
    "decision-tree": labelled(DecisionTreeClassifier(random_state=0), two),
    "decision-tree-strings": labelled(
        DecisionTreeClassifier(random_state=0, criterion="error"), lambda X: WORDS[three(X)]
    ),
    "decision-tree-one-class": labelled(DecisionTreeClassifier(random_state=0), lambda X: np.full(len(X), 7)),
    "decision-tree-several": labelled(
        DecisionTreeClassifier(random_state=0, class_weight=[{0: 1, 1: 2.5}, {0: 1, 1: 1, 2: 3}]), several
    ),
    "decision-tree-sparse": labelled(DecisionTreeClassifier(random_state=0, criterion="entropy"), three, SPARSE),
    "decision-tree-names": labelled(DecisionTreeClassifier(random_state=0, max_leaf_nodes=4), three, named(rows())),
    "decision-tree-table": table_tree(DecisionTreeClassifier(random_state=0)),
    "decision-tree-multiway": table_tree(DecisionTreeClassifier(random_state=0, categorical_split="multiway")),
    "decision-tree-validation": labelled(DecisionTreeClassifier(random_state=3, prune="validation"), three),
    "decision-tree-cv": labelled(DecisionTreeClassifier(random_state=0, prune="cost_complexity_cv"), two),
    "decision-tree-choices": labelled(
        DecisionTreeClassifier(
            splitter="random",
            max_features="sqrt",
            min_samples_leaf=0.05,
            random_state=np.int64(1),
            monotonic_cst=[1, 0, 0],
            categorical_features=[False, False, True],
            class_weight="balanced",
        ),
        two,
    ),
    "regression-tree": labelled(DecisionTreeRegressor(random_state=0), amounts),
    "regression-tree-missing": labelled(
        DecisionTreeRegressor(random_state=0, categorical_features=[2], ccp_alpha=1e-3),
        lambda X: amounts(np.nan_to_num(X)),
        with_holes(rows()),
    ),
    "regression-tree-median": labelled(
        DecisionTreeRegressor(random_state=0, criterion="absolute_error", max_depth=3), amounts
    ),
    "regression-tree-poisson": labelled(
        DecisionTreeRegressor(random_state=0, criterion="poisson", min_samples_leaf=2), amounts
    ),
    "regression-tree-several": labelled(
        DecisionTreeRegressor(random_state=0, max_depth=3, time_limit=600.0), lambda X: np.column_stack([amounts(X), X])
    ),
    "regression-tree-float32": labelled(
        DecisionTreeRegressor(random_state=0, prune="validation"), amounts, rows(dtype=np.float32)
    ),
    "bagging": labelled(BaggingClassifier(n_estimators=3, random_state=0), lambda X: WORDS[three(X)]),
    "bagging-table": table_tree(BaggingClassifier(n_estimators=3, max_features=2, random_state=0)),
    "bagging-oob": labelled(
        BaggingClassifier(
            Perceptron(max_iter=5),
            n_estimators=8,
            max_samples=0.75,
            oob_score="f1_macro",
            resample=True,
            random_state=0,
        ),
        two,
    ),
    "bagging-pipeline": labelled(
        BaggingClassifier(
            make_pipeline(PolynomialExpansion(), Perceptron(max_iter=5)),
            n_estimators=2,
            bootstrap=False,
            random_state=0,
        ),
        two,
        named(rows()),
    ),
    "bagging-nested": labelled(
        BaggingClassifier(
            BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2, max_features=0.7),
            n_estimators=2,
            random_state=0,
        ),
        three,
        SPARSE,
    ),
    "bagging-regression": labelled(BaggingRegressor(n_estimators=8, oob_score=True, random_state=0), amounts),
    "bagging-regression-several": labelled(
        BaggingRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=2, random_state=0),
        lambda X: np.column_stack([amounts(X), X]),
    ),
    "adaboost": labelled(AdaBoostClassifier(n_estimators=6), lambda X: WORDS[three(X)]),
    "adaboost-two": labelled(AdaBoostClassifier(n_estimators=6, algorithm="real"), two, named(rows())),
    "adaboost-table": table_tree(AdaBoostClassifier(n_estimators=3, random_state=0)),
    "adaboost-missing": labelled(
        AdaBoostClassifier(n_estimators=6, learning_rate=0.5, categorical_features=[2]),
        lambda X: two(np.nan_to_num(X)),
        with_holes(rows()),
    ),
    "adaboost-early": labelled(
        AdaBoostClassifier(n_estimators=8, early_stopping=True, validation_fraction=0.3, random_state=0), three
    ),
    "adaboost-sparse": labelled(AdaBoostClassifier(n_estimators=4), two, SPARSE),
    "adaboost-trees": labelled(
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0), three
    ),
    "adaboost-real": labelled(AdaBoostClassifier(n_estimators=3, algorithm="real", random_state=0), three),
    "adaboost-drawn": labelled(AdaBoostClassifier(KernelPerceptron(max_iter=3), n_estimators=3, random_state=0), two),
    "adaboost-regression-early": labelled(
        AdaBoostRegressor(
            n_estimators=3, early_stopping=True, validation_fraction=0.3, n_iter_no_change=1, random_state=0
        ),
        amounts,
    ),
    "adaboost-regression": labelled(AdaBoostRegressor(n_estimators=3, random_state=0), amounts, named(rows())),
    "adaboost-regression-square": labelled(
        AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3, loss="square", random_state=0), amounts
    ),
    "pca": transforming(PCA(2), rows()),
    "pca-scaled": transforming(PCA(0.9, scale=True, whiten=True), named(rows())),
    "pca-float32": transforming(PCA(2, svd_solver="krylov"), rows(dtype=np.float32)),
    "pca-missing": transforming(PCA(1, missing="em"), with_holes(rows())),
    "pca-sparse": transforming(PCA(2, svd_solver="covariance_eigh"), SPARSE),
    "kernel-pca": transforming(KernelPCA(3, kernel="rbf", gamma=0.5, fit_inverse_transform=True, alpha=0.1), rows()),
    "kernel-pca-krylov": transforming(KernelPCA(2, kernel="poly", degree=2, eigen_solver="krylov"), named(rows())),
    "kernel-pca-low-rank": transforming(
        KernelPCA(3, kernel="rbf", gamma=0.5, eigen_solver="low_rank", n_landmarks=12, preimage="fixed_point"), rows()
    ),
    "kernel-pca-float32": transforming(KernelPCA(2, kernel="laplacian"), rows(dtype=np.float32)),
    "kernel-pca-sparse": transforming(KernelPCA(2, kernel="cosine"), SPARSE),
    "kernel-pca-precomputed": transforming(KernelPCA(2, kernel="precomputed"), linear_gram(rows()) ** 2),
    "low-rank-kernel": transforming(LowRankKernel(gamma=0.5, n_components=8), rows()),
    "low-rank-kernel-share": transforming(LowRankKernel("poly", degree=2.0, n_components=0.05), named(rows())),
    "low-rank-kernel-float32": transforming(
        LowRankKernel("laplacian", n_components=6, method="kmeans++"), rows(dtype=np.float32)
    ),
    "low-rank-kernel-sparse": transforming(LowRankKernel(n_components=5, method="uniform"), SPARSE),
    "low-rank-kernel-precomputed": transforming(LowRankKernel("precomputed", n_components=5), linear_gram(rows()) ** 2),
    "random-forest": labelled(RandomForestClassifier(5, random_state=0), lambda X: WORDS[three(X)]),
    "random-forest-table": table_tree(RandomForestClassifier(4, max_features=None, random_state=0)),
    "random-forest-oob": labelled(
        RandomForestClassifier(
            8, criterion="entropy", max_features="oob", oob_score="f1_macro", max_samples=0.75, random_state=np.int64(1)
        ),
        two,
        named(rows()),
    ),
    "random-forest-several": labelled(
        RandomForestClassifier(
            3, max_depth=3, class_weight=[{0: 1, 1: 2.5}, {0: 1, 1: 1, 2: 3}], bootstrap=False, random_state=0
        ),
        several,
        SPARSE,
    ),
    "random-forest-choices": labelled(
        RandomForestClassifier(
            3,
            criterion="error",
            max_leaf_nodes=6,
            monotonic_cst=[1, 0, 0],
            categorical_features=[False, False, True],
            class_weight="balanced_subsample",
            random_state=0,
        ),
        two,
    ),
    "random-forest-regression": labelled(RandomForestRegressor(8, oob_score=True, random_state=0), amounts),
    "random-forest-regression-missing": labelled(
        RandomForestRegressor(3, categorical_features=[2], ccp_alpha=1e-3, random_state=0),
        lambda X: amounts(np.nan_to_num(X)),
        with_holes(rows()),
    ),
    "random-forest-regression-median": labelled(
        RandomForestRegressor(3, criterion="absolute_error", max_depth=3, time_limit=600.0, random_state=0), amounts
    ),
    "random-forest-regression-poisson": labelled(
        RandomForestRegressor(3, criterion="poisson", min_samples_leaf=2, random_state=0),
        lambda X: np.column_stack([amounts(X) + 1.0, X + 1.0]),
    ),
    "gradient-boosting": labelled(
        GradientBoostingClassifier(n_estimators=4, max_leaf_nodes=4), lambda X: WORDS[three(X)]
    ),
    "gradient-boosting-table": table_tree(GradientBoostingClassifier(n_estimators=2, class_weight="balanced")),
    "gradient-boosting-exponential": labelled(
        GradientBoostingClassifier(loss="exponential", n_estimators=4, subsample=0.75, random_state=0), two, SPARSE
    ),
    "gradient-boosting-early": labelled(
        GradientBoostingClassifier(
            n_estimators=6, early_stopping=True, validation_fraction=0.25, scoring="accuracy", random_state=0
        ),
        two,
        named(rows()),
    ),
    "gradient-boosting-init": labelled(
        GradientBoostingClassifier(init=DecisionTreeClassifier(max_depth=1, random_state=0), n_estimators=2), three
    ),
    "gradient-boosting-regression": labelled(GradientBoostingRegressor(n_estimators=5, max_depth=2), amounts),
    "gradient-boosting-regression-missing": labelled(
        GradientBoostingRegressor(
            n_estimators=4, early_stopping=True, validation_fraction=0.25, categorical_features=[2], random_state=0
        ),
        lambda X: amounts(np.nan_to_num(X)),
        with_holes(rows()),
    ),
    "gradient-boosting-regression-quantiles": labelled(
        GradientBoostingRegressor(loss="quantile", alpha=[0.25, 0.75], n_estimators=3, max_bins=4),
        amounts,
        named(rows()),
    ),
    "gradient-boosting-regression-bounds": labelled(
        GradientBoostingRegressor(
            n_estimators=3, monotonic_cst=[1, 0, 0], interaction_cst=[[0, 1], [2]], min_samples_leaf=0.1
        ),
        amounts,
    ),
    "gradient-boosting-regression-init": labelled(
        GradientBoostingRegressor(
            init=DecisionTreeRegressor(max_depth=1, random_state=0),
            n_estimators=2,
            max_features=2,
            subsample=0.8,
            random_state=0,
        ),
        amounts,
    ),
    "gradient-boosting-regression-poisson": labelled(
        GradientBoostingRegressor(loss="poisson", n_estimators=3, l2_regularization=1.0), lambda X: amounts(X) + 1.0
    ),
    "autoencoder": transforming(Autoencoder(2), named(rows())),
    "autoencoder-tanh": transforming(Autoencoder(1, activation="tanh", scale=True, max_iter=100), rows()),
    "bag-of-words": transforming(BagOfWords(), REVIEWS),
    "bag-of-words-pairs": transforming(BagOfWords(ngram_range=(1, 2), max_features=9, binary=True), REVIEWS),
    "bag-of-words-given": transforming(BagOfWords(vocabulary=["liked", "été"], dtype=np.float32), REVIEWS),
    "gain-selector": labelled(GainSelector(2), three, named(rows())),
    "gain-selector-aware": labelled(
        GainSelector(2, criterion="gini", redundancy_aware=True), three, with_holes(rows())
    ),
    "gain-selector-table": table_tree(GainSelector(1, gain_ratio=True)),
    "weighted-ensemble": labelled(
        WeightedEnsembleClassifier(
            [
                ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
                ("machine", make_pipeline(PolynomialExpansion(), Perceptron(max_iter=100))),
            ],
            weights=[2, 1.0],
        ),
        lambda X: WORDS[thirds(X)],
        named(rows()),
    ),
    "weighted-ensemble-fitted": fitted_ensemble,
    "weighted-ensemble-regression": labelled(
        WeightedEnsembleRegressor(
            [
                ("tree", DecisionTreeRegressor(max_depth=2, random_state=0)),
                ("machine", make_pipeline(TableEncoder(), ScaledTargetRegressor(KernelRidge(kernel="rbf")))),
            ],
            weights=[1, 3],
        ),
        amounts,
        named(rows()),
    ),
    "scaled-target": labelled(ScaledTargetRegressor(), lambda X: 1000.0 * amounts(X)),
    "scaled-target-log": labelled(
        ScaledTargetRegressor(DecisionTreeRegressor(max_depth=2, random_state=0), scale="log"),
        lambda X: np.exp(amounts(X)),
        named(rows()),
    ),
    "cbow": transforming(CBOW(4, window=2, min_count=2, subsample=None, epochs=2, validation_fraction=0.1), SENTENCES),
    "cbow-softmax": transforming(
        CBOW(3, min_count=1, max_vocab=9, subsample=None, loss="softmax", epochs=3, learning_rate=0.3), SENTENCES
    ),
    "covariance-embedding": transforming(CovarianceEmbedding(3, window=2), SENTENCES),
    "covariance-embedding-counts": transforming(CovarianceEmbedding(2, matrix="counts", power=1), SENTENCES),
    "hard-thresholding": labelled(IterativeHardThresholding(2), amounts, named(rows())),
    "hard-thresholding-cv": labelled(IterativeHardThresholding("cv", n_folds=3, fit_intercept=False), amounts),
    "polynomial-expansion": transforming(PolynomialExpansion(), rows()),
    "polynomial-expansion-plain": transforming(
        PolynomialExpansion(degree=3, include_bias=False, kernel_scale=False), named(rows())
    ),
    "polynomial-expansion-sparse": transforming(PolynomialExpansion(sparse_output=True), SPARSE),
    "table-columns": columns_sample(TableColumns()),
    "table-columns-cyclic": columns_sample(
        TableColumns(
            kinds={"row": "id", "colour": "text"}, readings={"when": "day month year"}, cyclic=True, max_terms=3
        )
    ),
    "table-columns-numbers": transforming(TableColumns(), rows()),
    "table-columns-pairs": transforming(
        TableColumns(pairs=True), rows() @ np.array([[1.0, 1.0, 1.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    ),
    "table-encoder": transforming(TableEncoder(), mixed_frame()),
    "table-encoder-numbers": transforming(TableEncoder(scale=False), rows()),
    "table-encoder-few": transforming(TableEncoder(max_categories=1), mixed_frame().select(["colour"])),
    "pipeline": table_pipeline,
    "pipeline-nested": nested_pipeline,
}


# names of transformers begin so
WITHOUT_TARGET = (
    "autoencoder",
    "bag-of-words",
    "cbow",
    "covariance-embedding",
    "gain-selector",
    "kernel-pca",
    "low-rank-kernel",
    "pca",
    "polynomial-expansion",
    "table-columns",
    "table-encoder",
)


@cache
def sample(name: str) -> Sample:
    """Return the fitted sample; made once, and nobody changes it."""
    return MAKERS[name]()


def dense(values: Any) -> np.ndarray:
    if isinstance(values, pa.Table):
        return np.column_stack([np.array(column.to_pylist(), dtype=object) for column in values.columns])
    if isinstance(values, list):  # the shares of several outputs
        return np.hstack(values)
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def outputs(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return what the model makes of X, by method."""
    return {name: dense(getattr(model, name)(X)) for name in METHODS if hasattr(model, name)}


def parts_of(model: Any) -> list[Any]:
    """Return the estimators in a model: itself, or those of its steps."""
    if isinstance(model, Pipeline):
        return [part for _, step in model.steps for part in parts_of(step)]
    return [model]


def plain_params(model: Any) -> dict[str, Any]:
    """Return the parameters; of an estimator among them its class, since its own parameters are here as well."""
    params = model.get_params()
    return {name: type(value) if hasattr(value, "get_params") else value for name, value in params.items()} | {
        name: [step for step, _ in value]
        for name, value in params.items()
        if name.endswith(("steps", "estimators")) and isinstance(value, list)
    }


def fitted_values(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.FITTED if hasattr(model, name)}


def assert_same_model(got: Any, wanted: Any) -> None:
    """Both have the same steps, parameters and fitted attributes, bit for bit."""
    assert type(got) is type(wanted)
    if isinstance(wanted, Pipeline):
        assert [name for name, _ in got.steps] == [name for name, _ in wanted.steps]
    for one, other in zip(parts_of(got), parts_of(wanted), strict=True):
        assert type(one) is type(other)
        assert plain_params(one) == plain_params(other)
        assert fitted_values(one).keys() == fitted_values(other).keys()
        for name, value in fitted_values(other).items():
            assert_same_value(name, getattr(one, name), value)


def assert_same_value(name: str, got: Any, wanted: Any) -> None:
    if sparse.issparse(wanted):
        assert got.shape == wanted.shape, name
        for part in ("data", "indices", "indptr"):
            assert_same_value(f"{name}.{part}", getattr(got, part), getattr(wanted, part))
    elif isinstance(wanted, tuple) and hasattr(wanted, "_fields"):
        assert type(got) is type(wanted), name
        for part in wanted._fields:
            assert_same_value(f"{name}.{part}", getattr(got, part), getattr(wanted, part))
    elif hasattr(wanted, "get_params"):
        assert_same_model(got, wanted)
    elif isinstance(wanted, list) and wanted and hasattr(wanted[0], "get_params"):
        for one, other in zip(got, wanted, strict=True):
            assert_same_model(one, other)
    elif isinstance(wanted, list) and any(isinstance(part, np.ndarray) for part in wanted):
        for i, (one, other) in enumerate(zip(got, wanted, strict=True)):
            assert_same_value(f"{name}[{i}]", one, other)
    elif isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype, name
        assert got.shape == wanted.shape, name
        assert got.tolist() == wanted.tolist() if wanted.dtype == object else got.tobytes() == wanted.tobytes(), name
    else:
        assert got == wanted, name


def assert_same_outputs(got: Any, wanted: Any, X: Any) -> None:
    """Both make the same bits of X."""
    results, expected = outputs(got, X), outputs(wanted, X)
    assert results.keys() == expected.keys()
    for method, values in expected.items():
        assert results[method].dtype == values.dtype, method
        np.testing.assert_array_equal(results[method], values, err_msg=method)
