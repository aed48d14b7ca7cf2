"""Kernels: called from Python and from each other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from numba.core import event
from numba.core.caching import CacheImpl, NullCache
from numba.core.errors import TypingError

from eigenwood.compiling import njit, njit_forceinline, njit_inline, njit_no_refcount, njit_refcount
from eigenwood.compiling.dispatcher import InnerLibrary, KernelDispatcher, all_below, short_name
from eigenwood.compiling.kernel import Kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    """What an earlier run of these tests has left on disk must not stand for what they compile."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


class Sides(NamedTuple):
    left: float
    right: float


@njit
def square(x):
    return x * x


@njit
def sum_of_squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total


@njit
def sides(values, at):
    return Sides(sum_of_squares(values[:at]), sum_of_squares(values[at:]))


@njit
def raised(values, exponent=2):
    if exponent < 0:
        raise ValueError("the exponent must be at least 0")
    return values**exponent


@njit_inline
def doubled(x):
    return 2 * x


@njit_forceinline
def halved(x):
    return x / 2


@njit_refcount
def sorted_sum(values):
    return np.sort(values)[0] + values.size


@njit_no_refcount
def joined(values):
    return doubled(values[0]) + halved(values[1]) + sorted_sum(values)


VALUES = np.arange(1.0, 7.0)


def test_a_kernel_is_what_its_python_says():
    for kernel, args in (
        (sum_of_squares, (VALUES,)),
        (sides, (VALUES, 2)),
        (joined, (VALUES,)),
        (square, (3,)),
        (square, (3.5,)),
    ):
        assert kernel(*args) == kernel.py_func(*args)
    assert isinstance(sides(VALUES, 2), Sides)


def test_defaults_and_exceptions_are_pythons():
    np.testing.assert_array_equal(raised(VALUES), VALUES**2)
    np.testing.assert_array_equal(raised(VALUES, 3), VALUES**3)
    with pytest.raises(ValueError, match="at least 0"):
        raised(VALUES, -1)
    with pytest.raises(TypeError):
        raised()


def test_what_kernels_call_is_linked_in_but_never_emitted():
    assert sides(VALUES, 1) == (1.0, 90.0)
    for kernel in (sum_of_squares, square):
        inner = [compiled.library for compiled in kernel.dispatcher.overloads.values()]
        assert inner
        assert all(isinstance(library, InnerLibrary) and library._compiled_object is None for library in inner)


def test_a_kernel_used_by_another_first_can_still_be_called():
    """It has no machine code of its own then; the address would be 0."""

    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return 2 * inner(x)

    assert outer(3) == 8
    assert list(inner.dispatcher.entry_points) == []
    assert inner(3) == 4
    assert list(inner.dispatcher.entry_points) == list(outer.dispatcher.entry_points)


def test_each_library_is_linked_once_after_all_that_need_it():
    class Library(InnerLibrary):
        def __init__(self, *needed):
            self._linking_libraries = list(needed)

    last = Library()
    middle = [Library(last), Library(last)]
    first = Library(*middle)
    assert all_below([first, last]) == all_below([last, first]) == [first, *middle, last]


def test_names_are_short_and_differ_by_kernel_types_and_flags():
    from numba import types

    args = (types.float64[::1],) * 50
    seen = {
        short_name("a.b.f", args, abi_tags=("x",)),
        short_name("a.c.f", args, abi_tags=("x",)),
        short_name("a.b.f", args[:-1], abi_tags=("x",)),
        short_name("a.b.f", args, abi_tags=("y",)),
    }
    assert len(seen) == 4
    assert max(map(len, seen)) < 60
    assert short_name("a.b.f", args, abi_tags=("x",), uid=7) in seen  # the same in every process


def test_the_second_call_compiles_nothing():
    sum_of_squares(VALUES)
    with event.install_recorder("numba:compile") as recorder:
        sum_of_squares(VALUES[:3])
    assert not recorder.buffer


def test_threads_that_come_at_once_get_one_entry(monkeypatch):
    """A type that is known twice is ambiguous to Numba: every later call would look for it anew, in Python."""

    @njit
    def total(values):
        return values.sum()

    start = threading.Barrier(8)

    def first_call(_):
        start.wait()
        return total(VALUES)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(first_call, range(8))) == [21.0] * 8
    monkeypatch.setattr(KernelDispatcher, "_compile_for_args", lambda *args: pytest.fail("it is known already"))
    assert total(VALUES) == 21.0


def test_where_nothing_can_be_kept_kernels_are_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    @njit
    def tripled(x):
        return 3 * x

    assert tripled(2) == 6
    assert isinstance(tripled.dispatcher._entries._cache, NullCache)


def test_what_is_not_counted_can_neither_make_an_array_nor_return_a_part_of_one():
    def makes_one(a):
        return np.zeros(a.size).sum()

    def returns_a_part(a):
        return a[1:]

    for function in (makes_one, returns_a_part):
        with pytest.raises(TypingError):
            njit_no_refcount(function)(np.ones(3))
        njit_refcount(function)(np.ones(3))


def test_every_kernel_frees_the_gil():
    for kernel in (square, joined, doubled, halved, sorted_sum):
        assert isinstance(kernel, Kernel)
        assert kernel.targetoptions["nogil"]
