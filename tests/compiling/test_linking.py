"""From the store's bytes to a function."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from eigenwood.compiling.choice import SWITCH
from eigenwood.compiling.elf import undefined_symbols
from eigenwood.compiling.linking import linked, missing_symbols
from eigenwood.compiling.signatures import class_at
from eigenwood.compiling.store import HEAD

PLACE, TYPES = "eigenwood.core.spectral.bytes:mirror", "float64 2C"

EXPAND = """
import numba.core.event as event
import numpy as np
from eigenwood import PolynomialExpansion
with event.install_recorder("numba:compile") as recorder:
    told = PolynomialExpansion(degree=2, kernel_scale=False).fit_transform(np.array([[2.0, 3.0]]))
print(len(recorder.buffer) > 0, told.tolist())
"""
EXPANDED = "[[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]"


def test_every_symbol_that_the_code_needs_is_in_this_process(store):
    """LLVM would end the process where one is missing."""
    rtsys.initialize(cpu_target.target_context)
    codegen = cpu_target.target_context.codegen()
    for place, text in store.places():
        entry = store.entry(place, text)
        assert undefined_symbols(store.object_code(entry)) == entry.needs
        assert missing_symbols(codegen, entry.needs) == [], place


def test_a_linked_entry_is_the_function(store):
    kernel, entry = class_at(PLACE), store.entry(PLACE, TYPES)
    function = linked(kernel.py_func, entry, store.object_code(entry))
    total = np.arange(9.0).reshape(3, 3)
    function(total)
    np.testing.assert_array_equal(total, [[0, 1, 2], [1, 4, 5], [2, 5, 8]])
    assert (function.__name__, function.__doc__) == ("mirror", kernel.py_func.__doc__)


def test_a_missing_symbol_is_noticed_before_anything_is_loaded(store):
    entry = store.entry(PLACE, TYPES)
    entry = entry._replace(needs=[*entry.needs, "no_process_has_this"])
    assert linked(class_at(PLACE).py_func, entry, store.object_code(entry)) is None


def expanded(folder) -> tuple[bool, str]:
    """Return whether a new process with this folder of code compiles, and what it computes."""
    done = subprocess.run(
        [sys.executable, "-c", EXPAND],
        env={**os.environ, SWITCH: str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    compiled, told = done.stdout.strip().split(" ", 1)
    return compiled == "True", told


def test_code_that_was_changed_or_cut_off_is_compiled_instead(store, tmp_path):
    path = tmp_path / store.path.name
    shutil.copy(store.path, path)
    assert expanded(tmp_path) == (False, EXPANDED)
    whole = bytearray(path.read_bytes())
    first = HEAD.size + HEAD.unpack(whole[: HEAD.size])[1]
    for at in range(first, len(whole), 64):
        whole[at] ^= 1
    path.write_bytes(whole)
    assert expanded(tmp_path) == (True, EXPANDED)
    shutil.rmtree(tmp_path / "cache")
    path.write_bytes(whole[: first + 10])
    assert expanded(tmp_path) == (True, EXPANDED)
