"""Which machine code this process runs, and why: a store that fits, or Numba's compiler."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
from numba.core import config

from eigenwood.compiling.levels import Level, levels_within, target_features
from eigenwood.compiling.stamp import source_stamp
from eigenwood.compiling.store import FOLDER, BadStoreError, Store, file_name

SWITCH = "EIGENWOOD_CODE"  # a variable: the folder of another store, or
JIT = "jit"  # compile everything here


class Choice(NamedTuple):
    """The store in use, if there is one, and the reason in words."""

    store: Store | None
    level: Level | None
    reason: str


@cache
def chosen() -> Choice:
    """Return the choice of this process; it is made when the first kernel is called."""
    if reason := _reason_to_compile():
        return Choice(None, None, reason)
    levels = levels_within(target_features())
    if not levels:
        return Choice(None, None, "machine code is shipped for x86-64 from level v2 on, and this processor is not one")
    reasons = []
    for level in levels:
        path = store_folder() / file_name(level.name, numba.__version__, llvmlite.__version__)
        store, reason = _opened(path)
        if store is not None:
            return Choice(store, level, f"it fits this Python, Numba {numba.__version__} and this processor")
        reasons.append(reason)
    return Choice(None, None, reasons[0])


def store_folder() -> Path:
    return Path(os.environ.get(SWITCH) or FOLDER)


def _reason_to_compile() -> str:
    """Return why no store may be used, or nothing."""
    if os.environ.get(SWITCH) == JIT:
        return f"{SWITCH}={JIT} asks for it"
    asked = {
        "NUMBA_BOUNDSCHECK": bool(config.BOUNDSCHECK),
        "NUMBA_OPT": int(config.OPT) != 3,
        "NUMBA_DEBUGINFO": bool(config.DEBUGINFO_DEFAULT),
    }
    return next((f"{name} asks for other code than is shipped" for name, is_asked in asked.items() if is_asked), "")


def _opened(path: Path) -> tuple[Store | None, str]:
    """Return the store at a path, or why it cannot be used."""
    try:
        store = Store(path)
    except FileNotFoundError:
        return None, f"no machine code was shipped for it: there is no {path.name}"
    except (OSError, BadStoreError, ValueError) as problem:
        return None, f"{path.name} cannot be used: {problem}"
    if store.stamp != source_stamp():
        return None, f"the source of the kernels is not that of {path.name}"
    return store, ""


def code_features() -> frozenset[str]:
    """Return the instructions that the code of this process may use: the store's level's, or the machine's."""
    level = chosen().level
    return target_features() if level is None else level.features


def description() -> dict[str, str]:
    """Return what is in use, in words for people."""
    store, level, reason = chosen()
    if store is None or level is None:
        code = f"compiled on this machine, when a kernel is first used: {reason}"
    else:
        code = f"ready-made, {store.n_entries} kernels for x86-64-{level.name}: {reason}"
    versions = {"Python": platform.python_version(), "Numba": numba.__version__, "llvmlite": llvmlite.__version__}
    return {
        "with": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "code": code,
        "from": str(store.path) if store is not None else "Numba's compiler",
    }
