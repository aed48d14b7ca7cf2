"""What is claimed about perceptrons, and how ``verify`` catches a model that lies."""

from copy import deepcopy

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenwood import KernelPerceptron, Perceptron, PolynomialExpansion, TableEncoder, verify
from eigenwood.errors import InputError
from eigenwood.proofs.perceptron import PerceptronFacts, perceptron_certificate
from eigenwood.proofs.separability import Separability
from tests.naive import separability as naive

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def separable(seed, n_rows=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    scores = X @ [1.0, -2.0] + 0.3
    keep = np.abs(scores) > 0.4
    return X[keep], np.where(scores[keep] > 0, "yes", "no")


def by_chance(seed, n_rows=30, n_classes=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 2)), rng.integers(n_classes, size=n_rows)


# ---- the claims by themselves ------------------------------------------------------------------------------------

FACTS = PerceptronFacts(
    label="", steps=9, norm=6.0, radius=2.0, counted=9.0, n_wrong=0.0, converged=True, novikoff=True
)
MARGIN = Separability(reached=0.5, limit=0.5, radius=2.0)  # (R/γ)² = 16


def test_both_halves_of_novikoff():
    certificate = perceptron_certificate([FACTS], [MARGIN])
    assert [claim.name for claim in certificate] == ["training errors", "weights", "progress", "count", "mistakes"]
    assert certificate.holds
    assert certificate["progress"].value == pytest.approx(4.5)  # M γ
    assert certificate["weights"].bound == pytest.approx(6.0)  # R √M
    assert certificate["mistakes"].value == 9
    assert certificate["mistakes"].bound == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("lie", "claim"),
    [
        ({"steps": 17}, "mistakes"),
        ({"steps": 8}, "weights"),
        ({"steps": 0}, "weights"),
        ({"norm": 6.1}, "weights"),
        ({"norm": float("nan")}, "weights"),
        ({"n_wrong": 1.0}, "training errors"),
        ({"steps": float("nan")}, "mistakes"),
    ],
    ids=str,
)
def test_a_false_fact_breaks_its_claim(lie, claim):
    certificate = perceptron_certificate([FACTS._replace(**lie)], [MARGIN])
    assert not certificate.holds
    assert not certificate[claim].holds


def test_without_a_margin_mistakes_are_only_counted():
    assert perceptron_certificate([FACTS])["mistakes"].bound is None
    nothing = Separability(0.0, 0.0, 2.0)
    assert perceptron_certificate([FACTS._replace(steps=10**6, counted=None)], [nothing]).holds


def test_where_the_theorem_does_not_speak_nothing_is_bounded():
    certificate = perceptron_certificate([FACTS._replace(novikoff=False, converged=False, n_wrong=3.0)], [MARGIN])
    assert [claim.bound for claim in certificate] == [None, None]
    assert certificate.holds is None


def test_each_problem_has_its_claims():
    certificate = perceptron_certificate([FACTS._replace(label=" [a]"), FACTS._replace(label=" [b]", n_wrong=1.0)])
    assert certificate["training errors [a]"].holds
    assert not certificate["training errors [b]"].holds


# ---- the claims about a fit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_mistake_bound_holds(seed, intercept, form):
    X, y = separable(seed)
    signs = np.where(y == "yes", 1.0, -1.0)
    model = Perceptron(tol=None, fit_intercept=intercept, random_state=seed, eta0=0.3).fit(form(X), y)
    assert model.certificate_.holds
    certificate = verify(model, form(X), y)
    assert certificate.holds
    margin = naive.widest_margin(naive.signed(X, signs, intercept))
    if margin > 0:
        radius = np.linalg.norm(naive.signed(X, signs, intercept), axis=1).max()
        assert certificate["mistakes"].bound == pytest.approx((radius / margin) ** 2, rel=1e-4)
        assert certificate["mistakes"].value == model.n_mistakes_[0] <= (radius / margin) ** 2
        assert certificate["training errors"].value == 0
    else:
        assert certificate["mistakes"].bound is None


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_the_mistake_bound_holds_with_weights(weights):
    X, y = separable(1)
    rng = np.random.default_rng(0)
    given = {None: None, "whole": rng.integers(0, 5, size=len(y)), "fractions": rng.random(len(y)) * 3}[weights]
    for model in (Perceptron(tol=None), KernelPerceptron(kernel="linear")):
        model.fit(X, y, sample_weight=given)
        certificate = verify(model, X, y, sample_weight=given)
        assert certificate.holds
        assert certificate["mistakes"].bound is not None


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_the_mistake_bound_holds_in_the_space_of_a_kernel(kernel):
    X, y = separable(2)
    model = KernelPerceptron(kernel=kernel, gamma=1.0, coef0=1.0, degree=2).fit(X, y)
    certificate = verify(model, X, y)
    assert certificate.holds
    assert certificate["mistakes"].value <= certificate["mistakes"].bound


@pytest.mark.parametrize("seed", range(6))
def test_verify_answers_for_labels_by_chance(seed):
    X, y = by_chance(seed, n_rows=50)
    model = KernelPerceptron(kernel="rbf", gamma=0.1, max_iter=20).fit(X, y)
    assert verify(model, X, y).holds is not False


def test_three_classes_have_claims_of_their_own():
    X, y = by_chance(1, n_classes=3)
    certificate = verify(Perceptron(max_iter=20).fit(X, y), X, y)
    names = [claim.name for claim in certificate]
    of_all = ["certificate", "fitted again"]
    assert names == [
        *(f"{name} [{k}]" for k in range(3) for name in ("training errors", "weights", "mistakes")),
        *of_all,
    ]
    assert certificate.holds is None


def test_rows_that_no_line_separates_have_no_bound():
    X, y = by_chance(3)
    certificate = verify(Perceptron(max_iter=50).fit(X, y), X, y)
    assert certificate.holds is None
    assert certificate["mistakes"].bound is None
    assert "no hyperplane separates these rows" in certificate["mistakes"].statement
    assert certificate["training errors"].value > 0


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(penalty="l2"),
        KernelPerceptron(max_support=3, max_iter=5),
        KernelPerceptron(vote="averaged"),
        KernelPerceptron(vote="voted"),
    ],
    ids=str,
)
def test_other_rules_claim_less_and_hold(model):
    X, y = separable(4)
    model.fit(X, y)
    assert model.certificate_.holds is not False
    certificate = verify(model, X, y)
    assert certificate.holds is not False
    assert certificate["mistakes"].value == model.n_mistakes_[0]


# ---- models that lie ---------------------------------------------------------------------------------------------


def fitted(kind, X, y):
    if kind == "primal":
        return Perceptron(tol=None).fit(X, y)
    return KernelPerceptron(kernel="poly", gamma=1.0, coef0=1.0, degree=2).fit(X, y)


def weights_of(model):
    return "coef_" if isinstance(model, Perceptron) else "dual_coef_"


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_a_model_that_hides_mistakes_is_caught(kind):
    X, y = separable(5)
    model = fitted(kind, X, y)
    assert model.n_mistakes_[0] > 1
    liar = deepcopy(model)
    liar.n_mistakes_ = np.zeros(1)
    certificate = verify(liar, X, y)
    assert not certificate.holds
    assert not certificate["weights"].holds
    assert verify(model, X, y).holds


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_a_model_with_more_mistakes_than_can_be_is_caught(kind):
    X, y = separable(6)
    liar = fitted(kind, X, y)
    liar.n_mistakes_ = np.array([verify(liar, X, y)["mistakes"].bound + 1.0])
    certificate = verify(liar, X, y)
    assert not certificate.holds
    assert not certificate["mistakes"].holds


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize(("factor", "claim"), [(-1.0, "training errors"), (1000.0, "weights")])
def test_changed_weights_are_caught(kind, factor, claim):
    X, y = separable(7)
    liar = fitted(kind, X, y)
    setattr(liar, weights_of(liar), getattr(liar, weights_of(liar)) * factor)
    certificate = verify(liar, X, y)
    assert not certificate.holds
    assert not certificate[claim].holds


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_other_data_do_not_verify_the_model(kind):
    X, y = separable(8)
    model = fitted(kind, X, y)
    swapped = np.where(y == "yes", "no", "yes")
    assert not verify(model, X, swapped).holds


def test_the_certificate_of_the_fit_is_not_asked():
    X, y = separable(9)
    liar = fitted("primal", X, y)
    liar.coef_ = -liar.coef_
    assert liar.certificate_.holds  # as stored
    assert not verify(liar, X, y).holds


# ---- verify as a door --------------------------------------------------------------------------------------------


def test_a_pipeline_is_verified_by_its_last_step():
    X, y = separable(10)
    pipeline = make_pipeline(StandardScaler(), PolynomialExpansion(include_bias=False), Perceptron(tol=None)).fit(X, y)
    certificate = verify(pipeline, X, y)
    assert certificate.holds
    assert certificate["mistakes"].bound is not None


def test_an_expansion_is_verified_by_the_kernel_identity():
    X, _ = separable(11)
    model = PolynomialExpansion(degree=3).fit(X)
    certificate = verify(model, X)
    assert certificate.holds
    assert certificate["kernel identity"].value <= 3e-12
    model.degree = 2
    with pytest.raises(InputError, match="degree 2"):
        verify(model, X)


def test_an_encoder_of_texts_can_be_verified():
    table = pa.table({"age": [1.0, 2.0], "job": ["cook", "nurse"]})
    assert verify(TableEncoder().fit(table), table).holds


def test_a_precomputed_matrix_can_be_verified():
    X, y = separable(12)
    K = X @ X.T
    model = KernelPerceptron(kernel="precomputed").fit(K, y)
    assert verify(model, K, y).holds


def test_a_precomputed_matrix_with_rows_of_weight_zero_can_be_verified():
    X, y = separable(12)
    K, weights = X @ X.T, np.ones(len(y))
    weights[::3] = 0.0
    model = KernelPerceptron(kernel="precomputed").fit(K, y, sample_weight=weights)
    certificate = verify(model, K, y, sample_weight=weights)
    assert certificate.holds
    squares = model.dual_coef_[0] @ K[np.ix_(model.support_, model.support_)] @ model.dual_coef_[0]
    assert certificate["weights"].value == pytest.approx(np.sqrt(squares + model.intercept_[0] ** 2))
    kept = weights > 0
    expected = np.sqrt(K.diagonal()[kept].max() + 1.0) * np.sqrt(model.n_mistakes_[0])
    assert certificate["weights"].bound == pytest.approx(expected)


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron(), PolynomialExpansion(), TableEncoder()], ids=str)
def test_a_model_that_was_not_fitted_says_so(model):
    with pytest.raises(NotFittedError):
        verify(model, [[0.0], [1.0]], [0, 1])


def test_a_stranger_is_refused():
    with pytest.raises(InputError) as caught:
        verify(StandardScaler(), [[0.0]])
    assert str(caught.value).startswith("eigenwood: the model must be one of ")
    assert str(caught.value).endswith("got StandardScaler.")


def test_labels_are_needed():
    X, y = separable(13)
    with pytest.raises(InputError, match="Perceptron: it requires y to be passed"):
        verify(Perceptron().fit(X, y), X)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
def test_with_a_penalty_nothing_is_claimed_that_shrinking_could_undo(penalty, alpha):
    X, y = by_chance(2, n_rows=30)
    model = Perceptron(penalty=penalty, alpha=alpha, max_iter=30, tol=None).fit(X, y)
    assert model.certificate_.holds is None
    assert verify(model, X, y).holds is None


def test_learning_in_parts_counts_the_mistakes_of_all_parts():
    X, y = by_chance(4, n_rows=40)
    model = Perceptron(shuffle=False)
    made = [
        float(model.partial_fit(X[part], y[part], classes=[0, 1]).n_mistakes_[0]) for part in (slice(20), slice(20, 40))
    ]
    assert made[1] > made[0] > 0
    assert model.certificate_["mistakes"].value == made[1]
