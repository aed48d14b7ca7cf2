"""What is special to the perceptron: scikit-learn's answers, its ways to begin and to stop, and hostile data."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as ScikitPerceptron

import eigenwood
from eigenwood import Perceptron
from eigenwood.errors import InputError
from tests.estimators.exam import assert_learnt_the_same, classes_on, table

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The number of unique classes"),
]

CYCLIC = {"shuffle": False, "tol": None}


@pytest.fixture(scope="module")
def three():
    X = table(120, 4)
    return X, classes_on(X, 3, noise=0.1)


# -------------------------------------------------------------------------------------- the same answer


@pytest.mark.parametrize("max_iter", [1, 2, 7])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("eta0", [1.0, 0.25])
def test_in_cyclic_order_it_is_scikit_learns(max_iter, fit_intercept, eta0, three):
    X, y = three
    settings = {**CYCLIC, "max_iter": max_iter, "fit_intercept": fit_intercept, "eta0": eta0}
    ours, theirs = Perceptron(**settings).fit(X, y), ScikitPerceptron(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.t_ == theirs.t_
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_penalties_in_cyclic_order_are_scikit_learns(penalty, three):
    X, y = three
    settings = {**CYCLIC, "max_iter": 3, "penalty": penalty, "alpha": 1e-3, "l1_ratio": 0.4}
    ours, theirs = Perceptron(**settings).fit(X, y), ScikitPerceptron(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)


def test_a_strong_l1_penalty_makes_zeros(three):
    X, y = three
    weak = Perceptron(penalty="l1", alpha=1e-6).fit(X, y)
    strong = Perceptron(penalty="l1", alpha=1.0).fit(X, y)
    assert np.count_nonzero(weak.coef_) > np.count_nonzero(strong.coef_)


def test_elastic_net_meets_its_ends(three):
    X, y = three
    ratios = [Perceptron(penalty="elasticnet", l1_ratio=ratio, max_iter=5, tol=None).fit(X, y) for ratio in (0, 0.15)]
    assert not np.array_equal(ratios[0].coef_, ratios[1].coef_)
    for penalty, ratio in (("l1", 1.0), ("l2", 0.0)):
        pure = Perceptron(penalty=penalty, max_iter=5, tol=None).fit(X, y)
        mixed = Perceptron(penalty="elasticnet", l1_ratio=ratio, max_iter=5, tol=None).fit(X, y)
        np.testing.assert_array_equal(pure.coef_, mixed.coef_)


def test_a_penalty_of_strength_zero_is_none(three):
    X, y = three
    free = Perceptron(max_iter=5, **CYCLIC).fit(X, y)
    np.testing.assert_allclose(Perceptron(penalty="l2", alpha=0.0, max_iter=5, **CYCLIC).fit(X, y).coef_, free.coef_)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("penalty", [None, "l1", "elasticnet"])
def test_sparse_rows_are_rows(container, penalty, three):
    X, y = np.where(np.abs(three[0]) > 1, 0.0, three[0]), three[1]
    dense = Perceptron(penalty=penalty).fit(X, y)
    thin = Perceptron(penalty=penalty).fit(container(X), y)
    # under both penalties a coordinate that pays later pays for weights that have shrunk meanwhile
    near = 1e-4 if penalty == "elasticnet" else 1e-9
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=near, atol=near * 1e-3)
    np.testing.assert_array_equal(thin.predict(X), dense.predict(container(X)))


def test_float32_rows_are_learnt_in_float64():
    X = table(100, 3).astype(np.float32)
    y = classes_on(X, 2)
    model = Perceptron().fit(X, y)
    assert model.coef_.dtype == np.float64
    np.testing.assert_allclose(model.coef_, Perceptron().fit(X.astype(float), y).coef_)


def test_iris_is_learnt_as_well_as_by_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours = [Perceptron(random_state=seed).fit(X, y).score(X, y) for seed in range(20)]
    theirs = [ScikitPerceptron(random_state=seed).fit(X, y).score(X, y) for seed in range(20)]
    assert np.mean(ours) > np.mean(theirs) - 0.1


def test_scores_have_scikit_learns_shape(three):
    X, y = three
    assert Perceptron().fit(X, y).decision_function(X).shape == (120, 3)
    assert Perceptron().fit(X, y > 0).decision_function(X).shape == (120,)


# -------------------------------------------------------------------------------------- how it begins


def test_partial_fit_is_one_epoch(three):
    X, y = three
    part = Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    whole = Perceptron(max_iter=1).fit(X, y)
    np.testing.assert_array_equal(part.coef_, whole.coef_)
    np.testing.assert_array_equal(part.intercept_, whole.intercept_)
    np.testing.assert_array_equal(part.n_mistakes_, whole.n_mistakes_)
    assert part.t_ == whole.t_ == 121


def test_parts_in_cyclic_order_are_the_whole(three):
    X, y = three
    parts = Perceptron(**CYCLIC)
    for rows in (slice(0, 50), slice(50, 51), slice(51, 120)):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    whole = Perceptron(max_iter=1, **CYCLIC).fit(X, y)
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    np.testing.assert_array_equal(parts.n_mistakes_, whole.n_mistakes_)
    assert parts.t_ == 121


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (None, "Perceptron: classes must be passed on the first call to partial_fit; got None."),
        ([1], "Perceptron: classes must name at least 2 classes; got [1]."),
        ([0, 1], "Perceptron: y must hold only the classes [0, 1]; got 2."),
    ],
)
def test_the_first_part_must_name_its_classes(classes, sentence, three):
    X, y = three
    with pytest.raises(InputError) as caught:
        Perceptron().partial_fit(X, y, classes=classes)
    assert str(caught.value).replace("np.int64(2)", "2") == sentence


def test_later_parts_keep_the_classes(three):
    X, y = three
    model = Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X[:1], y[:1])
    with pytest.raises(InputError, match=r"classes must stay \[0, 1, 2\]; got \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="X has 3 features"):
        model.partial_fit(X[:, :3], y)


def test_a_part_cannot_be_balanced(three):
    with pytest.raises(InputError, match="class_weight must be None or a dict in partial_fit"):
        Perceptron(class_weight="balanced").partial_fit(*three, classes=[0, 1, 2])


def test_parts_count_what_came_before(three):
    X, y = three
    model = Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    before = model.n_mistakes_.copy()
    model.partial_fit(X, y)
    assert (model.n_mistakes_ >= before).all()
    assert model.t_ == 241


def test_warm_start_begins_where_the_last_fit_ended(three):
    X, y = three
    warm = Perceptron(max_iter=1, warm_start=True, **CYCLIC).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(warm.coef_, Perceptron(max_iter=2, **CYCLIC).fit(X, y).coef_)
    assert not any(claim.name.startswith("weights") for claim in warm.certificate_), "Novikoff speaks of starts at zero"


def test_warm_start_with_other_columns_begins_anew(three):
    X, y = three
    warm = Perceptron(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(warm.fit(X[:, :2], y).coef_, Perceptron().fit(X[:, :2], y).coef_)


def test_a_start_can_be_given(three):
    X, y = three
    first = Perceptron(max_iter=1, **CYCLIC).fit(X, y)
    second = Perceptron(max_iter=1, **CYCLIC).fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    np.testing.assert_array_equal(second.coef_, Perceptron(max_iter=2, **CYCLIC).fit(X, y).coef_)
    flat = Perceptron(max_iter=1, tol=None).fit(X, y > 0, coef_init=np.ones(4))
    assert flat.coef_.shape == (1, 4)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"coef_init": np.ones((2, 4))}, "Perceptron: coef_init must have shape (3, 4); got (2, 4)."),
        ({"intercept_init": np.ones(2)}, "Perceptron: intercept_init must have shape (3,); got (2,)."),
        ({"coef_init": np.full((3, 4), np.nan)}, "Perceptron: coef_init must be finite; got nan."),
        ({"intercept_init": [1.0, np.inf, 1.0]}, "Perceptron: intercept_init must be finite; got inf."),
        ({"coef_init": "zero"}, "Perceptron: coef_init must hold numbers; got 'zero'."),
        ({"coef_init": [["a"] * 4] * 3}, f"Perceptron: coef_init must hold numbers; got {[['a'] * 4] * 3!r}."),
    ],
)
def test_a_start_that_is_none(start, sentence, three):
    with pytest.raises(InputError) as caught:
        Perceptron().fit(*three, **start)
    assert str(caught.value) == sentence


def test_the_given_start_is_not_written_to(three):
    start = np.ones((3, 4))
    Perceptron().fit(*three, coef_init=start)
    assert (start == 1.0).all()


# -------------------------------------------------------------------------------------- how it stops


def test_an_epoch_without_a_mistake_is_the_end():
    model = Perceptron(tol=None).fit([[-1.0], [1.0]], [0, 1])
    assert model.n_iter_ < 5
    assert model.stop_reason_ == "finished"
    assert model.converged_.all()
    assert model.certificate_.holds


def test_too_few_epochs_are_said(three):
    with pytest.warns(ConvergenceWarning, match="Perceptron: max_iter=1 epochs were not enough to finish"):
        Perceptron(max_iter=1).fit(*three)


def test_early_stopping_holds_some_rows_out():
    X = table(400, 5)
    y = classes_on(X, 2)
    model = Perceptron(early_stopping=True, n_iter_no_change=2, tol=0.5).fit(X, y)
    assert model.n_iter_ <= 4
    assert model.score(X, y) > 0.6
    again = Perceptron(early_stopping=True, n_iter_no_change=2, tol=0.5).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_early_stopping_without_enough_rows_is_said():
    with pytest.raises(InputError) as caught:
        Perceptron(early_stopping=True).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    sentence = str(caught.value)
    assert sentence.startswith("Perceptron: early_stopping needs more rows of every class; ")
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "settings", [{"early_stopping": True}, {"class_weight": "balanced"}, {"penalty": "l1"}, {"fit_intercept": False}]
)
def test_weights_are_repeated_rows_in_every_setting(settings):
    X = table(90, 3, decimals=1)
    y, weights = classes_on(X, 2), np.random.default_rng(0).integers(1, 4, size=90)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(90), weights))
    weighted = Perceptron(**settings).fit(X, y, sample_weight=weights)
    given = Perceptron(**settings).fit(X[copies], y[copies])
    assert_learnt_the_same(weighted, given, but=("certificate_",))


def test_balanced_classes_are_weights(three):
    X, y = three
    counts = np.bincount(y)
    weights = (y.size / (3 * counts))[y]
    balanced = Perceptron(class_weight="balanced").fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, Perceptron().fit(X, y, sample_weight=weights).coef_)
    told = Perceptron(class_weight=dict(enumerate(y.size / (3 * counts)))).fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, told.coef_)


@pytest.mark.parametrize("weights", [{0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: np.inf, 1: 1.0}, {0: "a", 1: 1.0}])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_class_weights_that_are_none(weights):
    with pytest.raises(InputError) as caught:
        Perceptron(class_weight=weights).fit([[0.0], [1.0]], [0, 1])
    assert str(caught.value).startswith("Perceptron: class_weight must ")


# -------------------------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-100, 1e100, 1e150, 1e160, 1e300])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_any_size(scale):
    """What can be learnt is learnt; what cannot is said. Never is a model made of NaN."""
    X = table(60, 3)
    y = classes_on(X, 2, noise=0.0)
    allowed = (InputError,) if scale > 1e150 else ()
    with contextlib.suppress(*allowed):
        model = Perceptron(max_iter=20).fit(X * scale, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("weight", [1e-300, 1e-9, 0.3, 1e9, 1e300])
@pytest.mark.parametrize("penalty", [None, "elasticnet"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_of_any_size(weight, penalty):
    X = table(40, 2)
    y = classes_on(X, 2, noise=0.0)
    model = Perceptron(max_iter=5, penalty=penalty).fit(X, y, sample_weight=np.full(40, weight))
    assert np.isfinite(model.coef_).all()


def test_weights_far_apart_in_size():
    X = table(40, 2)
    y = classes_on(X, 2, noise=0.0)
    model = Perceptron(max_iter=50).fit(X, y, sample_weight=np.where(np.arange(40) == 7, 1e12, 1e-12))
    assert model.predict(X[[7]]) == y[7]


def test_equal_rows_with_opposite_labels():
    X = np.tile(table(20, 2), (2, 1))
    y = np.arange(40) // 20
    model = Perceptron(max_iter=30, tol=None).fit(X, y)
    assert model.stop_reason_ == "finished"
    assert model.score(X, y) == 0.5
    assert not model.converged_.any()
    assert eigenwood.verify(model, X, y).holds is None


@pytest.mark.parametrize("value", [0.0, 1.0, -7.0])
def test_constant_rows(value):
    model = Perceptron(max_iter=5, tol=None).fit(np.full((4, 2), value), [0, 1, 0, 1])
    assert set(model.predict(np.full((2, 2), value))) <= {0, 1}


def test_one_feature_and_two_rows():
    model = Perceptron().fit([[1.0], [2.0]], ["small", "large"])
    assert model.predict([[1.0], [2.0]]).tolist() == ["small", "large"]


def test_many_classes():
    X = np.eye(60)
    y = np.arange(60)
    model = Perceptron(n_jobs=2).fit(X, y)
    assert model.coef_.shape == (60, 60)
    assert model.score(X, y) == 1.0


def test_more_features_than_rows():
    X = table(10, 5000)
    y = np.arange(10) % 2
    assert Perceptron().fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("n_jobs", [-1, -2, -100, 1000])
def test_any_number_of_threads(n_jobs, three):
    X, y = three
    np.testing.assert_array_equal(Perceptron(n_jobs=n_jobs).fit(X, y).coef_, Perceptron().fit(X, y).coef_)


def test_no_threads_are_said(three):
    with pytest.raises(InputError) as caught:
        Perceptron(n_jobs=0).fit(*three)
    assert str(caught.value) == "Perceptron: n_jobs must be None or an integer other than 0; got 0."


@pytest.mark.parametrize("random_state", [0, 7, np.int32(7), np.random.RandomState(7), None])
def test_any_random_state(random_state, three):
    X, y = three
    assert Perceptron(random_state=random_state).fit(X, y).score(X, y) > 0.3


def test_the_certificate_tells_a_wrong_model(three):
    """A model that was tampered with does not verify."""
    X, y = three
    model = Perceptron(tol=None).fit(X[:, :1], X[:, 0] > 0)
    assert eigenwood.verify(model, X[:, :1], X[:, 0] > 0).holds
    model.coef_ = -model.coef_
    assert not eigenwood.verify(model, X[:, :1], X[:, 0] > 0).holds
    model = Perceptron().fit(X, y)
    model.coef_ = model.coef_ * 1e6
    assert not eigenwood.verify(model, X, y).holds


def test_early_stopping_says_that_it_was_the_reason():
    X = table(400, 5)
    model = Perceptron(early_stopping=True, n_iter_no_change=2, tol=0.5).fit(X, classes_on(X, 2))
    assert model.stop_reason_ == "early_stopping"


def test_classes_that_all_weigh_nothing_are_refused():
    with pytest.raises(InputError, match="class_weight must leave some row a weight above 0; got none"):
        Perceptron(class_weight={0: 0, 1: 0}).fit([[0.0], [1.0]], [0, 1])


def test_wide_sparse_rows_are_as_fast_on_two_threads():
    rows = sparse.random_array((4000, 300_000), density=2e-5, format="csr", rng=np.random.default_rng(0))
    y = np.arange(4000) % 4
    seconds = []
    for n_jobs in (1, 2):
        started = time.perf_counter()
        Perceptron(max_iter=2, tol=None, penalty="l1", n_jobs=n_jobs).fit(rows, y)
        seconds.append(time.perf_counter() - started)
    assert seconds[1] < 4 * seconds[0] + 0.5
