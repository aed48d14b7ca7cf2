"""The rule for the trees of a forest: real ones pass, each kind of wrong one has its sentence, accidents do no harm."""

import time
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from eigenwood.core.forest import packing
from eigenwood.core.forest.packing import Forest, joined, keeps_inner, pack, tree_at
from eigenwood.core.forest.predict import forest_leaves, forest_means, make_predictor
from eigenwood.core.tree.criteria import ABSOLUTE_ERROR, ENTROPY, ERROR, GINI, POISSON, SQUARED_ERROR
from eigenwood.core.tree.types import LEAF
from eigenwood.errors import InputError
from eigenwood.estimators.tree.params import LEAF_VALUES
from eigenwood.validation import forests
from eigenwood.validation.forests import FOREST_ARRAYS, ForestNodes, LeafValues, forest_lists_known_categories
from eigenwood.validation.state import Nodes, Size, check_state
from tests.core.forest import cases
from tests.naive import forest as naive

ANY = ForestNodes("n_features", "n_values", criteria=LEAF_VALUES)
CLASSES = ForestNodes("n_features", "n_values", criteria={code: LEAF_VALUES[code] for code in (GINI, ENTROPY, ERROR)})
AMOUNTS = ForestNodes(
    "n_features", "n_values", criteria={code: LEAF_VALUES[code] for code in (SQUARED_ERROR, POISSON, ABSOLUTE_ERROR)}
)
N_FEATURES, N_CATEGORIES = 4, 5
KINDS = {
    "gini": {},
    "entropy, two outputs": {"criterion": "entropy", "n_classes": (3, 2)},
    "error": {"criterion": "error", "max_depth": 3},
    "uneven weights": {"counts": False, "min_samples_leaf": 3, "n_classes": (4, 2)},
    "no weights": {"n_classes": (2,)},
    "many like trees": {"n_trees": 12, "n_rows": 80, "missing": True},
    "subsets": {"split": "subset", "missing": True},
    "chains": {"split": "multiway", "missing": True, "max_depth": 4},
    "squared error": {"criterion": "squared_error", "missing": True},
    "squared error, two outputs": {"criterion": "squared_error", "n_classes": (1, 1), "min_samples_leaf": 2},
    "poisson": {"criterion": "poisson", "min_samples_leaf": 2, "counts": False},
    "absolute error": {"criterion": "absolute_error", "min_samples_leaf": 3},
    "bounded amounts": {"criterion": "squared_error", "monotonic_cst": [1, 0, -1, 0], "min_samples_leaf": 2},
    "bounded shares": {"n_classes": (2,), "monotonic_cst": [1, 0, -1, 0], "min_samples_leaf": 2},
}


@cache
def case_of(kind):
    case = cases.case(**KINDS[kind])
    if kind == "no weights":
        return case._replace(trees=[tree._replace(weight=tree.n_rows.astype(float)) for tree in case.trees])
    return case


@cache
def forest_of(kind):
    case = case_of(kind)
    return pack(case.trees, case.criterion, case.starts, case.bounded)


def rule_of(forest):
    return CLASSES if forest.criterion[0] <= ERROR else AMOUNTS


def check(forest, params=None, n_features=N_FEATURES):
    rules = {"n_features_in_": Size("n_features"), "forest_": params or rule_of(forest)}
    check_state("Who", rules, {"n_features_in_": n_features, "forest_": forest}, frozenset())


def refused(forest, **given):
    with pytest.raises(InputError) as caught:
        check(forest, **given)
    sentence = str(caught.value)
    assert sentence.startswith("Who: forest_ must ")
    assert sentence.endswith(".")
    return sentence.removeprefix("Who: forest_ ")


def spoiled(kind, **changes):
    """Return a forest after changes of some of its arrays, each given as a function or an array."""
    forest = forest_of(kind)
    return forest._replace(**{name: new(getattr(forest, name).copy()) for name, new in changes.items()})


def put(at, value):
    """Return a change of one entry."""

    def change(array):
        array[at] = value
        return array

    return change


def longer(array):
    return np.concatenate([array, array[-1:]])


def shorter(array):
    return array[:-1]


def empty(array):
    return array[:0]


def wide(value):
    """Return a change of all entries to one float64."""
    return lambda array: np.full(array.shape, value)


# ---- what passes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_forests_of_real_trees_pass(kind):
    check(forest_of(kind))
    check(forest_of(kind), params=ANY)


def test_all_ways_of_keeping_are_among_them():
    """Tables and plain arrays, weights and counts, lists, chains, impurities: each is there and not there."""
    found = [forest_of(kind) for kind in KINDS]
    for name in ("chained", "n_listed", "categories", "weight", "value_code", "impure", "impurity"):
        assert {getattr(forest, name).size > 0 for forest in found} == {True, False}, name


def test_trees_of_one_leaf_pass():
    grown = case_of("gini").trees
    leaf = cases.single_leaf([0.25, 0.75, 0.0])
    for trees in ([leaf], [leaf, *grown, leaf], [leaf] * 9):
        check(pack(trees, GINI, [0, 3]))


def test_a_joined_forest_passes():
    for kind in KINDS:
        check(joined(forest_of(kind), forest_of(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_tree_of_a_forest_that_passes_is_a_tree(kind):
    forest = forest_of(kind)
    for i in range(forest.node_start.size - 1):
        assert Nodes("n_features", "n_values").problem(tree_at(forest, i), {"n_features": N_FEATURES}) is None


def test_the_largest_amounts_pass():
    tree = case_of("squared error").trees[0]
    value = np.where(np.arange(tree.left.size) % 2, 1.0, -1.0)[:, None] * 1.1e150
    forest = pack([tree._replace(value=value)] * 3, SQUARED_ERROR, [0, 1])
    check(forest)
    assert all(np.isfinite(array).all() for array in tree_at(forest, 0))


def test_the_rule_knows_the_arrays_of_a_forest():
    assert tuple(FOREST_ARRAYS) == Forest._fields
    shares, means = LeafValues(are_shares=True), LeafValues()
    expected = {
        **dict.fromkeys((GINI, ENTROPY, ERROR), shares),
        SQUARED_ERROR: means,
        POISSON: means._replace(least=0.0),
        ABSOLUTE_ERROR: means._replace(add_up=False),
    }
    assert expected == LEAF_VALUES
    for kind in KINDS:
        forest = forest_of(kind)
        kept = keeps_inner(int(forest.criterion[0]), bool(forest.bounded[0]))
        counts = forests.counts_of(forest, LEAF_VALUES[int(forest.criterion[0])])
        assert counts.valued == (counts.nodes if kept else counts.leaves)


# ---- what is refused ----------------------------------------------------------------------------------------------

PREORDER = "must have the nodes of each tree in preorder."
FOLLOW = "must have trees that follow each other."
OUTPUTS = "must have outputs that follow each other and share its values."
SHARES = "must have shares of classes from 0 to 1 that sum to 1."
LISTS = "must have as many categories as its questions list."
CHAINED = "must go on with the same feature where a question is chained."
HEAVY = "must have rows of positive weight at every leaf."
IMPURE = "must have a positive impurity for each that is said to be impure."
ONCE = "must have one criterion, and say once whether values are bounded."
SPOILED = [
    # types
    ("gini", {"feature": lambda array: array.astype(np.uint64)}, "must have feature of dtype uint8 or"),
    ("gini", {"feature": lambda array: array.astype(np.int64)}, "must have feature of dtype uint8 or"),
    ("gini", {"node_start": lambda array: array.astype(np.float64)}, "must have node_start of dtype int64"),
    ("gini", {"threshold": lambda array: array.astype(np.float16)}, "must have threshold of dtype uint8"),
    ("gini", {"value": lambda array: array.astype(complex)}, "must have value of dtype uint8"),
    ("gini", {"value": lambda array: array[:, 0]}, "float64 and shape (n, n_values)."),
    ("gini", {"n_rows": lambda array: array[:, None]}, "must have n_rows of dtype uint8 or uint16 or uint32 and shape"),
    ("gini", {"n_rows": lambda array: array.tolist()}, "must have n_rows of dtype uint8 or uint16 or uint32 and shape"),
    ("gini", {"bounded": lambda array: array.astype(np.uint8)}, "must have bounded of dtype bool"),
    ("gini", {"threshold": wide(np.nan)}, "must have a finite threshold; got NaN or infinity."),
    ("gini", {"threshold": wide(-np.inf)}, "must have a finite threshold; got NaN or infinity."),
    ("gini", {"value": wide(np.nan)}, "must have a finite value; got NaN or infinity."),
    ("poisson", {"weight": wide(np.inf)}, "must have a finite weight; got NaN or infinity."),
    ("poisson", {"impurity": wide(np.nan)}, "must have a finite impurity; got NaN or infinity."),
    # criterion
    ("gini", {"criterion": put(0, 9)}, "must have a criterion among 0, 1, 2; got 9."),
    ("gini", {"criterion": empty}, ONCE),
    ("gini", {"bounded": longer}, ONCE),
    # trees
    ("gini", {"node_start": empty}, "must have at least 1 tree."),
    ("gini", {"node_start": lambda array: array[:1]}, "must have at least 1 tree."),
    ("gini", {"node_start": put(0, 1)}, FOLLOW),
    ("gini", {"node_start": put(0, -1)}, FOLLOW),
    ("gini", {"node_start": lambda array: array[::-1] - array[-1]}, FOLLOW),
    ("gini", {"node_start": put(1, 2**62)}, FOLLOW),
    ("gini", {"node_start": longer}, FOLLOW),
    ("gini", {"node_start": put(-1, 2**31)}, "must have at most 2147483647 nodes, and 1073741823 in a tree."),
    ("gini", {"node_start": put(-1, 2**30 + 999)}, "must have at most 2147483647 nodes, and 1073741823 in a tree."),
    ("gini", {"node_start": put(-1, 2**63 - 1)}, "must have at most 2147483647 nodes, and 1073741823 in a tree."),
    # shape
    ("gini", {"inner": put(0, 0)}, PREORDER),
    ("gini", {"inner": put(0, 255)}, PREORDER),
    ("gini", {"inner": lambda array: ~array}, PREORDER),
    ("gini", {"inner": np.zeros_like}, PREORDER),
    ("gini", {"node_start": lambda array: array + 2 * (np.arange(array.size) == 1)}, PREORDER),
    # questions
    ("gini", {"feature": put(0, N_FEATURES)}, "must ask about features below 4; got 4."),
    ("gini", {"threshold": longer}, "must have threshold for"),
    ("gini", {"threshold": empty}, "must have threshold for"),
    ("subsets", {"categories": shorter}, LISTS),
    ("subsets", {"categories": longer}, LISTS),
    ("subsets", {"n_listed": put(0, 200)}, LISTS),
    ("subsets", {"n_listed": empty}, LISTS),
    ("subsets", {"n_listed": lambda array: np.full(array.size, 2**32 - 1, dtype=np.uint32)}, LISTS),
    ("subsets", {"categories": np.zeros_like}, "must list categories that ascend."),
    ("chains", {"chained": put(slice(None), 255)}, CHAINED),
    ("gini", {"chained": lambda array: np.full(forest_of("gini").default_left.size, 255, dtype=np.uint8)}, CHAINED),
    # leaves
    ("gini", {"n_rows": put(0, 0)}, HEAVY),
    ("poisson", {"weight": put(0, 0.0)}, HEAVY),
    ("poisson", {"weight": put(-1, -1.0)}, HEAVY),
    ("poisson", {"weight": wide(1e308)}, "must have weights whose sum is finite."),
    ("gini", {"output_start": put(0, 1)}, OUTPUTS),
    ("gini", {"output_start": put(-1, 4)}, OUTPUTS),
    ("gini", {"output_start": lambda array: np.array([0, 3, 3])}, OUTPUTS),
    ("gini", {"output_start": lambda array: np.array([0, 5, 3])}, OUTPUTS),
    ("gini", {"output_start": empty}, OUTPUTS),
    ("gini", {"value": lambda array: array[:, :0]}, OUTPUTS),
    ("gini", {"value": lambda array: array[:0]}, "must have codes of values within their table."),
    ("gini", {"value_code": put(0, 255)}, "must have codes of values within their table."),
    ("gini", {"value": lambda array: np.repeat(array, 99, axis=0)}, "must have codes of values within their table."),
    ("gini", {"value_code": empty}, " values; got 3."),
    ("gini", {"value": wide(0.5)}, SHARES),
    ("gini", {"value": lambda array: array.astype(float) * [2.0, 1.0, 1.0]}, SHARES),
    ("gini", {"value": lambda array: array - np.array([0.5, -0.5, 0.0])}, SHARES),
    ("gini", {"value": lambda array: np.full(array.shape, 171, dtype=np.uint8)}, SHARES),  # 3 · 171 = 1 in 8 bits
    ("bounded shares", {"value": wide(0.6)}, SHARES),
    ("squared error, two outputs", {"output_start": lambda array: array[::2]}, "must have one value for each output."),
    ("squared error", {"value": wide(1e300)}, "must have values of size at most 2e+150."),
    ("absolute error", {"value": wide(-1e300)}, "must have values of size at most 2e+150."),
    ("poisson", {"value": wide(-1.0)}, "must have values of at least 0."),
    ("poisson", {"impurity": shorter}, IMPURE),
    ("poisson", {"impurity": wide(-1.0)}, IMPURE),
    ("poisson", {"impurity": wide(0.0)}, IMPURE),
    ("poisson", {"impure": np.zeros_like}, IMPURE),
    ("gini", {"impurity": lambda array: np.ones(1)}, IMPURE),
    ("gini", {"default_left": put(-1, 1)}, "must have nothing but zeros after the last bit of default_left."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "changes", "words"), SPOILED, ids=[f"{k} {[*c]} {w}" for k, c, w in SPOILED])
def test_each_kind_of_wrong_forest_has_its_sentence(kind, changes, words):
    assert words in refused(spoiled(kind, **changes), params=rule_of(forest_of(kind)))


@pytest.mark.parametrize("change", [longer, lambda array: np.append(array, array[:2]), shorter])
@pytest.mark.parametrize("name", [name for name, kept in FOREST_ARRAYS.items() if kept.count])
def test_an_array_of_another_length(name, change):
    kind = next(kind for kind in KINDS if getattr(forest_of(kind), name).size > 1)
    count = FOREST_ARRAYS[name].count
    sentence = refused(spoiled(kind, **{name: change}))
    assert sentence.startswith(f"must have {name} for ")
    assert f" {count}; got " in sentence


def test_an_impurity_that_must_not_be_there():
    assert " 0 impurities; got 1 bytes." in refused(spoiled("gini", impure=lambda array: np.ones(1, dtype=np.uint8)))


@pytest.mark.parametrize("wrong", [None, 3, [], (), {"inner": 1}, "forest", np.zeros(3)])
def test_no_forest(wrong):
    assert refused(wrong, params=CLASSES) == "must be a forest."


def test_a_tree_is_no_forest():
    assert refused(case_of("gini").trees[0], params=CLASSES) == "must be a forest."


def test_classes_are_no_amounts():
    assert refused(forest_of("gini"), params=AMOUNTS) == "must have a criterion among 3, 4, 5; got 0."
    assert refused(forest_of("poisson"), params=CLASSES) == "must have a criterion among 0, 1, 2; got 4."


@pytest.mark.parametrize("kind", ["gini", "squared error", "bounded amounts", "bounded shares", "absolute error"])
def test_another_criterion_or_bounds_where_values_stand_elsewhere(kind):
    """Whether values stand by leaf or by node follows from both."""
    forest = forest_of(kind)
    kept = keeps_inner(int(forest.criterion[0]), bool(forest.bounded[0]))
    if kept:
        other = {"bounded": put(0, False), "criterion": put(0, min(forest.criterion[0], SQUARED_ERROR))}
        assert "must have " in refused(spoiled(kind, **other))
    else:
        assert "must have " in refused(spoiled(kind, bounded=put(0, True)))


def test_columns_that_are_not_there():
    assert refused(forest_of("gini"), n_features=2) == "must ask about features below 2; got 3."
    leaf = pack([cases.single_leaf([0.5, 0.5])], GINI, [0, 2])
    assert refused(leaf, n_features=0) == "must ask about features below 0; got 0."


def test_values_that_are_not_as_many_as_the_classes():
    rules = {"n_features_in_": Size("n_features"), "n": Size("n_values"), "forest_": CLASSES}
    with pytest.raises(InputError, match=r"^Who: forest_ must have 4 values for each leaf; got 3\.$"):
        check_state("Who", rules, {"n_features_in_": 4, "n": 4, "forest_": forest_of("gini")}, frozenset())


def test_too_many_nodes(monkeypatch):
    monkeypatch.setattr(forests, "MOST_TREE_NODES", 5)
    assert refused(forest_of("gini")).endswith(" and 5 in a tree.")


def test_bits_of_the_shape_one_by_one():
    """Whichever bit of a node is turned over, the tree is none."""
    forest = forest_of("chains")
    for node in range(int(forest.node_start[-1])):
        turned = forest.inner.copy()
        turned[node // 8] ^= 128 >> node % 8
        assert refused(forest._replace(inner=turned)) == PREORDER


# ---- categories ---------------------------------------------------------------------------------------------------


def labels(first, second):
    return np.array([first, second, -1, -1])


@pytest.mark.parametrize("kind", ["subsets", "chains"])
def test_known_categories(kind):
    forest = forest_of(kind)
    most = [forest.categories[np.repeat(forest.feature, forest.n_listed) == j].max() + 1 for j in (0, 1)]
    assert forest_lists_known_categories(forest, labels(5, 5))
    assert forest_lists_known_categories(forest, labels(*most))
    assert not forest_lists_known_categories(forest, labels(most[0] - 1, 5))
    assert not forest_lists_known_categories(forest, labels(5, most[1] - 1))
    assert not forest_lists_known_categories(forest, labels(0, 0))
    assert not forest_lists_known_categories(forest, labels(5, -1))
    assert not forest_lists_known_categories(forest, np.array([5, 5, 5, -1]))


def test_no_categories():
    numbers = np.full(4, -1)
    assert forest_lists_known_categories(forest_of("gini"), numbers)
    assert not forest_lists_known_categories(forest_of("gini"), labels(5, 5))
    assert forest_lists_known_categories(pack([cases.single_leaf([1.0])], SQUARED_ERROR, [0, 1]), numbers)


# ---- parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_right_children_are_those_of_the_core(kind):
    inner = np.concatenate([tree.left != LEAF for tree in case_of(kind).trees])
    places = forests.open_places(np.packbits(inner), inner.size)
    assert_array_equal(forests.right_children(places)[inner], packing.right_children(inner)[inner])


def test_a_share_that_is_lost_in_rounding_has_an_impurity_yet():
    """Far weights in a Poisson forest: the mean of both sides is 0, though that of one is not."""
    tree = case_of("poisson").trees[0]
    forest = pack([tree], POISSON, [0, 1])
    weight = np.where(np.arange(forest.n_rows.size) % 2, 1e-300, 1e300)
    value = np.where(np.arange(forest.n_rows.size) % 2, 1e-100, 0.0)[:, None]
    forest = forest._replace(weight=weight, value=value, value_code=np.empty(0, dtype=np.uint8))
    check(forest)
    assert np.isfinite(tree_at(forest, 0).impurity).all()


# ---- accidents ----------------------------------------------------------------------------------------------------


def turned_bit(array, rng):
    data = bytearray(array.tobytes())
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    return np.frombuffer(bytes(data), dtype=array.dtype).reshape(array.shape)


def new_bytes(array, rng):
    data = bytearray(array.tobytes())
    at = rng.integers(len(data))
    data[at : at + 8] = rng.bytes(len(data[at : at + 8]))
    return np.frombuffer(bytes(data), dtype=array.dtype).reshape(array.shape)


def new_entry(array, rng):
    array = array.copy()
    with np.errstate(all="ignore"):
        array.reshape(-1)[rng.integers(array.size)] = np.array(rng.choice([0, 1, 2, 3, 127, 255])).astype(array.dtype)
    return array


def swapped(array, rng):
    i, j = rng.integers(len(array), size=2)
    array = array.copy()
    array[[i, j]] = array[[j, i]]
    return array


def cut(array, rng):
    return np.delete(array, rng.integers(len(array)), axis=0)


def doubled(array, rng):
    at = rng.integers(len(array))
    return np.insert(array, at, array[at], axis=0)


def retyped(array, rng):
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(["uint8", "uint16", "uint32", "int64", "float32", "float64", "bool"]))


def emptied(array, rng):
    return array[:0]


ACCIDENTS = (turned_bit, turned_bit, new_bytes, new_entry, new_entry, swapped, cut, doubled, retyped, emptied)


def with_accidents(forest, rng):
    for _ in range(rng.integers(1, 3)):
        name = rng.choice([name for name in forest._fields if getattr(forest, name).size > 0])
        accident = ACCIDENTS[rng.integers(len(ACCIDENTS))]
        forest = forest._replace(**{name: accident(getattr(forest, name), rng)})
    return forest


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_after_an_accident_a_forest_is_refused_or_walks_as_the_textbook_says(kind):
    rng = np.random.default_rng(sum(map(ord, kind)))
    case = case_of(kind)
    n_labels = np.array([N_CATEGORIES if j in case.categories else -1 for j in range(N_FEATURES)])
    X = np.column_stack([rng.choice(column, size=20) for column in case.X.T])
    n_accepted = 0
    for _ in range(200):
        forest = with_accidents(forest_of(kind), rng)
        problem = ANY.problem(forest, {"n_features": N_FEATURES})
        if problem is not None or not forest_lists_known_categories(forest, n_labels):
            continue
        n_accepted += 1
        predictor, trees = make_predictor(forest), [tree_at(forest, i) for i in range(forest.node_start.size - 1)]
        assert_array_equal(forest_leaves(predictor, X).nodes, naive.leaves(trees, X, case.categories))
        means = forest_means(predictor, X).values
        assert np.isfinite(means).all()
        assert_array_equal(means, naive.means(trees, X, case.categories))
        assert all(np.isfinite(array).all() for tree in trees for array in tree)
        assert ANY.problem(joined(forest, forest), {"n_features": N_FEATURES}) is None
    assert 10 < n_accepted < 190


# ---- time ---------------------------------------------------------------------------------------------------------


def test_a_large_forest_is_checked_in_an_instant():
    X, y = make_classification(8000, 10, n_classes=7, n_informative=8, flip_y=0.5, random_state=0)
    model = RandomForestClassifier(2, random_state=0, n_jobs=2).fit(X, y)
    trees = cases.from_scikit_learn(model) * 50
    forest = pack(trees, GINI, [0, 7])
    begin = time.perf_counter()
    check(forest, n_features=10)
    seconds = time.perf_counter() - begin
    assert seconds < 0.5 * forest.node_start[-1] / 1e6 + 0.2
