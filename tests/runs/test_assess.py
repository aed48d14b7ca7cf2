"""The blind assessment: measures are scikit-learn's, sentences read once, records go to JSON and back."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as reference
from sklearn.calibration import calibration_curve

from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.assess import Blind, assessed
from eigenwood.runs.assessing_amounts import MOST_POINTS
from eigenwood.runs.assessment_record import ClassificationRecord, RegressionRecord
from eigenwood.runs.class_measures import f1_influences
from eigenwood.runs.deciding import decided
from eigenwood.runs.metrics import METRICS, Answers, class_rows, metric_named, positive_class
from eigenwood.runs.record import record_of
from tests.naive import metrics as naive


def classes_blind(n_rows=500, shares=(0.7, 0.3), metric="accuracy", signal=2.0, weights=None, chosen=None, seed=0):
    """Blind rows of classes c0, c1 …, with probabilities that know more the larger ``signal`` is."""
    rng = np.random.default_rng(seed)
    n_classes = len(shares)
    codes = rng.choice(n_classes, size=n_rows, p=shares)
    odds = np.exp(rng.normal(size=(n_rows, n_classes)) + signal * np.eye(n_classes)[codes] + np.log(shares))
    proba = odds / odds.sum(axis=1, keepdims=True)
    classes = np.array([f"c{code}" for code in range(n_classes)])
    train = np.repeat(classes, np.round(1000 * np.array(shares)).astype(int))
    return Blind(
        X=pa.table({"size": rng.normal(size=n_rows), "town": rng.choice(["a", None], size=n_rows)}),
        y=classes[codes],
        y_train=train,
        weights=weights,
        rows=10 + np.arange(n_rows),
        answers=Answers(decided(proba, classes, chosen), proba, classes, positive_class(train)),
        metric=metric_named(metric, CLASSIFICATION),
        kinds={"size": "number", "town": "category"},
        seed=0,
        decision_weights=chosen,
    )


def amounts_blind(n_rows=500, metric="r2", noise=0.4, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    predicted = rng.normal(size=n_rows)
    y = 20.0 + predicted + noise * rng.normal(size=n_rows)
    return Blind(
        X=pa.table({"size": predicted}),
        y=y,
        y_train=y,
        weights=weights,
        rows=np.arange(n_rows),
        answers=Answers(20.0 + predicted),
        metric=metric_named(metric, REGRESSION),
        kinds={"size": "number"},
        seed=0,
        target="price",
    )


def measures(record):
    return {one.name: one for one in record.measures}


# --- measures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_two_classes_are_scikit_learns(weighted):
    w = np.random.default_rng(1).random(500) + 0.5 if weighted else None
    blind = classes_blind(weights=w)
    found, said = measures(assessed(blind)), blind.answers.labels_or_amounts
    second, is_second = blind.answers.probabilities[:, 1], blind.y == "c1"
    wanted = {
        "accuracy": reference.accuracy_score(blind.y, said, sample_weight=w),
        "balanced accuracy": reference.balanced_accuracy_score(blind.y, said, sample_weight=w),
        "F1": reference.f1_score(blind.y, said, pos_label="c1", sample_weight=w),
        "AUC": reference.roc_auc_score(is_second, second, sample_weight=w),
        "average precision": reference.average_precision_score(is_second, second, sample_weight=w),
        "log loss": reference.log_loss(blind.y, blind.answers.probabilities, sample_weight=w),
    }
    assert {name: one.value for name, one in found.items()} == pytest.approx(wanted)
    baselines = {
        "accuracy": np.average(~is_second, weights=w),
        "balanced accuracy": 0.5,
        "F1": reference.f1_score(is_second, np.ones(500, dtype=bool), sample_weight=w),
        "AUC": 0.5,
        "average precision": np.average(is_second, weights=w),
        "log loss": reference.log_loss(blind.y, np.tile([0.7, 0.3], (500, 1)), sample_weight=w),
    }
    assert {name: one.baseline for name, one in found.items()} == pytest.approx(baselines)


def test_measures_of_several_classes_are_scikit_learns():
    blind = classes_blind(shares=(0.5, 0.3, 0.2))
    found, proba = measures(assessed(blind)), blind.answers.probabilities
    assert found["AUC"].value == pytest.approx(reference.roc_auc_score(blind.y, proba, multi_class="ovr"))
    assert found["F1"].value == pytest.approx(
        reference.f1_score(blind.y, blind.answers.labels_or_amounts, average="macro")
    )
    assert found["average precision"].value == pytest.approx(
        np.mean([reference.average_precision_score(blind.y == f"c{code}", proba[:, code]) for code in range(3)])
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_amounts_are_scikit_learns(weighted):
    w = np.random.default_rng(1).random(500) + 0.5 if weighted else None
    blind = amounts_blind(weights=w)
    always = np.full(500, blind.y_train.mean())
    found = measures(assessed(blind))
    for name, measure in (
        ("R²", reference.r2_score),
        ("mean absolute error", reference.mean_absolute_error),
        ("root mean squared error", reference.root_mean_squared_error),
        ("median absolute error", reference.median_absolute_error),
    ):
        wanted = measure(blind.y, blind.answers.labels_or_amounts, sample_weight=w)
        assert found[name].value == pytest.approx(wanted)
        assert found[name].baseline == pytest.approx(measure(blind.y, always, sample_weight=w))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_metric_leads_its_record_and_lies_in_its_interval(metric):
    make = classes_blind if metric.task == CLASSIFICATION else amounts_blind
    record = assessed(make(metric=metric.name))
    assert record.metric == metric.words
    assert record.low < record.score < record.high
    assert record.is_better_than_guessing
    assert record.larger_is_better == metric.larger_is_better
    assert (record.score > record.baseline) == metric.larger_is_better
    for one in record.measures:
        assert one.low < one.value < one.high


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_guessing_is_called_guessing(metric):
    if metric.task == CLASSIFICATION:
        record = assessed(classes_blind(metric=metric.name, signal=0.0, n_rows=200))
    else:
        blind = amounts_blind(metric=metric.name)
        record = assessed(blind._replace(y=blind.y[::-1]))
    assert not record.is_better_than_guessing
    assert record.headline.startswith("No better than guessing: ")


def test_whole_weights_are_repeated_rows():
    weights = np.random.default_rng(2).integers(1, 4, 300).astype(float)
    rows = np.repeat(np.arange(300), weights.astype(int))
    blind = classes_blind(300, (0.5, 0.3, 0.2), weights=weights)
    answers = blind.answers._replace(
        labels_or_amounts=blind.answers.labels_or_amounts[rows], probabilities=blind.answers.probabilities[rows]
    )
    repeated = blind._replace(X=blind.X.take(rows), y=blind.y[rows], weights=None, rows=rows, answers=answers)
    one, other = assessed(blind), assessed(repeated)
    for found, wanted in zip(one.measures, other.measures, strict=True):
        ends = (wanted.value, wanted.low, wanted.high)
        assert (found.value, found.low, found.high) == pytest.approx(ends)
    for found, wanted in zip(one.classes, other.classes, strict=True):
        assert (found.recall, found.recall_low, found.precision_high) == pytest.approx(
            (wanted.recall, wanted.recall_low, wanted.precision_high)
        )


def test_influences_of_f1_are_derivatives():
    blind = classes_blind(40, (0.5, 0.3, 0.2), signal=1.0)
    rows = class_rows(blind.y, blind.answers)
    weights = np.random.default_rng(0).random(40) + 0.5

    def value(moved):
        return reference.f1_score(rows.codes, rows.predicted, average="macro", sample_weight=moved)

    found = f1_influences(rows._replace(weights=weights))
    assert found == pytest.approx(np.array(naive.influences(value, weights)), abs=1e-7)


# --- what else is recorded ----------------------------------------------------------------------------


def test_classes_and_confusion_are_counted():
    blind = classes_blind(shares=(0.5, 0.3, 0.2), metric="balanced-accuracy")
    record, said = assessed(blind), blind.answers.labels_or_amounts
    assert record.labels == ["c0", "c1", "c2"]
    assert record.confusion == reference.confusion_matrix(blind.y, said).tolist()
    for one in record.classes:
        is_true, is_said = blind.y == one.label, said == one.label
        assert (one.n_rows, one.n_found) == (is_true.sum(), (is_true & is_said).sum())
        assert one.n_false == (is_said & ~is_true).sum()
        assert one.recall_low < one.recall == one.n_found / one.n_rows < one.recall_high
        assert one.precision_low < one.precision < one.precision_high


def test_a_class_that_training_did_not_know_is_always_wrong():
    blind = classes_blind()
    y = blind.y.astype("<U9")
    y[:5] = "new"
    record = assessed(blind._replace(y=y))
    assert record.labels == ["c0", "c1", "new"]
    assert (record.classes[2].n_rows, record.classes[2].n_found, record.classes[2].precision) == (5, 0, None)
    assert record.confusion[2][2] == 0
    assert sum(map(sum, record.confusion)) == 500


def test_a_class_without_blind_rows_has_no_recall():
    blind = classes_blind(shares=(0.6, 0.4))
    record = assessed(blind._replace(y=np.full(500, "c0")))
    assert record.classes[1].recall is None
    assert (record.roc, record.precision_recall) == ([], [])


def test_curves_are_thin_and_have_the_areas_of_the_whole():
    record = assessed(classes_blind(20_000))
    found = measures(record)
    (roc,), (precision,) = record.roc, record.precision_recall
    assert roc.label == record.positive_label == "c1"
    assert max(len(roc.x), len(precision.x)) <= 200
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0, 0, 1, 1)
    assert (roc.area, precision.area) == (found["AUC"].value, found["average precision"].value)
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(roc.area, abs=0.002)
    assert precision.x == sorted(precision.x)


def test_calibration_is_scikit_learns():
    blind = classes_blind(998)  # so that no edge of a bin is a row's own probability
    (curve,) = assessed(blind).calibration
    observed, given = calibration_curve(
        blind.y == "c1", blind.answers.probabilities[:, 1], n_bins=15, strategy="quantile"
    )
    assert curve.x == pytest.approx(given)
    assert curve.y == pytest.approx(observed)
    assert sum(curve.n_rows) == 998
    assert max(curve.n_rows) - min(curve.n_rows) <= 1


def test_worst_rows_are_wrong_and_say_where_they_are():
    blind = classes_blind()
    worst = assessed(blind).worst
    assert len(worst) == 10
    assert [one.error for one in worst] == sorted([one.error for one in worst], reverse=True)
    for one in worst:
        place = one.row - 11  # rows are counted from 1, and the first blind row is the table's eleventh
        assert one.true == blind.y[place] != one.predicted == blind.answers.labels_or_amounts[place]
        assert one.values == {"size": blind.X["size"][place].as_py(), "town": blind.X["town"][place].as_py()}
    assert assessed(classes_blind(20, signal=50.0)).worst == []


def test_worst_amounts():
    blind = amounts_blind()
    worst = assessed(blind).worst
    errors = blind.answers.labels_or_amounts - blind.y
    assert abs(worst[0].error) == np.abs(errors).max()
    assert worst[0].row == np.abs(errors).argmax() + 1
    assert worst[0].true == f"{blind.y[worst[0].row - 1]:.1f}"


def test_the_threshold_is_that_of_the_class_looked_for():
    assert assessed(classes_blind()).threshold == 0.5
    rare_first = classes_blind(shares=(0.2, 0.8), chosen=[0.9, 0.1])
    record = assessed(rare_first)
    assert (record.positive_label, record.threshold) == ("c0", 0.1)
    is_first = rare_first.answers.probabilities[:, 0] >= record.threshold
    assert (rare_first.answers.labels_or_amounts == "c0").tolist() == is_first.tolist()
    assert assessed(classes_blind(shares=(0.5, 0.3, 0.2))).threshold is None


def test_the_record_keeps_some_of_many_rows():
    record = assessed(amounts_blind(3 * MOST_POINTS))
    assert len(record.shown_true) == len(record.shown_predicted) == MOST_POINTS


@pytest.mark.parametrize(
    ("blind", "kind"),
    [(classes_blind(), ClassificationRecord), (amounts_blind(), RegressionRecord)],
    ids=["classes", "amounts"],
)
def test_records_go_to_json_and_back(blind, kind):
    record = assessed(blind)
    text = json.dumps(asdict(record), allow_nan=False)
    assert record_of(kind, json.loads(text)) == record


def test_a_few_rows_are_enough():
    for blind in (
        classes_blind(2),
        classes_blind(6, (0.4, 0.3, 0.3)),
        classes_blind(12, signal=50.0),
        amounts_blind(5),
    ):
        json.dumps(asdict(assessed(blind)), allow_nan=False)


def test_very_many_rows_take_less_than_half_a_second():
    """A quarter of a second alone; the bound on CPU time leaves room for a busy machine."""
    blind = classes_blind(145_000, (0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1))
    started = time.process_time()
    assessed(blind)
    assert time.process_time() - started < 1.0


# --- sentences ----------------------------------------------------------------------------------------


def test_the_sentence_about_balanced_classes():
    record = assessed(classes_blind(1200, (0.76, 0.24)))
    assert record.headline == (
        "92.1 % of 1,200 blind rows are right (95 % interval 90.4 % to 93.5 %); "
        "always answering 'c0' is right on 74.4 %."
    )


def test_the_sentence_about_a_rare_class():
    record = assessed(classes_blind(5000, (0.99, 0.01), "balanced-accuracy", 4.0, chosen=[0.01, 0.99]))
    one = record.classes[1]
    assert one.n_rows < 100
    assert record.headline == (
        f"Finds {one.n_found} of {one.n_rows} 'c1' rows, with {round(one.n_false / 5)} false alarms in 1,000 rows."
    )


def test_the_sentence_about_another_metric():
    record = assessed(classes_blind(1200, metric="auc"))
    assert record.headline == (
        f"AUC {record.score:.3f} (95 % interval {record.low:.3f} to {record.high:.3f}) on 1,200 blind rows; "
        "guessing has 0.500."
    )
    record = assessed(classes_blind(1200, metric="auc", signal=0.0))
    assert record.headline.startswith("No better than guessing: AUC 0.")


def test_the_sentence_about_amounts():
    blind = amounts_blind()
    blind = blind._replace(
        y=1000 * blind.y, y_train=1000 * blind.y_train, answers=Answers(1000 * blind.answers.labels_or_amounts)
    )
    assert assessed(blind).headline == (
        "Explains 88 % of the variance of 'price' (R² 0.88, 95 % interval 0.86 to 0.90); the typical error (median) is "
        "243, and 698 when always answering the mean, 19,945."
    )
    record = assessed(blind._replace(metric=metric_named("mae", REGRESSION)))
    assert record.headline == (
        f"The mean absolute error of 'price' is {record.score:.0f} (95 % interval {record.low:.0f} to "
        f"{record.high:.0f}); always answering the mean, 19,945, has {record.baseline:.0f}."
    )
