"""Records: medians, exponents, the stored file, and nothing in it that is nobody's business."""

import json
import os
import platform
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.case import Case, Quality
from benchmarks.machine import machine_facts
from benchmarks.rounds import Row
from benchmarks.worker import publishable

CASE = Case("plain", dict, {}, Quality("error", float, better="lower"), target="be quick")


def row(contender="eigenwood", n=None, seconds=(1.0, 5.0, 2.0), quality=(0.5, 0.5, 0.5)):
    return Row(contender, n, seconds=list(seconds), quality=list(quality), peak_mb=[10.0, 30.0, 20.0])


def record(rows=None):
    return results.case_record(CASE, rows or [row()], {"x": "3 float64"}, machine_facts(threads=2))


def test_the_median_is_reported_and_every_time_is_kept():
    stored = record()["rows"][0]
    assert stored["median_seconds"] == 2.0
    assert stored["seconds"] == [1.0, 5.0, 2.0]
    assert stored["peak_mb"] == 20.0
    assert stored["quality"] == 0.5


def test_a_failed_row_has_its_reason_and_no_median():
    failed = Row("lightgbm", None, status="failed", reason="killed by SIGKILL", seconds=[1.0])
    stored = results.row_record(failed)
    assert stored["median_seconds"] is None
    assert stored["reason"] == "killed by SIGKILL"


def test_a_yardstick_has_no_quality():
    assert results.row_record(row(quality=(None, None, None)))["quality"] is None


def test_the_exponent_of_quadratic_times_is_two():
    rows = [row(n=n, seconds=[3e-6 * n**2] * 3) for n in (100, 200, 400)]
    assert results.exponents(rows)["eigenwood"] == pytest.approx(2.0, abs=1e-3)


def test_one_size_gives_no_exponent():
    assert results.exponents([row(n=100)]) == {}


def test_the_schema_is_complete(tmp_path):
    file = results.store("toy", {"plain": record()}, tmp_path)
    stored = json.loads(file.read_text())
    assert set(stored) == {"schema", "method", "cases"}
    case = stored["cases"]["plain"]
    assert set(case) == {"date", "machine", "data", "target", "quality", "rows", "exponents"}
    assert set(case["machine"]) == {"cpu", "cores", "system", "python", "blas", "libraries", "threads"}
    assert {"numpy", "scikit-learn", "eigenwood"} <= set(case["machine"]["libraries"])
    assert set(case["rows"][0]) == {
        "contender",
        "n",
        "status",
        "reason",
        "seconds",
        "median_seconds",
        "quality",
        "peak_mb",
    }


def test_cases_that_did_not_run_are_kept(tmp_path):
    results.store("toy", {"first": record(), "second": record()}, tmp_path)
    changed = record() | {"target": "changed"}
    file = results.store("toy", {"second": changed}, tmp_path)
    cases = json.loads(file.read_text())["cases"]
    assert cases["first"]["target"] == "be quick"
    assert cases["second"]["target"] == "changed"


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    file = results.store("toy", {"plain": record()}, tmp_path)
    before = file.read_text()

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        results.store("toy", {"other": record()}, tmp_path)
    assert file.read_text() == before
    assert os.listdir(tmp_path) == ["toy.json"]


def test_no_path_and_no_host_name_is_stored(tmp_path):
    text = results.store("toy", {"plain": record()}, tmp_path).read_text()
    assert str(Path.home()) not in text
    assert os.getcwd() not in text
    assert platform.node() not in text


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("cannot open '/home/me/data.csv'", "cannot open '<path>'"),
        ("cannot open C:\\Users\\me\\data.csv now", "cannot open <path> now"),
        ("1.5 m/s and rows/columns", "1.5 m/s and rows/columns"),
        (f"refused by {platform.node()}", "refused by <host>"),
    ],
)
def test_reasons_are_fit_to_publish(text, published):
    assert publishable(text) == published
