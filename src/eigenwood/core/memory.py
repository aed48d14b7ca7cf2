"""Memory that comes and goes by the page.

Arrays share a heap: what one gives back is often held there, between others, for the rest of a program's life. A large
array that is needed for a while, and perhaps not to its end, has memory of its own.
"""

from __future__ import annotations

import math
import mmap

import numpy as np

LARGE = 1 << 20  # bytes
PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def lazy_zeros(shape: tuple[int, ...], dtype=np.float64) -> np.ndarray:
    """Return zeros. If they are many, a page of them counts from when it is first written, and all go back as soon as
    nobody holds the array.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < LARGE:
        return np.zeros(shape, dtype=dtype)
    memory = mmap.mmap(-1, n_bytes, **PRIVATE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype=dtype).reshape(shape)
