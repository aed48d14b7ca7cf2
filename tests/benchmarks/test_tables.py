"""The Markdown table: ratios to ours, sizes, and rows without times."""

from benchmarks import results, tables
from benchmarks.case import Case, Quality
from benchmarks.rounds import Row

CASE = Case("plain", dict, {}, Quality("error", float, better="lower"), target="be quick")
FACTS = {"cpu": "A CPU", "cores": 4, "threads": 2}


def row(contender, seconds, n=None):
    return Row(contender, n, seconds=list(seconds), quality=[0.25] * 3, peak_mb=[10.0] * 3)


def lines(rows):
    record = results.case_record(CASE, rows, {"x": "3 float64"}, FACTS)
    return tables.case_table("plain", record).splitlines()


def test_ratios_are_medians_over_our_median():
    table = lines([row("eigenwood", (1.0, 2.0, 9.0)), row("numpy", (5.0, 6.0, 6.5))])
    assert "| contender | seconds (median) | spread | ratio to ours | error (lower is better) | peak MB |" in table
    assert "| eigenwood | 2 | 1 - 9 | 1.00 | 0.25 | 10 |" in table
    assert "| numpy | 6 | 5 - 6.5 | 3.00 | 0.25 | 10 |" in table


def test_data_machine_and_target_are_named():
    table = lines([row("eigenwood", (1.0, 1.0, 1.0))])
    assert "x: 3 float64; A CPU, 2 threads of 4 cores" in table
    assert "Target: be quick." in table


def test_sizes_have_rows_ratios_and_an_exponent_of_their_own():
    rows = [
        row("eigenwood", (1.0,) * 3, n=100),
        row("numpy", (3.0,) * 3, n=100),
        row("eigenwood", (2.0,) * 3, n=200),
        row("numpy", (12.0,) * 3, n=200),
    ]
    table = lines(rows)
    assert "| 100 | numpy | 3 | 3 - 3 | 3.00 | 0.25 | 10 |" in table
    assert "| 200 | numpy | 12 | 12 - 12 | 6.00 | 0.25 | 10 |" in table
    assert "eigenwood: time grows as n^1.00." in table
    assert "numpy: time grows as n^2.00." in table


def test_rows_without_times_say_why():
    rows = [
        row("eigenwood", (1.0,) * 3),
        Row("ydf", None, status="missing", reason="ydf is not installed (pip install .[bench])"),
        Row("gensim", None, status="failed", reason="ValueError: a | b"),
    ]
    table = lines(rows)
    assert "| ydf | skipped: ydf is not installed (pip install .[bench]) |  |  |  |  |" in table
    assert "| gensim | failed: ValueError: a / b |  |  |  |  |" in table


def test_without_ours_there_is_no_ratio():
    rows = [Row("eigenwood", None, status="failed", reason="killed by SIGKILL"), row("numpy", (1.0,) * 3)]
    assert "| numpy | 1 | 1 - 1 |  | 0.25 | 10 |" in lines(rows)
