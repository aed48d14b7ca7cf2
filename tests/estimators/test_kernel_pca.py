"""KernelPCA: every route beside the blackboard, its choice, its intervals, streams, limits, and the ways back."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import KernelPCA as ScikitKernelPCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from eigenwood import KernelPCA, verify
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.data.blocks import blocks
from eigenwood.errors import InputError
from eigenwood.estimators.kernel_pca import routes
from tests.naive import kernel_pca as naive

RBF = Kernel(KERNELS["rbf"], 0.2)
EVERY_ROUTE = {
    "dense": {"eigen_solver": "dense"},
    "krylov": {"eigen_solver": "krylov"},
    "krylov_tiles": {"eigen_solver": "krylov", "memory_limit": 0.01},
    "randomized": {"eigen_solver": "randomized", "iterated_power": 30},
    "low_rank": {"eigen_solver": "low_rank", "n_landmarks": 90},
}


def table(seed=0, n_rows=90, n_features=3):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def rbf(k=3, **params):
    return KernelPCA(k, kernel="rbf", gamma=0.2, **params)


# ---- components --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", EVERY_ROUTE)
def test_every_route_is_the_blackboard(route):
    X, Z = table(), table(1, 7)
    model = rbf(**EVERY_ROUTE[route]).fit(X)
    K, near = gram(X, X, RBF), gram(Z, X, RBF)
    values, vectors, axes = naive.components(K, 3)
    assert model.solver_ == route
    tolerance = 1e-6 if route != "randomized" else 1e-4
    assert_allclose(model.eigenvalues_, values, rtol=tolerance)
    assert_allclose(np.abs(model.eigenvectors_), np.abs(vectors), atol=tolerance)
    assert_allclose(np.abs(model.transform(Z)), np.abs(naive.scores(K, near, axes)), atol=10 * tolerance)
    assert_allclose(model.fit_transform(X), model.transform(X), atol=10 * tolerance)
    assert_allclose(model.total_variance_, np.trace(naive.centred(K)), rtol=1e-6)
    assert_allclose(model.explained_variance_ratio_, values / np.trace(naive.centred(K)), rtol=1e-5)
    assert model.certificate_.holds
    assert verify(model, X).holds


@pytest.mark.parametrize("form", ["float32", "sparse", "function", "row function", "precomputed"])
@pytest.mark.parametrize("solver", ["dense", "krylov", "low_rank"])
def test_every_form_of_rows_and_kernels(form, solver):
    X, Z = table(2), table(3, 6)
    K, near = gram(X, X, RBF), gram(Z, X, RBF)
    kernel = {
        "function": lambda a, b: gram(np.asarray(a), np.asarray(b), RBF),
        "row function": lambda a, b: np.exp(-0.2 * np.square(a - b).sum()),
        "precomputed": "precomputed",
    }.get(form, "rbf")
    rows = {"float32": X.astype(np.float32), "sparse": sparse.csr_array(X), "precomputed": K}.get(form, X)
    queries = {"float32": Z.astype(np.float32), "sparse": sparse.csr_array(Z), "precomputed": near}.get(form, Z)
    model = KernelPCA(2, kernel=kernel, gamma=0.2, eigen_solver=solver, n_landmarks=90).fit(rows)
    expected = naive.scores(K, near, naive.components(K, 2)[2])
    tolerance = 1e-3 if form == "float32" else 1e-6
    assert_allclose(np.abs(model.transform(queries)), np.abs(expected), atol=tolerance)
    assert model.transform(queries).dtype == (np.float32 if form == "float32" else np.float64)
    assert verify(model, rows).holds


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
def test_the_same_numbers_as_scikit_learn(kernel):
    X, Z = table(4), table(5, 9)
    params = {"kernel": kernel, "gamma": 0.05, "degree": 2, "coef0": 0.5}
    ours, theirs = KernelPCA(2, **params), ScikitKernelPCA(2, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # sigmoid is no kernel
        scores = ours.fit(X).transform(Z)
    assert_allclose(np.abs(scores), np.abs(theirs.fit(X).transform(Z)), atol=1e-7)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)
    assert ours.gamma_ == theirs.gamma_


def test_all_components_and_none_of_nothing():
    X = np.vstack([table(6, 10, 2), table(6, 10, 2)])
    assert KernelPCA().fit(X).eigenvalues_.size == 2
    assert KernelPCA(kernel="rbf").fit(X).eigenvalues_.size == 9
    assert KernelPCA(5).fit_transform(X).shape == (20, 5)
    assert_array_equal(KernelPCA(5).fit_transform(X)[:, 2:], 0.0)
    assert KernelPCA(5, remove_zero_eig=True).fit_transform(X).shape == (20, 2)
    assert KernelPCA(5, eigen_solver="low_rank").fit(X).transform(X).shape == (20, 5)
    assert verify(KernelPCA(5, eigen_solver="low_rank").fit(X), X).holds


@pytest.mark.parametrize("solver", ["krylov", "low_rank", "dense"])
def test_same_bits_for_any_number_of_threads_and_any_memory(solver):
    X = table(7, 1300)
    models = [rbf(eigen_solver=solver, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2)]
    if solver == "krylov":
        tiles = [rbf(eigen_solver=solver, memory_limit=limit, n_jobs=2).fit(X) for limit in (1, 6)]
        assert {model.solver_ for model in tiles} == {"krylov_tiles"}
        assert_array_equal(tiles[0].eigenvectors_, tiles[1].eigenvectors_)
    assert_array_equal(models[0].eigenvectors_, models[1].eigenvectors_)
    assert_array_equal(models[0].transform(X[:40]), models[1].transform(X[:40]))


# ---- the choice --------------------------------------------------------------------------------------------------


def chosen(n_rows, k=3, **params):
    model = rbf(k, **params).fit(table(8, n_rows))
    return model.solver_, model.solver_reason_


def test_auto_takes_what_is_exact_as_long_as_it_fits(monkeypatch):
    assert chosen(100) == ("dense", "3 components of 100 rows: all of K at once by LAPACK")
    assert chosen(600) == ("krylov", "3 components of 600 rows: K is in memory (1.44 MB)")
    tiles, reason = chosen(600, memory_limit=1)
    assert tiles == "krylov_tiles"
    assert reason.startswith("3 components of 600 rows: K would take 1.44 MB, more than memory_limit allows")
    assert chosen(600, k=200)[0] == "dense"
    assert chosen(600, k=200, memory_limit=2)[0] == "low_rank"
    monkeypatch.setattr("eigenwood.estimators.kernel_pca.planning.WORK", 1e6)
    assert chosen(600, memory_limit=1)[0] == "low_rank"


def test_memory_stays_below_the_limit_where_k_does_not_fit():
    X = table(9, 4000, 10)
    rbf(eigen_solver="krylov", memory_limit=12).fit(X[:600])
    tracemalloc.start()
    rbf(eigen_solver="krylov", memory_limit=12).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6  # K would take 64 MB; 4,000 rows and their vectors take some, tiles at work as well


def test_dense_without_room_is_refused():
    with pytest.raises(InputError) as caught:
        chosen(600, eigen_solver="dense", memory_limit=1)
    assert str(caught.value) == (
        "KernelPCA: memory_limit must have room for K and its copies with eigen_solver='dense', 11.52 MB; got 1 MB "
        "(eigen_solver='auto' finds another way)."
    )


# ---- intervals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_landmarks", [12, 40, 0.02])
@pytest.mark.parametrize("is_tight", [True, False])
def test_intervals_of_a_low_rank_kernel_hold_the_eigenvalues(n_landmarks, is_tight, monkeypatch):
    if not is_tight:
        monkeypatch.setattr(routes, "TIGHTENED_ROWS", 0)
    for seed in range(3):
        X = table(seed, 120)
        model = rbf(4, eigen_solver="low_rank", n_landmarks=n_landmarks, random_state=seed).fit(X)
        exact = naive.components(gram(X, X, RBF), 4)[0]
        low, high = model.eigenvalue_interval_.T
        assert (low <= exact + 1e-9).all()
        assert (exact <= high + 1e-9).all()
        assert (model.eigenvalues_ <= exact + 1e-9).all()
        if n_landmarks == 0.02:
            assert model.trace_error_ <= 0.02 * model.trace_
        if is_tight and n_landmarks == 40:
            assert ((high - low)[0] < 0.2 * model.trace_error_).all()


def test_a_similarity_that_is_no_kernel_is_told_with_its_smallest_eigenvalue():
    X = table(10)
    exact = np.linalg.eigvalsh(naive.centred(np.tanh(X @ X.T - 1.0)))[0]
    with pytest.warns(UserWarning, match="KernelPCA") as told:
        model = KernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    assert str(told[0].message) == (
        "KernelPCA: kernel is not positive semidefinite on these rows, the smallest eigenvalue of the centred Gram "
        f"matrix is {exact:.6g}; components of positive eigenvalues are there nevertheless."
    )
    assert model.certificate_["smallest eigenvalue"].value == pytest.approx(exact)
    assert model.certificate_.holds is False
    assert verify(model, X).holds is False
    with pytest.raises(InputError) as caught:
        KernelPCA(90, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    assert f"got an eigenvalue of {exact:.6g}" in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_smallest_eigenvalue_of_many_rows():
    X = table(11, 500)
    model = KernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    exact = np.linalg.eigvalsh(naive.centred(np.tanh(X[:500] @ X.T - 1.0)))[0]
    assert model.solver_ == "krylov"
    assert model.certificate_["smallest eigenvalue"].value == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("n_rows", [100, 400])
def test_a_similarity_without_a_component_is_refused_with_its_smallest_eigenvalue(n_rows):
    """Minus a kernel: eigenvalues crowd below 0, where no iteration tells them apart; by LAPACK and by Lanczos."""
    X = table(12, n_rows)
    K = -np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    exact = np.linalg.eigvalsh(naive.centred(K))[0]
    with pytest.raises(InputError) as caught:
        KernelPCA(3, kernel="precomputed").fit(K)
    assert "kernel must be positive semidefinite as far as components are wanted; got an eigenvalue of" in str(
        caught.value
    )
    assert float(str(caught.value).split("eigenvalue of ")[1].split()[0]) == pytest.approx(exact, rel=1e-3)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_component_above_many_eigenvalues_just_below_nothing():
    X = table(13, 400)
    along = np.linspace(-1.0, 1.0, 400)
    K = np.outer(along, along) - 1e-3 * np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    first = np.linalg.eigvalsh(naive.centred(K))[-1]
    model = KernelPCA(3, kernel="precomputed").fit(K)
    assert model.solver_ == "krylov"
    assert_allclose(model.eigenvalues_, [first, 0.0, 0.0], rtol=1e-7)
    assert model.certificate_["smallest eigenvalue"].holds is False


@pytest.mark.parametrize("seed", range(4))
def test_no_copy_of_an_eigenvalue_is_missed_among_few_rows(seed):
    """A single vector grows one copy of a repeated eigenvalue: those of 5 and 4 come three times here."""
    rng = np.random.default_rng(seed)
    beside = rng.normal(size=(400, 400))
    Q = np.linalg.qr(beside - beside.mean(axis=0))[0][:, :30]
    values = np.array([9.0, 5.0, 5.0, 5.0, 4.0, 4.0, 4.0, *np.linspace(1.0, 0.1, 23)])
    model = KernelPCA(7, kernel="precomputed").fit((Q * values) @ Q.T)
    assert model.solver_ == "krylov"
    assert_allclose(model.eigenvalues_, values[:7], rtol=1e-9)


NO_KERNELS = {
    "sigmoid": {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0},
    "minus a kernel": {"kernel": lambda A, B: -np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))},
}


@pytest.mark.parametrize("params", NO_KERNELS.values(), ids=NO_KERNELS)
@pytest.mark.parametrize("in_blocks", [False, True])
def test_landmarks_of_what_is_no_kernel_are_refused(params, in_blocks):
    """Of a similarity that is no kernel, K̂ may be larger than K, and the intervals would not hold."""
    X = table(14, 300)
    model = KernelPCA(3, eigen_solver="low_rank", **params)
    with pytest.raises(InputError, match=r"kernel must be positive semidefinite .* got one that leaves -\S+ of a k"):
        model.fit(blocks(X, block_rows=50) if in_blocks else X)


def test_a_function_on_landmarks_is_searched_for_negative_eigenvalues():
    X = np.abs(table(15, 200))
    model = KernelPCA(3, kernel=lambda A, B: np.minimum(A[:, None], B[None]).sum(axis=2), eigen_solver="low_rank").fit(
        X
    )
    found = verify(model, X)
    assert found.holds
    assert found["smallest eigenvalue"].value > -1e-9


# ---- blocks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_rows_in_blocks(tmp_path, suffix):
    import pyarrow as pa
    from pyarrow import parquet

    X = table(12, 500)
    path = tmp_path / f"rows.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    else:
        parquet.write_table(pa.table(dict(zip("abc", X.T, strict=True))), path)
    stream = blocks(path, block_rows=90)
    model = rbf(eigen_solver="low_rank", n_landmarks=120).fit(stream)
    assert model.solver_ == "low_rank"
    assert model.n_samples_ == 500
    assert not hasattr(model, "eigenvectors_")
    assert_array_equal(model.X_fit_, X[model.landmark_indices_])
    scores = np.concatenate(list(model.transform(stream)))
    exact = naive.components(gram(X, X, RBF), 3)
    assert_allclose(np.abs(scores), np.abs(exact[1] * np.sqrt(exact[0])), atol=1e-2)
    low, high = model.eigenvalue_interval_.T
    assert (low <= exact[0]).all()
    assert (exact[0] <= high).all()
    assert_allclose(model.trace_, 500.0)
    assert model.certificate_.holds
    assert verify(model, stream).holds
    if suffix == "npy":  # the other has names of columns
        assert verify(model, X).holds


def test_drawn_rows_have_all_the_same_chance(monkeypatch):
    from eigenwood.estimators.kernel_pca import streaming

    monkeypatch.setattr(streaming, "MOST_DRAWN", 10)
    stream, counts = blocks(np.arange(40.0).reshape(40, 1), block_rows=7), np.zeros(40)
    for seed in range(400):
        rows, places = streaming.drawn_rows(rbf(), stream, 1e9, seed)
        assert_array_equal(rows[:, 0], places)
        assert len(set(places)) == 10
        counts[places] += 1
    assert ((counts - 100.0) ** 2 / 100.0).sum() < 80.0  # 39 degrees of freedom, less what is drawn together


def test_what_blocks_cannot_have_is_said():
    stream = blocks(table(13), block_rows=20)
    for params, words in (
        ({"eigen_solver": "dense"}, "eigen_solver must be 'auto' or 'low_rank' for blocks of rows; got 'dense'"),
        ({"preimage": "ridge"}, "preimage must be None, 'fixed_point' or 'distances' for blocks of rows; got 'ridge'"),
    ):
        with pytest.raises(InputError, match=words):
            rbf(**params).fit(stream)
    with pytest.raises(InputError, match="must have 3 columns, as in fit; got 2"):
        list(rbf().fit(stream).transform(blocks(table(14, 9, 2))))


# ---- limits ------------------------------------------------------------------------------------------------------


def test_a_limit_on_the_products_is_not_claimed():
    model = rbf(8, eigen_solver="krylov", max_iter=1, tol=1e-12).fit(table(15, 900, 8))
    assert model.stop_reason_ == "finished"
    assert model.certificate_.holds is None
    assert verify(model, table(15, 900, 8)).holds is None
    low, high = model.eigenvalue_interval_.T
    exact = rbf(8).fit(table(15, 900, 8)).eigenvalues_
    assert ((low <= exact) & (exact <= high)).all()


@pytest.mark.parametrize("solver", ["dense", "krylov", "low_rank"])
def test_the_smallest_time_limit_leaves_a_low_rank_model(solver):
    X = table(16, 900)
    model = rbf(eigen_solver=solver, time_limit=1e-9, n_landmarks=200).fit(X)
    assert model.solver_ == "low_rank"
    assert model.stop_reason_ == "time_limit" or solver == "low_rank"
    assert np.isfinite(model.transform(X)).all()
    low, high = model.eigenvalue_interval_.T
    exact = rbf().fit(X).eigenvalues_
    assert ((low <= exact) & (exact <= high)).all()


# ---- back --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "low_rank"])
def test_distances_are_those_of_the_blackboard(solver):
    X, Z = table(17), table(18, 5)
    model = rbf(5, eigen_solver=solver, n_landmarks=90, preimage="fixed_point").fit(X)
    rows, distances = model.denoise(Z)
    K = gram(X, X, RBF)
    axes = naive.components(K, 5)[2]
    scores = naive.scores(K, gram(Z, X, RBF), axes)
    for row, score, stated in zip(rows, scores, distances, strict=True):
        near = gram(row[None], X, RBF)[0]
        assert stated == pytest.approx(naive.distance(naive.weights(score, axes), K, near, 1.0), abs=1e-6)
    assert_allclose(model.inverse_transform(model.transform(Z)), rows, atol=1.0)


def test_all_components_bring_the_training_rows_back():
    X = table(19, 40)
    for way in ("fixed_point", "distances"):
        model = KernelPCA(kernel="rbf", gamma=1.0, preimage=way).fit(X)
        assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-3)
        assert model.denoise(X).distances.max() < 1e-6


def test_ridge_is_that_of_scikit_learn():
    X, Z = table(20), table(21, 8)
    params = {"kernel": "rbf", "gamma": 0.2, "fit_inverse_transform": True, "alpha": 0.05}
    ours, theirs = KernelPCA(4, **params).fit(X), ScikitKernelPCA(4, **params).fit(X)
    back = ours.inverse_transform(ours.transform(Z))
    assert_allclose(back, theirs.inverse_transform(theirs.transform(Z)), atol=1e-8)
    assert_allclose(
        KernelPCA(4, **{**params, "fit_inverse_transform": False}, preimage="ridge")
        .fit(X)
        .inverse_transform(ours.transform(Z)),
        back,
    )
    assert verify(ours, X).holds


def test_a_row_without_a_fixed_point_is_told_and_no_number_is_lost():
    model = rbf(2, preimage="fixed_point").fit(table(22))
    far = np.array([[1e6, -1e6], [0.0, 0.0], [-1e7, 0.0]])
    model.mean_weights_, model.projection_ = -np.abs(model.mean_weights_), 0.0 * model.projection_
    with pytest.warns(ConvergenceWarning) as told:
        rows = model.inverse_transform(far)
    assert str(told[0].message) == (
        "KernelPCA: 3 of 3 rows have no fixed point (Σ g k(z, x) is not above 0 near any start; the first is row 0), "
        "so the training row of largest weight stands in the place of each."
    )
    assert np.isfinite(rows).all()


BACK = {
    "no way": (
        {"kernel": "rbf"},
        NotFittedError,
        "preimage must be 'ridge', 'fixed_point' or 'distances' before the fit",
    ),
    "not Gaussian": ({"preimage": "fixed_point"}, InputError, "kernel must be 'rbf' with preimage='fixed_point'; got"),
    "of a matrix": ({"kernel": "precomputed", "preimage": "ridge"}, InputError, "got 'precomputed'"),
    "no room": (
        {"preimage": "ridge", "memory_limit": 0.05, "eigen_solver": "low_rank"},
        InputError,
        "memory_limit must have room for 0.0648 MB with preimage='ridge'",
    ),
    "not definite": (
        {"preimage": "ridge", "alpha": 0.0},
        InputError,
        r"alpha must be large enough for K \+ alpha I to be positive definite; got 0.0",
    ),
}


@pytest.mark.parametrize(("params", "kind", "words"), BACK.values(), ids=BACK)
def test_where_there_is_no_way_back(params, kind, words):
    X = np.eye(90) if params.get("kernel") == "precomputed" else table(23)
    with pytest.raises(kind, match=words):
        KernelPCA(2, **params).fit(X).inverse_transform(np.zeros((2, 2)))


def test_sparse_rows_have_no_way_back():
    with pytest.raises(InputError, match="X must be dense to go back"):
        rbf(preimage="fixed_point").fit(sparse.csr_array(table(24)))
    with pytest.raises(InputError, match="X must have 3 columns; got 2"):
        rbf(preimage="fixed_point").fit(table(24)).inverse_transform(np.zeros((2, 2)))
