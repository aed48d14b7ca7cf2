"""The command, as a person uses it: in a process of its own, in an empty folder."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import eigenwood
from eigenwood import DecisionTreeClassifier, KernelPerceptron, TableEncoder
from eigenwood.cli.main import app
from eigenwood.data import datasets
from eigenwood.data.tables import read_table, write_table
from eigenwood.runs.frames import labels_of
from tests.cli.running import MAIN, ran, ran_anew
from tests.runs import fakes

pytestmark = pytest.mark.slow

# in the order of use: each leaves what the next needs
COMMANDS = ["learn", "predict", "show", "verify", "reduce", "datasets", "info"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the example of ``learn`` has run."""
    place = tmp_path_factory.mktemp("command")
    done = ran("learn heart --target disease --out heart-run", place)
    assert done.returncode == 0, done.stderr
    return place


def test_every_command_is_tested():
    assert sorted(COMMANDS) == sorted(command.name or command.callback.__name__ for command in app.registered_commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_in_the_help_runs(command, folder):
    help_text = ran(f"{command} --help", folder).stdout
    example = re.search(r"Example:\s+eigenwood (.+)", help_text)
    assert example, help_text
    words = re.split(r"\s{3,}|│", example.group(1))[0].strip()
    done = ran(words, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stderr


def test_learn_leaves_a_model_a_run_and_a_page(folder):
    assert sorted(path.name for path in (folder / "heart-run").iterdir()) == [
        "model.safetensors",
        "report.html",
        "run.json",
    ]
    run = json.loads((folder / "heart-run" / "run.json").read_text())
    assert run["assessment"]["score"] > run["assessment"]["baseline"]
    assert eigenwood.load(folder / "heart-run" / "model.safetensors").classes_.tolist() == ["no", "yes"]


def test_progress_is_plain_lines_where_there_is_no_terminal(tmp_path):
    done = ran("learn play_tennis", tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\[0/\d+\] perceptron, fold 1 of \d$", done.stderr, flags=re.MULTILINE)
    assert "\x1b" not in done.stderr + done.stdout
    assert (tmp_path / "eigenwood-play_tennis" / "report.html").exists()


def test_predictions_go_to_a_file(folder):
    done = ran("predict heart-run/model.safetensors heart --out out.parquet", folder)
    assert done.returncode == 0, done.stderr
    assert read_table(folder / "out.parquet").n_rows == 303


def test_a_file_works_like_a_name(folder, tmp_path):
    with datasets.bundled_file("heart.csv") as path:
        (tmp_path / "mine.csv").write_bytes(path.read_bytes())
    done = ran("learn mine.csv --target disease", tmp_path)
    assert done.returncode == 0, done.stderr
    mine = json.loads((tmp_path / "eigenwood-mine" / "run.json").read_text())
    bundled = json.loads((folder / "heart-run" / "run.json").read_text())
    assert mine["assessment"] == bundled["assessment"]


ROOT = str(Path(__file__).parents[2])
AMOUNTS = f"import sys; sys.path.insert(0, {ROOT!r}); from tests.runs import fakes; fakes.install(); {MAIN}"


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """A folder in which a table of houses lies and their prices were learnt, and how to run words there."""
    place = tmp_path_factory.mktemp("prices")
    write_table(fakes.houses(), place / "houses.csv")

    def run(words: str) -> subprocess.CompletedProcess:
        done = ran(words, place, AMOUNTS)
        assert done.returncode == 0, done.stderr
        return done

    return place, run, run("learn houses.csv --target price --out run")


def test_amounts_are_learnt_like_classes(priced):
    place, _, done = priced
    assert re.search(r"^R² is 0\.9\d+ on 50 blind test rows .*\.$", done.stdout, flags=re.MULTILINE)
    run = json.loads((place / "run" / "run.json").read_text())
    assert (run["task"], run["assessment"]["metric"]) == ("regression", "R²")
    assert "predicted" in (place / "run" / "report.html").read_text()


def test_amounts_are_predicted(priced):
    place, run, _ = priced
    lines = run("predict run/model.safetensors houses.csv").stdout.split()
    run("predict run/model.safetensors houses.csv --out out.csv")
    assert read_table(place / "out.csv").frame["prediction"].to_pylist() == [float(line) for line in lines]
    assert len(lines) == 200
    assert "LeastSquares" in run("show run/model.safetensors").stdout


BAD = {
    "learn absent.csv --target y": 2,
    "learn heart --target diseased": 2,
    "learn heart --seed -1": 2,
    "learn heart --out heart-run/run.json": 2,
    "learn heart --out heart-run/run.json/deeper": 2,
    "learn": 2,
    "dance": 2,
    "predict heart-run/run.json heart": 2,
    "predict heart-run/model.safetensors play_tennis": 2,
    "predict heart-run/model.safetensors heart --out out.docx": 2,
    "show absent.safetensors": 2,
    "verify heart-run/model.safetensors play_tennis --target play": 2,
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_sentence_and_status_2(words, folder):
    before = {path.name for path in folder.iterdir()}
    done = ran(words, folder)
    assert done.returncode == BAD[words], done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
    if done.stderr.startswith("eigenwood: "):
        assert done.stderr.count("\n") == 1
        assert done.stderr.strip().endswith(".")
    assert {path.name for path in folder.iterdir()} == before


def test_close_names_are_suggested(folder):
    assert "disease" in ran("learn heart --target diseased", folder).stderr


def mistakes_denied(X, y):
    model = Pipeline([("encoder", TableEncoder()), ("model", KernelPerceptron(max_iter=5))]).fit(X, y)
    model[-1].n_mistakes_ = model[-1].n_mistakes_ * 0.0
    return model


def questions_changed(X, y):
    model = Pipeline([("model", DecisionTreeClassifier(random_state=0))]).fit(X, y)
    nodes = model[-1].nodes_
    asks_for_number = (nodes.left != -1) & (np.diff(nodes.category_start) == 0)
    model[-1].nodes_ = nodes._replace(threshold=nodes.threshold + asks_for_number)
    return model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tampered", [mistakes_denied, questions_changed])
def test_a_tampered_model_does_not_verify(tampered, tmp_path):
    heart = datasets.load("heart").table()
    model = tampered(heart.drop(["disease"]).frame, labels_of(heart, "disease"))
    eigenwood.save(model, tmp_path / "model.safetensors")
    done = ran("verify model.safetensors heart", tmp_path)
    assert done.returncode == 1
    assert "NOT all claims hold" in done.stdout


def test_debug_shows_the_traceback(folder):
    assert "Traceback" in ran("--debug learn absent.csv --target y", folder).stderr


def test_a_failed_job_is_status_1(folder):
    broken = "import eigenwood.cli.jobs as jobs; jobs.learn = lambda *_: 1 / 0; " + MAIN
    done = ran_anew("learn play_tennis", folder, broken)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "the job failed" in done.stderr


def test_a_folder_of_the_same_name_does_not_hide_a_data_set(tmp_path):
    (tmp_path / "play_tennis").mkdir()
    assert ran("learn play_tennis --out run", tmp_path).returncode == 0


def test_a_strange_run_beside_a_model_matters_only_to_verify(folder, tmp_path):
    (tmp_path / "model.safetensors").write_bytes((folder / "heart-run" / "model.safetensors").read_bytes())
    (tmp_path / "run.json").write_text("{}")
    assert ran("show model.safetensors", tmp_path).returncode == 0
    assert ran("predict model.safetensors heart", tmp_path).returncode == 0
    assert ran("verify model.safetensors heart", tmp_path).returncode == 2
