"""The search: a fixed sequence of trials, which the clock may end early and nothing else can change."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

from eigenwood.runs import search as searching
from eigenwood.runs.candidates import Candidate, ColumnFacts
from eigenwood.runs.clock import Clock
from eigenwood.runs.final import recipes_of
from eigenwood.runs.journal import Journal
from eigenwood.runs.metrics import metric_named
from eigenwood.runs.record import CUT, DROPPED, FINISHED, CandidateRecord
from eigenwood.runs.search import Search, quickest, sample_sizes, survivors
from eigenwood.runs.splitting import folds as folds_of
from eigenwood.runs.trials import SharedColumns, TrainingRows, Trial, run_trial, unranked
from eigenwood.runs.tuning import tuned

N_ROWS, N_CHECKED = 400, 100


def rows(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n_rows) < 0.5, "no", "yes")
    order = rng.permutation(n_rows)
    check, learn = np.sort(order[:N_CHECKED]), np.sort(order[N_CHECKED:])
    return TrainingRows(
        X=pa.table({"x": rng.normal(size=n_rows)}),
        y=y,
        weights=None,
        classes=np.array(["no", "yes"]),
        columns=ColumnFacts({"x": "number"}, {}),
        task="classification",
        metric=metric_named("accuracy", "classification"),
        positive=1,
        folds=[(learn, check)],
        seed=0,
    )


class Trials:
    """In place of ``run_trial``: a candidate has a skill, and takes seconds of a clock that is moved by hand."""

    def __init__(self, monkeypatch, skill, seconds=lambda candidate, n_rows: 0.0):
        self.asked, self._skill, self._seconds, self._now = [], skill, seconds, 0.0
        monkeypatch.setattr(searching, "run_trial", self)
        monkeypatch.setattr("eigenwood.estimators.watching.time.perf_counter", lambda: self._now)

    def __call__(self, candidate, data, shared, n_rows, n_folds, clock, bars=()):
        self.asked.append((candidate, n_rows))
        seconds, left = self._seconds(candidate, n_rows), clock.seconds_left()
        if left is not None and seconds > left:
            self._now += left
            return unranked(candidate, n_rows, CUT, left)
        self._now += seconds
        skill = self._skill(candidate, n_rows)
        checked = data.checked(n_folds)
        says = np.random.default_rng(crc32(repr(candidate).encode())).random(checked.size) < skill
        true = np.searchsorted(data.classes, data.y[checked])
        yes = np.where(says == (true == 1), 0.5 + skill / 2.1, 0.5 - skill / 2.1)
        predictions = np.column_stack([1.0 - yes, yes])
        found = data.score(checked, predictions)
        record = CandidateRecord(
            candidate.method, candidate.words(), n_rows, [found.value], found.value, found.loss, seconds
        )
        return Trial(candidate, record, predictions, None, None)


def found_by(trials, data, candidates, limit=None, n_tuned=0, events=None):
    clock = Clock(limit)
    report = (lambda name, **facts: events.append((name, facts))) if events is not None else (lambda *_, **__: None)
    return Search(data, clock, Journal(None, ""), report, 0.0, N_ROWS).run(candidates, n_tuned)


FOREST, TREE = Candidate("random-forest", {}), Candidate("decision-tree", {})
BOOSTED, KERNEL = Candidate("gradient-boosting", {"n_estimators": 300}), Candidate("svm", {"C": 1.0})
SKILLS = {"random-forest": 0.8, "decision-tree": 0.6, "gradient-boosting": 0.95, "svm": 0.7}


def skill_of(candidate, n_rows):
    return SKILLS[candidate.method]


def test_the_best_so_far_is_that_of_all_trials_told_of(monkeypatch):
    events = []
    found_by(Trials(monkeypatch, skill_of), rows(), [TREE, BOOSTED, KERNEL], events=events)
    tried = [facts for name, facts in events if name == "tried"]
    for place, facts in enumerate(tried):
        assert facts["best"][0] >= max(other["record"].mean_score for other in tried[: place + 1])


def test_few_rows_are_tried_whole_and_the_best_is_found(monkeypatch):
    trials = Trials(monkeypatch, skill_of)
    found = found_by(trials, rows(), [TREE, FOREST, BOOSTED, KERNEL])
    assert [n_rows for _, n_rows in trials.asked] == [N_ROWS - N_CHECKED] * 4
    best = found.trials[found.recipe.members[int(np.argmax(found.recipe.weights))]]
    assert best.candidate == BOOSTED
    assert found.recipe.score >= max(trial.record.mean_score for trial in found.trials)


def test_many_rows_are_sampled_and_half_of_the_candidates_go_on(monkeypatch):
    monkeypatch.setattr(searching, "SAMPLE", 10)
    trials = Trials(monkeypatch, skill_of)
    many = [Candidate("decision-tree", {"min_samples_leaf": k}) for k in range(1, 5)]
    found = found_by(trials, rows(), [TREE, FOREST, BOOSTED, KERNEL, *many])
    sizes = [n_rows for _, n_rows in trials.asked]
    assert sizes == [18] * 8 + [75] * 4 + [300] * 3
    last = [found.trials[place].record for place in range(8)]
    best = sorted(last, key=lambda record: (record.mean_score, -record.loss), reverse=True)[:4]
    assert {repr(record.params) for record in best} == {repr(c.words()) for c, n in trials.asked if n == 75}


def test_sizes_and_survivors():
    assert sample_sizes(1000) == []
    sizes = sample_sizes(10**6)
    assert [b // a for a, b in zip(sizes, sizes[1:], strict=False)] == [4] * (len(sizes) - 1)
    assert survivors([TREE] * 9) == [TREE] * 5
    assert survivors([TREE] * 2) == [TREE] * 2


def test_what_was_cut_is_recorded_and_never_ranked(monkeypatch):
    slow = lambda candidate, n_rows: 1000.0 if candidate.method == "gradient-boosting" else 1.0  # noqa: E731
    trials = Trials(monkeypatch, skill_of, slow)
    found = found_by(trials, rows(), [TREE, FOREST, BOOSTED, KERNEL], limit=60.0)
    of_boosting = next(trial for trial in found.trials if trial.candidate == BOOSTED)
    assert of_boosting.record.status == CUT
    assert not of_boosting.is_ranked
    assert all(found.trials[place].candidate != BOOSTED for place in found.recipe.members)
    assert sum(trial.record.status == FINISHED for trial in found.trials) == 3  # it did not eat the others' time


@pytest.mark.parametrize("seed", range(10))
def test_more_time_never_makes_the_validation_score_worse(monkeypatch, seed):
    """A longer search passes through all that a shorter one has seen, where trials cost about the same."""
    rng = np.random.default_rng(seed)
    leaves = rng.integers(2, 99, 3)
    candidates = [Candidate("gradient-boosting", {"n_estimators": 300, "max_leaf_nodes": int(k)}) for k in leaves]
    last = -1.0
    for limit in (10.0, 20.0, 40.0, 80.0, 160.0):
        trials = Trials(
            monkeypatch,
            lambda candidate, n_rows: np.random.default_rng(crc32(repr(candidate).encode())).uniform(0.5, 0.9),
            lambda candidate, n_rows: 1.5,
        )
        found = found_by(trials, rows(), [*candidates, FOREST, TREE, KERNEL], limit, n_tuned=12)
        assert found.recipe.score >= last
        last = found.recipe.score
    assert len(found.trials) > 12


def test_a_tuned_candidate_needs_to_be_among_the_best_on_the_first_folds(monkeypatch):
    """The bar is the fifth best of those that had all folds, on the same first folds; the list itself has none."""
    trials, bars_of = Trials(monkeypatch, skill_of), []

    def seen(candidate, data, shared, n_rows, n_folds, clock, bars=()):
        bars_of.append(list(bars))
        return trials(candidate, data, shared, n_rows, n_folds, clock)

    monkeypatch.setattr(searching, "run_trial", seen)
    data = rows()
    check = data.folds[0][1]
    halves = [(data.folds[0][0], check[: check.size // 2]), (data.folds[0][0], check[check.size // 2 :])]
    several = [FOREST, TREE, KERNEL, *(Candidate("decision-tree", {"min_samples_leaf": k}) for k in (2, 3))]
    found = Search(data._replace(folds=halves), Clock(None), Journal(None, ""), lambda *_, **__: None, 0.0, N_ROWS).run(
        several, 2
    )
    assert bars_of[: len(several)] == [[]] * len(several)
    first = [
        float(np.mean(data.answers(t.predictions).labels_or_amounts[: check.size // 2] == data.y[halves[0][1]]))
        for t in found.trials[: len(several)]
    ]
    assert bars_of[len(several)] == [pytest.approx(sorted(first, reverse=True)[4])]


def test_a_candidate_that_is_behind_is_dropped_after_a_fold():
    data = rows(120)
    folds = folds_of("classification", data.y, 0)
    data = data._replace(folds=folds)
    run = lambda bars: run_trial(TREE, data, SharedColumns(data), 120, 5, Clock(None), bars)  # noqa: E731
    whole, dropped, kept = run([]), run([2.0]), run([-1.0] * 4)
    assert (whole.record.status, len(whole.record.fold_scores)) == (FINISHED, 5)
    assert (dropped.record.status, dropped.is_ranked) == (DROPPED, False)
    assert dropped.record.fold_scores == whole.record.fold_scores[:1]
    assert kept.record.fold_scores == whole.record.fold_scores


def test_where_a_mixture_has_no_time_the_best_single_one_is_next(monkeypatch):
    data = rows()
    found = found_by(Trials(monkeypatch, skill_of), data, [TREE, FOREST, BOOSTED, KERNEL])
    recipes = recipes_of(found, data)
    after = recipes[recipes.index(found.recipe) + 1]
    assert [found.trials[place].candidate for place in after.members] == [BOOSTED]


def test_more_rounds_of_smaller_steps_go_as_far():
    best = Candidate("gradient-boosting", {"n_estimators": 300})
    for number in range(8):
        candidate = tuned(best, number, 0, lambda _: False)
        assert candidate.n_rounds * candidate.params["learning_rate"] == pytest.approx(30.0, rel=0.01)


def test_an_interrupt_ends_the_search_with_what_there_is(monkeypatch):
    trials = Trials(monkeypatch, skill_of)

    def interrupted(candidate, *rest):
        if candidate == BOOSTED:
            raise KeyboardInterrupt
        return trials(candidate, *rest)._replace(fitted="a fitted model")

    monkeypatch.setattr(searching, "run_trial", interrupted)
    found = found_by(trials, rows(), [TREE, FOREST, BOOSTED, KERNEL])
    assert [trial.candidate for trial in found.trials] == [TREE, FOREST]
    assert found.notes == ["the search was interrupted: the best model so far was taken"]


def test_an_interrupt_before_there_is_a_model_ends_the_job(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    Trials(monkeypatch, skill_of)
    monkeypatch.setattr(searching, "run_trial", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found_by(None, rows(), [TREE])


def test_events_tell_what_is_tried(monkeypatch):
    events = []
    found_by(Trials(monkeypatch, skill_of), rows(), [TREE, FOREST], events=events)
    assert [name for name, _ in events] == ["trial", "tried"] * 2
    assert events[0][1]["method"] == "decision-tree"
    assert events[1][1]["record"].status == FINISHED


def test_the_last_resort_is_a_tree_that_is_not_pruned():
    pruned, plain = (Candidate("decision-tree", params) for params in ({"prune": "cost_complexity_cv"}, {}))
    assert quickest([KERNEL, pruned, plain, FOREST]) == plain
    assert quickest([KERNEL, FOREST]) == KERNEL
