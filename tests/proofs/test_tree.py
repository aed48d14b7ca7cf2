"""What is claimed about trees is computed again here, node by node, from sets of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenwood import DecisionTreeClassifier, DecisionTreeRegressor, verify
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, ERROR, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.types import Target
from eigenwood.proofs.tree import (
    below,
    bins_claim,
    bounds_of,
    broken_orders,
    leaf_of_rows,
    mean_loss,
    node_numbers,
    off_the_middle,
    tree_certificate,
    weighted_median,
)

CLASSES = {"gini": GINI, "entropy": ENTROPY, "error": ERROR}
AMOUNTS = {"squared_error": SQUARED_ERROR, "absolute_error": ABSOLUTE_ERROR, "poisson": POISSON}


def rows(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, size=n_rows), rng.choice([0.5, 1.0, 2.5], size=n_rows)


def grown(criterion, n_outputs=1, seed=0):
    """Return a tree, its rows, and their target."""
    X, y, weights = rows(seed=seed)
    Y = np.column_stack([np.roll(y, i) for i in range(n_outputs)])
    if criterion in CLASSES:
        model = DecisionTreeClassifier(criterion=criterion, random_state=0, max_depth=4)
        target = Target(Y.astype(np.int32), np.empty((0, n_outputs)), weights, 3 * np.arange(n_outputs + 1))
    else:
        Y = Y + 0.5
        model = DecisionTreeRegressor(criterion=criterion, random_state=0, max_depth=4)
        target = Target(np.empty((0, n_outputs), dtype=np.int32), Y, weights, np.arange(n_outputs + 1))
    return model.fit(X, Y, sample_weight=weights), X, target


def rows_below(tree, leaves):
    """Return the rows of every node, by going up from their leaves."""
    parent = {int(child): node for node in range(tree.left.size) for child in (tree.left[node], tree.right[node])}
    own = [[] for _ in range(tree.left.size)]
    for row, node in enumerate(leaves.tolist()):
        while node is not None:
            own[node].append(row)
            node = parent.get(node)
    return own


def impurity(criterion, target, own, output):
    weights = target.weights[own] / target.weights[own].sum()
    if criterion in CLASSES.values():
        shares = np.array([weights[target.class_codes[own, output] == k].sum() for k in range(3)])
        shares = shares[shares > 0]
        return {
            GINI: 1 - (shares**2).sum(),
            ENTROPY: -(shares * np.log2(shares)).sum(),
            ERROR: 1 - shares.max(),
        }[criterion]
    y = target.y[own, output]
    mean = weights @ y
    if criterion == SQUARED_ERROR:
        return weights @ (y - mean) ** 2
    if criterion == POISSON:
        return weights @ (y * np.log(y / mean))
    return min(weights @ np.abs(y - middle) for middle in y)


def certificate_of(tree, leaves, target, criterion, pruning=None):
    numbers = node_numbers(tree, leaves, target, criterion)
    return tree_certificate(tree, numbers, leaves, target, criterion, n_binned=0, monotonic_cst=None, pruning=pruning)


# ---------------------------------------------------------------------------------- node by node


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", [*CLASSES, *AMOUNTS])
def test_the_numbers_of_every_node(criterion, n_outputs):
    model, X, target = grown(criterion, n_outputs)
    code, tree = {**CLASSES, **AMOUNTS}[criterion], model.nodes_
    leaves = leaf_of_rows(tree, X)
    numbers = node_numbers(tree, leaves, target, code)
    for node, own in enumerate(rows_below(tree, leaves)):
        assert numbers.n_rows[node] == len(own) == tree.n_rows[node]
        assert numbers.weight[node] == pytest.approx(target.weights[own].sum())
        expected = np.mean([impurity(code, target, own, output) for output in range(n_outputs)])
        assert numbers.impurity[node] == pytest.approx(expected, abs=1e-12)
        assert tree.impurity[node] == pytest.approx(expected, abs=1e-12)
    assert numbers.value_error < 1e-12


@pytest.mark.parametrize("criterion", [*CLASSES, *AMOUNTS])
def test_all_claims_hold(criterion):
    for seed in range(5):
        model, X, target = grown(criterion, seed=seed)
        code = {**CLASSES, **AMOUNTS}[criterion]
        leaves = leaf_of_rows(model.nodes_, X)
        certificate = certificate_of(model.nodes_, leaves, target, code)
        assert certificate.holds
        loss = "training error" if criterion in CLASSES else "training loss"
        assert [claim.name for claim in certificate] == ["rows", "values", "impurity", "gain", loss, "quantile bins"]


def test_what_ends_below_a_node():
    model, X, _ = grown("gini")
    leaves, amounts = model.apply(X), np.arange(1.0, len(X) + 1.0)
    visited = model.decision_path(X).toarray().astype(bool)
    assert_allclose(below(model.nodes_, leaves, amounts), [amounts[rows].sum() for rows in visited.T], rtol=1e-12)
    alone = DecisionTreeClassifier().fit([[0.0]], [1])
    assert below(alone.nodes_, np.zeros(3, dtype=int), np.ones(3)).tolist() == [3.0]


def test_light_rows_are_not_lost_beside_heavy_ones():
    """Running totals would lose them: 1e30 + 1 - 1e30 is 0."""
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0], sample_weight=[1e30, 1.0, 1e-30])
    leaves = model.apply([[0.0], [1.0], [2.0]])
    sums = below(model.nodes_, leaves, np.array([1e30, 1.0, 1e-30]))
    assert sorted(sums[leaves]) == [1e-30, 1.0, 1e30]
    assert model.certificate_.holds


# ---------------------------------------------------------------------------------- where rows end


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, np.float32])
def test_the_questions_asked_again_lead_to_the_same_leaves(layout):
    X, y, _ = rows(300)
    given = layout(X)
    model = DecisionTreeClassifier(random_state=0).fit(given, y)
    np.testing.assert_array_equal(leaf_of_rows(model.nodes_, given), model.apply(given))


@pytest.mark.parametrize("split", ["subset", "multiway"])
def test_categories_asked_again(split):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, size=(200, 2)).astype(float)
    y = (codes[:, 0] % 3 + codes[:, 1] % 2).astype(int)
    model = DecisionTreeClassifier(random_state=0, categorical_features=[0, 1], categorical_split=split).fit(codes, y)
    np.testing.assert_array_equal(leaf_of_rows(model.nodes_, codes), model.apply(codes))
    strangers = np.full((1, 2), -1.0)  # as the gate writes what was never seen
    np.testing.assert_array_equal(leaf_of_rows(model.nodes_, strangers), model.apply([[99.0, 99.0]]))


# ---------------------------------------------------------------------------------- losses


def test_the_loss_of_classes_is_the_share_of_wrong_ones():
    model, X, target = grown("gini", n_outputs=2)
    wrong = (model.predict(X) != target.class_codes).mean(axis=1)
    found = mean_loss(model.nodes_, leaf_of_rows(model.nodes_, X), target, GINI)
    assert found == pytest.approx(np.average(wrong, weights=target.weights))


@pytest.mark.parametrize(
    ("criterion", "loss"),
    [
        ("squared_error", lambda y, v: (y - v) ** 2),
        ("absolute_error", lambda y, v: abs(y - v)),
        ("poisson", lambda y, v: v - y + y * np.log(y / v)),
    ],
)
def test_the_loss_of_amounts_is_their_distance(criterion, loss):
    model, X, target = grown(criterion)
    expected = np.average(loss(target.y[:, 0], model.predict(X)), weights=target.weights)
    found = mean_loss(model.nodes_, leaf_of_rows(model.nodes_, X), target, AMOUNTS[criterion])
    assert found == pytest.approx(expected)


def test_the_loss_of_a_mean_of_zero():
    """0 for an amount of 0, infinite for any other; never NaN, which no claim can hold."""
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 3.0])
    leaves = model.apply([[0.0], [1.0]])
    no_labels = np.empty((0, 1), dtype=np.int32)
    for amounts, expected in (([0.0, 3.0], 0.0), ([1.0, 3.0], np.inf)):
        target = Target(no_labels, np.array(amounts)[:, None], np.empty(0), np.arange(2))
        with np.errstate(all="raise"):
            assert mean_loss(model.nodes_, leaves, target, POISSON) == expected


# ---------------------------------------------------------------------------------- medians


def test_any_median_will_do():
    weights = np.ones(4)
    amounts = np.array([1.0, 2.0, 4.0, 9.0])
    for middle in (2.0, 2.5, 3.0, 4.0):
        assert off_the_middle(amounts - middle, weights) == 0.0
    assert off_the_middle(amounts - 1.5, weights) == 0.25
    assert off_the_middle(amounts - 9.5, weights) == 0.5
    assert weighted_median(amounts, weights) == 3.0
    assert weighted_median(amounts, np.array([10.0, 1, 1, 1])) == 1.0
    assert weighted_median(amounts[:2], np.array([0.1 + 0.2, 0.3])) == 1.5  # equal, but for rounding


@pytest.mark.parametrize("seed", range(10))
def test_medians_of_weights_that_are_no_sums_of_halves(seed):
    """0.1 + 0.2 is not 0.3: which of two medians is found is a matter of rounding, and none is wrong."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)).round(1), rng.normal(size=60).round(1)
    weights = rng.choice([0.1, 0.2, 0.3], size=60)
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=4).fit(X, y, sample_weight=weights)
    assert model.certificate_.holds
    order = rng.permutation(60)
    assert verify(model, X[order], y[order], weights[order]).holds


def test_a_value_that_is_no_median_is_seen():
    model, X, target = grown("absolute_error")
    value = model.nodes_.value.copy()
    value[0] += 5.0
    numbers = node_numbers(model.nodes_._replace(value=value), leaf_of_rows(model.nodes_, X), target, ABSOLUTE_ERROR)
    assert numbers.value_error == pytest.approx(0.5)


# ---------------------------------------------------------------------------------- single claims


def test_columns_in_bins_are_counted():
    assert bins_claim(0).statement == "columns in bins: the search over thresholds was exact"
    assert (bins_claim(3).value, bins_claim(3).holds) == (3.0, True)
    assert "quantile bins" in bins_claim(3).statement


def certificate_with(pruning):
    model, X, target = grown("gini")
    leaves = leaf_of_rows(model.nodes_, X)
    return certificate_of(model.nodes_, leaves, target, GINI, pruning)


def test_pruning_must_not_make_it_worse():
    assert certificate_with((0.25, 0.2))["validation error"].holds
    assert certificate_with((0.25, 0.25 + 1e-15))["validation error"].holds  # rounding
    assert not certificate_with((0.25, 0.2500001)).holds
    assert certificate_with((0.0, 0.0))["validation error"].holds
    assert not certificate_with((0.0, 1e-3)).holds


def test_a_question_that_gains_nothing_may_be_asked_one_that_loses_may_not():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]  # no first question helps
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert model.get_n_leaves() == 4
    assert model.certificate_["gain"].value == pytest.approx(0.0)
    assert model.certificate_.holds


# ---------------------------------------------------------------------------------- monotonic constraints


def bounded_model(criterion, seed=0):
    """Return a tree with constraints that clip some of its values, and its rows and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)).round(1)
    if criterion in CLASSES:
        y, kind = (X[:, 0] + rng.normal(size=200) > 0).astype(int), DecisionTreeClassifier
    else:
        y, kind = np.exp(X[:, 0] + rng.normal(size=200)), DecisionTreeRegressor
    return kind(criterion=criterion, random_state=0, monotonic_cst=[1, 0, -1]).fit(X, y), X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", [*CLASSES, *AMOUNTS])
def test_values_clipped_by_constraints_are_found_again(criterion, seed):
    model, X, y = bounded_model(criterion, seed)
    free = type(model)(criterion=criterion, random_state=0).fit(X, y)
    assert broken_orders(free.nodes_, model.monotonic_cst) > 0
    assert broken_orders(model.nodes_, model.monotonic_cst) == 0
    assert model.certificate_.holds
    assert verify(model, X, y).holds


@pytest.mark.parametrize("criterion", [*CLASSES, *AMOUNTS])
def test_constraints_switch_no_check_off(criterion):
    model, X, y = bounded_model(criterion)
    value = model.nodes_.value.copy()
    value[-1] = value[-1][::-1] if criterion in CLASSES else 1.5 * value[-1] + 1.0
    model.nodes_ = model.nodes_._replace(value=value)
    assert not verify(model, X, y)["values"].holds
    free = type(model)(criterion=criterion, random_state=0).fit(X, y)
    free.monotonic_cst = [1, 0, -1]
    assert not verify(free, X, y)["order"].holds
    assert not verify(free, X, y)["values"].holds


def test_bounds_follow_from_the_questions_above():
    model = DecisionTreeRegressor(max_depth=2).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 5.0, 8.0])
    lower, upper = bounds_of(model.nodes_, [1], model.nodes_.value[:, 0])  # means 4, 1.5, 1, 2, 6.5, 5, 8
    assert lower.tolist() == [-np.inf, -np.inf, -np.inf, 1.5, 4.0, 4.0, 6.5]
    assert upper.tolist() == [np.inf, 4.0, 1.5, 4.0, np.inf, 6.5, np.inf]
    falling = bounds_of(model.nodes_, [-1], model.nodes_.value[:, 0])
    assert (falling[1][4], falling[0][1]) == (4.0, 4.0)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, 1e12])
def test_amounts_far_from_zero(offset, criterion):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), offset + rng.integers(-64, 65, size=200) / 64.0
    model = DecisionTreeRegressor(criterion=criterion, random_state=0).fit(X, y)
    middle = np.mean if criterion == "squared_error" else np.median
    distances = (y - offset) - middle(y - offset)  # the amounts are exact, also far from zero
    power = 2 if criterion == "squared_error" else 1
    assert model.nodes_.impurity[0] == pytest.approx((np.abs(distances) ** power).mean(), rel=1e-9)
    assert model.predict(X) == pytest.approx(y, rel=1e-15)
    assert model.certificate_.holds
    assert verify(model, X, y).holds


def test_a_frame_is_verified_by_its_words():
    frame = pd.DataFrame({"c": ["a", "b", "c", None] * 10, "n": np.arange(40) % 3})
    y = np.where(frame["c"].isin(["a", "c"]), "x", "y")
    model = DecisionTreeClassifier(random_state=0).fit(frame, y)
    assert verify(model, frame, y).holds
    other = frame.assign(c=frame["c"].replace({"a": "b", "b": "a"}))
    assert not verify(model, other, y).holds
