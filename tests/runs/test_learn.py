"""learn: the five stages, in their order, on small tables."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline

from eigenwood import DecisionTreeClassifier, TableColumns, TableEncoder, WeightedEnsembleClassifier, verify
from eigenwood.data import datasets
from eigenwood.data.tables import read_table
from eigenwood.errors import InputError, TableError
from eigenwood.estimators.registry import ENTRIES
from eigenwood.runs import candidates as candidates_module
from eigenwood.runs import final, trials
from eigenwood.runs.candidates import ColumnFacts, candidates_for, check_methods, entries_of
from eigenwood.runs.clock import Clock
from eigenwood.runs.frames import amounts_of, labels_of
from eigenwood.runs.learn import learn
from eigenwood.runs.record import CUT, DROPPED, FINISHED, Run
from eigenwood.runs.replay import replayed
from eigenwood.runs.settings import Settings
from eigenwood.runs.splitting import folds, split_rows
from tests.runs.conftest import FAST
from tests.runs.tables_of_learn import houses, three_kinds, two_blobs

pytestmark = pytest.mark.slow


def split_of(table, target, settings):
    y = labels_of(table, target)
    return split_rows("classification", y, settings, groups=None, order=None, table=table.name, target=target)


def test_beats_the_majority_by_more_than_chance(learned):
    assert learned.run.assessment.low > learned.run.assessment.baseline
    assert learned.run.assessment.is_better_than_guessing


def test_the_score_is_what_the_model_does_on_the_blind_rows(heart, learned):
    X, y = heart.drop(["disease"]).frame, labels_of(heart, "disease")
    split = split_of(heart, "disease", Settings())
    asked = replayed(learned.run, heart, assessed=True)
    right = asked.predict(X.take(split.test)) == y[split.test]
    assert learned.run.assessment.score == pytest.approx(right.mean())
    assert sum(map(sum, learned.run.assessment.confusion)) == right.size


def test_the_blind_rows_are_not_used_before_they_were_asked_about(heart, monkeypatch):
    seen, events = [], []

    def fit_transform(self, X, y=None):
        seen.append(X)
        return original(self, X, y)

    original = TableColumns.fit_transform
    monkeypatch.setattr(TableColumns, "fit_transform", fit_transform)
    split = split_of(heart, "disease", Settings())
    blind = {tuple(row.values()) for row in heart.take(split.test).drop(["disease"]).frame.to_pylist()}
    run = learn(heart, "disease", Settings(models=FAST), lambda name, **_: events.append((name, len(seen)))).run
    n_before = dict(events)["refit"]
    assert [name for name, _ in events][-3:] == ["final fit", "assessment", "refit"]
    for frame in seen[:n_before]:
        assert not blind & {tuple(row.values()) for row in frame.to_pylist()}
    assert [frame.num_rows for frame in seen[n_before:]] == [303] * len(run.recipe.members)


def test_the_model_is_fitted_again_to_all_rows(heart, learned):
    run = learned.run
    assert (run.recipe.rows, run.recipe.n_rows) == ("all rows", 303)
    assert (run.assessed.rows, run.assessed.n_rows) == ("all training rows", 227)
    assert replace(run.assessed, rows="all rows", n_rows=303) == run.recipe
    known = next(member for member in learned.model.estimators_[0:1] or [learned.model])[0]
    assert known.n_features_in_ == 13


def test_without_time_for_all_rows_the_model_is_the_one_that_was_assessed(heart, monkeypatch):
    monkeypatch.setattr(final, "seconds_again", lambda *_: 1e6)
    model, run = learn(heart, "disease", Settings(models=("decision-tree",), time_limit=20.0))
    assert run.assessed is None
    assert (run.recipe.rows, run.recipe.n_rows) == ("all training rows", 227)
    assert run.assessed_recipe() is run.recipe
    assert model.predict(heart.drop(["disease"]).frame).shape == (303,)


def test_blind_rows_of_a_new_class_are_not_learnt_from():
    """Weights of classes and calibrations know the classes of the training rows alone."""
    n = 120
    labels = ["new" if i >= 108 and i % 3 == 0 else "ab"[i % 2] for i in range(n)]
    table = read_table({"x": np.random.default_rng(0).normal(size=n), "day": np.arange(n) / 7, "kind": labels})
    run = learn(table, "kind", Settings(models=("decision-tree",), order="day", test_fraction=0.1)).run
    assert run.assessed is None
    assert run.recipe.n_rows == run.split.n_train


def test_every_candidate_of_the_registry_is_tried_and_none_fails(learned):
    wanted = candidates_for("classification", (), 181, 13, None)
    records = learned.run.candidates
    assert [(record.method, record.params) for record in records[: len(wanted)]] == [
        (candidate.method, candidate.words()) for candidate in wanted
    ]
    methods = {entry.name for entry in entries_of("classification") if entry.is_candidate}
    assert methods == {candidate.method for candidate in wanted}
    assert "perceptron" not in methods
    assert {record.status for record in records[: len(wanted)]} == {FINISHED}
    assert {record.status for record in records} <= {FINISHED, DROPPED}


def test_a_new_registry_line_is_a_new_candidate(monkeypatch):
    line = replace(
        next(entry for entry in ENTRIES if entry.name == "decision-tree"), name="other", tries=({"max_depth": 2},)
    )
    monkeypatch.setattr(candidates_module, "ENTRIES", (*ENTRIES, line))
    last = candidates_for("classification", (), 181, 13, None)[-1]
    assert (last.method, last.params) == ("other", {"max_depth": 2})


def test_fold_scores_are_scikit_learns(heart, learned):
    y = labels_of(heart, "disease")
    train = split_of(heart, "disease", Settings()).train
    X, y = heart.drop(["disease"]).frame.to_pandas().iloc[train], y[train]
    model = Pipeline(
        [
            ("columns", TableColumns(kinds=heart.drop(["disease"]).kinds())),
            ("tree", DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
        ]
    )
    record = next(record for record in learned.run.candidates if record.params == {"min_samples_leaf": 5})
    scores = cross_val_score(model, X, y, cv=folds("classification", y, 0, None, None))
    assert record.fold_scores == pytest.approx(scores)


def test_the_recipe_is_at_least_as_good_as_any_candidate(learned):
    assert learned.run.recipe.score >= max(record.mean_score for record in learned.run.candidates)
    assert sum(member.weight for member in learned.run.recipe.members) == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_run_and_another_one_another(learned_by, heart):
    first, again = learned_by(*FAST).run, learn(heart, "disease", Settings(models=FAST)).run
    assert timeless(again) == timeless(first)
    assert learn(heart, "disease", Settings(seed=1, models=FAST)).run.assessment != first.assessment


def timeless(run: Run) -> Run:
    """Return a run without its seconds."""
    return replace(
        run, seconds={}, candidates=[replace(record, seconds=0.0, fit_seconds=0.0) for record in run.candidates]
    )


def test_run_round_trip(learned, priced, tmp_path):
    for run in (learned.run, priced.run):
        assert Run.load(run.save(tmp_path / "run.json")) == run


def test_the_certificate_is_found_again(heart, learned_by):
    model, run = learned_by(*FAST)
    X, y = heart.drop(["disease"]).frame, labels_of(heart, "disease")
    assert verify(model, X, y).holds == run.certificate["holds"] is not False


def test_every_model_of_classes_has_probabilities(heart, learned_by):
    for method in ("svm", "decision-tree", "adaboost"):
        model = learned_by(method).model
        assert model.predict_proba(heart.drop(["disease"]).frame).sum(axis=1) == pytest.approx(1.0)
    assert isinstance(learned_by("svm").model, WeightedEnsembleClassifier)


def test_one_machine_alone_has_calibrated_probabilities():
    table = two_blobs()
    learned = learn(table, "side", Settings(models=("svm",)))
    assert [member.calibration is None for member in learned.run.recipe.members] == [False]
    assert learned.model.predict_proba(table.drop(["side"]).frame).sum(axis=1) == pytest.approx(1.0)


def test_columns_that_tell_nothing_are_not_used():
    n = 60
    table = two_blobs(row=pa.array(range(n)), same=pa.array(["x"] * n))
    use = {column.name: column.use for column in learn(table, "side", Settings(models=FAST)).run.columns}
    assert use == {
        "a": "feature",
        "b": "feature",
        "side": "target",
        "row": "not used: looks like an ID",
        "same": "not used: always the same",
    }


def test_columns_are_used_or_dropped_as_asked():
    table = two_blobs(row=pa.array(range(60)))
    run = learn(table, "side", Settings(models=("decision-tree",), use=("row",), drop=("a",))).run
    use = {column.name: column.use for column in run.columns}
    assert use == {"a": "not used: dropped, as asked", "b": "feature", "side": "target", "row": "feature"}


def test_groups_order_and_weights_are_no_features():
    rng = np.random.default_rng(0)
    table = two_blobs(
        n=120,
        house=pa.array([f"h{i // 4}" for i in range(120)]),
        day=rng.permutation(120) / 7,
        often=rng.integers(0, 3, 120) / 1.0,
    )
    by_group = learn(table, "side", Settings(models=("decision-tree",), group="house", weights="often", drop=("day",)))
    assert {c.name: c.use for c in by_group.run.columns}["house"] == "groups"
    assert by_group.run.split.n_train + by_group.run.split.n_test == np.count_nonzero(table.frame["often"].to_numpy())
    by_time = learn(table, "side", Settings(models=("decision-tree",), order="day", drop=("house", "often")))
    assert "the newest rows were put aside" in by_time.run.split.how


def test_rows_without_a_target_are_left_out():
    table = two_blobs()
    labels = table.frame["side"].to_pylist()
    labels[3] = labels[8] = None
    changed = read_table(table.frame.set_column(2, "side", pa.array(labels)))
    run = learn(changed, "side", Settings(models=("decision-tree",))).run
    assert (run.split.n_without_target, run.split.n_train + run.split.n_test) == (2, 58)


def test_numbers_as_labels_come_back_as_they_were_written():
    table = two_blobs()
    codes = pa.array([1.0 if side == "right" else 0.0 for side in table.frame["side"].to_pylist()])
    model = learn(
        read_table(table.frame.set_column(2, "side", codes)), "side", Settings(models=("decision-tree",))
    ).model
    assert model.classes_.tolist() == ["0", "1"]


@pytest.mark.parametrize("name", ["play_tennis", "ten_points"])
def test_tiny_tables_work(name):
    dataset = datasets.load(name)
    run = learn(dataset.table(), dataset.target_name, Settings()).run
    assert run.split.n_test >= 2
    assert run.validation.n_folds >= 2


def test_a_class_that_a_sample_lacks_has_a_column(monkeypatch):
    """One fold may hold two of three classes; scores and probabilities still stand in their places."""
    table = three_kinds(90)
    labels = ["c" if i < 5 else "ab"[i % 2] for i in range(90)]
    run = learn(read_table(table.frame.set_column(6, "kind", pa.array(labels))), "kind", Settings(models=FAST)).run
    assert {record.status for record in run.candidates} <= {FINISHED, DROPPED}


# --- amounts ------------------------------------------------------------------------------------------


def test_amounts_beat_the_mean_by_more_than_chance(priced):
    assessment = priced.run.assessment
    assert priced.run.task == "regression"
    assert assessment.baseline < 0.1 < assessment.low < assessment.score < assessment.high <= 1


def test_fold_scores_of_amounts_are_scikit_learns(priced, houses):
    y = amounts_of(houses, "price")
    train = split_rows("regression", y, Settings(), groups=None, order=None, table="houses", target="price").train
    X = houses.drop(["price"]).frame.to_pandas().iloc[train]
    record = next(record for record in priced.run.candidates if record.params == {"min_samples_leaf": 5})
    candidate = candidates_module.recorded(record.method, record.params)
    model = candidates_module.pipeline(candidate, ColumnFacts(houses.drop(["price"]).kinds(), {}), 0, None)
    scores = cross_val_score(model, X, y[train], cv=KFold(5, shuffle=True, random_state=0), scoring="r2")
    assert record.fold_scores == pytest.approx(scores)


def test_the_target_of_machines_is_scaled(priced):
    of_machines = [record for record in priced.run.candidates if record.method == "svm-regression"]
    assert all(record.params["target"] == "standard" for record in of_machines)
    assert max(record.mean_score for record in of_machines) > 0.8


def test_skewed_amounts_are_tried_in_logarithms():
    table = houses()
    dear = np.exp(amounts_of(table, "price") / 40.0)
    skewed = read_table(table.frame.set_column(2, "price", pa.array(dear)))
    run = learn(skewed, "price", Settings(models=("svm-regression",))).run
    assert {"log", "standard"} <= {record.params.get("target") for record in run.candidates}


# --- time ---------------------------------------------------------------------------------------------


def test_the_clock_holds_and_leaves_a_model(limited):
    table, limit, (model, run), seconds = limited
    assert seconds < limit + 1.0
    assert run.assessment.score > 0.6
    assert model.predict(table.drop(["kind"]).frame).shape == (20_000,)
    assert any("no time for" in note for note in run.notes) or any(r.status == CUT for r in run.candidates)


def test_a_fit_that_was_cut_is_never_ranked(limited):
    run = limited[2].run
    cut = {place for place, record in enumerate(run.candidates) if record.status == CUT}
    assert all(member.candidate not in cut for member in run.recipe.members)
    assert all(not run.candidates[place].fold_scores for place in cut)


def test_with_no_time_at_all_there_is_a_model_of_a_few_rows():
    table = three_kinds(3000)
    began = time.perf_counter()
    model, run = learn(table, "kind", Settings(time_limit=0.1), clock=Clock(0.1))
    assert time.perf_counter() - began < 3.0
    assert (run.recipe.rows, run.recipe.n_rows) == ("the first fold's part of the training rows", 500)
    assert any("the best model of the search was taken" in note for note in run.notes)
    assert model.predict(table.drop(["kind"]).frame).shape == (3000,)


def test_a_method_that_cannot_be_fitted_is_recorded_and_the_others_go_on(monkeypatch):
    original = trials.fit_weighted

    def fit(model, *rest):
        if any(isinstance(step, TableEncoder) for _, step in model.steps):
            raise InputError("KernelLogisticRegression: no such thing; got it.")
        return original(model, *rest)

    monkeypatch.setattr(trials, "fit_weighted", fit)
    run = learn(two_blobs(), "side", Settings(models=FAST)).run
    failed = [record for record in run.candidates if record.status.startswith("failed: ")]
    assert {record.method for record in failed} == {"kernel-logistic", "svm"}
    assert {record.method for record in run.chosen()} == {"decision-tree"}


def test_if_no_method_can_be_fitted_the_first_reason_is_said(monkeypatch):
    def fit(*_):
        raise InputError("SVC: no such thing; got it.")

    monkeypatch.setattr(trials, "fit_weighted", fit)
    with pytest.raises(InputError, match=r"^learn: some method must .*; got svm failed: SVC: no such thing; got it\.$"):
        learn(two_blobs(), "side", Settings(models=("svm",)))


def test_a_method_off_the_default_list_can_be_asked_for_if_it_has_choices():
    methods = {candidate.method for candidate in candidates_for("classification", ("perceptron",), 181, 13, None)}
    assert methods == {"perceptron"}
    with pytest.raises(InputError, match=r"got 'weighted-ensemble'\.$"):
        check_methods("classification", ["weighted-ensemble"])


def test_a_single_method_with_calibrated_scores_is_the_model():
    learned = learn(two_blobs(), "side", Settings(models=("kernel-perceptron",)))
    assert [member.method for member in learned.run.recipe.members] == ["kernel-perceptron"]
    assert learned.run.recipe.members[0].calibration is not None
    assert learned.model.predict_proba(two_blobs().drop(["side"]).frame).sum(axis=1) == pytest.approx(1.0)


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(models=("svn",)), r"--models must be some of .*; got 'svn' \(did you mean 'svm'\?\)\.$"),
        (Settings(models=("bagging",)), r"--models must be some of .*; got 'bagging'"),  # it has no list of candidates
        (Settings(drop=("c",)), r"column must be one of 'a', 'b', 'side'; got 'c'\.$"),
        (Settings(drop=("a",), use=("a",)), r"a column must have one role; got 'a' as --drop and --use\.$"),
        (Settings(drop=("a", "b")), r"must have a column to learn from beside 'side'; got "),
        (Settings(metric="r2"), r"metric"),
        (Settings(test_fraction=1.5), r"^learn: test must be "),
        (Settings(test_fraction=0.0), r"^learn: test must be "),
        (Settings(seed=-1), r"^learn: seed must be "),
        (Settings(seed="a"), r"^learn: seed must be .*; got 'a'\.$"),
        (Settings(weights="a"), r"--weights column 'a' must hold numbers of at least 0; got -"),
    ],
)
def test_settings_that_the_table_cannot_have_are_one_sentence(settings, words):
    with pytest.raises(InputError, match=words) as problem:
        learn(two_blobs(), "side", settings)
    assert str(problem.value).endswith(".")
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("column", "values", "settings", "words"),
    [
        ("w", [0.0, 0.0, 0.0, 0.0], Settings(weights="w"), "--weights column 'w' must have a weight above 0 in a row "),
        ("w", ["u", "v", "v", "u"], Settings(weights="w"), r"--weights column 'w' must hold numbers; got 'u'\.$"),
        ("w", ["u", "v", "v", "u"], Settings(order="w"), r"--order column 'w' must hold numbers; got 'u'\.$"),
        ("w", [1.5, -np.inf, 2.5, 0.5], Settings(), "column 'w' must hold finite numbers, or nothing .*; got -inf"),
    ],
)
def test_columns_that_cannot_have_their_role_are_one_sentence(column, values, settings, words):
    with pytest.raises(TableError, match=words) as problem:
        learn(two_blobs(**{column: values * 15}), "side", settings)
    assert str(problem.value).endswith(".")


@pytest.mark.parametrize(
    ("scale", "words"), [(1e300, "of size at most 1e\\+150, to be squared"), (1e-300, "at least 1e-150 apart, to be")]
)
def test_amounts_that_cannot_be_squared_are_one_sentence(scale, words):
    frame = houses().frame
    prices = pa.chunked_array([frame["price"].to_numpy() * scale])
    with pytest.raises(TableError, match=f"target 'price' must hold amounts {words}"):
        learn(read_table(frame.set_column(2, "price", prices)), "price", Settings())


def test_numbers_of_any_size_are_learnt_from_by_methods_behind_the_encoder():
    frame = two_blobs().frame
    large = frame.set_column(0, "a", pa.chunked_array([frame["a"].to_numpy() * 2.0**900]))
    runs = [learn(read_table(one), "side", Settings(models=("kernel-logistic",))).run for one in (frame, large)]
    assert runs[0].assessment.score == runs[1].assessment.score
    assert runs[0].recipe.score == runs[1].recipe.score


def test_few_whole_numbers_are_amounts_if_that_is_said():
    stars = np.arange(60) % 5
    table = read_table({"a": stars + np.random.default_rng(0).normal(size=60), "stars": stars})
    of_classes = learn(table, "stars", Settings(models=("decision-tree",))).run
    of_amounts = learn(table, "stars", Settings(models=("regression-tree",), kinds={"stars": "number"})).run
    assert (of_classes.task, of_amounts.task) == ("classification", "regression")


def test_a_leak_stops_a_strict_run():
    table = two_blobs(n=200)
    told = read_table(
        table.frame.append_column("code", pa.array([{"left": 1, "right": 2}[v.as_py()] for v in table.frame["side"]]))
    )
    with pytest.raises(TableError, match="with --strict no column may look like a leak; got: .*'code'"):
        learn(told, "side", Settings(strict=True, models=("decision-tree",)))
    assert any(
        "code" in finding.columns for finding in learn(told, "side", Settings(models=("decision-tree",))).run.findings
    )
