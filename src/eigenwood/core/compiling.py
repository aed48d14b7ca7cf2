"""How kernels are compiled that run once for every node of a tree.

Numba counts who holds an array, with two locked instructions for each array that a function takes. In a function that
runs for some nanoseconds this counting is a good part of the time. ``uncounted`` leaves it out; such a function may
make no array, and gives none back but those it got. A function that makes arrays for itself may be called from it if
it is ``counted``, and gives back numbers only. ``inlined`` and ``merged`` are ``uncounted`` and become part of their
caller: for what takes many arrays and runs in a loop. ``inlined`` is made so by LLVM, in the fastest loops; ``merged``
by Numba, before it compiles: that spares one level of calls, each of which is optimised again with all below it.
"""

from __future__ import annotations

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}  # numpy's: x / 0 is no exception
UNCOUNTED: dict[str, Any] = {**OPTIONS, "_nrt": False}
COUNTED: dict[str, Any] = {**OPTIONS, "_nrt": True}

uncounted = njit(**UNCOUNTED)
inlined = njit(**UNCOUNTED, forceinline=True)
counted = njit(**COUNTED)
merged = njit(**UNCOUNTED, inline="always")
