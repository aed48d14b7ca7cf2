"""Rounds: Newton's steps from exact sums, the same bits for any threads and any order, and what rules promise."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.boosting.histogram import NARROW_ROWS
from eigenwood.core.boosting.rounds import BoostingRun
from eigenwood.core.boosting.types import N_ROWS as NODE_ROWS
from eigenwood.core.crew import taken_task
from tests.core.boosting.cases import (
    LOSSES,
    NONE,
    boost,
    new_run,
    predicted,
    same_bits,
    split_rows,
    table_of,
)
from tests.naive import boosting as naive

COMPILED = not config.DISABLE_JIT
N_ROWS = 20_000 if COMPILED else 160  # more than a block of rows, and jobs that are shared
ALL_LOSSES = [loss for loss in LOSSES if loss != "custom"]


def data(n_rows, loss="squared", seed=0):
    """Return columns of all kinds, and amounts or classes that follow from some of them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 3)), rng.integers(5, size=n_rows), rng.random((n_rows, 4)) < 0.04])
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    signal = X[:, 0] + np.where(np.isnan(X[:, 1]), 1.0, np.abs(X[:, 1])) + (X[:, 3] % 2) + 0.3 * rng.normal(size=n_rows)
    if loss in ("logistic", "exponential"):
        return X, (signal > 1.5).astype(float)
    if loss == "softmax":
        return X, np.digitize(signal, [1.0, 2.0]).astype(float)
    return X, np.floor(np.exp(0.5 * signal)) if loss == "poisson" else signal


def settings_of(loss, **others):
    outputs = {"softmax": 3}.get(loss, 1)
    return {"n_outputs": outputs, "learning_rate": 0.3, "max_leaves": 12, "min_hessian": 1e-3, **others}


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_leaves_are_newtons_steps_or_order_statistics_and_losses_fall(loss):
    """Round by round, from the gradients of plain loops: whatever was rounded to choose splits, leaves are exact."""
    X, y = data(150, loss)
    y = 100.0 * y if loss in ("squared", "absolute", "huber", "quantile") else y
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=150)
    settings = settings_of(loss, weights=weights, alpha=0.4, l2=0.5, min_samples_leaf=3)
    found = boost(X, y, loss, 1, categories=(3,), **settings)
    scores = found.scores - predicted(found, X, categories=(3,))
    for number, root in enumerate(found.roots):
        delta = naive.quantile(np.abs(y - scores[0]).tolist(), weights.tolist(), 0.4)
        for node, feature, rows in split_rows(found.trees, X, int(root), categories=(3,)):
            if feature >= 0:
                continue
            w = weights[rows]
            if loss == "softmax":
                slopes, curves = np.transpose(
                    [naive.softmax_derivatives(y[i], scores[:, i].tolist(), number) for i in rows]
                )
                expected, rtol = -(w @ slopes) / (w @ curves + 0.5), 1e-5
            else:
                own = scores[0, rows].tolist()
                if loss == "exponential":
                    g = np.array([naive.gradient(loss, y[i], s) for i, s in zip(rows, own, strict=True)])
                    expected, rtol = -(w @ g) / (w @ np.abs(g) + 0.5), 1e-9
                else:
                    expected = naive.leaf_value(loss, y[rows], own, w.tolist(), 0.5, 0.4, delta)
                    rtol = 1e-9
            assert_allclose(found.trees.value[node, 0], 0.3 * expected, rtol=rtol, atol=1e-10)
            assert_allclose(found.trees.weight[node], w.sum(), rtol=1e-12)
    assert found.losses[-1, 0] < found.losses[0, 0]


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_any_number_of_threads_gives_the_same_bits(loss):
    n_rows = N_ROWS if loss in ("squared", "logistic", "softmax", "quantile") else N_ROWS // 4
    X, y = data(n_rows, loss)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=n_rows) if loss in ("absolute", "poisson") else NONE
    settings = settings_of(loss, weights=weights, n_train=n_rows * 9 // 10, min_samples_leaf=5)
    if loss == "quantile":
        settings |= {"n_outputs": 2, "alphas": [0.2, 0.8]}
    n_rounds = 1 if loss == "huber" else 3
    one = boost(X, y, loss, n_rounds, categories=(3,), **settings)
    assert one.nodes.start[-1] > 3 * len(one.roots)
    for n_threads in (2, 3):
        same_bits(one, boost(X, y, loss, n_rounds, categories=(3,), n_threads=n_threads, **settings))


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "absolute"])
def test_scores_are_those_of_the_trees_also_of_rows_for_validation(loss):
    X, y = data(200, loss)
    X[190:, 2] = np.nan  # which no row for training misses
    found = boost(X, y, loss, 3, categories=(3,), **settings_of(loss, n_train=150))
    begun = boost(X, y, loss, 0, categories=(3,), **settings_of(loss, n_train=150)).scores
    assert_allclose(found.scores, begun + predicted(found, X, categories=(3,)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["in one call", "in three"])
def test_rounds_may_come_in_several_calls(how):
    X, y = data(200)
    found = boost(X, y, n_rounds=0, **settings_of("squared"))
    parts = [found.run.go_on(0, 3)] if how == "in one call" else [found.run.go_on(t, 1) for t in range(3)]
    values = np.concatenate([nodes.real for nodes, _ in parts])
    whole = boost(X, y, n_rounds=3, **settings_of("squared"))
    assert values.tobytes() == whole.nodes.real.tobytes()
    assert np.vstack([losses for _, losses in parts]).tobytes() == whole.losses[1:].tobytes()


@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute"])
def test_the_order_of_rows_does_not_matter(loss):
    X, y = data(400, loss)
    order = np.random.default_rng(3).permutation(400)
    one = boost(X, y, loss, 3, categories=(3,), **settings_of(loss))
    other = boost(X[order], y[order], loss, 3, categories=(3,), **settings_of(loss))
    assert_array_equal(one.nodes.whole, other.nodes.whole)
    assert_allclose(one.scores[:, order], other.scores, rtol=1e-10)


@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute", "softmax"])
def test_weights_that_are_counts_are_repeated_rows(loss):
    X, y = data(200, loss)
    counts = np.random.default_rng(4).integers(1, 4, size=200)
    settings = settings_of(loss, min_samples_leaf=4)
    again = np.repeat(np.arange(200), counts)
    one = boost(X, y, loss, 3, categories=(3,), weights=counts.astype(float), repeats=True, **settings)
    other = boost(X[again], y[again], loss, 3, categories=(3,), **settings)
    assert_array_equal(one.nodes.whole, other.nodes.whole)
    assert_allclose(one.scores[:, again], other.scores, rtol=1e-10)
    assert_allclose(one.losses, other.losses, rtol=1e-12)


def test_columns_that_are_shared_give_the_trees_of_columns_that_are_not():
    rng = np.random.default_rng(5)
    n_rows, n_features = 300, 20
    groups = rng.integers(n_features + 5, size=n_rows)
    X = (groups[:, None] == np.arange(n_features)) * rng.integers(1, 4, size=(n_rows, 1)).astype(float)
    y = rng.normal(size=n_features + 5)[groups] + 0.1 * rng.normal(size=n_rows)
    shared, cuts, counts = table_of(X)
    assert shared.bin_start.size == 2
    codes = np.zeros((-(-n_features // 8), n_rows), dtype=np.uint64)
    for j in range(n_features):
        own = np.searchsorted(cuts.cuts[cuts.start[j] : cuts.start[j + 1] - 1], X[:, j])
        codes[j // 8] |= own.astype(np.uint64) << np.uint64(8 * (j % 8))
    alone = shared._replace(
        codes=codes,
        bin_start=16 * np.arange(n_features + 1),
        column=np.arange(n_features),
        features=np.arange(n_features),
        feature_start=np.array([0, 8, 16, 20]),
        first_code=np.zeros(n_features, dtype=np.int64),
        common=np.full(n_features, -1),
    )
    found = []
    for table in (shared, alone):
        run = new_run(table, y, "squared", max_leaves=20)
        run.start(np.zeros((1, n_rows)))
        found.append(run.go_on(0, 4)[0])
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", range(2))
def test_least_squares_never_rise(seed):
    X, y = data(120, seed=seed)
    found = boost(X, y, n_rounds=8, categories=(3,), **settings_of("squared", max_leaves=30, seed=np.uint64(seed)))
    assert (np.diff(found.losses[:, 0]) <= 1e-15).all()
    assert found.losses[-1, 0] < 0.2 * found.losses[0, 0]


def test_scores_are_those_of_plain_loops():
    """Clear steps on a grid, so that no rounding can choose another split."""
    X = np.indices((6, 5)).reshape(2, -1).T.astype(float)
    y = 50.0 * (X[:, 0] > 2) + 20.0 * (X[:, 1] > 1) + 7.0 * (X[:, 0] > 0) * (X[:, 1] > 3)
    rules = naive.Rules(max_leaves=4, learning_rate=0.5)
    expected = naive.boosted_squares(X, y, 6, rules)
    found = boost(X, y, n_rounds=6, max_leaves=4, learning_rate=0.5, scale_bits=13)
    assert_allclose(found.scores[0], expected[-1], rtol=1e-9)
    means = [0.5 * np.mean((np.array(scores) - y) ** 2) for scores in expected]
    assert_allclose(found.losses[1:, 0], means, rtol=1e-9)


def steps_of(found, rows, feature):
    """Return by how much predictions rise where a feature of some rows does, step by step."""
    values = np.linspace(-3.0, 3.0, 41)
    rising = np.repeat(rows, values.size, axis=0)
    rising[:, feature] = np.tile(values, len(rows))
    return np.diff(predicted(found, rising)[0].reshape(len(rows), -1), axis=1)


@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute", "quantile", "huber"])
def test_predictions_are_monotone(loss):
    rng = np.random.default_rng(6)
    X = np.round(rng.normal(size=(250, 3)), 1)
    y = X[:, 0] - X[:, 1] + 2.0 * np.sin(3.0 * X[:, 2]) + 2.0 * rng.normal(size=250)
    y = (y > 0).astype(float) if loss == "logistic" else y
    settings = settings_of(loss, max_leaves=30, learning_rate=1.0, alpha=0.7)
    found = boost(X, y, loss, 1 if loss == "huber" else 3, monotonic_cst=(1, -1, 0), **settings)
    free = boost(X, y, loss, 1, **settings)
    for f, sign in ((0, 1), (1, -1)):
        assert (sign * steps_of(found, X[:12], f) >= -1e-12).all()
        assert (sign * steps_of(found, X[:12], f) > 0.0).any()
        assert (sign * steps_of(free, X[:12], f) < 0.0).any()  # noise, if nothing holds it


def test_drawn_rows_are_as_many_as_wanted_and_each_as_likely():
    X, n_rounds = np.arange(40.0)[:, None], 300 if COMPILED else 60
    found = boost(X, np.arange(40.0), n_rounds=0, max_leaves=3, n_drawn=10)
    times = np.zeros(40)
    for t in range(n_rounds):
        nodes, _ = found.run.go_on(t, 1)
        own = found.run.drawn_rows(nodes)
        assert nodes.whole[0, 5] == own.size == np.unique(own).size == 10
        times[own] += 1
    deviation = np.sqrt(n_rounds * 0.25 * 0.75)
    assert np.abs(times - 0.25 * n_rounds).max() < 4.5 * deviation


@pytest.mark.parametrize("best_first", [True, False])
def test_all_trees_of_a_round_have_the_same_drawn_rows(best_first):
    X, y = data(90, "softmax")
    found = boost(X, y, "softmax", 0, n_outputs=3, n_drawn=30, max_leaves=9, best_first=best_first)
    for t in range(3):
        nodes, _ = found.run.go_on(t, 1)
        own = found.run.drawn_rows(nodes)  # of the last class
        assert own.size == np.unique(own).size == 30
        assert_array_equal(nodes.whole[nodes.start[:-1], 5], 30)
        whole = boost(X, y, "softmax", 0, n_outputs=3, n_drawn=30, max_leaves=1)
        first, _ = whole.run.go_on(t, 1)
        assert_array_equal(own, whole.run.drawn_rows(first))


@pytest.mark.skipif(not COMPILED, reason="more rows than a block has")
@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_equal_values_with_weights_in_any_order_give_the_same_bits(loss):
    rng = np.random.default_rng(8)
    X, y, weights = (rng.random((40_000, 1)) < 0.9) * 1.0, rng.integers(3, size=40_000), rng.random(40_000)
    settings = {"weights": weights, "max_leaves": 2, "alpha": 0.4}
    one = boost(X, y, loss, 1, **settings)
    same_bits(one, boost(X, y, loss, 1, n_threads=2, **settings))


@pytest.mark.parametrize("groups", [(), ((0, 1, 2, 3), (4, 5))], ids=["any", "groups"])
def test_drawn_features_are_as_many_as_wanted_and_each_as_likely(groups):
    """Each of eight features says the same of the rows, so that the first one drawn is asked about."""
    X, n_trees = np.repeat(np.arange(6.0)[:, None], 8, axis=1), 400 if COMPILED else 80
    table, _, _ = table_of(X)
    asked = np.zeros(8)
    for seed in range(n_trees // 20):
        run = new_run(table, X[:, 0], "squared", max_leaves=2, max_features=2, groups=groups, seed=np.uint64(seed + 9))
        run.start(np.zeros((1, 6)))
        nodes, _ = run.go_on(0, 20)
        asked += np.bincount(nodes.whole[nodes.whole[:, 0] > 0, 2], minlength=8)
    n = 6 if groups else 8
    chance = np.array([(n - 1 - f) / (n * (n - 1) / 2) if f < n else 0.0 for f in range(8)])  # the lower of two
    deviation = np.sqrt(n_trees * chance * (1.0 - chance))
    assert (np.abs(asked - asked.sum() * chance) <= 4.5 * deviation).all()
    assert asked.sum() == n_trees


@pytest.mark.parametrize("loss", ["poisson", "logistic", "exponential"])
def test_newtons_steps_are_not_too_long(loss):
    """All rows are confidently wrong: the step would be thousands."""
    y = np.full(20, 1000.0 if loss == "poisson" else 1.0)
    found = boost(np.zeros((20, 1)), y, loss, base=-9.0)
    assert_allclose(found.scores, -9.0 + (1.0 if loss == "exponential" else 4.0))


def test_a_custom_loss_is_followed_round_by_round():
    X, y = data(150)
    own = new_run(table_of(X)[0], y, "custom", learning_rate=0.3, max_leaves=8)
    own.start(np.zeros((1, 150)))
    squared = boost(X, y, n_rounds=3, base=0.0, learning_rate=0.3, max_leaves=8)
    for t in range(3):
        own.follow(own.work.rows.scores[0] - y, np.ones(150))
        own.go_on(t, 1)
    assert_allclose(own.work.rows.scores, squared.scores, rtol=0.2, atol=0.2 * np.abs(y).max())
    assert 0.5 * np.mean((own.work.rows.scores - y) ** 2) < 1.1 * squared.losses[-1, 0]


def test_helpers_that_never_come_are_not_missed(monkeypatch):
    from contextlib import nullcontext

    X, y = data(N_ROWS // 4)
    expected = boost(X, y, n_rounds=2, n_threads=3, **settings_of("squared"))
    monkeypatch.setattr("eigenwood.core.crew.helped", lambda work, n_helpers: nullcontext())
    same_bits(expected, boost(X, y, n_rounds=2, n_threads=3, **settings_of("squared")))


def test_runs_side_by_side_do_not_meet():
    from concurrent.futures import ThreadPoolExecutor

    X, y = data(N_ROWS // 4)
    alone = [boost(X, y, n_rounds=2, **settings_of("squared", seed=np.uint64(seed))) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        together = list(
            pool.map(
                lambda seed: boost(X, y, n_rounds=2, n_threads=2, **settings_of("squared", seed=np.uint64(seed))),
                range(3),
            )
        )
    for one, other in zip(alone, together, strict=True):
        same_bits(one, other)


def test_a_run_has_room_for_no_more_leaves_than_there_can_be():
    table, _, _ = table_of(np.arange(10.0)[:, None])

    def room(**params):
        run = new_run(table, np.arange(10.0), "squared", **{"max_leaves": 1 << 40, **params})
        assert isinstance(run, BoostingRun)
        return run.work.leaves.whole.shape[0]

    assert (room(), room(max_depth=2), room(min_samples_leaf=3), room(max_leaves=5)) == (10, 4, 3, 5)
    assert room(min_samples_leaf=11) == 1


def test_a_helper_without_memory_ends_the_rounds_with_its_error(monkeypatch):
    """As a leaf's value asks for memory, a task of any helper can fail; the leader must not wait for it."""

    def fail(work, thread):
        if taken_task(work.job.crew, thread) >= 0:
            raise MemoryError("for a leaf")

    monkeypatch.setattr("eigenwood.core.boosting.rounds.help_boosting", fail)
    monkeypatch.setattr("eigenwood.core.boosting.tasks.WORTH_SHARING", 0)  # without the JIT no job takes long
    X, y = data(N_ROWS)
    with pytest.raises(MemoryError, match="for a leaf"):  # many rounds, as a helper may come late
        boost(X, y, n_rounds=3000 if COMPILED else 20, n_threads=2, **settings_of("squared"))


def test_missing_numbers_are_counted_beside_all_others_in_nodes_of_any_size():
    """Behind the last bin stands the total; with the missing ones that is more rows than the node has."""
    n_rows = 4 * NARROW_ROWS if COMPILED else 300
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, 2))
    X[rng.random(n_rows) < 0.4, 0] = np.nan
    found = boost(X, (X[:, 1] > 0).astype(float), n_rounds=1, **settings_of("logistic", max_leaves=40))
    assert found.nodes.whole[:, NODE_ROWS].min() > 0
