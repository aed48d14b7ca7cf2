"""``eigenwood reduce``, as a person uses it: files in, files out, one sentence where that cannot be."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose

import eigenwood
from eigenwood import PCA
from eigenwood.data import datasets
from eigenwood.data.blocks import blocks
from eigenwood.data.tables import read_table, write_table
from eigenwood.runs.reducers import METHODS
from tests.cli.running import MAIN, ran

pytestmark = pytest.mark.slow

NAMES = [f"f{j}" for j in range(8)]
N_ROWS = 3_000


def numbers() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, 3)) * [9.0, 5.0, 2.0] @ rng.normal(size=(3, 8)) + rng.normal(size=(N_ROWS, 8))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one table in several formats, and with files that are wrong in some way."""
    place = tmp_path_factory.mktemp("reduce")
    X = numbers()
    table = {"person": [f"p{i}" for i in range(N_ROWS)], **dict(zip(NAMES, X.T, strict=True))}
    pyarrow.parquet.write_table(pa.table(table), place / "t.parquet", row_group_size=700)
    write_table(table, place / "t.csv")
    np.save(place / "t.npy", X)
    (place / "hole.csv").write_text("a,b\n1.5,2\n,7\n0.5,1\n")
    return place


def done(words, folder, *program):
    """Run words that must succeed."""
    run = ran(f"reduce {words}", folder, *program)
    assert run.returncode == 0, run.stderr
    return run


def scores_in(path) -> np.ndarray:
    names = [name for name in blocks(path).columns if name != "person"]
    return np.concatenate(list(blocks(path, columns=names)))


STREAMED = f"import eigenwood.runs.reducers as reducers; reducers.HELD_BYTES = 0; {MAIN}"


def test_parquet_streams_to_parquet(folder, tmp_path):
    run = done(f"t.parquet -k 5 --keep person --out {tmp_path}/scores.parquet", folder, STREAMED)
    assert "one pass over the stream" in run.stdout
    table = pyarrow.parquet.read_table(tmp_path / "scores.parquet")
    assert table.column_names == ["person", "pca0", "pca1", "pca2", "pca3", "pca4"]
    assert table["person"].to_pylist() == [f"p{i}" for i in range(N_ROWS)]
    assert_allclose(scores_in(tmp_path / "scores.parquet"), PCA(5).fit_transform(numbers()), atol=1e-9)


@pytest.mark.parametrize(("source", "out"), [("t.csv", "s.csv"), ("t.npy", "s.npy"), ("t.parquet", "s.arrow")])
def test_every_format_in_and_out(source, out, folder, tmp_path):
    done(f"{source} -k 3 --out {tmp_path}/{out}", folder)
    assert_allclose(scores_in(tmp_path / out), PCA(3).fit_transform(numbers()), atol=1e-9)


def test_the_terminal_tells_the_components(folder, tmp_path):
    run = done(f"t.parquet -k 0.95 --out {tmp_path}/s.csv", folder)
    model = PCA(0.95).fit(numbers())
    for share in model.explained_variance_ratio_:
        assert f"{100 * share:.2f} %" in run.stdout
    assert f"8 columns to {model.n_components_} by pca (3,000 rows)" in run.stdout
    assert "Certificate: all claims hold." in run.stdout
    assert re.search(r"^Written: .*s\.csv$", run.stdout, flags=re.MULTILINE)


def test_what_is_left_out_is_told_beside_the_result(folder, tmp_path):
    run = done(f"heart --missing mean --out {tmp_path}/s.csv", folder)
    assert "left out: sex (category), chest_pain (category)" in run.stderr
    assert "left out" not in run.stdout
    assert "left out" not in done(f"heart --columns age,cholesterol --out {tmp_path}/s.csv", folder).stderr


def test_a_data_set_by_name_is_its_numbers(tmp_path):
    done("uk_foods --keep country --out foods.csv", tmp_path)
    foods = datasets.load("uk_foods")
    assert_allclose(
        np.concatenate(list(blocks(tmp_path / "foods.csv", columns=["pca0", "pca1"]))),
        PCA(2).fit_transform(foods.X),
        atol=1e-9,
    )
    assert read_table(tmp_path / "foods.csv").frame["country"].to_pylist() == foods.row_labels["country"]


def test_a_saved_model_transforms_new_rows(folder, tmp_path):
    done(f"t.parquet -k 3 --scale deviation --save {tmp_path}/m.safetensors --out {tmp_path}/s.npy", folder)
    model = eigenwood.load(tmp_path / "m.safetensors")
    frame = pyarrow.parquet.read_table(folder / "t.parquet").drop_columns(["person"])
    assert model.feature_names_in_.tolist() == NAMES
    assert_allclose(model.transform(frame), np.load(tmp_path / "s.npy"), atol=1e-9)
    assert eigenwood.verify(model, frame).holds


@pytest.mark.parametrize("table", ["t.parquet", "t.csv", "t.npy"])
def test_a_saved_model_is_verified(table, folder, tmp_path):
    done(f"{table} -k 3 --scale deviation --save {tmp_path}/m.safetensors --out {tmp_path}/s.npy", folder)
    run = ran(f"verify {tmp_path}/m.safetensors {table}", folder)
    assert run.returncode == 0, run.stderr
    assert "Recomputed on all rows: all claims hold." in " ".join(run.stdout.split())
    model = eigenwood.load(tmp_path / "m.safetensors")
    model.explained_variance_[1] *= 1.01
    model.explained_variance_interval_[1] *= 1.01
    eigenwood.save(model, tmp_path / "wrong.safetensors")
    assert ran(f"verify {tmp_path}/wrong.safetensors {table}", folder).returncode == 1


def test_a_saved_model_of_genotypes_is_verified(tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    counts = np.random.default_rng(0).binomial(2, 0.3, size=(20, 60)).astype(float)
    counts[3, 4] = np.nan
    bed_reader.to_bed(tmp_path / "g.bed", counts, {"sid": [f"rs{j}" for j in range(60)]})
    done("g.bed -k 2 --scale allele-frequency --save m.safetensors --out s.csv", tmp_path)
    run = ran("verify m.safetensors g.bed", tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Recomputed on all 20 people: all claims hold." in " ".join(run.stdout.split())


def test_a_model_of_other_columns_is_not_verified(folder, tmp_path):
    done(f"t.parquet -k 3 --save {tmp_path}/m.safetensors --out {tmp_path}/s.npy", folder)
    run = ran(f"verify {tmp_path}/m.safetensors hole.csv", folder)
    assert run.returncode == 2
    assert run.stderr.startswith("eigenwood: hole.csv: ")


def test_the_report_is_one_page(folder, tmp_path):
    done(f"t.parquet -k 3 --keep person --report {tmp_path}/page.html --out {tmp_path}/s.csv", folder)
    page = (tmp_path / "page.html").read_text()
    assert "t: 8 columns to 3 by pca" in page
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs(method, folder, tmp_path):
    run = done(f"heart --method {method} --missing mean --scale deviation --out {tmp_path}/s.npy", folder)
    assert "Traceback" not in run.stderr
    assert "Warning" not in run.stderr
    assert np.load(tmp_path / "s.npy").shape == (303, 2)


def test_an_old_result_is_replaced(folder, tmp_path):
    (tmp_path / "s.csv").write_text("old")
    done(f"t.csv --out {tmp_path}/s.csv", folder)
    assert scores_in(tmp_path / "s.csv").shape == (N_ROWS, 2)


BAD = {
    "t.csv -k 9 --out s.csv": "reduce: components must be at most 8, the number of columns; got 9.",
    "t.csv -k some --out s.csv": "--components must be an integer or a share of the variance, as 0.9; got 'some'.",
    "t.csv --method umap --out s.csv": "reduce: method must be one of 'pca', 'kernel-pca', 'random', 'ica', "
    "'autoencoder'; got 'umap'.",
    "t.csv --out t.csv": "t.csv: --out must be another file than TABLE; got the same.",
    "t.csv --out s.csv --report s.csv": "s.csv: --report must be another file than --out; got the same.",
    "t.csv --out no/s.csv": "no/s.csv: --out must name a file in a folder that can be written; got no folder 'no'.",
    "t.csv --out .": ".: --out must name a file in a folder that can be written; got a folder of that name.",
    "t.csv --out s.xlsx": "s.xlsx: ending must be one of .csv, .tsv, .tab, .txt, .parquet, .feather, .arrow, .npy; "
    "got '.xlsx'.",
    "t.csv --out s.csv --method ica --save m": "reduce: method must be 'pca' to be saved as a model file; got 'ica'.",
    "t.csv --columns f1,f99 --out s.csv": "t.csv: column must be one of 'person', 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', "
    "'f6' … (9 in all); got 'f99'.",
    "hole.csv --out s.csv": "hole.csv: every value must be finite; got NaN in row 3, column 'a' (--missing mean fills "
    "it).",
    "nowhere.json --out s.csv": "nowhere.json: must be an existing file; got nothing of that name in '.'.",
}


@pytest.mark.parametrize("words", list(BAD)[::3])
def test_bad_input_is_one_sentence_and_nothing_is_written(words, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = ran(f"reduce {words}", folder)
    assert run.returncode == 2, run.stderr
    assert run.stdout == ""
    sentence = [line for line in run.stderr.splitlines() if not re.match(r"left out: |\[\d+(/\d+)?\] ", line)]
    assert sentence == [f"eigenwood: {BAD[words]}"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_slip_in_a_name_is_told(folder):
    run = ran("reduce uk_food --out s.csv", folder)
    assert run.returncode == 2
    assert "did you mean 'uk_foods'?" in run.stderr


def test_out_is_needed(folder):
    assert ran("reduce t.csv", folder).returncode == 2
