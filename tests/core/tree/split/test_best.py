"""The best question of one node, whichever way its columns are looked at."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.bits import add_member, is_member
from eigenwood.core.tree.split.candidates import NOTHING_DRAWN, band_for, make_draw, write_drawn
from eigenwood.core.tree.split.gap import sparse_range
from eigenwood.core.tree.split.histogram import write_groups
from tests.core.tree import cases
from tests.core.tree.roots import SHARES, STORAGES, assert_clean, moved, root_of, split_of, table, workspace_of
from tests.naive import tree as naive


def about(feature, equal):
    """Return the question about a feature, which must be one of those that are equally good."""
    (question,) = [question for question in equal if question.feature == feature]
    return question


# ---- the best question -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_equals_the_textbook(criterion, weighted, storage):
    rules = naive.Rules(criterion, max_depth=1)
    for seed in range(6):
        data = table(seed, criterion, weighted=weighted, n_classes=(2,) if seed % 2 else (7,))
        root = root_of(data, rules, **storage)
        split, order, ws = split_of(root, data, rules)
        assert_clean(ws)
        expected = naive.grow(data, rules, choose=lambda node, equal, asked=split.feature: about(asked, equal))
        if expected.question is None:
            assert split.candidate < 0 or expected.impurity == 0.0
            continue
        decrease = (root.stats.cost - split.cost) / data.weights.sum()
        assert_allclose(decrease, expected.decrease, rtol=1e-9, atol=1e-13)
        rows = np.arange(len(data.X), dtype=np.int32)
        n_left = moved(root, rows, split, order)
        assert [rows[:n_left].tolist(), rows[n_left:].tolist()] == [child.rows for child in expected.children]


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
def test_no_subset_of_the_categories_is_better(criterion, rare_share):
    rules = naive.Rules(criterion, max_depth=1)
    for seed in range(6):
        data = table(seed, criterion, weighted=seed % 2 == 0, tied_targets=False)
        X, _ = cases.with_categories(np.random.default_rng(seed), data.X[:, :0])
        data = data._replace(X=X, categories=(0, 1))
        expected, root = naive.grow(data, rules), root_of(data, rules, rare_share=rare_share)
        split, _, ws = split_of(root, data, rules)
        assert_clean(ws)
        if expected.question is not None:
            decrease = (root.stats.cost - split.cost) / data.weights.sum()
            assert_allclose(decrease, expected.decrease, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("n_rows", [12, 40])
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_light_rows_beside_a_heavy_one_are_told_apart(criterion, n_rows):
    rules = naive.Rules(criterion)
    for seed in range(5):
        data = cases.table(seed, criterion, n_rows=n_rows, kinds=(cases.dense,), n_features=3, tied_targets=False)
        heavy = np.where(np.arange(n_rows) == 3, 1e9, 1.0)
        data = data._replace(weights=heavy * cases.weights(np.random.default_rng(seed), n_rows))
        root, rows = root_of(data, rules), list(range(n_rows))
        split, order, _ = split_of(root, data, rules)
        there = np.arange(n_rows, dtype=np.int32)
        n_left = moved(root, there, split, order)

        node = naive.new_node(data, rows, (), (-np.inf, np.inf), rules, naive.first)
        best = naive.answered(data, rows, node.question)
        least, found = (
            sum(data.weights[part].sum() * naive.impurity(data, part, rules) for part in parts)
            for parts in (best, (there[:n_left], there[n_left:]))
        )
        assert found <= least + 1e-5 * node.weight * node.impurity


# ---- few features, random cuts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rare_share", SHARES)
def test_each_feature_gets_its_turn_when_few_are_tried(rare_share):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [cases.tied(rng, 30), cases.rare_counts(rng, 30), cases.constant(rng, 30), cases.dense(rng, 30)]
    )
    data, rules = naive.Data(X.astype(float), cases.class_codes(rng, 30, (2,)), np.ones(30), (2,)), naive.Rules("gini")
    asked = [
        split_of(root_of(data, rules, seed, max_features=1, rare_share=rare_share), data, rules)[0].feature
        for seed in range(150)
    ]
    counts = np.bincount(asked, minlength=4)
    assert counts[2] == 0  # a constant is not a turn
    assert counts[[0, 1, 3]].min() > 30


def test_with_two_tries_the_better_feature_wins_more_often():
    rng = np.random.default_rng(0)
    y = cases.class_codes(rng, 40, (2,))
    X = np.column_stack([rng.normal(size=40), y[:, 0] + 0.1 * rng.normal(size=40), rng.normal(size=40)])
    data, rules = naive.Data(X, y, np.ones(40), (2,)), naive.Rules("gini")
    asked = [split_of(root_of(data, rules, seed, max_features=2), data, rules)[0].feature for seed in range(90)]
    assert 45 <= asked.count(1) <= 75  # two of three
    assert all(split_of(root_of(data, rules, seed), data, rules)[0].feature == 1 for seed in range(5))


@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_random_cuts_are_even_from_however_many_features_one_is_drawn(n_features):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(41) for _ in range(n_features)]).astype(float)
    data, rules = naive.Data(X, cases.class_codes(rng, 41, (2,)), np.ones(41), (2,)), naive.Rules("gini")
    places = [
        split_of(root_of(data, rules, seed, max_features=1, at_random=True), data, rules)[0].place
        for seed in range(200)
    ]
    assert 16 < np.mean(places) < 23  # of 0 to 39
    assert np.percentile(places, 10) < 10
    assert np.percentile(places, 90) > 29


@pytest.mark.parametrize("missing_left", [0, 1])
def test_at_random_missing_values_go_both_ways(missing_left):
    data = naive.Data(np.array([[0.0], [1.0], [2.0], [np.nan]]), np.array([[0], [1], [0], [1]]), np.ones(4), (2,))
    rules = naive.Rules("gini")
    sides = [split_of(root_of(data, rules, seed, at_random=True), data, rules)[0].missing_left for seed in range(40)]
    assert 10 <= sides.count(missing_left) <= 30


# ---- between equals ----------------------------------------------------------------------------------------------


def test_between_equal_features_a_draw_decides_whatever_their_storage():
    column = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    data = naive.Data(np.column_stack([column] * 3), column[:, None].astype(int), np.ones(7), (2,))
    rules = naive.Rules("gini")
    asked = [
        [split_of(root_of(data, rules, seed, **storage), data, rules)[0].feature for seed in range(60)]
        for storage in STORAGES
    ]
    assert asked[1:] == asked[:-1]
    assert np.bincount(asked[0]).min() >= 8


def asked_of(columns, y, criterion, storage, n_seeds=60):
    """Return which feature is asked first for each seed."""
    classes = (2,) if criterion in ("gini", "entropy", "error") else ()
    y = np.asarray(y)[:, None] if classes else 1.0 + np.asarray(y, dtype=float)[:, None]
    data = naive.Data(np.column_stack(columns).astype(float), y, np.ones(len(y)), classes)
    rules = naive.Rules(criterion)
    return [split_of(root_of(data, rules, seed, **storage), data, rules)[0].feature for seed in range(n_seeds)]


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_of_columns_that_tell_classes_apart_the_widest_gap_is_asked(criterion, storage):
    y = np.array([0, 0, 0, 1, 1])
    near, far = np.array([0, 1, 3, 4, 6]), np.array([0, 0, 0, 6, 6])  # of the way: one rank in four, and all of it
    assert set(asked_of([near, far], y, criterion, storage)) == {1}
    assert set(asked_of([far, near], y, criterion, storage)) == {0}


@pytest.mark.parametrize("storage", STORAGES, ids=str)
def test_the_way_is_that_within_the_node(storage):
    """In the left half the second column has few of its ranks, but all of them lie between the two sides."""
    rng = np.random.default_rng(0)
    n, side = 40, np.repeat([0.0, 1.0], 20)
    narrowed = np.concatenate([np.repeat([0.0, 1.0], 10), 2.0 + rng.permutation(20)])
    wide = np.concatenate([np.arange(10.0), np.arange(19.0, 29.0), 40.0 + rng.permutation(20)])
    y = np.concatenate([np.repeat([0, 1], 10), np.full(20, 2)])[:, None]
    data = naive.Data(np.column_stack([side, narrowed, wide]), y, np.ones(n), (3,))
    for seed in range(9):
        tree = cases.fit(data, naive.Rules("gini"), seed=seed, **storage)
        of_twenty = np.flatnonzero((tree.n_rows == 20) & (tree.left >= 0))
        assert tree.feature[of_twenty].tolist() == [1]


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_between_two_rows_a_draw_decides(criterion, storage):
    asked = asked_of([[0.0, 1.0], [5.0, 0.0]], [0, 1], criterion, storage)
    assert np.bincount(asked, minlength=2).min() >= 15


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
def test_where_more_questions_follow_a_draw_decides(criterion, storage):
    near, far = np.array([0, 1, 3, 4, 6]), np.array([0, 0, 0, 6, 6])
    asked = asked_of([near, far], [0, 0, 0, 5, 6], criterion, storage)
    assert np.bincount(asked, minlength=2).min() >= 15
    assert set(asked_of([near, far], [0, 0, 0, 5, 5], criterion, storage)) == {1}  # none follows


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("criterion", cases.CRITERIA)
def test_of_equal_cuts_the_first_is_taken(criterion, storage):
    """The rows read the same from both ends, so cuts come in equal pairs; three thirds do not add up to one."""
    column = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0])
    end, middle = np.array([1, 0, 2]), np.array([0, 1, 1])
    y = np.concatenate([end[:2], middle, end[2:], middle[::-1], end[1::-1]])
    for weight in (0.1, 0.3, 1.0 / 3.0, 0.7, 1.0):
        data = naive.Data(column[:, None], y[:, None], np.full(11, weight), (3,))
        if criterion in ("squared_error", "poisson", "absolute_error"):
            data = data._replace(y=1.1 + 0.1 * data.y, n_classes=())
        rules = naive.Rules(criterion, max_depth=1)
        root = root_of(data, rules, **storage)
        split, _, _ = split_of(root, data, rules)
        expected = naive.grow(data, rules).question.threshold
        assert split.below == int(expected)


# ---- short ways --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [(2,), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_the_short_ways_find_what_the_long_way_finds(criterion, rare_share, n_classes):
    short, long = naive.Rules(criterion), naive.Rules(criterion, min_weight_leaf=1e-9)
    for seed, n_rows in enumerate((2, 7, 20, 21, 50, 51)):
        data = cases.table(seed, criterion, n_rows=n_rows, weighted=seed % 2 == 0, n_classes=n_classes)
        here, there = (split_of(root_of(data, rules, rare_share=rare_share), data, rules) for rules in (short, long))
        # the place is that of a category, and nobody asks for it where there are numbers
        assert here[0]._replace(cost=0.0, place=0) == there[0]._replace(cost=0.0, place=0)
        assert_allclose(here[0].cost, there[0].cost, rtol=1e-9, atol=1e-12)
        assert_array_equal(here[1], there[1])


# ---- the draw ----------------------------------------------------------------------------------------------------


def drawn_features(data, seed, constant=(), **storage):
    """Return the features in the order in which they are drawn; some columns are known to be constant."""
    root = root_of(data, naive.Rules("gini"), **storage)
    ws, codes = workspace_of(root), root.codes
    n_columns, sparse_bins = codes.feature.size, np.arange(codes.sparse_feature.size)
    n_groups = write_groups(sparse_bins, sparse_bins.size, codes.sparse_feature, ws.sparse.group)
    for at in range(n_columns):
        if codes.feature[at] in constant:
            add_member(ws.constant, at)
    n = make_draw(
        ws.draw, ws.draw.sparse_keys, n_columns, n_groups, sparse_bins, ws.sparse.group, ws.constant, np.uint64(seed)
    )
    candidates = np.empty(n, dtype=np.int64)
    write_drawn(ws.draw, n_columns + n_groups, n, NOTHING_DRAWN, band_for(3, n), candidates)
    return [int(codes.feature[c] if c < n_columns else codes.sparse_feature[ws.sparse.group[c - n_columns]])
            for c in candidates]  # fmt: skip


def varied(n_features=9):
    """A table without constant columns, some of them thin."""
    rng = np.random.default_rng(0)
    X = np.column_stack([(cases.tied, cases.rare_counts)[j % 2](rng, 40) for j in range(n_features)])
    return naive.Data(X.astype(float), cases.class_codes(rng, 40, (2,)), np.ones(40), (2,))


def test_the_draw_is_a_permutation_that_does_not_depend_on_storage():
    data, seen = varied(), set()
    for seed in range(30):
        draws = [drawn_features(data, seed, **storage) for storage in (*STORAGES, {"rare_share": -1.0})]
        assert sorted(draws[0]) == list(range(9))
        assert all(draw == draws[0] for draw in draws)
        seen.add(tuple(draws[0]))
    assert len(seen) == 30


def test_every_place_in_the_draw_is_as_likely():
    data = varied(4)
    draws = np.array([drawn_features(data, seed) for seed in range(400)])
    for place in range(4):
        assert np.bincount(draws[:, place], minlength=4).min() > 60  # of 100


def test_constant_columns_are_left_out_of_the_draw_and_the_others_stay():
    data = varied()
    for seed in range(10):
        every = drawn_features(data, seed, rare_share=-1.0)
        some = drawn_features(data, seed, constant=(2, 7), rare_share=-1.0)
        assert some == [feature for feature in every if feature not in (2, 7)]


@pytest.mark.parametrize("max_features", [1, 2, 9])
def test_what_is_known_to_be_constant_is_not_looked_at_again(max_features):
    data, rules = varied(), naive.Rules("gini")
    data.X[:, [2, 7]] = 1.0
    for seed in range(10):
        root = root_of(data, rules, seed, max_features=max_features, rare_share=-1.0)
        found, _, ws = split_of(root, data, rules)
        for at in (2, 7):
            add_member(ws.constant, at)
        again, _, ws = split_of(root, data, rules, ws=ws)
        assert again == found
        assert_clean(ws)
        assert [is_member(ws.constant, at) for at in range(9)] == [at in (2, 7) for at in range(9)]


# ---- the way within a node ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_common", [0, 1, 2])
@pytest.mark.parametrize("common", range(5))
def test_the_common_value_counts_if_any_row_has_it(common, n_common):
    """Codes 1 and 3 have one and two rows, and 4 is that of missing numbers."""
    sparse_code, sums = np.array([1, 3, 4]), np.array([[1.0], [2.0], [2.0]])
    rare = np.flatnonzero(sparse_code != common)
    n_rows = int(sums[rare].sum()) + n_common
    numbers = {1, 3} - {common} | ({common} - {4} if n_common else set())
    found = sparse_range(rare, 0, rare.size, sparse_code, common, 4, sums, 0, n_rows)
    assert found == (min(numbers), max(numbers))
