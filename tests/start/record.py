"""Writes ``signatures.txt``: ``python -m tests.start.record``, after a change of what kernels are called with.

All calls of ``calls.py`` run, and what Python called is written down; with names of calls behind the command, only
these run, and what is new is added. Every array that a kernel does not write to is marked ``readonly``: code for such
arrays serves all others as well, and users' arrays are often read-only.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

from numba.core.compiler import Compiler, DefaultPassBuilder, _EarlyPipelineCompletion, compile_result
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonTypeInference

from eigenwood.compiling.kernel import Kernel, import_instructions
from eigenwood.compiling.signatures import (
    ARRAY,
    LIST,
    READONLY,
    class_at,
    listed,
    place_of,
    text_of,
    types_of,
    writable,
)
from tests.start.calls import CALLS

LONG = 700  # letters of a signature: records of many arrays, which are ours and never read-only


def called() -> Iterator[tuple[str, str]]:
    """Yield what Python has called in this process: where the kernel is, and the text of the types."""
    kernels = {
        member: None
        for name, module in list(sys.modules.items())
        if name.startswith("eigenwood.")
        for member in vars(module).values()
        if isinstance(member, Kernel) and member.is_ready()
    }
    for kernel in kernels:
        for kinds in kernel.dispatcher.entry_points:
            yield place_of(kernel.py_func), text_of(kinds)


@register_pass(mutates_CFG=False, analysis_only=True)
class StopAfterTypes(AnalysisPass):
    _name = "eigenwood_stop_after_types"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        raise _EarlyPipelineCompletion(compile_result())


class TypesOnly(Compiler):
    """Finds out whether a kernel can have such types, and compiles nothing."""

    def define_pipelines(self):
        manager = PassManager("types only")
        manager.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.add_pass(NopythonTypeInference, "types")
        manager.add_pass(StopAfterTypes, "stop")
        manager.finalize()
        return [manager]


def can_have(place: str, text: str) -> bool:
    """Return whether the kernel can be compiled for these types: it cannot if it writes to what is read-only."""
    kernel = class_at(place)
    import_instructions()
    twin = CPUDispatcher(kernel.py_func, targetoptions=dict(kernel.targetoptions), pipeline_class=TypesOnly)
    try:
        twin._compiler.compile(types_of(text), None)
    except Exception:  # Numba says it with errors of many kinds
        return False
    return True


def with_readonly(place: str, text: str) -> str:
    """Return the text with every array marked that the kernel does not write to."""
    if len(text) > LONG:
        return text
    at = 0
    while array := ARRAY.search(text, at):
        place_of_mark = array.start(3) + 1
        marked = text[:place_of_mark] + READONLY + text[place_of_mark:]
        at = array.end()
        if can_have(place, marked):
            text, at = marked, at + len(READONLY)
    return text


def main() -> None:
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or list(CALLS)
    for name in names:
        print(name, flush=True)
        CALLS[name]()
    known = {(place, writable(text)): text for place, text in listed()} if sys.argv[1:] else {}
    for place, text in sorted({(place, writable(text)) for place, text in called()} - set(known)):
        known[place, text] = with_readonly(place, text)
        print(f"{place}({known[place, text]})", flush=True)
    LIST.write_text("".join(f"{place}({known[place, text]})\n" for place, text in sorted(known)), encoding="utf-8")


if __name__ == "__main__":
    main()
