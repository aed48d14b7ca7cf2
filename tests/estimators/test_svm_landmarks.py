"""Support vector machines on landmarks: the gap is that of the whole kernel, and nothing else is approximate."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from eigenwood import SVC, SVR, load, save, verify
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.errors import InputError
from tests.proofs.falsifying import edits_of, falsified

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RBF = Kernel(KERNELS["rbf"], 0.1)
SMALL = {"approximation": "low_rank", "memory_limit": 0.3, "gamma": 0.1}  # megabytes, for 400 rows


def table(n_rows=400, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])), score


def hinge_gap(model, X, y, C=1.0):
    """Return primal - dual of the whole problem, by the textbook: f over landmarks, and the best tβ for the dual."""
    K, signs = gram(X, X, RBF), np.where(y == y.max(), 1.0, -1.0)
    f, gamma = model.decision_function(X), model.landmark_coef_[0]
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    norm = gamma @ K[np.ix_(model.landmarks_, model.landmarks_)] @ gamma
    primal = 0.5 * norm + C * np.maximum(0.0, 1.0 - signs * f).sum()
    t = min(1.0, (signs @ beta) / (beta @ K @ beta))
    return primal, primal - (t * signs @ beta - 0.5 * t * t * beta @ K @ beta)


def test_the_gap_is_that_of_the_whole_kernel():
    X, y, _ = table()
    model = SVC(**SMALL).fit(X, y)
    primal, gap = hinge_gap(model, X, y)
    assert 5 < model.landmarks_.size < 40
    assert model.certificate_["primal"].value == pytest.approx(primal, rel=1e-6)
    assert model.duality_gap_[0] == pytest.approx(gap, rel=1e-6)
    assert model.certificate_["whole gap"].value == pytest.approx(gap, rel=1e-6)
    best = SVC(gamma=0.1, tol=1e-6).fit(X, y).certificate_
    assert model.certificate_["whole dual"].value <= best["primal"].value <= primal + 1e-6
    assert model.converged_
    assert model.certificate_.holds
    assert verify(model, X, y).holds


def test_more_landmarks_come_closer():
    X, y, _ = table()
    gaps = [SVC(**SMALL | {"memory_limit": limit}).fit(X, y).duality_gap_[0] for limit in (0.1, 0.2, 0.6)]
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2]


def test_where_all_kernel_values_fit_nothing_changes():
    X, y, _ = table()
    asked, plain = SVC(approximation="low_rank").fit(X, y), SVC().fit(X, y)
    assert not hasattr(asked, "landmarks_")
    assert_array_equal(asked.dual_coef_, plain.dual_coef_)
    linear = SVC(kernel="linear", approximation="low_rank", memory_limit=0.1).fit(X, y)
    assert not hasattr(linear, "landmarks_")


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array, np.float32])
def test_several_classes_and_kinds_of_rows(rows):
    X, y, _ = table(n_classes=3)
    X = rows(np.maximum(X, 0.0))
    model = SVC(**SMALL, class_weight="balanced").fit(X, y)
    assert model.landmark_coef_.shape == (3, model.landmarks_.size)
    assert model.score(X, y) > SVC(gamma=0.1, class_weight="balanced").fit(X, y).score(X, y) - 0.05
    assert verify(model, X, y).holds


@pytest.mark.parametrize("slack", ["hinge", "squared"])
def test_amounts(slack):
    X, _, amounts = table()
    model = SVR(C=3.0, slack=slack, **SMALL).fit(X, amounts)
    best = SVR(C=3.0, slack=slack, gamma=0.1).fit(X, amounts)
    assert model.score(X, amounts) > 0.8
    assert verify(model, X, amounts).holds
    lowest = model.certificate_["whole dual"].value
    assert lowest <= best.certificate_["primal"].value <= model.certificate_["primal"].value * (1.0 + 1e-3)


def test_a_function_of_the_users_and_weights():
    X, y, _ = table()
    weights = np.arange(400) % 3
    model = SVC(kernel=lambda A, B: (1.0 + A @ B.T) ** 2, approximation="low_rank", memory_limit=0.25).fit(
        X, y, weights
    )
    assert model.landmarks_.size == 10  # all that a quadratic kernel of three columns has
    assert model.duality_gap_[0] < 0.01 * model.certificate_["primal"].value
    assert verify(model, X, y, weights).holds
    with pytest.raises(InputError, match="SVC: kernel must be a Mercer kernel"):
        SVC(kernel="sigmoid", **SMALL | {"gamma": 1.0}).fit(X, y)


def test_the_same_bits_for_any_number_of_threads_and_in_a_file(tmp_path):
    X, y, _ = table(n_classes=3)
    one, two = (SVC(**SMALL, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    again = load(save(one, tmp_path / "model"))
    assert_array_equal(again.decision_function(X), one.decision_function(X))
    assert verify(again, X, y).holds


def test_a_fit_that_was_stopped_has_a_model_and_another_fit_forgets_the_landmarks():
    X, y, _ = table()
    model = SVC(**SMALL, time_limit=1e-9).fit(X, y)
    assert (model.stop_reason_, model.certificate_.holds) == ("time_limit", None)
    assert verify(model, X, y).holds is None
    assert model.duality_gap_[0] >= 0.0
    model.set_params(approximation=None, time_limit=None).fit(X, y)
    assert not hasattr(model, "landmarks_")
    assert verify(model, X, y).holds


def test_every_edit_of_what_belongs_to_landmarks_is_noticed():
    X, y, _ = table(200)
    model = SVC(**SMALL | {"memory_limit": 0.1}).fit(X, y)
    unnoticed = []
    for edit in edits_of(model):
        if edit.attribute in ("landmarks_", "landmark_vectors_", "landmark_coef_", "duality_gap_", "intercept_"):
            with np.errstate(all="ignore"):
                try:
                    holds = verify(falsified(model, edit), X, y).holds
                except InputError:
                    continue
            if holds is True:
                unnoticed.append(str(edit))
    assert unnoticed == []
    del model.landmark_coef_
    with pytest.raises(InputError, match="must be there together"):
        verify(model, X, y)
