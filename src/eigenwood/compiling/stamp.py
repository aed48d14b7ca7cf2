"""One hash over all files that kernels are made of: whoever edits one of them never runs code of before the edit.

Numba's own cache looks at the file of a function only, not at those of the functions it calls.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
FOLDERS = ("compiling", "core", "proofs")  # a test sees to it that no kernel is anywhere else


@cache
def source_stamp() -> str:
    """Return the hash of the kernel files of this installation, as text."""
    stamp = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            source = path.read_bytes()
            stamp.update(f"{path.relative_to(PACKAGE).as_posix()} {len(source)}\n".encode())
            stamp.update(source)
    return stamp.hexdigest()
