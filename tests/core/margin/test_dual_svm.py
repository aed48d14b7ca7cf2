"""Support vector machines in their dual form: equal to the textbook, and what holds after every round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from eigenwood.core.kernels.functions import LAPLACIAN, LINEAR, POLYNOMIAL, RBF_LESS_ONE, SIGMOID, Kernel
from eigenwood.core.kernels.plain import GivenRows, LinearRows
from eigenwood.core.kernels.row_cache import KernelRowCache, Part, kernel_table
from eigenwood.core.margin import dual_svm
from eigenwood.core.margin.dual_svm import (
    Dual,
    DualRule,
    cheapest_offset,
    dual_svm_steps,
    feasible,
    limits,
    offset,
)
from eigenwood.core.margin.working_set import rise_and_fall
from eigenwood.proofs.svm import row_losses
from tests.naive import kernels as naive_kernels
from tests.naive import svm as naive

GAUSSIAN = Kernel(RBF_LESS_ONE, 0.5)
ENOUGH = 10**6  # moves


def class_dual(signs, costs, squared=False):
    most = np.full(signs.size, np.inf) if squared else costs
    ridge = 0.5 / costs if squared else np.zeros(signs.size)
    return Dual(signs, np.where(signs > 0, 0.0, -most), np.where(signs > 0, most, 0.0), ridge)


def amount_dual(amounts, costs, epsilon, squared=False):
    most = np.full(amounts.size, np.inf) if squared else costs
    return Dual(amounts, -most, most, 0.5 / costs if squared else np.zeros(amounts.size), epsilon)


def drawn(seed, n_rows=12):
    """Rows, labels by chance (of both kinds), amounts, and a C for each row."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n_rows, 2)), rng.choice([-1.0, 1.0], size=n_rows)
    signs[:2] = 1.0, -1.0
    return X, signs, rng.normal(size=n_rows), rng.uniform(0.3, 4.0, size=n_rows)


def gaussian_gram(X, gamma=0.5):
    return naive_kernels.gram(X, X, lambda x, z: naive_kernels.rbf(x, z, gamma))


def cached(X, kernel=GAUSSIAN, max_bytes=1e9, n_threads=1):
    return KernelRowCache(kernel_table(X, kernel), (Part(0, X.shape[0]),), max_bytes, n_threads)


def steps_of(rows, dual, tol=1e-3, max_steps=ENOUGH, start=None, **rule):
    steps = [step for step in dual_svm_steps(rows, dual, DualRule(tol, max_steps, **rule), start) if step.whole]
    assert [step.last for step in steps] == [False] * (len(steps) - 1) + [True]
    return steps


def solved(rows, dual, **how):
    return steps_of(rows, dual, **how)[-1]


def dual_of(dual, K, beta):
    return dual.target @ beta - dual.epsilon * np.abs(beta).sum() - 0.5 * beta @ (K @ beta + dual.ridge * beta)


def violation_of(dual, K, beta):
    errors = dual.target - K @ beta - dual.ridge * beta
    rise, fall = rise_and_fall(errors, beta, dual.low, dual.high, dual.epsilon)
    return rise.max() - fall.min()


def assert_solves(dual, K, step, tol):
    """The step is feasible, finished, and by its own K and β the conditions hold."""
    assert step.converged
    assert not step.shrunk.any()
    assert (dual.low <= step.beta).all()
    assert (step.beta <= dual.high).all()
    assert abs(step.beta.sum()) <= 1e-12 * max(np.abs(step.beta).sum(), 1.0)
    assert violation_of(dual, K, step.beta) <= tol
    assert step.violation <= tol


# ---- equal to the textbook, and to SciPy -------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("most_members", [2, 3, 4, 5, 1536])
@pytest.mark.parametrize("seed", range(3))
def test_classes_equal_the_textbook(seed, most_members, squared):
    X, signs, _, costs = drawn(seed)
    K, dual = gaussian_gram(X), class_dual(signs, costs, squared)
    expected = naive.fit_classes(K, signs, costs, squared)
    ours = solved(GivenRows(K), dual, tol=1e-8, most_members=most_members)
    assert_solves(dual, K, ours, 1.01e-8)
    assert_allclose(ours.beta, expected.beta, atol=1e-6)
    assert_allclose(ours.scores, K @ ours.beta, atol=1e-12)
    assert dual_of(dual, K, ours.beta) == pytest.approx(expected.dual, abs=1e-7)
    assert expected.primal == pytest.approx(expected.dual, abs=1e-7)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_amounts_equal_the_textbook(seed, epsilon, squared):
    X, _, amounts, costs = drawn(seed)
    K, dual = gaussian_gram(X), amount_dual(amounts, costs, epsilon, squared)
    expected = naive.fit_amounts(K, amounts, costs, epsilon, squared)
    ours = solved(GivenRows(K), dual, tol=1e-8, most_members=5)
    assert_solves(dual, K, ours, 1.01e-8)
    assert_allclose(ours.beta, expected.beta, atol=1e-6)
    assert dual_of(dual, K, ours.beta) == pytest.approx(expected.dual, abs=1e-7)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_no_model_costs_less_than_the_dual(seed, squared):
    X, signs, amounts, costs = drawn(seed, n_rows=10)
    K = gaussian_gram(X)
    classes, tube = class_dual(signs, costs, squared), amount_dual(amounts, costs, 0.2, squared)
    least = naive.least_cost_of_classes(K, signs, costs, squared)
    assert dual_of(classes, K, solved(GivenRows(K), classes, tol=1e-8).beta) == pytest.approx(least, rel=1e-6)
    least = naive.least_cost_of_amounts(K, amounts, costs, 0.2, squared)
    assert dual_of(tube, K, solved(GivenRows(K), tube, tol=1e-8).beta) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_offset_is_where_the_primal_is_lowest(seed, squared):
    X, signs, amounts, costs = drawn(seed)
    K = gaussian_gram(X)
    for dual, expected in (
        (class_dual(signs, costs, squared), naive.fit_classes(K, signs, costs, squared)),
        (amount_dual(amounts, costs, 0.1, squared), naive.fit_amounts(K, amounts, costs, 0.1, squared)),
    ):
        ours = solved(GivenRows(K), dual, tol=1e-9)
        assert offset(dual, ours.beta, ours.scores) == pytest.approx(expected.b, abs=1e-4)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["classes", "squared classes", "amounts", "squared amounts"]),
    n_rounds=st.integers(0, 6),
)
def test_no_other_offset_costs_less(seed, kind, n_rounds):
    """Also far from the solution; and it is where the conditions have it."""
    X, signs, amounts, costs = drawn(seed, n_rows=16)
    squared = kind.startswith("squared")
    dual = class_dual(signs, costs, squared) if "classes" in kind else amount_dual(amounts, costs, 0.1, squared)
    steps = steps_of(GivenRows(gaussian_gram(X)), dual, max_steps=2 * n_rounds, most_members=4)
    beta, scores = steps[-1].beta, steps[-1].scores
    b = cheapest_offset(dual, beta, scores)
    rise, fall = rise_and_fall(dual.target - scores - dual.ridge * beta, beta, dual.low, dual.high, dual.epsilon)
    assert min(rise.max(), fall.min()) <= b <= max(rise.max(), fall.min())

    def cost(offset):
        return row_losses(dual, dual.target - scores - offset).sum()

    for other in np.linspace(-5.0, 5.0, 401):
        assert cost(b) <= cost(other) * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rows_far_on_their_side_do_not_move_the_offset(seed, squared):
    _, signs, _, costs = drawn(seed, n_rows=16)
    scores = 3.0 * np.random.default_rng(seed).normal(size=16)
    dual = class_dual(signs, costs, squared)
    b = cheapest_offset(dual, np.zeros(16), scores)
    found, *others = (row_losses(dual, dual.target - scores - at).sum() for at in (b, *np.linspace(-5.0, 5.0, 401)))
    assert found <= min(others) * (1.0 + 1e-9)


def test_at_the_solution_both_offsets_are_the_same():
    X, signs, amounts, costs = drawn(3, n_rows=30)
    K = gaussian_gram(X)
    for dual in (class_dual(signs, costs), class_dual(signs, costs, True), amount_dual(amounts, costs, 0.1)):
        ours = solved(GivenRows(K), dual, tol=1e-9)
        found = cheapest_offset(dual, ours.beta, ours.scores)
        assert found == pytest.approx(offset(dual, ours.beta, ours.scores), abs=1e-6)


def test_without_a_variable_between_its_bounds_the_offset_is_in_the_middle():
    K, signs = np.zeros((3, 3)), np.array([1.0, -1.0, -1.0])
    dual = class_dual(signs, np.array([1.0, 0.5, 0.5]))
    ours = solved(GivenRows(K), dual)
    assert_array_equal(ours.beta, [1.0, -0.5, -0.5])
    assert offset(dual, ours.beta, ours.scores) == 0.0  # anything from -1 to 1 costs the same


# ---- after every round -------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    power=st.sampled_from([-2, 0, 2, 4]),
    gamma=st.sampled_from([1e-4, 0.01, 1.0, 10.0]),
    kind=st.sampled_from(["classes", "squared classes", "amounts", "squared amounts"]),
    most_members=st.sampled_from([2, 5, 16]),
)
def test_every_round_is_feasible_and_none_loses(seed, power, gamma, kind, most_members):
    X, signs, amounts, costs = drawn(seed, n_rows=16)
    costs, squared = costs * 10.0**power, kind.startswith("squared")
    dual = class_dual(signs, costs, squared) if "classes" in kind else amount_dual(amounts, costs, 0.1, squared)
    K = gaussian_gram(X, gamma)
    steps = steps_of(GivenRows(K), dual, max_steps=3000, most_members=most_members)
    sums = [dual_of(dual, K, step.beta) for step in steps]
    scale = max(1.0, *np.abs(sums))
    for step, before, after in zip(steps, [0.0, *sums], sums, strict=False):
        size = np.abs(step.beta).sum()
        assert abs(step.beta.sum()) <= 1e-12 * max(size, 1.0)
        assert (dual.low <= step.beta).all()
        assert (step.beta <= dual.high).all()
        assert after >= before - 1e-12 * scale
        assert step.violation >= 0.0
    assert steps[-1].n_steps <= 3000
    assert steps[-1].converged == (steps[-1].violation <= 1e-3)
    assert violation_of(dual, K, steps[-1].beta) == pytest.approx(steps[-1].violation, abs=1e-6 * scale)


def test_the_steps_count_rounds_and_moves():
    X, signs, _, costs = drawn(1, n_rows=20)
    steps = steps_of(cached(X), class_dual(signs, costs), most_members=6)
    assert [step.n_rounds for step in steps] == list(range(len(steps)))
    assert steps[0].n_steps == 0
    assert not steps[0].beta.any()
    assert (np.diff([step.n_steps for step in steps]) > 0).all()


def test_a_step_keeps_what_it_had():
    X, signs, _, costs = drawn(1, n_rows=20)
    steps = dual_svm_steps(cached(X), class_dual(signs, costs), DualRule(1e-3, ENOUGH, most_members=4))
    first = next(steps)
    list(steps)
    assert not first.beta.any()
    assert not first.scores.any()


def in_small_pieces(monkeypatch):
    """Let a few rows take several pieces."""
    sizes = (("row_cache", "BLOCK_COLUMNS", 8), ("row_cache", "TILE_COLUMNS", 4), ("row_cache", "TILE_ROWS", 2))
    for file, name, size in (*sizes, ("sums", "BLOCK_ROWS", 4), ("plain", "BLOCK_ROWS", 4)):
        monkeypatch.setattr(f"eigenwood.core.kernels.{file}.{name}", size)


MADE = {
    "rbf": lambda X: cached(X),
    "parts": lambda X: KernelRowCache(kernel_table(X, GAUSSIAN), (Part(0, 17), Part(17, X.shape[0])), 1e9),
    "function": lambda X: cached(X, kernel_function),
    "given": lambda X: GivenRows(gaussian_gram(X)),
}


@pytest.mark.parametrize("kind", ["classes", "squared classes", "amounts"])
@pytest.mark.parametrize("made", MADE)
def test_every_step_can_be_the_model(made, kind, eager, monkeypatch):
    """In the middle of rounds too: a feasible point, with the true scores of all rows that are not shrunk away."""
    in_small_pieces(monkeypatch)
    X, signs, amounts, costs = drawn(20, n_rows=40)
    squared = kind.startswith("squared")
    dual = amount_dual(amounts, 3.0 * costs, 0.1) if kind == "amounts" else class_dual(signs, 3.0 * costs, squared)
    K = gaussian_gram(X)
    seen, best = list(dual_svm_steps(MADE[made](X), dual, DualRule(1e-5, ENOUGH, most_members=4))), 0.0
    for step in seen:
        assert (dual.low <= step.beta).all()
        assert (step.beta <= dual.high).all()
        assert abs(step.beta.sum()) <= 1e-12 * max(np.abs(step.beta).sum(), 1.0)
        assert_allclose(step.scores[~step.shrunk], (K @ step.beta)[~step.shrunk] - step.beta.sum(), atol=1e-4)
        assert dual_of(dual, K, step.beta) >= best - 1e-9
        best = max(best, dual_of(dual, K, step.beta))
    whole = [step for step in seen if step.whole]
    assert 3 * len(whole) < len(seen)
    assert not seen[0].last
    assert seen[-1].converged


def test_what_is_due_is_said_before_it_is_done_and_not_again(eager, monkeypatch):
    """So whoever has the time for the scores of rows shrunk away is not stopped in the middle of computing them."""
    in_small_pieces(monkeypatch)
    X, signs, _, costs = drawn(20, n_rows=40)
    steps = dual_svm_steps(cached(X), class_dual(signs, 3.0 * costs), DualRule(1e-5, ENOUGH, most_members=4))
    n_said = n_going_on = 0
    before = next(steps)
    for step in steps:
        n_shrunk = np.count_nonzero(step.shrunk)
        if step.due == 0 and n_shrunk:
            assert before.due >= n_shrunk or before.due == 0
            n_going_on += 1
        else:
            assert step.due >= n_shrunk
            n_said += step.due > 0
        before = step
    assert n_said > 0
    assert n_going_on > 0
    assert before.last
    assert before.due == 0


def test_no_piece_is_large(monkeypatch):
    """A user's function tells how much is computed between two steps: a strip of columns at most."""
    in_small_pieces(monkeypatch)
    asked = [0]

    def telling(A, B):
        asked[0] += A.shape[0] * B.shape[0]
        return kernel_function(A, B)

    X, signs, _, costs = drawn(21, n_rows=60)
    rule = DualRule(1e-5, ENOUGH, most_members=12)
    steps = dual_svm_steps(cached(X, telling), class_dual(signs, costs), rule)
    next(steps)
    pieces = []
    while True:
        asked[0] = 0
        if next(steps, None) is None:
            break
        pieces.append(asked[0])
    assert sum(pieces) > 60 * 12
    assert max(pieces) <= max(12 * 4, 4 * 60)  # a strip of columns of all members, or a block of new scores


def test_a_small_step_is_a_first_round_of_few(monkeypatch):
    """Wherever somebody left: what was kept and given by then is not trusted."""
    in_small_pieces(monkeypatch)
    X, signs, _, costs = drawn(22, n_rows=40)
    dual, K = class_dual(signs, costs), gaussian_gram(X)
    unwritten = np.full((20, 20), np.nan, dtype=np.float32)
    for parts in ((Part(0, 40),), (Part(0, 20, unwritten), Part(20, 40, unwritten))):
        rows = KernelRowCache(kernel_table(X, GAUSSIAN), parts, 1e9)
        steps = dual_svm_steps(rows, dual, DualRule(1e-5, ENOUGH))
        for _ in range(4):
            next(steps)
        steps.close()
        ours = dual_svm.small_step(rows, dual, DualRule(1e-5, ENOUGH, most_members=6))
        assert 2 <= np.count_nonzero(ours.beta) <= 6
        assert (ours.last, ours.converged, ours.n_rounds) == (False, False, 1)
        assert_allclose(ours.scores, (K - 1.0) @ ours.beta, atol=1e-5)
        assert dual_of(dual, K, ours.beta) > 0.0


@pytest.mark.parametrize("max_steps", [0, 1, 7])
def test_not_more_moves_than_allowed(max_steps):
    X, signs, _, costs = drawn(2, n_rows=20)
    ours = solved(cached(X), class_dual(signs, costs), tol=1e-9, max_steps=max_steps, most_members=4)
    assert ours.n_steps == max_steps
    assert not ours.converged


def test_what_does_not_grow_is_given_up():
    # a move of 1e-14 is lost where coefficients are about 1e8
    dual = Dual(np.array([1.0, -1.0]), np.array([-1e9, -1e9]), np.array([1e9, 1e9]), np.zeros(2))
    start = np.array([1e8, -1e8])
    ours = solved(Stuck(1e12 * np.eye(2), dual.target - [1e-2, 0.0]), dual, start=start, shrinking=False)
    assert not ours.converged
    assert ours.n_rounds == dual_svm.MOST_IDLE + 1
    assert (ours.n_steps, ours.violation) == (0, pytest.approx(1e-2))
    assert_array_equal(ours.beta, start)


class Stuck(GivenRows):
    """Rows for which the scores at the start are made up."""

    def __init__(self, K, scores):
        super().__init__(K)
        self._made_up = scores

    def exact_scores(self, rows, beta, of):
        yield
        return self._made_up[of]


# ---- kinds of rows -----------------------------------------------------------------------------------------------


def kernel_function(X, Z):
    return naive_kernels.gram(X, Z, lambda x, z: naive_kernels.rbf(x, z, 0.5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("kernel", "simple"),
    [
        (GAUSSIAN, lambda x, z: naive_kernels.rbf(x, z, 0.5) - 1.0),
        (Kernel(LAPLACIAN, 0.5), lambda x, z: naive_kernels.laplacian(x, z, 0.5)),
        (Kernel(POLYNOMIAL, 0.5, 1.0, 2), lambda x, z: naive_kernels.polynomial(x, z, 0.5, 1.0, 2)),
    ],
    ids=["rbf", "laplacian", "poly"],
)
def test_the_kernel_is_what_it_says(kernel, simple, form):
    X, signs, _, costs = drawn(3, n_rows=16)
    X = np.where(np.abs(X) > 0.4, X, 0.0)
    K, dual = naive_kernels.gram(X, X, simple), class_dual(signs, costs)
    ours = solved(cached(form(X), kernel), dual, most_members=6)
    assert_solves(dual, K, ours, 1.1e-3)


def test_a_function_of_the_user():
    X, signs, _, costs = drawn(4, n_rows=16)
    dual = class_dual(signs, costs)
    ours = solved(cached(X, kernel_function), dual, tol=1e-9, most_members=6)
    assert_solves(dual, gaussian_gram(X), ours, 1.1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_a_line_needs_no_matrix(shift, form):
    X, signs, _, costs = drawn(5, n_rows=20)
    K, dual = X @ X.T, class_dual(signs, costs)
    ours = solved(LinearRows(form(X + shift)), dual, most_members=6)
    assert ours.converged
    assert violation_of(dual, K, ours.beta) <= 1.001e-3
    expected = solved(GivenRows(K), dual, tol=1e-6)
    assert dual_of(dual, K, ours.beta) == pytest.approx(dual_of(dual, K, expected.beta), rel=1e-3)


@pytest.mark.parametrize("max_bytes", [0, 500, 1e9], ids=["none kept", "some kept", "all kept"])
def test_memory_does_not_matter(max_bytes):
    X, signs, _, costs = drawn(6, n_rows=40)
    dual = class_dual(signs, costs)
    ours = solved(cached(X, max_bytes=max_bytes), dual, tol=1e-5, most_members=8)
    assert_solves(dual, gaussian_gram(X), ours, 1.3e-5)


@pytest.mark.parametrize("n_threads", [2, 8])
@pytest.mark.parametrize("make", [cached, lambda X, n_threads=1: LinearRows(X, n_threads)], ids=["rbf", "linear"])
def test_threads_change_no_bit(make, n_threads, monkeypatch):
    for file, name in (("row_cache", "BLOCK_COLUMNS"), ("row_cache", "TILE_ROWS"), ("plain", "BLOCK_ROWS")):
        monkeypatch.setattr(f"eigenwood.core.kernels.{file}.{name}", 16)
    X, signs, _, costs = drawn(7, n_rows=70)
    dual = class_dual(signs, costs)
    one, many = (solved(make(X, n_threads=threads), dual, most_members=24) for threads in (1, n_threads))
    assert_array_equal(one.beta, many.beta)
    assert_array_equal(one.scores, many.scores)
    assert one.n_steps == many.n_steps


# ---- shrinking ---------------------------------------------------------------------------------------------------


class Noting(KernelRowCache):
    """Rows that note how many columns there were."""

    def __init__(self, *given):
        self.sizes, self.n_unshrunk, self.n_kept_then = [], 0, []
        super().__init__(*given)

    def shrink_to(self, columns):
        self.n_kept_then.append(np.count_nonzero(self._slots >= 0))
        super().shrink_to(columns)
        self.sizes.append(columns.size)

    def unshrink(self, columns):
        super().unshrink(columns)
        self.n_unshrunk += 1


@pytest.fixture
def eager(monkeypatch):
    """Columns are shrunk away as soon as there is one to be."""
    monkeypatch.setattr(dual_svm, "ADD_WORK", 1e9)
    monkeypatch.setattr(dual_svm, "WORTH", 0.999)


def noting(X, parts=None, max_bytes=1e9, kernel=GAUSSIAN):
    return Noting(kernel_table(X, kernel), parts or (Part(0, X.shape[0]),), max_bytes)


@pytest.mark.parametrize("max_bytes", [0, 800, 1e9], ids=["none kept", "some kept", "all kept"])
@pytest.mark.parametrize("kernel", [GAUSSIAN, kernel_function], ids=["rbf", "function"])
def test_what_is_shrunk_away_comes_back(eager, monkeypatch, max_bytes, kernel):
    monkeypatch.setattr("eigenwood.core.kernels.row_cache.CHEAP", 0.0)  # what is needed again is kept at once
    n_unshrunk, kept = 0, 0
    for seed in range(3):
        X, signs, _, costs = drawn(seed, n_rows=40)
        dual, rows = class_dual(signs, 3.0 * costs), noting(X, max_bytes=max_bytes, kernel=kernel)
        steps = steps_of(rows, dual, tol=1e-5, most_members=4)
        assert_solves(dual, gaussian_gram(X), steps[-1], 1.3e-5)
        assert min(rows.sizes) < 40
        assert any(step.shrunk.any() for step in steps)
        assert_allclose(steps[-1].scores, (gaussian_gram(X) - 1.0) @ steps[-1].beta, atol=1e-4)
        n_unshrunk, kept = n_unshrunk + rows.n_unshrunk, kept + max(rows.n_kept_then)
    assert n_unshrunk > 0
    assert (kept > 0) == (max_bytes > 0)


@pytest.mark.parametrize("make", [cached, LinearRows, lambda X: GivenRows(X @ X.T)], ids=["rbf", "linear", "given"])
def test_shrinking_changes_nothing_within_tol(eager, make):
    X, signs, amounts, costs = drawn(8, n_rows=40)
    for dual in (class_dual(signs, costs), amount_dual(amounts, costs, 0.1), amount_dual(amounts, costs, 0.1, True)):
        with_, without = (solved(make(X), dual, tol=1e-4, shrinking=on, most_members=6) for on in (True, False))
        assert with_.converged
        assert without.converged
        K = X @ X.T if make is not cached else gaussian_gram(X)
        assert violation_of(dual, K, with_.beta) <= 1.2e-4
        room = (np.minimum(dual.high, 20.0) - np.maximum(dual.low, -20.0)).sum()
        assert abs(dual_of(dual, K, with_.beta) - dual_of(dual, K, without.beta)) <= 1.2e-4 * room


def test_values_within_a_class_serve_a_problem_of_two_parts(eager):
    rng = np.random.default_rng(9)
    X, signs = rng.normal(size=(50, 2)), np.repeat([1.0, -1.0], [18, 22])
    slices = slice(5, 23), slice(28, 50)
    places = np.r_[slices]
    dual, K = class_dual(signs, np.full(40, 2.0)), gaussian_gram(X[places])
    for has_grams in (True, False):
        parts = tuple(
            Part(s.start, s.stop, (gaussian_gram(X[s]) - 1.0).astype(np.float32) if has_grams else None) for s in slices
        )
        rows = noting(X, parts)
        steps = steps_of(rows, dual, tol=1e-5, most_members=6)
        assert_solves(dual, K, steps[-1], 1.3e-5)
        assert min(rows.sizes) < 40


def test_who_stops_early_is_measured_on_all_rows(eager):
    X, signs, _, costs = drawn(1, n_rows=40)
    dual = class_dual(signs, costs)
    for max_steps in (20, 35, 50):
        steps = steps_of(noting(X), dual, tol=1e-5, max_steps=max_steps, most_members=4)
        assert any(step.shrunk.any() for step in steps)
        assert not steps[-1].shrunk.any()
        assert violation_of(dual, gaussian_gram(X), steps[-1].beta) == pytest.approx(steps[-1].violation, abs=1e-5)


def test_nothing_is_shrunk_away_where_nothing_violates(eager):
    # all are at a bound and none wishes to leave it: whoever leaves out those that do not violate leaves out all
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    rows = noting(np.array([[0.0], [0.0], [1.0], [1.0]]))
    ours = solved(rows, class_dual(signs, np.full(4, 0.5)))
    assert ours.converged
    assert_array_equal(ours.beta, 0.5 * signs)
    assert rows.sizes == []


# ---- a start, and rounding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cached, LinearRows, lambda X: GivenRows(X @ X.T)], ids=["rbf", "linear", "given"])
def test_a_solution_is_a_start_that_needs_no_move(make):
    X, signs, _, costs = drawn(10, n_rows=30)
    dual = class_dual(signs, costs)
    first = solved(make(X), dual, tol=1e-4)
    again = solved(make(X), dual, tol=1e-3, start=first.beta)
    assert (again.n_rounds, again.n_steps) == (0, 0)
    assert_array_equal(again.beta, first.beta)
    assert_allclose(again.scores, first.scores, atol=1e-4)


@pytest.mark.parametrize("factor", [0.3, 5.0])
def test_a_start_for_another_cost_leads_to_the_same_solution(factor):
    X, signs, _, costs = drawn(11, n_rows=30)
    before, dual = class_dual(signs, costs), class_dual(signs, factor * costs)
    start = feasible(dual, factor * solved(cached(X), before).beta)
    ours = solved(cached(X), dual, tol=1e-5, start=start)
    assert_solves(dual, gaussian_gram(X), ours, 1.3e-5)


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.1, 1.0, 100.0]))
def test_what_is_made_feasible_is_so(seed, size):
    _, signs, amounts, costs = drawn(seed)
    wish = size * np.random.default_rng(seed).normal(size=12)
    for dual in (class_dual(signs, costs), class_dual(signs, costs, True), amount_dual(amounts, costs, 0.1)):
        beta = feasible(dual, wish)
        assert abs(beta.sum()) <= 1e-12 * max(1.0, np.abs(beta).sum())
        assert (dual.low <= beta).all()
        assert (beta <= dual.high).all()
        assert_array_equal(feasible(dual, beta).round(12), beta.round(12))


def test_what_is_at_a_bound_but_for_rounding_is_at_the_bound():
    """Else it would count as free, and say where the offset is."""
    _, signs, _, costs = drawn(11, n_rows=30)
    dual = class_dual(signs, np.full(30, 2.0))
    solution = np.zeros(30)
    solution[np.flatnonzero(signs > 0)[:4]], solution[np.flatnonzero(signs < 0)[:4]] = 2.0, -2.0
    rounded = np.nextafter(solution, 0.0)
    rounded[solution == 0.0] = 0.0
    assert_array_equal(feasible(dual, rounded), solution)
    free = solution.copy()
    free[np.flatnonzero(signs > 0)[:3]] = 0.1, 0.2, 0.3
    free[np.flatnonzero(signs < 0)[:4]] = -0.6 * (1.0 + 1e-15), -2.0, 0.0, 0.0
    assert_array_equal(feasible(dual, free), free)


class Rounded(GivenRows):
    """A matrix of which only a rounded copy is used, except for exact scores."""

    has_all = False

    def __init__(self, K, share):
        rng = np.random.default_rng(0)
        noise = rng.normal(size=K.shape) * share
        super().__init__(K + noise + noise.T)
        self._exact, self._share, self.n_renewed = K, share, 0

    @property
    def rounding(self):
        return self._share

    def exact_scores(self, rows, beta, of):
        self.n_renewed += 1
        yield
        return beta @ self._exact[np.ix_(rows, of)]


def test_where_rounding_is_felt_the_scores_are_renewed():
    X, signs, _, costs = drawn(12, n_rows=30)
    dual, K = class_dual(signs, 10.0 * costs), gaussian_gram(X)
    rows = Rounded(K, 1e-4)
    ours = solved(rows, dual, tol=1e-4)
    assert 1 <= rows.n_renewed < dual_svm.MOST_RENEWALS
    assert_solves(dual, K, ours, 1.5e-4)
    careless = Rounded(K, 1e-4)
    careless._share = 0.0
    assert violation_of(dual, K, solved(careless, dual, tol=1e-4).beta) > 1.5e-4
    assert careless.n_renewed == 0


def test_a_solution_is_not_claimed_where_rounding_undoes_all_work():
    X, signs, _, costs = drawn(13, n_rows=30)
    dual, K = class_dual(signs, 100.0 * costs), gaussian_gram(X, 0.01)
    rows = Rounded(K, 0.3)
    ours = solved(rows, dual, tol=1e-4)
    assert not ours.converged
    assert rows.n_renewed == dual_svm.MOST_RENEWALS
    assert violation_of(dual, K, ours.beta) == pytest.approx(ours.violation, rel=1e-9)


def test_far_from_the_origin_no_digit_is_lost():
    X, signs, _, costs = drawn(14, n_rows=30)
    dual = class_dual(signs, costs)
    for kernel in (GAUSSIAN, Kernel(LAPLACIAN, 0.5)):
        ours = solved(cached(X + 1e6, kernel), dual, most_members=8)
        simple = naive_kernels.rbf if kernel is GAUSSIAN else naive_kernels.laplacian
        K = naive_kernels.gram(X, X, lambda x, z, simple=simple: simple(x, z, 0.5))
        assert violation_of(dual, K, ours.beta) <= 1.1e-3


def test_two_clusters_far_apart_are_solved_by_renewing_scores():
    X, signs, _, costs = drawn(15, n_rows=24)
    X[::2] += 3e4  # float32 has three digits left for what is within a cluster
    dual = class_dual(signs, costs)
    ours = solved(cached(X), dual)
    assert_solves(dual, gaussian_gram(X), ours, 1.5e-3)


# ---- hard problems -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [1e-2, 1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0, 10.0])
def test_small_and_large_costs_and_widths(gamma, cost):
    rng = np.random.default_rng(16)
    X = rng.normal(size=(30, 2))
    signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    dual, K = class_dual(signs, np.full(30, cost)), gaussian_gram(X, gamma)
    ours = solved(cached(X, Kernel(RBF_LESS_ONE, gamma)), dual, most_members=16)
    assert_solves(dual, K, ours, 1.5e-3)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("cost", [1e-2, 1.0, 1e6])
@pytest.mark.parametrize("kernel", [GAUSSIAN, Kernel(POLYNOMIAL, 1.0, 1.0, 3), Kernel(LINEAR)], ids=str)
def test_the_same_rows_with_both_labels(kernel, cost, squared):
    X, signs, _, _ = drawn(17, n_rows=10)
    X, signs = np.vstack([3 * X, 3 * X]), np.concatenate([signs, -signs])
    ours = solved(cached(X, kernel), class_dual(signs, np.full(20, cost), squared))
    assert ours.converged
    assert_allclose(ours.beta, (2.0 if squared else 1.0) * cost * signs, rtol=2e-3)  # nobody can be right: f = 0


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("cost", [0.1, 1e4])
def test_rows_that_are_all_equal(cost, squared):
    signs = np.array([1.0, -1.0, 1.0, 1.0])
    ours = solved(cached(np.ones((4, 2))), class_dual(signs, np.full(4, cost), squared))
    assert ours.converged
    assert -ours.beta[1] == pytest.approx(ours.beta[signs > 0].sum())
    assert -ours.beta[1] == pytest.approx(3.0 * cost if squared else cost, rel=2e-3)


def test_two_rows():
    ours = solved(cached(np.array([[0.0], [2.0]])), class_dual(np.array([1.0, -1.0]), np.full(2, 1e6)))
    assert ours.n_steps == 1
    assert_allclose(ours.beta, [1.0 / (1.0 - np.exp(-2.0)), -1.0 / (1.0 - np.exp(-2.0))], rtol=1e-6)


def test_one_amount_is_its_own_offset():
    dual = amount_dual(np.array([3.0]), np.ones(1), 0.5)
    ours = solved(cached(np.zeros((1, 1))), dual)
    assert (ours.converged, ours.n_rounds) == (True, 0)
    assert offset(dual, ours.beta, ours.scores) == 3.0


@pytest.mark.parametrize("squared", [False, True])
def test_amounts_within_the_tube_cost_nothing(squared):
    dual = amount_dual(np.array([3.0, 3.1, 2.9]), np.ones(3), 0.5, squared)
    ours = solved(cached(np.arange(3.0)[:, None]), dual)
    assert ours.converged
    assert not ours.beta.any()
    assert 2.6 <= offset(dual, ours.beta, ours.scores) <= 3.4


@pytest.mark.parametrize("cost", [0.1, 10.0, 1e6])
def test_a_kernel_that_is_none_of_mercers_comes_to_an_end(cost):
    X, signs, _, _ = drawn(18, n_rows=20)
    K = naive_kernels.gram(X, X, lambda x, z: naive_kernels.sigmoid(x, z, 1.0, -1.0))
    assert np.linalg.eigvalsh(K).min() < -0.1
    rows = cached(X, Kernel(SIGMOID, 1.0, -1.0))
    dual = class_dual(signs, np.full(20, cost))
    assert_solves(dual, K, solved(rows, dual), 2e-3)


def test_without_mercer_and_bounds_there_is_no_solution_and_none_is_claimed():
    X, signs, _, _ = drawn(18, n_rows=20)
    dual = class_dual(signs, np.full(20, 10.0), squared=True)
    ours = solved(cached(X, Kernel(SIGMOID, 1.0, -1.0)), dual)
    assert not ours.converged
    assert ours.n_rounds < 100
    assert (np.abs(ours.beta) <= limits(dual)).all()
    assert abs(ours.beta.sum()) <= 1e-9 * np.abs(ours.beta).sum()


@given(seed=st.integers(0, 2**32 - 1), cost=st.sampled_from([1e-2, 1.0, 1e4]), gamma=st.sampled_from([1e-6, 0.5, 50.0]))
def test_no_solution_for_a_mercer_kernel_is_near_the_limits(seed, cost, gamma):
    X, signs, amounts, _ = drawn(seed, n_rows=6)
    K, costs = gaussian_gram(X, gamma), np.full(6, cost)
    dual = class_dual(signs, costs, True)
    assert (np.abs(naive.fit_classes(K, signs, costs, True).beta) < 0.6 * limits(dual)).all()
    tube = amount_dual(amounts, costs, 0.1, True)
    assert (np.abs(naive.fit_amounts(K, amounts, costs, 0.1, True).beta) < 0.6 * limits(tube)).all()


def test_a_hinge_has_bounds_of_its_own():
    assert np.isinf(limits(class_dual(np.array([1.0, -1.0]), np.ones(2)))).all()
