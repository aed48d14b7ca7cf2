"""Hashes over the files that kernels are made of: whoever edits one of them never runs code of before the edit.

Numba's own cache looks at the file of a function only, not at those of the functions it calls. The stamp of a kernel
is over its file and all that this imports or names as instructions, directly or not; that of a store, which holds all
kernels, over all files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
FOLDERS = ("compiling", "core", "proofs")  # a test sees to it that no kernel is anywhere else
IMPORT = re.compile(
    r"^\s*(?:from\s+eigenwood\.([\w.]+)\s+import\s+(\([^)]*\)|.*)"
    r"|(?:import\s+|instructions_in\(\")eigenwood\.([\w.]+))",
    re.MULTILINE,
)


@cache
def source_stamp() -> str:
    """Return the hash of the kernel files of this installation, as text."""
    return _stamp_over(path for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py"))


@cache
def file_stamp(file: str) -> str:
    """Return the hash of the files that kernels of this one are made of, and of those that compile them, as text."""
    found: set[Path] = set()
    waiting = {Path(file), *(PACKAGE / "compiling").glob("*.py")}
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= _imported(path) - found
    return _stamp_over(found)


def _stamp_over(paths: Iterable[Path]) -> str:
    stamp = hashlib.sha256()
    for path in sorted(paths):
        source = path.read_bytes()
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        stamp.update(f"{name} {len(source)}\n".encode())
        stamp.update(source)
    return stamp.hexdigest()


@cache
def _imported(path: Path) -> frozenset[Path]:
    """Return the kernel files that a file imports, those of their packages among them."""
    return frozenset(
        found
        for module in _modules_named(path.read_text(encoding="utf-8"))
        if module.split(".")[0] in FOLDERS
        for found in _files_of(module)
    )


def _modules_named(source: str) -> Iterator[str]:
    """Yield every module of ours that a source may import, as ``core.tree.types``; some names are not of modules."""
    for origin, names, module in IMPORT.findall(source):
        yield origin or module
        yield from (f"{origin}.{name}" for name in re.findall(r"\w+", names))


def _files_of(module: str) -> Iterator[Path]:
    """Yield the file of a module and of the packages around it, those there are."""
    path = PACKAGE.joinpath(*module.split("."))
    packages = [folder / "__init__.py" for folder in (path, *path.parents) if PACKAGE in folder.parents]
    return (file for file in (path.with_suffix(".py"), *packages) if file.is_file())
