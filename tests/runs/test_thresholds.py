"""Areas under curves, and how they follow each row's weight."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from eigenwood.runs.thresholds import at_thresholds
from tests.naive import metrics as naive


def ranked(seed, n_rows=30):
    """Scores with ties, classes and weights."""
    rng = np.random.default_rng(seed)
    is_of_class = rng.random(n_rows) < 0.4
    is_of_class[:2] = True, False
    return np.round(rng.normal(size=n_rows) + is_of_class, 1), is_of_class, rng.random(n_rows) + 0.5


@pytest.mark.parametrize("seed", range(5))
def test_areas_are_those_of_the_textbook_and_of_scikit_learn(seed):
    scores, is_of_class, weights = ranked(seed)
    found = at_thresholds(scores, is_of_class, weights)
    assert found.auc() == pytest.approx(naive.auc(scores, is_of_class, weights))
    assert found.auc() == pytest.approx(roc_auc_score(is_of_class, scores, sample_weight=weights))
    assert found.average_precision() == pytest.approx(naive.average_precision(scores, is_of_class, weights))
    wanted = average_precision_score(is_of_class, scores, sample_weight=weights)
    assert found.average_precision() == pytest.approx(wanted)


def test_the_counts_are_those_of_the_roc_curve():
    scores, is_of_class, _ = ranked(9)
    found = at_thresholds(scores, is_of_class)
    false_rate, true_rate, thresholds = roc_curve(is_of_class, scores, drop_intermediate=False)
    assert found.thresholds.tolist() == thresholds[1:].tolist()
    assert found.false / found.false[-1] == pytest.approx(false_rate[1:])
    assert found.found / found.found[-1] == pytest.approx(true_rate[1:])
    assert found.thresholds[found.places].tolist() == scores.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("area", ["auc", "average_precision"])
def test_influences_are_derivatives(seed, area):
    scores, is_of_class, weights = ranked(seed)
    found = at_thresholds(scores, is_of_class, weights)
    of_class, of_others = getattr(found, f"{area}_influences")()
    influences = np.where(is_of_class, of_class[found.places], of_others[found.places])
    wanted = naive.influences(lambda moved: getattr(naive, area)(scores, is_of_class, moved), weights)
    assert influences == pytest.approx(np.array(wanted), abs=1e-7)
    assert weights @ influences == pytest.approx(0.0, abs=1e-12)


def test_without_rows_on_both_sides_there_is_nothing_to_rank():
    found = at_thresholds(np.array([0.1, 0.2]), np.array([False, False]))
    assert (found.is_defined, found.auc(), found.average_precision()) == (False, 0.5, 0.0)
