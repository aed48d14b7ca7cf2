"""Categories in the order in which they are cut, and one branch for each."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.tree.split.categories import multiway_cost, sort_categories
from tests.core.tree import cases
from tests.core.tree.roots import sums_of, table
from tests.naive import tree as naive


@pytest.mark.parametrize("n_classes", [(2,), (5,), (2, 3), ()], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_categories_stand_in_the_order_of_the_textbook(seed, n_classes):
    data = table(seed, "gini" if n_classes else "squared_error", weighted=True, tied_targets=False, n_classes=n_classes)
    X, categories = cases.with_categories(np.random.default_rng(seed), data.X)
    data, rows = data._replace(X=X, categories=categories), np.arange(len(X))
    present = np.unique(X[:, 0]).astype(int)
    sums = np.zeros((6, sums_of(data, rows).size))
    for category in present:
        sums[category] = sums_of(data, rows[X[:, 0] == category])
    order, starts = np.append(present, -1), cases.target_of(data).starts
    total = sums_of(data, rows)[:-1]
    sort_categories(order, present.size, sums, starts, bool(n_classes), total, data.weights.sum())
    assert order[:-1].tolist() == naive.categories_in_order(data, rows, 0, present)
    assert order[-1] == -1


@pytest.mark.parametrize("min_samples_leaf", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
def test_the_cost_of_one_branch_for_each_category_equals_the_textbook(criterion, min_samples_leaf):
    rules = naive.Rules(criterion, min_samples_leaf=min_samples_leaf)
    for seed in range(6):
        data = table(seed, criterion, weighted=True, tied_targets=False)
        line = np.random.default_rng(seed).integers(3, size=len(data.X))
        parts = [np.flatnonzero(line == k) for k in np.unique(line)]
        sums = np.array([sums_of(data, part) for part in parts])
        order, starts = np.arange(len(parts)), cases.target_of(data).starts
        found = multiway_cost(order, len(parts), sums, sums.shape[1] - 1, starts, cases.rule_of(data, rules), False)
        if min(len(part) for part in parts) < min_samples_leaf:
            assert found == np.inf
        else:
            expected = sum(data.weights[part].sum() * naive.impurity(data, part, rules) for part in parts)
            assert_allclose(found, expected + constant_part(data, rules), rtol=1e-9, atol=1e-10)


def constant_part(data, rules):
    """What the cost of amounts leaves out: it is the same however the rows are divided."""
    if data.n_classes:
        return 0.0
    y, w = data.y[:, 0], data.weights
    return -(w @ y**2) if rules.criterion == "squared_error" else -(w @ (y * np.log(y)))
