"""Every metric of --metric is scikit-learn's; larger scores are better; rare classes change the default."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn import metrics as reference

from eigenwood.errors import InputError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.deciding import decided
from eigenwood.runs.metrics import METRICS, Answers, codes_of, default_metric, metric_named, positive_class, score
from eigenwood.runs.names import METRIC_NAMES

LABELS = ("ash", "birch", "cedar", "oak")


def answered(n_classes, n_rows=200, seed=0, positive=None):
    """True labels and answers that are right more often than not."""
    rng = np.random.default_rng(seed)
    classes = np.array(LABELS[:n_classes])
    codes = rng.integers(n_classes, size=n_rows)
    shares = rng.dirichlet(np.ones(n_classes), size=n_rows) + 0.5 * np.eye(n_classes)[codes]
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), 2) + 1e-4  # with ties
    shares /= shares.sum(axis=1, keepdims=True)
    return classes[codes], Answers(decided(shares, classes), shares, classes, positive)


def weights_of(kind, n_rows):
    rng = np.random.default_rng(3)
    return {"none": None, "whole": rng.integers(1, 4, n_rows).astype(float), "any": rng.random(n_rows) + 0.1}[kind]


def wanted(name, y, answers, weights):
    """Return what scikit-learn says."""
    labels, shares, classes, positive = answers
    if name in ("accuracy", "balanced-accuracy"):
        return getattr(reference, f"{name.replace('-', '_')}_score")(y, labels, sample_weight=weights)
    if name == "log-loss":
        return -reference.log_loss(y, shares, sample_weight=weights)
    if name == "f1":
        how = {"average": "macro"} if positive is None else {"pos_label": classes[positive]}
        return reference.f1_score(y, labels, sample_weight=weights, **how)
    measure = {"auc": reference.roc_auc_score, "average-precision": reference.average_precision_score}[name]
    asked = range(classes.size) if positive is None else [positive]
    return np.mean([measure(y == classes[c], shares[:, c], sample_weight=weights) for c in asked])


@pytest.mark.parametrize("kind", ["none", "whole", "any"])
@pytest.mark.parametrize(("n_classes", "positive"), [(2, 0), (2, 1), (2, None), (4, None)])
@pytest.mark.parametrize("name", [metric.name for metric in METRICS if metric.task == CLASSIFICATION])
def test_of_classes(name, n_classes, positive, kind):
    y, answers = answered(n_classes, positive=positive)
    weights = weights_of(kind, y.size)
    found = score(metric_named(name, CLASSIFICATION), y, answers, weights)
    assert found.value == pytest.approx(wanted(name, y, answers, weights))
    assert found.loss == pytest.approx(reference.log_loss(y, answers.probabilities, sample_weight=weights))


@pytest.mark.parametrize("kind", ["none", "whole", "any"])
@pytest.mark.parametrize(
    ("name", "measure", "sign"),
    [
        ("r2", reference.r2_score, 1),
        ("mae", reference.mean_absolute_error, -1),
        ("rmse", reference.root_mean_squared_error, -1),
        ("median-error", reference.median_absolute_error, -1),
    ],
)
def test_of_amounts(name, measure, sign, kind):
    rng = np.random.default_rng(0)
    y = rng.normal(size=101)
    predicted, weights = y + rng.normal(size=101), weights_of(kind, 101)
    found = score(metric_named(name, REGRESSION), y, Answers(predicted), weights)
    assert found.value == pytest.approx(sign * measure(y, predicted, sample_weight=weights))
    assert found.loss == pytest.approx(1.0 - reference.r2_score(y, predicted, sample_weight=weights))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_weights_are_repeated_rows(metric):
    weights = weights_of("whole", 200)
    rows = np.repeat(np.arange(200), weights.astype(int))
    if metric.task == CLASSIFICATION:
        y, answers = answered(2, positive=1)
        repeated = answers._replace(
            labels_or_amounts=answers.labels_or_amounts[rows], probabilities=answers.probabilities[rows]
        )
    else:
        y = np.random.default_rng(0).normal(size=200)
        answers = Answers(np.round(y, 1))
        repeated = Answers(answers.labels_or_amounts[rows])
    found, twice = score(metric, y, answers, weights), score(metric, y[rows], repeated)
    if metric.name == "median-error":  # between two rows where there are as many on either side
        assert found.value == pytest.approx(twice.value, abs=2e-3)
    else:
        assert found.value == pytest.approx(twice.value)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_better_answers_have_larger_values(metric):
    if metric.task == CLASSIFICATION:
        y, worse = answered(2, positive=1)
        sure = 0.5 * worse.probabilities + 0.5 * np.eye(2)[codes_of(y, worse.classes)]
        better = Answers(decided(sure, worse.classes), sure, worse.classes, 1)
    else:
        y = np.arange(50.0)
        worse, better = Answers(y + 3.0), Answers(y + 1.0)
    assert score(metric, y, better).value > score(metric, y, worse).value
    assert score(metric, y, better).loss < score(metric, y, worse).loss


def test_the_names_are_those_of_the_command():
    assert tuple(metric.name for metric in METRICS) == METRIC_NAMES


def test_labels_that_training_did_not_know():
    y, answers = np.array(["ash", "elm", "birch"]), answered(2, 3)[1]
    found = score(metric_named("accuracy", CLASSIFICATION), y, answers)
    assert found.loss > 10.0  # its probability is 0
    assert found.value <= 2 / 3


def test_rows_of_one_class_are_no_better_than_guessed():
    y, answers = answered(2, positive=1)
    y[:] = "ash"
    for name, value in (("auc", 0.5), ("average-precision", 0.0), ("f1", 0.0)):
        assert score(metric_named(name, CLASSIFICATION), y, answers).value == value


def test_a_single_amount_and_equal_amounts():
    r2 = metric_named("r2", REGRESSION)
    assert score(r2, np.array([1.0]), Answers(np.array([3.0]))) == (0.0, 4.0)
    assert score(r2, np.ones(3), Answers(np.full(3, 3.0))) == (0.0, 4.0)


def test_a_metric_of_the_other_task_is_refused():
    with pytest.raises(InputError, match=r"^--metric must be one of accuracy, .* for classes; got 'r2'\.$"):
        metric_named("r2", CLASSIFICATION)
    with pytest.raises(InputError, match=r"got 'rmsse' \(did you mean 'rmse'\?\)\.$"):
        metric_named("rmsse", REGRESSION)


@pytest.mark.parametrize(
    ("counts", "name"),
    [
        ((995, 5), "balanced-accuracy"),  # frauds
        ((12_435, 7_841 // 2), "accuracy"),  # adult
        ((160, 137), "accuracy"),  # heart
        ((91, 9), "balanced-accuracy"),
        ((90, 10), "accuracy"),
        ((212, 283, 36, 3, 9, 17, 20), "accuracy"),  # covertype
    ],
)
def test_the_default_follows_the_rarest_of_two_classes(counts, name):
    y = np.repeat([f"class {place}" for place in range(len(counts))], counts)
    assert default_metric(CLASSIFICATION, y)[0].name == name
    rare = y == y[-1]
    assert default_metric(CLASSIFICATION, y, np.where(rare, 1e-3, 1.0))[0].name == (
        "balanced-accuracy" if len(counts) == 2 else "accuracy"
    )


def test_the_default_says_why():
    y = np.array(["fine"] * 1990 + ["fraud"] * 10)
    assert default_metric(CLASSIFICATION, y)[1] == "1 row in 200 is 'fraud': every class counts the same"
    assert default_metric(REGRESSION, np.arange(9.0))[1] == "the usual measure for amounts"


def test_the_class_that_is_looked_for_is_the_rarer_one():
    assert positive_class(np.array(["a", "b", "b"])) == 0
    assert positive_class(np.array(["a", "b"])) == 1
    assert positive_class(np.array(["a", "b", "c"])) is None


def test_a_hundred_thousand_rows_take_milliseconds():
    """0.01 seconds alone; the bound leaves room for a busy machine."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(7), size=100_000)
    classes = np.array([f"class {place}" for place in range(7)])
    y, answers = classes[rng.integers(7, size=100_000)], Answers(decided(shares, classes), shares, classes)
    started = time.process_time()
    for _ in range(5):
        score(metric_named("accuracy", CLASSIFICATION), y, answers)
    assert (time.process_time() - started) / 5 < 0.1
