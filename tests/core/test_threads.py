"""Fixed blocks on any number of threads: the same results, in order, with BLAS on one thread while it lasts."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from eigenwood.core.kernels import blocks, source
from eigenwood.core.kernels import expansion as expanding
from eigenwood.core.kernels.functions import KERNELS, Kernel
from eigenwood.core.kernels.source import KernelValues
from eigenwood.core.margin import kernel_perceptron, perceptron, scores
from eigenwood.core.rows import rows_of
from eigenwood.core.threads import ahead, helped, one_blas_thread, results_in_turn, results_of, row_blocks

THREADS = (1, 2, 8)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def free_the_limits():
    """Let any thread set limits again: newer threadpoolctl obeys only the thread that set one first."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@pytest.fixture
def two_blas_threads():
    """BLAS on two threads, whatever the machine has, so that a limit of one can be seen."""
    free_the_limits()
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads()
        assert set(blas_threads()) == {2}
        free_the_limits()
        yield
        free_the_limits()


@given(st.integers(0, 200), st.integers(1, 60))
def test_blocks_cover_every_row_once_and_in_order(n_rows, block_rows):
    cut = row_blocks(n_rows, block_rows)
    assert [i for block in cut for i in range(n_rows)[block]] == list(range(n_rows))
    assert all(block.stop - block.start == block_rows for block in cut[:-1])


@pytest.mark.parametrize("n_threads", THREADS)
def test_results_come_in_the_order_of_the_tasks(n_threads):
    first_may_end = threading.Event()

    def work(task):
        if task == 0 and n_threads > 1:
            first_may_end.wait(5)  # the first task ends after the second
        elif task == 1:
            first_may_end.set()
        return task * task

    assert results_of(work, range(20), n_threads) == [task * task for task in range(20)]


def test_as_many_threads_as_asked_for_work_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    results_of(lambda task: together.wait(), range(3), n_threads=3)  # would time out with fewer
    lonely = threading.Barrier(3, timeout=0.1)
    with pytest.raises(threading.BrokenBarrierError):
        results_of(lambda task: lonely.wait(), range(3), n_threads=2)


@pytest.mark.parametrize("n_threads", THREADS)
def test_no_tasks_no_results(n_threads):
    assert results_of(lambda task: task, [], n_threads) == []


@pytest.mark.parametrize("n_threads", THREADS)
def test_the_first_error_in_the_order_of_the_tasks_comes_out(n_threads):
    def work(task):
        if task >= 3:
            raise LookupError(f"task {task}")
        return task

    with pytest.raises(LookupError, match="task 3"):
        results_of(work, range(10), n_threads)


def test_after_an_error_waiting_tasks_are_dropped():
    begun = []

    def work(task):
        begun.append(task)
        if task == 0:
            raise LookupError("no")
        time.sleep(0.02)

    with pytest.raises(LookupError):
        results_of(work, range(200), n_threads=2)
    assert len(begun) < 100


@pytest.mark.parametrize("n_threads", THREADS)
def test_results_in_turn_are_the_same(n_threads):
    assert list(results_in_turn(lambda task: task * task, range(20), n_threads)) == [task * task for task in range(20)]


@pytest.mark.parametrize("n_threads", THREADS)
def test_whoever_leaves_has_no_tasks_begun_any_more_and_blas_as_it_was(n_threads, two_blas_threads):
    begun = []

    def work(task):
        begun.append(task)
        time.sleep(0.005)
        return blas_threads()

    results = results_in_turn(work, range(200), n_threads)
    assert set(next(results)) == set(blas_threads()) == {1}
    results.close()
    n_begun = len(begun)
    assert n_begun < 100
    time.sleep(0.02)
    assert len(begun) == n_begun
    assert set(blas_threads()) == {2}


# ---- one item ahead ----------------------------------------------------------------------------------------------


def test_helpers_have_numbers_and_run_beside_what_is_inside():
    begun, numbers = threading.Barrier(4, timeout=10), []

    def work(number):
        numbers.append((number, threading.get_ident()))
        begun.wait()

    with helped(work, 3):
        begun.wait()  # would time out if not all three had come
    assert sorted(number for number, _ in numbers) == [1, 2, 3]
    assert len({thread for _, thread in numbers} | {threading.get_ident()}) == 4


def test_without_helpers_nobody_comes():
    with helped(lambda number: pytest.fail("nobody was asked"), 0):
        pass


def test_helpers_that_have_not_begun_when_it_ends_never_do():
    may_end, begun, done = threading.Event(), threading.Barrier(4, timeout=10), []

    def hold(number):
        begun.wait()
        may_end.wait(10)

    def keep_all_threads():
        with helped(hold, 3):
            may_end.wait(10)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(keep_all_threads)
        begun.wait()
        with helped(done.append, 3):  # the same three threads, which are not free
            pass
        assert not may_end.is_set()
        assert not other.done()  # nobody waited for them
        may_end.set()
        other.result(10)
    with helped(lambda number: None, 3):
        pass
    assert done == []


def test_an_error_inside_comes_out_when_helpers_are_done():
    begun, done = threading.Event(), []

    def work(number):
        begun.set()
        time.sleep(0.01)
        done.append(number)

    def fail_when_begun():
        with helped(work, 1):
            assert not begun.wait(10), "inside"

    with pytest.raises(AssertionError, match="inside"):
        fail_when_begun()
    assert done == [1]


def test_an_error_of_a_helper_comes_out():
    begun = threading.Event()

    def work(number):
        begun.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), helped(work, 1):
        begun.wait(10)


def test_tasks_may_have_helpers_of_their_own():
    def task(_):
        come = threading.Event()
        with helped(lambda number: come.set(), 2):
            return come.wait(10)

    assert results_of(task, range(4), 2) == [True] * 4


@given(st.lists(st.integers() | st.none()))
def test_ahead_yields_the_same_items_in_their_order(items):
    assert list(ahead(iter(items))) == items


def test_the_next_item_is_made_while_this_one_is_used():
    begun = [threading.Event() for _ in range(3)]

    def items():
        for i in range(3):
            begun[i].set()
            yield i

    for i in ahead(items()):
        assert i == 2 or begun[i + 1].wait(timeout=10)  # not only when it is asked for


def test_no_more_than_one_item_is_made_ahead():
    made = []

    def items():
        for i in range(50):
            made.append(i)
            yield i

    for i in ahead(items()):
        time.sleep(0.002)
        assert len(made) <= i + 2
    stream = ahead(items())
    made.clear()
    assert next(stream) == 0
    stream.close()  # who leaves early has made one item in vain
    assert len(made) <= 2


def test_an_error_comes_out_where_its_item_would():
    def items():
        yield 0
        raise OSError("the file ends here")

    stream = ahead(items())
    assert next(stream) == 0
    with pytest.raises(OSError, match="the file ends here"):
        next(stream)


@pytest.mark.parametrize("n_threads", THREADS)
def test_blas_has_one_thread_inside_and_its_own_again_after(two_blas_threads, n_threads):
    inside = results_of(lambda task: blas_threads(), range(4), n_threads)
    assert all(set(seen) == {1} for seen in inside)
    assert set(blas_threads()) == {2}


@pytest.mark.parametrize("n_threads", THREADS)
def test_blas_gets_its_threads_back_after_an_error(two_blas_threads, n_threads):
    with pytest.raises(ZeroDivisionError):
        results_of(lambda task: 1 // task, range(4), n_threads)
    assert set(blas_threads()) == {2}


def test_nested_calls_keep_the_limit_until_the_outermost_ends(two_blas_threads):
    def outer(task):
        results_of(lambda inner: inner, range(3), 2)
        return blas_threads()

    assert all(set(seen) == {1} for seen in results_of(outer, range(4), 2))
    assert set(blas_threads()) == {2}


def test_who_leaves_first_does_not_lift_the_limit_of_who_stays(two_blas_threads):
    first_inside, first_gone = threading.Event(), threading.Event()
    seen = []

    def stays():
        first_inside.wait(5)
        with one_blas_thread():
            second_inside.set()
            first_gone.wait(5)
            seen.extend(blas_threads())

    second_inside = threading.Event()
    other = threading.Thread(target=stays)
    other.start()
    with one_blas_thread():
        first_inside.set()
        second_inside.wait(5)
    first_gone.set()
    other.join()
    assert seen
    assert set(seen) == {1}
    assert set(blas_threads()) == {2}


def seen_by_many_callers():
    def enter(caller):
        return results_of(lambda task: (caller, task, tuple(set(blas_threads()))), range(5), 2)

    with ThreadPoolExecutor(8) as callers:
        return list(callers.map(enter, range(40)))


def test_many_python_threads_may_enter_at_once(two_blas_threads):
    expected = [[(caller, task, (1,)) for task in range(5)] for caller in range(40)]
    assert seen_by_many_callers() == expected
    assert set(blas_threads()) == {2}


def test_a_limit_that_the_users_own_thread_holds_does_not_stand_in_the_way(two_blas_threads):
    with threadpool_limits(2, user_api="blas"):  # this thread now controls the limits
        expected = [[(caller, task, (1,)) for task in range(5)] for caller in range(40)]
        assert seen_by_many_callers() == expected
        assert set(blas_threads()) == {2}
    assert set(blas_threads()) == {2}


def test_afterwards_every_thread_may_set_limits_of_its_own(two_blas_threads):
    first_inside, second_inside, first_gone = threading.Event(), threading.Event(), threading.Event()

    def comes_first():
        with one_blas_thread():
            first_inside.set()
            second_inside.wait(5)
        first_gone.set()

    def leaves_last():
        first_inside.wait(5)
        with one_blas_thread():
            second_inside.set()
            first_gone.wait(5)

    def limited():
        with threadpool_limits(1, user_api="blas"):
            return set(blas_threads())

    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        for task in (first.submit(comes_first), second.submit(leaves_last)):
            task.result()
        assert set(blas_threads()) == {2}
        for thread in (first, second, first, second):  # both are alive, one after the other
            assert thread.submit(limited).result() == {1}
            assert set(blas_threads()) == {2}


# ---- the same bits for any number of threads --------------------------------------------------------------------


def same_bits(compute):
    """Return the result of ``compute(n_threads)`` after checking that every number of threads gives it."""
    expected = compute(1)
    for n_threads in THREADS[1:]:
        assert compute(n_threads).tobytes() == expected.tobytes()
    return expected


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that a few rows make many of them."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 5)
    monkeypatch.setattr(scores, "BLOCK_ROWS", 5)
    monkeypatch.setattr(expanding, "BLOCK_VALUES", 40)
    monkeypatch.setattr(perceptron, "SMALL_WORK", 0)
    monkeypatch.setattr(kernel_perceptron, "FEWEST_VISITS", 5)
    monkeypatch.setattr(kernel_perceptron, "MOST_VISITS", 5)
    monkeypatch.setattr(kernel_perceptron, "CATCH_UP_ROWS", 3)
    monkeypatch.setattr(kernel_perceptron, "SMALL_WORK", 0)


def rows(dtype, n_rows=23, n_features=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gram(small_blocks, kernel, dtype):
    X = rows(dtype)
    chosen = Kernel(KERNELS[kernel], gamma=0.3, coef0=0.5, degree=3)
    K = same_bits(lambda n_threads: blocks.gram(X, X[:11], chosen, n_threads))
    assert K.dtype == dtype
    same_bits(lambda n_threads: blocks.gram_symmetric(X, chosen, n_threads))
    same_bits(lambda n_threads: blocks.gram(sparse.csr_array(X), sparse.csr_array(X[:11]), chosen, n_threads))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_gram_with_blocks_of_the_real_size(kernel):
    X = rows(np.float32, n_rows=2 * blocks.BLOCK_ROWS + 77, n_features=60)
    chosen = Kernel(KERNELS[kernel], gamma=0.01, coef0=0.5, degree=3)
    same_bits(lambda n_threads: blocks.gram(X, X[:700], chosen, n_threads))
    same_bits(lambda n_threads: blocks.gram_symmetric(X, chosen, n_threads))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_scores(small_blocks, dtype):
    X, w, b = rows(dtype), np.random.default_rng(1).normal(size=(3, 4)), np.arange(3.0)
    same_bits(lambda n_threads: scores.linear_scores(X, w, b, n_threads))
    same_bits(lambda n_threads: scores.linear_scores(sparse.csr_array(X), w, b, n_threads))


@pytest.mark.slow
def test_linear_scores_with_blocks_of_the_real_size():
    X = rows(np.float64, n_rows=3 * scores.BLOCK_ROWS + 5, n_features=50)
    w = np.random.default_rng(1).normal(size=(3, 50))
    same_bits(lambda n_threads: scores.linear_scores(X, w, np.zeros(3), n_threads))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_expand(small_blocks, dtype):
    X, shape = rows(dtype), expanding.expansion(4, 3, True)
    same_bits(lambda n_threads: expanding.expand(X, shape, True, n_threads))
    same_bits(lambda n_threads: expanding.expand(sparse.csr_array(X), shape, True, n_threads).toarray())


@pytest.mark.slow
def test_expand_sparse_with_blocks_of_the_real_size():
    X = sparse.random_array((3000, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    shape = expanding.expansion(30, 2, True)
    same_bits(lambda n_threads: expanding.expand(X, shape, True, n_threads).data)


@pytest.mark.parametrize("rule", [perceptron.PerceptronRule(), perceptron.PerceptronRule(l1=0.01, l2=0.01)])
def test_perceptron_steps(small_blocks, rule):
    X = rows(np.float64)
    codes = np.random.default_rng(2).integers(3, size=len(X))
    signs = np.array([np.where(codes == code, 1.0, -1.0) for code in range(3)])

    def coefficients(n_threads):
        start = perceptron.perceptron_start(np.zeros((3, 4)), np.zeros(3))
        stop = perceptron.StopRule(6, -np.inf, 5)
        mass = np.ones(len(X))
        *_, last = perceptron.perceptron_steps(rows_of(X), signs, mass, rule, stop, start, 7, n_threads)
        return np.column_stack([last.coefficients(), last.intercepts(), last.numbers])

    assert same_bits(coefficients).any()


@pytest.mark.parametrize("max_bytes", [0, 700, 1e9], ids=["none kept", "some kept", "all kept"])
@pytest.mark.parametrize("budget", [0, 6])
def test_kernel_perceptron_steps(small_blocks, budget, max_bytes):
    X = rows(np.float32)
    codes = np.random.default_rng(2).integers(3, size=len(X))
    signs = np.array([np.where(codes == code, 1.0, -1.0) for code in range(3)])
    rule = kernel_perceptron.KernelRule(max_epochs=4, budget=budget)

    def coefficients(n_threads):
        values = KernelValues(X, Kernel(KERNELS["rbf"], 0.5), max_bytes)
        mass = np.ones(len(X))
        *_, last = kernel_perceptron.kernel_perceptron_steps(values, signs, mass, rule, 7, n_threads)
        return np.column_stack([last.a, last.late_a])

    assert same_bits(coefficients).any()


@pytest.mark.parametrize("max_bytes", [0, 1e9], ids=["none kept", "all kept"])
def test_every_kernel_value_of_a_fit_comes_from_a_single_threaded_product(
    small_blocks, two_blas_threads, max_bytes, monkeypatch
):
    seen = []

    def watched(*arguments):
        seen.extend(blas_threads())
        blocks.fill_tile(*arguments)

    monkeypatch.setattr(source, "fill_tile", watched)
    X, signs = rows(np.float64), np.random.default_rng(2).choice([-1.0, 1.0], size=(1, 23))
    values = source.KernelValues(X, Kernel(KERNELS["rbf"], 0.5), max_bytes)
    for _ in kernel_perceptron.kernel_perceptron_steps(
        values, signs, np.ones(23), kernel_perceptron.KernelRule(2), None, 1
    ):
        pass
    assert seen
    assert set(seen) == {1}


def test_threads_wait_for_the_next_call():
    def name(_):
        time.sleep(0.01)
        return threading.current_thread().name

    seen = set(results_of(name, range(8), 2)) | set(results_of(name, range(8), 2))
    assert 1 <= len(seen) <= 2
    assert threading.current_thread().name not in seen


def test_tasks_may_have_tasks_however_many():
    def total(i):
        return sum(results_of(lambda j: results_of(lambda k: i * j * k, range(3), 2)[-1], range(5), 2))

    assert results_of(total, range(6), 2) == [20 * i for i in range(6)]


def test_a_task_that_fails_leaves_the_threads_to_the_next_call():
    def fail(i):
        raise ValueError(f"task {i}")

    with pytest.raises(ValueError, match="task 0"):
        results_of(fail, range(9), 2)
    assert results_of(abs, [-1, -2, -3], 2) == [1, 2, 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_starts_threads_of_its_own():
    script = """
        import os
        from eigenwood.core.threads import results_of
        assert results_of(abs, [-1, -2, -3], 2) == [1, 2, 3]
        child = os.fork()
        if child == 0:
            os._exit(0 if results_of(abs, [-4, -5, -6], 2) == [4, 5, 6] else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], check=True, timeout=60)
