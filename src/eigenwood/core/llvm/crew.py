"""Words that several threads read and write, by atomic instructions."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from eigenwood.core.crew import add_word, read_word, rest, swap_word, write_word


def _pointer(context, builder, kind, array, i):
    made = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, made, [i], wraparound=False)


@intrinsic
def _read(_typing_context, words, i):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(words, types.intp), generate


@intrinsic
def _write(_typing_context, words, i, word):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), generate


@intrinsic
def _add(_typing_context, words, i, amount):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.atomic_rmw("add", place, args[2], "seq_cst")
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), generate


@intrinsic
def _swap(_typing_context, words, i, old, new):
    def generate(context, builder, signature, args):
        place = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "seq_cst", "acquire"), 1)

    return types.boolean(words, types.intp, types.int64, types.int64), generate


@intrinsic
def _rest(_typing_context):
    def generate(context, builder, signature, args):
        if builder.module.triple.startswith("x86_64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@overload(read_word)
def _compiled_read(words, i):
    return lambda words, i: _read(words, i)


@overload(write_word)
def _compiled_write(words, i, word):
    return lambda words, i, word: _write(words, i, word)


@overload(add_word)
def _compiled_add(words, i, amount):
    return lambda words, i, amount: _add(words, i, amount)


@overload(swap_word)
def _compiled_swap(words, i, old, new):
    return lambda words, i, old, new: _swap(words, i, old, new)


@overload(rest)
def _compiled_rest():
    return lambda: _rest()
