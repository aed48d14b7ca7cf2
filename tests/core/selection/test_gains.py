"""The gains of columns: equal to the textbook, and to scikit-learn's mutual information; nothing depends on blocks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from eigenwood.core.selection import gains
from eigenwood.core.selection.gains import Labels, best_question, branches_of, distinct_codes
from eigenwood.core.tree.criteria import ENTROPY, ERROR, GINI
from tests.naive import selection as naive

CRITERIA = {"entropy": ENTROPY, "gini": GINI, "error": ERROR}
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def column(seed, is_category=False, n_rows=25):
    """Return a column with equal values and, if of numbers, every second time with holes; and weighted labels."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, n_rows).astype(float)
    if not is_category and seed % 2:
        values[rng.random(n_rows) < 0.2] = np.nan
    if is_category:
        values = np.unique(values, return_inverse=True)[1].astype(float)
    weights = rng.integers(1, 4, n_rows).astype(float) if seed % 3 else np.empty(0)
    return values, Labels(rng.integers(0, 3, n_rows), weights, 3)


def plain_weights(labels):
    return labels.weights if labels.weights.size else np.ones(labels.codes.size)


@every_criterion
@pytest.mark.parametrize("is_category", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_equal_to_the_textbook(seed, is_category, criterion):
    values, labels = column(seed, is_category)
    n_categories = int(values.max()) + 1 if is_category else -1
    question = best_question(values, n_categories, labels, CRITERIA[criterion])
    gain, branches = naive.best_question(
        list(values), is_category, list(labels.codes), list(plain_weights(labels)), criterion
    )
    assert question.gain == pytest.approx(gain, rel=1e-12, abs=1e-12)
    assert question.split_entropy == pytest.approx(naive.split_entropy(branches, plain_weights(labels)), abs=1e-12)
    answers = branches_of(values, n_categories, question)
    assert [np.flatnonzero(answers == k).tolist() for k in range(question.n_branches)] == branches


@every_criterion
@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_codes_change_nothing(seed, criterion, monkeypatch):
    for is_category in (False, True):
        values, labels = column(seed, is_category)
        n_categories = int(values.max()) + 1 if is_category else -1
        whole = best_question(values, n_categories, labels, CRITERIA[criterion])
        with monkeypatch.context() as patch:
            patch.setattr(gains, "MOST_SUMS", 2 * labels.n_classes)
            assert best_question(values, n_categories, labels, CRITERIA[criterion]) == pytest.approx(whole)


def test_the_gain_of_categories_is_their_mutual_information_in_bits():
    values, labels = column(3, is_category=True, n_rows=200)
    labels = labels._replace(weights=np.empty(0))
    question = best_question(values, 6, labels, ENTROPY)
    assert question.gain == pytest.approx(mutual_info_score(values, labels.codes) / np.log(2.0))


@pytest.mark.parametrize("name", ["gini", "entropy"])
def test_the_gain_of_numbers_is_that_of_a_stump_of_scikit_learn(name):
    rng = np.random.default_rng(5)
    values, codes = rng.normal(size=300), rng.integers(0, 3, 300)
    stump = DecisionTreeClassifier(criterion=name, max_depth=1).fit(values[:, None], codes).tree_
    gain = stump.impurity[0] - (stump.n_node_samples * stump.impurity)[1:].sum() / 300
    question = best_question(values, -1, Labels(codes, np.empty(0), 3), CRITERIA[name])
    assert question.gain == pytest.approx(gain, rel=1e-9)
    assert question.threshold == pytest.approx(stump.threshold[0])


@pytest.mark.parametrize(
    ("values", "missing_left", "threshold"),
    [
        ([1.0, 1.0, 1.0, 1.0], False, 0.0),
        ([1.0, 1.0, np.nan, np.nan], False, gains.LARGEST),
        ([np.nan] * 4, False, 0.0),
    ],
    ids=["one value", "one value or none", "nothing"],
)
def test_columns_with_little_to_ask(values, missing_left, threshold):
    question = best_question(np.array(values), -1, Labels(np.array([0, 0, 1, 1]), np.empty(0), 2), ENTROPY)
    assert (question.threshold, question.missing_left) == (threshold, missing_left)
    assert question.gain == (1.0 if threshold else 0.0)


def test_every_distinct_number_has_a_code_however_many_there_are():
    values = np.random.default_rng(0).normal(size=70_000)
    values[:2] = np.nan
    found = distinct_codes(values, -1)
    np.testing.assert_array_equal(found.lows[found.codes[2:]], values[2:])
    assert found.lows.size == found.codes[0] == 69_998
    assert found.n_missing == 2
