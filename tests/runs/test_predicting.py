"""Prediction of tables of any size: the same for any blocks, in bounded memory, and new tables in any shape."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.pipeline import Pipeline

import eigenwood
from eigenwood import DecisionTreeClassifier, GradientBoostingRegressor, Perceptron, RandomForestClassifier
from eigenwood.data.tables import read_table, write_table
from eigenwood.errors import InputError, TableError
from eigenwood.estimators.columns import TableColumns
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.runs import predicting
from eigenwood.runs.frames import frame_for
from eigenwood.runs.predicting import predicted, predicted_blocks, write_predictions

N_ROWS = 300


def orders() -> dict[str, list]:
    """Return raw orders, as a spreadsheet writes them."""
    rng = np.random.default_rng(0)
    days, months = rng.integers(1, 29, N_ROWS), rng.integers(1, 13, N_ROWS)
    return {
        "number": [str(1000 + i) for i in rng.permutation(N_ROWS)],
        "when": [f"{day}/{month}/2024" for day, month in zip(days, months, strict=True)],
        "price": [f"{price:.2f}".replace(".", ",") for price in rng.normal(1000.0, 300.0, N_ROWS)],
        "zip": [f"0{code}" for code in rng.integers(1000, 1010, N_ROWS)],
        "note": [" ".join(rng.choice(["quick", "late", "broken", "fine", "the"], 5)) for _ in range(N_ROWS)],
    }


def written(columns: dict[str, list], path: Path) -> Path:
    pd.DataFrame(columns).to_csv(path, sep=";", index=False)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return written(orders(), tmp_path_factory.mktemp("orders") / "orders.csv")


@pytest.fixture(scope="module")
def model(file):
    """A model made as ``learn`` makes one."""
    table = read_table(file, kinds={"zip": "category", "note": "text"})
    table = table.select(["when", "price", "zip", "note"])
    y = ["back" if "broken" in note else "kept" for note in orders()["note"]]
    first = TableColumns(kinds=table.kinds(), readings=table.readings())
    return Pipeline([("columns", first), ("model", RandomForestClassifier(10, random_state=0))]).fit(table.frame, y)


@pytest.mark.parametrize("block_rows", [1, 7, 100, 1000])
def test_the_same_predictions_for_any_blocks(model, file, block_rows):
    whole = predicted(model, file, proba=True)
    blocks = list(predicted_blocks(model, file, proba=True, block_rows=block_rows))
    assert [block.num_rows for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
    assert pa.concat_tables(blocks).equals(whole)
    assert whole.column_names == ["prediction", "probability of back", "probability of kept"]
    assert predicted(model, file).column_names == ["prediction"]
    shares = np.column_stack([whole[name].to_numpy() for name in whole.column_names[1:]])
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], whole["prediction"].to_numpy())


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow"])
def test_files_of_every_format_give_the_same(model, file, tmp_path, ending, monkeypatch):
    monkeypatch.setattr(predicting, "MOST_ROWS", 64)
    monkeypatch.setattr(predicting, "FEWEST_ROWS", 1)
    source, out = tmp_path / f"t{ending}", tmp_path / f"out{ending}"
    write_table(pa.table(orders()), source)
    assert write_predictions(model, source, out, proba=True) == N_ROWS
    expected = predicted(model, file, proba=True)
    got = read_table(out).frame
    assert got["prediction"].to_pylist() == expected["prediction"].to_pylist()
    np.testing.assert_allclose(got["probability of back"].to_numpy(), expected["probability of back"].to_numpy())


@pytest.mark.parametrize("frame", [dict, pa.table, pd.DataFrame, pl.DataFrame, lambda columns: read_table(columns)])
def test_frames_of_every_kind_give_the_same(model, file, frame):
    columns = {name: values for name, values in orders().items() if name != "zip"}
    zips = pd.Categorical(orders()["zip"]) if frame is pd.DataFrame else orders()["zip"]
    if frame in (dict, pa.table, pd.DataFrame, pl.DataFrame):
        assert predicted(model, frame({**columns, "zip": zips})).equals(predicted(model, file))
    else:  # read without the kinds of training, zips are numbers, and their zeros are gone
        assert predicted(model, frame({**columns, "zip": zips})).num_rows == N_ROWS


def test_order_and_more_columns_do_not_matter(model, file):
    turned = {"more": ["x"] * N_ROWS, **dict(reversed(orders().items()))}
    assert predicted(model, turned).equals(predicted(model, file))


def test_one_row_is_read_as_in_training(model, file):
    """Alone it would say nothing of the order of day and month, or of decimal commas."""
    whole, frame = predicted(model, file, proba=True), pd.DataFrame(orders())
    for i in range(0, N_ROWS, 23):
        assert predicted(model, frame[i : i + 1], proba=True).equals(whole.slice(i, 1))


def test_new_categories_missing_values_and_far_dates(model):
    strange = {"when": ["31/12/2999", None], "price": [None, "1e9"], "zip": ["new", None], "note": [None, "unseen"]}
    assert set(predicted(model, strange)["prediction"].to_pylist()) <= {"back", "kept"}


# --- what cannot be predicted ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"price": None}, "t.csv: lacks the column 'price', which the model learnt from."),
        ({"price": None, "zip": None}, "t.csv: lacks the columns 'price', 'zip', which the model learnt from."),
        (
            {"price": None, "Price": orders()["price"], "note": None, "notes": orders()["note"]},
            "t.csv: lacks the columns 'price', 'note', which the model learnt from "
            "('Price' may be 'price', 'notes' may be 'note').",
        ),
        (
            {"price": [*orders()["price"][:-1], "dear"]},
            "t.csv: column 'price' must hold numbers as it did in training; got 'dear' in row 301.",
        ),
        (
            {"when": ["31.2.2024", *orders()["when"][1:]]},
            "t.csv: column 'when' must hold dates as it did in training; got '31.2.2024' in row 2.",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_one_sentence(model, tmp_path, change, expected):
    columns = {name: values for name, values in {**orders(), **change}.items() if values is not None}
    with pytest.raises(TableError) as caught:
        predicted(model, written(columns, tmp_path / "t.csv"))
    assert str(caught.value) == expected


def test_nothing_is_half_written(model, tmp_path):
    columns = {**orders(), "price": [*orders()["price"][:-1], "dear"]}
    with pytest.raises(TableError, match="dear"):
        write_predictions(model, written(columns, tmp_path / "t.csv"), tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_file_without_rows(model, tmp_path):
    write_table(pa.table(orders()).slice(0, 0), tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"^t.parquet: must have at least one row; got none\.$"):
        predicted(model, tmp_path / "t.parquet")


def test_probabilities_of_amounts_or_of_a_method_without_them():
    frame = pa.table({"size": [1.5, 2.5, 3.5, 4.5]})
    amounts = Pipeline([("columns", TableColumns()), ("model", GradientBoostingRegressor(n_estimators=2))])
    amounts.fit(frame, [1.0, 2.0, 3.0, 5.0])
    assert predicted(amounts, frame)["prediction"].type == pa.float64()
    with pytest.raises(
        InputError, match=r"^predict: --proba must be asked of a model of classes; got one of amounts\.$"
    ):
        predicted(amounts, frame, proba=True)
    rule = Pipeline([("columns", TableColumns()), ("encoder", TableEncoder()), ("model", Perceptron())])
    rule.fit(frame, ["a", "a", "b", "b"])
    with pytest.raises(InputError, match=r"got Perceptron, which has none\.$"):
        predicted(rule, frame, proba=True)


def test_models_of_before_have_other_first_steps(tmp_path):
    frame = pa.table({"size": [1.5, None, 3.5, 4.5], "town": ["7", "8", None, "8"]})
    y = ["a", "a", "b", "b"]
    encoder = Pipeline([("encoder", TableEncoder()), ("model", Perceptron())]).fit(frame, y)
    tree = Pipeline([("model", DecisionTreeClassifier())]).fit(frame, y)
    for model in (encoder, tree):
        table = read_table({"town": [7, None], "price": [0.5, 0.5], "size": ["70", None]})
        assert frame_for(model, table).to_pydict() == {"size": [70.0, None], "town": ["7", None]}
        assert predicted(model, table).num_rows == 2


def test_a_model_without_columns_is_refused(file):
    perceptron = Perceptron().fit([[0.0], [1.0]], [0, 1])
    for model in (perceptron, Pipeline([("model", perceptron)])):
        with pytest.raises(TableError, match="eigenwood learn"):
            predicted(model, file)


# --- memory ------------------------------------------------------------------------------------------------

PEAK = """
import resource, sys
from eigenwood import load
from eigenwood.runs.predicting import write_predictions
from pathlib import Path
model, small, large, out = sys.argv[1:]
fitted = load(model)
write_predictions(fitted, Path(small), Path(out), proba=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_predictions(fitted, Path(large), Path(out), proba=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(model, tmp_path, ending):
    """720,000 rows, whose strings and predictions would take more than 100 MB, need at most 60 MB more than 180,000."""
    block = pa.table(orders())
    for name, times in (("small", 600), ("large", 4 * 600)):
        with_rows = pa.concat_tables([block] * times).combine_chunks()
        if ending == "csv":
            write_table(with_rows, tmp_path / f"{name}.csv")
        else:
            pa.parquet.write_table(with_rows, tmp_path / f"{name}.parquet", row_group_size=20_000)
    path = eigenwood.save(model, tmp_path / "model.safetensors")
    files = [str(path), *(str(tmp_path / f"{name}.{ending}") for name in ("small", "large")), str(tmp_path / "out.csv")]
    done = subprocess.run([sys.executable, "-c", PEAK, *files], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60_000
