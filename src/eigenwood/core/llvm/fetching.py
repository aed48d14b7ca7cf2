"""Prefetches: memory is asked for before it is read."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from eigenwood.core.fetching import fetch, fetch_row

LINE = 64  # bytes that come together
READ, NEAR, DATA = 0, 3, 1  # what LLVM is told: for reading, to be kept close, not code


@overload(fetch)
def _compiled_fetch(array, i):
    return lambda array, i: _fetch(array, (i,))


@overload(fetch_row)
def _compiled_fetch_row(table, i):
    def fetch_all(table, i):
        for j in range(0, table.shape[1], LINE // table.itemsize):
            _fetch(table, (i, j))

    return fetch_all


@intrinsic
def _fetch(_typing_context, array, place):
    def generate(context, builder, signature, args):
        made = context.make_array(signature.args[0])(context, builder, args[0])
        numbers = cgutils.unpack_tuple(builder, args[1])
        at = [
            context.cast(builder, number, kind, types.intp)
            for number, kind in zip(numbers, signature.args[1], strict=True)
        ]
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], made, at, wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [builder.bitcast(pointer, byte), *(number(hint) for hint in (READ, NEAR, DATA))])
        return context.get_dummy_value()

    return types.void(array, place), generate
