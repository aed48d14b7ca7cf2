"""What is special to the expansion: scikit-learn's terms, the kernel's scaling, the way back, and sparse output."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import PolynomialFeatures

import eigenwood
from eigenwood import PolynomialExpansion
from eigenwood.errors import InputError
from tests.estimators.exam import table
from tests.models.crafting import assert_one_sentence


@pytest.fixture(scope="module", name="X")
def rows():
    return table(30, 3)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("include_bias", [True, False])
def test_without_scaling_it_is_scikit_learns(degree, include_bias, X):
    ours = PolynomialExpansion(degree=degree, include_bias=include_bias, kernel_scale=False).fit(X)
    theirs = PolynomialFeatures(degree=degree, include_bias=include_bias).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.powers_.toarray(), theirs.powers_)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.n_output_features_ == theirs.n_output_features_


@pytest.mark.parametrize("degree", [1, 2, 4, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_with_scaling_it_is_the_kernel(degree, dtype, X):
    given = X.astype(dtype)
    terms = PolynomialExpansion(degree=degree).fit_transform(given)
    assert terms.dtype == dtype
    exact = (1.0 + given.astype(float) @ given.astype(float).T) ** degree
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert np.abs((terms @ terms.T - exact) / size).max() < (1e-12 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("kernel_scale", [True, False])
def test_sparse_is_dense(degree, include_bias, kernel_scale, X):
    thin = np.where(np.abs(X) > 0.7, 0.0, X)
    settings = {"degree": degree, "include_bias": include_bias, "kernel_scale": kernel_scale}
    dense = PolynomialExpansion(sparse_output=False, **settings).fit_transform(thin)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        terms = PolynomialExpansion(sparse_output=True, **settings).fit_transform(container(thin))
        assert sparse.issparse(terms)
        np.testing.assert_allclose(terms.toarray(), dense, rtol=1e-12, atol=1e-14)
        assert terms.nnz == np.count_nonzero(dense)


def test_stored_zeros_and_repeated_places_are_understood(X):
    stored = sparse.csr_array(
        (np.array([0.0, 2.0, 1.0, 3.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    terms = PolynomialExpansion(kernel_scale=False).fit_transform(stored)
    expected = PolynomialExpansion(kernel_scale=False, sparse_output=False).fit_transform(stored.toarray())
    np.testing.assert_array_equal(terms.toarray(), expected)
    assert stored.nnz == 4, "the user's matrix stays as it is"


# -------------------------------------------------------------------------------------- when sparse pays


@pytest.mark.parametrize(
    ("rows", "sparse_output", "expected"),
    [
        (np.ones((4, 5)), "auto", False),
        (np.eye(30), "auto", True),
        (sparse.csr_array(np.ones((4, 5))), "auto", True),
        (np.eye(30), False, False),
        (sparse.csr_array(np.eye(30)), False, False),
        (np.ones((4, 5)), True, True),
    ],
)
def test_sparse_output_is_decided_in_fit(rows, sparse_output, expected):
    model = PolynomialExpansion(sparse_output=sparse_output).fit(rows)
    assert model.sparse_output_ is expected
    for queries in (rows, rows.toarray() if sparse.issparse(rows) else sparse.csr_array(rows)):
        assert sparse.issparse(model.transform(queries)) is expected


def test_the_decision_follows_the_weights():
    X = np.vstack([np.eye(30), np.ones((30, 30))])
    ones_count = np.repeat([0.0, 1.0], 30)
    assert PolynomialExpansion().fit(X, sample_weight=ones_count).sparse_output_ is False
    assert PolynomialExpansion().fit(X, sample_weight=1.0 - ones_count).sparse_output_ is True


def test_sparse_output_and_frames_do_not_go_together():
    frame = pd.DataFrame(np.eye(3), columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="sparse"):
        PolynomialExpansion(sparse_output=True).set_output(transform="pandas").fit_transform(frame)


# -------------------------------------------------------------------------------------- the way back


@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("kernel_scale", [True, False])
@pytest.mark.parametrize("sparse_output", [True, False])
def test_the_way_back(include_bias, kernel_scale, sparse_output, X):
    model = PolynomialExpansion(
        degree=3, include_bias=include_bias, kernel_scale=kernel_scale, sparse_output=sparse_output
    ).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back.toarray() if sparse.issparse(back) else back, X, rtol=1e-14)


def test_the_way_back_keeps_float32(X):
    model = PolynomialExpansion().fit(X.astype(np.float32))
    assert model.inverse_transform(model.transform(X.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize("seen_as", [lambda T: T.tolist(), pd.DataFrame, np.asfortranarray])
def test_the_way_back_from_anything(seen_as, X):
    model = PolynomialExpansion().fit(X)
    np.testing.assert_allclose(np.asarray(model.inverse_transform(seen_as(model.transform(X)))), X, rtol=1e-14)


@pytest.mark.parametrize("wrong", [np.ones((2, 3)), np.ones((2, 11)), np.ones(10), np.full((2, 10), np.nan)])
def test_the_way_back_from_something_else(wrong, X):
    with pytest.raises(InputError) as caught:
        PolynomialExpansion().fit(X).inverse_transform(wrong)
    assert str(caught.value).startswith("PolynomialExpansion: ")


def test_names_lead_back_to_features(X):
    model = PolynomialExpansion(degree=3).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert model.inverse_names(["1", "a", "a^2 c", "b^3"]) == [{}, {"a": 1}, {"a": 2, "c": 1}, {"b": 3}]
    everything = model.inverse_names(model.get_feature_names_out())
    powers = [[term.get(name, 0) for name in "abc"] for term in everything]
    np.testing.assert_array_equal(powers, model.powers_.toarray())
    plain = PolynomialExpansion().fit(X)
    assert plain.inverse_names(["p q"], input_features=["p", "q", "r"]) == [{"p": 1, "q": 1}]


def test_names_that_are_none(X):
    model = PolynomialExpansion().fit(X)
    with pytest.raises(InputError) as caught:
        model.inverse_names(["x0", "y"])
    assert str(caught.value) == "PolynomialExpansion: names must be from get_feature_names_out(); got 'y'."
    with pytest.raises(InputError) as caught:
        model.inverse_names("x0")
    assert_one_sentence(str(caught.value))


def test_names_that_look_like_products_stay_apart():
    """A column may be called 'a^2' or 'a b'; every term must still be found by its name."""
    model = PolynomialExpansion().fit(pd.DataFrame(np.ones((2, 3)), columns=["a", "a^2", "a a^2"]))
    names = model.get_feature_names_out()
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("ask", [lambda model: model.inverse_names(["x0"]), lambda model: model.powers_])
def test_before_fit_there_is_nothing_to_ask(ask):
    with pytest.raises(NotFittedError):
        ask(PolynomialExpansion())


# -------------------------------------------------------------------------------------- hostile data


def test_one_feature_one_row():
    terms = PolynomialExpansion(degree=4, kernel_scale=False).fit_transform([[2.0]])
    np.testing.assert_array_equal(terms, [[1.0, 2.0, 4.0, 8.0, 16.0]])


def test_the_highest_degree():
    model = PolynomialExpansion(degree=100).fit([[0.5], [-0.5]])
    assert model.transform([[0.5]]).shape == (1, 101)
    assert model.certificate_.holds


def test_too_many_terms_are_said():
    with pytest.raises(InputError) as caught:
        PolynomialExpansion(degree=3).fit(np.zeros((2, 10_000)))
    assert str(caught.value) == (
        "PolynomialExpansion: degree must give at most 2147483647 terms; got 166766685001 from degree=3 and "
        "10000 features."
    )


def test_fit_takes_no_memory_for_terms_it_does_not_make():
    """A fit counts; two thousand features have two million terms, but ten rows have few."""
    rows = sparse.csr_array(np.eye(10, 2000))
    PolynomialExpansion().fit(rows)
    tracemalloc.start()
    PolynomialExpansion().fit(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e100, 1e160])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_any_size(scale, X, tmp_path):
    model = PolynomialExpansion(degree=2).fit(X * scale)
    loaded = eigenwood.load(eigenwood.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.transform(X * scale), model.transform(X * scale))


def test_a_parameter_changed_after_fit_does_not_change_the_answer(X):
    model = PolynomialExpansion(degree=2).fit(X)
    before = model.transform(X)
    model.set_params(degree=3)
    assert model.transform(X).shape == before.shape


def test_verify_needs_no_labels(X):
    model = PolynomialExpansion(degree=3).fit(X)
    certificate = eigenwood.verify(model, X)
    assert certificate.holds
    assert certificate["kernel identity"].value < 1e-12
    plain = eigenwood.verify(PolynomialExpansion(kernel_scale=False).fit(X), X)
    assert [claim.name for claim in plain] == ["certificate", "fitted again"]
