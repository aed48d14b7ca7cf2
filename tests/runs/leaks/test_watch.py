"""The leak watch: it finds 95 % of planted leaks, raises 1 % false alarms, and says what it found in one sentence.

Rates are counted on fewer tables than with ``EIGENWOOD_WHOLE_EXAM=1``, which takes half a minute.
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pytest

from eigenwood.data import datasets
from eigenwood.data.tables import read_table, target_task
from eigenwood.runs.clock import Clock
from eigenwood.runs.leaks import LeakReport, leaks
from eigenwood.runs.leaks.findings import COPY, DUPLICATES, FILLED, GROUPS, NEARLY_ALONE, ORDER
from eigenwood.runs.record import FindingRecord
from eigenwood.runs.settings import Split
from tests.runs.leak_generator import TARGET, clean, planted

N_PLANTED, N_CLEAN = (200, 300) if os.environ.get("EIGENWOOD_WHOLE_EXAM") else (100, 200)


def watched(case):
    return leaks(case.table, TARGET, case.task, case.split, Clock(None)).findings


def watch(columns, target="sold", limit=None, seed=0):
    """Return the findings in a table of which a quarter is put aside at random."""
    table = columns if hasattr(columns, "kinds") else read_table(pa.table(columns))
    rows = np.random.default_rng(seed).permutation(table.n_rows)
    split = Split(np.sort(rows[table.n_rows // 4 :]), np.sort(rows[: table.n_rows // 4]))
    return leaks(table, target, target_task(table, target), split, Clock(limit))


# --- rates ---------------------------------------------------------------------------------------------


def test_nineteen_of_twenty_planted_leaks_are_found():
    cases = [planted(seed) for seed in range(N_PLANTED)]
    found = [
        (case.is_found(findings), case.is_found(findings, serious=True)) for case, findings in map(with_findings, cases)
    ]
    n_found, n_serious = np.sum(found, axis=0)
    assert n_found >= 0.95 * N_PLANTED
    assert n_serious >= 0.90 * N_PLANTED


def with_findings(case):
    return case, watched(case)


def test_one_clean_table_in_a_hundred_raises_an_alarm():
    findings = [watched(clean(1_000_000 + seed)) for seed in range(N_CLEAN)]
    assert sum(any(finding.serious for finding in one) for one in findings) <= 0.01 * N_CLEAN
    assert sum(map(bool, findings)) <= 0.02 * N_CLEAN


# --- sentences -----------------------------------------------------------------------------------------


def sales(n=400):
    """Return an honest table: what was sold, at which price."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    return {
        "size": size,
        "colour": np.array(["red", "blue"])[rng.integers(2, size=n)],
        "sold": np.where(size + rng.normal(size=n) > 0, "yes", "no"),
    }


def prices(n=400):
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    return {"size": size, "price": np.exp(size + rng.normal(size=n)) * 100}


def test_an_honest_table_has_no_findings():
    assert watch(sales()) == LeakReport([], True)
    assert watch(prices(), "price") == LeakReport([], True)


def test_a_recoded_target():
    (finding,) = watch({**sales(), "status": np.where(sales()["sold"] == "yes", 4.0, 1.0)}).findings
    assert (finding.kind, finding.columns, finding.serious) == (COPY, ["status"], True)
    assert (
        finding.sentence
        == "'status' says the same as 'sold': each of its 2 values goes with one label (300 of 300 rows)."
    )
    assert FindingRecord(**finding._asdict()).evidence["n_right"] == 300


def test_one_label_of_three():
    rng = np.random.default_rng(0)
    colour = np.array(["red", "green", "blue"])[rng.integers(3, size=400)]
    (finding,) = watch(
        {"x": rng.normal(size=400), "flag": (colour == "red") * 1.0, "colour": colour}, "colour"
    ).findings
    assert finding.serious
    assert finding.sentence == "'flag' says whether 'colour' is 'red' (300 of 300 rows)."


def test_a_score_that_decides_alone():
    score = (sales()["sold"] == "yes") + np.random.default_rng(1).normal(size=400) * 0.1
    (finding,) = watch({**sales(), "score": score}).findings
    assert (finding.kind, finding.serious) == (NEARLY_ALONE, True)
    assert finding.sentence == (
        "'score' alone nearly decides 'sold': its agreement with the labels is 1.000 over 300 rows, "
        "where 0 is chance and 1 a copy."
    )


def test_an_easy_target_is_no_serious_leak():
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=400)
    columns = {f"x{j}": kind * 8 + rng.normal(size=400) for j in range(3)}
    findings = watch({**columns, "kind": np.array(["a", "b"])[kind]}, "kind").findings
    assert len(findings) == 3
    assert not any(finding.serious for finding in findings)


def test_a_column_filled_for_one_label():
    repaid = np.where(sales()["sold"] == "yes", np.random.default_rng(1).normal(size=400), np.nan)
    (finding,) = watch({**sales(), "repaid": repaid}).findings
    assert (finding.kind, finding.serious) == (FILLED, True)
    assert (
        finding.sentence
        == "'repaid' is filled only where 'sold' is 'yes': in 100% of these rows, and in 0.0% of the others."
    )


def test_a_column_that_is_missing_ever_more_often_is_no_leak():
    columns = prices(2000)
    place = np.argsort(np.argsort(columns["price"])) / 2000
    gone = np.random.default_rng(1).random(2000) < place**3
    assert watch({**columns, "note": np.where(gone, np.nan, columns["size"])}, "price").findings == []


def test_a_mark_that_only_one_label_has():
    mark = np.where(sales()["sold"] == "yes", "paid", None)
    (finding,) = watch({**sales(), "mark": mark}).findings
    assert (finding.kind, finding.columns) == (FILLED, ["mark"])


def test_a_column_missing_above_an_amount():
    price = prices()["price"]
    note = np.where(price > 150, np.nan, np.random.default_rng(1).normal(size=400))
    (finding,) = watch({**prices(), "note": note}, "price").findings
    assert finding.kind == FILLED
    assert finding.sentence == (
        "'note' is missing only where 'price' is above 149.8: in 100% of these rows, and in 0.0% of the others."
    )


def test_ids_in_the_order_of_the_target():
    order = np.argsort(np.argsort(sales()["sold"], kind="stable"))
    (finding,) = watch({**sales(), "row": order + 1}).findings
    assert (finding.kind, finding.columns, finding.serious) == (ORDER, ["row"], True)
    assert (
        finding.sentence
        == "'row' looks like an ID and orders the rows by 'sold' (agreement of neighbours 1.00, 0 at random)."
    )


def test_a_file_in_the_order_of_the_target_is_no_serious_leak():
    order = np.argsort(sales()["sold"], kind="stable")
    (finding,) = watch({name: values[order] for name, values in sales().items()}).findings
    assert (finding.kind, finding.columns, finding.serious) == (ORDER, [], False)


def test_groups_on_both_sides():
    person = np.random.default_rng(2).permutation(80)[np.arange(400) // 5]
    sold = np.where(person % 2 == 0, "yes", "no")
    columns = {"size": sales()["size"], "person": np.array([f"P{i}" for i in person]), "sold": sold}
    order = np.random.default_rng(3).permutation(400)
    (finding,) = watch({name: values[order] for name, values in columns.items()}).findings
    assert (finding.kind, finding.columns, finding.serious) == (GROUPS, ["person"], True)
    assert "of 100 test rows have a value that is also in training; --group keeps them apart." in finding.sentence


@pytest.mark.parametrize("bent", [lambda y: -2 * y + 5, np.log, lambda y: y**3], ids=["scaled", "logged", "cubed"])
def test_an_amount_on_another_scale(bent):
    (finding,) = watch({**prices(), "fee": bent(prices()["price"])}, "price").findings
    assert (finding.kind, finding.serious) == (COPY, True)
    assert finding.sentence == "'fee' puts the rows in the order of 'price': 300 of 300 are within 5% of their place."


def test_a_flag_above_an_amount():
    (finding,) = watch({**prices(), "is_dear": (prices()["price"] > 200) * 1.0}, "price").findings
    assert finding.serious
    assert finding.sentence.startswith("'is_dear' says whether 'price' is above ")


# --- rules of the watch -----------------------------------------------------------------------------------


def test_columns_that_say_nothing_are_no_leak_however_many_they_are():
    rng = np.random.default_rng(0)
    columns = {f"x{j}": values for j, values in enumerate(rng.normal(size=(5000, 60)))}
    label = np.array(["a", "b"])[rng.integers(2, size=60)]
    assert watch({**columns, "label": label}, "label").findings == []
    (finding,) = watch({**columns, "copy": (label == "a") * 1.0, "label": label}, "label").findings
    assert finding.columns == ["copy"]


def test_the_same_table_has_the_same_findings():
    case = planted(3)
    assert watched(case) == watched(case)


def test_only_training_rows_tell_of_a_copy():
    status = np.where(sales()["sold"] == "yes", 4.0, 1.0)
    changed = np.where(np.arange(400) < 300, status, status[::-1])
    split = Split(np.arange(300), np.arange(300, 400))
    tables = [read_table(pa.table({**sales(), "status": values})) for values in (status, changed)]
    findings = [leaks(table, "sold", "classification", split, Clock(None)).findings for table in tables]
    assert findings[0] == findings[1]
    assert findings[0][0].evidence["n_right"] == 300


def test_without_time_the_report_says_so():
    assert watch({**sales(), "status": (sales()["sold"] == "yes") * 1.0}, limit=0.0) == LeakReport([], False)


def test_a_table_of_a_few_rows_or_of_the_target_alone_has_no_findings():
    assert watch({"x": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0], "sold": list("ababab")}) == LeakReport([], True)
    assert watch({"sold": list("abab") * 20}) == LeakReport([], True)


def test_serious_findings_come_first():
    order = np.argsort(sales()["sold"], kind="stable")
    columns = {name: values[order] for name, values in sales().items()}
    findings = watch({**columns, "status": (columns["sold"] == "yes") * 1.0}).findings
    assert [finding.serious for finding in findings] == [True, False]


# --- real tables -----------------------------------------------------------------------------------------


def test_heart_has_no_findings():
    assert watch(datasets.load("heart").table(), "disease").findings == []


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("adult", [(DUPLICATES, False)]),
        ("california_housing", [(ORDER, False)]),  # neighbouring districts follow each other
        ("spambase", [(DUPLICATES, True), (ORDER, False)]),  # spam comes first, and comes again
        ("sms_spam", [(DUPLICATES, True)]),
        ("covertype", []),
    ],
)
def test_findings_in_real_tables_are_true(name, found):
    dataset = datasets.load(name)
    report = watch(dataset.table(), dataset.target_name)
    assert [(finding.kind, finding.serious) for finding in report.findings] == found
