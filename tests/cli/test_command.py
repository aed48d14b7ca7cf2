"""The command, as a person uses it: in a process of its own, in an empty folder."""

from __future__ import annotations

import json
import re
import shutil
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
from tests.runs.tables_of_learn import houses

pytestmark = pytest.mark.slow

# in the order of use: each leaves what the next needs
COMMANDS = [
    "learn", "predict", "show", "verify", "replay", "report", "reduce", "embed", "words", "datasets", "info"
]  # fmt: skip
FILES = ["model.safetensors", "report.html", "run.json"]
TREE = "--models decision-tree"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the run of a tree, which tests may read, and no more."""
    place = tmp_path_factory.mktemp("command")
    done = ran(f"learn heart --out heart-run {TREE}", place)
    assert done.returncode == 0, done.stderr
    return place


def files_in(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def record_in(place: Path) -> dict:
    return json.loads((place / "run.json").read_text())


def test_every_command_is_tested():
    assert sorted(COMMANDS) == sorted(command.name or command.callback.__name__ for command in app.registered_commands)


def test_the_examples_in_the_help_run_one_after_the_other(tmp_path):
    for command in COMMANDS:
        help_text = ran(f"{command} --help", tmp_path).stdout
        example = re.search(r"Example:\s+eigenwood (.+)", help_text)
        assert example, help_text
        words = re.split(r"\s{3,}|│", example.group(1))[0].strip()
        done = ran(words, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout.strip(), command
        assert "Traceback" not in done.stderr


# --- learn --------------------------------------------------------------------------------------------


def test_learn_leaves_a_model_a_run_and_a_page(folder):
    assert files_in(folder / "heart-run") == FILES
    assessment = record_in(folder / "heart-run")["assessment"]
    assert assessment["score"] > assessment["baseline"]
    assert eigenwood.load(folder / "heart-run" / "model.safetensors").classes_.tolist() == ["no", "yes"]
    assert "</html>" in (folder / "heart-run" / "report.html").read_text()


def test_learn_says_the_result_and_what_was_written(tmp_path):
    done = ran(f"learn play_tennis {TREE}", tmp_path)
    run = record_in(tmp_path / "eigenwood-play_tennis")
    assert done.returncode == 0, done.stderr
    assert run["assessment"]["headline"] in done.stdout
    assert re.search(r"^Not used: .*day", done.stdout, flags=re.MULTILINE)
    assert re.search(r"^Certificate: .*\.$", done.stdout, flags=re.MULTILINE)
    assert all(str(Path("eigenwood-play_tennis", name)) in done.stdout for name in FILES)


def test_progress_is_a_few_plain_lines_where_there_is_no_terminal(folder, tmp_path):
    done = ran("learn play_tennis --models decision-tree,svm", tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^\[\d+ s\] 10 rows to learn play_tennis from 4 columns, 4 put aside", done.stderr, flags=re.MULTILINE
    )
    assert re.search(r"\[\d+ s\] fitting the final model to 10 rows$", done.stderr, flags=re.MULTILINE)
    assert "\x1b" not in done.stderr + done.stdout
    assert done.stderr.count("\n") <= 11  # ten a minute, and what was left out at the end


def test_verbose_shows_every_claim(tmp_path):
    plain = ran(f"learn play_tennis {TREE} --out plain", tmp_path)
    wordy = ran(f"learn play_tennis {TREE} --out wordy --verbose", tmp_path)
    claims = [claim["name"] for claim in record_in(tmp_path / "wordy")["certificate"]["claims"]]
    assert claims
    assert all(name in wordy.stdout for name in claims)
    assert not all(name in plain.stdout for name in claims)


def test_a_file_works_like_a_name(folder, tmp_path):
    with datasets.bundled_file("heart.csv") as path:
        (tmp_path / "mine.csv").write_bytes(path.read_bytes())
    done = ran(f"learn mine.csv --target disease {TREE}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert record_in(tmp_path / "eigenwood-mine")["assessment"] == record_in(folder / "heart-run")["assessment"]


def test_a_folder_of_the_same_name_does_not_hide_a_data_set(tmp_path):
    (tmp_path / "play_tennis").mkdir()
    assert ran(f"learn play_tennis --out run {TREE}", tmp_path).returncode == 0


def test_a_time_limit_holds_and_is_recorded(tmp_path):
    done = ran(f"learn heart --time 4s --out run {TREE}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert record_in(tmp_path / "run")["settings"]["time_limit"] == 4.0
    assert sum(record_in(tmp_path / "run")["seconds"].values()) < 4.0


# --- a run that is there already ----------------------------------------------------------------------


def test_the_folder_that_nobody_named_is_a_new_one_each_time(tmp_path):
    for _ in range(2):
        assert ran(f"learn play_tennis {TREE}", tmp_path).returncode == 0
    assert files_in(tmp_path) == ["eigenwood-play_tennis", "eigenwood-play_tennis-2"]


def test_a_finished_run_is_overwritten_only_with_force(folder, tmp_path):
    shutil.copytree(folder / "heart-run", tmp_path / "run")
    before = record_in(tmp_path / "run")
    words = f"learn play_tennis --out run {TREE}"
    for more in ("", " --resume"):
        refused = ran(words + more, tmp_path)
        assert refused.returncode == 2
        assert "--force" in refused.stderr
        assert record_in(tmp_path / "run") == before
    assert ran(words + " --force", tmp_path).returncode == 0
    assert record_in(tmp_path / "run")["table"] == "play_tennis"
    assert files_in(tmp_path / "run") == FILES


KILLED = (
    """
import os, eigenwood.runs.learn as stages
stages.final_model = lambda *_: os._exit(9)
"""
    + MAIN
)


@pytest.fixture
def killed(tmp_path):
    """A folder in which a run was killed before its final fit."""
    done = ran(f"learn heart --out run {TREE}", tmp_path, KILLED)
    assert done.returncode == 9
    assert files_in(tmp_path / "run") == [".journal"]
    return tmp_path


def test_an_unfinished_run_goes_on_with_resume(killed, folder):
    words = f"learn heart --out run {TREE}"
    refused = ran(words, killed)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    done = ran(words + " --resume", killed)
    assert done.returncode == 0, done.stderr
    assert files_in(killed / "run") == FILES
    models = [(place / "model.safetensors").read_bytes() for place in (killed / "run", folder / "heart-run")]
    assert models[0] == models[1]


def test_resume_with_other_settings_is_refused_and_force_begins_anew(killed):
    words = f"learn heart --out run --seed 7 {TREE}"
    refused = ran(words + " --resume", killed)
    assert refused.returncode == 2
    assert "the run began with" in refused.stderr
    assert files_in(killed / "run") == [".journal"]
    assert ran(words + " --force", killed).returncode == 0
    assert files_in(killed / "run") == FILES


# --- what is done with a model ------------------------------------------------------------------------


def test_predictions_go_to_a_file(folder, tmp_path):
    done = ran(f"predict {folder}/heart-run/model.safetensors heart --proba --out out.parquet", tmp_path)
    assert done.returncode == 0, done.stderr
    predictions = read_table(tmp_path / "out.parquet", kinds={"prediction": "category"}).frame
    assert predictions.column_names == ["prediction", "probability of no", "probability of yes"]
    assert predictions.num_rows == 303
    shares = np.column_stack([predictions[name].to_numpy() for name in predictions.column_names[1:]])
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_predictions_are_shown_without_a_file(folder):
    done = ran("predict heart-run/model.safetensors heart", folder)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"no", "yes"}
    assert done.stdout.count("\n") == 303


def test_replay_makes_the_same_file(folder, tmp_path):
    done = ran(f"replay {folder}/heart-run/run.json --out {tmp_path}/again.safetensors", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.safetensors").read_bytes() == (folder / "heart-run" / "model.safetensors").read_bytes()


def test_report_writes_the_page_again(folder, tmp_path):
    done = ran(f"report {folder}/heart-run --out {tmp_path}/page.html", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").read_text() == (folder / "heart-run" / "report.html").read_text()


def test_verify_says_that_all_claims_hold(folder):
    done = ran("verify heart-run/model.safetensors heart", folder)
    assert done.returncode == 0, done.stderr
    assert "the 303 rows it learnt from: all claims hold" in done.stdout


def test_a_strange_run_beside_a_model_matters_only_to_verify(folder, tmp_path):
    (tmp_path / "model.safetensors").write_bytes((folder / "heart-run" / "model.safetensors").read_bytes())
    (tmp_path / "run.json").write_text("{}")
    assert ran("show model.safetensors", tmp_path).returncode == 0
    assert ran("predict model.safetensors heart", tmp_path).returncode == 0
    assert ran("verify model.safetensors heart", tmp_path).returncode == 2


# --- amounts ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """A folder in which a table of houses lies and their prices were learnt, and what the command said."""
    place = tmp_path_factory.mktemp("prices")
    write_table(houses(), place / "houses.csv")
    done = ran("learn houses.csv --target price --out run --models regression-tree", place)
    assert done.returncode == 0, done.stderr
    return place, done


def test_amounts_are_learnt_like_classes(priced):
    place, done = priced
    run = record_in(place / "run")
    assert (run["task"], run["metric"]) == ("regression", "r2")
    assert re.search(r"^Explains \d+ % of the variance of 'price' \(R² 0\.\d+, ", done.stdout, flags=re.MULTILINE)
    assert run["assessment"]["score"] > 0.8
    assert "predicted" in (place / "run" / "report.html").read_text()


def test_amounts_are_predicted(priced, tmp_path):
    place, _ = priced
    lines = ran("predict run/model.safetensors houses.csv", place).stdout.split()
    done = ran(f"predict run/model.safetensors houses.csv --out {tmp_path}/out.csv", place)
    assert done.returncode == 0, done.stderr
    assert read_table(tmp_path / "out.csv").frame["prediction"].to_pylist() == [float(line) for line in lines]
    assert len(lines) == 200
    assert "DecisionTreeRegressor" in ran("show run/model.safetensors", place).stdout


def test_amounts_have_no_probabilities(priced):
    done = ran("predict run/model.safetensors houses.csv --proba", priced[0])
    assert done.returncode == 2
    assert done.stderr.startswith("eigenwood: predict: --proba must be asked of a model of classes")


# --- bad input ----------------------------------------------------------------------------------------

BAD = {
    "learn absent.csv --target y": 2,
    "learn haert": 2,
    "learn heart --target diseased": 2,
    "learn heart --seed -1": 2,
    "learn heart --test 0.95": 2,
    "learn heart --time 0s": 2,
    "learn heart --time soon": 2,
    "learn heart --models decision-three": 2,
    "learn heart --metric AUK": 2,
    "learn heart --kind age": 2,
    "learn heart --kind age=figure": 2,
    "learn heart --kind agee=number": 2,
    "learn heart --drop agee": 2,
    "learn heart --use agee": 2,
    "learn heart --group agee": 2,
    "learn heart --order agee": 2,
    "learn heart --weights agee": 2,
    "learn heart --drop disease": 2,
    "learn heart --out heart-run": 2,
    "learn heart --out heart-run/run.json": 2,
    "learn heart --out heart-run/run.json/deeper": 2,
    "learn": 2,
    "dance": 2,
    "predict heart-run/run.json heart": 2,
    "predict heart-run/model.safetensors play_tennis": 2,
    "predict heart-run/model.safetensors heart --out out.docx": 2,
    "replay absent/run.json": 2,
    "replay heart-run/model.safetensors": 2,
    "replay heart-run/run.json play_tennis": 2,
    "replay heart-run/run.json heart --out absent/model.safetensors": 2,
    "report absent": 2,
    "report heart-run/model.safetensors": 2,
    "report heart-run --out absent/page.html": 2,
    "show absent.safetensors": 2,
    "verify heart-run/model.safetensors play_tennis --target play": 2,
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_sentence_and_status_2(words, folder):
    before = files_in(folder)
    done = ran(words, folder)
    assert done.returncode == BAD[words], done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
    if "Usage:" not in done.stderr:
        assert done.stderr.startswith("eigenwood: ")
        assert done.stderr.count("\n") == 1
        assert done.stderr.strip().endswith(".")
    assert files_in(folder) == before
    assert files_in(folder / "heart-run") == FILES


ROWS = "".join(f"{i},{i % 7}.5,{'yes' if i % 3 else 'no'}\n" for i in range(60))
BAD_TABLES = {
    "empty.csv": (b"", "empty.csv: must have a header and at least one row; got an empty file."),
    "header.csv": (b"a,b,y\n", "header.csv: must have at least one row below the header; got none."),
    "bytes.csv": (b"\x89\x00\xff\n" * 50, "bytes.csv: row 1 must be UTF-8 text; got the byte 0x89."),
    "bytes.parquet": (b"\x89\x00\xff\n" * 50, "bytes.parquet: must be a whole Parquet file; got one that breaks: "),
    "mixed.csv": (
        f"a,b,y\n{ROWS}".encode() + b"7,8,n\xe4\n",
        "mixed.csv: row 62 must be UTF-8 text; got the byte 0xe4.",
    ),
    "long.csv": (
        f"a,b,y\n{ROWS}7,8,yes,9\n".encode(),
        "long.csv: row 62 must have 3 columns like the header; got 4, more after 'y'.",
    ),
    "short.csv": (
        f"a,b,y\n{ROWS}7\n".encode(),
        "short.csv: row 62 must have 3 columns like the header; got 1, nothing for 'b'.",
    ),
    "twice.csv": (f"a,a,y\n{ROWS}".encode(), "twice.csv: column names must differ; got 'a' 2 times."),
    "one_class.csv": (b"b,y\n" + b"1,yes\n2,yes\n2.5,yes\n" * 9, "one_class: target 'y' must hold at least two "),
    "no_target.csv": (b"b,y\n" + b"1,\n2,\n2.5,\n" * 9, "no_target: target 'y' must hold at least two different "),
    "names.csv": (
        b"b,y\n" + b"".join(b"%d,name %d\n" % (i % 9, i) for i in range(40)),
        "names: every class of 'y' must have at least 3 rows to learn, tune and test; got 1 of 'name 0'.",
    ),
    "few.csv": (b"b,y\n1,no\n2,yes\n3,no\n2,yes\n", "few: every class of 'y' must have at least 3 rows "),
    "target_only.csv": (b"y\n" + b"no\nyes\n" * 20, "target_only: must have a column to learn from beside 'y'; got "),
    "infinite.csv": (
        f"a,b,y\n{ROWS}7,inf,yes\n".encode(),
        "infinite: column 'b' must hold finite numbers, or nothing ",
    ),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_one_sentence_and_nothing_is_written(name, tmp_path):
    content, sentence = BAD_TABLES[name]
    (tmp_path / name).write_bytes(content)
    done = ran(f"learn {name} --target y", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"eigenwood: {sentence}")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(".\n")
    assert files_in(tmp_path) == [name]


def test_with_too_little_time_there_is_a_model_that_says_so(tmp_path):
    done = ran(f"learn heart --out run --time 1s {TREE}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "There was no time for a fit to all training rows" in done.stdout
    assert files_in(tmp_path / "run") == ["model.safetensors", "report.html", "run.json"]


NO_ROOM = (
    """
import eigenwood.learning as learning

def full(*_):
    raise OSError(28, "No space left on device")

learning.save = full
"""
    + MAIN
)


def test_a_full_disk_is_one_sentence_and_the_run_can_go_on(tmp_path):
    words = f"learn heart --out run {TREE}"
    done = ran(words, tmp_path, NO_ROOM)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "the job failed: OSError: [Errno 28] No space left on device" in done.stderr
    assert files_in(tmp_path / "run") == [".journal"]
    assert ran(words + " --resume", tmp_path).returncode == 0
    assert files_in(tmp_path / "run") == FILES


AWKWARD = ['a "quoted" one', "<b onclick='x'>bold</b>", "c,o;m'ma [red] 😀", "answer <y>&"]


def test_awkward_names_and_labels_go_through_everything(tmp_path):
    rng = np.random.default_rng(0)
    x, place = rng.normal(size=(2, 60))
    columns = [
        x,
        place,
        rng.choice(["[u]", 'é, "v"'], 60),
        np.where(x > 0.5, "<script>alert(1)</script>", "no [bold] 😀"),
    ]
    write_table(dict(zip(AWKWARD, columns, strict=True)), tmp_path / "t.csv")
    done = ran(f"learn t.csv --target '{AWKWARD[3]}' {TREE} --out run", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "'no [bold] 😀'" in done.stdout
    assert "<script>alert" not in (tmp_path / "run" / "report.html").read_text()
    assert ran("verify run/model.safetensors t.csv", tmp_path).returncode == 0
    assert ran("replay run/run.json t.csv", tmp_path).returncode == 0
    assert ran("predict run/model.safetensors t.csv --proba --out p.csv", tmp_path).returncode == 0
    assert "probability of no [bold] 😀" in read_table(tmp_path / "p.csv").frame.column_names


def test_replay_of_a_run_that_learnt_from_a_file_asks_for_it(priced):
    done = ran("replay run/run.json", priced[0])
    assert done.returncode == 2
    assert "replay must be given the table that the run learnt from" in done.stderr


NEW_ROWS = {
    "shuffled.csv": (["price", "town", "more", "size"], 0, ""),
    "lacking.csv": (["town"], 2, "lacking.csv: lacks the column 'size', which the model learnt from."),
    "case.csv": (["town", "Size"], 2, "case.csv: lacks the column 'size', which the model learnt from ('Size' may be"),
}


@pytest.mark.parametrize("name", NEW_ROWS)
def test_columns_of_new_tables_are_found_by_name(name, priced, tmp_path):
    names, status, sentence = NEW_ROWS[name]
    values = {"size": [70.0, None, 90.5], "town": ["a", "somewhere new", None], "more": [1, 2, 3], "price": [0, 0, 0]}
    write_table({column: values[column.lower()] for column in names}, tmp_path / name)
    done = ran(f"predict {priced[0]}/run/model.safetensors {name} --out p.csv", tmp_path)
    assert done.returncode == status
    assert sentence in done.stderr
    assert (tmp_path / "p.csv").exists() == (status == 0)


def test_close_names_are_suggested(folder):
    assert "(did you mean 'disease'?)" in ran("learn heart --target diseased", folder).stderr


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


def test_the_version_is_shown(folder):
    assert ran("--version", folder).stdout == f"eigenwood {eigenwood.__version__}\n"


def test_debug_shows_the_traceback(folder):
    assert "Traceback" in ran("--debug learn absent.csv --target y", folder).stderr


def test_a_failed_job_is_status_1(tmp_path):
    broken = "import eigenwood.cli.jobs as jobs; jobs.learn = lambda *_, **__: 1 / 0; " + MAIN
    done = ran_anew("learn play_tennis", tmp_path, broken)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "the job failed: ZeroDivisionError" in done.stderr
    assert files_in(tmp_path) == []
