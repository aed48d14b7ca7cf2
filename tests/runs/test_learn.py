"""learn: the five stages, in their order, on small tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import Perceptron as Reference
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from eigenwood import Perceptron, TableEncoder
from eigenwood.data import datasets
from eigenwood.data.tables import read_table
from eigenwood.errors import TableError
from eigenwood.estimators.registry import ENTRIES, Entry
from eigenwood.runs import learn as stages
from eigenwood.runs.classification import blind_split
from eigenwood.runs.frames import labels_of
from eigenwood.runs.learn import learn
from eigenwood.runs.record import Run
from eigenwood.runs.settings import Settings

pytestmark = pytest.mark.slow


def two_blobs(n=60, **extra):
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    columns = {"a": rng.normal(size=n) + 4.0 * side, "b": rng.normal(size=n), "side": np.where(side, "right", "left")}
    return read_table(pa.table(columns | extra))


def test_beats_the_majority_by_more_than_chance(learned):
    assert learned.run.assessment.low > learned.run.assessment.baseline


def test_the_score_is_what_the_model_does_on_the_blind_rows(heart, learned):
    X, y = heart.drop(["disease"]).frame, labels_of(heart, "disease")
    split = blind_split("heart", "disease", y, Settings())
    right = learned.model.predict(X.take(split.test)) == y[split.test]
    assert learned.run.assessment.score == pytest.approx(right.mean())
    assert sum(map(sum, learned.run.assessment.confusion)) == right.size
    assert sum(row[i] for i, row in enumerate(learned.run.assessment.confusion)) == right.sum()


def test_the_blind_rows_are_not_used_before_the_end(heart, monkeypatch):
    seen = []
    original = TableEncoder.fit

    def fit(self, X, y=None):
        seen.append(X)
        return original(self, X, y)

    monkeypatch.setattr(TableEncoder, "fit", fit)
    split = blind_split("heart", "disease", labels_of(heart, "disease"), Settings())
    blind = {tuple(row.values()) for row in heart.take(split.test).drop(["disease"]).frame.to_pylist()}
    learn(heart, "disease", Settings())
    assert seen
    for frame in seen:
        assert not blind & {tuple(row.values()) for row in frame.to_pylist()}


def test_every_classifier_of_the_registry_is_a_candidate(learned):
    wanted = [(entry.name, params) for entry in ENTRIES if entry.task == "classification" for params in entry.tries]
    assert [(record.method, record.params) for record in learned.run.candidates] == wanted
    means = [record.mean_score for record in learned.run.candidates]
    assert learned.run.chosen == int(np.argmax(means))


def test_a_new_registry_line_is_a_new_candidate(monkeypatch):
    line = Entry("other", Reference, "classification", lambda *_: None, ({"max_iter": 7},))
    monkeypatch.setattr(stages, "ENTRIES", (*ENTRIES, line))
    assert stages.candidates_for("classification", "t", "y")[-1].entry.name == "other"


def test_fold_scores_are_scikit_learns(heart, learned):
    y = labels_of(heart, "disease")
    train = blind_split("heart", "disease", y, Settings()).train
    X, y = heart.drop(["disease"]).frame.to_pandas().iloc[train], y[train]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(TableEncoder(), Perceptron(random_state=0))
    assert learned.run.candidates[0].fold_scores == pytest.approx(cross_val_score(model, X, y, cv=folds))


def test_the_same_seed_gives_the_same_run(heart, learned):
    again = learn(heart, "disease", Settings()).run
    assert again.candidates[0].fold_scores == learned.run.candidates[0].fold_scores
    assert again.assessment == learned.run.assessment
    assert learn(heart, "disease", Settings(seed=1)).run.assessment != learned.run.assessment


def test_run_round_trip(learned, tmp_path):
    assert Run.load(learned.run.save(tmp_path / "run.json")) == learned.run


def test_columns_that_tell_nothing_are_not_used():
    n = 60
    table = two_blobs(row=pa.array(range(n)), same=pa.array(["x"] * n))
    use = {column.name: column.use for column in learn(table, "side", Settings()).run.columns}
    assert use == {
        "a": "feature",
        "b": "feature",
        "side": "target",
        "row": "not used: tells rows apart",
        "same": "not used: always the same",
    }


def test_rows_without_a_target_are_left_out():
    table = two_blobs()
    labels = table.frame["side"].to_pylist()
    labels[3] = labels[8] = None
    run = learn(read_table(table.frame.set_column(2, "side", pa.array(labels))), "side", Settings()).run
    assert (run.split.n_without_target, run.split.n_train + run.split.n_test) == (2, 58)


def test_numbers_as_labels_come_back_as_they_were_written():
    table = two_blobs()
    codes = pa.array([1.0 if side == "right" else 0.0 for side in table.frame["side"].to_pylist()])
    model = learn(read_table(table.frame.set_column(2, "side", codes)), "side", Settings()).model
    assert model.classes_.tolist() == ["0", "1"]


@pytest.mark.parametrize("name", ["play_tennis", "ten_points"])
def test_tiny_tables_work(name):
    dataset = datasets.load(name)
    run = learn(dataset.table(), dataset.target_name, Settings()).run
    assert run.split.n_test >= 2
    assert run.n_folds >= 2


def sentence(problem) -> str:
    text = str(problem.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_a_task_without_a_method_is_refused(monkeypatch):
    monkeypatch.setattr(stages, "ENTRIES", ())
    table = read_table(pa.table({"x": np.arange(30) ** 1.5, "y": np.arange(30) ** 0.5}))
    with pytest.raises(TableError) as problem:
        learn(table, "y", Settings())
    assert "no method for regression" in sentence(problem)


def test_a_class_of_two_rows_is_refused():
    labels = ["a"] * 20 + ["b"] * 2
    with pytest.raises(TableError) as problem:
        learn(read_table(pa.table({"x": np.arange(22) ** 0.5, "y": labels})), "y", Settings())
    assert sentence(problem) == (
        "table: every class of 'y' must have at least 3 rows to learn, tune and test; got 2 of 'b'."
    )


def test_nothing_to_learn_from_is_refused():
    table = read_table(pa.table({"same": ["x"] * 20, "y": ["a", "b"] * 10}))
    with pytest.raises(TableError) as problem:
        learn(table, "y", Settings())
    assert sentence(problem) == "table: must have a column of numbers or categories beside 'y'; got constant."


def test_the_time_limit_is_shared_by_all_fits(heart):
    model, run = learn(heart, "disease", Settings(time_limit=2.1))
    assert model[-1].time_limit == pytest.approx(2.1 / (len(run.candidates) * run.n_folds + 1))
