"""K2 (the kernel lecture): the perceptron, on x and on Φ(x), where the boundary is x₁ = x₂² + 5."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from eigenwood import Perceptron, PolynomialExpansion, verify
from tests.naive import expansion as naive_expansion
from tests.naive import perceptron as naive
from tests.naive import separability as naive_separability


def parabola(seed, n_rows=400, margin=1.0):
    """Points on both sides of x₁ = x₂² + 5, none nearer to it (along x₁) than ``margin``, many just behind that."""
    rng = np.random.default_rng(seed)
    x2 = rng.uniform(-3, 3, size=n_rows)
    side = rng.choice([-1.0, 1.0], size=n_rows)
    x1 = x2**2 + 5 + side * (margin + 5 * rng.random(n_rows) ** 2)
    return np.column_stack([x1, x2]), side.astype(int)


def on_phi(**options):
    expansion = PolynomialExpansion(include_bias=False, kernel_scale=False)
    return make_pipeline(expansion, Perceptron(tol=None, max_iter=1000, **options))


@pytest.fixture(params=[False, True], ids=["cyclic", "shuffled"])
def fitted(request):
    X, y = parabola(0)
    return on_phi(shuffle=request.param, random_state=0).fit(X, y), X, y


def test_it_converges_and_errs_nowhere(fitted):
    model, X, y = fitted
    perceptron = model[-1]
    assert perceptron.converged_.all()
    assert perceptron.stop_reason_ == "finished"
    assert model.score(X, y) == 1.0
    assert (y * model.decision_function(X) > 0).all()


def test_it_finds_the_parabola(fitted):
    model, _, _ = fitted
    line = np.linspace(-3.0, 25.0, 2801)
    for x2 in np.linspace(-2.5, 2.5, 21):
        scores = model.decision_function(np.column_stack([line, np.full(line.size, x2)]))
        crossings = line[np.flatnonzero(np.diff(np.sign(scores)))]
        from_the_parabola = np.abs(crossings - (x2**2 + 5))
        assert (from_the_parabola < 1.1).sum() == 1  # it passes through the empty band, once
        band = np.abs(line - (x2**2 + 5)) < 3
        right = np.sign(scores) == np.sign(line - (x2**2 + 5))
        assert right[band & (np.abs(line - (x2**2 + 5)) > 1.1)].all()


def test_it_is_right_on_fresh_points(fitted):
    model, _, _ = fitted
    for seed in (1, 2, 3):
        fresh, sides = parabola(seed, n_rows=1000)
        assert model.score(fresh, sides) >= 0.99


def test_the_plain_perceptron_does_not():
    X, y = parabola(0)
    assert not naive_separability.can_be_separated(naive_separability.signed(X, y.astype(float), True))
    model = Perceptron(tol=None, max_iter=60).fit(X, y)
    assert not model.converged_.any()
    assert model.score(X, y) < 0.95
    certificate = verify(model, X, y)
    assert certificate["mistakes"].bound is None
    assert certificate["training errors"].value > 0


def test_the_mistakes_stay_below_the_bound(fitted):
    model, X, y = fitted
    certificate = verify(model, X, y)
    assert certificate.holds
    assert certificate["mistakes"].bound is not None
    assert 0 < certificate["mistakes"].value <= certificate["mistakes"].bound


def test_it_is_the_loop_of_the_lecture():
    X, _ = parabola(4, n_rows=12, margin=2.0)
    X = np.round(X * 4) / 4  # quarters: every product and sum is exact
    side = np.where(X[:, 0] > X[:, 1] ** 2 + 5, 1.0, -1.0)
    phi = naive_expansion.expand(X, 2, scaled=False)[:, 1:]
    expected = naive.fit_perceptron(phi, side, np.ones(12), naive.cyclic(12, 300))
    model = on_phi(shuffle=False)
    model.set_params(perceptron__max_iter=300)
    model.fit(X, side)
    assert model[-1].coef_[0].tolist() == expected.w.tolist()
    assert model[-1].intercept_[0] == expected.b
    assert model[-1].n_mistakes_[0] == len(expected.wrong)
    assert model[-1].n_iter_ == len(expected.losses)
