"""What Numba does with a kernel, without what does nothing for it.

A kernel goes through some twenty-five passes. Some of them look for what kernels hardly ever have, and to look they
work out which variables live where; these run only if it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from numba import types
from numba.core import ir, typing
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, IRProcessing

from eigenwood.compiling.lowering import KernelLowering

CLOSURES = {"make_function", "build_list"}  # expressions that closures and comprehensions need
OPERATORS = {"binop", "inplace_binop", "unary", "call", "arrayexpr"}  # those that may compute a whole array


def kernel_passes(state: Any) -> PassManager:
    """Return the passes that a kernel goes through."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    ours = {InlineClosureLikes: KernelClosures, NopythonRewrites: KernelRewrites, NativeLowering: KernelLowering}
    # what IRProcessing finds out, the passes after it find out again
    manager.passes = [(ours.get(one, one), words) for one, words in manager.passes if one is not IRProcessing]
    manager.finalize()
    return manager


def expressions(state: Any) -> Iterator[tuple[ir.Var, ir.Expr]]:
    """Yield what a kernel assigns that is more than a name, and to which variable."""
    for block in state.func_ir.blocks.values():
        for assigned in block.find_insts(ir.Assign):
            if isinstance(assigned.value, ir.Expr):
                yield assigned.target, assigned.value


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelClosures(InlineClosureLikes):
    """Closures and comprehensions become part of the kernel, if it has any."""

    _name = "kernel_closures"

    def run_pass(self, state):
        return any(found.op in CLOSURES for _, found in expressions(state)) and super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelRewrites(NopythonRewrites):
    """Formulas of whole arrays become one loop each, if there are any."""

    _name = "kernel_rewrites"

    def run_pass(self, state):
        return any(
            found.op in OPERATORS and isinstance(state.typemap[target.name], types.Array)
            for target, found in expressions(state)
        ) and super().run_pass(state)


class KernelTyping(typing.Context):
    """Numba's rules for types, which are asked only once what an operator makes of numbers."""

    known: ClassVar[dict[tuple[types.Type, tuple[types.Type, ...]], Any]] = {}

    def resolve_function_type(self, func, args, kws):
        is_operator = isinstance(func, types.Function) and getattr(func.typing_key, "__module__", "") == "_operator"
        if kws or not is_operator or not all(isinstance(one, types.Number) for one in args):
            return super().resolve_function_type(func, args, kws)
        if (func, args) not in self.known:
            self.known[func, args] = super().resolve_function_type(func, args, kws)
        return self.known[func, args]
