"""Tables and gradients that nobody would choose: a right answer, or none, but never a hang and never a wrong place."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from tests.core.boosting.cases import boost, follow, new_run, predicted, table_of

COMPILED = not config.DISABLE_JIT


def n_nodes(found):
    return int(found.nodes.start[-1])


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", "poisson", "logistic", "exponential"])
def test_one_row(loss):
    found = boost(np.array([[3.0]]), [1.0], loss, 2)
    assert n_nodes(found) == 2
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
def test_rows_that_are_all_equal_stay_together(value):
    y = np.array([1.0, 2.0, 4.0])
    found = boost(np.full((3, 2), value), y, base=0.0)
    assert n_nodes(found) == 1
    assert_allclose(found.scores[0], y.mean())


@pytest.mark.parametrize("y", [0.0, 0.1, 1e300, 5e-324])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_amounts_that_are_all_equal_are_not_split(loss, y):
    found = boost(np.arange(10.0)[:, None], np.full(10, y), loss, 2)
    assert n_nodes(found) == 2
    assert_allclose(found.scores[0], y, rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("size", [1e-250, 1e-100, 1.0, 1e100, 1e250, 1e300])
def test_the_size_of_gradients_does_not_matter(size):
    rng = np.random.default_rng(0)
    X, g, h = rng.normal(size=(60, 2)), rng.normal(size=60), rng.uniform(0.5, 1.0, size=60)
    g, h = g / np.abs(g).max(), h / h.max()
    one, found = follow(X, g, h, max_leaves=5), follow(X, size * g, h, max_leaves=5)
    if 1e-150 < size < 1e150:  # squares of others are 0 or infinite, and so are gains
        assert_array_equal(found.nodes.whole[:, :5], one.nodes.whole[:, :5])
        assert_allclose(found.scores, size * one.scores, rtol=1e-9)
    assert np.isfinite(found.scores).all()
    found = follow(X, g, size * h, max_leaves=5, max_depth=2)
    if 1e-150 < size < 1e150:
        assert_allclose(found.scores * size, follow(X, g, h, max_leaves=5, max_depth=2).scores, rtol=1e-9)


def test_gradients_too_small_to_be_told_from_0_change_nothing():
    found = follow(np.arange(8.0)[:, None], np.full(8, 5e-324), np.ones(8))
    assert np.abs(found.scores).max() < 1e-300


@pytest.mark.skipif(not COMPILED, reason="Python refuses to make a whole number of them")
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["gradient", "hessian", "both"])
def test_gradients_that_are_no_numbers_end_and_are_seen(wrong, where):
    rng = np.random.default_rng(1)
    X, g, h = rng.normal(size=(500, 3)), rng.normal(size=500), np.ones(500)
    if where != "hessian":
        g[100] = wrong
    if where != "gradient":
        h[200] = wrong
    found = follow(X, g, h, max_leaves=9, n_threads=2)
    sides = found.nodes.whole[: n_nodes(found)]
    assert sides[sides[:, 0] < 0, 5].sum() == 500  # every row is in a leaf
    assert np.isnan(found.scores).all()


def test_hessians_of_0_are_no_side():
    """A cut that leaves nothing to divide by has no gain, and does not keep others from being made."""
    g = np.array([4095.0, -100.0, -100.0, 50.0, 50.0, -3.0])
    h = np.array([0.0, 10.0, 10.0, 4095.0, 10.0, 0.0])
    found = follow(np.arange(6.0)[:, None], g, h, max_leaves=4)
    assert n_nodes(found) >= 3
    assert np.isfinite(found.scores).all()
    assert np.isfinite(found.nodes.real[:, 2]).all()
    nothing = follow(np.arange(6.0)[:, None], g, np.zeros(6))
    assert n_nodes(nothing) == 1
    penalised = follow(np.arange(6.0)[:, None], g, np.zeros(6), l2=2.0, max_leaves=2)
    assert n_nodes(penalised) == 3
    assert_allclose(penalised.scores[0, 0], -4095.0 / 2.0)


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
def test_weights_of_any_size(loss):
    rng = np.random.default_rng(2)
    X, weights = rng.normal(size=(80, 2)), 10.0 ** rng.uniform(-9, 9, size=80)
    y = (X[:, 0] > 0).astype(float)
    found = boost(X, y, loss, 3, weights=weights, max_leaves=4)
    assert np.isfinite(found.scores).all()
    heavy = weights > 1e6
    assert np.abs(found.scores[0, heavy] - y[heavy]).max() < 0.6 if loss != "logistic" else True
    assert_allclose(found.trees.weight[found.roots], weights.sum(), rtol=1e-9)


def test_as_many_bins_as_a_byte_can_tell_apart():
    X = np.repeat(np.arange(255.0), 2)[:, None]
    y = (X[:, 0] > 253.5) * 1.0
    found = boost(X, y, max_leaves=2)
    assert found.table.n_bins[0] == 255
    assert found.trees.threshold[0] == 253.5
    X = np.vstack([X, [[np.nan]] * 2])
    found = boost(X, np.append(y, [5.0, 5.0]), max_leaves=3)
    assert (found.table.n_bins[0], found.table.missing[0]) == (256, 255)
    assert_allclose(found.scores[0, -3:], [1.0, 5.0, 5.0])


def test_more_categories_than_bins():
    X = np.arange(300.0)[:, None] % 300
    X = np.vstack([X, X[:200]])
    y = np.where(X[:, 0] % 7 == 0, 3.0, 0.0)
    found = boost(X, y, categories=(0,), max_leaves=2)
    frequent = X[:, 0] < 200  # others share a bin
    assert found.table.n_bins[0] == 255
    assert_allclose(found.scores[0, frequent & (y == 3.0)], 3.0, rtol=0.1)
    assert np.ptp(found.scores[0, frequent & (y == 0.0)]) < 1e-12
    assert_allclose(found.scores - y.mean(), predicted(found, X, (0,)), atol=1e-12)


def test_columns_that_say_nothing_are_not_asked():
    rng = np.random.default_rng(3)
    X = np.zeros((50, 41))
    X[:, 1:21] = np.nan
    X[:, 40] = rng.normal(size=50)
    found = boost(X, X[:, 40], max_leaves=50)
    assert found.table.bin_start.size - 1 <= 2  # columns: forty share one
    asked = found.nodes.whole[:, 2]
    assert set(asked[asked >= 0]) == {40}


@pytest.mark.parametrize("best_first", [True, False])
def test_more_leaves_than_rows(best_first):
    X = np.arange(30.0)[:, None]
    y = np.random.default_rng(4).normal(size=30)
    found = boost(X, y, max_leaves=1 << 40, best_first=best_first)
    assert n_nodes(found) == 59
    assert_allclose(found.scores[0], y, atol=1e-12)


@pytest.mark.parametrize("best_first", [True, False])
def test_histograms_that_are_not_kept_are_counted_again(best_first, monkeypatch):
    """With room for four histograms the trees are the same as with room for all."""
    from eigenwood.core.boosting import workspace

    rng = np.random.default_rng(5)
    X, y = rng.integers(9, size=(150, 3)).astype(float), rng.normal(size=150)
    expected = boost(X, y, n_rounds=2, best_first=best_first, max_leaves=40)
    monkeypatch.setattr(workspace, "HISTOGRAM_BYTES", 1)
    found = boost(X, y, n_rounds=2, best_first=best_first, max_leaves=40)
    assert found.run.work.histograms.slots.shape[0] == 4
    assert found.nodes.whole.tobytes() == expected.nodes.whole.tobytes()


def test_thousands_of_features():
    n_features = 5000 if COMPILED else 300
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, n_features))
    found = boost(X, X[:, n_features - 1] > 0, max_leaves=2, n_threads=2)
    assert n_nodes(found) == 3
    assert_allclose(found.scores[0], X[:, n_features - 1] > 0, atol=1e-12)
    drawn = boost(X, X[:, 7], max_leaves=2, max_features=n_features // 2)
    assert drawn.run.work.scan.is_drawn[0].sum() == n_features // 2


def test_no_rounds_are_no_nodes():
    run = new_run(table_of(np.zeros((3, 1)))[0], np.zeros(3), "squared")
    run.start(np.zeros((1, 3)))
    nodes, losses = run.go_on(0, 0)
    assert [part.shape[0] for part in nodes] == [0, 0, 0, 1]
    assert losses.shape == (0, 2)
