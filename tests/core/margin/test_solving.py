"""All problems of a fit, from their first coefficients to their last steps."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.kernels.functions import RBF, Kernel
from eigenwood.core.margin.dual_problems import WeightedRows, dual_problems_of_classes, initial_coefficients
from eigenwood.core.margin.dual_svm import DualRule
from eigenwood.core.margin.kernel_sources import Resources, kernel_sources
from eigenwood.core.margin.solving import solver_steps, unmeasured, with_small_steps

CODES = np.arange(60) % 4
X = np.random.default_rng(0).normal(size=(60, 2)) + np.c_[CODES, CODES % 2]
RULE = DualRule(1e-4, 10**6)


def problems():
    rows = WeightedRows(X, np.ones(60), np.arange(60))
    duals = dual_problems_of_classes(rows, np.arange(4), CODES, np.ones(4), "hinge", False)
    return duals, kernel_sources(duals.X, Kernel(RBF, 0.5), duals.deduplicated, Resources(1e9, 1))


def test_nothing_moves_until_all_values_within_classes_are_written():
    duals, sources = problems()
    betas = initial_coefficients(duals, None)
    first, *_, last = solver_steps(sources, duals, RULE, betas, 1)
    assert not first.whole
    assert not any(step.beta.any() for step in first.steps)
    assert last.last
    assert all(step.converged for step in last.steps)
    for step, problem in zip(last.steps, duals.deduplicated, strict=True):
        assert_allclose(step.beta.sum(), 0.0, atol=1e-9)
        assert (step.beta >= problem.dual.low).all()
        assert (step.beta <= problem.dual.high).all()


def test_scores_of_a_problem_that_was_not_begun_are_known_only_at_0():
    at_zero, elsewhere = unmeasured(np.zeros(3)), unmeasured(np.array([1.0, -1.0, 0.0]))
    assert (at_zero.due, at_zero.shrunk.any()) == (0, False)
    assert (elsewhere.due, elsewhere.shrunk.all()) == (3, True)


def test_a_problem_without_a_round_gets_a_small_one():
    duals, sources = problems()
    steps = solver_steps(sources, duals, RULE, initial_coefficients(duals, None), 1)
    begun = next(steps)
    steps.close()
    model = with_small_steps(begun, sources.rows, duals, RULE, 1)
    assert all(step.beta.any() for step in model.steps)
    again = with_small_steps(model, sources.rows, duals, RULE, 1)
    for one, other in zip(model.steps, again.steps, strict=True):
        assert_array_equal(one.beta, other.beta)  # who has had a round keeps what it found
