"""How functions of numbers become machine code, and where that code comes from.

    njit …            marks a kernel                       store.py       machine code that is shipped with the package
    kernel.py         before it is first called            choice.py      which store, or none, and why
    dispatcher.py     entry or part of one                 linking.py     from a store's bytes to a function
    passes.py         what Numba does with a kernel        signatures.py  types of arguments as text
    lowering.py       from typed Python to LLVM code       signatures.txt what the store must hold
    levels.py         x86-64 v2, v3, v4                    build.py       makes a store
    stamp.py          one hash over all kernels            notice.py      one line when somebody waits for the compiler

Numba counts who holds an array, with two locked instructions for each array that a function takes. In a function that
runs for some nanoseconds this counting is a good part of the time. ``njit_no_refcount`` leaves it out; such a function
may make no array, and gives none back but those it got. A function that makes arrays for itself may be called from it
if it is ``njit_refcount``, and gives back numbers only. ``njit_forceinline`` and ``njit_inline`` do not count either,
and become part of their caller: for what takes many arrays and runs in a loop. The first is made so by LLVM, in the
fastest loops; the second by Numba, before it compiles.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from eigenwood.compiling.kernel import Kernel, instructions_in

__all__ = [
    "code_features",
    "instructions_in",
    "njit",
    "njit_forceinline",
    "njit_inline",
    "njit_no_refcount",
    "njit_refcount",
    "njit_sum",
]

# read as Numba reads it, which is imported only when a kernel is called
IS_COMPILED = not int(os.environ.get("NUMBA_DISABLE_JIT") or 0)


def code_features() -> frozenset[str]:
    """Return the instructions that the code of this process may use."""
    from eigenwood.compiling.choice import code_features

    return code_features()


def njit(function=None, **options: Any):
    """Make a kernel of a function of numbers, arrays and NamedTuples of them; it runs without the GIL."""
    if function is None:
        return partial(njit, **options)
    if not IS_COMPILED:
        return function
    return Kernel(function, {"nopython": True, "nogil": True, "boundscheck": None, **options})


njit_refcount = njit(error_model="numpy", _nrt=True)  # numpy's: x / 0 is no exception
njit_no_refcount = njit(error_model="numpy", _nrt=False)
# terms in any order, so that they are added up side by side: how many depends on the processor, never on threads
njit_sum = njit(error_model="numpy", _nrt=False, fastmath={"reassoc", "nsz", "contract"})
njit_forceinline = njit(error_model="numpy", _nrt=False, forceinline=True)
njit_inline = njit(error_model="numpy", _nrt=False, inline="always")
