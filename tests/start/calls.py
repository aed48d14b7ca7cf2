"""Calls as users make them, over every public estimator: each must find its machine code in the store.

A call is a name and a function of no arguments that returns what it computed, so that the same table also shows that
two ways of compiling give the same bits.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenwood as ew
from eigenwood.data.blocks import blocks

Call = Callable[[], Any]
CALLS: dict[str, Call] = {}

N_ROWS, N_LARGE, N_HUGE = 300, 6_000, 30_000
MISSING, CATEGORY = 1, 2  # columns that have them


@cache
def numbers(n_rows: int = N_ROWS, n_columns: int = 8) -> np.ndarray:
    X = np.random.default_rng(n_rows + n_columns).normal(size=(n_rows, n_columns))
    X[:, 0] = X[:, 0].round(1)
    return X


def table(n_rows: int = N_ROWS, n_columns: int = 8) -> np.ndarray:
    return numbers(n_rows, n_columns).copy()


def score(X: np.ndarray) -> np.ndarray:
    return X[:, 0] + X[:, 1] * X[:, 3] + 0.3 * np.sin(9 * X[:, 4])


def two(X: np.ndarray) -> np.ndarray:
    return (score(X) > 0).astype(int)


def seven(X: np.ndarray) -> np.ndarray:
    return np.digitize(score(X), np.quantile(score(X), np.arange(1, 7) / 7))


def words(X: np.ndarray) -> np.ndarray:
    return np.array(["low", "middle", "high"])[np.digitize(score(X), [-0.5, 0.5])]


def amounts(X: np.ndarray) -> np.ndarray:
    return np.round(score(X), 3)


def counts(X: np.ndarray) -> np.ndarray:
    return np.floor(np.abs(3 * score(X)))


def both(X: np.ndarray) -> np.ndarray:
    return np.column_stack([amounts(X), counts(X)])


def with_missing(X: np.ndarray) -> np.ndarray:
    X[::7, MISSING] = np.nan
    X[3::11, 4] = np.nan
    return X


def whole(X: np.ndarray) -> np.ndarray:
    return np.floor(4 * X)


def thin(X: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(np.where(np.abs(X) < 1.0, 0.0, X))


def with_zeros(X: np.ndarray) -> np.ndarray:
    return np.where(np.abs(X) < 1.0, 0.0, X)


def frame(X: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    table["x2"] = pd.Categorical.from_codes(np.digitize(X[:, 2], [-1, 0, 1]), ["red", "green", "blue", "grey"])
    return table


def read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def in_columns(X: np.ndarray) -> np.ndarray:
    return np.asfortranarray(X)


def every_other(X: np.ndarray) -> np.ndarray:
    return np.repeat(X, 2, axis=0)[::2]


def as_float32(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float32)


def as_int(X: np.ndarray) -> np.ndarray:
    return whole(X).astype(np.int64)


def as_uint8(X: np.ndarray) -> np.ndarray:
    return np.clip(40 * X + 120, 0, 255).astype(np.uint8)


def as_bool(X: np.ndarray) -> np.ndarray:
    return X > 0


def rare(X: np.ndarray) -> np.ndarray:
    return (np.abs(X) > 2.2).astype(np.float64)


def as_float16(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float16)


def weights(n_rows: int) -> np.ndarray:
    return 0.5 + np.arange(n_rows) % 3


def whole_weights(n_rows: int) -> np.ndarray:
    return 1 + np.arange(n_rows) % 3


def call(name: str) -> Callable[[Call], Call]:
    """Add a function to the table."""

    def add(function: Call) -> Call:
        assert name not in CALLS, name
        CALLS[name] = function
        return function

    return add


def add_fit(
    name: str,
    estimator: Any,
    target: Callable | None = None,
    form: Callable = lambda X: X,
    n_rows: int = N_ROWS,
    n_columns: int = 8,
    weight: Callable | None = None,
    verified: bool = True,
) -> None:
    """Add a fit with all that people do next: predictions, probabilities, verify."""

    def run() -> Any:
        X = table(n_rows, n_columns)
        y = None if target is None else target(X)
        X = form(X)
        more = {} if weight is None else {"sample_weight": weight(n_rows)}
        model = estimator.fit(X, y, **more) if y is not None else estimator.fit(X, **more)
        methods = ("predict", "predict_proba", "decision_function", "transform", "apply")
        told = [getattr(model, method)(X) for method in methods if hasattr(model, method)]
        few = X.iloc[:1] if hasattr(X, "iloc") else X[:1]
        told += [getattr(model, method)(few) for method in methods[:1] if hasattr(model, method)]
        if verified:
            certificate = ew.verify(model, X, y, *more.values())
            told.append([claim.value for claim in certificate.claims])
        return [
            told,
            {key: getattr(model, key) for key in model.FITTED if hasattr(model, key) and key != "certificate_"},
        ]

    call(name)(run)


TREE, TREE_R = ew.DecisionTreeClassifier, ew.DecisionTreeRegressor
FOREST, FOREST_R = ew.RandomForestClassifier, ew.RandomForestRegressor
BOOST, BOOST_R = ew.GradientBoostingClassifier, ew.GradientBoostingRegressor

for form in (as_float32, as_int, as_uint8, as_bool, as_float16, read_only, in_columns, every_other, thin, frame,
             with_missing, whole):  # fmt: skip
    add_fit(f"tree of {form.__name__}", TREE(random_state=0), two, form)
    add_fit(f"regression tree of {form.__name__}", TREE_R(random_state=0), amounts, form)
    add_fit(f"forest of {form.__name__}", FOREST(8, random_state=0), words, form)
    add_fit(f"regression forest of {form.__name__}", FOREST_R(8, random_state=0), amounts, form)
for form in (as_float32, as_int, as_uint8, read_only, in_columns, every_other, thin):
    add_fit(f"svm of {form.__name__}", ew.SVC(), words, form)
    add_fit(f"svr of {form.__name__}", ew.SVR(), amounts, form)
    add_fit(f"perceptron of {form.__name__}", ew.Perceptron(random_state=0), words, form)
    add_fit(f"kernel perceptron of {form.__name__}", ew.KernelPerceptron(max_iter=5), words, form)
    add_fit(f"pca of {form.__name__}", ew.PCA(3), None, form)
    add_fit(f"expansion of {form.__name__}", ew.PolynomialExpansion(), None, form)
add_fit("boosting of rare", BOOST_R(n_estimators=3), amounts, rare)
for criterion in ("gini", "entropy", "error"):
    for n_rows in (N_ROWS, N_LARGE, N_HUGE):
        add_fit(f"tree by {criterion}, {n_rows} rows", TREE(criterion=criterion, random_state=0), seven, n_rows=n_rows)
        add_fit(
            f"forest by {criterion}, {n_rows} rows", FOREST(4, criterion=criterion, random_state=0), two, n_rows=n_rows
        )
for criterion in ("squared_error", "friedman_mse", "absolute_error", "poisson"):
    target = counts if criterion == "poisson" else amounts
    for n_rows in (N_ROWS, N_LARGE):
        add_fit(
            f"tree by {criterion}, {n_rows} rows", TREE_R(criterion=criterion, random_state=0), target, n_rows=n_rows
        )
    add_fit(f"forest by {criterion}", FOREST_R(4, criterion=criterion, random_state=0), target)
for weight in (weights, whole_weights):
    add_fit(f"tree with {weight.__name__}", TREE(random_state=0), words, weight=weight)
    add_fit(f"regression tree with {weight.__name__}", TREE_R(random_state=0), amounts, weight=weight)
    add_fit(f"large tree with {weight.__name__}", TREE(random_state=0), words, weight=weight, n_rows=N_HUGE)
    add_fit(f"forest with {weight.__name__}", FOREST(4, random_state=0), words, weight=weight)
    add_fit(f"large forest with {weight.__name__}", FOREST(4, random_state=0), words, weight=weight, n_rows=N_LARGE)
    add_fit(f"regression forest with {weight.__name__}", FOREST_R(4, random_state=0), amounts, weight=weight)
    add_fit(
        f"bagging with {weight.__name__}", ew.BaggingClassifier(n_estimators=4, random_state=0), words, weight=weight
    )
    add_fit(f"svm with {weight.__name__}", ew.SVC(), words, weight=weight)
    add_fit(f"svr with {weight.__name__}", ew.SVR(), amounts, weight=weight)
    add_fit(f"perceptron with {weight.__name__}", ew.Perceptron(random_state=0), words, weight=weight)
    add_fit(f"kernel perceptron with {weight.__name__}", ew.KernelPerceptron(max_iter=5), words, weight=weight)
    add_fit(f"pca with {weight.__name__}", ew.PCA(3), None, weight=weight)
add_fit("tree, depth 3", TREE(max_depth=3, random_state=0), words)
add_fit("tree, 10 leaves", TREE(max_leaf_nodes=10, random_state=0), words)
add_fit("tree, balanced", TREE(class_weight="balanced", random_state=0), words)
add_fit("tree, random splits", TREE(splitter="random", random_state=0), words)
add_fit("tree, few columns a node", TREE(max_features="sqrt", random_state=0), words)
add_fit("tree, monotone", TREE(monotonic_cst=[1] + [0] * 7, random_state=0), two)
add_fit("tree, pruned by alpha", TREE(ccp_alpha=0.01, random_state=0), words)
add_fit("tree, pruned by validation", TREE(prune="validation", random_state=0), words)
add_fit("tree, pruned by folds", TREE(prune="cost_complexity_cv", random_state=0), words)
add_fit("tree, min_samples_leaf", TREE(min_samples_leaf=5, random_state=0), words)
add_fit("tree, multiway", TREE(categorical_split="multiway", random_state=0), words, frame)
add_fit("tree, several outputs", TREE(random_state=0), lambda X: np.column_stack([two(X), seven(X)]), verified=False)
add_fit("tree, large with missing", TREE(random_state=0), two, with_missing, n_rows=N_LARGE)
add_fit("tree, large frame", TREE(random_state=0), two, frame, n_rows=N_LARGE)
add_fit("tree, large and thin", TREE(random_state=0), two, thin, n_rows=N_LARGE)
add_fit("tree, wide", TREE(random_state=0), two, n_columns=400)
add_fit("regression tree, several outputs", TREE_R(random_state=0), both, verified=False)
add_fit("regression tree, pruned by folds", TREE_R(prune="cost_complexity_cv", random_state=0), amounts)
add_fit("regression tree, large frame", TREE_R(random_state=0), amounts, frame, n_rows=N_LARGE)
add_fit("regression tree, monotone", TREE_R(monotonic_cst=[1] + [0] * 7, random_state=0), amounts)
add_fit("forest, out of bag", FOREST(30, oob_score=True, random_state=0), words)
add_fit("forest, large with missing", FOREST(4, random_state=0), words, with_missing, n_rows=N_LARGE)
add_fit("forest, large frame", FOREST(4, random_state=0), words, frame, n_rows=N_LARGE)
add_fit("forest, large and thin", FOREST(4, random_state=0), words, thin, n_rows=N_LARGE)
add_fit("forest, wide", FOREST(8, random_state=0), words, n_columns=800)
add_fit("forest, wide, few codes", FOREST(4, random_state=0), words, whole, n_columns=80)
add_fit("forest, wide and large, few codes", FOREST(4, random_state=0), words, whole, n_rows=N_LARGE, n_columns=80)
add_fit(
    "forest of bytes by row", FOREST(2, max_depth=4, random_state=0), words, whole, n_rows=66_000, n_columns=64,
    verified=False,
)  # fmt: skip
add_fit("forest, two threads", FOREST(8, n_jobs=2, random_state=0), words)
add_fit("forest, best first", FOREST(8, max_leaf_nodes=20, random_state=0), words)
add_fit("forest, balanced", FOREST(8, class_weight="balanced_subsample", random_state=0), words)
add_fit("forest, all rows", FOREST(4, bootstrap=False, random_state=0), words)
add_fit(
    "forest, several outputs", FOREST(4, random_state=0), lambda X: np.column_stack([two(X), seven(X)]), verified=False
)
add_fit("forest, very many rows", FOREST(6, max_depth=12, random_state=0), seven, n_rows=80_000, verified=False)
add_fit(
    "tree, very many rows and zeros", TREE(max_depth=3, random_state=0), two, with_zeros, n_rows=70_000, n_columns=5
)
add_fit("regression forest, out of bag", FOREST_R(30, oob_score=True, random_state=0), amounts)
add_fit("regression forest, large", FOREST_R(3, random_state=0), amounts, n_rows=N_HUGE)
add_fit("regression forest, several outputs", FOREST_R(4, random_state=0), both, verified=False)
add_fit("bagging", ew.BaggingClassifier(n_estimators=4, random_state=0), words)
add_fit("bagging, out of bag", ew.BaggingClassifier(n_estimators=30, oob_score=True, random_state=0), words)
add_fit("adaboost", ew.AdaBoostClassifier(n_estimators=6), words)
add_fit("adaboost, two classes", ew.AdaBoostClassifier(n_estimators=6), two)
for form in (as_float32, as_int, as_uint8, read_only, in_columns, every_other, thin, frame, with_missing):
    add_fit(f"adaboost of {form.__name__}", ew.AdaBoostClassifier(n_estimators=6), words, form)
    add_fit(f"adaboost of {form.__name__}, two classes", ew.AdaBoostClassifier(n_estimators=6), two, form)
for weight in (weights, whole_weights):
    add_fit(f"adaboost with {weight.__name__}", ew.AdaBoostClassifier(n_estimators=6), words, weight=weight)
add_fit("adaboost, large", ew.AdaBoostClassifier(n_estimators=6), two, n_rows=N_LARGE)
add_fit("adaboost of frame, large", ew.AdaBoostClassifier(n_estimators=6, n_jobs=2), words, frame, n_rows=N_LARGE)
add_fit(
    "adaboost of frame, two classes, large", ew.AdaBoostClassifier(n_estimators=6, n_jobs=2), two, frame, n_rows=N_LARGE
)
add_fit("table columns", ew.TableColumns(), None, frame)
add_fit("adaboost of trees", ew.AdaBoostClassifier(TREE(max_depth=3), n_estimators=3, random_state=0), words)
add_fit("adaboost, real", ew.AdaBoostClassifier(algorithm="real", n_estimators=3, random_state=0), words)
add_fit("adaboost, drawn", ew.AdaBoostClassifier(resample=True, n_estimators=3, random_state=0), words)
add_fit("adaboost for regression", ew.AdaBoostRegressor(n_estimators=3, random_state=0), amounts)
add_fit("adaboost of machines", ew.AdaBoostClassifier(ew.SVC(), n_estimators=2, random_state=0), two)
add_fit("bagging of machines", ew.BaggingClassifier(ew.SVC(), n_estimators=3, random_state=0), two)
add_fit("bagging of perceptrons", ew.BaggingClassifier(ew.Perceptron(), n_estimators=3, random_state=0), two)
add_fit("bagging for regression", ew.BaggingRegressor(n_estimators=4, random_state=0), amounts)
add_fit(
    "weighted ensemble",
    ew.WeightedEnsembleClassifier([("tree", ew.DecisionTreeClassifier(random_state=0)), ("machine", ew.SVC())]),
    words,
)
add_fit(
    "weighted ensemble for regression",
    ew.WeightedEnsembleRegressor([("tree", ew.DecisionTreeRegressor(random_state=0)), ("machine", ew.SVR())]),
    amounts,
)
add_fit("scaled target", ew.ScaledTargetRegressor(), amounts)
add_fit("bagging of support vector regression", ew.BaggingRegressor(ew.SVR(), n_estimators=3, random_state=0), amounts)
for form in (as_float32, whole, thin, frame, with_missing):
    add_fit(f"boosting, {form.__name__}", BOOST(n_estimators=4), words, form)
    add_fit(f"boosting for regression, {form.__name__}", BOOST_R(n_estimators=4), amounts, form)
for weight in (weights, whole_weights):
    add_fit(f"boosting with {weight.__name__}", BOOST(n_estimators=4), two, weight=weight)
    add_fit(f"boosting for regression with {weight.__name__}", BOOST_R(n_estimators=4), amounts, weight=weight)
for loss in ("absolute_error", "huber", "quantile", "poisson"):
    add_fit(f"boosting, {loss}", BOOST_R(loss=loss, n_estimators=3), counts)
add_fit("boosting, two quantiles", BOOST_R(loss="quantile", alpha=[0.1, 0.9], n_estimators=3), amounts)
add_fit("boosting, exponential", BOOST(loss="exponential", n_estimators=4, n_jobs=2), two, n_rows=N_LARGE)
add_fit("boosting, best first", BOOST_R(max_leaf_nodes=31, max_depth=None, n_jobs=2), amounts, n_rows=N_HUGE)
add_fit("boosting, drawn", BOOST(n_estimators=4, subsample=0.5, max_features=2, random_state=0), two)
add_fit("boosting, early", BOOST(n_estimators=9, n_iter_no_change=2, random_state=0), two)
add_fit("boosting, bounds", BOOST_R(n_estimators=3, monotonic_cst=[1, *[0] * 7], interaction_cst="pairwise"), amounts)
add_fit("boosting, warm", BOOST_R(n_estimators=3, warm_start=True), amounts, as_float32)
for kernel in ("linear", "poly", "rbf", "sigmoid", "laplacian"):
    for form in (as_float32, whole, thin):
        add_fit(f"svm, {kernel}, {form.__name__}", ew.SVC(kernel=kernel), words, form, verified=kernel != "sigmoid")
        add_fit(f"svr, {kernel}, {form.__name__}", ew.SVR(kernel=kernel), amounts, form, verified=kernel != "sigmoid")
        add_fit(
            f"kernel perceptron, {kernel}, {form.__name__}",
            ew.KernelPerceptron(kernel=kernel, vote="averaged", max_iter=3), words, form,
        )  # fmt: skip
for form in (as_float32, whole, thin):
    add_fit(f"kernel logistic of {form.__name__}", ew.KernelLogisticRegression(), words, form)
add_fit("kernel logistic, large", ew.KernelLogisticRegression(n_components=100), two, n_rows=N_LARGE)
add_fit("kernel logistic, laplacian", ew.KernelLogisticRegression(kernel="laplacian"), two)
for form in (as_float32, thin):
    add_fit(f"kernel ridge of {form.__name__}", ew.KernelRidge(kernel="rbf"), amounts, form)
add_fit("svm, squared slack", ew.SVC(slack="squared"), two)
add_fit("svm, landmarks", ew.SVC(approximation="low_rank", memory_limit=0.1), words)
add_fit("svr, landmarks", ew.SVR(approximation="low_rank", memory_limit=0.1), amounts)
add_fit("svm, balanced", ew.SVC(class_weight="balanced"), words)
add_fit("svm, large", ew.SVC(C=0.1, memory_limit=100), two, n_rows=N_LARGE)
add_fit("svm, large linear", ew.SVC(kernel="linear", C=0.01, max_iter=2000), two, n_rows=N_LARGE)
add_fit("svm, large linear, squared slack", ew.SVC(kernel="linear", slack="squared", max_iter=200), two, n_rows=N_LARGE)
add_fit("svr, large", ew.SVR(C=0.1, memory_limit=100), amounts, n_rows=N_LARGE)
add_fit("svm, large, seven classes", ew.SVC(C=0.1, memory_limit=20), seven, n_rows=1_500)
add_fit("svm, large, coefficients set aside", ew.SVC(C=10.0, memory_limit=20), two, n_rows=1_500)
add_fit("svm, large, all values at hand", ew.SVC(C=0.1), seven, n_rows=1_500)
add_fit("kernel perceptron, voted", ew.KernelPerceptron(vote="voted", max_iter=5), words)
add_fit("kernel perceptron, budget", ew.KernelPerceptron(max_support=20, max_iter=5), two)
for penalty in (None, "l1", "l2", "elasticnet"):
    add_fit(f"perceptron, {penalty}", ew.Perceptron(penalty=penalty, random_state=0), words)
    add_fit(f"thin perceptron, {penalty}", ew.Perceptron(penalty=penalty, random_state=0), words, thin)
add_fit("perceptron, early stopping", ew.Perceptron(early_stopping=True, random_state=0), words)
add_fit(
    "perceptron, averaged", ew.Perceptron(average=True, random_state=0), words
) if "average" in ew.Perceptron.PARAMS else None
for solver in ("auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "oja", "gram_eigh",
               "gram_refined"):  # fmt: skip
    for form in (as_float32, lambda X: X):
        dtype = "float32" if form is as_float32 else "float64"
        add_fit(f"pca, {solver}, {dtype}", ew.PCA(3, svd_solver=solver), None, form)
        add_fit(f"wide pca, {solver}, {dtype}", ew.PCA(3, svd_solver=solver), None, form, n_columns=700)
add_fit("pca of pixels", ew.PCA(5), None, lambda X: as_uint8(X) / 255.0, n_rows=1000, n_columns=100)
add_fit("wide pca of pixels", ew.PCA(5), None, lambda X: as_uint8(X) / 255.0, n_columns=3000)
add_fit(
    "wide pca of float32 pixels", ew.PCA(5), None, lambda X: (as_uint8(X) / 255.0).astype(np.float32), n_columns=3000
)
add_fit("pca of genotypes", ew.PCA(5), None, lambda X: np.digitize(X, [0, 1]).astype(np.float32), n_columns=3000)
add_fit("pca of noise, wide", ew.PCA(2), None, as_float32, n_columns=9000)
add_fit("pca, all components", ew.PCA(), None)
add_fit("pca, share of variance", ew.PCA(0.9), None, n_columns=50)
add_fit("pca, mle", ew.PCA("mle"), None)
add_fit("pca, scaled and whitened", ew.PCA(3, scale=True, whiten=True), None)
add_fit("pca of missing values", ew.PCA(2, missing="em"), None, with_missing)
add_fit("pca, long", ew.PCA(3), None, n_rows=N_HUGE)
add_fit("pca, long float32", ew.PCA(3), None, as_float32, n_rows=N_HUGE)
add_fit("thin wide pca", ew.PCA(3), None, thin, n_columns=700)
for form in (as_float32, as_int, thin):
    for solver in ("auto", "low_rank"):
        add_fit(
            f"kernel pca, {solver}, {form.__name__}", ew.KernelPCA(3, kernel="rbf", eigen_solver=solver), None, form
        )
    add_fit(f"low-rank kernel of {form.__name__}", ew.LowRankKernel(n_components=20), None, form)
add_fit("kernel pca, laplacian", ew.KernelPCA(3, kernel="laplacian", eigen_solver="krylov"), None)
add_fit("expansion, degree 3", ew.PolynomialExpansion(degree=3), None)
add_fit("expansion, thin output", ew.PolynomialExpansion(sparse_output=True), None, thin)


@call("bag of words")
def bag_of_words() -> Any:
    documents = ["the first of three", "the été of words", "", "the the"]
    bag = ew.BagOfWords(ngram_range=(1, 2), n_jobs=2)
    counts = [bag.fit_transform(documents), bag.transform(documents), bag.partial_fit(documents).transform(documents)]
    return [matrix.toarray() for matrix in counts], bag.terms_, ew.verify(bag, documents)["counts"].value


add_fit("autoencoder", ew.Autoencoder(2, max_iter=20), None)
add_fit("hard thresholding", ew.IterativeHardThresholding(2), amounts)
add_fit("gain selector", ew.GainSelector(), words)
add_fit("gain selector, aware, a table", ew.GainSelector(redundancy_aware=True, criterion="gini"), words, frame)
add_fit("gain selector, thin, weights", ew.GainSelector(n_jobs=2), two, thin, weight=weights)
add_fit("gain selector, float32, whole numbers", ew.GainSelector(criterion="error"), two, as_float32, n_rows=N_LARGE)
add_fit("encoder", ew.TableEncoder(), None, frame)
add_fit("encoder with missing", ew.TableEncoder(), None, with_missing)


@call("pca, partial_fit")
def partial_pca() -> Any:
    model = ew.PCA(3)
    for start in range(0, N_ROWS, 100):
        model.partial_fit(table()[start : start + 100])
    return model.components_, model.inverse_transform(model.transform(table()))


@call("pca, score")
def scored_pca() -> Any:
    return ew.PCA(3).fit(table()).score_samples(table())


@call("kernel pca, back")
def kernel_pca_back() -> Any:
    told = []
    for X in (table(), table().astype(np.float32)):
        for way in ("ridge", "fixed_point", "distances"):
            model = ew.KernelPCA(3, kernel="rbf", preimage=way).fit(X)
            told += [model.inverse_transform(model.transform(X[:20])), model.denoise(X[:20]).distances]
        told.append(ew.verify(model, X).holds)
    return told


@call("svm on a precomputed kernel")
def precomputed_svm() -> Any:
    X = table()
    K = X @ X.T
    return ew.SVC(kernel="precomputed").fit(K, two(X)).decision_function(K)


@call("svm, warm")
def warm_svm() -> Any:
    X = table()
    return ew.SVC(warm_start=True).fit(X, words(X)).fit(X, words(X)).decision_function(X)


@call("svm by a user's own kernel")
def own_kernel_svm() -> Any:
    X = table()
    return ew.SVC(kernel=lambda A, B: (A @ B.T + 1) ** 2).fit(X, two(X)).decision_function(X)


@call("kernel perceptron on a precomputed kernel")
def precomputed_perceptron() -> Any:
    X = table()
    K = X @ X.T
    return ew.KernelPerceptron(kernel="precomputed", max_iter=5).fit(K, two(X)).decision_function(K)


for vote in ("last", "averaged", "voted"):

    @call(f"kernel perceptron, {vote}, on a precomputed linear kernel")
    def voted_precomputed(vote: str = vote) -> Any:
        X = table()
        K = X @ X.T
        model = ew.KernelPerceptron(kernel="precomputed", vote=vote, max_iter=5).fit(K, words(X))
        return model.decision_function(K), model.decision_function(np.asfortranarray(K[:50]))

    @call(f"kernel perceptron, {vote}, by a user's own kernel")
    def own_kernel_perceptron(vote: str = vote) -> Any:
        X = table()
        model = ew.KernelPerceptron(kernel=lambda A, B: A @ B.T, vote=vote, max_iter=5).fit(X, words(X))
        return model.decision_function(X)

    @call(f"kernel perceptron, {vote}, with little memory")
    def small_kernel_perceptron(vote: str = vote) -> Any:
        told = []
        for X in (table(1500), as_float32(table(1500))):
            model = ew.KernelPerceptron(vote=vote, max_iter=2, memory_limit=200_000).fit(X, words(X))
            told.append(model.decision_function(X))
        return told


@call("svm with little memory")
def small_svm() -> Any:
    X = table(1500)
    return ew.SVC(memory_limit=400_000).fit(X, words(X)).decision_function(X)


def kept(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


for dtype in (np.float32, np.float64):

    @call(f"read-only memmaps of {dtype.__name__}")
    def mapped(dtype: type = dtype) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "X.npy"
            np.save(path, table().astype(dtype))
            X = np.load(path, mmap_mode="r")
            y, z = read_only(words(table())), read_only(amounts(table()))
            weight = read_only(weights(N_ROWS))
            told: list[Any] = []
            bag = ew.BaggingClassifier(n_estimators=3, random_state=0)
            kernel_perceptron = ew.KernelPerceptron(max_iter=3)
            for model in (TREE(random_state=0), FOREST(4, random_state=0), ew.SVC(), ew.Perceptron(),
                          kernel_perceptron, bag):  # fmt: skip
                told += [kept(model.fit(X, y, sample_weight=weight)).predict(X)]
            for model in (TREE_R(random_state=0), FOREST_R(4, random_state=0), ew.SVR()):
                told += [kept(model.fit(X, z, sample_weight=weight)).predict(X)]
            told += [kept(ew.PCA(3).fit(X, sample_weight=weight)).transform(X)]
            return [*told, ew.PolynomialExpansion().fit(X).transform(X)]


@call("models from pickles and files, on other rows")
def kept_models() -> Any:
    X = table()
    told = []
    for model in (TREE(random_state=0), FOREST(4, random_state=0), ew.SVC(), ew.KernelPerceptron(max_iter=3)):
        model.fit(X, words(X))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            ew.save(model, path)
            told += [twin.predict(as_float32(X)) for twin in (kept(model), ew.load(path))]
            told += [claim.value for claim in ew.verify(ew.load(path), X, words(X))]
    return told


@call("joblib's processes")
def processes() -> Any:
    X = table()
    return cross_val_score(TREE(random_state=0), X, words(X), cv=2, n_jobs=2)


@call("pca in blocks, of files and arrays")
def blocks_pca() -> Any:
    told = []
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float32, np.float64):
            path = Path(folder) / f"{dtype.__name__}.npy"
            np.save(path, table(2000).astype(dtype))
            for solver in ("auto", "covariance_eigh", "randomized", "oja"):
                model = ew.PCA(3, svd_solver=solver).fit(blocks(path, block_rows=300))
                told += [model.components_, *model.transform(blocks(path, block_rows=300))]
    return told


for n_columns in (30, 700, 5000):

    @call(f"weighted pca on every route, {n_columns} columns")
    def weighted_pca(n_columns: int = n_columns) -> Any:
        told = []
        for form in (as_float32, lambda X: X, in_columns, every_other):
            X = form(table(120, n_columns))
            for solver in ("auto", "full", "covariance_eigh", "krylov", "randomized", "gram_eigh", "gram_refined"):
                if n_columns < 5000 or solver not in ("full", "covariance_eigh"):
                    told.append(ew.PCA(3, svd_solver=solver).fit(X, sample_weight=weights(120)).components_)
        return told


def digits(n_rows: int, n_columns: int) -> np.ndarray:
    """Return whole numbers from 0 to 255, most of them 0, as the pixels of drawings are."""
    X = table(n_rows, n_columns)
    return np.where(np.abs(X) > 1.8, np.clip(80 * np.abs(X), 0, 255), 0.0).astype(np.uint8)


for dtype in (np.uint8, np.float32, np.float64):

    @call(f"pca of digits, {dtype.__name__}")
    def digits_pca(dtype: type = dtype) -> Any:
        told = []
        for X in (digits(12_000, 100), digits(300, 5000)):
            for solver in ("auto", "covariance_eigh", "krylov", "gram_eigh", "gram_refined", "randomized"):
                if X.shape[1] < 1000 and "gram" not in solver or X.shape[1] > 1000 and solver != "covariance_eigh":
                    for part in (X.astype(dtype), X.astype(dtype) / dtype(255) if dtype is not np.uint8 else X):
                        told.append(ew.PCA(5, svd_solver=solver).fit(part).components_)
        return told

    @call(f"pca of columns that hardly vary, {dtype.__name__}")
    def thin_columns_pca(dtype: type = dtype) -> Any:
        X = np.where(digits(3000, 100) > 0, table(3000, 100), 0.25).astype(np.float32 if dtype is np.float32 else float)
        return [
            ew.PCA(k, svd_solver=solver).fit(X).components_ for k in (5, 0.9) for solver in ("auto", "covariance_eigh")
        ]

    @call(f"pca of genotypes, {dtype.__name__}")
    def genotypes_pca(dtype: type = dtype) -> Any:
        X = np.digitize(table(400, 6000), [0.3, 1.2]).astype(dtype)
        told = [ew.PCA(10, svd_solver=solver).fit(X).components_ for solver in ("auto", "krylov", "gram_refined")]
        return [*told, ew.PCA(4, scale="allele_frequency", svd_solver="krylov").fit(X).components_]


@call("forests predict very many rows")
def forests_of_many_rows() -> Any:
    X, many = table(3000), table(60_000)
    told = []
    deep, flat = FOREST(20, random_state=0), FOREST(20, random_state=0, max_depth=6)
    one, several = FOREST_R(20, random_state=0), FOREST_R(20, random_state=0)
    for model, target in ((deep, words), (flat, two), (one, amounts), (several, both)):
        model.fit(X, target(X))
        told += [model.predict(many), model.predict(as_float32(many)), model.predict(with_missing(many.copy()))]
        told += [model.predict(in_columns(as_float32(many[:100])))]
    return told


@call("adaboost goes on, and is explained")
def going_on() -> Any:
    told, X = [], table()
    for target in (two, words):
        model = ew.AdaBoostClassifier(n_estimators=3, warm_start=True, early_stopping=True, random_state=0)
        model.fit(X, target(X)).set_params(n_estimators=9).fit(X, target(X))
        told.append(model.contributions(X))
    return told


@call("adaboost in stages")
def stages() -> Any:
    X = table()
    model = ew.AdaBoostClassifier(n_estimators=4).fit(X, words(X))
    return [list(model.staged_predict(form(X))) for form in (lambda X: X, as_float32, in_columns, read_only, thin)]


TINY = {
    "trees": (TREE(random_state=0), TREE_R(random_state=0)),
    "forests": (FOREST(3, random_state=0), FOREST_R(3, random_state=0)),
    "bags": (ew.BaggingClassifier(n_estimators=3, random_state=0), ew.BaggingRegressor(n_estimators=3, random_state=0)),
    "boosting": (BOOST(n_estimators=3), BOOST_R(n_estimators=3)),
    "machines": (ew.SVC(), ew.SVC(kernel="linear"), ew.SVC(kernel="poly"), ew.SVR()),
    "perceptrons": (ew.Perceptron(), ew.Perceptron(penalty="l2")),
    "kernel perceptrons": tuple(ew.KernelPerceptron(vote=vote, max_iter=3) for vote in ("last", "averaged", "voted")),
    "components": tuple(
        ew.PCA(1, svd_solver=solver)
        for solver in (
            "auto",
            "full",
            "covariance_eigh",
            "krylov",
            "power",
            "oja",
            "randomized",
            "gram_eigh",
            "gram_refined",
        )
    ),
    "expansions": (ew.PolynomialExpansion(), ew.PolynomialExpansion(degree=1, include_bias=False)),
}
for family, models in TINY.items():

    @call(f"{family} of tiny tables")
    def tiny(models: tuple[Any, ...] = models) -> Any:
        told = []
        for n_rows, n_columns in ((8, 2), (9, 40), (12, 1), (70, 9)):
            codes = np.arange(n_rows) % 4
            for form in (as_float32, lambda X: X, in_columns, lambda X: in_columns(as_float32(X)), read_only):
                X = form(np.column_stack([codes, table(n_rows, n_columns)])[:, :n_columns])
                for model in models:
                    for y in (codes > 1, codes) if hasattr(model, "predict") else (codes,):
                        model.fit(X, y)
                        method = "predict" if hasattr(model, "predict") else "transform"
                        told += [getattr(model, method)(X), getattr(model, method)(X[:1])]
        return told


@call("kernel perceptrons on kernels of the user's, two classes")
def two_class_kernels() -> Any:
    X = table()
    told = []
    for form in (as_float32, lambda X: X):
        for memory in (100_000, None):
            limits = {} if memory is None else {"memory_limit": memory}
            model = ew.KernelPerceptron(kernel="linear", max_iter=3, **limits).fit(form(X), two(X))
            told.append(model.decision_function(form(X)))
        for kernel in (lambda A, B: A @ B.T, lambda A, B: (B @ A.T).T):
            told.append(ew.KernelPerceptron(kernel=kernel, max_iter=3).fit(form(X), two(X)).decision_function(form(X)))
            told.append(ew.SVC(kernel=kernel).fit(form(X), words(X)).decision_function(form(X)))
    return told


@call("many texts in a frame")
def many_texts() -> Any:
    X = frame(table(2000))
    X["word"] = [f"word {i % 700}" for i in range(2000)]
    y = words(table(2000))
    bag = ew.BaggingClassifier(n_estimators=3, max_features=0.8, random_state=0)
    return [model.fit(X, y).predict(X) for model in (TREE(random_state=0), FOREST(3, random_state=0), bag)]


@call("forests and bags that see a part of rows and columns")
def parts() -> Any:
    X = table()
    told = []
    for criterion in ("absolute_error", "squared_error", "poisson"):
        model = FOREST_R(4, criterion=criterion, max_features=0.5, max_samples=0.5, random_state=0)
        told.append(model.fit(X, counts(X)).predict(X))
    tree = TREE_R(criterion="absolute_error")
    told.append(
        ew.BaggingRegressor(tree, n_estimators=3, max_features=0.5, random_state=0).fit(X, counts(X)).predict(X)
    )
    bag = ew.BaggingClassifier(n_estimators=3, max_features=0.5, bootstrap_features=True, random_state=0)
    told.append(bag.fit(frame(X), words(X)).predict(frame(X)))
    corners = np.array([[1.0, 3], [1, 3], [2, 1], [2, 1], [3, 3], [3, 3], [4, 1], [4, 1]] * 2)
    told.append(FOREST(random_state=0).fit(corners, [1, 1, 2, 2] * 4, sample_weight=np.ones(16)).predict(corners))
    for weight in (None, read_only(weights(N_ROWS))):
        told.append(FOREST(4, max_features="oob", random_state=0).fit(X, words(X), sample_weight=weight).predict(X))
    return told


@call("check_mercer")
def mercer() -> Any:
    return ew.check_mercer("rbf", table()).smallest


@call("perceptron, partial_fit")
def partial_perceptron() -> Any:
    X = table()
    return ew.Perceptron().partial_fit(X, words(X), classes=np.unique(words(X))).decision_function(X)


@call("grid search over a scaled machine")
def searched_svm() -> Any:
    X = table()
    search = GridSearchCV(make_pipeline(StandardScaler(), ew.SVC()), {"svc__C": [0.1, 1.0]}, cv=2).fit(X, words(X))
    return search.cv_results_["mean_test_score"]


@call("cross-validated forest")
def validated_forest() -> Any:
    X = table()
    return cross_val_score(FOREST(8, random_state=0), X, words(X), cv=2)


@call("importances and paths of a forest")
def forest_insight() -> Any:
    X = table()
    model = FOREST(4, random_state=0).fit(X, words(X))
    return model.feature_importances_, model.decision_path(X)[0], model.estimators_[0].predict(X)


@call("contributions of features")
def contributions() -> Any:
    X = table()
    Z = with_missing(table())
    told: list[Any] = [TREE(random_state=0).fit(frame(X), words(X)).contributions(frame(X))]
    for rows in (Z, as_float32(Z), read_only(table()), thin(X)):
        told += [FOREST(4, random_state=0).fit(rows, words(X)).contributions(rows)]
    for model in (TREE_R(random_state=0), FOREST_R(4, random_state=0)):
        told += [kept(model.fit(X, both(X))).contributions(X[:1])]
    return told


@call("paths, rules and pruning of a tree")
def tree_insight() -> Any:
    X = table()
    model = TREE(random_state=0).fit(X, words(X))
    path = model.cost_complexity_pruning_path(X, words(X))
    return model.decision_path(X), path.ccp_alphas, model.get_depth(), str(ew.rules(model))


@call("a tree's ways, for viewers, and of many numbers")
def tree_ways() -> Any:
    X = whole(table(20_000) * 50)
    model = TREE(random_state=0).fit(X, words(X))
    leaves = [model.tree_.apply(form(as_float32(X))) for form in (as_float32, in_columns, every_other)]
    return model.decision_path(X[:5]), model.tree_.decision_path(as_float32(X[:5])), model.tree_.max_depth, leaves


@call("forest, warm start")
def warm_forest() -> Any:
    X = table()
    model = FOREST(4, warm_start=True, random_state=0).fit(X, words(X))
    return model.set_params(n_estimators=8).fit(X, words(X)).predict_proba(X)


@call("forest from its file, on one row")
def loaded_forest() -> Any:
    X = table()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        ew.save(FOREST(4, random_state=0).fit(X, words(X)), path)
        return ew.load(path).predict_proba(X[:1])


@call("machine from its file")
def loaded_svm() -> Any:
    X = table()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        ew.save(ew.SVC().fit(X, words(X)), path)
        return ew.load(path).decision_function(X)


@call("word vectors by continuous bag of words")
def word_vectors() -> Any:
    text = ["we drink hot tea", "we drink hot coffee", "they read old books"] * 40
    params = {"n_components": 8, "min_count": 1, "epochs": 2, "validation_fraction": 0.2}
    told = [ew.CBOW(**params, n_jobs=n_jobs).fit(text) for n_jobs in (1, 2)]
    return told, told[0].score(text), ew.CBOW(**params, loss="softmax").fit(text)


@call("word vectors as eigenvectors")
def word_directions() -> Any:
    text = ["we drink hot tea", "we drink hot coffee", "they read old books"] * 40
    return [ew.CovarianceEmbedding(3, matrix=matrix).fit(text) for matrix in ("ppmi", "counts")]


@call("word vectors of a large vocabulary, on two threads")
def many_word_vectors() -> Any:
    draws = np.random.default_rng(0).integers(3000, size=30_000)
    return ew.CBOW(20, min_count=1, epochs=1, n_jobs=2).fit([[f"w{i}" for i in draws]])


def numbers_in(value: Any) -> Iterator[bytes]:
    """Yield the bits of everything a call has computed."""
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, dict):
        value = [part for key in sorted(value) for part in (key, value[key])]
    if hasattr(value, "FITTED"):
        value = [getattr(value, key) for key in sorted(value.FITTED) if hasattr(value, key) and key != "certificate_"]
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield np.ascontiguousarray(value).tobytes()
    else:
        yield repr(value).encode()


def learnt(X: np.ndarray, y: np.ndarray, models: list[str]) -> np.ndarray:
    """Return what ``learn`` says of a table with a date and a text beside the numbers."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)), unit="D")
    texts = [
        f"{'good' if a > 0 else 'bad'} and {'long' if b > 0 else 'short'} {i % 7}" for i, (a, b) in enumerate(X[:, :2])
    ]
    told = frame(X).assign(day=days, text=texts, target=y)
    return ew.learn(told, "target", models=models).predict(told)


@call("learn, classes")
def learnt_classes() -> Any:
    X = table()
    return learnt(X, words(X), ["decision-tree", "gradient-boosting", "kernel-logistic", "svm", "adaboost"])


@call("learn, amounts")
def learnt_amounts() -> Any:
    X = table()
    return learnt(X, amounts(X), ["regression-tree", "random-forest-regression", "svm-regression"])
