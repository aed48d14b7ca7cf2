"""Splits: each row on one side, shares kept, groups whole, the newest rows put aside; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from eigenwood.errors import TableError
from eigenwood.estimators.registry import CLASSIFICATION, REGRESSION
from eigenwood.runs.settings import Settings
from eigenwood.runs.splitting import folds, held_out, split_rows

RNG = np.random.default_rng(0)
LABELS = np.where(RNG.random(400) < 0.25, "yes", "no")
AMOUNTS = RNG.normal(size=400)
GROUPS = RNG.integers(40, size=400)
DAYS = RNG.integers(100, size=400).astype(float)
DEFAULT = Settings()
TASKS = [(CLASSIFICATION, LABELS), (REGRESSION, AMOUNTS)]


def split(task, y, settings=DEFAULT, groups=None, order=None):
    return split_rows(task, y, settings, groups=groups, order=order, table="rows", target="y")


def sentence(*arguments, **named):
    with pytest.raises(TableError) as problem:
        split(*arguments, **named)
    return str(problem.value)


def sides(task, y, groups=None, order=None):
    """Every pair of row numbers that a split, a fold or a part held out makes."""
    chosen = split(task, y, groups=groups, order=order)
    yield chosen.train, chosen.test
    yield from folds(task, y, 0, groups, order)
    yield held_out(task, y, 60, 0, groups, order)


@pytest.mark.parametrize(("task", "y"), TASKS)
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("order", [None, DAYS])
def test_every_row_is_on_one_side(task, y, groups, order):
    for one, other in sides(task, y, groups, order):
        assert np.intersect1d(one, other).size == 0
        assert min(one.size, other.size) > 0
        if order is None:
            assert sorted([*one, *other]) == list(range(400))


@pytest.mark.parametrize(("task", "y"), TASKS)
@pytest.mark.parametrize("order", [None, DAYS])
def test_groups_stay_together(task, y, order):
    for one, other in sides(task, y, GROUPS, order):
        assert np.intersect1d(GROUPS[one], GROUPS[other]).size == 0


@pytest.mark.parametrize(("task", "y"), TASKS)
def test_the_newest_rows_are_checked_on(task, y):
    for one, other in sides(task, y, order=DAYS):
        assert DAYS[one].max() < DAYS[other].min()
    found = folds(task, y, 0, order=DAYS)
    assert len(found) == 5
    assert [check.size for _, check in found] == pytest.approx([40] * 5, abs=6)
    assert found[0][0].size > found[-1][0].size >= 180


def test_a_group_is_as_new_as_its_newest_row():
    chosen = split(CLASSIFICATION, LABELS, groups=GROUPS, order=DAYS)
    newest = [DAYS[group == GROUPS].max() for group in range(40)]
    assert max(newest[group] for group in GROUPS[chosen.train]) < min(newest[group] for group in GROUPS[chosen.test])


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_classes_keep_their_shares(groups):
    for one, other in sides(CLASSIFICATION, LABELS, groups):
        for rows in (one, other):
            assert (LABELS[rows] == "yes").mean() == pytest.approx((LABELS == "yes").mean(), abs=0.05)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.7])
@pytest.mark.parametrize(("groups", "order"), [(None, None), (GROUPS, None), (None, DAYS), (np.arange(400), None)])
@pytest.mark.parametrize(("task", "y"), TASKS)
def test_so_many_rows_are_put_aside(task, y, groups, order, fraction):
    chosen = split(task, y, Settings(test_fraction=fraction), groups, order)
    assert chosen.test.size == pytest.approx(400 * fraction, abs=0 if groups is None and order is None else 20)


@pytest.mark.parametrize(("task", "y"), TASKS)
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_the_seed_decides_and_nothing_else(task, y, groups):
    found = [split(task, y, Settings(seed=seed), groups).test.tolist() for seed in (0, 0, 1)]
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize("fraction", [0.01, 0.25, 0.9])
def test_thirty_rows_and_fewer_work(fraction):
    settings = Settings(test_fraction=fraction)
    few = np.array(["a", "b", "c"] * 3)
    chosen = split(CLASSIFICATION, few, settings)
    assert set(few[chosen.train]) == set(few[chosen.test]) == set("abc")
    amounts = split(REGRESSION, np.arange(15.0), settings)
    assert (amounts.train.size, amounts.test.size) == (10, 5)
    assert len(folds(REGRESSION, np.arange(10.0), 0)) == 5
    for groups, order in ((np.arange(30) // 3, None), (None, np.arange(30.0)), (np.arange(30) // 3, np.arange(30.0))):
        for task, y in ((CLASSIFICATION, np.array(["a", "b"] * 15)), (REGRESSION, np.arange(30.0))):
            chosen = split(task, y, settings, groups, order)
            of_train = [part if part is None else part[chosen.train] for part in (groups, order)]
            assert folds(task, y[chosen.train], 0, *of_train)


def test_a_class_of_few_rows_does_not_cost_folds(recwarn):
    y = np.array(["a"] * 60 + ["b"] * 3)
    assert len(folds(CLASSIFICATION, y, 0)) == 5
    assert len(folds(CLASSIFICATION, y, 0, np.arange(63) // 2)) == 5
    assert not recwarn.list


def test_equally_new_rows_stay_together():
    years = np.repeat([2019.0, 2020.0, 2021.0], [100, 100, 30])
    chosen = split(REGRESSION, np.arange(230.0), order=years)
    assert set(years[chosen.test]) == {2021.0}
    found = folds(REGRESSION, np.arange(200.0), 0, order=years[:200])
    assert [(set(years[learn]), set(years[check])) for learn, check in found] == [({2019.0}, {2020.0})]


def test_training_rows_that_are_equally_new_are_compared_at_random():
    assert len(folds(REGRESSION, np.arange(50.0), 0, order=np.ones(50))) == 5
    assert len(folds(CLASSIFICATION, np.array(["a", "b"] * 25), 0, order=np.ones(50))) == 5
    one, other = held_out(REGRESSION, np.arange(50.0), 10, 0, order=np.ones(50))
    assert (one.size, other.size) == (40, 10)


def test_older_rows_of_one_class_are_not_learnt_from_alone():
    y = np.repeat(["a", "b"], 50)
    for learn, _ in folds(CLASSIFICATION, y, 0, order=np.arange(100.0)):
        assert set(y[learn]) == {"a", "b"}


def test_many_groups_are_fast():
    groups = RNG.integers(20_000, size=50_000)
    y = np.where(RNG.random(50_000) < 0.3, "a", "b")
    found = folds(CLASSIFICATION, y, 0, groups)
    assert [check.size for _, check in found] == pytest.approx([10_000] * 5, rel=0.02)


def test_what_is_refused():
    assert sentence(CLASSIFICATION, np.array(["a"] * 9 + ["b"] * 2)) == (
        "rows: every class of 'y' must have at least 3 rows to learn, tune and test; got 2 of 'b'."
    )
    assert sentence(REGRESSION, np.arange(14.0)) == (
        "rows: must have at least 15 rows with an amount in 'y' to learn, tune and test; got 14."
    )
    assert sentence(REGRESSION, np.r_[1.0, np.zeros(29)]) == (
        "rows: the 8 blind test rows must differ in 'y' (another seed or share draws others); got 0 in all of them."
    )
    settings = Settings(group="town", order="day")
    assert sentence(CLASSIFICATION, LABELS, settings, np.arange(400) % 3) == (
        "rows: --group column 'town' must have at least 4 different groups to learn, tune and test; got 3."
    )
    assert sentence(CLASSIFICATION, LABELS, settings, order=np.where(DAYS == 7.0, np.nan, DAYS)) == (
        f"rows: --order column 'day' must have a value in every row; got {(DAYS == 7.0).sum()} without."
    )
    assert sentence(CLASSIFICATION, LABELS, settings, order=np.ones(400)) == (
        "rows: --order column 'day' must have different values, so that some rows or groups are newer; got the "
        "same for all of them."
    )
    assert "some rows or groups are newer" in sentence(
        CLASSIFICATION, LABELS, settings, np.arange(400) // 200, np.arange(400.0) % 200
    )
    assert sentence(CLASSIFICATION, np.repeat(["a", "b"], [300, 100]), settings, order=np.arange(400.0)) == (
        "rows: the 300 training rows must differ in 'y' (another seed or share draws others); got 'a' in all of them."
    )
