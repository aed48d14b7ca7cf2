"""Use a model: predict tables that look different, verify on the rows it learnt from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eigenwood import Perceptron
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError
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


def test_scores_agree_with_predictions(heart, learned):
    table = predicted(learned.model, heart)
    above = np.array(table["score of yes"].to_pylist()) > 0
    assert (np.where(above, "yes", "no") == np.array(table["prediction"].to_pylist())).all()


def test_a_missing_column_is_named(heart, learned):
    with pytest.raises(TableError, match="thal"):
        predicted(learned.model, heart.drop(["thal"]))


def test_texts_in_a_column_of_numbers_are_named(heart, learned):
    ages = pa.array(["old"] + ["60"] * 302)
    changed = read_table(heart.frame.set_column(0, "age", ages))
    with pytest.raises(TableError, match=r"^table: column 'age' must hold numbers as it did in training; got 'old'\.$"):
        predicted(learned.model, changed)


def test_a_model_without_columns_is_refused(heart):
    with pytest.raises(TableError, match="eigenwood learn"):
        predicted(Perceptron().fit([[0.0], [1.0]], [0, 1]), heart)


def test_verify_uses_the_training_rows(heart, learned):
    certificate, rows = verified(learned.model, heart, "disease", learned.run)
    assert rows == "the 227 training rows"
    stated = {claim["name"]: claim["value"] for claim in learned.run.certificate["claims"]}
    found = {claim.name: claim.value for claim in certificate}
    assert {name: found[name] for name in stated} == pytest.approx(stated)
    assert found["training errors"] > 0  # nobody counted them in the fit of an averaged rule


def test_verify_without_the_run_uses_all_rows(heart, learned):
    _, rows = verified(learned.model, heart, "disease", None)
    assert rows == "all 303 rows with a target"


def test_verify_on_another_table_uses_all_its_rows(heart, learned):
    _, rows = verified(learned.model, heart.take(np.arange(100)), "disease", learned.run)
    assert rows == "all 100 rows with a target"
