"""K4 (the kernel lecture): kernel functions, the scale s, Mercer's condition, any function of the user."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood import KernelPerceptron, check_mercer, gamma_from_s, gamma_from_sigma
from eigenwood.core.kernels.blocks import gram_symmetric
from eigenwood.core.kernels.functions import KERNELS, Kernel
from tests.naive import kernels as naive

X = np.random.default_rng(0).normal(size=(16, 3))
LABELS = np.random.default_rng(1).choice(["no", "yes"], size=16)


def similarity(name, **numbers):
    return gram_symmetric(X, Kernel(KERNELS[name], **numbers))


# ---- the functions -----------------------------------------------------------------------------------------------


def test_linear():
    assert_allclose(similarity("linear"), naive.gram(X, X, naive.dot), atol=1e-13)


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_polynomial_of_order_p(p):
    expected = naive.gram(X, X, lambda x, z: (1.0 + naive.dot(x, z)) ** p)
    assert_allclose(similarity("poly", gamma=1.0, coef0=1.0, degree=p), expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("s", [0.1, 1.0, 2.5, 40.0])
def test_rbf_with_the_scale_s(s):
    expected = naive.gram(X, X, lambda x, z: np.exp(-((x - z) ** 2).sum() / s**2))
    assert_allclose(similarity("rbf", gamma=gamma_from_s(s)), expected, rtol=1e-10, atol=1e-13)


def test_rbf_with_the_width_sigma():
    expected = naive.gram(X, X, lambda x, z: np.exp(-((x - z) ** 2).sum() / (2 * 0.7**2)))
    assert_allclose(similarity("rbf", gamma=gamma_from_sigma(0.7)), expected, rtol=1e-10, atol=1e-13)


# ---- the scale parameter -----------------------------------------------------------------------------------------


def test_as_s_goes_to_zero_every_example_is_its_own():
    K = similarity("rbf", gamma=gamma_from_s(1e-3))
    assert_array_equal(K, np.eye(16))
    model = KernelPerceptron(kernel="rbf", gamma=gamma_from_s(1e-3), fit_intercept=False).fit(X, LABELS)
    assert sorted(model.support_) == list(range(16))  # nobody helps anybody
    assert_array_equal(np.abs(model.dual_coef_[0]), np.ones(16))
    assert model.n_mistakes_[0] == 16
    assert model.score(X, LABELS) == 1.0
    assert_array_equal(model.decision_function(X + 10.0), np.zeros(16))  # and it knows nothing elsewhere


def test_as_s_grows_without_bound_all_are_alike():
    K = similarity("rbf", gamma=gamma_from_s(1e8))
    assert_allclose(K, np.ones((16, 16)), atol=1e-13)
    model = KernelPerceptron(kernel="rbf", gamma=gamma_from_s(1e8), max_iter=20).fit(X, LABELS)
    scores = model.decision_function(np.vstack([X, X * 100]))
    assert np.ptp(scores) < 1e-6  # one and the same answer everywhere
    assert len(set(model.predict(X))) == 1


def test_between_the_two_similarity_falls_with_distance():
    off_diagonal = ~np.eye(16, dtype=bool)
    means = [similarity("rbf", gamma=gamma_from_s(s))[off_diagonal].mean() for s in (0.1, 0.5, 1, 2, 5, 50)]
    assert means == sorted(means)
    assert means[0] < 0.05
    assert means[-1] > 0.95


# ---- Mercer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("linear", {}),
        ("poly", {"gamma": 1.0, "coef0": 1.0, "degree": 2}),
        ("poly", {"gamma": 1.0, "coef0": 1.0, "degree": 3}),
        ("rbf", {"gamma": gamma_from_s(0.3)}),
        ("rbf", {"gamma": gamma_from_s(3.0)}),
        ("laplacian", {"gamma": 1.0}),
    ],
    ids=str,
)
def test_kernels_are_positive_semidefinite(name, numbers):
    report = check_mercer(name, X, **numbers)
    assert report.holds
    K = similarity(name, **numbers)
    for seed in range(20):
        c = np.random.default_rng(seed).normal(size=16)
        assert c @ K @ c >= -1e-9 * np.abs(K).max()


def test_the_sigmoid_is_reported_with_its_smallest_eigenvalue_and_direction():
    report = check_mercer("sigmoid", X, gamma=1.0, coef0=-1.0)
    K = naive.gram(X, X, lambda x, z: naive.sigmoid(x, z, 1.0, -1.0))
    assert not report.holds
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-9)
    assert report.smallest < -0.1
    c = report.direction
    assert c @ K @ c == pytest.approx(report.smallest, rel=1e-9)
    assert c @ K @ c < 0
    assert f"{report.smallest:.6g}" in str(report)


def test_not_every_similarity_is_a_kernel():
    report = check_mercer(lambda a, b: -np.abs(a[:, None] - b[None]).sum(axis=2), X)  # minus the distance
    K = naive.gram(X, X, lambda x, z: -np.abs(x - z).sum())
    assert not report.holds
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-9)


# ---- any function of the user ------------------------------------------------------------------------------------


def cosine(rows, columns):
    lengths = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(columns, axis=1)[None, :]
    return rows @ columns.T / lengths


def test_a_function_of_the_user_learns_and_predicts():
    labels = np.where(X[:, 0] > 0, "yes", "no")
    model = KernelPerceptron(kernel=cosine, max_iter=1000, shuffle=False).fit(X, labels)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    same = KernelPerceptron(kernel="linear", max_iter=1000, shuffle=False).fit(unit, labels)
    assert model.converged_
    assert_array_equal(model.dual_coef_, same.dual_coef_)
    assert_array_equal(model.support_, same.support_)
    assert_allclose(model.decision_function(X), same.decision_function(unit), atol=1e-10)
    assert check_mercer(cosine, X).holds


def test_a_function_equal_to_a_named_kernel_gives_the_same_model():
    def quadratic(rows, columns):
        return (1.0 + rows @ columns.T) ** 2

    named = KernelPerceptron(kernel="poly", gamma=1.0, coef0=1.0, degree=2, max_iter=30).fit(X, LABELS)
    own = KernelPerceptron(kernel=quadratic, max_iter=30).fit(X, LABELS)
    assert_array_equal(own.n_mistakes_, named.n_mistakes_)
    assert_array_equal(own.dual_coef_, named.dual_coef_)
    assert_allclose(own.decision_function(X), named.decision_function(X), rtol=1e-9)


def test_a_function_that_is_not_symmetric_is_used_the_same_way_in_learning_and_in_predicting():
    def one_sided(rows, columns):
        return rows @ columns.T + 3.0 * rows[:, :1] ** 2 - columns[:, 0][None, :]

    own = KernelPerceptron(kernel=one_sided, max_iter=30, shuffle=False).fit(X, LABELS)
    matrix = KernelPerceptron(kernel="precomputed", max_iter=30, shuffle=False).fit(one_sided(X, X), LABELS)
    assert_array_equal(own.n_mistakes_, matrix.n_mistakes_)
    assert_array_equal(own.dual_coef_, matrix.dual_coef_)


def test_the_rbf_perceptron_bends_where_a_line_cannot():
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    labels = ["same", "same", "other", "other"]
    line = KernelPerceptron(kernel="linear", max_iter=200).fit(corners, labels)
    curve = KernelPerceptron(kernel="rbf", gamma=gamma_from_s(0.7)).fit(corners, labels)
    assert not line.converged_
    assert curve.converged_
    assert curve.score(corners, labels) == 1.0
