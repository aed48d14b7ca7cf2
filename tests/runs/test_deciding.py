"""Decision weights: tuned for balanced accuracy and F1, close to the best there is, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.runs.deciding import decided, decision_weights
from eigenwood.runs.metrics import METRICS, Answers, metric_named, score

CLASSES = np.array(["fine", "fraud"])


def frauds(n_rows, share, seed, sharpness=1.0):
    """Labels and probabilities, which are the true ones if ``sharpness`` is 1."""
    rng = np.random.default_rng(seed)
    is_fraud = rng.random(n_rows) < share
    odds = np.log(share / (1 - share)) + 2.0 * (rng.normal(size=n_rows) + 2.0 * is_fraud) - 2.0
    second = 1.0 / (1.0 + np.exp(-sharpness * odds))
    shares = np.stack([1.0 - second, second], axis=1)
    return CLASSES[is_fraud.astype(int)], Answers(decided(shares, CLASSES), shares, CLASSES, 1)


def with_weights(answers, chosen):
    return answers._replace(labels_or_amounts=decided(answers.probabilities, answers.classes, chosen))


@pytest.mark.parametrize("name", [metric.name for metric in METRICS if metric.task == CLASSIFICATION])
def test_only_metrics_of_decisions_are_tuned(name):
    y, answers = frauds(3000, 0.02, 0)
    chosen = decision_weights(y, answers, metric_named(name, CLASSIFICATION))
    assert (chosen is not None) == (name in ("balanced-accuracy", "f1"))


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("name", "share_of_best"), [("balanced-accuracy", 0.97), ("f1", 0.9)])
def test_forty_frauds_are_enough_for_a_threshold_close_to_the_best(name, share_of_best, sharpness):
    metric = metric_named(name, CLASSIFICATION)
    y_new, new = frauds(40_000, 0.01, 99, sharpness)
    thresholds = np.quantile(new.probabilities[:, 1], np.append(np.linspace(0.5, 0.99, 30), np.linspace(0.99, 1, 20)))
    best = max(score(metric, y_new, with_weights(new, [t, 1 - t])).value for t in thresholds[:-1])
    reached = []
    for seed in range(8):
        y, answers = frauds(4000, 0.01, seed, sharpness)
        chosen = decision_weights(y, answers, metric)
        reached.append(score(metric, y_new, with_weights(new, chosen)).value)
    assert np.mean(reached) > share_of_best * best


def test_the_true_probabilities_of_two_equal_classes_need_nothing():
    y, answers = frauds(4000, 0.5, 0)
    metric = metric_named("balanced-accuracy", CLASSIFICATION)
    chosen = decision_weights(y, answers, metric)
    assert chosen is None or 0.4 < chosen[0] / chosen.sum() < 0.6


def test_it_is_the_same_each_time_and_never_worse_on_the_rows_it_was_tuned_on():
    metric = metric_named("f1", CLASSIFICATION)
    for seed in range(10):
        y, answers = frauds(300, 0.2, seed)
        chosen, again = (decision_weights(y, answers, metric) for _ in range(2))
        assert (chosen is None) == (again is None)
        if chosen is not None:
            assert chosen.tolist() == again.tolist()
            assert score(metric, y, with_weights(answers, chosen)).value > score(metric, y, answers).value


def test_f1_is_tuned_for_the_class_that_is_looked_for():
    y, answers = frauds(4000, 0.5, 1)
    metric = metric_named("f1", CLASSIFICATION)
    first, second = (decision_weights(y, answers._replace(positive=place), metric) for place in (0, 1))
    assert first[0] > first[1]
    assert second[1] > second[0]


def test_weights_count():
    y, answers = frauds(4000, 0.1, 2)
    metric = metric_named("balanced-accuracy", CLASSIFICATION)
    rows = np.where(y == "fraud", 9.0, 1.0)  # about as heavy as the others
    chosen = decision_weights(y, answers, metric, rows)
    assert chosen is not None  # the probabilities do not know the weights
    assert score(metric, y, with_weights(answers, chosen), rows).value > score(metric, y, answers, rows).value + 0.1


def test_several_classes_get_weights_that_follow_their_shares():
    rng = np.random.default_rng(0)
    shares = np.array([0.9, 0.07, 0.03])
    codes = rng.choice(3, size=6000, p=shares)
    odds = np.exp(2.0 * rng.normal(size=(6000, 3)) + 4.0 * np.eye(3)[codes] + np.log(shares))
    classes = np.array(["a", "b", "c"])
    proba = odds / odds.sum(axis=1, keepdims=True)
    answers = Answers(decided(proba, classes), proba, classes)
    metric = metric_named("balanced-accuracy", CLASSIFICATION)
    chosen = decision_weights(classes[codes], answers, metric)
    assert chosen[2] > chosen[1] > chosen[0]
    value = score(metric, classes[codes], with_weights(answers, chosen)).value
    assert value > score(metric, classes[codes], answers).value + 0.05


def test_equal_probabilities_and_few_rows():
    metric = metric_named("balanced-accuracy", CLASSIFICATION)
    same = Answers(np.full(6, "fine"), np.tile([0.7, 0.3], (6, 1)), CLASSES, 1)
    assert decision_weights(np.array(["fine", "fraud"] * 3), same, metric) is None
    certain = Answers(CLASSES[[0, 1, 0]], np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), CLASSES, 1)
    assert decision_weights(CLASSES[[0, 1, 0]], certain, metric) is None
