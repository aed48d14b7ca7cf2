"""Several problems side by side: each solved as it would be alone."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.core.kernels.functions import RBF_LESS_ONE, Kernel
from eigenwood.core.kernels.row_cache import KernelRowCache, Part, kernel_table
from eigenwood.core.margin import side_by_side as file
from eigenwood.core.margin.dual_svm import Dual, DualRule, dual_svm_steps
from eigenwood.core.margin.side_by_side import side_by_side


def problem(seed, n_rows, max_steps=10**5):
    """Return the steps of a problem by chance."""
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(n_rows, 2)), np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    dual = Dual(signs, np.where(signs > 0, 0.0, -2.0), np.where(signs > 0, 2.0, 0.0), np.zeros(n_rows))
    rows = KernelRowCache(kernel_table(X, Kernel(RBF_LESS_ONE, 0.5)), (Part(0, n_rows),), 1e9)
    return dual_svm_steps(rows, dual, DualRule(1e-4, max_steps, most_members=4))


SIZES = (30, 2, 12, 24)


def problems():
    return [problem(seed, n_rows) for seed, n_rows in enumerate(SIZES)]


def assert_alike(one, other):
    for name, value in one._asdict().items():
        assert_array_equal(value, getattr(other, name), err_msg=name)


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_each_is_solved_as_if_it_were_alone(n_threads):
    alone = [list(steps)[-1] for steps in problems()]
    together = list(side_by_side(problems(), n_threads))
    assert [step.last for step in together] == [False] * (len(together) - 1) + [True]
    for one, other in zip(alone, together[-1].steps, strict=True):
        assert other.converged
        assert_alike(one, other)
    assert sum(step.whole for step in together) == len(SIZES)  # one whole step for each problem that is finished


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_a_whole_step_has_one_solved_problem_more(n_threads):
    """However far the threads are ahead of whoever looks: these problems are solved at once."""
    start = next(problem(0, 8))
    steps = side_by_side([iter_of(start, start._replace(last=True)) for _ in range(20)], n_threads)
    assert [sum(one.last for one in step.steps) for step in steps if step.whole] == list(range(1, 21))


def iter_of(*steps):
    yield from steps


def test_they_come_along_evenly():
    together = list(side_by_side(problems(), 1))
    turns = 0
    for before, after in zip(together, together[1:], strict=False):
        waiting = [step.n_rounds for step in after.steps if not step.last]
        assert max(waiting, default=0) - min(waiting, default=0) <= file.TURN
        gained = [b.n_rounds - a.n_rounds for a, b in zip(before.steps, after.steps, strict=True)]
        assert sorted(gained)[:-1] == [0] * (len(SIZES) - 1)
        assert 0 <= max(gained) <= 1
        turns += max(gained)
    assert turns == sum(step.n_rounds for step in together[-1].steps) > 20


def test_only_one_is_in_the_middle_of_a_round():
    """Those that wait need no memory for it."""
    for step in side_by_side(problems(), 1):
        assert sum(not one.whole for one in step.steps) <= 1


def test_the_clock_can_be_looked_at_while_all_are_at_work():
    may_end = threading.Event()

    def patient():
        yield next(problem(0, 8))
        may_end.wait(10)
        yield next(problem(0, 8))._replace(last=True)

    steps = side_by_side([patient(), patient()], 2)
    assert not next(steps).last
    may_end.set()
    assert list(steps)[-1].last


def test_a_single_problem_is_seen_after_every_round():
    alone, together = list(problem(0, 30)), list(side_by_side([problem(0, 30)], 2))
    assert len(alone) == len(together)
    for one, step in zip(alone, together, strict=True):
        assert (step.whole, step.last) == (one.whole, one.last)
        assert_alike(one, step.steps[0])


@pytest.mark.parametrize("n_problems", [1, 3])
def test_problems_that_are_finished_before_they_begin(n_problems):
    (only,) = side_by_side([problem(seed, 8, max_steps=0) for seed in range(n_problems)], 2)
    assert (only.whole, only.last) == (True, True)
    assert len(only.steps) == n_problems


def test_whoever_stops_early_has_a_step_of_every_problem():
    steps = side_by_side(problems(), 2)
    first = next(steps)
    steps.close()
    assert len(first.steps) == len(SIZES)
    assert not first.last


def endless(done):
    """Yield the first step of a problem again and again, slowly; note every piece, and the end."""
    step = next(problem(0, 8))
    try:
        while True:
            time.sleep(0.01)
            done.append("piece")
            yield step
    finally:
        done.append("closed")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_whoever_leaves_need_not_wait_for_whole_turns(n_threads, monkeypatch):
    monkeypatch.setattr(file, "TURN", 10)
    done = [[], [], []]
    steps = side_by_side([endless(each) for each in done], n_threads)
    next(steps)
    n_done = [len(each) for each in done]
    steps.close()
    for each, before in zip(done, n_done, strict=True):
        assert each[-1] == "closed"
        assert len(each) - 1 - before <= 3  # the piece at hand, and not the rest of the turn


def test_a_problem_that_fails_is_heard():
    def failing():
        yield next(problem(0, 8))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(side_by_side([failing(), problem(1, 8)], 2))
