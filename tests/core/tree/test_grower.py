"""Whole trees: equal to the textbook and to scikit-learn, however they are stored, cut up or interrupted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from eigenwood.core.tree import grower
from eigenwood.core.tree.grower import tree_so_far
from eigenwood.core.tree.structure import node_depths
from eigenwood.core.tree.thresholds import LARGEST
from eigenwood.core.tree.types import LEAF
from tests.core.tree import cases
from tests.naive import tree as naive

OF_CLASSES = ("gini", "entropy", "error")
CRITERIA = tuple(cases.CRITERIA)
STORAGES = [{"rare_share": 0.0}, {"rare_share": 0.5}, {"rare_share": 1.0}, {"as_sparse": True}]
GENERIC = (cases.dense, cases.dense, cases.holed, cases.rare_counts)  # columns with few ties


def assert_textbook_in_any_storage(data, rules, storages=STORAGES):
    checked = None
    for storage in storages:
        tree = cases.fit(data, rules, **storage)
        cases.assert_leaves_hold_their_rows(tree, data)
        if checked is not None and tree.feature.tobytes() == checked.feature.tobytes():
            cases.assert_same_trees(tree, checked, exact=False)
        else:
            cases.assert_textbook(tree, data, rules)
            checked = tree


def with_categories(data, seed):
    """The table with two columns of categories and two of its columns of numbers."""
    X, categories = cases.with_categories(np.random.default_rng(seed), data.X[:, :2])
    return data._replace(X=X, categories=categories)


# ---- equal to the textbook ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_equals_the_textbook(criterion, seed, weighted):
    data = cases.table(seed, criterion, weighted=weighted, tied_targets=seed % 2 == 0)
    assert_textbook_in_any_storage(data, naive.Rules(criterion))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [(2,), (3,)], ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_of_more_rows_equals_the_textbook(criterion, n_classes, weighted):
    # small nodes may be split in another way than large ones
    data = cases.table(len(criterion), criterion, n_rows=60, weighted=weighted, n_classes=n_classes)
    assert_textbook_in_any_storage(data, naive.Rules(criterion))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_with_seven_classes_equals_the_textbook(criterion, seed, weighted):
    data = cases.table(seed, criterion, n_rows=22, weighted=weighted, n_classes=(7,))
    assert_textbook_in_any_storage(data, naive.Rules(criterion))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_several_outputs_equals_the_textbook(criterion, seed, weighted):
    data = cases.table(seed, criterion, weighted=weighted, n_classes=(2, 3, 2), n_outputs=3)
    assert_textbook_in_any_storage(data, naive.Rules(criterion))


LIMITS = {
    "depth 0": {"max_depth": 0},
    "depth 2": {"max_depth": 2},
    "five rows to split": {"min_samples_split": 5},
    "three rows in a leaf": {"min_samples_leaf": 3},
    "weight in a leaf": {"min_weight_leaf": 3.3},
    "a decrease": {"min_decrease": 0.03},
    "pure enough": {"pure_enough": 0.3},
    "several at once": {"max_depth": 3, "min_samples_leaf": 2, "min_samples_split": 6, "min_decrease": 0.01},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_limits_equals_the_textbook(criterion, limit, weighted):
    for seed in range(2):
        data = cases.table(seed + 20, criterion, n_rows=20, weighted=weighted)
        assert_textbook_in_any_storage(data, naive.Rules(criterion, **LIMITS[limit]), STORAGES[:3])


@pytest.mark.parametrize("n_rows", [1, 2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_of_one_two_or_three_rows_equals_the_textbook(criterion, n_rows):
    for seed in range(6):
        data = cases.table(seed, criterion, n_rows=n_rows, weighted=seed % 2 == 0, n_classes=(3,))
        assert_textbook_in_any_storage(data, naive.Rules(criterion))


@pytest.mark.parametrize("value", [0.0, 2.5, np.nan])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_where_nothing_differs_the_root_is_a_leaf(criterion, value):
    data = cases.table(0, criterion, n_rows=10)._replace(X=np.full((10, 2), value))
    for storage in STORAGES:
        assert cases.fit(data, naive.Rules(criterion), **storage).left.tolist() == [LEAF]


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_question_that_gains_nothing_is_asked_when_the_next_ones_will(criterion, storage):
    # exclusive or: neither feature alone says anything; a gain of 0 must not look like a loss
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([[0], [1], [1], [0]])
    for weight, offset in ((1.0, 1.0), (0.1, 1.0), (0.3, 1e3), (0.7, 1e6)):
        classes = (2,) if criterion in OF_CLASSES else ()
        data = naive.Data(X, y if classes else y + offset, np.full(4, weight), classes)
        tree = cases.fit(data, naive.Rules(criterion), **storage)
        assert_array_equal(tree.n_rows, [4, 2, 1, 1, 2, 1, 1])
        assert not tree.impurity[tree.left == LEAF].any()


def test_a_decrease_as_large_as_wanted_is_enough():
    data = naive.Data(np.arange(4.0)[:, None], np.array([[0], [0], [1], [1]]), np.ones(4), (2,))
    assert cases.fit(data, naive.Rules("gini", min_decrease=0.5)).left.size == 3
    assert cases.fit(data, naive.Rules("gini", min_decrease=0.5 + 1e-9)).left.size == 1


# ---- categories --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_of_all_subsets_of_categories_the_best_is_asked_for(criterion, seed, weighted):
    data = with_categories(cases.table(seed, criterion, weighted=weighted, tied_targets=False), seed)
    assert_textbook_in_any_storage(data, naive.Rules(criterion), STORAGES[:3])


@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 3, "max_depth": 3}], ids=["no limits", "limits"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_cuts_of_the_order_of_categories_equal_the_textbook(criterion, seed, limits):
    data = cases.table(seed, criterion, weighted=True, tied_targets=False)
    rules = naive.Rules(criterion, every_subset=False, **limits)
    assert_textbook_in_any_storage(with_categories(data, seed), rules, STORAGES[:3])


@pytest.mark.parametrize(("n_classes", "n_outputs"), [((7,), 2), ((2, 3), 3)], ids=str)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_cuts_along_the_principal_component_equal_the_textbook(criterion, seed, n_classes, n_outputs):
    data = cases.table(seed, criterion, weighted=True, tied_targets=False, n_classes=n_classes, n_outputs=n_outputs)
    assert_textbook_in_any_storage(
        with_categories(data, seed), naive.Rules(criterion, every_subset=False), STORAGES[:3]
    )


@pytest.mark.parametrize(
    "limits",
    [{}, {"min_samples_leaf": 2, "max_depth": 2}, {"max_leaves": 7}],
    ids=["no limits", "limits", "best first"],
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_branch_for_each_category_equals_the_textbook(criterion, seed, limits):
    data = with_categories(cases.table(seed, criterion, weighted=seed % 2 == 0, tied_targets=False), seed)
    assert_textbook_in_any_storage(data, naive.Rules(criterion, multiway=True, **limits), STORAGES[:3])


@pytest.mark.parametrize("multiway", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_category_that_was_never_seen_goes_the_way_of_most(seed, multiway):
    data = with_categories(cases.table(seed, "gini", n_rows=24), seed)
    tree = cases.fit(data, naive.Rules("gini", multiway=multiway))
    node, never = 0, 77
    while tree.left[node] != LEAF and tree.feature[node] in data.categories:
        # the branches of the question, through all the links of a chain
        branches, link, feature = [tree.left[node]], node, tree.feature[node]
        while tree.chained[link]:
            link = tree.right[link]
            branches.append(tree.left[link])
        branches.append(tree.right[link])
        while True:
            goes_left = tree.default_left[node] != (never in cases.listed(tree, node))
            node, goes_on = (tree.left[node], False) if goes_left else (tree.right[node], tree.chained[node])
            if not goes_on:
                break
            assert tree.feature[node] == feature
        assert tree.n_rows[node] == max(tree.n_rows[branches])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_one_link_of_a_chain_has_a_place_for_the_rest(seed, weighted):
    data = with_categories(cases.table(seed, "gini", n_rows=40, weighted=weighted), seed)
    tree = cases.fit(data, naive.Rules("gini", multiway=True))
    firsts = np.setdiff1d(np.flatnonzero(tree.chained), tree.right[tree.chained])
    assert firsts.size > 0
    for link in firsts:
        links = [link]
        while tree.chained[links[-1]]:
            links.append(tree.right[links[-1]])
        branches = [*tree.left[links], tree.right[links[-1]]]
        for place, link in enumerate(links):
            is_heaviest = place == np.argmax(tree.weight[branches])
            assert tree.default_left[link] == is_heaviest
            assert len(cases.listed(tree, link)) == (len(links) - place if is_heaviest else 1)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_however_many_branches_go_together_the_tree_is_the_same(monkeypatch, criterion, n_threads):
    rng = np.random.default_rng(0)
    data = cases.table(0, criterion, n_rows=300, n_features=2)
    X = np.column_stack([rng.integers(90, size=300), rng.integers(3, size=300), data.X]).astype(float)
    data, rules = data._replace(X=X, categories=(0, 1)), naive.Rules(criterion, multiway=True)
    trees = []
    for small in (1, 7, 50, 10**9):
        monkeypatch.setattr(grower, "SMALL", small)
        trees.append(cases.fit(data, rules, max_features=2, n_threads=n_threads))
    for tree in trees[1:]:
        cases.assert_same_trees(tree, trees[0], exact=False)
    assert trees[0].chained.sum() > 60


# ---- best first --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_leaves", [1, 2, 5, 8])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_first_equals_the_textbook(criterion, max_leaves):
    for seed in range(3):
        weighted = criterion != "error"  # there, many splits gain nothing: only whole numbers tell that apart
        data = cases.table(seed, criterion, n_rows=24, weighted=weighted, tied_targets=False, kinds=GENERIC)
        assert_textbook_in_any_storage(data, naive.Rules(criterion, max_leaves=max_leaves))
        tree = cases.fit(data, naive.Rules(criterion, max_leaves=max_leaves))
        assert (tree.left == LEAF).sum() <= max_leaves


@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_first_to_the_end_is_the_whole_tree(criterion):
    for seed in range(4):
        data = cases.table(seed, criterion, weighted=True)
        whole, best = (cases.fit(data, naive.Rules(criterion, max_leaves=most)) for most in (None, 1000))
        cases.assert_same_trees(whole, best)


# ---- monotonic constraints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_monotonic_constraints_equals_the_textbook(criterion, seed, weighted):
    monotonic_cst = tuple(np.random.default_rng(seed).permutation([-1, 0, 1, 1]).tolist())
    data = cases.table(seed, criterion, n_rows=24, weighted=weighted, tied_targets=False, kinds=GENERIC)
    assert_textbook_in_any_storage(data, naive.Rules(criterion, monotonic_cst=monotonic_cst))


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_predictions_rise_or_fall_with_a_feature(criterion, sign):
    for seed in range(3):
        data = cases.table(seed, criterion, n_rows=30, kinds=(cases.dense,), n_features=3, tied_targets=False)
        tree = cases.fit(data, naive.Rules(criterion, monotonic_cst=(sign, 0, 0)))
        for x in data.X:
            line = [np.array([x0, *x[1:]]) for x0 in np.linspace(-3, 3, 40)]
            values = [tree.value[naive.leaf_of(tree, point), -1] for point in line]
            assert (np.diff(values) * sign >= 0).all()


# ---- the same tree, however it is grown --------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_permuting_the_rows_changes_nothing(criterion):
    for seed in range(4):
        data = with_categories(cases.table(seed, criterion, weighted=seed % 2 == 0), seed)
        order = np.random.default_rng(seed).permutation(len(data.X))
        there = data._replace(X=data.X[order], y=data.y[order], weights=data.weights[order])
        trees = [cases.fit(each, naive.Rules(criterion), seed=seed) for each in (data, there)]
        cases.assert_same_trees(*trees, exact=False)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_weight_of_two_is_the_row_given_twice(criterion):
    for seed in range(4):
        data = with_categories(cases.table(seed, criterion), seed)
        times = np.random.default_rng(seed).integers(1, 4, size=len(data.X))
        weighted = data._replace(weights=times.astype(float))
        again = [np.repeat(array, times, axis=0) for array in (data.X, data.y, data.weights)]
        repeated = data._replace(X=again[0], y=again[1], weights=again[2])
        here, there = (cases.fit(each, naive.Rules(criterion), seed=seed) for each in (weighted, repeated))
        assert_allclose(there.weight, there.n_rows)
        cases.assert_same_trees(here._replace(n_rows=there.n_rows), there, exact=False)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_all_weights_one_is_no_weights(criterion):
    data = with_categories(cases.table(5, criterion, n_rows=20), 5)
    target = cases.target_of(data)
    assert target.weights.size == 0
    trees = [
        tree_so_far(last_step(data, naive.Rules(criterion), target._replace(weights=weights)))
        for weights in (np.empty(0), np.ones(20))
    ]
    cases.assert_same_trees(*trees, exact=False)


def last_step(data, rules, target):
    params, monotonic_cst = cases.rule_of(data, rules), np.zeros(data.X.shape[1])
    *_, last = grower.growth_steps(
        cases.binned(data), target, np.arange(len(data.X)), params, monotonic_cst, -1, np.uint64(0), 1
    )
    return last


@pytest.mark.parametrize("multiway", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_any_storage_gives_the_same_tree(criterion, multiway):
    for seed in range(5):
        data = with_categories(cases.table(seed, criterion, weighted=seed % 2 == 0), seed)
        rules = naive.Rules(criterion, multiway=multiway)
        trees = [cases.fit(data, rules, seed=seed, **storage) for storage in STORAGES[:3]]
        for tree in trees[1:]:
            cases.assert_same_trees(trees[0], tree, exact=False)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_sparse_matrix_gives_the_tree_of_the_dense_one(criterion):
    for seed in range(5):
        data = cases.table(seed, criterion, weighted=seed % 2 == 0, n_features=6)
        dense, sparse = (cases.fit(data, naive.Rules(criterion), as_sparse=as_sparse) for as_sparse in (False, True))
        cases.assert_same_trees(dense, sparse, exact=False)


@pytest.mark.parametrize("options", [{}, {"max_features": 2}, {"at_random": True}], ids=["all", "few", "at random"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_same_bits_for_any_number_of_threads(monkeypatch, criterion, options):
    monkeypatch.setattr(grower, "SMALL", 4)
    for seed in range(3):
        data = with_categories(cases.table(seed, criterion, n_rows=40, weighted=seed % 2 == 0), seed)
        for most in (None, 6):
            rules = naive.Rules(criterion, max_leaves=most)
            one, two = (cases.fit(data, rules, seed=seed, n_threads=n, **options) for n in (1, 2))
            cases.assert_same_trees(one, two)


@pytest.mark.parametrize("storage", STORAGES, ids=str)
@pytest.mark.parametrize("small", [1, 4, 8])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_where_small_nodes_begin_changes_nothing(monkeypatch, criterion, small, storage):
    for seed in range(3):
        data = cases.table(seed, criterion, n_rows=30, weighted=seed % 2 == 0)
        if "as_sparse" not in storage:
            data = with_categories(data, seed)
        for rules in (naive.Rules(criterion), naive.Rules(criterion, multiway=True, min_samples_leaf=2)):
            trees = []
            for size in (small, 10**9):
                monkeypatch.setattr(grower, "SMALL", size)
                trees.append(cases.fit(data, rules, seed=seed, **storage))
            cases.assert_same_trees(*trees)


@pytest.mark.parametrize("options", [{"max_features": 2}, {"at_random": True}], ids=["few", "at random"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_draws_do_not_depend_on_how_a_node_is_stored(monkeypatch, criterion, options):
    for seed in range(3):
        data, trees = with_categories(cases.table(seed, criterion, n_rows=40, weighted=True), seed), []
        for size in (1, 8, 10**9):
            monkeypatch.setattr(grower, "SMALL", size)
            trees += [cases.fit(data, naive.Rules(criterion), seed=seed, **options, **how) for how in STORAGES[:3]]
        for tree in trees[1:]:
            cases.assert_same_trees(trees[0], tree, exact=False)


@pytest.mark.parametrize("small", [4, 10**9])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_bounds_are_passed_on_to_small_nodes(monkeypatch, criterion, small):
    monkeypatch.setattr(grower, "SMALL", small)
    data = cases.table(3, criterion, n_rows=30, weighted=True, tied_targets=False, kinds=GENERIC)
    assert_textbook_in_any_storage(data, naive.Rules(criterion, monotonic_cst=(1, 0, -1, 1)))


@pytest.mark.parametrize("criterion", [name for name in CRITERIA if name != "error"])
def test_a_tree_of_some_rows_is_the_tree_of_a_table_of_these_rows(criterion):
    # without ties, which the values of the other rows may decide
    for seed in range(4):
        data = cases.table(seed, criterion, n_rows=40, weighted=True, kinds=(cases.dense,), tied_targets=False)
        rows = np.random.default_rng(seed).permutation(40)[:28]
        alone = data._replace(X=data.X[rows], y=data.y[rows], weights=data.weights[rows])
        rules = naive.Rules(criterion, min_samples_leaf=5)
        cases.assert_same_trees(cases.fit(data, rules, rows=rows), cases.fit(alone, rules), exact=False)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_only_the_order_of_numbers_matters(criterion):
    data = cases.table(6, criterion, n_rows=25, weighted=True)
    here, there = (cases.fit(each, naive.Rules(criterion)) for each in (data, data._replace(X=np.exp(data.X))))
    inner = here.left != LEAF
    assert (here.threshold != there.threshold)[inner].any()
    cases.assert_same_trees(here._replace(threshold=there.threshold), there)


SHIFT, SCALE = 2.0**40, 2.0**20


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_far_from_zero_the_tree_is_the_same(criterion):
    for seed in range(4):
        near = cases.table(seed, criterion, n_rows=24, kinds=GENERIC)
        far = near._replace(y=near.y + SHIFT)
        here, there = (cases.fit(data, naive.Rules(criterion), seed=seed) for data in (near, far))
        assert_same_questions(here, there)
        assert_allclose(here.impurity, there.impurity, rtol=1e-9, atol=1e-12)
        assert_allclose(here.value, there.value - SHIFT, atol=1e-3)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_of_large_amounts_the_tree_is_the_same(criterion):
    for seed in range(4):
        few = cases.table(seed, criterion, n_rows=24, kinds=GENERIC)
        many = few._replace(y=few.y * SCALE)
        here, there = (cases.fit(data, naive.Rules(criterion), seed=seed) for data in (few, many))
        assert_same_questions(here, there)
        scale = SCALE**2 if criterion == "squared_error" else SCALE
        assert_allclose(here.impurity, there.impurity / scale, rtol=1e-9, atol=1e-12)
        assert_allclose(here.value, there.value / SCALE, rtol=1e-9)


def assert_same_questions(tree, other):
    for name in ("left", "right", "feature", "threshold", "default_left", "n_rows"):
        assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)


# ---- interrupted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("rules", [{}, {"multiway": True}, {"max_leaves": 9}], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_after_every_step_there_is_a_whole_tree(monkeypatch, criterion, rules, n_threads):
    monkeypatch.setattr(grower, "SMALL", 4)
    data = with_categories(cases.table(8, criterion, n_rows=40, weighted=True), 8)
    n_leaves, is_last = [], []
    for step in cases.steps(data, naive.Rules(criterion, **rules), n_threads=n_threads):
        tree = tree_so_far(step)
        cases.assert_leaves_hold_their_rows(tree, data)
        assert_adds_up(tree)
        n_leaves.append(int((tree.left == LEAF).sum()))
        is_last.append(step.last)
    assert len(n_leaves) > 4
    assert n_leaves == sorted(n_leaves)
    assert n_leaves[0] < n_leaves[-1]
    assert is_last == [False] * (len(is_last) - 1) + [True]
    cases.assert_same_trees(tree, cases.fit(data, naive.Rules(criterion, **rules)))


def assert_adds_up(tree):
    """Children share the rows of their parent; a chain goes on with the same question."""
    for node in np.flatnonzero(tree.left != LEAF):
        left, right = tree.left[node], tree.right[node]
        assert tree.n_rows[node] == tree.n_rows[left] + tree.n_rows[right]
        assert_allclose(tree.weight[node], tree.weight[left] + tree.weight[right], rtol=1e-12)
        if tree.chained[node]:
            assert tree.feature[right] == tree.feature[node]


# ---- few features, random cuts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"max_features": 1}, {"at_random": True}, {"max_features": 2, "at_random": True}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_of_chance_are_trees(criterion, options):
    several = set()
    for seed in range(8):
        data = with_categories(cases.table(3, criterion, n_rows=30, weighted=True), 3)
        tree = cases.fit(data, naive.Rules(criterion, min_samples_leaf=2), seed=seed, **options)
        cases.assert_leaves_hold_their_rows(tree, data)
        assert_adds_up(tree)
        assert tree.n_rows.min() >= 2
        several.add(tree.feature.tobytes() + tree.threshold.tobytes())
    assert len(several) > 4


def test_every_node_has_a_seed_of_its_own(monkeypatch):
    monkeypatch.setattr(grower, "SMALL", 1)
    data = with_categories(cases.table(4, "gini", n_rows=60), 4)
    *_, last = cases.steps(data, naive.Rules("gini"), seed=5)
    seeds = np.concatenate([np.array([5], dtype=np.uint64), *(piece.seeds for piece in last.pieces)])
    assert seeds.size == len(last.pieces) > 10
    assert np.unique(seeds).size == seeds.size


def test_without_ties_the_seed_changes_nothing():
    data = cases.table(2, "squared_error", n_rows=60, weighted=True, tied_targets=False, kinds=(cases.dense,))
    rules = naive.Rules("squared_error", min_samples_leaf=4)
    cases.assert_same_trees(cases.fit(data, rules, seed=1), cases.fit(data, rules, seed=2))


# ---- the same as scikit-learn ------------------------------------------------------------------------------------


def generic(seed, criterion, missing, n_outputs=1, n_rows=120):
    """Rows without ties, of numbers that scikit-learn's 32 bits can hold, and weights whose sums are exact."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    y = X[:, :1] + np.sin(3 * X[:, 1:2]) + 0.3 * rng.normal(size=(n_rows, n_outputs))
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    w = rng.integers(32, 128, size=n_rows) / 64.0
    if criterion in OF_CLASSES:
        return naive.Data(X, np.digitize(y, [-0.7, 0.7]), w, (3,) * n_outputs)
    return naive.Data(X, np.exp(y / 2) if criterion == "poisson" else y, w)


def theirs(data, criterion, **options):
    kind = DecisionTreeClassifier if data.n_classes else DecisionTreeRegressor
    return kind(criterion=criterion, random_state=0, **options).fit(data.X, data.y, data.weights).tree_


def assert_same_as(tree, other, data):
    """Same nodes and same numbers; scikit-learn's are in preorder too."""
    assert_array_equal(tree.left, other.children_left)
    assert_array_equal(tree.right, other.children_right)
    assert_array_equal(tree.feature, other.feature)
    assert_array_equal(tree.threshold, np.minimum(other.threshold, LARGEST))
    assert_array_equal(tree.n_rows, other.n_node_samples)
    assert_allclose(tree.weight, other.weighted_n_node_samples, rtol=1e-10)
    assert_allclose(tree.impurity, other.impurity, rtol=1e-8, atol=1e-10)
    assert_allclose(tree.value, other.value.reshape(tree.left.size, -1), rtol=1e-9, atol=1e-10)
    assert node_depths(tree.left, tree.right, tree.chained).max() == other.max_depth
    for node in np.flatnonzero(tree.left != LEAF):
        if data is not None and np.isnan(data.X[:, tree.feature[node]]).any():
            left, right = tree.left[node], tree.right[node]
            if tree.n_rows[left] > tree.n_rows[right] and tree.weight[left] > tree.weight[right]:
                assert tree.default_left[node] == other.missing_go_to_left[node]


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_same_as_scikit_learn(criterion, missing, n_outputs):
    if missing and criterion == "absolute_error":
        missing = False  # it refuses them
    for seed in (0, 2):  # where no two columns divide a node alike
        data = generic(seed, criterion, missing, n_outputs)
        ours = cases.fit(data, naive.Rules(criterion, min_samples_leaf=8))
        assert ours.left.size > 10
        assert_same_as(ours, theirs(data, criterion, min_samples_leaf=8), data)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_with_limits_same_as_scikit_learn(criterion):
    for seed in range(2):
        data = generic(seed, criterion, missing=False)
        light, decrease = 0.06, 0.004
        rules = naive.Rules(criterion, 5, 12, 3, min_weight_leaf=light * data.weights.sum(), min_decrease=decrease)
        other = theirs(
            data,
            criterion,
            max_depth=5,
            min_samples_split=12,
            min_samples_leaf=3,
            min_weight_fraction_leaf=light,
            min_impurity_decrease=decrease,
        )
        assert other.node_count > 7
        assert_same_as(cases.fit(data, rules), other, data)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_with_monotonic_constraints_same_as_scikit_learn(criterion):
    for seed in range(3):
        data, monotonic_cst = generic(seed, criterion, missing=criterion != "absolute_error"), (1, 0, -1, 1)
        if data.n_classes:
            data = data._replace(y=(data.y > 0).astype(int), n_classes=(2,))
        ours = cases.fit(data, naive.Rules(criterion, min_samples_leaf=8, monotonic_cst=monotonic_cst))
        assert ours.left.size > 7
        assert_same_as(ours, theirs(data, criterion, min_samples_leaf=8, monotonic_cst=monotonic_cst), data)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_best_first_same_as_scikit_learn(criterion):
    for seed in range(2):
        data = generic(seed, criterion, missing=False)
        ours = cases.fit(data, naive.Rules(criterion, min_samples_leaf=4, max_leaves=8))
        other = theirs(data, criterion, min_samples_leaf=4, max_leaf_nodes=8)
        order = grower.preorder(other.children_left.astype(np.int32), other.children_right.astype(np.int32), 0)
        for name, array in {"feature": other.feature, "n_rows": other.n_node_samples}.items():
            assert_array_equal(getattr(ours, name), array[order])
        assert_array_equal(ours.threshold, other.threshold[order])
        assert_allclose(ours.impurity, other.impurity[order], rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson", "absolute_error"])
def test_with_many_rows_same_as_scikit_learn(criterion):
    data = generic(1, criterion, missing=criterion != "absolute_error", n_rows=6000)
    ours = cases.fit(data, naive.Rules(criterion, min_samples_leaf=20), n_threads=2)
    assert data.X.shape[0] > grower.SMALL
    assert_same_as(ours, theirs(data, criterion, min_samples_leaf=20), data)
