"""K5, K6 (the kernel lecture and the boosting and SVM lecture): the support vector machine, by hand and against
problems that SciPy solves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from eigenwood import SVC, SVR, KernelPerceptron, Perceptron, PolynomialExpansion, verify
from tests.naive import kernels as naive

HARD = 1e6  # a C at which slack is too dear to be used, where rows can be separated
QUADRATIC = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 2}  # (1 + x·z)²


def mixed(seed=0, n_rows=16, apart=0.7):
    """Two clouds that overlap, with labels -1 and +1."""
    signs = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return np.random.default_rng(seed).normal(size=(n_rows, 2)) + apart * signs[:, None], signs


def separated(seed=0, n_rows=40):
    """Rows on both sides of a line, none nearer to it than 0.3."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=2)
    normal /= np.linalg.norm(normal)
    signs = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    along, away = rng.uniform(-3, 3, size=n_rows), signs * (0.3 + 2 * rng.random(n_rows) ** 2)
    return along[:, None] * [-normal[1], normal[0]] + away[:, None] * normal + 0.5, signs


def parabola(seed, n_rows=200, margin=1.0):
    """Rows on both sides of x₁ = x₂² + 5, none nearer to it (along x₁) than ``margin``."""
    rng = np.random.default_rng(seed)
    x2, signs = rng.uniform(-3, 3, size=n_rows), rng.choice([-1.0, 1.0], size=n_rows)
    return np.column_stack([x2**2 + 5 + signs * (margin + 5 * rng.random(n_rows) ** 2), x2]), signs


def alphas(model, n_rows):
    """Return α of every row: 0 for those that are no support vectors."""
    found = np.zeros(n_rows)
    found[model.support_] = np.abs(model.dual_coef_[0])
    return found


def rbf(X, Z, gamma):
    return naive.gram(X, Z, lambda x, z: np.exp(-gamma * ((x - z) ** 2).sum()))


# --- problems that SciPy solves --------------------------------------------------------------------


def solved(cost, gradient, start, constraints, bounds=None):
    """Return where SciPy's SLSQP finds the least cost."""
    found = minimize(
        cost,
        start,
        jac=gradient,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert found.status in (0, 8), found.message  # 8: rounding lets it gain no more
    return found


def primal_classes(X, y, C, power, half=0.5):
    """Return w, b and the cost of half ‖w‖² + C Σ ξ^power, subject to y (w·x + b) ≥ 1 - ξ and ξ ≥ 0."""
    n, d = X.shape
    rows = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
    found = solved(
        lambda v: half * v[:d] @ v[:d] + C * (v[d + 1 :] ** power).sum(),
        lambda v: np.concatenate([2 * half * v[:d], [0.0], C * power * v[d + 1 :] ** (power - 1)]),
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        [{"type": "ineq", "fun": lambda v: rows @ v - 1.0, "jac": lambda v: rows}],
        [(None, None)] * (d + 1) + [(0.0, None)] * n,
    )
    return found.x[:d], found.x[d], found.fun


def dual_classes(K, y, C):
    """Return α of the dual of the boosting and SVM lecture: Σα - ½ ΣΣ α α y y K, subject to 0 ≤ α ≤ C and Σ α y = 0."""
    Q = np.outer(y, y) * K
    return solved(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        lambda a: Q @ a - 1.0,
        np.full(y.size, 0.1 * C),
        [{"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y}],
        [(0.0, C)] * y.size,
    )


def primal_amounts(X, y, C, epsilon, power):
    """Return w, b and the cost of ½‖w‖² + C Σ (ξ^power + ξ'^power), with y within ε + ξ above and ε + ξ' below."""
    n, d = X.shape
    line = np.hstack([X, np.ones((n, 1))])
    rows = np.vstack([np.hstack([line, np.eye(n), np.zeros((n, n))]), np.hstack([-line, np.zeros((n, n)), np.eye(n)])])
    least = np.concatenate([y, -y]) - epsilon
    found = solved(
        lambda v: 0.5 * v[:d] @ v[:d] + C * (v[d + 1 :] ** power).sum(),
        lambda v: np.concatenate([v[:d], [0.0], C * power * v[d + 1 :] ** (power - 1)]),
        np.concatenate([np.zeros(d), [y.mean()], np.ones(2 * n)]),
        [{"type": "ineq", "fun": lambda v: rows @ v - least, "jac": lambda v: rows}],
        [(None, None)] * (d + 1) + [(0.0, None)] * (2 * n),
    )
    return found.x[:d], found.x[d], found.fun


# --- the hard margin, by hand ------------------------------------------------------------------------

BY_HAND = {
    "two points": ([[0, 0], [2, 2]], [-1, 1], [0.5, 0.5], -1.0, [0.25, 0.25]),
    "a point and a side": (
        [[0, 0], [1, 0], [0, 1], [2, 2]],
        [-1, -1, -1, 1],
        [2 / 3, 2 / 3],
        -5 / 3,
        [0.0, 2 / 9, 2 / 9, 4 / 9],
    ),
    "an upright line": (
        [[-1, 0], [-1, 2], [-4, 1], [1, 1], [3, 0]],
        [-1, -1, -1, 1, 1],
        [1.0, 0.0],
        0.0,
        [0.25, 0.25, 0.0, 0.5, 0.0],
    ),
    "a level line": ([[0, 0], [0, 4], [3, 5]], [-1, 1, 1], [0.0, 0.5], -1.0, [0.125, 0.125, 0.0]),
    "far from the origin": ([[100, 100], [102, 102]], [1, -1], [-0.5, -0.5], 101.0, [0.25, 0.25]),
    "in space": ([[0, 0, 0], [1, 2, 2]], [-1, 1], [2 / 9, 4 / 9, 4 / 9], -1.0, [2 / 9, 2 / 9]),
}


@pytest.mark.parametrize("slack", ["hinge", "squared"])
@pytest.mark.parametrize("name", BY_HAND)
def test_the_hard_margin_by_hand(name, slack):
    """The boosting and SVM lecture: w and b of the widest margin 2/‖w‖ between the nearest points of two convex
    hulls."""
    X, y, w, b, a = (np.array(values, dtype=float) for values in BY_HAND[name])
    model = SVC(kernel="linear", C=HARD, tol=1e-9, slack=slack).fit(X, y)
    assert_allclose(model.coef_[0], w, atol=1e-5)
    assert_allclose(model.intercept_, [b], atol=1e-4)
    assert_allclose(alphas(model, len(y)), a, atol=1e-5)
    assert_allclose(model.certificate_["margin"].value, 2 / np.linalg.norm(w), rtol=1e-5)
    assert_array_equal(np.sort(model.support_), np.flatnonzero(a))


@pytest.mark.parametrize("name", BY_HAND)
def test_the_margin_is_the_distance_of_two_support_vectors_along_w(name):
    """The boosting and SVM lecture: (φ(x⁺) - φ(x⁻))ᵀ w/‖w‖ = 2/‖w‖ for x⁺ and x⁻ on the boundaries of the margin."""
    X, y = (np.array(values, dtype=float) for values in BY_HAND[name][:2])
    model = SVC(kernel="linear", C=HARD, tol=1e-9).fit(X, y)
    w = model.coef_[0]
    on_margin = X[np.sort(model.support_)]
    signs = y[np.sort(model.support_)]
    for above in on_margin[signs > 0]:
        for below in on_margin[signs < 0]:
            assert (above - below) @ w / np.linalg.norm(w) == pytest.approx(2 / np.linalg.norm(w), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_line_leaves_more_room(seed):
    """The boosting and SVM lecture: the perceptron finds any separating hyperplane, the machine the one with the most
    breathing space."""
    X, y = separated(seed)
    machine = SVC(kernel="linear", C=HARD, tol=1e-6).fit(X, y)
    room = (y * machine.decision_function(X)).min() / np.linalg.norm(machine.coef_)
    assert room == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-4)
    for order in range(3):
        perceptron = Perceptron(tol=None, max_iter=5000, random_state=order).fit(X, y)
        assert perceptron.score(X, y) == machine.score(X, y) == 1.0
        nearest = (y * perceptron.decision_function(X)).min() / np.linalg.norm(perceptron.coef_)
        assert 0.0 < nearest < room
    for angle in np.linspace(0.0, np.pi, 181):
        heights = X @ [np.cos(angle), np.sin(angle)]
        gap = max(heights[y > 0].min() - heights[y < 0].max(), heights[y < 0].min() - heights[y > 0].max())
        assert gap / 2 <= room + 1e-4


def test_the_order_of_the_rows_decides_for_the_perceptron_and_not_for_the_machine():
    """The boosting and SVM lecture: *any* hyperplane against *the best* one."""
    X, y = separated(1)
    turned = np.arange(len(y))[::-1]
    perceptrons = [Perceptron(shuffle=False, tol=None, max_iter=5000).fit(X[o], y[o]) for o in (slice(None), turned)]
    machines = [SVC(kernel="linear", C=HARD, tol=1e-6).fit(X[o], y[o]) for o in (slice(None), turned)]
    assert np.abs(np.subtract(*(model.coef_ for model in perceptrons))).max() > 0.01
    assert_allclose(machines[0].coef_, machines[1].coef_, rtol=1e-3, atol=1e-4)


# --- the conditions of the optimum ---------------------------------------------------------------------


@pytest.fixture(params=["linear", "rbf"])
def soft(request):
    """A soft margin with support vectors of both kinds."""
    X, y = mixed(n_rows=40)
    C = 0.8
    model = SVC(kernel=request.param, gamma=0.5, C=C, tol=1e-6).fit(X, y)
    return model, X, y, alphas(model, len(y)), C


def test_alpha_is_within_its_bounds_and_balanced(soft):
    """The kernel lecture and the boosting and SVM lecture: 0 ≤ α ≤ C and Σ α y = 0."""
    _, _, y, alpha, C = soft
    assert alpha.min() >= 0.0
    assert alpha.max() <= C
    assert 0 < np.count_nonzero(alpha == C) < np.count_nonzero(alpha)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)


def test_w_is_the_sum_of_the_support_vectors(soft):
    """The kernel lecture and the boosting and SVM lecture: ∇_w L = 0, so w = Σ α y φ(x); the rows with α = 0 are not
    needed."""
    model, X, y, alpha, _ = soft
    assert_array_equal(np.sign(model.dual_coef_[0]), y[model.support_])
    if model.kernel == "linear":
        assert_allclose(model.coef_[0], (alpha * y) @ X, atol=1e-9)
    kept = alpha > 0.0
    again = SVC(kernel=model.kernel, gamma=0.5, C=0.8, tol=1e-6).fit(X[kept], y[kept])
    assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-4)


def test_rows_are_where_their_alphas_say(soft):
    """The boosting and SVM lecture: α (1 - ξ - y f) = 0 and μ ξ = 0 with μ = C - α, one by one."""
    model, X, y, alpha, C = soft
    yf = y * model.decision_function(X)
    slack, mu = np.maximum(0.0, 1.0 - yf), C - alpha
    assert (yf >= 1.0 - slack - 1e-12).all()
    assert (mu >= 0.0).all()
    assert_allclose(alpha * (1.0 - slack - yf), 0.0, atol=1e-5)
    assert_allclose(mu * slack, 0.0, atol=1e-5)
    assert (yf[alpha == 0.0] >= 1.0 - 1e-5).all()
    assert_allclose(yf[(alpha > 0.0) & (alpha < C)], 1.0, atol=1e-5)
    assert (yf[alpha == C] <= 1.0 + 1e-5).all()


def test_the_offset_follows_from_any_free_support_vector(soft):
    """The kernel lecture: 'offset b also follows': y - Σ α y k(x_i, x) is the same for all α between 0 and C."""
    model, X, y, alpha, C = soft
    K = X @ X.T if model.kernel == "linear" else rbf(X, X, 0.5)
    free = (alpha > 0.0) & (alpha < C)
    offsets = y[free] - K[free] @ (alpha * y)
    assert free.sum() > 1
    assert_allclose(offsets, model.intercept_[0], atol=1e-5)


def test_squared_slack_has_other_conditions():
    """The boosting and SVM lecture, 'optionally C Σξ²': no upper bound; a row is a support vector just when it has
    slack, α = 2Cξ."""
    X, y = mixed(n_rows=40)
    model = SVC(kernel="linear", C=0.8, slack="squared", tol=1e-8).fit(X, y)
    alpha = alphas(model, len(y))
    slack = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    assert_allclose(alpha, 2 * 0.8 * slack, atol=1e-6)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)
    assert alpha.max() > 0.8


# --- strong duality ------------------------------------------------------------------------------------


@pytest.mark.parametrize("slack", ["hinge", "squared"])
def test_the_gap_closes_as_tol_falls(slack):
    """The boosting and SVM lecture: weak duality always; strong duality, so primal - dual → 0."""
    X, y = mixed(n_rows=60)
    K = rbf(X, X, 0.5)
    gaps = []
    for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        model = SVC(gamma=0.5, C=2.0, slack=slack, tol=tol).fit(X, y)
        alpha = alphas(model, len(y))
        beta = alpha * y
        xi = np.maximum(0.0, 1.0 - y * (K @ beta + model.intercept_[0]))
        norm = beta @ K @ beta
        losses, ridge = (xi, 0.0) if slack == "hinge" else (xi**2, 0.25 * alpha @ alpha / 2.0)
        primal, dual = 0.5 * norm + 2.0 * losses.sum(), alpha.sum() - 0.5 * norm - ridge
        assert model.certificate_["primal"].value == pytest.approx(primal, rel=1e-5)
        assert model.certificate_["dual"].value == pytest.approx(dual, rel=1e-5)
        assert dual <= primal + 1e-9
        assert verify(model, X, y).holds
        gaps.append((primal - dual) / primal)
    assert gaps[-1] < 1e-5
    assert gaps[-1] < 0.01 * gaps[0]
    assert all(later <= earlier + 1e-7 for earlier, later in zip(gaps, gaps[1:], strict=False))


def test_a_feasible_alpha_never_promises_too_much():
    """The boosting and SVM lecture: L*(α, μ) is at most the least cost, for any α within the constraints."""
    X, y = mixed(n_rows=20)
    K, C = X @ X.T, 1.5
    least = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y).certificate_["primal"].value
    rng = np.random.default_rng(0)
    for _ in range(100):
        alpha = C * rng.random(20)
        for sign in (-1.0, 1.0):
            alpha[y == sign] *= min(1.0, alpha[y == -sign].sum() / alpha[y == sign].sum())
        assert alpha @ y == pytest.approx(0.0, abs=1e-9)
        assert alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y) <= least + 1e-9


def test_a_larger_c_buys_less_slack_for_a_smaller_margin():
    """The boosting and SVM lecture: C is the trade-off between Σξ and 2/‖w‖."""
    X, y = mixed(n_rows=60)
    margins, slacks = [], []
    for C in (0.01, 0.1, 1.0, 10.0, 100.0):
        model = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
        margins.append(2 / np.linalg.norm(model.coef_))
        slacks.append(np.maximum(0.0, 1.0 - y * model.decision_function(X)).sum())
    for falling in (margins, slacks):
        assert (np.diff(falling) <= 1e-5).all()
        assert falling[-1] < 0.9 * falling[0]


# --- against SciPy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("slack", "power"), [("hinge", 1), ("squared", 2)])
def test_the_primal_that_scipy_solves(slack, power, C):
    """The boosting and SVM lecture: ½‖w‖² + C Σξ, or C Σξ², as a quadratic programme in w, b and ξ."""
    X, y = mixed()
    w, b, cost = primal_classes(X, y, C, power)
    model = SVC(kernel="linear", C=C, slack=slack, tol=1e-8).fit(X, y)
    assert_allclose(model.coef_[0], w, rtol=1e-4, atol=1e-5)
    assert_allclose(model.intercept_[0], b, rtol=1e-4, atol=1e-5)
    assert model.certificate_["primal"].value == pytest.approx(cost, rel=1e-7)
    assert model.certificate_["dual"].value == pytest.approx(cost, rel=1e-7)


def test_deck_c_writes_the_norm_without_a_half():
    """The kernel lecture: ‖w‖² + C Σξ is twice ½‖w‖² + (C/2) Σξ: the same w and b at half of C."""
    X, y = mixed()
    w, b, cost = primal_classes(X, y, 3.0, 1, half=1.0)
    model = SVC(kernel="linear", C=1.5, tol=1e-8).fit(X, y)
    assert_allclose(np.append(model.coef_[0], model.intercept_), np.append(w, b), rtol=1e-4, atol=1e-5)
    assert 2 * model.certificate_["primal"].value == pytest.approx(cost, rel=1e-7)


@pytest.mark.parametrize("slack", ["hinge", "squared"])
def test_the_dual_that_scipy_solves(slack):
    """The kernel lecture and the boosting and SVM lecture: the dual with a kernel; with ξ², K + I/(2C) takes the
    place of K and nothing bounds α."""
    X, y = mixed(n_rows=24)
    C, K = 2.0, rbf(X, X, 0.7)
    found = dual_classes(K, y, C) if slack == "hinge" else dual_classes(K + np.eye(24) / (2 * C), y, 1e3)
    model = SVC(gamma=0.7, C=C, slack=slack, tol=1e-7).fit(X, y)
    assert model.certificate_["dual"].value == pytest.approx(-found.fun, rel=1e-6)
    assert_allclose(alphas(model, 24), found.x, atol=1e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.6])
@pytest.mark.parametrize(("slack", "power"), [("hinge", 1), ("squared", 2)])
def test_support_vector_regression_as_scipy_solves_it(slack, power, epsilon):
    """The boosting and SVM lecture names it among the losses with the same form: the tube of width 2ε, as a quadratic
    programme."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(14, 2))
    y = X @ [1.0, -2.0] + 3.0 + 0.4 * rng.normal(size=14)
    w, b, cost = primal_amounts(X, y, 1.5, epsilon, power)
    model = SVR(kernel="linear", C=1.5, epsilon=epsilon, slack=slack, tol=1e-8).fit(X, y)
    assert model.certificate_["primal"].value == pytest.approx(cost, rel=1e-6)
    assert_allclose(model.coef_[0], w, rtol=1e-3, atol=1e-4)
    if power == 2 or epsilon > 0.0:
        assert_allclose(model.intercept_[0], b, atol=1e-3)


def test_the_tube_costs_nothing():
    """The boosting and SVM lecture: rows within ε have β = 0, those on the tube |β| < C, those outside |β| = C; Σβ =
    0."""
    x = np.linspace(0, 6, 60)[:, None]
    y = np.sin(x[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=60)
    model = SVR(gamma=1.0, C=1.0, epsilon=0.2, tol=1e-6).fit(x, y)
    beta = np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    errors = y - model.predict(x)
    assert beta.sum() == pytest.approx(0.0, abs=1e-12)
    assert (np.abs(errors[beta == 0.0]) <= 0.2 + 1e-5).all()
    assert_allclose(np.abs(errors[(beta != 0.0) & (np.abs(beta) < 1.0)]), 0.2, atol=1e-5)
    assert (np.abs(errors[np.abs(beta) == 1.0]) >= 0.2 - 1e-5).all()
    assert_array_equal(np.sign(beta[beta != 0.0]), np.sign(errors[beta != 0.0]))


# --- kernels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [QUADRATIC, {"kernel": "rbf", "gamma": 1.0}], ids=["quadratic", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_kernel_perceptron_against_kernel_svm(kernel, seed):
    """The kernel lecture: both separate; the margin of the machine is larger, in the space of the kernel."""
    rng = np.random.default_rng(seed)
    radius = np.where(np.arange(40) % 2, rng.uniform(2, 3, 40), rng.uniform(0, 1, 40))
    angle = rng.uniform(0, 2 * np.pi, 40)
    X, y = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.where(radius > 1.5, 1.0, -1.0)
    perceptron = KernelPerceptron(**kernel, max_iter=2000).fit(X, y)
    machine = SVC(**kernel, C=HARD, tol=1e-5).fit(X, y)
    margins = []
    for model in (perceptron, machine):
        assert model.score(X, y) == 1.0
        f = model.decision_function(X)
        norm = np.sqrt(model.dual_coef_[0] @ (f[model.support_] - model.intercept_[0]))
        margins.append(2 * (y * f).min() / norm)
    assert 0.0 < margins[0] < margins[1]
    assert margins[1] == pytest.approx(machine.certificate_["margin"].value, rel=1e-3)


def test_the_quadratic_kernel_is_the_linear_one_after_expansion():
    """The kernel lecture: the machine needs only Φ(x)·Φ(z) = (1 + x·z)²; Φ is never written down."""
    X, y = parabola(0, n_rows=60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    phi = PolynomialExpansion().fit(X)
    explicit = SVC(kernel="linear", C=5.0, tol=1e-6).fit(phi.transform(X), y)
    implicit = SVC(**QUADRATIC, C=5.0, tol=1e-6).fit(X, y)
    fresh = np.random.default_rng(1).normal(size=(200, 2))
    expected = explicit.decision_function(phi.transform(fresh))
    assert_allclose(implicit.decision_function(fresh), expected, rtol=1e-3, atol=1e-3)
    assert implicit.certificate_["dual"].value == pytest.approx(explicit.certificate_["dual"].value, rel=1e-6)


@pytest.mark.parametrize("form", ["expansion", "kernel"])
def test_it_finds_the_parabola(form):
    """The kernel lecture: the actual boundary is x₁ = x₂² + 5; the surface of the machine stays near its middle
    line."""
    X, y = parabola(0)
    middle, scale = X.mean(axis=0), X.std(axis=0)
    phi = PolynomialExpansion().fit(X)
    machine = SVC(C=HARD, **(QUADRATIC if form == "kernel" else {"kernel": "linear"}))

    def seen(rows):
        rows = (rows - middle) / scale
        return rows if form == "kernel" else phi.transform(rows)

    machine.fit(seen(X), y)
    assert machine.score(seen(X), y) == 1.0
    assert verify(machine, seen(X), y).holds
    line = np.linspace(0.0, 20.0, 4001)
    for x2 in np.linspace(-2.5, 2.5, 11):
        scores = machine.decision_function(seen(np.column_stack([line, np.full(line.size, x2)])))
        crossings = line[np.flatnonzero(np.diff(np.sign(scores)))]
        assert len(crossings) == 1
        assert abs(crossings[0] - (x2**2 + 5)) < 0.5  # the empty band is 2 wide
    fresh, sides = parabola(1, n_rows=1000)
    assert machine.score(seen(fresh), sides) >= 0.995


# --- the representer theorem -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_f_is_a_sum_over_support_vectors(name):
    """The boosting and SVM lecture: f(x) = Σ α y k(x_i, x) + b, whatever the kernel; for the linear one it is w·x +
    b."""
    X, y = mixed(n_rows=40)
    model = SVC(kernel=name, gamma=0.5, coef0=1.0, degree=2).fit(X, y)
    k = {
        "linear": lambda x, z: x @ z,
        "rbf": lambda x, z: np.exp(-0.5 * ((x - z) ** 2).sum()),
        "poly": lambda x, z: (0.5 * (x @ z) + 1.0) ** 2,
    }[name]
    new = np.random.default_rng(1).normal(size=(10, 2))
    vectors = X[model.support_]
    by_hand = [sum(c * k(v, x) for c, v in zip(model.dual_coef_[0], vectors, strict=True)) for x in new]
    assert_allclose(model.decision_function(new), np.array(by_hand) + model.intercept_[0], rtol=1e-6, atol=1e-6)
    assert 0 < len(vectors) < len(y)
    if name == "linear":
        assert_allclose(model.decision_function(new), new @ model.coef_[0] + model.intercept_[0], atol=1e-10)


@pytest.mark.parametrize("machine", [SVC, SVR])
def test_what_is_at_right_angles_to_the_rows_only_costs(machine):
    """The boosting and SVM lecture: w = Σ β φ(x_i) + v with v ⟂ all φ(x_i) says the same of every row and has a
    larger norm."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 10))  # fewer rows than features
    y = np.where(np.arange(6) % 2, 1.0, -1.0)
    w = machine(kernel="linear", C=1.0, tol=1e-6).fit(X, y).coef_[0]
    rest = np.linalg.svd(X)[2][6:]
    assert_allclose(rest @ w, 0.0, atol=1e-9)
    beside = w + rng.normal(size=4) @ rest
    assert_allclose(X @ beside, X @ w, atol=1e-9)
    assert np.linalg.norm(beside) > np.linalg.norm(w)
