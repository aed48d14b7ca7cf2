"""Sums of products of bytes, in vectors."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from eigenwood.core.spectral.bytes import OFFSET, TILE, WORD, multiplies_bytes, write_tile


@overload(write_tile)
def _compiled_write_tile(codes, i, j, products):
    return lambda codes, i, j, products: _write_tile(codes, i, j, products)


@intrinsic
def _write_tile(typing_context, codes, i, j, products):
    """Write the tile in vectors: LLVM would not keep the 16 sums in registers if it were written as a loop."""

    def generated(context, builder, signature, arguments):
        n_lanes, i32, i64 = WORD // 4, ir.IntType(32), ir.IntType(64)
        word, lanes = ir.VectorType(ir.IntType(8), WORD), ir.VectorType(i32, n_lanes)
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        out = context.make_array(signature.args[3])(context, builder, arguments[3])
        stride, length = (builder.extract_value(part, p) for part, p in ((table.strides, 0), (table.shape, 1)))
        rows = [
            [
                builder.gep(builder.bitcast(table.data, ir.IntType(8).as_pointer()), [builder.mul(stride, row)])
                for row in (builder.add(first, i64(r)) for r in range(TILE))
            ]
            for first in arguments[1:3]
        ]
        zeros, offset = ir.Constant(lanes, None), ir.Constant(word, [OFFSET] * WORD)
        sums = [[cgutils.alloca_once(builder, lanes) for _ in range(TILE)] for _ in range(TILE)]
        for place in sum(sums, []):
            builder.store(zeros, place)

        def word_at(row, k):
            return builder.load(builder.bitcast(builder.gep(row, [k]), word.as_pointer()), align=1)

        with cgutils.for_range_slice(builder, i64(0), length, i64(WORD)) as (k, _):
            left = [builder.xor(word_at(row, k), offset) for row in rows[0]]  # flips a bit: adds 128
            right = [word_at(row, k) for row in rows[1]]
            for p, a in enumerate(left):
                for q, b in enumerate(right):
                    builder.store(_with_fours(builder, builder.load(sums[p][q]), a, b), sums[p][q])
        added = ir.FunctionType(i32, [lanes])
        add = cgutils.get_or_insert_function(builder.module, added, f"llvm.vector.reduce.add.v{n_lanes}i32")
        for p in range(TILE):
            for q in range(TILE):
                builder.store(builder.call(add, [builder.load(sums[p][q])]), builder.gep(out.data, [i64(TILE * p + q)]))
        return context.get_dummy_value()

    return types.void(codes, types.int64, types.int64, products), generated


def _with_fours(builder, sums, a, b):
    """Return the sums with four neighbouring products of bytes added to each: a without a sign, b with one."""
    lanes = sums.type
    if multiplies_bytes():
        kind = ir.FunctionType(lanes, [lanes, lanes, lanes])
        multiply = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpdpbusd.512")
        return builder.call(multiply, [sums, builder.bitcast(a, lanes), builder.bitcast(b, lanes)])
    i32, half = ir.IntType(32), WORD // 2
    pairs = ir.VectorType(ir.IntType(16), half)

    def chosen(vector, places):
        return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(i32, len(places)), list(places)))

    for start in (0, half):  # as LLVM knows the instruction that multiplies pairs of 16 bits and adds them
        part = range(start, start + half)
        sides = builder.zext(chosen(a, part), pairs), builder.sext(chosen(b, part), pairs)
        even, odd = (
            builder.mul(*(builder.sext(chosen(side, range(first, half, 2)), lanes) for side in sides))
            for first in (0, 1)
        )
        sums = builder.add(sums, builder.add(even, odd))
    return sums
