"""Mercer's condition: the smallest eigenvalue, the direction that proves it, and who is to blame."""

import subprocess
import sys

import numpy as np
import pytest

from eigenwood import check_mercer
from eigenwood.errors import InputError
from eigenwood.proofs import mercer as module
from eigenwood.proofs.mercer import mercer_report, smallest_eigenpair
from tests.naive import kernels as naive

X = np.random.default_rng(0).normal(size=(15, 2))
SIGMOID = naive.gram(X, X, lambda x, z: naive.sigmoid(x, z, 1.0, -1.0))


def symmetric(seed, n_rows=12):
    A = np.random.default_rng(seed).normal(size=(n_rows, n_rows))
    return (A + A.T) / 2


@pytest.mark.parametrize("seed", range(4))
def test_the_smallest_eigenvalue_is_that_of_numpy(seed):
    K = symmetric(seed)
    smallest, direction = smallest_eigenpair(K)
    assert smallest == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-10)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert direction @ K @ direction == pytest.approx(smallest, rel=1e-10)
    assert direction[np.argmax(np.abs(direction))] > 0


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_kernels_hold(kernel):
    report = check_mercer(kernel, X, gamma=0.5, coef0=1.0, degree=2)
    assert report.holds
    assert report.certificate["symmetry"].value == 0.0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_hold_on_repeated_rows(kernel, dtype):
    assert check_mercer(kernel, np.repeat(X, 3, axis=0).astype(dtype) * 100, gamma=1e-4).holds


def test_the_sigmoid_is_reported_with_its_direction():
    report = check_mercer("sigmoid", X, gamma=1.0, coef0=-1.0)
    assert not report.holds
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(SIGMOID)[0], rel=1e-9)
    assert report.direction @ SIGMOID @ report.direction == pytest.approx(report.smallest, rel=1e-9)
    assert report.direction @ SIGMOID @ report.direction < 0
    assert not report.certificate["smallest eigenvalue"].holds
    assert report.certificate["symmetry"].holds
    assert "NOT all claims hold" in str(report)


def test_the_worst_rows_weigh_most():
    K = np.eye(8)
    K[2, 6] = K[6, 2] = 3.0  # two rows more alike than each is to itself
    report = mercer_report(K)
    assert report.smallest == pytest.approx(-2.0)
    assert set(report.worst_rows[:2]) == {2, 6}
    assert report.worst_rows.size == 5


def test_a_function_that_is_not_symmetric_is_reported():
    report = check_mercer(lambda a, b: a[:, :1] - b[:, 0][None, :], X)
    assert not report.holds
    assert not report.certificate["symmetry"].holds
    expected = np.abs(2 * (X[:, :1] - X[:, 0])).max()
    assert report.certificate["symmetry"].value == pytest.approx(expected)


def test_a_function_of_the_user_that_is_a_kernel():
    assert check_mercer(lambda a, b: np.minimum(a[:, :1], b[:, 0]), np.abs(X)).holds
    assert not check_mercer(lambda a, b: -(a @ b.T), X).holds


def test_a_matrix_of_the_user():
    assert check_mercer("precomputed", np.eye(3)).holds
    report = check_mercer("precomputed", SIGMOID)
    assert not report.holds
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(SIGMOID)[0])


def test_rounding_is_forgiven_and_no_more():
    K = np.diag([1.0, 1.0, -1e-12])
    assert mercer_report(K).holds
    K[2, 2] = -1e-6
    assert not mercer_report(K).holds
    assert mercer_report(np.diag([1.0, 1.0, -1e-7]).astype(np.float32)).holds
    assert mercer_report(np.zeros((3, 3))).holds


def test_indefinite_by_a_hair_at_any_scale():
    K = np.diag([1.0, -1e-3])
    for size in (1e-8, 1.0, 1e8):
        assert not mercer_report(K * size).holds


@pytest.fixture
def every_matrix_is_large(monkeypatch):
    monkeypatch.setattr(module, "DENSE_ROWS", 5)


def test_large_matrices_with_a_negative_eigenvalue(every_matrix_is_large):
    K = symmetric(1, n_rows=80)
    smallest, direction = smallest_eigenpair(K)
    assert smallest == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-8)
    assert direction @ K @ direction == pytest.approx(smallest, rel=1e-8)


def test_large_matrices_whose_small_eigenvalues_crowd_at_zero(every_matrix_is_large):
    rows = np.random.default_rng(2).normal(size=(60, 2))
    report = check_mercer("rbf", rows, gamma=0.1)  # most eigenvalues are rounding
    assert report.holds
    assert abs(report.smallest) < 1e-7


def test_large_matrices_where_a_start_of_ones_sees_nothing(every_matrix_is_large):
    K = np.kron(np.diag([1.0, -1.0, 2.0, 3.0]), np.array([[1.0, -1.0], [-1.0, 1.0]])) + np.eye(8) * 0.1
    report = mercer_report(K)  # the vector of ones is an eigenvector, with eigenvalue 0.1
    assert not report.holds
    assert report.smallest == pytest.approx(np.linalg.eigvalsh(K)[0])


A_LARGE_MATRIX = """
import numpy as np
from eigenwood import check_mercer

report = check_mercer("rbf", np.random.default_rng(0).normal(size=(2050, 5)), gamma=0.1)
print(report.holds, abs(report.smallest) < 1e-6)
"""


@pytest.mark.slow
def test_a_matrix_that_is_really_large_is_answered_in_time():
    # in a process of its own: a search that does not end cannot be stopped in ours
    run = subprocess.run([sys.executable, "-c", A_LARGE_MATRIX], capture_output=True, text=True, timeout=90, check=True)
    assert run.stdout.split() == ["True", "True"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kernel": "rfb"}, "check_mercer: kernel must be one of "),
        (
            {"kernel": "rbf", "gamma": -1},
            "check_mercer: gamma must be one of 'scale', 'auto' or a number above 0; got -1.",
        ),
        ({"kernel": "poly", "degree": 0}, "check_mercer: degree must be an integer at least 1 and at most 100; got 0."),
        (
            {"kernel": "precomputed"},
            "check_mercer: a precomputed X must be a square matrix of similarities; got shape (15, 2).",
        ),
        (
            {"kernel": lambda a, b: np.ones(3)},
            "check_mercer: kernel must return an array of shape (15, 15); got (3,).",
        ),
    ],
    ids=["kernel", "gamma", "degree", "precomputed", "function"],
)
def test_what_is_wrong_is_told_in_one_sentence(arguments, sentence):
    with pytest.raises(InputError) as caught:
        check_mercer(X=X, **arguments)
    assert str(caught.value).startswith(sentence)
