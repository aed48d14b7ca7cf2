"""What a model looks at: importances and dependence against slow twins, and each method's own numbers."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.inspection import partial_dependence
from sklearn.pipeline import Pipeline

from eigenwood import (
    SVC,
    AdaBoostClassifier,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from eigenwood.estimators.blending import WeightedEnsembleClassifier
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.estimators.watching import Deadline
from eigenwood.report.winner import FIGURES, member_figures
from eigenwood.runs import explain
from eigenwood.runs.assess import Blind
from eigenwood.runs.candidates import Candidate, ColumnFacts, pipeline
from eigenwood.runs.dependence import MOST_CATEGORIES, MOST_VALUES, dependence, grid_of
from eigenwood.runs.details import Kept, member_details, oob_errors, target_details
from eigenwood.runs.explain import FEW_ROWS, MOST_ROWS, Rows, explained, sampled
from eigenwood.runs.importances import Resamples, drawn_rows, importance, importances
from eigenwood.runs.learn import learn
from eigenwood.runs.members import Member, members_of, own_importances, raw_columns
from eigenwood.runs.metrics import Answers, metric_named
from eigenwood.runs.record import ExplanationRecord, record_of
from eigenwood.runs.settings import Settings

KINDS = {"size": "number", "colour": "category", "sold": "date", "noise": "number", "note": "text"}
LABELS = np.array(["no", "yes"])


def table(n_rows: int = 120, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    size[:5] = np.nan
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "colour": pa.array(rng.choice(["red", "green", None], n_rows, p=[0.5, 0.3, 0.2])),
            "sold": rng.uniform(0, 1000, n_rows),
            "noise": rng.integers(0, 9, n_rows),
            "note": rng.choice(["a b", "c d"], n_rows),
        }
    )


class Known(ClassifierMixin, BaseEstimator):
    """Says 'yes' where the size is above 0, and surely where the colour is red, too."""

    classes_ = LABELS

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def fit(self, X, y=None):
        return self

    def predict_proba(self, X: pa.Table) -> np.ndarray:
        size = X["size"].to_numpy(zero_copy_only=False)
        red = np.array([colour == "red" for colour in X["colour"].to_pylist()])
        yes = np.where(size > 0.0, np.where(red, 0.9, 0.6), np.where(red, 0.1, 0.4))
        return np.column_stack([1.0 - yes, yes])

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Amount(RegressorMixin, BaseEstimator):
    """Three times the noise."""

    def fit(self, X, y=None):
        return self

    def predict(self, X: pa.Table) -> np.ndarray:
        return 3.0 * X["noise"].to_numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return True


def blind_of(model: BaseEstimator, X: pa.Table, metric: str = "accuracy", weights: np.ndarray | None = None) -> Blind:
    """Return blind rows on which a model is right."""
    is_classes = hasattr(model, "predict_proba")
    probabilities = model.predict_proba(X) if is_classes else None
    y = LABELS[probabilities.argmax(axis=1)] if is_classes else model.predict(X)
    return Blind(
        X=X,
        y=y,
        y_train=y,
        weights=weights,
        rows=np.arange(len(y)),
        answers=Answers(y, probabilities, LABELS if is_classes else None, 1 if is_classes else None),
        metric=metric_named(metric, CLASSIFICATION if is_classes else REGRESSION),
        kinds=KINDS,
        seed=0,
    )


def slowly(answer):
    """Return the same function, that takes its time for each row as models do."""

    def answered(self, X):
        time.sleep(self.seconds * X.num_rows / 120)
        return answer(self, X)

    return answered


@pytest.fixture
def known() -> Pipeline:
    return Pipeline([("model", Known())])


# --- importances ----------------------------------------------------------------------------------


def test_importances_are_what_shuffling_costs(known):
    blind = blind_of(known, table())
    found, words = explained(known, blind, 20.0), explained(known, blind, 20.0).importance_words
    by_name = {name: (mean, low, high) for name, mean, low, high in found.importances}
    assert set(by_name) == set(KINDS)
    assert found.importances[0][0] == "size"
    assert by_name["size"][0] == pytest.approx(0.5, abs=0.1)  # half of the rows change sides
    assert by_name["size"][1] > 0.2
    for name in ("colour", "sold", "noise", "note"):  # they move no row to the other side
        assert by_name[name] == (0.0, 0.0, 0.0)
    assert "the accuracy gets" in words
    assert "Measured for" not in words


def test_the_importance_of_a_column_is_that_of_plain_loops(known):
    X = table(40)
    y = np.array([LABELS[k] for k in known.predict_proba(X).argmax(axis=1)])
    drawn = drawn_rows(40, 4, np.random.default_rng(1))

    def right(rows: pa.Table, which: np.ndarray) -> np.ndarray:
        said = LABELS[known.predict_proba(rows).argmax(axis=1)].reshape(which.shape)
        return (said == y[which]).mean(axis=1)

    resamples = Resamples(X.take(drawn.ravel()), drawn, np.ones(4))
    _, mean, low, high = importance("size", resamples, right, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    order = rng.permuted(np.arange(160).reshape(4, 40), axis=1)
    sizes = X["size"].to_pylist()
    colours = X["colour"].to_pylist()
    falls = []
    for repeat in range(4):
        n_right = 0
        for place in range(40):
            source = drawn.ravel()[order[repeat, place]]
            size, colour = sizes[source], colours[drawn[repeat, place]]
            del colour  # it moves no row to the other side
            n_right += ("yes" if size is not None and size > 0 else "no") == y[drawn[repeat, place]]
        falls.append(1.0 - n_right / 40)
    assert mean == pytest.approx(np.mean(falls))
    assert (low + high) / 2 == pytest.approx(mean)
    assert high - mean == pytest.approx(3.182446305284263 * np.std(falls, ddof=1))


def test_the_interval_holds_the_importance_on_other_rows(known):
    held = 0
    truth = 0.5
    for seed in range(40):
        found = explained(known, blind_of(known, table(80, seed)), 20.0).importances
        _, _, low, high = next(entry for entry in found if entry[0] == "size")
        held += low <= truth <= high
    assert held >= 36


def test_errors_grow_where_amounts_are_shuffled():
    model = Pipeline([("model", Amount())])
    found = explained(model, blind_of(model, table(), "mae"), 20.0)
    assert found.importances[0][0] == "noise"
    assert found.importances[0][1] > 4.0
    assert "mean absolute error gets" in found.importance_words


def test_the_same_seed_finds_the_same(known):
    blind = blind_of(known, table())
    assert explained(known, blind, 20.0).importances == explained(known, blind, 20.0).importances


def test_the_limit_is_kept_and_what_was_left_out_is_told(monkeypatch):
    model = Pipeline([("model", Known(0.02))])
    blind = blind_of(Known(), table())
    monkeypatch.setattr(Known, "predict_proba", slowly(Known.predict_proba))
    began = time.perf_counter()
    found = explained(model, blind, 1.0)
    assert time.perf_counter() - began < 1.0 + 0.3
    assert 0 < len(found.importances) < len(KINDS)
    assert f"Measured for {len(found.importances)} of 5 columns: the first of the table." in found.importance_words


def test_without_any_time_there_is_an_explanation_all_the_same(known):
    found = explained(known, blind_of(known, table()), 0.0)
    assert (found.importances, found.dependence) == ([], [])
    assert found.importance_words == "There was no time to shuffle a single column."
    assert found.details["target"]["labels"]


def test_a_deadline_that_is_over_stops_before_the_first_column(known):
    X = table(10)
    drawn = drawn_rows(10, 2, np.random.default_rng(0))
    resamples = Resamples(X.take(drawn.ravel()), drawn, np.ones(2))
    assert importances(X.column_names, resamples, lambda *_: np.ones(2), Deadline(0.0), 0) == []


def test_rows_are_fewer_where_there_is_no_time_for_all(monkeypatch):
    blind = blind_of(Known(), table(3000))
    monkeypatch.setattr(Known, "predict_proba", slowly(Known.predict_proba))
    asked = []
    monkeypatch.setattr(explain, "importance_words", lambda _, n_rows, *rest: asked.append(n_rows) or "")
    explained(Pipeline([("model", Known())]), blind, 30.0)
    explained(Pipeline([("model", Known(0.01))]), blind, 1.5)
    assert asked == [MOST_ROWS, FEW_ROWS]


# --- rows -----------------------------------------------------------------------------------------


def test_a_sample_keeps_rare_classes_and_weights_make_up_for_it():
    y = np.array(["no"] * 4900 + ["yes"] * 100)
    rows = Rows(table(5000), y, None, Answers(y, np.zeros((5000, 2)), LABELS, 1))
    some = sampled(rows, 1000, 0)
    assert some.y.size == some.X.num_rows == some.answers.probabilities.shape[0] == 1000
    assert (some.y == "yes").sum() == 100
    assert some.weights[some.y == "yes"].sum() == pytest.approx(100.0)
    assert some.weights[some.y == "no"].sum() == pytest.approx(4900.0)
    weighted = sampled(rows._replace(weights=np.full(5000, 2.0)), 1000, 0)
    assert weighted.weights.sum() == pytest.approx(10_000.0)
    assert sampled(rows, 5000, 0) is rows


def test_more_classes_than_rows_wanted_have_one_row_each():
    y = np.array([f"c{k % 30:02}" for k in range(300)])
    rows = Rows(table(300), y, None, Answers(y, np.zeros((300, 30)), np.unique(y), None))
    assert np.unique(sampled(rows, 20, 0).y).size == 30


# --- dependence -----------------------------------------------------------------------------------


def test_dependence_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    names = ["a", "b", "c"]
    frame = pa.table(dict(zip(names, X.T, strict=True)))
    model = GradientBoostingRegressor(n_estimators=20).fit(X, X[:, 1] + 0.1 * y)

    def responses(rows: pa.Table) -> np.ndarray:
        return model.predict(np.column_stack([rows[name].to_numpy() for name in names]))[:, np.newaxis]

    found = dependence("b", "number", frame, None, responses, 0.5)
    grid = np.array(found.values)
    theirs = partial_dependence(model, X, [1], custom_values={1: grid}, kind="average", method="brute")
    assert np.array(found.response)[:, 0] == pytest.approx(theirs["average"][0])
    assert (found.column, found.importance) == ("b", 0.5)


def test_dependence_counts_weights(known):
    X = table(30)
    weights = np.zeros(30)
    weights[7] = 2.0
    found = dependence("size", "number", X, weights, known.predict_proba, 0.1)
    alone = dependence("size", "number", X.take([7]), None, known.predict_proba, 0.1)
    assert alone is None  # a single value
    yes = {"red": (0.1, 0.9)}.get(X["colour"][7].as_py(), (0.4, 0.6))
    expected = [yes[int(value > 0)] for value in found.values]
    assert [line[1] for line in found.response] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([3, 1, None, 2, 2], "number", [1, 2, 3]),
        ([None, None], "number", []),
        ([float("nan"), 1.0, 2.0, float("inf")], "number", [1.0, 2.0]),
        (["b", "a", "b", None], "category", ["b", "a", None]),
        (["some words"], "text", []),
        ([10.5, 3.0], "date", [3.0, 10.5]),
    ],
)
def test_grids(values, kind, expected):
    assert grid_of(pa.chunked_array([values]), kind) == expected


def test_grids_of_many_values_are_values_of_the_column():
    numbers = np.random.default_rng(0).lognormal(size=1000)
    grid = grid_of(pa.chunked_array([numbers]), "number")
    assert len(grid) == MOST_VALUES
    assert set(grid) <= set(numbers.tolist())
    assert grid[0] > numbers.min()
    assert grid[-1] < numbers.max()
    words = [f"w{k}" for k in range(50) for _ in range(50 - k)]
    assert grid_of(pa.chunked_array([words]), "category") == [f"w{k}" for k in range(MOST_CATEGORIES)]


def test_only_columns_that_matter_are_followed(known):
    found = explained(known, blind_of(known, table()), 20.0)
    assert [record.column for record in found.dependence] == ["size"]
    record = found.dependence[0]
    low = [line[1] for value, line in zip(record.values, record.response, strict=True) if value <= 0]
    high = [line[1] for value, line in zip(record.values, record.response, strict=True) if value > 0]
    assert max(low) < 0.5 < min(high)


# --- members and their own numbers ----------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> SimpleNamespace:
    """Return an ensemble of every kind of member, fitted to 300 rows, and its parts."""
    rng = np.random.default_rng(3)
    X = table(300, 3).drop_columns(["sold", "note"])
    size = np.nan_to_num(X["size"].to_numpy(zero_copy_only=False))
    y = LABELS[(size + 0.4 * rng.normal(size=300) > 0).astype(int)]
    kinds = {name: KINDS[name] for name in X.column_names}
    methods = {
        "decision-tree": {"prune": "cost_complexity_cv"},
        "random-forest": {"n_estimators": 20, "oob_score": True},
        "gradient-boosting": {"n_estimators": 15},
        "adaboost": {"n_estimators": 15},
        "svm": {},
    }
    members = [
        (f"{method} {place}", pipeline(Candidate(method, params), ColumnFacts(kinds, {}), 0, None).fit(X, y))
        for place, (method, params) in enumerate(methods.items(), start=1)
    ]
    calibrations = [None, None, None, None, np.array([[2.0, 0.0]])]
    model = WeightedEnsembleClassifier.from_fitted(
        members, LABELS, weights=[0.3, 0.1, 0.1, 0.1, 0.4], calibrations=calibrations, decision_weights=[0.4, 0.6]
    )
    return SimpleNamespace(X=X, y=y, kinds=kinds, model=model, members=dict(members))


def test_members_come_with_their_shares_the_heaviest_first(fitted):
    members = members_of(fitted.model)
    assert [member.name for member in members][:2] == ["svm 5", "decision-tree 1"]
    assert [round(member.weight, 6) for member in members] == [0.4, 0.3, 0.1, 0.1, 0.1]
    assert [type(member.method) for member in members[:2]] == [SVC, DecisionTreeClassifier]
    alone = members_of(fitted.members["adaboost 4"])
    assert [(member.weight, type(member.method)) for member in alone] == [(1.0, AdaBoostClassifier)]


def test_own_importances_are_those_of_raw_columns(fitted):
    found = own_importances(fitted.model, fitted.X.column_names)
    assert max(found, key=found.get) == "size"
    assert sum(found.values()) == pytest.approx(0.6)  # the shares of those that have some
    assert own_importances(fitted.members["svm 5"], fitted.X.column_names) is None
    assert raw_columns(["when: month", "note: good", "noted", "x"], ["when", "note"]) == ["when", "note", "note", None]


def test_an_ensemble_is_explained_with_its_decision_weights(fitted):
    probabilities = fitted.model.predict_proba(fitted.X)
    answers = Answers(fitted.model.predict(fitted.X), probabilities, LABELS, 1)
    rows = Rows(fitted.X, fitted.y, None, answers)
    again = explain.answers_like(fitted.model, fitted.X, answers)
    assert again.labels_or_amounts.tolist() == answers.labels_or_amounts.tolist()
    assert again.probabilities == pytest.approx(probabilities)
    assert rows.take(np.array([3, 1])).answers.labels_or_amounts.tolist() == answers.labels_or_amounts[[3, 1]].tolist()


def test_the_explanation_is_plain_data_and_comes_back_from_json(fitted):
    blind = Blind(
        X=fitted.X,
        y=fitted.y,
        y_train=fitted.y,
        weights=None,
        rows=np.arange(300),
        answers=Answers(fitted.model.predict(fitted.X), fitted.model.predict_proba(fitted.X), LABELS, 1),
        metric=metric_named("accuracy", CLASSIFICATION),
        kinds=fitted.kinds,
        seed=0,
    )
    among = SimpleNamespace(X=fitted.X, y=fitted.y, weights=None)
    found = explained(fitted.model, blind, 60.0, Kept(fitted.model, among, np.arange(300)))
    text = json.dumps(asdict(found), allow_nan=False)
    assert len(text) < 150_000
    assert record_of(ExplanationRecord, json.loads(text)) == found
    assert found.importances[0][0] == "size"
    assert [one["name"] for one in found.details["members"]][:2] == ["svm 5", "decision-tree 1"]
    shown = {name for one in found.details["members"] for name in member_figures(one)}
    assert shown == set(FIGURES)


def details_of(fitted: SimpleNamespace, name: str) -> dict:
    member = Member(name, 1.0, fitted.members[name])
    return member_details(member, fitted.X, fitted.y, Deadline(None))


def test_a_tree_keeps_its_rules(fitted):
    found = details_of(fitted, "decision-tree 1")
    tree = fitted.members["decision-tree 1"].steps[-1][1]
    assert found["rules"]["n_rules"] == found["numbers"]["leaves"] == tree.get_n_leaves()
    assert sum(rule["n_rows"] for rule in found["rules"]["rules"]) == 300
    assert found["pruning"]["n_leaves"][found["pruning"]["chosen"]] == tree.get_n_leaves()
    root = found["rules"]["branches"][0]
    assert (root["above"], root["n_leaves"]) == (-1, tree.get_n_leaves())


def test_a_large_tree_is_kept_as_deep_as_it_can_be_read(fitted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.integers(0, 2, 3000)
    tree = Pipeline([("model", DecisionTreeClassifier().fit(X, y))])
    found = member_details(Member("", 1.0, tree), pa.table({}), y, Deadline(0.0))
    assert found["rules"]["n_rules"] > 500
    assert len(json.dumps(found)) < 60_000
    assert "tree" in member_figures(found)
    assert "contributions" not in found  # there was no time


def test_a_forest_keeps_its_out_of_bag_score(fitted):
    found = details_of(fitted, "random-forest 2")
    forest = fitted.members["random-forest 2"].steps[-1][1]
    assert isinstance(forest, RandomForestClassifier)
    assert found["numbers"]["trees"] == 20
    assert found["out_of_bag"]["score"] == forest.oob_score_
    assert found["out_of_bag"]["interval"] == forest.oob_interval_.tolist()


def test_boosting_keeps_rounds_margins_and_the_bound(fitted):
    found = details_of(fitted, "adaboost 4")["rounds"]
    adaboost = fitted.members["adaboost 4"].steps[-1][1]
    assert found["errors"]["training"] == pytest.approx(adaboost.train_errors_, rel=1e-4)
    assert found["errors"]["bound"] == pytest.approx(np.minimum(adaboost.bounds_, 1.0), rel=1e-4)
    staged = [np.mean(np.asarray(said) != fitted.y) for said in adaboost.staged_predict(fitted.X)]
    assert found["errors"]["test"] == pytest.approx(staged, rel=1e-4)
    numbers, lines = zip(*found["margins"], strict=True)
    assert numbers[0] == 1
    assert numbers[-1] == len(adaboost.estimator_weights_)
    assert [np.mean(np.array(line) < 0.0) for line in lines] == pytest.approx(
        [found["errors"]["test"][number - 1] for number in numbers], abs=0.01
    )
    gradient = details_of(fitted, "gradient-boosting 3")
    model = fitted.members["gradient-boosting 3"].steps[-1][1]
    assert gradient["rounds"]["losses"]["training"] == pytest.approx(model.train_score_, rel=1e-4)
    assert gradient["numbers"]["rounds"] == 15


def test_contributions_add_up_to_the_answers(fitted):
    found = details_of(fitted, "gradient-boosting 3")["contributions"]
    model = fitted.members["gradient-boosting 3"].steps[-1][1]
    n_rows = len(found["columns"][0]["contributions"])
    total = found["base"] + sum(np.array(column["contributions"]) for column in found["columns"])
    assert total == pytest.approx(model.decision_function(fitted.X.slice(0, n_rows)), abs=1e-3)


def test_support_vectors_gap_and_plane(fitted):
    found = details_of(fitted, "svm 5")
    machine = fitted.members["svm 5"].steps[-1][1]
    assert found["numbers"]["support vectors"] == machine.support_.size
    assert found["numbers"]["rows"] == 300
    assert found["numbers"]["gap"] == pytest.approx(machine.duality_gap_.sum())
    plane = found["plane"]
    inputs = fitted.members["svm 5"][:-1].transform(fitted.X)[: len(plane["points"])]
    assert plane["codes"] == np.searchsorted(LABELS, fitted.y[: len(plane["points"])]).tolist()
    assert plane["predicted"] == np.searchsorted(LABELS, machine.predict(inputs)).tolist()
    assert np.array(plane["scores"]).shape == (len(plane["up"]), len(plane["across"]))


def test_a_plane_of_three_classes_has_regions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[np.argmax(X, axis=1)]
    machine = Pipeline([("model", SVC().fit(X, y))])
    member = Member("", 1.0, machine)
    member = SimpleNamespace(method=member.method, name="", weight=1.0, inputs=lambda _: X)
    found = member_details(member, pa.table({}), y, Deadline(None))
    assert np.unique(found["plane"]["regions"]).tolist() == [0, 1, 2]
    assert "plane" in member_figures(found)


def test_targets_are_counted():
    found = target_details(np.array(["b", "a", "b"]), LABELS)
    assert found == {"labels": ["b", "a"], "counts": [2, 1], "n_labels": 2}
    amounts = target_details(np.append(np.arange(1000.0), 1e9), None)
    assert sum(amounts["counts"]) == 1001
    assert amounts["edges"][-1] < 2000  # one that is far off does not stretch all others together
    assert sum(target_details(np.full(5, 2.0), None)["counts"]) == 5


# --- out of bag ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_the_last_error_out_of_bag_is_that_of_the_forest(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    amounts = X[:, 0] + 0.3 * rng.normal(size=300)
    y = np.where(amounts > 0, "yes", "no") if kind is RandomForestClassifier else amounts
    forest = kind(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    is_out = [~np.isin(np.arange(300), drawn) for drawn in forest.estimators_samples_]
    errors = oob_errors(forest, X, y, is_out)
    variance = y.var() if kind is RandomForestRegressor else 1.0
    assert errors.size == 30
    assert 1.0 - errors[-1] / variance == pytest.approx(forest.oob_score_)
    assert errors[-1] < errors[0]


def test_a_forest_shows_its_curve_out_of_bag(heart):
    run = learn(heart, "disease", Settings(models=("random-forest",))).run
    curves = [member["oob_curve"] for member in run.explanation.details["members"]]
    assert all(len(curve["errors"]) == 100 for curve in curves)
    assert curves[0]["n_rows"] == 303
    assert "oob" in member_figures(run.explanation.details["members"][0])
