"""Ends of all problems together are those of each by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.margin.dual_svm import cheapest_offset, offset
from eigenwood.core.margin.ends import ends_of
from eigenwood.core.margin.one_against_one import amount_problem, class_problems
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.proofs.svm import row_losses


@pytest.mark.parametrize("slack", ["hinge", "squared"])
@pytest.mark.parametrize("kind", ["classes", "amounts"])
def test_they_are_those_of_each(kind, slack):
    rng = np.random.default_rng(3)
    costs, codes = rng.uniform(0.5, 2.0, size=30), np.sort(rng.permutation(np.arange(30) % 3))
    if kind == "classes":
        duals = [problem.dual for problem in class_problems(codes, costs, np.arange(3), slack)]
    else:
        duals = [amount_problem(rng.normal(size=30), costs, slack, 0.1).dual]
    betas, scores = [], []
    for dual in duals:
        low, high = np.maximum(dual.low, -1.0), np.minimum(dual.high, 1.0)
        betas.append(rng.choice([0.0, 0.3, 1.0], size=low.size) * np.where(rng.random(low.size) < 0.5, low, high))
        scores.append(rng.normal(size=low.size))
    converged = np.arange(len(duals)) != 1
    ends = ends_of(duals, betas, scores, converged)
    for number, (dual, beta, Kb) in enumerate(zip(duals, betas, scores, strict=True)):
        assert_allclose(ends.beta[ends.part(number)], beta, atol=1e-15)
        b = (offset if converged[number] else cheapest_offset)(dual, beta, Kb)
        assert ends.offsets[number] == pytest.approx(b)
        primal = 0.5 * beta @ Kb + row_losses(dual, dual.target - Kb - b).sum()
        below = dual.target @ beta - dual.epsilon * np.abs(beta).sum() - 0.5 * (beta @ Kb + dual.ridge @ beta**2)
        assert ends.gaps[number] == pytest.approx(primal - below)
        rise, fall = rise_and_fall(dual.target - Kb - dual.ridge * beta, beta, dual.low, dual.high, dual.epsilon)
        assert ends.violations[number] == max(rise.max() - fall.min(), 0.0)


def test_what_misses_a_bound_by_rounding_is_there_if_the_fit_was_finished():
    """Costs that should add up to the same do so but for their last bits: 0.03 + 0.01 is not 0.02 + 0.02."""
    (problem,) = class_problems(np.array([0, 1]), np.array([0.3, 0.1 + 0.2]), np.arange(2), "hinge")
    beta, scores = np.array([-0.3, 0.3]), np.zeros(2)
    assert ends_of([problem.dual], [beta], [scores], np.array([True])).beta.tolist() == [-0.3, 0.1 + 0.2]
    assert ends_of([problem.dual], [beta], [scores], np.array([False])).beta.tolist() == [-0.3, 0.3]
