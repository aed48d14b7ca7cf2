"""learn for amounts: the same stages, scored by R² and compared with always saying the mean."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from eigenwood import TableEncoder
from eigenwood.data import datasets
from eigenwood.data.tables import read_table
from eigenwood.errors import InputError, TableError
from eigenwood.runs import learn as stages
from eigenwood.runs.frames import amounts_of
from eigenwood.runs.learn import learn, target_digest
from eigenwood.runs.record import ClassificationRecord, RegressionRecord, Run
from eigenwood.runs.regression import MOST_POINTS, assessed, blind_split, bootstrap_interval
from eigenwood.runs.settings import Settings
from tests.runs import fakes


@pytest.fixture(scope="module")
def blind(houses):
    """The rows of the houses that were put aside, and their prices."""
    y = amounts_of(houses, "price")
    split = blind_split("houses", "price", y, Settings())
    return split, y


def test_beats_the_mean_by_more_than_chance(priced):
    assessment = priced.run.assessment
    assert priced.run.task == "regression"
    assert assessment.baseline < 0.1 < assessment.low < assessment.score < assessment.high <= 1


def test_the_measures_are_scikit_learns_on_the_blind_rows(houses, priced, blind):
    split, y = blind
    predicted = priced.model.predict(houses.drop(["price"]).frame.take(split.test))
    always = np.full(split.test.size, y[split.train].mean())
    assessment = priced.run.assessment
    for measure, model, baseline in (
        (r2_score, "score", "baseline"),
        (mean_absolute_error, "mean_absolute_error", "baseline_mean_absolute_error"),
        (root_mean_squared_error, "root_mean_squared_error", "baseline_root_mean_squared_error"),
    ):
        assert getattr(assessment, model) == pytest.approx(measure(y[split.test], predicted))
        assert getattr(assessment, baseline) == pytest.approx(measure(y[split.test], always))
    assert assessment.baseline_amount == pytest.approx(y[split.train].mean())
    assert assessment.shown_true == y[split.test].tolist()
    assert assessment.shown_predicted == predicted.tolist()


def test_fold_scores_are_scikit_learns(houses, priced, blind):
    split, y = blind
    X = houses.drop(["price"]).frame.to_pandas().iloc[split.train]
    model = make_pipeline(TableEncoder(), fakes.LeastSquares())
    scores = cross_val_score(model, X, y[split.train], cv=KFold(5, shuffle=True, random_state=0), scoring="r2")
    assert priced.run.candidates[0].fold_scores == pytest.approx(scores)


def test_every_row_is_on_one_side(blind):
    split, y = blind
    assert (split.train.size, split.test.size) == (150, 50)
    assert sorted([*split.train, *split.test]) == list(range(y.size))


def test_the_same_seed_gives_the_same_run(amounts, houses, priced):
    assert learn(houses, "price", Settings()).run.assessment == priced.run.assessment
    assert learn(houses, "price", Settings(seed=1)).run.assessment != priced.run.assessment


def test_a_method_that_takes_tables_has_no_encoder(grouped):
    assert [name for name, _ in grouped.model.steps] == ["model"]
    assert grouped.run.candidates[0].takes_tables
    assert grouped.run.assessment.low > 0.5


def test_only_a_method_that_takes_tables_goes_without(priced):
    assert [name for name, _ in priced.model.steps] == ["encoder", "model"]
    assert [candidate.takes_tables for candidate in priced.run.candidates] == [False, True]


def test_rows_without_an_amount_are_left_out(amounts, houses):
    prices = houses.frame["price"].to_pylist()
    prices[3] = prices[8] = None
    run = learn(read_table(houses.frame.set_column(2, "price", pa.array(prices))), "price", Settings()).run
    assert (run.split.n_without_target, run.split.n_train + run.split.n_test) == (2, 198)


def test_single_precision_and_row_numbers_become_floats():
    whole = read_table(pa.table({"y": pa.array(np.arange(30.0), pa.float32()), "row": np.arange(30)}))
    for target in ("y", "row"):
        assert amounts_of(whole, target).dtype == np.float64
        assert amounts_of(whole, target).tolist() == list(range(30))


def test_run_round_trip(priced, tmp_path):
    again = Run.load(priced.run.save(tmp_path / "run.json"))
    assert again == priced.run
    assert isinstance(again.assessment, RegressionRecord)


@pytest.mark.slow
def test_a_run_of_before_there_were_amounts_loads(learned, tmp_path):
    """Then no method took tables, and no candidate said so."""
    candidates = [candidate for candidate in learned.run.candidates if not candidate.takes_tables]
    run = replace(learned.run, candidates=candidates, chosen=0)
    content = asdict(run)
    for candidate in content["candidates"]:
        del candidate["takes_tables"]
    (tmp_path / "run.json").write_text(json.dumps(content))
    again = Run.load(tmp_path / "run.json")
    assert again == run
    assert isinstance(again.assessment, ClassificationRecord)


@pytest.mark.parametrize("task", ["classification", "dancing"])
def test_a_run_of_another_task_does_not_load(priced, tmp_path, task):
    (tmp_path / "run.json").write_text(json.dumps({**asdict(priced.run), "task": task}))
    with pytest.raises(InputError, match=r"must be a run\.json written by eigenwood"):
        Run.load(tmp_path / "run.json")


def test_the_digest_tells_amounts_apart():
    y = np.array([0.1, 2.0, 3e-200])
    assert target_digest(y) == target_digest(y.copy())
    assert target_digest(y) != target_digest(y[::-1])
    assert target_digest(y) != target_digest(np.nextafter(y, np.inf))


def test_the_digest_of_labels_is_what_it_always_was():
    assert target_digest(np.array(["no", "yes"])) == hashlib.sha256(b"no\nyes").hexdigest()


# --- the interval ---------------------------------------------------------------------------------


def test_the_interval_covers_the_true_score():
    rng = np.random.default_rng(0)
    true_score = 1 - 0.5 / 1.5  # of predictions with variance 1 and errors with variance 0.5
    n_covered = 0
    for seed in range(200):
        predicted = rng.normal(size=80)
        low, high = bootstrap_interval(predicted + rng.normal(scale=0.5**0.5, size=80), predicted, 200, seed)
        n_covered += low <= true_score <= high
    assert 0.88 <= n_covered / 200 <= 1


def test_the_interval_is_that_of_scipy():
    rng = np.random.default_rng(1)
    predicted = rng.normal(size=60)
    amounts = predicted + rng.normal(size=60)
    wanted = bootstrap((amounts, predicted), r2_score, paired=True, vectorized=False, method="percentile", rng=0)
    assert bootstrap_interval(amounts, predicted, 4000, 0) == pytest.approx(tuple(wanted.confidence_interval), abs=0.02)


def test_resamples_of_equal_amounts_are_left_out():
    amounts = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    low, high = bootstrap_interval(amounts, np.zeros(5), 200, 0)
    assert np.isfinite([low, high]).all()


def test_a_perfect_prediction_has_a_narrow_interval():
    record = assessed(np.arange(9.0), np.arange(9.0), np.arange(3.0), 0)
    assert (record.low, record.score, record.high) == (1, 1, 1)


def test_the_record_keeps_some_of_many_rows_and_says_how_it_found_its_interval():
    amounts = np.random.default_rng(0).normal(size=3 * MOST_POINTS)
    record = assessed(amounts, amounts + 1.0, amounts, 0)
    assert record.shown_true == amounts[::3].tolist()
    assert record.shown_predicted == (amounts[::3] + 1.0).tolist()
    assert record.interval == "percentiles of R² in 1000 bootstrap resamples of the blind test rows"


# --- what is refused ------------------------------------------------------------------------------


def sentence(table, target="y") -> str:
    with pytest.raises(TableError) as problem:
        learn(read_table(table), target, Settings())
    text = str(problem.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_few_rows_are_refused(amounts):
    table = pa.table({"x": np.arange(14) ** 0.5, "y": np.arange(14) ** 1.5})
    assert sentence(table) == (
        "table: must have at least 15 rows with an amount in 'y' to learn, tune and test; got 14."
    )


@pytest.mark.parametrize("test_fraction", [0.01, 0.25, 0.9])
def test_the_least_number_of_rows_works_with_any_share(amounts, test_fraction):
    table = read_table(pa.table({"x": np.arange(15) ** 0.5, "y": np.arange(15) ** 1.5, "z": ["a", "b", "c"] * 5}))
    run = learn(table, "y", Settings(test_fraction=test_fraction)).run
    assert (run.split.n_train, run.split.n_test, run.n_folds) == (10, 5, 5)


def test_blind_rows_that_are_all_the_same_are_refused(amounts):
    values = np.where(np.arange(30) == 0, 0.5, np.where(np.arange(30) == 1, 2.25, 0.0))
    assert sentence(pa.table({"x": np.arange(30) ** 0.5, "y": values})) == (
        "table: the 8 blind test rows must differ in 'y' (another seed draws others); got 0 in all of them."
    )


def test_infinite_amounts_are_refused(amounts):
    values = np.arange(30) ** 0.5
    values[4] = np.inf
    table = pa.table({"x": np.arange(30) ** 1.5, "y": values})
    assert sentence(table) == "table: target 'y' must hold finite numbers; got inf."


@pytest.mark.data
def test_california_housing(monkeypatch):
    monkeypatch.setattr(stages, "ENTRIES", fakes.LINES[:1])
    dataset = datasets.load("california_housing")
    learned = learn(dataset.table(), dataset.target_name, Settings())
    assert isinstance(learned.model, Pipeline)
    assert 0.55 < learned.run.assessment.low < learned.run.assessment.high < 0.72  # a line gets about 0.6
    assert len(learned.run.assessment.shown_true) == MOST_POINTS
