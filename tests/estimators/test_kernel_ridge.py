"""KernelRidge: what the common exam and scikit-learn's own tests do not ask."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.metrics.pairwise import pairwise_kernels

from eigenwood import KernelRidge, verify
from eigenwood.errors import InputError
from eigenwood.estimators.ridge import faces

RBF = {"kernel": "rbf", "gamma": 0.3}


def table(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.column_stack([X[:, 0] ** 2 + X[:, 1], np.sin(3.0 * X[:, 2])]) + 0.1 * rng.normal(size=(n_rows, 2))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("n_outputs", [0, 1, 2])
def test_scikit_learns_numbers(kernel, n_outputs):
    X, y = table()
    y = y[:, 0] if n_outputs == 0 else y[:, :n_outputs]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    params = {"kernel": kernel, "alpha": 5.0 if kernel == "sigmoid" else 0.5, "gamma": 0.05, "degree": 2}
    ours, theirs = KernelRidge(**params).fit(X, y, weights), Theirs(**params).fit(X, y, weights)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-9)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert ours.solver_ == "full"
    if kernel != "sigmoid":
        assert ours.certificate_.holds
        assert verify(ours, X, y, weights).holds


def test_each_output_has_its_alpha():
    X, y = table()
    ours, theirs = (machine(alpha=[0.1, 10.0], **RBF).fit(X, y) for machine in (KernelRidge, Theirs))
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert verify(ours, X, y).holds
    with pytest.raises(InputError, match="alpha must be one number, or one for each of the 2 columns of y; got 3"):
        KernelRidge(alpha=[1.0, 2.0, 3.0]).fit(X, y)


def test_precomputed_sparse_and_own_kernels_are_the_same_problem():
    X, y = table()
    X = np.where(X > 0.0, X, 0.0)
    wanted = KernelRidge(**RBF).fit(X, y).predict(X)
    given = KernelRidge(kernel="precomputed").fit(pairwise_kernels(X, metric="rbf", gamma=0.3), y)
    assert_allclose(given.predict(pairwise_kernels(X, metric="rbf", gamma=0.3)), wanted, atol=1e-9)
    assert_allclose(KernelRidge(**RBF).fit(sparse.csr_array(X), y).predict(sparse.csr_array(X)), wanted, atol=1e-9)

    def own(A, B, width):
        return pairwise_kernels(A, B, metric="rbf", gamma=width)

    model = KernelRidge(kernel=own, kernel_params={"width": 0.3}).fit(X, y)
    assert_allclose(model.predict(X), wanted, atol=1e-9)
    assert verify(model, X, y).holds


@pytest.mark.parametrize("weights", [None, np.arange(120) % 3])
def test_landmarks_come_as_near_as_they_say(weights):
    X, y = table()
    best = KernelRidge(alpha=0.5, **RBF).fit(X, y, weights)
    for n_components in (15, 60, 1e-9):
        model = KernelRidge(alpha=0.5, n_components=n_components, **RBF).fit(X, y, weights)
        found = verify(model, X, y, weights)
        assert model.certificate_.holds
        assert found.holds
        for column in range(2):
            left = found[f"primal [{column}]"].value - best.certificate_[f"primal [{column}]"].value
            assert -1e-6 <= left <= found[f"gap [{column}]"].value + 1e-6
            assert (
                found[f"gap [{column}]"].value <= found[f"gap bound [{column}]"].value * 1.001 + 1e-6
                or n_components == 15
            )
    assert_allclose(model.predict(X), best.predict(X), atol=1e-5)


def test_many_rows_of_a_linear_kernel_need_as_many_landmarks_as_columns():
    X, y = table(2500)
    model, theirs = KernelRidge().fit(X, y[:, 0]), Theirs().fit(X, y[:, 0])
    assert (model.solver_, model.support_.size) == ("low_rank", 3)
    assert model.solver_reason_ == "a linear kernel needs no more than 3 landmarks"
    assert_allclose(model.predict(X), theirs.predict(X), atol=1e-8)


def test_a_limit_of_memory_and_too_many_rows_ask_for_landmarks(monkeypatch):
    X, y = table()
    assert KernelRidge(memory_limit=0.05, **RBF).fit(X, y).support_.size == 26
    monkeypatch.setattr(faces, "MOST_WHOLE", 100)
    assert KernelRidge(**RBF).fit(X, y).solver_ == "low_rank"


@pytest.mark.parametrize("n_components", [None, 10])
def test_without_alpha_the_squares_are_the_least(n_components):
    X, y = table(40)
    with pytest.warns(UserWarning, match="Singular matrix") if n_components is None else pytest.MonkeyPatch.context():
        model = KernelRidge(alpha=0, kernel="linear", n_components=n_components).fit(X, y)
    best = np.linalg.lstsq(X, y)[0]
    assert_allclose(model.predict(X), X @ best, atol=1e-8)
    assert model.certificate_.holds is None
    assert verify(model, X, y).holds is None


def test_one_system_of_many_rows_is_solved_by_the_same_bits_on_any_number_of_threads():
    X, y = table(1500)
    one, two = (KernelRidge(n_jobs=n, **RBF).fit(X, y).dual_coef_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_what_cannot_be_is_said_in_a_sentence():
    X, y = table()
    with pytest.raises(InputError, match="KernelRidge: kernel must be a Mercer kernel"):
        KernelRidge(kernel="sigmoid", gamma=1.0, coef0=-1.0, n_components=50).fit(X, y)
    with pytest.raises(InputError, match="alpha and weights must be within 1e"):
        KernelRidge(alpha=1e-80).fit(X, y)
    with pytest.raises(InputError, match="y must have 2 columns; got 1"):
        verify(KernelRidge().fit(X, y), X, y[:, 0])
