"""``learn`` against rivals: scores, ranks, what is run, what is printed and kept."""

import json
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from benchmarks import bench_learn, learn_scores, learn_systems, learn_tables, results
from benchmarks.learn_ranking import comparison
from benchmarks.learn_systems import FAILED, MISSING, OK, SYSTEMS, written_job
from benchmarks.worker import publishable

TOY = Path(__file__).parent / "toy" / "learn_command.py"


@pytest.fixture(autouse=True)
def toy_command(tmp_path, monkeypatch):
    """Let the command be the toy, and tables and results lie in a temporary folder."""
    monkeypatch.setenv(learn_tables.VARIABLE, str(tmp_path / "tables"))
    monkeypatch.setenv(learn_systems.COMMAND_VARIABLE, f"{sys.executable} {TOY}")
    monkeypatch.delenv(learn_systems.RIVALS_VARIABLE, raising=False)
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")


def answers(tmp_path, **columns):
    file = tmp_path / "answers.parquet"
    pa.parquet.write_table(pa.table(columns), file)
    return file


# --- scores ------------------------------------------------------------------------------------------


def test_scores_of_classes_are_those_of_the_textbook(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    likely = np.round(np.clip(0.3 * truth + rng.random(60), 0, 1), 1)
    labels = (likely > 0.6).astype(int)
    file = answers(tmp_path, prediction=labels, **{"probability of 0": 1 - likely, "probability of 1": likely})
    found = learn_scores.scores_of(file, truth, learn_tables.CLASSES)
    pairs = list(product(likely[truth == 1], likely[truth == 0]))
    assert found["accuracy"] == pytest.approx(sum(labels == truth) / 60)
    assert found["balanced_accuracy"] == pytest.approx(
        (sum(labels[truth == 1] == 1) / sum(truth == 1) + sum(labels[truth == 0] == 0) / sum(truth == 0)) / 2
    )
    assert found["auc"] == pytest.approx(sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs))


def test_a_class_may_be_written_as_number_or_word(tmp_path):
    file = answers(tmp_path, prediction=["1", "0.0", "1"], **{"score of 1.0": [0.9, -0.1, 0.2]})
    assert learn_scores.scores_of(file, np.array([1, 0, 1]), learn_tables.CLASSES)["auc"] == 1.0


def test_scores_of_amounts(tmp_path):
    truth = np.array([1.0, 2.0, 4.0])
    file = answers(tmp_path, prediction=[1.0, 2.0, 3.0])
    assert learn_scores.scores_of(file, truth, learn_tables.AMOUNTS) == {"r2": pytest.approx(1 - 1 / (14 / 3))}


@pytest.mark.parametrize(
    ("predictions", "sentence"),
    [(["a"], "2 predictions were wanted; got 1"), (["a", None], "1 predictions are missing")],
)
def test_incomplete_predictions_are_refused(tmp_path, predictions, sentence):
    with pytest.raises(ValueError, match=sentence):
        learn_scores.scores_of(answers(tmp_path, prediction=predictions), np.array(["a", "b"]), learn_tables.CLASSES)


# --- systems -----------------------------------------------------------------------------------------


def outcome(system, table, tmp_path, seconds=5):
    parts = learn_tables.parts(table, 0)
    job = written_job(table, parts, tmp_path, seconds, 1, 0)
    own = tmp_path / system
    own.mkdir()
    return SYSTEMS[system](job, own), parts.truth


def test_ours_learns_and_predicts_as_two_commands(tmp_path):
    found, truth = outcome("ours", "thirty", tmp_path)
    assert found.status == OK
    assert 0.0 < found.learn_seconds < found.seconds
    assert found.scores["accuracy"] in (np.mean(truth == "no"), np.mean(truth == "yes"))
    assert found.scores["auc"] == 0.5


def test_no_system_is_shown_the_truth(tmp_path):
    outcome("ours", "thirty", tmp_path)
    blind = (tmp_path / "blind.csv").read_text()
    assert blind.splitlines()[0] == ",".join(f'"x{j}"' for j in range(8))
    assert not any(word in blind for word in ("yes", "no"))


def test_a_command_that_fails_is_told_by_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setenv(learn_systems.COMMAND_VARIABLE, f"{sys.executable} -c 1/0")
    found, _ = outcome("ours", "thirty", tmp_path)
    assert (found.status, found.reason) == (FAILED, "learn ended with status 1: ZeroDivisionError: division by zero")


@pytest.mark.parametrize(("table", "least"), [("heart", 0.7), ("dates", 0.85)])
def test_a_rival_runs_in_a_process_of_its_own(table, least, tmp_path):
    found, _ = outcome("hist-gradient-boosting", table, tmp_path)
    assert found.status == OK, found.reason
    assert found.scores[learn_tables.TABLES[table].metric] > least
    assert found.version


@pytest.mark.skipif(find_spec("flaml") is not None, reason="is installed")
def test_a_rival_that_is_not_installed_is_missing(tmp_path):
    assert outcome("flaml", "thirty", tmp_path)[0].status == MISSING


def test_rivals_may_have_interpreters_of_their_own(monkeypatch):
    monkeypatch.setenv(learn_systems.RIVALS_VARIABLE, "flaml=/one/python,mljar=/two/python")
    assert learn_systems.rival_python("mljar") == "/two/python"
    assert learn_systems.rival_python("autogluon") == sys.executable
    monkeypatch.setenv(learn_systems.RIVALS_VARIABLE, "/all/python")
    assert learn_systems.rival_python("mljar") == "/all/python"


# --- the command -------------------------------------------------------------------------------------


def called(*words):
    return CliRunner().invoke(bench_learn.app, list(words))


def test_a_run_is_printed_and_kept_and_joined_by_later_ones(tmp_path):
    first = called("--tables", "thirty,wine", "--seconds", "5", "--systems", "ours")
    assert first.exit_code == 0, first.output
    assert "thirty (30 x 8)" in first.output
    called("--tables", "wine", "--seconds", "5", "--systems", "hist-gradient-boosting")
    text = (tmp_path / "results" / "learn.json").read_text()
    stored = json.loads(text)["cases"]
    assert list(stored["wine, 5 s, seeds 0-0"]["systems"]) == ["ours", "hist-gradient-boosting"]
    assert text == publishable(text)
    shown = called("--show", "--tables", "wine", "--seconds", "5")
    assert "- wine: hist-gradient-boosting" in shown.output


def test_scores_of_several_splits_are_averaged(tmp_path):
    called("--tables", "wine", "--seconds", "5", "--systems", "ours", "--repeats", "2", "--seed", "4")
    stored = json.loads((tmp_path / "results" / "learn.json").read_text())["cases"]["wine, 5 s, seeds 4-5"]
    found = stored["systems"]["ours"]
    assert len(found["scores"]) == len(found["seconds"]) == 2
    assert found["means"]["accuracy"] == pytest.approx(np.mean([s["accuracy"] for s in found["scores"]]), abs=1e-4)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["--tables", "x"], "--tables must be among"), (["--systems", "x"], "--systems must be among ours, ")],
)
def test_what_cannot_be_chosen_is_said_in_one_sentence(words, sentence):
    answer = called(*words)
    assert answer.exit_code == 2
    assert sentence in answer.output


# --- what is printed ---------------------------------------------------------------------------------


def record(table, metric="accuracy", limit=10, **scores):
    """Return a record of made-up scores; None is a failure."""
    return {
        "table": table,
        "metric": metric,
        "data": {"rows": 90, "columns": 4, "blind_rows": 30},
        "limit": limit,
        "systems": {
            name.replace("_", "-"): {
                "means": {} if score is None else {metric: score},
                "failures": ["out of memory"] if score is None else [],
                "seconds": [12.5 if name == "flaml" else 11.0],
                "learn_seconds": [9.0],
                "peak_mb": [200.0],
            }
            for name, score in scores.items()
        },
    }


def test_ranks_ties_failures_and_losses_are_printed():
    text = comparison(
        [record("one", ours=0.91, flaml=0.91, mljar=None), record("two", "r2", ours=0.5, flaml=0.4, mljar=0.7)]
    )
    assert "| one (90 x 4) | accuracy | 0.9100 (1.5) | 0.9100 (1.5) | failed (3) |" in text
    assert "| **mean rank of 2** |  | **1.75** | **2.25** | **2.00** |" in text
    assert "| one, 10 s | 9.0 + 2.0, 200 | 12.5 late, 200 | 11.0, 200 |" in text
    assert "A rival was before ours 1 times:\n- two: mljar 0.7000, ours 0.5000 (R² of 30 blind rows)" in text
    assert "- one: mljar failed: out of memory" in text


def test_a_failure_of_ours_is_a_loss_to_everybody():
    text = comparison([record("one", ours=None, flaml=0.1, mljar=0.2)])
    assert "A rival was before ours 2 times" in text
    assert "- one: mljar 0.2000, ours failed" in text


def test_who_had_no_turn_on_a_table_is_not_ranked_there():
    text = comparison([record("one", ours=0.9, flaml=0.8), record("two", ours=0.5)])
    assert "| **mean rank of 2** |  | **1.00** | **2.00** over 1 |" in text


def test_nothing_stored_is_said():
    assert comparison([]).startswith("Nothing is stored")
