"""K3 (the kernel lecture): the kernel perceptron makes the same mistakes, in the same order, as the primal one on Φ."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood import KernelPerceptron, Perceptron, PolynomialExpansion, verify
from eigenwood.core.distinct import distinct_rows
from eigenwood.core.rows import rows_of
from eigenwood.validation.seeds import integer_seeds
from tests.naive import expansion as naive_expansion
from tests.naive import perceptron as naive

EPOCHS = 25
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def points(seed, n_rows=20):
    """Rows in general position: no score is zero but the first, so rounding decides nothing."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 2)), rng.choice([-1.0, 1.0], size=n_rows)


def dual(degree, vote="voted", shuffle=False, **options):
    return KernelPerceptron(
        kernel="poly", gamma=1.0, coef0=1.0, degree=degree, vote=vote, max_iter=EPOCHS, shuffle=shuffle, **options
    )


def mistakes_in_order(model):
    """Return the rows the model erred on, one by one."""
    return model.support_[model.history_support_].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_same_mistakes_in_the_same_order_as_the_loop_on_phi(seed):
    X, y = points(seed)
    root = np.sqrt(2.0)
    phi = np.column_stack(
        [np.ones(20), root * X[:, 0], root * X[:, 1], X[:, 0] ** 2, X[:, 1] ** 2, root * X[:, 0] * X[:, 1]]
    )
    primal = naive.fit_perceptron(phi, y, np.ones(20), naive.cyclic(20, EPOCHS))
    model = dual(degree=2).fit(X, y)
    assert len(primal.wrong) > 20
    assert mistakes_in_order(model) == primal.wrong
    assert model.n_mistakes_[0] == len(primal.wrong)
    assert model.converged_ == primal.converged


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_for_polynomials_of_order_p(degree):
    X, y = points(degree)
    phi = naive_expansion.expand(X, degree, scaled=True)
    primal = naive.fit_perceptron(phi, y, np.ones(20), naive.cyclic(20, EPOCHS))
    assert mistakes_in_order(dual(degree).fit(X, y)) == primal.wrong


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_weights_are_the_counts_of_mistakes(seed):
    X, y = points(seed)
    phi = naive_expansion.expand(X, 2, scaled=True)
    primal = naive.fit_perceptron(phi, y, np.ones(20), naive.cyclic(20, EPOCHS))
    model = dual(2, vote="last").fit(X, y)
    counts = np.bincount(primal.wrong, minlength=20)
    assert_array_equal(np.sort(model.support_), np.flatnonzero(counts))
    assert_array_equal(model.dual_coef_[0], counts[model.support_] * y[model.support_])
    assert model.intercept_[0] == (counts * y).sum() == primal.b
    # w = Σ α_j y_j Φ(x_j): one and the same rule
    assert_allclose(model.dual_coef_[0] @ phi[model.support_], primal.w, atol=1e-9)
    assert_allclose(model.decision_function(X), phi @ primal.w + primal.b, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_our_perceptron_on_our_expansion(seed):
    X, y = points(seed)
    phi = PolynomialExpansion().fit_transform(X)
    primal = Perceptron(shuffle=False, tol=None, max_iter=EPOCHS).fit(phi, y)
    model = dual(2, vote="last").fit(X, y)
    assert primal.n_mistakes_[0] == model.n_mistakes_[0]
    assert primal.n_iter_ == model.n_iter_
    assert_allclose(primal.decision_function(phi), model.decision_function(X), atol=1e-8)
    assert_allclose(primal.intercept_, model.intercept_)


@pytest.mark.parametrize("seed", range(3))
def test_in_a_random_order_too(seed):
    X, y = points(seed)
    model = dual(2, shuffle=True, random_state=seed).fit(X, y)
    # Equal rows are joined and put in the order of their fingerprints before the orders are drawn.
    codes = (y > 0).astype(np.int64)
    first = distinct_rows(rows_of(X), codes, np.ones(20)).first
    orders = [first[order] for order in naive.shuffled(20, EPOCHS, int(integer_seeds(seed, 1)[0]))]
    phi = naive_expansion.expand(X, 2, scaled=True)
    primal = naive.fit_perceptron(phi, y, np.ones(20), orders)
    assert mistakes_in_order(model) == primal.wrong


def test_the_order_of_the_table_does_not_matter_when_it_is_shuffled():
    X, y = points(4)
    here = dual(2, shuffle=True).fit(X, y)
    there = dual(2, shuffle=True).fit(X[::-1], y[::-1])
    assert [19 - i for i in mistakes_in_order(there)] == mistakes_in_order(here)
    assert_array_equal(here.history_changes_, there.history_changes_)


def test_with_the_linear_kernel_it_is_the_perceptron():
    X, y = points(5)
    model = KernelPerceptron(kernel="linear", shuffle=False, max_iter=EPOCHS).fit(X, y)
    primal = Perceptron(shuffle=False, tol=None, max_iter=EPOCHS).fit(X, y)
    assert_allclose(model.dual_coef_ @ model.support_vectors_, primal.coef_, rtol=1e-10)
    assert_array_equal(model.intercept_, primal.intercept_)
    assert_array_equal(model.n_mistakes_, primal.n_mistakes_)


def test_several_classes_are_one_against_the_rest():
    X, _ = points(6)
    codes = np.random.default_rng(6).integers(3, size=20)
    phi = naive_expansion.expand(X, 2, scaled=True)
    model = dual(2).fit(X, codes)
    rows = model.support_[model.history_support_]
    for k in range(3):
        primal = naive.fit_perceptron(
            phi, np.where(codes == k, 1.0, -1.0), np.ones(20), naive.cyclic(20, model.n_iter_)
        )
        assert rows[model.history_problem_ == k].tolist() == primal.wrong


def test_it_classifies_with_a_vote_weighted_by_similarity():
    X, y = points(7)
    model = dual(2, vote="last").fit(X, y)
    new = np.array([0.5, -1.5])
    by_hand = sum(a * (1.0 + X[i] @ new) ** 2 for a, i in zip(model.dual_coef_[0], model.support_, strict=True))
    assert model.decision_function([new])[0] == pytest.approx(by_hand + model.intercept_[0])


def test_the_parabola_of_the_lecture_is_learnt_without_phi():
    rng = np.random.default_rng(8)
    x2 = rng.uniform(-1, 1, size=24)
    side = np.where(np.arange(24) % 2, 1.0, -1.0)
    X = np.column_stack([x2**2 + side * rng.uniform(0.5, 1.0, size=24), x2])  # x₁ = x₂², moved to the origin
    model = KernelPerceptron(kernel="poly", gamma=1.0, coef0=1.0, degree=2, shuffle=False, max_iter=2000).fit(X, side)
    assert model.converged_
    assert model.score(X, side) == 1.0
    certificate = verify(model, X, side)
    assert certificate.holds
    assert certificate["mistakes"].value <= certificate["mistakes"].bound
