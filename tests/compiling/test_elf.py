"""The undefined symbols of an object file."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import binding as llvm

from eigenwood.compiling.elf import undefined_symbols

MODULE = """
declare double @exp(double)
declare double @unused(double)
@table = external global double
define double @known(double %x) {{
    %a = call double @exp(double %x)
    %b = load double, double* @table
    %c = fadd double %a, %b
    ret double %c
}}
define double @caller(double %x) {{
    %a = call double @known(double %x)
    ret double %a
}}
"""


def emitted(triple: str) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic", codemodel="large")
    module = llvm.parse_assembly(MODULE.format())
    module.triple = triple
    return machine.emit_object(module)


def test_what_an_object_uses_and_does_not_define():
    names = undefined_symbols(emitted("x86_64-unknown-linux-gnu"))
    assert [name for name in names if name != "_GLOBAL_OFFSET_TABLE_"] == ["exp", "table"]


@pytest.mark.parametrize("code", [b"", b"\x7fELF\x01\x01", np.zeros(100, dtype=np.uint8).tobytes()])
def test_other_bytes_are_refused(code):
    with pytest.raises(ValueError, match="must be a 64-bit"):
        undefined_symbols(code)
