"""What is claimed about a support vector machine: true of any feasible point, and broken by a lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from eigenwood.core.kernels.plain import GivenRows
from eigenwood.core.margin.dual_svm import Dual, DualRule, dual_svm_steps, feasible, offset
from eigenwood.proofs.svm import gap_bound, row_losses, svm_certificate, svm_facts
from tests.naive import kernels as naive_kernels
from tests.naive import svm as naive

KINDS = ["classes", "squared classes", "amounts", "squared amounts"]
EPSILON, TOL = 0.2, 1e-6


def drawn(seed, kind, n_rows=12, indefinite=False):
    """A dual problem and its K, and a C for each row."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n_rows, 2)), rng.choice([-1.0, 1.0], size=n_rows)
    signs[:2] = 1.0, -1.0
    costs, squared = rng.uniform(0.3, 4.0, size=n_rows), kind.startswith("squared")
    most, ridge = (np.full(n_rows, np.inf), 0.5 / costs) if squared else (costs, np.zeros(n_rows))
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.rbf(x, z, 0.7)) - (0.9 if indefinite else 0.0)
    if "amounts" in kind:
        return Dual(rng.normal(size=n_rows), -most, most, ridge, EPSILON), K, costs
    return Dual(signs, np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0), ridge), K, costs


def textbook(dual, K, costs, kind):
    squared = kind.startswith("squared")
    if "amounts" in kind:
        return naive.fit_amounts(K, dual.target, costs, EPSILON, squared)
    return naive.fit_classes(K, dual.target, costs, squared)


def fitted(dual, K, max_steps=10**6):
    *_, step = dual_svm_steps(GivenRows(K), dual, DualRule(TOL, max_steps, most_members=4))
    return step.beta


def facts_of(dual, K, beta, intercept=None, rounding=0.0, mass=None):
    """The numbers, with scores from K as a verifier has them."""
    scores = K @ beta
    intercept = offset(dual, beta, scores) if intercept is None else intercept
    mass = np.ones(beta.size) if mass is None else mass
    return svm_facts(dual, beta, scores, intercept, mass, "", rounding, TOL)


def certificate_of(dual, K, beta, converged=True, **how):
    return svm_certificate([facts_of(dual, K, beta, **how)], TOL, converged)


def broken(certificate):
    return {claim.name for claim in certificate if not claim.holds}


# ---- numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_those_of_the_textbook(seed, kind):
    dual, K, costs = drawn(seed, kind)
    expected = textbook(dual, K, costs, kind)
    facts = facts_of(dual, K, fitted(dual, K))
    assert facts.primal == pytest.approx(expected.primal, rel=1e-4)
    assert facts.dual == pytest.approx(expected.dual, rel=1e-6)
    assert facts.squared_norm == pytest.approx(expected.beta @ K @ expected.beta, rel=1e-3)
    assert facts.violation <= TOL
    same = facts_of(dual, K, expected.beta, expected.b)
    assert same.primal == pytest.approx(expected.primal, rel=1e-12)
    assert same.dual == pytest.approx(expected.dual, rel=1e-12)
    assert same.violation <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_costs_what_it_must(kind):
    dual, _, costs = drawn(3, kind)
    f = np.random.default_rng(3).normal(size=12)
    slack = (
        np.maximum(np.abs(dual.target - f) - EPSILON, 0.0) if "amounts" in kind else np.maximum(1 - dual.target * f, 0)
    )
    expected = costs * slack ** (2 if kind.startswith("squared") else 1)
    assert_allclose(row_losses(dual, dual.target - f), expected, atol=1e-12)


def test_support_is_counted_and_bounds_the_error_of_rows_left_out():
    dual, K, _ = drawn(4, "classes")
    beta, mass = fitted(dual, K), np.arange(1.0, 13.0)
    at_bound = (np.abs(beta) == np.maximum(dual.high, -dual.low)).sum()
    facts = facts_of(dual, K, beta, mass=mass)
    assert 0 < at_bound < np.count_nonzero(beta) <= 12
    assert (facts.n_bound, facts.n_free) == (at_bound, np.count_nonzero(beta) - at_bound)
    assert facts.left_out_bound == pytest.approx(mass[beta != 0.0].sum() / mass.sum())


@pytest.mark.parametrize("seed", range(4))
def test_rows_left_out_are_wrong_no_more_often_than_claimed(seed):
    dual, K, costs = drawn(seed, "classes", n_rows=10)
    n_wrong = 0
    for i in range(2, 10):
        rest = np.delete(np.arange(10), i)
        one = naive.fit_classes(K[np.ix_(rest, rest)], dual.target[rest], costs[rest])
        n_wrong += dual.target[i] * (K[i, rest] @ one.beta + one.b) <= 0.0
    assert n_wrong / 10 <= facts_of(dual, K, fitted(dual, K)).left_out_bound


# ---- what follows for the gap ------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    size=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    shift=st.sampled_from([0.0, 0.01, -0.5, 3.0]),
    indefinite=st.booleans(),
)
def test_the_gap_is_bounded_for_any_feasible_point_and_any_offset(seed, kind, size, shift, indefinite):
    dual, K, _ = drawn(seed, kind, indefinite=indefinite)
    rng = np.random.default_rng(seed)
    beta = feasible(dual, size * rng.normal(size=12) * (rng.random(12) < 0.7))
    facts = facts_of(dual, K, beta, offset(dual, beta, K @ beta) + shift)
    gap, rounding = facts.primal - facts.dual, 1e-9 * max(1.0, abs(facts.primal))
    assert -rounding <= gap <= facts.gap_bound + rounding
    assert facts.offset_off <= abs(shift) + 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_steps", [1, 3, 8, 10**6])
def test_all_claims_hold_wherever_the_solver_stands(max_steps, kind):
    for seed in range(4):
        dual, K, _ = drawn(seed, kind)
        facts = facts_of(dual, K, fitted(dual, K, max_steps))
        assert facts.offset_off <= 1e-12
        holds = svm_certificate([facts], TOL, converged=max_steps > 8).holds
        assert holds is (True if max_steps > 8 else None)


def test_the_bound_of_the_gap_can_be_reached():
    # one row of each label, nothing done yet: each costs C · 1, and a rise brings 2 more than a fall costs
    dual = Dual(np.array([1.0, -1.0]), np.array([0.0, -3.0]), np.array([3.0, 0.0]), np.zeros(2))
    facts = facts_of(dual, np.eye(2), np.zeros(2), intercept=1.0)
    assert (facts.primal, facts.dual, facts.violation, facts.offset_off) == (6.0, 0.0, 2.0, 0.0)
    assert facts.gap_bound == gap_bound(dual, 2.0) == 12.0
    squared = Dual(dual.target, np.array([0.0, -np.inf]), np.array([np.inf, 0.0]), np.full(2, 0.5 / 3.0))
    facts = facts_of(squared, np.eye(2), np.zeros(2), intercept=1.0)
    assert facts.primal == pytest.approx(12.0)
    assert facts.gap_bound == pytest.approx(24.0)


def test_a_kernel_that_is_none_of_mercers_has_claims_that_hold():
    dual, K, _ = drawn(5, "classes", indefinite=True)
    beta = fitted(dual, K)
    assert np.linalg.eigvalsh(K).min() < 0.0
    assert certificate_of(dual, K, beta).holds


# ---- lies --------------------------------------------------------------------------------------------------------


def test_the_claims_of_a_fit():
    dual, K, _ = drawn(6, "classes")
    certificate = certificate_of(dual, K, fitted(dual, K))
    assert certificate.holds
    assert [claim.name for claim in certificate] == [
        "primal",
        "dual",
        "gap",
        "duality",
        "constant",
        "KKT violation",
        "offset",
        "middle",
        "balance",
        "bounds",
        "margin",
        "support at bound",
        "support free",
        "left out",
    ]
    facts = facts_of(dual, K, fitted(dual, K))
    assert certificate["gap"].value == facts.primal - facts.dual
    assert certificate["margin"].value == pytest.approx(2.0 / np.sqrt(facts.squared_norm))
    assert certificate["KKT violation"].bound == pytest.approx(TOL, rel=1e-3)


def test_amounts_have_no_margin_and_no_error_of_rows_left_out():
    dual, K, _ = drawn(6, "amounts")
    names = [claim.name for claim in certificate_of(dual, K, fitted(dual, K))]
    assert "margin" not in names
    assert "left out" not in names


def test_every_problem_has_its_claims():
    dual, K, _ = drawn(6, "classes")
    facts = facts_of(dual, K, fitted(dual, K))
    certificate = svm_certificate([facts._replace(label=" [a or b]"), facts._replace(label=" [a or c]")], TOL, True)
    assert certificate["gap [a or b]"] != certificate["gap [a or c]"]
    assert len(certificate) == 28


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("off", [1e-4, -1e-4, 0.3, -5.0, np.nan])
def test_another_offset_is_caught(kind, off):
    dual, K, _ = drawn(7, kind)
    beta = fitted(dual, K)
    right = offset(dual, beta, K @ beta)
    assert certificate_of(dual, K, beta, intercept=right).holds
    assert "offset" in broken(certificate_of(dual, K, beta, intercept=right + off))


def test_rounding_excuses_an_offset_within_it_only():
    dual, K, _ = drawn(7, "classes")
    beta = fitted(dual, K)
    off = offset(dual, beta, K @ beta) + 1e-4
    assert certificate_of(dual, K, beta, intercept=off, rounding=2e-4).holds
    assert not certificate_of(dual, K, beta, intercept=off, rounding=0.5e-4).holds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [0.999, 1.001, 0.0, -1.0, np.nan])
def test_other_coefficients_are_caught(kind, factor):
    dual, K, _ = drawn(8, kind)
    beta = fitted(dual, K)
    intercept = offset(dual, beta, K @ beta)
    assert certificate_of(dual, K, beta, intercept=intercept).holds
    assert "KKT violation" in broken(certificate_of(dual, K, factor * beta, intercept=intercept))


@pytest.mark.parametrize("kind", KINDS)
def test_a_support_vector_that_is_missing_is_caught(kind):
    dual, K, _ = drawn(9, kind)
    beta = fitted(dual, K)
    for i in np.flatnonzero(beta):
        less = beta.copy()
        less[i] = 0.0
        assert {"balance", "KKT violation"} <= broken(certificate_of(dual, K, less))


@pytest.mark.parametrize("kind", ["classes", "amounts"])
def test_a_coefficient_out_of_its_bounds_is_caught(kind):
    dual, K, _ = drawn(10, kind)
    beta = fitted(dual, K)
    up, down = int(np.argmax(beta)), int(np.argmin(beta))
    beta[up], beta[down] = dual.high[up] + 0.01, beta[down] - (dual.high[up] + 0.01 - beta[up])
    assert "bounds" in broken(certificate_of(dual, K, beta))
    assert "bounds" in broken(certificate_of(dual, K, beta, converged=False))


@pytest.mark.parametrize("kind", KINDS)
def test_other_rows_do_not_verify_the_coefficients(kind):
    dual, K, _ = drawn(11, kind)
    order = np.random.default_rng(0).permutation(12)
    beta = fitted(dual, K)
    assert not certificate_of(dual, K[np.ix_(order, order)], beta, intercept=offset(dual, beta, K @ beta)).holds


def test_a_fit_that_was_stopped_claims_no_violation():
    dual, K, _ = drawn(12, "classes")
    beta = fitted(dual, K, max_steps=2)
    assert certificate_of(dual, K, beta, converged=False)["KKT violation"].bound is None
    assert broken(certificate_of(dual, K, beta, converged=True)) <= {"KKT violation", "constant"}


@pytest.mark.parametrize(
    ("lie", "claim"),
    [
        ({"primal": 1e6}, "gap"),
        ({"primal": -1e6}, "duality"),
        ({"dual": 1e6}, "duality"),
        ({"violation": 2e-6}, "KKT violation"),
        ({"offset_off": 1e-6}, "offset"),
        ({"balance": 1e-8}, "balance"),
        ({"out_of_bounds": 1e-8}, "bounds"),
        ({"gap_bound": float("nan")}, "gap"),
    ],
    ids=str,
)
def test_a_false_fact_breaks_its_claim(lie, claim):
    dual, K, _ = drawn(13, "classes")
    facts = facts_of(dual, K, fitted(dual, K))
    assert claim in broken(svm_certificate([facts._replace(**lie)], TOL, True))
