"""Verify a model on the rows it learnt from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from eigenwood.data.tables import read_table
from eigenwood.errors import TableError
from eigenwood.runs import use
from eigenwood.runs.clock import Clock
from eigenwood.runs.frames import amounts_of
from eigenwood.runs.preparing import prepared
from eigenwood.runs.settings import Settings
from eigenwood.runs.use import verified

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("method", ["perceptron", "kernel-perceptron", "decision-tree"])
def test_verify_uses_the_training_rows(heart, learned_by, method):
    model, run = learned_by(method)
    certificate, rows = verified(model, heart, "disease", run)
    assert rows == "the 303 rows it learnt from"
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
    certificate, _ = verified(model, heart, "disease", run)
    assert certificate["kernel-perceptron 1: training errors"].value > 0


def test_verify_without_the_run_uses_all_rows(heart, learned):
    _, rows = verified(learned.model, heart, "disease", None)
    assert rows == "all 303 rows with a target"


def test_verify_on_another_table_uses_all_its_rows(heart, learned):
    _, rows = verified(learned.model, heart.take(np.arange(100)), "disease", learned.run)
    assert rows == "all 100 rows with a target"


# --- amounts ------------------------------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch):
    """Pairs of frame and target that ``verified`` has asked to check."""
    calls = []
    monkeypatch.setattr(use, "verify", lambda model, frame, y, *weights, time_limit: calls.append((frame, y)))
    return calls


def test_verify_finds_the_training_rows_of_amounts(houses, priced, checked):
    _, rows = verified(priced.model, houses, "price", priced.run)
    assert rows == "the 200 rows it learnt from"
    assert checked[0][0].equals(houses.drop(["price"]).frame)
    assert checked[0][1].tolist() == amounts_of(houses, "price").tolist()


def test_verify_of_a_model_that_was_not_fitted_again_asks_the_training_rows(houses, priced, checked):
    train = prepared(houses, "price", Settings(), Clock(0.0)).split.train
    before = replace(priced.run, recipe=priced.run.assessed, assessed=None)
    _, rows = verified(priced.model, houses, "price", before)
    assert rows == "the 150 rows it learnt from"
    assert checked[0][0].equals(houses.drop(["price"]).frame.take(train))
    assert checked[0][1].tolist() == amounts_of(houses, "price")[train].tolist()


def test_verify_of_amounts_on_another_table_uses_all_its_rows(houses, priced, checked):
    _, rows = verified(priced.model, houses.take(np.arange(100)), "price", priced.run)
    assert rows == "all 100 rows with a target"
    assert checked[0][1].tolist() == amounts_of(houses, "price")[:100].tolist()


def test_verify_wants_numbers_for_amounts(houses, priced):
    names = read_table(houses.frame.set_column(2, "price", pa.array(["dear", "cheap"] * 100)))
    with pytest.raises(TableError, match=r"column 'price' must hold numbers as it did in training; got 'dear'\.$"):
        verified(priced.model, names, "price", None)
