"""KernelLogisticRegression: what the common exam does not ask."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.calibration import calibration_curve
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from eigenwood import KernelLogisticRegression, verify
from eigenwood.errors import InputError
from eigenwood.estimators.logistic.planning import FULL_ERROR, plan_of


def table(n_rows=300, n_classes=3, seed=0):
    """Return rows and labels that are drawn from known probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    scores = np.column_stack([2.0 * X[:, 0], X[:, 1] ** 2, np.sin(2.0 * X[:, 0]), X[:, 1]])[:, :n_classes]
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return X, (rng.random((n_rows, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)


def test_the_linear_kernel_is_logistic_regression():
    X, y = table()
    for n_classes in (2, 3):
        labels = np.array(["a", "b", "c"])[np.minimum(y, n_classes - 1)]
        ours = KernelLogisticRegression(kernel="linear", C=0.7, tol=1e-12).fit(X, labels)
        theirs = LogisticRegression(C=0.7, tol=1e-10, max_iter=5000).fit(X, labels)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
        assert ours.predict(X).tolist() == theirs.predict(X).tolist()
        coefficients = ours.dual_coef_ @ ours.support_vectors_
        theirs_centred = theirs.coef_ - (theirs.coef_.mean(axis=0) if n_classes > 2 else 0.0)
        assert_allclose(coefficients, theirs_centred, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_on_equal_features_it_is_as_good_as_scikit_learns(n_classes):
    """With the same landmarks, the rival's problem is ours: the log loss is the same."""
    X, y = table(600, n_classes)
    model = KernelLogisticRegression(gamma=0.5, n_components=25, tol=1e-12).fit(X[:400], y[:400])
    nystroem = Nystroem(gamma=0.5, n_components=25)
    nystroem.fit(model.support_vectors_)  # 25 rows: all of them are its landmarks
    theirs = LogisticRegression(tol=1e-9, max_iter=10_000).fit(nystroem.transform(X[:400]), y[:400])
    loss = log_loss(y[400:], theirs.predict_proba(nystroem.transform(X[400:])))
    assert log_loss(y[400:], model.predict_proba(X[400:])) == pytest.approx(loss, abs=1e-4)


def test_probabilities_are_calibrated_and_better_than_those_of_chosen_landmarks():
    """Rows that are said to be of class 1 with probability p are so in a share p of all cases."""
    X, y = table(6000, 2)
    model = KernelLogisticRegression(gamma=0.5, n_components=60).fit(X[:3000], y[:3000])
    P = model.predict_proba(X[3000:])[:, 1]
    seen, said = calibration_curve(y[3000:], P, n_bins=5, strategy="quantile")
    assert np.abs(seen - said).max() < 0.06
    rival = make_pipeline(Nystroem(gamma=0.5, n_components=60, random_state=0), LogisticRegression(max_iter=1000))
    theirs = log_loss(y[3000:], rival.fit(X[:3000], y[:3000]).predict_proba(X[3000:]))
    assert log_loss(y[3000:], P) < theirs + 0.01


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "laplacian", "gamma": 0.5},
        {"kernel": lambda X, Z: (1.0 + X @ Z.T) ** 2},
        {"n_components": 20},
        {"n_components": 0.01, "C": 100.0},
        {"fit_intercept": False, "class_weight": "balanced"},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_kernel_and_route_keeps_its_certificate(params, n_classes):
    X, y = table(200, n_classes)
    model = KernelLogisticRegression(**params).fit(X, y)
    assert model.converged_
    assert model.certificate_.holds
    assert verify(model, X, y).holds
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_allclose(np.log(P), model.predict_log_proba(X), atol=1e-10)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()


def test_sparse_float32_and_precomputed_rows_are_the_same_problem():
    X, y = table(150)
    X = np.where(X > 0.5, X, 0.0).round(3)
    plain = KernelLogisticRegression(gamma=0.5).fit(X, y)
    P = plain.predict_proba(X)
    for rows in (sparse.csr_array(X), sparse.csr_array(X).astype(np.float32), X.astype(np.float32)):
        assert_allclose(KernelLogisticRegression(gamma=0.5).fit(rows, y).predict_proba(rows), P, atol=1e-3)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    given = KernelLogisticRegression(kernel="precomputed").fit(K, y)
    assert_allclose(given.predict_proba(K), P, atol=1e-3)
    assert verify(given, K, y).holds


def test_weights_of_a_precomputed_matrix_are_repeated_rows():
    X, y = table(60)
    weights = np.random.default_rng(1).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weights)
    weighted = KernelLogisticRegression(kernel="precomputed").fit(X @ X.T, y, weights)
    given = KernelLogisticRegression(kernel="precomputed").fit(X[copies] @ X[copies].T, y[copies])
    assert_allclose(weighted.predict_proba(X @ X.T), given.predict_proba(X @ X[copies].T), atol=1e-6)


def test_the_route_follows_from_rows_and_memory():
    assert plan_of(2000, None, 1e9).solver == "full"
    assert plan_of(2001, None, 1e9) == (
        "low_rank",
        (500, 1e-3),
        "2001 rows have more kernel values than are worth computing",
    )
    assert plan_of(2000, None, 2e7).solver == "low_rank"
    assert plan_of(1000, 50, 1e9).rank == (50, FULL_ERROR)
    assert plan_of(1000, 0.05, 1e9).rank == (1000, 0.05)
    for memory in (1e5, 1e6, 1e7):
        plan = plan_of(100_000, 300, memory)
        assert plan.rank.count == 1 or 16.0 * plan.rank.count * 100_000 <= memory
        assert (
            plan.reason == f"the factor of 100000 rows with {plan.rank.count} landmarks fits in {memory / 1e6:.0f} MB"
        )
    X, y = table(300)
    model = KernelLogisticRegression(memory_limit=0.1).fit(X, y)
    assert (model.solver_, model.support_.size) == ("low_rank", 20)
    assert verify(model, X, y).holds


def test_a_trace_error_that_is_asked_for_is_reached_with_few_landmarks():
    X, y = table(400)
    model = KernelLogisticRegression(n_components=0.05).fit(X, y)
    assert 0.0 < model.trace_error_ <= 0.05 * 400
    assert KernelLogisticRegression(n_components=model.support_.size // 2).fit(X, y).trace_error_ > 0.05 * 400


def test_what_is_no_kernel_is_said_in_a_sentence():
    X, y = table(50)
    with pytest.raises(
        InputError, match="KernelLogisticRegression: kernel must be a Mercer kernel, whose matrices have"
    ):
        KernelLogisticRegression(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    with pytest.raises(InputError, match="must be a Mercer kernel"):
        KernelLogisticRegression(kernel="precomputed").fit(np.array([[1.0, 2.0], [2.0, 1.0]]), [0, 1])
    with pytest.raises(InputError, match="class_weight must be above 0 for every class; got 0 for 1"):
        KernelLogisticRegression(class_weight={0: 1.0, 1: 0.0, 2: 1.0}).fit(X, y)
    with pytest.raises(InputError, match="C times the weight of a row must be from 1e-60 to 1e"):
        KernelLogisticRegression(C=1e100).fit(X, y)


def test_a_fit_that_is_given_up_says_so():
    X, y = table(200)
    with pytest.warns(ConvergenceWarning, match=r"n_iter_=1, where the share .* max_iter=1 may be more"):
        model = KernelLogisticRegression(C=1e3, max_iter=1).fit(X, y)
    assert (model.converged_, model.certificate_.holds, verify(model, X, y).holds) == (False, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelLogisticRegression(C=1e3).fit(X, y)


@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_c_goes_from_the_shares_of_the_classes_to_the_rows_by_heart(C):
    X, y = table(200)
    P = KernelLogisticRegression(C=C, gamma=5.0).fit(X, y).predict_proba(X)
    if C < 1.0:
        assert_allclose(P, np.tile(np.bincount(y) / y.size, (200, 1)), atol=1e-3)
    else:
        assert P[np.arange(200), y].min() > 0.9
