"""T11 (the PCA and boosting lecture, Problem 2): four classifiers whose weighted vote is never consistent with the
data.

"Consider the four binary classifiers below. The arrow means that the corresponding classifier classifies every data
point in that direction as +. Prove that there are no weights β₁ … β₄ that make the ensemble Σ β_i h_i consistent with
the data."

The figure is not in the deck's text. So this is a setting of ours: four lines that are parallel to the axes, two of
each kind, and arrows in each of the 16 ways. The data are four corners of a rectangle with + and - crosswise:

           │     │
        -  │     │  +            Each h_i looks at one coordinate, so it says the same on two corners of one side, of
      ─────┼─────┼─────          which one is + and one is -. Under equal shares of the four corners no h_i has an edge:
           │     │
      ─────┼─────┼─────              Σ y f(x)/4 = Σ β_i Σ y h_i(x)/4 = 0        for every β,
        +  │     │  -
           │     │               while consistent would mean y f(x) > 0 at every corner.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood import DecisionTreeClassifier, representable
from tests.naive import representable as naive

CORNERS = np.array([[0, 0], [0, 3], [3, 0], [3, 3]])
CROSSWISE = np.array([1, -1, -1, 1])
LINES = ((0, 1), (0, 2), (1, 1), (1, 2))  # coordinate, where it is cut
ARROWS = list(product((-1, 1), repeat=4))


def votes_of(arrows, points=CORNERS):
    columns = [arrow * np.where(points[:, j] > cut, 1, -1) for arrow, (j, cut) in zip(arrows, LINES, strict=True)]
    return np.column_stack(columns)


@pytest.mark.parametrize("form", ["any", "nonnegative"])
@pytest.mark.parametrize("arrows", ARROWS)
def test_no_weights_are_consistent_wherever_the_arrows_point(arrows, form):
    votes = votes_of(arrows)
    found = representable(votes, CROSSWISE, weights=form)
    assert (found.holds, found.certificate.holds) == (False, True)
    assert found.limit == 0.0 or (form == "nonnegative" and found.limit < 0.0)
    assert naive.representable(votes, CROSSWISE, form == "nonnegative") is None
    assert ((found.counts * CROSSWISE) @ votes <= 0).all()


def test_equal_shares_are_the_proof():
    for arrows in ARROWS:
        assert_array_equal(CROSSWISE @ votes_of(arrows), 0)
    with_constant = np.column_stack([votes_of(ARROWS[-1]), np.ones(4, dtype=int)])
    found = representable(with_constant, CROSSWISE)  # a threshold of the vote does not help either
    assert found.holds is False
    assert_array_equal(found.counts, [1, 1, 1, 1])


def test_more_data_in_the_other_cells_cannot_help():
    grid = np.array(list(product((0, 1.5, 3), repeat=2)))
    corner = [int(np.flatnonzero((grid == point).all(axis=1))[0]) for point in CORNERS]
    for seed in range(5):
        labels = np.random.default_rng(seed).choice([-1, 1], size=9)
        labels[corner] = CROSSWISE
        assert representable(votes_of((1, 1, 1, 1), grid), labels).holds is False


@pytest.mark.parametrize("label", [1, -1])
def test_data_that_are_not_crosswise_are_represented(label):
    """The same four lines, and a vote of them that is + above the diagonal of cells."""
    points = np.array([[0, 1.5], [0, 3], [1.5, 3], [1.5, 0], [3, 0], [3, 1.5]])
    labels = label * np.array([1, 1, 1, -1, -1, -1])
    found = representable(votes_of((-1, -1, 1, 1), points), labels)
    assert found.holds
    assert_array_equal(np.sign(votes_of((-1, -1, 1, 1), points) @ found.weights), labels)
    assert representable(votes_of((-1, -1, 1, 1), points), labels, weights="nonnegative").holds is (label == 1)


def test_one_deeper_tree_is_enough():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(CORNERS, CROSSWISE)
    votes = np.column_stack([votes_of((1, 1, 1, 1)), tree.predict(CORNERS)])
    assert_array_equal(representable(votes, CROSSWISE).weights, [0, 0, 0, 0, 1])
