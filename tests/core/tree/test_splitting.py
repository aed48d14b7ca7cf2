"""The best question of one node: the sums, the order, the cut, and the rows on its two sides."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.tree.adding import (
    add_up_amounts,
    add_up_classes,
    add_up_slots,
    lines_of,
    ordered_slots,
    place_of,
    write_groups,
)
from eigenwood.core.tree.branching import (
    Place,
    code_behind,
    described_amounts,
    described_classes,
    moved_rows,
    sample_of,
)
from eigenwood.core.tree.categories import multiway_cost, sort_categories
from eigenwood.core.tree.cutting import keeps_order, random_place
from eigenwood.core.tree.growing import log_table
from eigenwood.core.tree.impurity import GINI
from eigenwood.core.tree.splitting import find_split, new_bench
from tests.core.tree import cases
from tests.naive import tree as naive

SHARES = (0.0, 0.5, 1.0)
STORAGES = [{"rare_share": share} for share in SHARES] + [{"as_sparse": True}]


class Root(NamedTuple):
    """All that is known of the root before it is split."""

    codes: tuple
    features: tuple
    target: tuple
    rule: tuple
    sample: tuple
    sums: np.ndarray
    known: tuple


def root_of(data, rules, seed=0, max_features=None, at_random=False, **storage):
    (codes, features), target = cases.binned(data, **storage), cases.target_of(data)
    rule = cases.rule_of(data, rules, max_features, at_random)
    sample = sample_of(target, np.arange(len(data.X), dtype=np.int32), rule.criterion)
    n_values = sum(data.n_classes) if data.n_classes else data.y.shape[1]
    sums, value = np.zeros(n_values + (not data.n_classes)), np.empty(n_values)
    place = Place(0, len(data.X), 0, np.uint64(seed), -1, -np.inf, np.inf)
    described, given = (described_classes, sample.labels) if data.n_classes else (described_amounts, sample.amounts)
    known, _ = described(given, sample.weights, target.starts, rule.criterion, sums, place, value)
    known = known._replace(seed=np.uint64(seed))  # on the way out of a kernel it became a Python integer
    return Root(codes, features, target, rule, sample, sums, known)


def split_of(root, data, rules, only=-1):
    """Return the split of the root, the lines in the order in which they are cut, and the bench that was used."""
    bench = bench_of(root)
    signs = np.array(rules.signs or (0,) * data.X.shape[1], dtype=np.int64)
    split, n_lines = find_split(
        root.codes,
        root.features,
        root.sample,
        root.sums,
        root.target.starts,
        signs,
        root.rule,
        root.known,
        only,
        log_table(root.target, root.rule),
        bench,
    )
    return split, bench.best_lines[:n_lines].copy(), bench


def bench_of(root):
    """Return room for the root."""
    n_rows, n_outputs = root.sample.rows.size, root.target.starts.size - 1
    return new_bench(root.codes, root.features, root.rule, root.sums.size, n_rows, n_outputs)


def moved(root, rows, split, order):
    """Bring the rows that go left to the front; return how many those are."""
    return moved_rows(root.codes, root.features, rows, split, order, np.empty(len(rows), dtype=np.int32))


def sums_of(data, rows):
    """Return the sums that describe some rows, and their number."""
    w = data.weights[rows]
    if data.n_classes:
        parts = [[w[data.y[rows, o] == k].sum() for k in range(n)] for o, n in enumerate(data.n_classes)]
        return np.concatenate([*parts, [len(w)]])
    return np.concatenate([[w.sum()], w @ data.y[rows], [len(w)]])


def table(seed, criterion, **options):
    return cases.table(seed, criterion, n_rows=int(np.random.default_rng(seed).integers(2, 25)), **options)


# ---- sums by code ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_dense_columns_equal_the_textbook(seed, criterion, weighted):
    data = table(seed, criterion, weighted=weighted, n_classes=(2, 3), n_outputs=2)
    rows = np.random.default_rng(seed).permutation(len(data.X))[: len(data.X) // 2 + 1].astype(np.int32)
    codes, target = cases.binned(data, rare_share=-1.0).codes, cases.target_of(data)
    sample, n_sums = sample_of(target, rows, GINI), 5 if criterion == "gini" else 3
    assert codes.slot_feature.size == 0
    for at in range(codes.feature.size):
        n_codes = int(np.diff(codes.start).max())
        sums, bits = np.zeros((n_codes, n_sums + 1)), np.zeros(n_codes // 64 + 1, dtype=np.uint64)
        if criterion == "gini":
            add_up_classes(codes.columns, at, rows, sample.labels, sample.weights, target.starts, sums, bits)
        else:
            add_up_amounts(codes.columns, at, rows, sample.amounts, sample.weights, sums, bits)
        for code in range(n_codes):
            expected = sums_of(data, rows[codes.columns[at, rows] == code])
            assert_allclose(sums[code], expected, rtol=1e-12)
            assert (bits[code // 64] >> np.uint64(code % 64)) % np.uint64(2) == (expected[-1] > 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(5))
def test_the_sums_of_thin_columns_equal_the_textbook(seed, criterion, weighted):
    data = table(seed, criterion, weighted=weighted, n_classes=(2, 3), n_outputs=2)
    rows = np.random.default_rng(seed).permutation(len(data.X))[: len(data.X) // 2 + 1].astype(np.int32)
    (codes, features), target = cases.binned(data, rare_share=1.0), cases.target_of(data)
    sample, total = sample_of(target, rows, GINI), sums_of(data, rows)
    n_slots = codes.slot_feature.size
    sums, bits = np.zeros((n_slots + 1, total.size)), np.zeros(n_slots // 64 + 1, dtype=np.uint64)
    add_up_slots(
        codes.entry_start,
        codes.entries,
        rows,
        sample.labels,
        sample.amounts,
        sample.weights,
        target.starts,
        sums,
        bits,
    )
    present = np.flatnonzero(sums[:n_slots, -1])
    group, order = np.empty(n_slots + 1, dtype=np.int64), np.empty(n_slots + 1, dtype=np.int64)
    group = group[: write_groups(present, present.size, codes.slot_feature, group) + 1]
    assert_array_equal(codes.slot_feature[present[group[:-1]]], np.unique(codes.slot_feature[present]))
    for first, last in zip(group, group[1:], strict=False):
        feature = codes.slot_feature[present[first]]
        n_order = ordered_slots(
            present,
            first,
            last,
            codes.slot_code,
            features.common[feature],
            len(rows),
            total[:-1],
            sums,
            order,
        )
        lines = lines_of(codes, rows, codes.feature.size, feature)
        column = data.X[rows, feature]
        values = [set(column[lines == line].astype(str)) for line in order[:n_order]]
        assert values == [{value} for value in np.unique(column).astype(str)]
        for line in order[:n_order]:
            assert_allclose(sums[line], sums_of(data, rows[lines == line]), rtol=1e-9, atol=1e-12)


def assert_clean(bench):
    """Nothing is left for the next node."""
    assert not any(array.any() for array in (bench.sums, bench.counts, bench.bits, bench.slot_sums, bench.slot_bits))


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
        split, order, bench = split_of(root, data, rules)
        assert_clean(bench)
        expected = naive.grow(data, rules, choose=lambda node, equal, asked=split.feature: about(asked, equal))
        if expected.question is None:
            assert split.candidate < 0 or expected.impurity == 0.0
            continue
        decrease = (root.known.cost - split.cost) / data.weights.sum()
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
        split, _, bench = split_of(root, data, rules)
        assert_clean(bench)
        if expected.question is not None:
            decrease = (root.known.cost - split.cost) / data.weights.sum()
            assert_allclose(decrease, expected.decrease, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("only", range(4))
def test_one_feature_alone_may_be_asked(only, rare_share):
    data, rules = cases.table(1, "gini", n_rows=20, kinds=(cases.tied, cases.rare_counts)), naive.Rules("gini")
    split, _, _ = split_of(root_of(data, rules, rare_share=rare_share), data, rules, only)
    assert split.feature == only


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
    data, rules = naive.Data(X.astype(float), cases.labels(rng, 30, (2,)), np.ones(30), (2,)), naive.Rules("gini")
    asked = [
        split_of(root_of(data, rules, seed, max_features=1, rare_share=rare_share), data, rules)[0].feature
        for seed in range(150)
    ]
    counts = np.bincount(asked, minlength=4)
    assert counts[2] == 0  # a constant is not a turn
    assert counts[[0, 1, 3]].min() > 30


def test_with_two_tries_the_better_feature_wins_more_often():
    rng = np.random.default_rng(0)
    y = cases.labels(rng, 40, (2,))
    X = np.column_stack([rng.normal(size=40), y[:, 0] + 0.1 * rng.normal(size=40), rng.normal(size=40)])
    data, rules = naive.Data(X, y, np.ones(40), (2,)), naive.Rules("gini")
    asked = [split_of(root_of(data, rules, seed, max_features=2), data, rules)[0].feature for seed in range(90)]
    assert 45 <= asked.count(1) <= 75  # two of three
    assert all(split_of(root_of(data, rules, seed), data, rules)[0].feature == 1 for seed in range(5))


@pytest.mark.parametrize("thin", [False, True])
def test_a_random_cut_lies_where_the_draw_says(thin):
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=9))
    codes = np.sort(rng.choice(9, size=6, replace=False))  # those that occur
    for draw in rng.integers(2**64, size=50, dtype=np.uint64):
        if thin:  # the fourth is the common one: it stands on the last line
            slot_code, order = np.delete(codes, 3), np.array([0, 1, 2, 5, 3, 4])
            place = random_place(order, 6, -1, codes, slot_code, codes[3], 0, values, values, draw)
        else:
            place = random_place(np.arange(6), 6, 0, codes, codes[:0], -1, 0, values, values, draw)
        share = float(draw >> np.uint64(11)) / 2**53
        threshold = values[codes[0]] * (1 - share) + values[codes[-1]] * share
        assert place == sum(values[codes[1:-1]] <= threshold)


@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_random_cuts_are_even_from_however_many_features_one_is_drawn(n_features):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(41) for _ in range(n_features)]).astype(float)
    data, rules = naive.Data(X, cases.labels(rng, 41, (2,)), np.ones(41), (2,)), naive.Rules("gini")
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
        assert code_behind(root.codes, root.features, split, split.below) == int(expected)


# ---- its parts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [(2,), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_the_short_ways_find_what_the_long_way_finds(criterion, rare_share, n_classes):
    short, long = naive.Rules(criterion), naive.Rules(criterion, min_leaf_weight=1e-9)
    for seed, n_rows in enumerate((2, 7, 20, 21, 50, 51)):
        data = cases.table(seed, criterion, n_rows=n_rows, weighted=seed % 2 == 0, n_classes=n_classes)
        here, there = (split_of(root_of(data, rules, rare_share=rare_share), data, rules) for rules in (short, long))
        assert here[0][1:] == there[0][1:]
        assert_allclose(here[0].cost, there[0].cost, rtol=1e-9, atol=1e-12)
        assert_array_equal(here[1], there[1])


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


@pytest.mark.parametrize("min_leaf", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "poisson"])
def test_the_cost_of_one_branch_for_each_category_equals_the_textbook(criterion, min_leaf):
    rules = naive.Rules(criterion, min_samples_leaf=min_leaf)
    for seed in range(6):
        data = table(seed, criterion, weighted=True, tied_targets=False)
        line = np.random.default_rng(seed).integers(3, size=len(data.X))
        parts = [np.flatnonzero(line == k) for k in np.unique(line)]
        sums = np.array([sums_of(data, part) for part in parts])
        order, starts = np.arange(len(parts)), cases.target_of(data).starts
        found = multiway_cost(order, len(parts), sums, sums.shape[1] - 1, starts, cases.rule_of(data, rules), False)
        if min(len(part) for part in parts) < min_leaf:
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


@pytest.mark.parametrize("rare_share", SHARES)
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_moved_and_keep_their_order(seed, rare_share):
    data, rules = table(seed, "gini", kinds=(cases.tied, cases.rare_counts, cases.holed)), naive.Rules("gini")
    root = root_of(data, rules, rare_share=rare_share)
    split, order, _ = split_of(root, data, rules)
    rows = np.random.default_rng(seed).permutation(len(data.X)).astype(np.int32)
    column, last = data.X[:, split.feature], code_behind(root.codes, root.features, split, split.below)
    greatest = root.features.highs[root.features.start[split.feature] + last]
    is_left = np.where(np.isnan(column), split.missing_left == 1, column <= greatest)
    expected = sorted(rows, key=lambda row: not is_left[row])
    n_left = moved(root, rows, split, order)
    assert_array_equal(rows, expected)
    assert 0 < n_left < len(rows)
    assert n_left == is_left.sum()


def test_more_rows_than_a_byte_can_count_are_moved():
    data = naive.Data(np.arange(600.0)[:, None], (np.arange(600) >= 300)[:, None].astype(int), np.ones(600), (2,))
    rules, rows = naive.Rules("gini"), np.arange(600, dtype=np.int32)
    root = root_of(data, rules)
    split, order, _ = split_of(root, data, rules)
    assert moved(root, rows, split, order) == 300


@pytest.mark.parametrize(
    ("left", "right", "sign", "kept"),
    [(1, 2, 1, True), (2, 1, 1, False), (1, 2, -1, False), (2, 1, -1, True), (1, 1, 1, True), (0, 2, 1, False),
     (1, 4, 1, False), (0.5, 3, 1, True)],
)  # fmt: skip
def test_values_rise_or_fall_within_bounds(left, right, sign, kept):
    assert keeps_order(float(left), float(right), sign, 0.5, 3.0) == kept


def test_the_place_of_a_value_is_numpys():
    ascending = np.array([0, 0, 2, 2, 2, 5])
    for value in range(-1, 7):
        assert place_of(ascending, value) == np.searchsorted(ascending, value)
