"""Alternating fresh processes, and what becomes of contenders that cannot run."""

from pathlib import Path

import pytest

from benchmarks.discovery import cases_of
from benchmarks.rounds import Plan, contenders_chosen, rows_of

TOY = Path(__file__).parent / "toy" / "bench_toy.py"


def plan(case, repeats, rivals=None):
    case = cases_of(TOY)[case]
    return Plan(TOY, case, contenders_chosen(case, rivals), repeats, threads=1)


def silent(line):
    pass


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return the rows, the data and the log of three rounds."""
    log = tmp_path_factory.mktemp("toy") / "log.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOY_LOG", str(log))
        rows, data = rows_of(plan("plain", repeats=3), silent)
    return {row.contender: row for row in rows}, data, [line.split() for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def odd():
    rows, _ = rows_of(plan("odd", repeats=1), silent)
    return {row.contender: row for row in rows}


def test_contenders_take_turns(plain):
    assert [name for name, _, _ in plain[2]] == ["eigenwood", "numpy"] * 3


def test_every_run_is_a_fresh_process(plain):
    assert len({process for _, process, _ in plain[2]}) == 6


def test_the_number_of_threads_is_set_for_each_process(plain):
    assert {threads for _, _, threads in plain[2]} == {"1"}


def test_every_time_is_kept(plain):
    assert len(plain[0]["eigenwood"].seconds) == len(plain[0]["numpy"].seconds) == 3


def test_quality_is_scored(plain):
    assert plain[0]["eigenwood"].quality == [0.0] * 3
    assert plain[0]["numpy"].quality == [1.0] * 3


def test_data_are_described(plain):
    assert plain[1] == {"x": "1000 float64", "source": "counted"}


def test_a_rival_that_is_not_installed_is_skipped_by_name(plain):
    row = plain[0]["absent"]
    assert row.status == "missing"
    assert row.reason == "a_rival_that_nobody_has is not installed (pip install .[bench])"


def test_ours_is_never_skipped_as_missing(odd):
    assert odd["eigenwood"].status == "failed"
    assert "eigenwood.not_yet_written" in odd["eigenwood"].reason


def test_a_yardstick_is_timed_but_not_scored(odd):
    assert odd["yardstick"].status == "ok"
    assert odd["yardstick"].quality == [None]


def test_peak_memory_is_that_of_the_run(odd):
    assert 60 < odd["hungry"].peak_mb[0] < 120  # ten million float64 are 80 MB
    assert odd["yardstick"].peak_mb[0] < 10


@pytest.mark.parametrize(
    ("contender", "reason"),
    [
        ("broken", "FileNotFoundError: [Errno 2] No such file: '<path>'"),
        ("aborting", "killed by SIGABRT"),
        ("undefined", "ValueError: error is nan"),
    ],
)
def test_a_contender_that_fails_is_reported_with_its_reason(odd, contender, reason):
    assert odd[contender].status == "failed"
    assert odd[contender].reason == reason


def test_over_time_is_a_failure_and_larger_sizes_are_not_tried():
    rows, _ = rows_of(plan("growing", repeats=1), silent)
    assert [(row.contender, row.n, row.status) for row in rows] == [
        ("eigenwood", 10, "ok"),
        ("endless", 10, "failed"),
        ("eigenwood", 20, "ok"),
        ("endless", 20, "failed"),
    ]
    assert rows[1].reason == rows[3].reason == "over the time limit of 3 s"


def test_data_that_cannot_be_made_are_an_error_without_paths():
    with pytest.raises(RuntimeError, match=r"no_data: the data could not be made: FileNotFoundError.*<path>"):
        rows_of(plan("no_data", repeats=1), silent)


def test_rivals_are_chosen_by_name_and_ours_always_runs():
    assert plan("plain", 1, rivals=["numpy"]).contenders == ("eigenwood", "numpy")
    assert plan("plain", 1, rivals=[]).contenders == ("eigenwood",)


def test_an_unknown_rival_is_refused():
    with pytest.raises(ValueError, match="plain: rivals must be among numpy, absent; got nobody"):
        plan("plain", 1, rivals=["nobody"])
