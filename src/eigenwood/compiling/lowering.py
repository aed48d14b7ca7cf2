"""From typed Python to LLVM code, in far fewer instructions than Numba writes.

Numba copies an array to the stack for every element that is read, and keeps what has a name on the stack too. LLVM
takes it out again, but to write, read and remove it was two fifths of the time of compiling. Here

    what is assigned once         has no place on the stack, if its assignment comes before all its uses
    an element of an array        is read or written where it is, without a copy of what describes the array
    a field of a record           is what the record was made of, if it was made here
    what nobody uses              is not written

What the code computes is the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.cgutils import get_item_pointer2
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering
from numba.np.arrayobj import fix_integer_index, load_item, store_item

TUPLES = (ir.InsertValue, ir.ExtractValue)
IN_ARRAY = {"size": "nitems", "shape": "shape"}  # fields of an array, and what Numba calls them inside


class KernelContext(CPUContext):
    """Numba's target, which reads fields by the shortest way."""

    def get_getattr(self, typ, attr):
        if isinstance(typ, types.BaseNamedTuple) and attr in typ.fields:
            return record_field
        if isinstance(typ, types.Array) and attr in IN_ARRAY:
            return array_field
        return super().get_getattr(typ, attr)


def record_field(context, builder, typ, value, attr):
    """Return a field of a record."""
    at = typ.fields.index(attr)
    return impl_ret_borrowed(context, builder, typ[at], member(builder, value, at))


def array_field(context, builder, typ, value, attr):
    """Return the size or the shape of an array."""
    return array_member(context, builder, typ, value, IN_ARRAY[attr])


def array_member(context, builder, kind: types.Array, value: ir.Value, name: str) -> ir.Value:
    """Return a part of what describes an array, by Numba's name for it."""
    return member(builder, value, context.data_model_manager[kind].get_field_position(name))


def member(builder, value: ir.Value, at: int) -> ir.Value:
    """Return a member of a tuple; of one that was made here, what it was made of."""
    whole = value
    while isinstance(whole, ir.InsertValue):
        if whole.indices == [at]:
            return whole.operands[1]
        whole = whole.operands[0]
    return builder.extract_value(value, at)


class KernelLower(Lower):
    """Writes the LLVM code of a kernel."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        if not self.context.enable_nrt:  # what is counted must be given back on every way out
            self._singly_assigned_vars |= assigned_before_use(self.blocks)

    def lower_function_body(self):
        tail = super().lower_function_body()
        take_out_unused(self.function)
        return tail

    def lower_expr(self, resty, expr):
        if expr.op == "static_getitem" and isinstance(expr.index, int):
            kind = self.typeof(expr.value.name)
            if isinstance(kind, types.BaseTuple):
                at = range(len(kind))[expr.index]
                found = member(self.builder, self.loadvar(expr.value.name), at)
                found = self.context.cast(self.builder, found, kind[at], resty)
                return impl_ret_borrowed(self.context, self.builder, resty, found)
        return super().lower_expr(resty, expr)

    def lower_getitem(self, resty, expr, value, index, signature):
        place = self.element(value, index, signature)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        found = load_item(self.context, self.builder, signature.args[0], place)
        return self.context.cast(self.builder, found, signature.return_type, resty)

    def lower_setitem(self, target_var, index_var, value_var, signature):
        kind, _, value_kind = signature.args
        is_number = isinstance(value_kind, (types.Number, types.Boolean))
        place = self.element(target_var, index_var, signature) if is_number else None
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value, own_kind = self.loadvar(value_var.name), self.typeof(value_var.name)
        value = self.context.cast(self.builder, value, own_kind, value_kind)
        value = self.context.cast(self.builder, value, value_kind, kind.dtype)
        return store_item(self.context, self.builder, kind, value, place)

    def element(self, array: numba_ir.Var, index: numba_ir.Var, signature) -> ir.Value | None:
        """Return where an element of an array lies, or None if more than one may be meant."""
        kind, index_kind = signature.args[:2]
        kinds = tuple(index_kind) if isinstance(index_kind, types.BaseTuple) else (index_kind,)
        if (
            not isinstance(kind, types.Array)
            or self.typeof(array.name) != kind
            or len(kinds) != kind.ndim
            or not all(isinstance(one, types.Integer) for one in kinds)
            or self.context.enable_boundscheck
        ):
            return None
        context, builder, value = self.context, self.builder, self.loadvar(array.name)
        at = context.cast(builder, self.loadvar(index.name), self.typeof(index.name), index_kind)
        at = [member(builder, at, k) for k in range(kind.ndim)] if isinstance(index_kind, types.BaseTuple) else [at]
        data, shape, strides = (
            array_member(context, builder, kind, value, name) for name in ("data", "shape", "strides")
        )
        shape, strides = ([member(builder, one, k) for k in range(kind.ndim)] for one in (shape, strides))
        at = [fix_integer_index(context, builder, *one) for one in zip(kinds, at, shape, strict=True)]
        return get_item_pointer2(context, builder, data, shape, strides, kind.layout, at)


def assigned_before_use(blocks: dict[int, Any]) -> set[str]:
    """Return the variables with one assignment, which comes before all uses on whichever way the code goes."""
    use_defs, dominators = compute_use_defs(blocks), compute_cfg_from_blocks(blocks).dominators()
    n_assigned = Counter(one.target.name for block in blocks.values() for one in block.find_insts(numba_ir.Assign))
    home = {name: at for at, names in use_defs.defmap.items() for name in names if n_assigned[name] == 1}
    late = {
        name
        for at, names in use_defs.usemap.items()
        for name in names & home.keys()
        if not (home[name] < at and home[name] in dominators[at])  # blocks are written in the order of their numbers
    }
    return home.keys() - late


def take_out_unused(function: ir.Function) -> None:
    """Take out what only puts tuples together or apart for nobody."""
    instructions = [one for block in function.blocks for one in block.instructions]
    needed = [one for one in instructions if not isinstance(one, TUPLES)]
    seen = set(map(id, needed))
    while needed:
        one = needed.pop()
        operands = [value for value, _ in one.incomings] if isinstance(one, ir.PhiInstr) else one.operands
        for value in operands:
            if isinstance(value, TUPLES) and id(value) not in seen:
                seen.add(id(value))
                needed.append(value)
    for block in function.blocks:
        block.instructions = [one for one in block.instructions if id(one) in seen]


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):
    """The pass that writes LLVM code."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self):
        return KernelLower
