"""What is claimed about principal components, and how ``verify`` catches a solver that is wrong or lies."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenwood import PCA, verify
from eigenwood.data.blocks import blocks
from eigenwood.errors import InputError
from eigenwood.estimators.pca import decomposition, filling, sources
from eigenwood.estimators.pca.verifying import verify_pca
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs import pca as proofs
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.pca import (
    SHOWN,
    Look,
    PcaFacts,
    Stated,
    Tolerances,
    facts_from_rows,
    intervals,
    largest_beside,
    missed_claim,
    pca_certificate,
)
from tests.naive import pca as naive
from tests.proofs.falsifying import edits_of, falsified

EXACT = ("auto", "full", "covariance_eigh", "gram_eigh", "gram_refined", "krylov", "arpack", "power")
ROUTES = (*EXACT, "randomized", "oja")
SPREADS = np.array([5.0, 4.0, 3.0, 1.0, 0.7, 0.5])


def rows(seed=0, n_rows=80, spreads=SPREADS, dtype=np.float64, mean=0.0):
    """Return rows with these spreads along directions in general position."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(len(spreads), len(spreads))))[0]
    return ((rng.normal(size=(n_rows, len(spreads))) * spreads) @ Q.T + mean).astype(dtype)


def covariance(X, weights=None, scale=1.0):
    """Return the covariance of the rows, in float64 and by its definition."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64) / scale
    A = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
    return A.T @ A / (weights.sum() - 1.0)


def assert_intervals_hold_eigenvalues(model, C):
    """Every interval has an eigenvalue of C in it; where the claims hold, one for each component and in order."""
    true = np.linalg.eigvalsh(C)[::-1]
    low, high = model.explained_variance_interval_.T
    assert ((true >= low[:, None]) & (true <= high[:, None])).any(axis=1).all()
    assert ((low <= model.explained_variance_) & (model.explained_variance_ <= high)).all()
    if model.certificate_.holds and model.solver_ not in ("randomized", "oja"):
        leading = true[: low.size]
        assert ((low <= leading) & (leading <= high)).all()


# ---- the claims by themselves ------------------------------------------------------------------------------------

FACTS = PcaFacts(
    variances=np.array([4.0, 2.0, 1.0]),
    residuals=np.array([1e-9, 2e-9, 3e-9]),
    skew=1e-12,
    n_turned=0,
    kept_and_lost=10.0,
    total=10.0,
    filling=("the last of 7 rounds", 1e-5, 1e-4),
    tolerance=1e-8,
    rounding=1e-10,
    off_centre=1e-9,
    total_error=1e-12,
    misstated=1e-12,
    interval_error=1e-10,
    interval_bound=1e-8,
    n_other_rows=0,
)


def test_the_claims_and_their_numbers():
    certificate = pca_certificate(FACTS)
    names = [claim.name for claim in certificate]
    ours = ["tolerance", "orthonormality", "signs", "kept + lost", "rows", "mean", "total variance"]
    ours += ["stated numbers", "intervals", "missing values"]
    assert names == ["component 1", "component 2", "component 3", *ours]
    assert certificate.holds
    assert [certificate[f"component {i}"].value for i in (1, 2, 3)] == [1e-9, 2e-9, 3e-9]
    assert certificate["component 2"].bound == pytest.approx(4e-8)  # of the largest variance
    assert "70.0000%" in certificate["kept + lost"].statement
    assert "7 rounds" in certificate["missing values"].statement


@pytest.mark.parametrize(
    ("lie", "claim"),
    [
        ({"residuals": np.array([1e-9, 5e-8, 1e-9])}, "component 2"),
        ({"residuals": np.array([1e-9, 1e-9, np.nan])}, "component 3"),
        ({"skew": 1e-9}, "orthonormality"),
        ({"skew": float("nan")}, "orthonormality"),
        ({"kept_and_lost": 10.0 + 1e-8}, "kept + lost"),
        ({"kept_and_lost": 10.0 - 1e-8}, "kept + lost"),
        ({"total": float("nan")}, "kept + lost"),
        ({"off_centre": 1e-3}, "mean"),
        ({"off_centre": float("nan")}, "mean"),
        ({"misstated": 1e-6}, "stated numbers"),
        ({"misstated": float("nan")}, "stated numbers"),
        ({"total_error": 1e-6}, "total variance"),
        ({"interval_error": 1e-7}, "intervals"),
        ({"interval_error": float("nan")}, "intervals"),
        ({"n_other_rows": 1}, "rows"),
        ({"n_turned": 1}, "signs"),
        ({"filling": ("the last of 500 rounds", 1e-3, 1e-4)}, "missing values"),
    ],
    ids=str,
)
def test_a_false_fact_breaks_its_claim_and_no_other(lie, claim):
    certificate = pca_certificate(FACTS._replace(**lie))
    assert not certificate.holds
    assert [told.name for told in certificate if not told.holds] == [claim]


def test_what_nobody_looked_for_is_not_claimed():
    looked_for = ("filling", "off_centre", "total_error", "misstated", "interval_error", "n_other_rows")
    names = [claim.name for claim in pca_certificate(FACTS._replace(**dict.fromkeys(looked_for)))]
    assert names[3:] == ["tolerance", "orthonormality", "signs", "kept + lost"]


@pytest.mark.parametrize(("beside", "holds"), [(0.5, True), (1.0, True), (1.01, False), (float("nan"), False)])
def test_a_larger_variance_beside_the_components_was_missed(beside, holds):
    claim = missed_claim(FACTS, beside)
    assert claim.holds is holds
    assert 1.0 < claim.bound < 1.0 + 1e-6


def test_many_components_share_a_claim():
    k = SHOWN + 3
    facts = FACTS._replace(variances=np.linspace(4.0, 1.0, k), residuals=np.full(k, 1e-9))
    certificate = pca_certificate(facts)
    shared = f"components {SHOWN + 1} to {k}"
    assert shared in [claim.name for claim in certificate]
    assert sum(claim.name.startswith("component") for claim in certificate) == SHOWN + 1
    assert certificate.holds
    facts.residuals[-1] = 1.0  # the last of all
    assert [claim.name for claim in pca_certificate(facts) if not claim.holds] == [shared]
    assert pca_certificate(facts)[shared].value == 1.0


def test_rows_without_variance_prove_without_dividing_by_zero():
    nothing = FACTS._replace(variances=np.zeros(2), residuals=np.zeros(2), kept_and_lost=0.0, total=0.0)
    assert pca_certificate(nothing).holds
    assert missed_claim(nothing, 0.0).holds


def test_intervals_are_as_wide_as_residual_and_rounding_and_not_below_zero():
    got = intervals(np.array([4.0, 1.0, 1e-9]), np.array([0.5, 0.0, 0.1]), 0.01)
    assert_allclose(got, [[3.46, 4.54], [0.96, 1.04], [0.0, 0.14 + 1e-9]])
    assert intervals(np.empty(0), np.empty(0), 0.01).shape == (0, 2)


@pytest.mark.parametrize("seed", range(5))
def test_a_residual_is_an_interval_whoever_computed_the_direction(seed):
    """For any v of length 1 and any λ an eigenvalue of C lies within ‖Cv - λv‖ of λ."""
    rng = np.random.default_rng(seed)
    C, v, value = covariance(rows(seed)), rng.normal(size=6), rng.uniform(0.0, 30.0)
    v /= np.linalg.norm(v)
    residual = np.linalg.norm(C @ v - value * v)
    [[low, high]] = intervals(np.array([value]), np.array([residual]), 0.0)
    true = np.linalg.eigvalsh(C)
    assert ((low <= true) & (true <= high)).any()


# ---- the verifier's own arithmetic -------------------------------------------------------------------------------


def stated_by(mean, scale, V, variances, **more):
    """Return what a model states, with ratios and singular values of nothing unless they are given."""
    rest = {
        "ratios": np.zeros(len(V)),
        "singular_values": np.zeros(len(V)),
        "intervals": np.zeros((len(V), 2)),
        "total": 1.0,
        "noise": 0.0,
        "n_rows": 80,
    }
    return Stated(mean, scale, V, variances, **{**rest, **more})


def blocks_of(X, weights, n_rows):
    return lambda work: (work(X[i : i + n_rows], weights[i : i + n_rows]) for i in range(0, X.shape[0], n_rows))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_rows", [3, 100])
def test_facts_are_those_of_the_textbook(n_rows, form):
    X, weights = rows(1, n_rows=25), np.random.default_rng(0).uniform(0.5, 2.0, 25)
    middle, scale = naive.mean(X, weights), np.linspace(0.5, 2.0, 6)
    rng = np.random.default_rng(2)
    V, variances = np.linalg.qr(rng.normal(size=(6, 2)))[0].T, np.array([3.0, 1.0])  # any directions
    blocks, degrees = blocks_of(form(X), weights, n_rows), weights.sum() - 1.0
    facts = facts_from_rows(blocks, stated_by(middle, scale, V, variances), Tolerances(0.1, 0.1, 0.2))
    C = naive.scatter(X / scale, weights) / degrees
    expected = [np.linalg.norm(C @ v - value * v) for v, value in zip(V, variances, strict=True)]
    assert_allclose(facts.residuals, expected, rtol=1e-10)
    assert facts.total == pytest.approx(np.trace(C))
    kept = sum(v @ C @ v for v in V)
    A = X / scale
    lost = (weights[:, None] * (A - naive.reconstruction(A, middle / scale, V)) ** 2).sum() / degrees
    assert facts.kept_and_lost == pytest.approx(kept + lost)
    assert kept + lost == pytest.approx(np.trace(C))  # at right angles, nothing is counted twice
    assert facts.skew <= 1e-14
    assert (facts.tolerance, facts.rounding) == (0.1, 0.2)
    assert facts.off_centre <= 1e-14
    off = facts_from_rows(blocks, stated_by(middle + 0.5, scale, V, variances), Tolerances(0.1, 0.1, 0.2))
    shift = np.linalg.norm(0.5 / scale)
    total = np.trace(C) + weights.sum() / degrees * shift**2  # about a point that is not the mean
    assert off.off_centre == pytest.approx(shift / np.sqrt(total))


def stated_truth(X, k=2):
    """Return all that is true of the rows and of their first components."""
    C, n = covariance(X), len(X)
    values, vectors = np.linalg.eigh(C)
    values, V, total = values[::-1][:k], vectors.T[::-1][:k], float(np.trace(C))
    return stated_by(
        X.mean(axis=0),
        np.ones(X.shape[1]),
        V,
        values,
        ratios=values / total,
        singular_values=np.sqrt((n - 1.0) * values),
        intervals=np.column_stack([values, values]),
        total=total,
        noise=(total - values.sum()) / (X.shape[1] - k),
        n_rows=n,
    )


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        (None, None),
        ("ratios", "misstated"),
        ("singular_values", "misstated"),
        ("noise", "misstated"),
        ("total", "total_error"),
        ("intervals", "interval_error"),
        ("n_rows", "n_other_rows"),
    ],
)
def test_other_numbers_are_measured_too(name, fact):
    X = rows(1)
    said = stated_truth(X)
    if name is not None:
        said = said._replace(**{name: getattr(said, name) * 2})
    facts = facts_from_rows(blocks_of(X, np.ones(80), 30), said, Tolerances(0.1, 0.1, 0.0))
    for measured in ("misstated", "total_error", "interval_error", "n_other_rows"):
        error = getattr(facts, measured)
        assert (error > 0.04) if measured == fact else (error <= 1e-12 or name == "total")


def test_directions_that_are_not_at_right_angles_count_variance_twice():
    X = rows(2)
    V = np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0, 0.0, 0.0]])
    stated = stated_by(X.mean(axis=0), np.ones(6), V, np.ones(2))
    facts = facts_from_rows(blocks_of(X, np.ones(80), 30), stated, Tolerances(0.1, 0.1, 1e-10))
    assert facts.skew == pytest.approx(0.6)
    assert abs(facts.kept_and_lost - facts.total) > 1e-4 * facts.total


@pytest.mark.parametrize("way", ["columns", "rows", "lanczos"])
@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_the_search_finds_the_largest_variance_beside(monkeypatch, k, way):
    X = rows(3, n_rows=200) if way != "rows" else rows(3, n_rows=5, spreads=np.linspace(2.0, 1.0, 9))
    monkeypatch.setattr(proofs, "DENSE", {"columns": 6, "rows": 5, "lanczos": 0}[way])
    values, vectors = np.linalg.eigh(covariance(X))
    V = vectors[:, ::-1][:, :k]
    look = Look(blocks_of(X, np.ones(len(X)), 64), X.mean(axis=0), np.ones(X.shape[1]))
    found = largest_beside(look, V, len(X), np.inf) / (len(X) - 1.0)
    largest = max(values[::-1][k], 0.0)
    assert found == pytest.approx(largest, abs=1e-12 * values[-1])


def test_beside_all_directions_there_is_nothing():
    X = rows(4)
    look = Look(blocks_of(X, np.ones(80), 80), X.mean(axis=0), np.ones(6))
    assert largest_beside(look, np.eye(6), 80, 0.0) == 0.0


def flat_rows(n_rows, n_columns, spreads, noise):
    """Return noise with a few directions of more variance."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(n_columns, len(spreads))))[0]
    return noise * rng.normal(size=(n_rows, n_columns)) + (rng.normal(size=(n_rows, len(spreads))) * spreads) @ axes.T


@pytest.mark.parametrize("dense", [1000, 0], ids=["all values", "lanczos"])
@pytest.mark.parametrize("left_out", [0, 3, 8])
def test_a_component_that_was_left_out_is_found_by_one_percent(monkeypatch, left_out, dense):
    """Its replacement is the next one, with 1 % less variance or less: 1.01, 1.04 and 1.1 times are all found."""
    X = flat_rows(1200, 600, 3.0 * 0.99 ** np.arange(12), 0.3)
    every = PCA(12).fit(X)
    ratio = every.explained_variance_[left_out] / every.explained_variance_[9]
    assert ratio > 1.01
    model = with_pairs(PCA(9).fit(X), every, [i for i in range(10) if i != left_out])
    monkeypatch.setattr(proofs, "DENSE", dense)
    assert "nothing missed" in failed(verify(model, X))
    assert verify(PCA(9).fit(X), X).holds


@pytest.mark.parametrize("dense", [1000, 0], ids=["all values", "lanczos"])
def test_a_flat_spectrum_raises_no_alarm(monkeypatch, dense):
    X = np.random.default_rng(0).normal(size=(700, 300))
    monkeypatch.setattr(proofs, "DENSE", dense)
    for k in (1, 20):
        for dtype in (np.float32, np.float64):
            assert verify(PCA(k).fit(X.astype(dtype)), X.astype(dtype)).holds


# ---- the claims about a fit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(80, 6), (20, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("route", ROUTES)
def test_certificates_of_good_fits_hold(route, dtype, shape):
    X = rows(5, shape[0], 0.5 ** np.arange(shape[1]), dtype, mean=1.0)
    model = PCA(3, svd_solver=route).fit(X)
    assert model.certificate_.holds
    certificate = verify(model, X)
    assert certificate.holds
    assert "nothing missed" in [claim.name for claim in certificate]
    assert_intervals_hold_eigenvalues(model, covariance(X))


@pytest.mark.parametrize("mean", [0.0, 150.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("route", EXACT)
def test_all_components_of_few_rows(route, dtype, mean):
    """The last of them has no variance: its direction is rounding, and may not turn the others."""
    X = rows(20, 7, np.linspace(1.5, 0.8, 60), dtype, mean)
    model = PCA(svd_solver=route).fit(X)
    assert model.n_components_ == 7
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_intervals_hold_eigenvalues(model, covariance(X))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("route", EXACT)
def test_rows_with_directions_of_no_variance(route, dtype, k):
    """Two columns that vary, their sum, and two constants: beside the components there is only rounding."""
    X = rows(21, 40, np.array([3.0, 1.0]), dtype)
    X = np.column_stack([X, X.sum(axis=1), np.ones(40), np.full(40, 0.3)]).astype(dtype)
    model = PCA(k, svd_solver=route).fit(X)
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_allclose(model.explained_variance_[2:], 0.0, atol=1e-6)


@pytest.mark.parametrize("options", [{"scale": True}, {"whiten": True}, {"n_components": 0.8}, {"n_components": "mle"}])
@pytest.mark.parametrize("route", ["full", "covariance_eigh"])
def test_certificates_hold_with_every_option(route, options):
    X = rows(6, mean=3.0)
    model = PCA(**{"n_components": 3, **options}, svd_solver=route).fit(X)
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_intervals_hold_eigenvalues(model, covariance(X, scale=model.scale_))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh", "krylov"])
def test_certificates_hold_with_weights(route, form):
    X = rows(7)
    weights = np.random.default_rng(0).uniform(0.0, 3.0, 80)
    weights[::7] = 0.0
    model = PCA(3, svd_solver=route).fit(form(X), sample_weight=weights)
    assert model.certificate_.holds
    assert verify(model, form(X), sample_weight=weights).holds
    assert not verify(model, form(X)).holds  # without them it is another covariance
    assert_intervals_hold_eigenvalues(model, covariance(X, weights))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_intervals_hold_eigenvalues_also_where_a_route_is_bad(route, dtype):
    """A flat spectrum, few products, a coarse tolerance: the claims may fail, the intervals may not."""
    X = rows(8, 60, 0.98 ** np.arange(20.0), dtype)
    model = PCA(4, svd_solver=route, iterated_power=1, tol=0.3).fit(X)
    assert_intervals_hold_eigenvalues(model, covariance(X))
    assert model.certificate_.holds or route in ("randomized", "oja", "power")


@pytest.mark.parametrize("route", ["power", "krylov", "randomized", "oja", "covariance_eigh", "gram_eigh"])
def test_intervals_hold_eigenvalues_also_where_time_was_up(route):
    X = rows(9, 60, 0.98 ** np.arange(40.0))
    model = PCA(33, svd_solver=route, time_limit=1e-9).fit(X)
    assert_intervals_hold_eigenvalues(model, covariance(X))


@pytest.mark.parametrize("mean", [100.0, 1e4])
@pytest.mark.parametrize("route", EXACT)
def test_intervals_of_float32_rows_far_from_the_origin(route, mean):
    X = rows(10, dtype=np.float32, mean=mean)
    model = PCA(3, svd_solver=route).fit(X)
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_intervals_hold_eigenvalues(model, covariance(X))


@pytest.mark.slow
@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh", "krylov", "power"])
def test_intervals_of_float32_columns_of_two_values(route):
    """The same square added again and again is rounded the same way each time: errors do not average out."""
    rng = np.random.default_rng(0)
    sizes = np.append(0.8765027898855733, np.full(15, 0.11))
    signs = np.where(rng.random((2048, 16)) < 0.5, 1.0, -1.0) * sizes
    X = np.vstack([signs, -signs]).astype(np.float32)
    assert_intervals_hold_eigenvalues(PCA(3, svd_solver=route).fit(X), covariance(X))


@pytest.mark.slow
@pytest.mark.parametrize("mean", [100.0, 1e4])
@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh", "krylov", "power"])
def test_intervals_of_sparse_rows_far_from_the_origin(route, mean):
    X, weights = rows(11, 87, np.linspace(1.2, 0.8, 50), mean=mean), np.random.default_rng(0).uniform(0.2, 3.0, 87)
    model = PCA(10, svd_solver=route).fit(sparse.csr_array(X), sample_weight=weights)
    assert_intervals_hold_eigenvalues(model, covariance(X, weights))
    assert verify(model, sparse.csr_array(X), sample_weight=weights).holds


@pytest.mark.parametrize("route", ROUTES)
def test_rows_without_variance(route):
    X = np.full((50, 4), 2.5)
    model = PCA(2, svd_solver=route).fit(X)
    assert model.certificate_.holds
    assert verify(model, X).holds
    assert_allclose(model.explained_variance_interval_, 0.0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_kept_and_lost_make_the_trace(k):
    X = rows(12)
    model = PCA(k).fit(X)
    trace = np.trace(covariance(X))
    lost = ((X - model.inverse_transform(model.transform(X))) ** 2).sum() / 79.0
    assert model.explained_variance_.sum() + lost == pytest.approx(trace)
    assert model.total_variance_ == pytest.approx(trace)
    for certificate in (model.certificate_, verify(model, X)):
        assert certificate["kept + lost"].value <= 1e-12
        assert f"keep {model.explained_variance_.sum() / trace:.4%}" in certificate["kept + lost"].statement


# ---- solvers that are wrong --------------------------------------------------------------------------------------


def whole(seed=13):
    """Return rows, a model with three of their six components, and one with all."""
    X = rows(seed)
    return X, PCA(3).fit(X), PCA().fit(X)


def with_pairs(model, source, chosen):
    """Return the model with other components of the source, and all that is said of them."""
    other = deepcopy(model)
    other.components_ = source.components_[chosen]
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(other, name, getattr(source, name)[chosen])
    other.explained_variance_interval_ = source.explained_variance_interval_[chosen]
    rest = other.total_variance_ - other.explained_variance_.sum()
    other.noise_variance_ = rest / (other.n_features_in_ - other.n_components_)
    return other


def is_caught(model, X):
    """Return whether a falsified model is refused, or its certificate does not hold."""
    try:
        return verify(model, X).holds is not True
    except InputError:
        return True


def failed(certificate):
    return [claim.name for claim in certificate if not claim.holds]


def test_the_true_ones_hold():
    X, model, every = whole()
    assert verify(with_pairs(model, every, [0, 1, 2]), X).holds


@pytest.mark.parametrize("angle", [1e-5, 0.1, 1.0])
@pytest.mark.parametrize(("pair", "claims"), [((0, 1), [1, 2]), ((1, 2), [2, 3]), ((2, 3), [3])])
def test_components_that_were_turned_are_caught(pair, claims, angle):
    X, model, every = whole()
    liar, (i, j) = deepcopy(model), pair
    V = every.components_
    liar.components_[i] = np.cos(angle) * V[i] + np.sin(angle) * V[j]
    if j < 3:
        liar.components_[j] = np.cos(angle) * V[j] - np.sin(angle) * V[i]
    certificate = verify(liar, X)
    assert [name for name in failed(certificate) if name.startswith("component")] == [f"component {c}" for c in claims]
    assert certificate["orthonormality"].holds


@pytest.mark.parametrize("chosen", [[0, 1, 3], [0, 1, 5], [0, 2, 3], [1, 2, 5], [1, 2, 3], [3, 4, 5]])
def test_a_lower_component_in_the_place_of_a_leading_one_is_caught(chosen):
    """Each of them is an eigenvector with its own eigenvalue; only the search beside them can tell."""
    X, model, every = whole()
    assert "nothing missed" in failed(verify(with_pairs(model, every, chosen), X))


def test_components_in_another_order_are_no_other_components():
    X, model, every = whole()
    swapped = deepcopy(model)
    swapped.components_ = swapped.components_[[1, 0, 2]]
    assert failed(verify(swapped, X))[:2] == ["component 1", "component 2"]


@pytest.mark.parametrize("factor", [1.0 + 1e-6, 0.5, 2.0])
def test_components_of_another_length_are_caught(factor):
    X, model, _ = whole()
    model.components_ = model.components_ * factor
    assert "orthonormality" in failed(verify(model, X))


def test_one_component_twice_is_caught():
    X, model, every = whole()
    twice = deepcopy(model)
    twice.components_ = every.components_[[0, 0, 1]]
    assert "orthonormality" in failed(verify(twice, X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_component_that_points_the_other_way_is_caught(dtype):
    """The direction would be the same; but the signs are promised, and scores follow them."""
    X = rows(13, dtype=dtype)
    model = PCA(3).fit(X)
    model.components_[1] *= -1.0
    certificate = verify(model, X)
    assert failed(certificate) == ["signs", "certificate"]
    assert certificate["signs"].value == 1.0


def test_two_entries_of_one_size_have_either_sign():
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [0.5, 0.5], [-0.5, -0.5]])
    model = PCA(1).fit(X)
    assert_allclose(np.abs(model.components_), np.sqrt(0.5))
    model.components_ = -model.components_
    assert verify(model, X).holds


@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("factor", [1.0 + 1e-4, 0.5, -1.0, 1e6, np.nan])
def test_changed_variances_are_caught(factor, i):
    X, model, _ = whole()
    model.explained_variance_[i] *= factor
    assert is_caught(model, X)
    if np.isfinite(factor):  # not only by the rules of the model file
        certificate = Certificate(tuple(verify_pca(model, X, deadline=Deadline(None))))
        assert f"component {i + 1}" in failed(certificate) or factor == 1e6
        assert not certificate.holds


def test_variances_of_another_divisor_are_caught():
    X, model, _ = whole()
    model.explained_variance_ = model.explained_variance_ * 79.0 / 80.0
    assert is_caught(model, X)
    assert failed(verify_pca(model, X, deadline=Deadline(None)))[:3] == ["component 1", "component 2", "component 3"]


@pytest.mark.parametrize("size", [0.5, 10.0])
@pytest.mark.parametrize("along", [0, 5], ids=["a component", "no component"])
def test_another_mean_is_caught(along, size):
    """Beside the components it adds to the covariance where nobody would look."""
    X, model, every = whole()
    model.mean_ = model.mean_ + size * every.components_[along]
    assert not verify(model, X).holds


@pytest.mark.parametrize("scale", [False, True])
def test_another_scale_is_caught(scale):
    X = rows(14)
    model = PCA(3, scale=scale).fit(X)
    assert verify(model, X).holds
    model.scale_ = model.scale_ * [1.0, 1.0, 2.0, 1.0, 1.0, 1.0]
    assert not verify(model, X).holds


STATED = ("total_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_", "n_samples_")


@pytest.mark.parametrize("factor", [0, 2, 1.01, -1, 1e-90])
@pytest.mark.parametrize("name", [*STATED, "scale_", "explained_variance_interval_"])
def test_other_numbers_are_caught(name, factor):
    X, model, _ = whole()
    value = getattr(model, name) * factor
    setattr(model, name, int(value) if name == "n_samples_" else value)
    assert is_caught(model, X) or model.n_samples_ == 80


@pytest.mark.parametrize("factor", [-1000.0, 0.0, 1.01])
@pytest.mark.parametrize("route", ROUTES)
def test_other_intervals_are_caught(route, factor):
    """Those that a route states are what its residuals tell, and no other ones will do."""
    X = rows(5, 80, 0.7 ** np.arange(9))
    model = PCA(3, svd_solver=route).fit(X)
    assert verify(model, X)["intervals"].holds
    low, high = model.explained_variance_interval_.T
    model.explained_variance_interval_ = np.column_stack([factor * low, high])
    assert is_caught(model, X)
    model.explained_variance_interval_ = np.column_stack([low, high + abs(factor)])
    assert is_caught(model, X) or factor == 0.0


@pytest.mark.parametrize("solver", ["randomized", "oja", "auto", "arpack"])
def test_a_solver_with_another_tolerance_is_caught(solver):
    X, model, _ = whole()
    model.solver_ = solver
    assert is_caught(model, X)


@pytest.mark.parametrize("reason", ["time_limit", "callback", "early_stopping"])
def test_a_fit_that_says_it_was_cut_short_claims_nothing(reason):
    X, model, _ = whole()
    model.stop_reason_ = reason
    certificate = verify(model, X)
    assert certificate.holds is None
    assert certificate["settled"].holds is None


# ---- fits that were cut short ------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["power", "krylov", "randomized", "oja", "covariance_eigh", "gram_eigh"])
def test_a_fit_that_ran_out_of_time_claims_nothing_and_is_not_refuted(monkeypatch, route):
    monkeypatch.setattr(sources, "CHUNK_VALUES", 40 * 20)
    monkeypatch.setattr(sources, "GRAM_WORK", 1)
    X = rows(9, 60, 0.98 ** np.arange(40.0)) if route != "gram_eigh" else rows(9, 30, 0.98 ** np.arange(40.0))
    model = PCA(33 if route != "gram_eigh" else 20, svd_solver=route, time_limit=1e-9).fit(X)
    assert model.stop_reason_ == "time_limit"
    assert model.certificate_.holds is None
    assert "time_limit" in model.certificate_["settled"].statement
    assert verify(model, X).holds is None
    model.components_ = model.components_[::-1].copy()
    model.mean_ = model.mean_ + 1.0
    assert verify(model, X).holds is not True


@pytest.mark.parametrize("route", ["power", "randomized"])
def test_few_products_claim_nothing(route):
    X = rows(9, 60, 0.98 ** np.arange(40.0))
    model = PCA(5, svd_solver=route, iterated_power=1).fit(X)
    assert model.stop_reason_ == "finished"
    assert model.certificate_.holds is None
    assert verify(model, X).holds is None
    model.certificate_ = PCA(5).fit(X).certificate_  # as if it had settled
    assert verify(model, X).holds is False


def test_holes_that_still_change_claim_nothing(monkeypatch):
    X = rows(18, 60, np.array([5.0, 4.0, 2.0, 1.0, 0.5, 0.3]))
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    monkeypatch.setattr(filling, "MOST_ROUNDS", 2)
    model = PCA(2, missing="em").fit(X)
    assert model.certificate_.holds is None
    assert verify(model, X).holds is None


@pytest.mark.parametrize("name", ["fails", "is not claimed", "without a bound"])
def test_what_the_certificate_says_of_holes_is_measured_again(name):
    X = rows(18, 60, np.array([5.0, 4.0, 0.1, 0.1, 0.1, 0.1]), mean=2.0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = PCA(2, missing="em").fit(X)
    assert verify(model, X)["missing values"].value <= 1e-4
    for edit in edits_of(model):
        if edit.attribute == "certificate_" and edit.kind.startswith("[missing values]"):
            assert is_caught(falsified(model, edit), X)


# ---- huge and tiny numbers ---------------------------------------------------------------------------------------

NUMBERS = (*STATED, "components_", "mean_", "scale_", "explained_variance_", "explained_variance_interval_")
EXPONENTS = (-450, -300, -280, -100, -65, -64, 64, 65, 100, 250, 300, 450)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("route", ROUTES)
def test_certificates_of_huge_and_tiny_numbers(route, exponent):
    X = rows(13)
    one, other = PCA(3, svd_solver=route).fit(X), PCA(3, svd_solver=route).fit(np.ldexp(X, exponent))
    assert other.certificate_.holds
    certificate, again = verify(one, X), verify(other, np.ldexp(X, exponent))
    assert again.holds
    assert [claim.name for claim in again] == [claim.name for claim in certificate]
    assert_array_equal(other.explained_variance_interval_, np.ldexp(one.explained_variance_interval_, 2 * exponent))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_falsified_models_of_huge_and_tiny_numbers_are_caught(exponent):
    X = np.ldexp(rows(13), exponent)
    model = PCA(3).fit(X)
    model.components_ = np.roll(model.components_, 1, axis=1)
    assert is_caught(model, X)
    for edit in edits_of(PCA(3).fit(X)):
        if edit.attribute in NUMBERS and edit.kind != "shifted by 1e6":  # which is rounding beside 1e20
            assert is_caught(falsified(PCA(3).fit(X), edit), X), str(edit)


def test_nothing_is_not_said_of_numbers_whose_squares_are_nothing():
    """A model that denies their variance altogether: squares of 1e-200 are 0."""
    X = rows(13)
    model = PCA(2).fit(np.full_like(X, 0.0))
    assert verify(model, np.zeros_like(X)).holds
    assert not verify(model, 1e-200 * (X - X.mean(axis=0))).holds


def test_other_rows_do_not_verify_the_model():
    X, model, _ = whole()
    assert not verify(model, X[:-1]).holds
    assert not verify(model, rows(99)).holds


@pytest.mark.parametrize("route", ["covariance_eigh", "gram_eigh"])
def test_a_solver_that_is_wrong_cannot_certify_itself(monkeypatch, route):
    """It hands out the pairs from the second on, swears that their residuals are zero, and is not believed."""
    honest = decomposition.leading_pairs

    def wrong(M, wanted, n_threads=1):
        pairs = honest(M, wanted._replace(count=wanted.count + 1), n_threads)
        return type(pairs)(pairs.values[1:], pairs.vectors[:, 1:], 0.0 * pairs.residual_vectors[:, 1:])

    X = rows(15)
    monkeypatch.setattr(decomposition, "leading_pairs", wrong)
    model = PCA(2, svd_solver=route).fit(X)
    assert model.certificate_.holds  # its own notes
    assert failed(verify(model, X)) == ["nothing missed"]


def test_the_certificate_of_the_fit_is_not_asked():
    X, model, every = whole()
    liar = with_pairs(model, every, [1, 2, 3])
    assert liar.certificate_.holds  # as stored
    assert not verify(liar, X).holds


def test_variances_that_occur_more_often_than_a_block_has_columns():
    """25 sixty times and 1 eighty times: Lanczos finds 32 of each in two blocks, and may not settle for it."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(160, 140))
    U = np.linalg.qr(noise - noise.mean(axis=0))[0]  # orthonormal columns of mean zero
    spreads = np.append(np.full(60, 5.0), np.ones(80))
    X = np.sqrt(159.0) * (U * spreads) @ np.linalg.qr(rng.normal(size=(140, 140)))[0]
    model = PCA(40, svd_solver="krylov").fit(X)
    assert_allclose(np.linalg.eigvalsh(covariance(X))[::-1][:60], 25.0)
    assert verify(model, X).holds
    assert_allclose(model.explained_variance_, 25.0, rtol=1e-6)


# ---- verify as a door --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [7, 80])
def test_blocks_verify_as_their_rows_do(block_rows):
    X, model, every = whole()
    stream = blocks(X, block_rows=block_rows)
    for tried in (model, with_pairs(model, every, [0, 1, 3])):
        one, other = verify(tried, X), verify(tried, stream)
        assert failed(one) == failed(other)
        assert_allclose([claim.value for claim in one], [claim.value for claim in other], rtol=1e-6, atol=1e-12)


def test_verifying_changes_nothing_in_the_model():
    X = rows(16)
    model = PCA(2).fit(pd.DataFrame(X, columns=list("abcdef")))
    before = deepcopy(vars(model))
    for given in (blocks(X, block_rows=30), blocks(pd.DataFrame(X, columns=list("abcdef")))):
        assert verify(model, given).holds
        assert vars(model).keys() == before.keys()
        assert list(model.feature_names_in_) == list("abcdef")


def test_a_model_of_float32_rows_is_verified_on_the_same_rows_in_float64():
    X = rows(17, dtype=np.float32)
    model = PCA(3).fit(X)
    assert verify(model, X).holds
    assert verify(model, X.astype(np.float64)).holds
    model.explained_variance_[2] *= 1.001
    assert is_caught(model, X.astype(np.float64))


@pytest.mark.parametrize("missing", ["em", "mean"])
def test_rows_with_holes_verify(missing):
    X = rows(18, 60, np.array([5.0, 4.0, 0.1, 0.1, 0.1, 0.1]), mean=2.0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = PCA(2, missing=missing).fit(X)
    assert model.certificate_.holds
    assert ("missing values" in [claim.name for claim in model.certificate_]) == (missing == "em")
    stream = blocks(X, block_rows=7)
    assert verify(model, X).holds
    assert verify(model, stream).holds
    model.explained_variance_ = model.explained_variance_ * 1.1
    assert is_caught(model, X)
    assert is_caught(model, stream)


def test_a_pipeline_is_verified_by_its_last_step():
    X = rows(19)
    pipeline = make_pipeline(StandardScaler(), PCA(3)).fit(X)
    assert verify(pipeline, X).holds
    assert not verify(pipeline, X + np.arange(6) ** 2).holds


def test_a_model_that_was_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        verify(PCA(), [[0.0], [1.0]])
