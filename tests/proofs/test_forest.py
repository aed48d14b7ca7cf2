"""What is claimed about the trees of a forest is about all of them, and about the worst one."""

import numpy as np
import pytest

from eigenwood import RandomForestClassifier, RandomForestRegressor, verify
from eigenwood.core.forest.packing import joined, pack, tree_at
from eigenwood.core.tree.structure import with_leaves
from eigenwood.proofs.best_splits import Splits
from eigenwood.proofs.forest import Looked, tree_claims
from eigenwood.proofs.tree import TreeFit

RIGHT = Looked(TreeFit(0, 0.0, 0.0), 0, 0, Splits(4, 0.0, 4, 0))
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = (X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=300) > 0).astype(int)


def test_the_claims_are_about_the_worst_tree():
    wrong = Looked(TreeFit(2, 0.5, 0.25), 3, 1, Splits(4, 0.1, 2, 2))
    claims = {claim.name: claim for claim in tree_claims([RIGHT, wrong, RIGHT], has_signs=True, is_whole=True)}
    values = {name: claim.value for name, claim in claims.items()}
    assert values == {
        "rows": 2, "values": 0.5, "impurity": 0.25, "questions": 3, "order": 1, "best questions": 0.1, "leaves": 2
    }  # fmt: skip
    assert not any(claim.holds for claim in claims.values())
    assert all(claim.holds for claim in tree_claims([RIGHT, RIGHT], has_signs=True, is_whole=True))


def test_what_is_not_claimed():
    names = [claim.name for claim in tree_claims([RIGHT], has_signs=False, is_whole=False)]
    assert names == ["rows", "values", "impurity", "questions", "best questions"]


def stump(tree):
    """Return the tree with one question."""
    return with_leaves(tree, np.isin(np.arange(tree.left.size), [tree.left[0], tree.right[0]]))


def with_trees(model, change):
    """Write the trees of a forest anew, all but the first of them changed."""
    forest, bounded = model.forest_, bool(model.forest_.bounded[0])
    trees = [tree_at(forest, i) if i == 0 else change(tree_at(forest, i)) for i in range(len(model))]
    model.forest_ = joined(*(pack([tree], int(forest.criterion[0]), forest.output_start, bounded) for tree in trees))
    model.derive()
    return model


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_stumps_of_the_same_draws_are_seen(kind):
    model = kind(10, random_state=0).fit(X, Y)
    assert verify(model, X, Y).holds
    found = verify(with_trees(model, stump), X, Y)
    assert not found["leaves"].holds
    assert found["rows"].holds  # nothing else is wrong with them
    assert found["first tree"].holds


@pytest.mark.parametrize("max_features", [1.0, 2])
def test_trees_that_asked_otherwise_are_seen(max_features):
    """A tree of the same rows that looked at other columns: everything about it is right, but its questions."""
    model = RandomForestClassifier(8, max_features=max_features, random_state=0).fit(X, Y)
    other = RandomForestClassifier(8, max_features=1, random_state=1, bootstrap=True).fit(X, Y)
    other.seed_, other.random_state, other.max_features = model.seed_, 0, max_features
    other.max_features_ = model.max_features_
    assert not verify(other, X, Y)["best questions"].holds or not verify(other, X, Y)["rows"].holds
