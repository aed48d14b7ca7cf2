"""Runs as ``learn`` records them, made up from seeds: a rare class, many classes, amounts, many columns, cut fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_auc_score, roc_curve

from eigenwood import SVC, AdaBoostClassifier, DecisionTreeClassifier, GradientBoostingRegressor
from eigenwood.data import datasets
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.proofs.claim import Certificate, at_most, measured
from eigenwood.runs.assessment_record import (
    ClassificationRecord,
    ClassRecord,
    CurveRecord,
    MeasureRecord,
    RegressionRecord,
    WorstRow,
)
from eigenwood.runs.details import MEASURED, numbers_of, pruning_details, rounded, target_details, tree_details
from eigenwood.runs.record import (
    CUT,
    CandidateRecord,
    ColumnRecord,
    DependenceRecord,
    ExplanationRecord,
    FindingRecord,
    MemberRecord,
    RecipeRecord,
    Run,
    SplitRecord,
    ValidationRecord,
)

SETTINGS = {"seed": 0, "test_fraction": 0.25, "time_limit": 60.0, "metric": None, "models": [], "drop": [], "kinds": {}}
SECONDS = {"preparation": 0.6, "search": 44.2, "final fit": 6.1, "assessment": 0.3, "explanation": 3.1}


# --- parts ----------------------------------------------------------------------------------------


def curve(x: np.ndarray, y: np.ndarray, label: str, area: float | None = None) -> CurveRecord:
    kept = np.unique(np.linspace(0, len(x) - 1, 200).round().astype(int))
    return CurveRecord(label, x[kept].tolist(), y[kept].tolist(), area)


def calibration(truth: np.ndarray, probability: np.ndarray, label: str) -> CurveRecord:
    """Return a calibration curve of ten groups of rows with about the same probability."""
    groups = [group for group in np.array_split(np.argsort(probability), 10) if group.size]
    x, y = ([float(values[group].mean()) for group in groups] for values in (probability, truth))
    return CurveRecord(label, x, y, n_rows=[group.size for group in groups])


def measure(name: str, value: float, baseline: float, reach: float, larger_is_better: bool = True) -> MeasureRecord:
    return MeasureRecord(name, value, value - reach, value + reach, baseline, larger_is_better, True, "bootstrap")


def class_record(label: str, n_rows: int, n_found: int, n_false: int) -> ClassRecord:
    recall, said = n_found / n_rows, n_found + n_false
    precision = n_found / said if said else None
    ends = (None, None) if precision is None else (max(precision - 0.1, 0.0), min(precision + 0.1, 1.0))
    return ClassRecord(
        label, n_rows, n_found, n_false, recall, max(recall - 0.1, 0), min(recall + 0.1, 1), precision, *ends
    )


def candidate(method: str, score: float, seconds: float, **others: Any) -> CandidateRecord:
    folds = [score - 0.012, score - 0.004, score + 0.001, score + 0.006, score + 0.009][: others.pop("n_folds", 5)]
    return CandidateRecord(
        method=method,
        params=others.pop("params", {}),
        n_rows=others.pop("n_rows", 6000),
        fold_scores=folds,
        mean_score=score,
        loss=1.0 - score,
        seconds=seconds,
        **others,
    )


def cut(method: str, seconds: float, **params: Any) -> CandidateRecord:
    return CandidateRecord(method, params, 6000, [], 0.0, 0.0, seconds, CUT)


def search(rng: np.random.Generator, methods: dict[str, tuple], best: float, n_tuned: int) -> list[CandidateRecord]:
    """Return trials on samples, then on all rows, then tuned ones, each a bit better or worse than the others."""
    names = list(methods)
    lower = [best - gap for gap in rng.uniform(0.02, 0.2, len(names))]
    found = [
        candidate(name, score - 0.03, rng.uniform(0.1, 0.6), n_rows=1500, n_folds=1, params=methods[name][0])
        for name, score in zip(names, lower, strict=True)
    ]
    found += [
        candidate(name, score, rng.uniform(0.5, 3.0), params=params, n_rounds=300 if "boost" in name else None)
        for name, score in zip(names, lower, strict=True)
        for params in methods[name]
    ]
    for number in range(n_tuned):
        gain = (number + 1) / n_tuned
        params = {"learning_rate": round(float(rng.uniform(0.03, 0.2)), 3), "max_leaf_nodes": int(rng.integers(4, 64))}
        score = best - 0.02 * (1 - gain) - float(rng.exponential(0.006))
        found.append(
            candidate(names[0], score, rng.uniform(0.5, 2.5), params=params, n_rounds=int(rng.integers(80, 700)))
        )
    return found


def best_places(candidates: list[CandidateRecord], n: int) -> list[int]:
    whole = [place for place, one in enumerate(candidates) if len(one.fold_scores) == 5]
    return sorted(whole, key=lambda place: -candidates[place].mean_score)[:n]


def best_of(candidates: list[CandidateRecord], method: str) -> int:
    """Return the place of the best trial of a method on all rows."""
    places = best_places(candidates, len(candidates))
    return next(place for place in places if candidates[place].method == method)


def members(candidates: list[CandidateRecord], places: list[int], weights: list[float]) -> list[MemberRecord]:
    return [
        MemberRecord(
            place, candidates[place].method, candidates[place].params, weight, None, candidates[place].n_rounds
        )
        for place, weight in zip(places, weights, strict=True)
    ]


def importances(names: list[str], strongest: float) -> list[tuple[str, float, float, float]]:
    sizes = strongest * np.exp(-0.55 * np.arange(len(names))) - 0.0006
    return [
        (name, float(size), float(size - 0.002 - 0.2 * abs(size)), float(size + 0.002 + 0.2 * abs(size)))
        for name, size in zip(names, sizes, strict=True)
    ]


def importance_words(metric: str) -> str:
    return (
        f"How much worse the {metric} gets when the values of a column are shuffled: mean and 95 % interval of 10 "
        "repeats, each on 1,000 blind rows drawn with replacement."
    )


def certificate(*more: Any) -> dict[str, Any]:
    claims = (
        at_most("rounds", "rounds that were kept, and how many there may be", 412, 800),
        measured("training loss", "mean loss of the training rows", 0.0123),
        *more,
    )
    return Certificate(claims).as_dict()


def named(member: str, method: Any) -> list[Any]:
    """Return the claims about a member of an ensemble."""
    return [replace(claim, name=f"{member}: {claim.name}") for claim in method.certificate_]


# --- runs -----------------------------------------------------------------------------------------


@cache
def heart_model() -> SimpleNamespace:
    """Return methods fitted to the heart table, whose own numbers stand in the runs."""
    frame = datasets.load("heart").table().frame
    y = np.array(frame["disease"].to_pylist())
    X = frame.drop_columns("disease")
    learn, blind = np.flatnonzero(np.arange(y.size) % 4), np.flatnonzero(np.arange(y.size) % 4 == 0)
    encoder = TableEncoder().fit(X.take(learn))
    inputs = encoder.transform(X)
    return SimpleNamespace(
        frame=frame,
        y=y,
        learn=learn,
        blind=blind,
        X=X.take(blind),
        inputs=inputs[blind],
        tree=DecisionTreeClassifier(prune="cost_complexity_cv", random_state=0).fit(X.take(learn), y[learn]),
        svm=SVC(C=2.0).fit(inputs[learn], y[learn]),
    )


def own_numbers(method: Any, inputs: Any, y: np.ndarray, *names: str) -> dict[str, Any]:
    """Return the details of a fitted method that have these names."""
    found = {"method": type(method).__name__, "weight": 1.0, "name": "", "numbers": numbers_of(method)}
    return found | {name: MEASURED[name][1](method, inputs, y) for name in names}


@cache
def payments_model() -> SimpleNamespace:
    """Return methods fitted to a table of payments, some of which are frauds."""
    rng = np.random.default_rng(5)
    n_rows = 1200
    amount, hour, n_last_day = rng.lognormal(4, 1, n_rows), rng.integers(0, 24, n_rows), rng.poisson(2, n_rows)
    country, merchant = rng.choice(["DE", "FR", "GB", "US"], n_rows), rng.choice(["fuel", "travel", "games"], n_rows)
    age, balance = rng.integers(18, 90, n_rows).astype(float), rng.normal(2000, 900, n_rows)
    risk = 1.3 * (np.log(amount) - 5.2) + 1.2 * (country == "US") + 1.1 * (merchant == "games") + 0.9 * (hour < 6)
    y = np.where(risk + 0.35 * (n_last_day - 2) + rng.logistic(size=n_rows) > 1.2, "fraud", "fine")
    columns = {"amount": amount, "country": country, "merchant": merchant, "hour": hour, "n_last_day": n_last_day}
    X = pa.table(columns | {"age": age, "balance": balance})
    learn, blind = np.flatnonzero(np.arange(n_rows) % 4), np.flatnonzero(np.arange(n_rows) % 4 == 0)
    inputs = TableEncoder().fit(X.take(learn)).transform(X)
    return SimpleNamespace(
        y=y[blind],
        X=X.take(blind),
        inputs=inputs[blind],
        booster=AdaBoostClassifier(n_estimators=120).fit(X.take(learn), y[learn]),
        svm=SVC(C=2.0).fit(inputs[learn], y[learn]),
    )


@cache
def fraud() -> Run:
    """A rare class among 10,000 rows, found by a mixture of two methods; a leak, dates, dropped columns."""
    rng = np.random.default_rng(1)
    truth = rng.random(2500) < 0.01
    logit = rng.normal(-5.5, 1.6, 2500) + 7.0 * truth * rng.beta(3, 1, 2500)
    probability = 1.0 / (1.0 + np.exp(-logit))
    threshold = float(np.quantile(probability, 0.988))
    said = probability >= threshold
    (right_no, false_alarms), (missed, found) = confusion_matrix(truth, said).tolist()
    balanced = 0.5 * (right_no / (right_no + false_alarms) + found / (found + missed))
    methods = {
        "adaboost": ({"n_estimators": 200},),
        "random-forest": ({}, {"max_features": 0.4, "min_samples_leaf": 3}),
        "decision-tree": ({"prune": "cost_complexity_cv"},),
        "gradient-boosting": ({"max_leaf_nodes": 31}, {"max_leaf_nodes": 6}),
        "svm": ({"kernel": "linear"}, {"C": 10.0}),
        "kernel-logistic": ({}, {"C": 10.0, "front": "pca"}),
    }
    trials = [*search(rng, methods, 0.952, 24), cut("svm", 4.2, C=100.0), cut("kernel-logistic", 2.2, C=100.0)]
    places = [best_of(trials, "adaboost"), best_of(trials, "svm")]
    fpr, tpr, _ = roc_curve(truth, probability)
    precision, recall, _ = precision_recall_curve(truth, probability)
    names = ["amount", "country", "merchant", "sent", "hour", "n_last_day", "device", "age", "balance", "channel"]
    grid = np.quantile(rng.lognormal(4, 1, 500), np.linspace(0.025, 0.975, 20))
    rise = 1.0 / (1.0 + np.exp(-0.9 * (np.log(grid) - 5.2)))
    days = np.linspace(18993, 19357, 20)
    dependence = [
        DependenceRecord("amount", "number", rounded(grid), [[1 - p, p] for p in 0.002 + 0.05 * rise], 0.11),
        DependenceRecord(
            "country",
            "category",
            ["DE", "FR", "GB", "US", None],
            [[1 - p, p] for p in (0.01, 0.012, 0.009, 0.03, 0.021)],
            0.06,
        ),
        DependenceRecord(
            "merchant",
            "category",
            ["groceries & more, a long name", "fuel", "travel", "games"],
            [[1 - p, p] for p in (0.006, 0.007, 0.02, 0.041)],
            0.04,
        ),
        DependenceRecord(
            "sent", "date", rounded(days), [[1 - p, p] for p in 0.011 + 0.006 * np.sin(np.arange(20) / 3)], 0.02
        ),
        DependenceRecord(
            "hour",
            "number",
            list(range(0, 24, 2)),
            [[1 - p, p] for p in 0.01 + 0.012 * np.cos(np.arange(12) / 2) ** 2],
            0.01,
        ),
    ]
    fitted = payments_model()
    worst = [
        WorstRow(
            4711 + 31 * i, "fraud", "fine", 5.9 - 0.4 * i, {"amount": 12.5 + i, "country": "DE", "merchant": "fuel"}
        )
        for i in range(6)
    ]
    columns = [
        ColumnRecord("transaction", "id", 0, 10000, "not used: looks like an ID"),
        ColumnRecord("currency", "constant", 0, 1, "not used: always the same"),
        ColumnRecord("checked_by", "category", 9890, 4, "not used: dropped, as asked"),
        *(
            ColumnRecord(name, kind, missing, distinct, "feature", treatment)
            for name, kind, missing, distinct, treatment in (
                ("amount", "number", 0, 8123, "1.234,56 read as 1234.56"),
                ("country", "category", 312, 41, ""),
                ("merchant", "category", 0, 17, ""),
                ("sent", "date", 0, 9981, "year, month, weekday, hour, days since 1970"),
                ("hour", "number", 0, 24, ""),
                ("n_last_day", "number", 0, 31, ""),
                ("device", "category", 1201, 6, ""),
                ("age", "number", 84, 71, ""),
                ("balance", "number", 0, 9120, ""),
                ("channel", "category", 0, 3, ""),
            )
        ),
        ColumnRecord("verdict", "category", 0, 2, "target"),
    ]
    return Run(
        version="0.1.0",
        table="payments",
        target="verdict",
        task="classification",
        metric="balanced-accuracy",
        metric_words="one class is rare: 1.0 % of the rows are “fraud”",
        n_rows=10012,
        settings=SETTINGS,
        columns=columns,
        findings=[
            FindingRecord(
                "filled for one class",
                ["checked_by"],
                "'checked_by' is filled in 98 % of the rows with verdict 'fraud' and in 0.1 % of the others: it may be "
                "written down only afterwards.",
                True,
            ),
            FindingRecord("duplicates", [], "12 rows of the blind test stand among the training rows, too.", False),
        ],
        split=SplitRecord("at random", 0, 0.25, 7500, 2500, 12, "a" * 64),
        validation=ValidationRecord("5-fold cross-validation", 5, 7500),
        candidates=trials,
        recipe=RecipeRecord(members(trials, places, [0.7, 0.3]), "all training rows", 7500, 0.955, [0.03, 1.0]),
        assessment=ClassificationRecord(
            metric="balanced accuracy",
            score=balanced,
            low=balanced - 0.06,
            high=min(balanced + 0.05, 1.0),
            interval="bootstrap of the blind rows, 2,000 resamples",
            larger_is_better=True,
            baseline=0.5,
            baseline_label="fine",
            headline=f"Finds {found} of {found + missed} 'fraud' rows, with {false_alarms / 2.5:.0f} false alarms in "
            "1,000 rows.",
            is_better_than_guessing=True,
            measures=[
                measure("balanced accuracy", balanced, 0.5, 0.05),
                measure("accuracy", float((said == truth).mean()), float(1 - truth.mean()), 0.005),
                measure("AUC", float(roc_auc_score(truth, probability)), 0.5, 0.02),
                measure("average precision", 0.81, float(truth.mean()), 0.07),
                measure("F1", 2 * found / (2 * found + missed + false_alarms), 0.0, 0.08),
                measure("log loss", 0.0214, 0.0551, 0.004, False),
            ],
            classes=[
                class_record("fine", right_no + false_alarms, right_no, missed),
                class_record("fraud", found + missed, found, false_alarms),
            ],
            labels=["fine", "fraud"],
            confusion=[[right_no, false_alarms], [missed, found]],
            roc=[curve(fpr, tpr, "fraud", float(roc_auc_score(truth, probability)))],
            precision_recall=[curve(recall[::-1], precision[::-1], "fraud", 0.81)],
            calibration=[calibration(truth, probability, "fraud")],
            worst=worst,
            threshold=threshold,
            positive_label="fraud",
        ),
        explanation=ExplanationRecord(
            importances(names, 0.11),
            importance_words("balanced accuracy"),
            dependence,
            {
                "target": {"labels": ["fine", "fraud"], "counts": [7421, 79], "n_labels": 2},
                "members": [
                    own_numbers(fitted.booster, fitted.X, fitted.y, "rounds", "contributions"),
                    own_numbers(fitted.svm, fitted.inputs, fitted.y, "plane"),
                ],
            },
        ),
        certificate=certificate(*named("adaboost 1", fitted.booster), *named("svm 2", fitted.svm)),
        seconds=SECONDS,
        notes=["there was no time for 2 trials (svm, kernel-logistic)"],
    )


@cache
def heart() -> Run:
    """Two classes, a pruned tree that can be read; the time limit left it fewer rows than there were."""
    rng = np.random.default_rng(2)
    model = heart_model()
    run = fraud()
    methods = {
        "decision-tree": ({"prune": "cost_complexity_cv"}, {"min_samples_leaf": 5}),
        "adaboost": ({},),
        "svm": ({}, {"C": 10.0}),
    }
    trials = search(rng, methods, 0.82, 5)
    place = next(i for i, one in enumerate(trials) if one.n_rows == 6000)
    y = model.y[model.blind]
    said = model.tree.predict(model.X)
    probability = model.tree.predict_proba(model.X)[:, 1]
    counts = confusion_matrix(y, said).tolist()
    accuracy = float((said == y).mean())
    fpr, tpr, _ = roc_curve(y == "yes", probability)
    names = [name for name in model.frame.column_names if name != "disease"]
    details = own_numbers(model.tree, model.X, y, "contributions")
    details |= {"rules": tree_details(model.tree), "pruning": pruning_details(model.tree)}
    return replace(
        run,
        table="heart",
        target="disease",
        metric="accuracy",
        metric_words="the classes are about equally frequent",
        n_rows=303,
        columns=[
            *(
                ColumnRecord(name, kind, missing, distinct, "target" if name == "disease" else "feature")
                for name, kind, missing, distinct, *_ in map(tuple, datasets.load("heart").table().columns)
            )
        ],
        findings=[],
        split=SplitRecord("at random", 0, 0.25, 227, 76, 0, "b" * 64),
        validation=ValidationRecord("5-fold cross-validation", 5, 227),
        candidates=trials,
        recipe=RecipeRecord(members(trials, [place], [1.0]), "the first fold's part of the training rows", 182, 0.8),
        assessment=replace(
            run.assessment,
            metric="accuracy",
            score=accuracy,
            low=accuracy - 0.1,
            high=accuracy + 0.08,
            interval="Wilson's, from 76 rows",
            baseline=0.54,
            baseline_label="no",
            headline=f"Right on {sum(said == y)} of 76 rows it had never seen.",
            measures=[
                measure("accuracy", accuracy, 0.54, 0.09),
                measure("AUC", float(roc_auc_score(y == "yes", probability)), 0.5, 0.07),
            ],
            classes=[
                class_record("no", sum(counts[0]), counts[0][0], counts[1][0]),
                class_record("yes", sum(counts[1]), counts[1][1], counts[0][1]),
            ],
            labels=["no", "yes"],
            confusion=counts,
            roc=[curve(fpr, tpr, "yes", float(roc_auc_score(y == "yes", probability)))],
            precision_recall=[],
            calibration=[],
            worst=[],
            threshold=None,
            positive_label="yes",
        ),
        explanation=ExplanationRecord(
            importances(names, 0.09),
            importance_words("accuracy"),
            [
                DependenceRecord(
                    "vessels",
                    "number",
                    [0.0, 1.0, 2.0, 3.0],
                    [[0.66, 0.34], [0.36, 0.64], [0.28, 0.72], [0.28, 0.72]],
                    0.06,
                ),
                DependenceRecord(
                    "thal",
                    "category",
                    ["normal", "reversible defect", "fixed defect"],
                    [[0.66, 0.34], [0.32, 0.68], [0.5, 0.5]],
                    0.08,
                ),
            ],
            {"target": target_details(model.y[model.learn], np.array(["no", "yes"])), "members": [details]},
        ),
        certificate=model.tree.certificate_.as_dict(),
        notes=["there was no time for a fit to all training rows: the best model of the search was taken"],
    )


@cache
def glyphs() -> Run:
    """26 classes."""
    rng = np.random.default_rng(3)
    labels = [chr(ord("A") + k) for k in range(26)]
    confusion = np.zeros((26, 26), dtype=int)
    for k in range(26):
        confusion[k, k] = int(rng.integers(150, 200))
        for other in rng.integers(26, size=3):
            confusion[k, other] += int(rng.integers(1, 9))
    n_test = int(confusion.sum())
    accuracy = float(np.trace(confusion) / n_test)
    run = fraud()
    methods = {
        "random-forest": ({}, {"max_features": 0.4}),
        "gradient-boosting": ({}, {"max_leaf_nodes": 6}),
        "svm": ({}, {"C": 10.0}),
    }
    trials = search(rng, methods, 0.965, 12)
    places = best_places(trials, 1)
    grid = list(range(16))
    response = rng.dirichlet(np.full(26, 2.0), 16)
    names = [f"x{j}" for j in range(16)]
    heart = heart_model()
    x = np.linspace(0, 1, 50)
    return replace(
        run,
        table="letters",
        target="letter",
        metric="accuracy",
        metric_words="the classes are about equally frequent",
        n_rows=4 * n_test,
        columns=[
            *(ColumnRecord(name, "number", 0, 16, "feature") for name in names),
            ColumnRecord("letter", "category", 0, 26, "target"),
        ],
        findings=[],
        split=SplitRecord("at random", 0, 0.25, 3 * n_test, n_test, 0, "c" * 64),
        candidates=trials,
        recipe=RecipeRecord(members(trials, places, [1.0]), "all training rows", 3 * n_test, 0.96),
        assessment=replace(
            run.assessment,
            metric="accuracy",
            score=accuracy,
            low=accuracy - 0.006,
            high=accuracy + 0.005,
            baseline=1 / 26,
            baseline_label="U",
            headline=f"Right on {100 * accuracy:.1f} % of {n_test:,} rows it had never seen, of 26 classes.",
            measures=[measure("accuracy", accuracy, 1 / 26, 0.006), measure("log loss", 0.15, 3.26, 0.01, False)],
            classes=[
                class_record(label, int(row.sum()), int(row[k]), int(confusion[:, k].sum() - row[k]))
                for k, (label, row) in enumerate(zip(labels, confusion, strict=True))
            ],
            labels=labels,
            confusion=confusion.tolist(),
            roc=[
                CurveRecord(label, x.tolist(), (x ** (0.01 * (k + 1))).tolist(), 0.99 - 0.001 * k)
                for k, label in enumerate(labels)
            ],
            precision_recall=[CurveRecord(label, x.tolist(), (1 - x**9).tolist(), 0.97) for label in labels],
            calibration=[],
            worst=[WorstRow(17 + i, "I", "J", 4.0 - i / 3, {"x1": 3, "x2": 4}) for i in range(5)],
            threshold=None,
            positive_label=None,
        ),
        explanation=ExplanationRecord(
            importances(names, 0.2),
            importance_words("accuracy"),
            [DependenceRecord(name, "number", grid, response.tolist(), 0.1) for name in names[:6]],
            {
                "target": {"labels": labels, "counts": (3 * confusion.sum(axis=1)).tolist(), "n_labels": 26},
                "members": [own_numbers(heart.svm, heart.inputs, heart.y[heart.blind])],
            },
        ),
        notes=[],
    )


@cache
def houses() -> Run:
    """Skewed amounts, measured by an error: smaller is better."""
    rng = np.random.default_rng(4)
    n_test = 1460
    true = rng.lognormal(12.1, 0.4, n_test)
    predicted = true * rng.lognormal(0.0, 0.13, n_test)
    errors = np.abs(true - predicted)
    mae, always = float(errors.mean()), float(np.abs(true - true.mean()).mean())
    run = fraud()
    methods = {
        "gradient-boosting-regression": ({"max_leaf_nodes": 31}, {"max_leaf_nodes": 6, "target": "log"}),
        "random-forest-regression": ({}, {"max_features": 0.34}),
        "svm-regression": ({"target": "standard"}, {"C": 10.0, "target": "standard"}),
        "regression-tree": ({"prune": "cost_complexity_cv"},),
    }
    trials = [
        replace(one, mean_score=-mae * (2.0 - one.mean_score), fold_scores=[-mae * (2.0 - s) for s in one.fold_scores])
        for one in search(rng, methods, 0.97, 14)
    ]
    places = best_places(trials, 3)
    names = ["living_area", "quality", "year_built", "neighbourhood", "garage", "sold", "lot"]
    area = np.linspace(600, 3600, 20)
    X, y = rng.normal(size=(400, 4)), rng.lognormal(12.1, 0.4, 400)
    booster = GradientBoostingRegressor(n_estimators=120).fit(X, y)
    worst = np.argsort(-errors)[:6]
    return replace(
        run,
        table="houses",
        target="price",
        task="regression",
        metric="mae",
        metric_words="asked for",
        n_rows=4 * n_test,
        columns=[
            ColumnRecord("address", "id", 0, 4 * n_test, "not used: looks like an ID"),
            *(
                ColumnRecord(
                    name,
                    "date" if name == "sold" else "category" if name == "neighbourhood" else "number",
                    10 * j,
                    100 + j,
                    "feature",
                )
                for j, name in enumerate(names)
            ),
            ColumnRecord("price", "number", 0, 4000, "target"),
        ],
        findings=[],
        split=SplitRecord("by 'sold': the newest rows were put aside", 0, 0.25, 3 * n_test, n_test, 0, "d" * 64),
        candidates=[*trials, cut("svm-regression", 9.0, C=1000.0)],
        recipe=RecipeRecord(members(trials, places, [0.5, 0.3, 0.2]), "all training rows", 3 * n_test, -mae),
        assessment=RegressionRecord(
            metric="mean absolute error",
            score=mae,
            low=mae - 900,
            high=mae + 1000,
            interval="bootstrap of the blind rows, 2,000 resamples",
            larger_is_better=False,
            baseline=always,
            baseline_amount=float(true.mean()),
            headline=f"Off by {mae:,.0f} on average, where always saying the mean is off by {always:,.0f}.",
            is_better_than_guessing=True,
            measures=[
                measure("R²", 0.87, 0.0, 0.02),
                measure("mean absolute error", mae, always, 950, False),
                measure("root mean squared error", 1.5 * mae, 1.4 * always, 1800, False),
                measure("median absolute error", 0.7 * mae, 0.8 * always, 700, False),
            ],
            shown_true=rounded(true[:800]),
            shown_predicted=rounded(predicted[:800]),
            worst=[
                WorstRow(
                    int(i) + 1,
                    f"{true[i]:,.0f}",
                    f"{predicted[i]:,.0f}",
                    float(predicted[i] - true[i]),
                    {"living_area": 2100, "quality": 9},
                )
                for i in worst
            ],
        ),
        explanation=ExplanationRecord(
            importances(names, 18000.0),
            importance_words("mean absolute error"),
            [
                DependenceRecord("living_area", "number", rounded(area), [[60000 + 55 * a] for a in area], 18000.0),
                DependenceRecord(
                    "quality",
                    "number",
                    list(range(1, 11)),
                    [[110000 + 9000 * q + 700 * q * q] for q in range(1, 11)],
                    9000.0,
                ),
                DependenceRecord(
                    "neighbourhood",
                    "category",
                    ["North", "Old Town", "Mills", None],
                    [[v] for v in (192000, 214000, 151000, 178000)],
                    4000.0,
                ),
            ],
            {"target": target_details(true, None), "members": [own_numbers(booster, X, y, "rounds"), {}, {}]},
        ),
        certificate=certificate(),
        notes=[],
    )


@cache
def wide() -> Run:
    """5,000 columns, most of them dull; no better than guessing."""
    run = heart()
    names = [f"gene_{j:04d}_of_a_rather_long_series" for j in range(5000)]
    columns = [
        *(
            ColumnRecord(
                name,
                "constant" if j % 97 == 0 else "number",
                j % 13,
                50 + j % 7,
                "not used: always the same" if j % 97 == 0 else "feature",
            )
            for j, name in enumerate(names)
        ),
        ColumnRecord("disease", "category", 0, 2, "target"),
    ]
    few = [name for j, name in enumerate(names) if j % 97][:500]
    words = (
        run.explanation.importance_words
        + " Measured for 500 of 5,000 columns: those that the model's own importances rank highest."
    )
    return replace(
        run,
        table="genes",
        columns=columns,
        explanation=replace(
            run.explanation,
            importances=[(name, 0.05 / (j + 1), 0.0, 0.1 / (j + 1)) for j, name in enumerate(few)],
            importance_words=words,
        ),
        assessment=replace(run.assessment, is_better_than_guessing=False, score=0.55, low=0.44, high=0.66),
    )


RUNS: dict[str, Callable[[], Run]] = {"fraud": fraud, "heart": heart, "glyphs": glyphs, "houses": houses, "wide": wide}
