"""The weakest link first: from which alpha on each question is gone."""

import pytest
from numpy.testing import assert_allclose

from eigenwood.core.tree.criteria import POISSON, regression_loss
from eigenwood.core.tree.prune import collapse_alphas, risks
from eigenwood.core.tree.types import LEAF
from tests.core.tree import cases
from tests.naive import tree as naive


def below(tree, node, gone):
    """Return the nodes that are left from a node on."""
    if tree.left[node] == LEAF or node in gone:
        return [node]
    return [node, *below(tree, tree.left[node], gone), *below(tree, tree.right[node], gone)]


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("seed", range(6))
def test_the_weakest_link_falls_first(seed, criterion):
    tree = cases.fit(cases.table(seed, criterion, n_rows=24, weighted=True), naive.Rules(criterion))
    risk, found, gone, alpha = risks(tree), collapse_alphas(tree), {}, 0.0
    while 0 not in gone and tree.left[0] != LEAF:
        gains = {}
        for node in (i for i in below(tree, 0, gone) if tree.left[i] != LEAF and i not in gone):
            leaves = [i for i in below(tree, node, gone) if tree.left[i] == LEAF or i in gone]
            gains[node] = (risk[node] - risk[leaves].sum()) / (len(leaves) - 1)
        weakest = min(gains, key=gains.get)
        alpha = max(alpha, gains[weakest])
        gone |= {i: alpha for i in below(tree, weakest, gone) if tree.left[i] != LEAF and i not in gone}
    assert_allclose(found[list(gone)], list(gone.values()), rtol=1e-9, atol=1e-12)


def test_nothing_costs_its_mean_by_poisson():
    assert regression_loss(1.5, 0.0, POISSON) == 1.5
