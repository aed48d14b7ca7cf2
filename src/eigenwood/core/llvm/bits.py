"""The lowest bit of a word, by one instruction."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic, overload

from eigenwood.core.bits import lowest_bit


@intrinsic
def _count_trailing_zeros(typingctx, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@overload(lowest_bit)
def _compiled_lowest_bit(word):
    """One machine instruction in place of Python's arithmetic."""
    return lambda word: types.int64(_count_trailing_zeros(types.uint64(word)))
