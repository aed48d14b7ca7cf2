"""Reduce: streamed or held, by any method, the scores of all rows are those of the method on the whole table."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA, FastICA, KernelPCA
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from eigenwood.data.blocks import blocks
from eigenwood.data.tables import read_table, write_table
from eigenwood.errors import InputError, TableError
from eigenwood.runs import reducers
from eigenwood.runs.reduce import MOST_SHOWN, Columns, EvenSample, choose_columns, reduce
from eigenwood.runs.reducers import METHODS, ReduceSettings, check_settings

NAMES = tuple(f"f{j}" for j in range(6))
N_ROWS = 500


def numbers(seed=0):
    """Rows in the plane of two directions, and some noise; no direction is as wide as another."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(-1.0, 1.0, size=(N_ROWS, 2)) * [9.0, 4.0]
    return factors @ rng.normal(size=(2, 6)) + rng.normal(size=(N_ROWS, 6)) + np.arange(6.0)


def with_holes(X):
    X = X.copy()
    X[3, 1] = X[40, 4] = X[41, 4] = np.nan
    return X


def frame(X):
    return pa.table([pa.array(column, from_pandas=True) for column in X.T], names=NAMES)


def signed(scores):
    """Return scores whose largest entry is positive, column by column: a direction has no sign."""
    return scores * np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])])


def reduced(source, folder, columns=NAMES, **settings):
    """Return the scores as they stand in the file, and the record."""
    out = folder / "scores.npy"
    model, record = reduce(source, "t", Columns(columns, {}), out, ReduceSettings(**settings))
    return np.load(out), record, model


@pytest.fixture
def streamed(monkeypatch):
    """No table is held in memory, and blocks are of a few rows."""
    monkeypatch.setattr(reducers, "HELD_BYTES", 0)
    monkeypatch.setattr("eigenwood.runs.reduce.blocks", lambda *args, **named: blocks(*args, **named, block_rows=64))


# --- principal components -------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["none", "deviation"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".npy"])
def test_the_stream_gives_the_scores_of_the_whole_table(ending, scale, tmp_path, streamed):
    X = numbers()
    write_table(frame(X), tmp_path / f"t{ending}")
    columns = tuple(blocks(tmp_path / f"t{ending}").columns)
    scores, record, _ = reduced(tmp_path / f"t{ending}", tmp_path, columns, components=3, scale=scale)
    whole = StandardScaler().fit_transform(X) if scale == "deviation" else X
    assert_allclose(signed(scores), signed(PCA(3).fit_transform(whole)), atol=1e-9)
    assert "one pass over the stream" in record.how
    assert record.n_rows == N_ROWS


def test_a_small_table_is_held_and_a_large_one_is_not(tmp_path, monkeypatch):
    write_table(frame(numbers()), tmp_path / "t.csv")
    held, record, model = reduced(tmp_path / "t.csv", tmp_path)
    assert "stream" not in record.how
    monkeypatch.setattr(reducers, "HELD_BYTES", N_ROWS * 6 * 8 - 1)
    scores, record, other = reduced(tmp_path / "t.csv", tmp_path)
    assert "stream" in record.how
    assert_allclose(scores, held, atol=1e-9)
    assert model.feature_names_in_.tolist() == other.feature_names_in_.tolist() == list(NAMES)


def test_an_array_has_no_names(tmp_path):
    np.save(tmp_path / "t.npy", numbers())
    _, _, model = reduced(tmp_path / "t.npy", tmp_path, tuple(f"x{j}" for j in range(6)))
    assert not hasattr(model, "feature_names_in_")


def test_a_share_of_the_variance(tmp_path):
    _, record, model = reduced(frame(numbers()), tmp_path, components=0.9)
    assert record.names == [f"pca{i}" for i in range(model.n_components_)]
    assert sum(component.share for component in record.principal) >= 0.9
    assert sum(component.share for component in record.principal[:-1]) < 0.9


def test_the_record_tells_what_the_model_says(tmp_path):
    _, record, model = reduced(frame(numbers()), tmp_path, components=2)
    assert [component.variance for component in record.principal] == model.explained_variance_.tolist()
    assert [component.high for component in record.principal] == model.explained_variance_interval_[:, 1].tolist()
    assert record.certificate == model.certificate_.as_dict()
    assert json.loads(json.dumps(asdict(record))) == asdict(record)


@pytest.mark.parametrize("missing", ["mean", "em"])
def test_holes_are_filled(missing, tmp_path):
    X = with_holes(numbers())
    scores, _, model = reduced(frame(X), tmp_path, components=2, missing=missing)
    assert_allclose(scores, model.transform(frame(X)), atol=1e-12)
    assert np.isfinite(scores).all()


def test_holes_are_filled_in_a_stream(tmp_path, streamed):
    X = with_holes(numbers())
    scores, record, _ = reduced(frame(X), tmp_path, components=2, missing="mean")
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert_allclose(signed(scores), signed(PCA(2).fit_transform(filled)), atol=1e-9)
    assert "stream" in record.how


def test_a_column_may_be_empty_for_many_blocks(tmp_path, streamed):
    X = numbers()
    X[:200, 2] = np.nan
    scores, _, _ = reduced(frame(X), tmp_path, components=2, missing="mean")
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert_allclose(signed(scores), signed(PCA(2).fit_transform(filled)), atol=1e-9)


def test_a_time_limit_is_told(tmp_path, streamed):
    _, record, _ = reduced(frame(numbers()), tmp_path, components=2, time_limit=1e-9)
    assert record.notes == ["the time limit ended the fit; the certificate tells how exact it is"]


# --- other methods --------------------------------------------------------------------------------


def test_random_projection_is_scikit_learns(tmp_path, streamed):
    X = numbers()
    scores, record, _ = reduced(frame(X), tmp_path, method="random", components=4, seed=7)
    assert_allclose(scores, GaussianRandomProjection(4, random_state=7).fit_transform(X), atol=1e-12)
    assert record.names == [f"gaussianrandomprojection{i}" for i in range(4)]
    assert record.principal == []
    assert record.certificate is None


def test_ica_is_scikit_learns(tmp_path):
    X = numbers()
    scores, record, _ = reduced(frame(X), tmp_path, method="ica", scale="deviation")
    expected = FastICA(2, whiten="unit-variance", random_state=0).fit_transform(StandardScaler().fit_transform(X))
    assert_allclose(scores, expected, atol=1e-6)
    assert record.notes == []


def test_an_iteration_that_does_not_settle_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(reducers, "ICA_ROUNDS", 1)
    _, record, _ = reduced(frame(numbers()), tmp_path, method="ica")
    assert record.notes == ["not settled after 1 iterations"]


def test_kernel_pca_is_scikit_learns(tmp_path):
    X = numbers()
    scores, record, _ = reduced(frame(X), tmp_path, method="kernel-pca", components=3)
    expected = KernelPCA(3, kernel="rbf", gamma=1.0 / (6 * X.var()), random_state=0).fit_transform(X)
    assert_allclose(np.abs(scores), np.abs(expected), atol=1e-6)
    assert "gamma" in record.how
    assert record.names == ["kernelpca0", "kernelpca1", "kernelpca2"]
    assert [component.variance for component in record.principal] == pytest.approx((expected**2).mean(axis=0))
    assert record.total_variance == pytest.approx(record.principal[0].variance / record.principal[0].share)
    assert record.certificate["holds"]


def test_kernel_pca_streams_a_table_that_is_not_held(tmp_path, monkeypatch):
    X = numbers()
    expected, _, _ = reduced(frame(X), tmp_path, method="kernel-pca")
    monkeypatch.setattr(reducers, "HELD_BYTES", 100)
    scores, record, _ = reduced(frame(X), tmp_path, method="kernel-pca")
    assert "rows in blocks" in record.how
    assert_allclose(np.abs(scores), np.abs(expected), atol=1e-2)
    assert record.certificate["holds"]


def test_kernel_pca_keeps_a_time_limit(tmp_path):
    _, record, _ = reduced(frame(np.tile(numbers(), (20, 1))), tmp_path, method="kernel-pca", time_limit=1e-9)
    assert record.notes == ["the time limit ended the fit; the certificate tells how exact it is"]


def test_a_linear_autoencoder_spans_the_plane_of_pca(tmp_path):
    X = numbers()
    scores, record, _ = reduced(frame(X), tmp_path, method="autoencoder")
    principal = PCA(2).fit(X)
    angles = subspace_angles(scores - scores.mean(axis=0), principal.transform(X))
    assert np.rad2deg(angles.max()) < 0.2
    assert f"{principal.explained_variance_ratio_.sum():.1%}" in record.how
    assert record.names == ["autoencoder0", "autoencoder1"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fills_and_scales_and_gives_the_same_bits_again(method, tmp_path):
    X = frame(with_holes(numbers()))
    first, _, _ = reduced(X, tmp_path, method=method, missing="mean", scale="deviation")
    again, _, _ = reduced(X, tmp_path, method=method, missing="mean", scale="deviation")
    assert first.shape == (N_ROWS, 2)
    assert np.isfinite(first).all()
    assert_array_equal(first, again)


@pytest.mark.parametrize("method", METHODS)
def test_float32_stays_float32(method, tmp_path):
    np.save(tmp_path / "t.npy", numbers().astype(np.float32))
    scores, _, _ = reduced(tmp_path / "t.npy", tmp_path, tuple(f"x{j}" for j in range(6)), method=method)
    assert scores.dtype == np.float32


# --- genotypes ------------------------------------------------------------------------------------


@pytest.fixture
def bed(tmp_path):
    """A PLINK file of 40 people and 300 variants, some values missing."""
    to_bed = pytest.importorskip("bed_reader").to_bed
    counts = np.random.default_rng(0).binomial(2, 0.3, size=(40, 300)).astype(np.float32)
    counts[5, 7] = np.nan
    to_bed(tmp_path / "t.bed", counts, properties={"iid": [f"p{i}" for i in range(40)]})
    return tmp_path / "t.bed", counts


def test_genotypes_are_read_by_columns(bed, tmp_path):
    path, counts = bed
    columns = choose_columns(path, (), ("person",), None)
    out = tmp_path / "scores.csv"
    _, record = reduce(path, "t", columns, out, ReduceSettings(3, scale="allele-frequency"))
    p = np.nanmean(counts, axis=0) / 2
    filled = np.where(np.isnan(counts), 2 * p, counts)
    expected = PCA(3).fit_transform((filled - 2 * p) / np.sqrt(2 * p * (1 - p)))
    table = read_table(out).frame
    scores = np.column_stack([table[name].to_numpy() for name in record.names])
    assert_allclose(signed(scores), signed(expected), atol=1e-3)
    assert table["person"].to_pylist() == [f"p{i}" for i in range(40)]


def test_genotypes_by_rows(bed, tmp_path):
    path, counts = bed
    columns = choose_columns(path, (), (), None)
    scores, _, _ = reduced(path, tmp_path, columns.taken, method="random", missing="mean")
    filled = np.where(np.isnan(counts), np.nanmean(counts, axis=0), counts)
    assert_allclose(scores, GaussianRandomProjection(2, random_state=0).fit_transform(filled), atol=1e-4)


# --- columns --------------------------------------------------------------------------------------

HOUSES = pa.table(
    {
        "house": ["a", "b", "c", "d"],
        "size": [70.0, 80.5, 60.0, 90.0],
        "age": [10, 30, 25, 70],
        "town": ["x", "y", "x", "y"],
        "price": [1.0, 2.5, 1.5, 3.0],
    }
)


def test_columns_of_numbers_are_taken_but_those_kept_and_the_target():
    assert choose_columns(HOUSES, (), (), None).taken == ("size", "age", "price")
    assert choose_columns(HOUSES, (), ("house", "age"), "price") == Columns(
        ("size",), {"town": "category", "price": "target"}, ("house", "age")
    )


def test_columns_that_are_named_are_taken_in_their_order():
    assert choose_columns(HOUSES, ("age", "size"), ("age",), None) == Columns(("age", "size"), {}, ("age",))


@pytest.mark.parametrize(
    ("wanted", "keep", "expected"),
    [
        (("sise",), (), r"^table: column must be one of .*; got 'sise' \(did you mean 'size'\?\).$"),
        (("age", "age"), (), r"^table: column names must differ; got 'age' 2 times.$"),
        ((), ("hause",), r"^table: column must be one of .*; got 'hause' \(did you mean 'house'\?\).$"),
        (
            (),
            ("size", "age", "price"),
            r"^table: must have a column of numbers that is not kept .*; got none.$",
        ),
    ],
)
def test_columns_that_cannot_be(wanted, keep, expected):
    with pytest.raises(TableError, match=expected):
        choose_columns(HOUSES, wanted, keep, None)


def test_kept_columns_are_shown_beside_the_scores(tmp_path):
    columns = choose_columns(HOUSES, (), ("house",), None)
    _, record = reduce(HOUSES, "houses", columns, tmp_path / "t.parquet", ReduceSettings())
    assert record.shown["house"] == ["a", "b", "c", "d"]
    assert list(record.shown) == ["house", "pca0", "pca1"]
    assert record.shown_every == 1


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"components": 7}, r"^reduce: components must be at most 6, the number of columns; got 7.$"),
        ({"components": 7, "method": "random"}, r"at most 6, the number of columns; got 7.$"),
        ({"components": 501, "method": "kernel-pca"}, r"at most 500, the number of rows; got 501.$"),
        ({"components": 0}, r"^reduce: components must be an integer at least 1 or a fraction .*; got 0.$"),
        ({"components": 1.5}, r"; got 1.5.$"),
        ({"method": "pcaa"}, r"^reduce: method must be one of 'pca', .*; got 'pcaa'.$"),
        ({"method": "ica", "components": 0.5}, r"^reduce: components must be an integer with method 'ica'; got 0.5.$"),
        ({"method": "ica", "missing": "em"}, r"^reduce: missing must be None or 'mean' with method 'ica'; got 'em'.$"),
        ({"method": "ica", "time_limit": 3.0}, r"^reduce: time_limit must be None with method 'ica'; got 3.0.$"),
        ({"scale": "much"}, r"^reduce: scale must be one of 'none', .*; got 'much'.$"),
        ({"missing": "median"}, r"^reduce: missing must be None or one of 'em', 'mean'; got 'median'.$"),
    ],
)
def test_settings_that_cannot_be(settings, expected, tmp_path):
    with pytest.raises(InputError, match=expected):
        reduced(frame(numbers()), tmp_path, **settings)
    assert list(tmp_path.iterdir()) == []


def test_only_a_pca_is_saved():
    check_settings(ReduceSettings(), is_saved=True)
    with pytest.raises(InputError, match=r"^reduce: method must be 'pca' to be saved as a model file; got 'random'.$"):
        check_settings(ReduceSettings(method="random"), is_saved=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_hole_is_named_with_the_cure(method, tmp_path, monkeypatch):
    write_table(frame(with_holes(numbers())), tmp_path / "t.csv")
    expected = r"^t.csv: every value must be finite; got NaN in row 5, column 'f1' \(--missing mean fills it\).$"
    with pytest.raises(InputError, match=expected):
        reduced(tmp_path / "t.csv", tmp_path, method=method)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_infinity_is_named(tmp_path):
    X = numbers()
    X[4, 2] = np.inf
    with pytest.raises(InputError, match=r"must be finite or NaN; got inf \(infinity\) in row 5, column 'f2'.$"):
        reduced(frame(X), tmp_path, missing="mean")


@pytest.mark.parametrize("method", ["ica", "autoencoder"])
def test_a_table_that_does_not_fit_is_told_at_once(method, tmp_path, monkeypatch):
    write_table(frame(numbers()), tmp_path / "t.csv")
    monkeypatch.setattr(reducers, "COPIES", 1e12)
    with pytest.raises(InputError, match=r"^reduce: the table and its copies must fit in \d+ GB of memory; got .* GB"):
        reduced(tmp_path / "t.csv", tmp_path, method=method)


def test_an_array_holds_no_kept_columns(tmp_path):
    columns = choose_columns(HOUSES, (), ("house",), None)
    with pytest.raises(TableError, match=r"^t.npy: must be a table to hold columns that are kept; got an array"):
        reduce(HOUSES, "houses", columns, tmp_path / "t.npy", ReduceSettings())


# --- along the way --------------------------------------------------------------------------------


def test_every_block_is_reported(tmp_path, streamed):
    told = []
    columns = Columns(NAMES, {})
    reduce(frame(numbers()), "t", columns, tmp_path / "t.csv", ReduceSettings(), lambda *words: told.append(words))
    starts = range(0, N_ROWS, 64)
    assert told == [(what, start, N_ROWS) for what in ("reading", "writing") for start in starts]


@pytest.mark.parametrize("n_rows", [1, 7, MOST_SHOWN, MOST_SHOWN + 1, 10 * MOST_SHOWN + 3])
def test_some_rows_are_evenly_spaced(n_rows):
    sample = EvenSample(MOST_SHOWN)
    rows = pa.table({"x": np.arange(n_rows), "y": np.zeros(n_rows)})
    passed = list(sample.of((rows.slice(start, 333) for start in range(0, n_rows, 333)), ["x"]))
    assert pa.concat_tables(passed).equals(rows)
    kept = sample.rows()["x"].to_numpy()
    assert_array_equal(kept, np.arange(0, n_rows, sample.every))
    assert min(n_rows, MOST_SHOWN // 2) <= kept.size <= MOST_SHOWN


# --- memory ------------------------------------------------------------------------------------------

MEASURE = """
    import re, sys
    from pathlib import Path
    import eigenwood.data.blocks
    from eigenwood.runs import reducers
    from eigenwood.runs.reduce import choose_columns, reduce

    eigenwood.data.blocks.BLOCK_BYTES = 2**20
    reducers.HELD_BYTES = 0

    def peak():  # not ru_maxrss: a child process starts with its parent's peak
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

    def sweep(path):
        columns = choose_columns(path, (), (), None)
        reduce(path, "rows", columns, path.with_suffix(".out.parquet"), reducers.ReduceSettings(20))

    small, large = map(Path, sys.argv[1:])
    sweep(small)
    before = peak()
    sweep(large)
    print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_table(tmp_path):
    """Rows come in and scores go out in blocks."""
    small, large = tmp_path / "small.npy", tmp_path / "large.npy"
    for path, n_rows in ((small, 20_000), (large, 250_000)):
        np.save(path, np.random.default_rng(0).normal(size=(n_rows, 50)))
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), str(small), str(large)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 0.25 * large.stat().st_size
