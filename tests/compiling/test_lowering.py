"""Kernels compute what their Python says, however little LLVM code is written for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import config, typeof
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing import Context

from eigenwood.compiling import njit, njit_no_refcount, njit_refcount
from eigenwood.compiling.dispatcher import compile_entry
from eigenwood.compiling.kernel import Kernel
from eigenwood.compiling.passes import KernelTyping

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    """What an earlier run of these tests has left on disk must not stand for what they compile."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


class Whole(NamedTuple):
    pair: Pair
    table: np.ndarray
    same: Pair
    number: float


@njit_no_refcount
def added_up(table, sign):
    """Read every element from its end on, by indices below 0 where ``sign`` says so."""
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            total = 0.5 * total + np.float64(table[sign * i - (sign < 0), np.uint8(j)])
    return total


@njit_no_refcount
def line_sum(line):
    total = 0.0
    for value in line:
        total = 0.5 * total + value
    return total


@njit_no_refcount
def swapped(pair):
    return Pair(pair.second, pair.first)


@njit_no_refcount
def described(table):
    """Return all that is known of an array."""
    return table.size, table.shape, table.strides, table.itemsize, table.ndim, len(table)


@njit_no_refcount
def of_whole(whole, at):
    """Hand on a record, its records, their arrays, and views of these."""
    pair, table, same, number = whole
    turned = swapped(pair)
    first = turned.first if at > 0 else pair.first  # two places for one name
    n = 0
    while n < at:
        table[n, 0], same[1][-1 - n] = first[n], number
        n += 1
    return (
        line_sum(turned.second) + line_sum(table[at]) + line_sum(table[:, at]) + added_up(table[1:], 1) + whole.number
    )


@njit
def of_new(values):
    """Make arrays, and hand them to kernels that do not count, and to Numba's own functions."""
    made = np.sort(np.concatenate((values, values[::-1])))
    return line_sum(made), described(made), np.argsort(values), made


@njit_refcount
def of_rows(rows):
    total = 0
    for i in range(rows.size):
        rows[i].count += i
        total += rows[i].count
    return total


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint16, np.bool_])
def test_elements_of_every_layout(dtype, sign):
    whole = np.arange(60).reshape(6, 10).astype(dtype)
    frozen = whole.copy()
    frozen.flags.writeable = False
    for table in (
        whole,
        whole.T,
        np.asfortranarray(whole),
        whole[::2, 1:7:3],
        frozen,
        whole[:0],
        whole[:1],
        whole[:, :1],
    ):
        assert added_up(table, sign) == added_up.py_func(table, sign)
        assert described(table) == described.py_func(table)


def test_arrays_of_three_dimensions_and_none():
    for table in (np.zeros((2, 3, 4)), np.zeros((2, 0, 4)), np.zeros((1, 1, 1), dtype=np.int16)):
        n_elements, shape, strides, *others = described(table)
        assert (n_elements, shape, *others) == (table.size, table.shape, table.itemsize, 3, len(table))
        if table.size > 1:
            assert strides == table.strides


def test_records_in_records():
    def whole():
        pair = Pair(np.arange(5.0), np.arange(5.0, 10.0))
        return Whole(pair, np.arange(20.0).reshape(4, 5), Pair(np.zeros(3), np.zeros(4)), 2.5)

    for at in range(4):
        by_code, by_python = whole(), whole()
        assert of_whole(by_code, at) == of_whole.py_func(by_python, at)
        np.testing.assert_array_equal(by_code.table, by_python.table)
        np.testing.assert_array_equal(by_code.same.second, by_python.same.second)


def test_kernels_and_numbas_functions_take_arrays_each_in_their_way():
    values = np.array([3.0, 1.0, 2.0])
    found, by_python = of_new(values), of_new.py_func(values)
    assert found[:2] == by_python[:2]
    for one, other in zip(found[2:], by_python[2:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_of_rows():
    rows = np.zeros(4, dtype=[("name", np.int32), ("count", np.int64)])
    assert of_rows(rows) == 6
    assert of_rows(rows) == 12


class Counted(CPUDispatcher):
    """Numba's own way, to compare."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel.py_func, targetoptions=dict(kernel.targetoptions), pipeline_class=Compiler)


def test_far_less_is_written_than_by_numba(monkeypatch):
    written = []
    optimize = CPUCodeLibrary._optimize_functions

    def counted(library, module):
        written.append(sum(1 for one in module.functions for block in one.blocks for _ in block.instructions))
        optimize(library, module)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_functions", counted)
    kinds = (typeof(np.zeros((2, 2))), typeof(1))
    compile_entry(added_up, kinds)
    ours, written[:] = written[0], []
    Counted(added_up).compile(kinds)
    assert ours < 0.75 * written[0]


def test_numbas_fields_of_an_array_are_those_we_know():
    kind = typeof(np.zeros(2))
    fields = cpu_target.target_context.data_model_manager[kind]._fields
    assert fields == ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")


def test_what_is_known_of_operators_is_what_numba_says():
    of_whole(Whole(Pair(np.ones(3), np.ones(3)), np.ones((3, 3)), Pair(np.ones(3), np.ones(3)), 1.0), 1)
    assert KernelTyping.known
    context = cpu_target.typing_context
    for (function, args), signature in KernelTyping.known.items():
        assert function.typing_key.__module__ == "_operator"  # what makes arrays depends on who asks
        assert Context.resolve_function_type(context, function, args, {}) == signature
