"""Use a model: predict tables that look different, verify on the rows it learnt from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline

from eigenwood import Perceptron
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError
from eigenwood.runs import use
from eigenwood.runs.frames import amounts_of, frame_for
from eigenwood.runs.regression import blind_split
from eigenwood.runs.settings import Settings
from eigenwood.runs.use import predicted, verified

pytestmark = pytest.mark.slow


def test_a_table_of_one_row_is_read_as_in_training(heart, learned):
    whole = predicted(learned.model, heart)
    for i in (0, 17):
        one = read_table(heart.frame.slice(i, 1))
        assert predicted(learned.model, one)["prediction"][0] == whole["prediction"][i]


def test_column_order_and_extra_columns_do_not_matter(heart, learned):
    names = heart.frame.column_names[::-1]
    turned = read_table(heart.frame.select(names).append_column("more", pa.array(range(303))))
    assert predicted(learned.model, turned).equals(predicted(learned.model, heart))


@pytest.mark.parametrize(
    ("method", "column", "middle"),
    [("kernel-perceptron", "score of yes", 0.0), ("decision-tree", "probability of yes", 0.5)],
)
def test_scores_agree_with_predictions(heart, learned_by, method, column, middle):
    table = predicted(learned_by(method).model, heart)
    above = np.array(table[column].to_pylist()) > middle
    assert (np.where(above, "yes", "no") == np.array(table["prediction"].to_pylist())).all()


def test_a_missing_column_is_named(heart, learned):
    with pytest.raises(TableError, match="thal"):
        predicted(learned.model, heart.drop(["thal"]))


def test_texts_in_a_column_of_numbers_are_named(heart, learned):
    ages = pa.array(["old"] + ["60"] * 302)
    changed = read_table(heart.frame.set_column(0, "age", ages))
    with pytest.raises(TableError, match=r"^table: column 'age' must hold numbers as it did in training; got 'old'\.$"):
        predicted(learned.model, changed)


def test_a_text_that_only_python_reads_as_a_number_is_named(heart, learned):
    changed = read_table(heart.frame.set_column(0, "age", pa.array(["1_0"] + ["60"] * 302)))
    with pytest.raises(TableError, match=r"column 'age' must hold numbers as it did in training; got '1_0'\.$"):
        predicted(learned.model, changed)


def test_a_model_without_columns_is_refused(heart):
    perceptron = Perceptron().fit([[0.0], [1.0]], [0, 1])
    named = Perceptron().fit(pd.DataFrame({"age": [0.0, 1.0]}), [0, 1])
    for model in (perceptron, Pipeline([("model", perceptron)]), Pipeline([("model", named)])):
        with pytest.raises(TableError, match="eigenwood learn"):
            predicted(model, heart)


@pytest.mark.parametrize("method", ["perceptron", "kernel-perceptron", "decision-tree"])
def test_verify_uses_the_training_rows(heart, learned_by, method):
    model, run = learned_by(method)
    certificate, rows = verified(model, heart, "disease", run)
    assert rows == "the 227 training rows"
    assert certificate.holds is (True if method == "decision-tree" else None)  # the rows cannot be separated
    stated = {claim["name"]: claim["value"] for claim in run.certificate["claims"]}
    found = {claim.name: claim.value for claim in certificate}
    missing = stated.keys() - found.keys()  # the trees of cross-validation are gone
    assert missing <= {"validation error"}
    assert {name: found[name] for name in stated.keys() - missing} == pytest.approx(
        {name: stated[name] for name in stated.keys() - missing}, abs=1e-12
    )


def test_verify_counts_what_nobody_counted_in_the_fit(heart, learned_by):
    """The errors of an averaged rule."""
    model, run = learned_by("kernel-perceptron")
    assert verified(model, heart, "disease", run)[0]["training errors"].value > 0


def test_verify_without_the_run_uses_all_rows(heart, learned):
    _, rows = verified(learned.model, heart, "disease", None)
    assert rows == "all 303 rows with a target"


def test_verify_on_another_table_uses_all_its_rows(heart, learned):
    _, rows = verified(learned.model, heart.take(np.arange(100)), "disease", learned.run)
    assert rows == "all 100 rows with a target"


# --- amounts, and methods that take tables --------------------------------------------------------


def test_amounts_come_alone(houses, priced):
    table = predicted(priced.model, houses)
    assert table.column_names == ["prediction"]
    assert table["prediction"].type == pa.float64()


def test_a_method_that_takes_tables_sees_one_row_as_in_training(houses, grouped):
    whole = predicted(grouped.model, houses)["prediction"]
    for i in (0, 1, 17):  # of the first the town is missing, and the size as well
        assert predicted(grouped.model, read_table(houses.frame.slice(i, 1)))["prediction"][0] == whole[i]


def test_a_method_that_takes_tables_gets_numbers_texts_and_nulls(grouped):
    table = read_table({"town": [1, None], "price": [0.5, 0.5], "size": ["70", None]})
    frame = frame_for(grouped.model, table)
    assert frame.to_pydict() == {"size": [70.0, None], "town": ["1", None]}
    assert frame.schema.types == [pa.float64(), pa.string()]


class Sure(ClassifierMixin, BaseEstimator):
    """Always says yes, and tells probabilities instead of scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "yes")

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))


def test_probabilities_stand_beside_the_prediction(heart, learned_by):
    model = Pipeline([learned_by("perceptron").model.steps[0], ("model", Sure().fit(None, ["no", "yes"]))])
    table = predicted(model, heart)
    assert table.column_names == ["prediction", "probability of no", "probability of yes"]
    assert table.to_pylist()[7] == {"prediction": "yes", "probability of no": 0.25, "probability of yes": 0.75}


@pytest.fixture
def checked(monkeypatch):
    """Pairs of frame and target that ``verified`` has asked to check."""
    calls = []
    monkeypatch.setattr(use, "verify", lambda model, frame, y, time_limit: calls.append((frame, y)))
    return calls


def test_verify_finds_the_training_rows_of_amounts(houses, priced, checked):
    y = amounts_of(houses, "price")
    train = blind_split("houses", "price", y, Settings()).train
    _, rows = verified(priced.model, houses, "price", priced.run)
    assert rows == "the 150 training rows"
    assert checked[0][0].equals(houses.drop(["price"]).frame.take(train))
    assert checked[0][1].tolist() == y[train].tolist()


def test_verify_of_amounts_on_another_table_uses_all_its_rows(houses, priced, checked):
    _, rows = verified(priced.model, houses.take(np.arange(100)), "price", priced.run)
    assert rows == "all 100 rows with a target"
    assert checked[0][1].tolist() == amounts_of(houses, "price")[:100].tolist()


def test_verify_wants_numbers_for_amounts(houses, priced):
    names = read_table(houses.frame.set_column(2, "price", pa.array(["dear", "cheap"] * 100)))
    with pytest.raises(TableError, match=r"column 'price' must hold numbers as it did in training; got 'dear'\.$"):
        verified(priced.model, names, "price", None)
