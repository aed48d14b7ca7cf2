"""Makes the store: ``python -m eigenwood.compiling.build --levels host`` (or ``all``, or names such as ``v2 v3``).

    signatures.txt ──► a process for each core, set to the level ──► machine code ──► a file for each level

Nothing that is compiled here runs, so any machine of the platform can make the code of any level.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import llvmlite
import numba

from eigenwood.compiling.choice import JIT, SWITCH
from eigenwood.compiling.dispatcher import compile_entry
from eigenwood.compiling.elf import undefined_symbols
from eigenwood.compiling.levels import LEVELS, Level, levels_within, target_features
from eigenwood.compiling.notice import CLOCK
from eigenwood.compiling.signatures import class_at, constant_text, listed, types_of
from eigenwood.compiling.stamp import source_stamp
from eigenwood.compiling.store import FOLDER, Made, file_name, write_store

HOST, ALL = "host", "all"


def levels_named(names: Iterable[str]) -> list[Level]:
    """Return the levels that are meant: this machine's best, all, or those of these names."""
    names = list(names)
    if names == [HOST]:
        return levels_within(target_features())[:1]
    return [level for level in LEVELS if names == [ALL] or level.name in names]


def build(level: Level, folder: Path, n_processes: int) -> Path:
    """Compile every entry of the list for a level; return the file that holds them."""
    path = folder / file_name(level.name, numba.__version__, llvmlite.__version__)
    # records of many arrays take longest: they go first, so that no process waits for another at the end
    entries = sorted(listed(), key=lambda entry: len(entry[1]), reverse=True)
    for place, _ in entries:
        class_at(place)  # what cannot be imported is noticed now, not after a minute
    variables = {**level.environment(), SWITCH: JIT}
    os.environ.update(variables)
    try:
        with ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn"), initializer=prepare) as pool:
            write_store(path, source_stamp(), pool.map(made, entries))
    finally:
        for name in variables:
            del os.environ[name]
    return path


def prepare() -> None:
    """Make a process ready to compile and nothing else: no line about waiting, no search for garbage."""
    CLOCK.has_spoken = True
    gc.disable()


def made(entry: tuple[str, str]) -> Made:
    """Return the machine code of an entry, for the level that this process is set to."""
    place, text = entry
    compiled = compile_entry(class_at(place), types_of(text))
    code = compiled.library._get_compiled_object()
    constants = [constant_text(constant) for constant in compiled.environment.consts]
    description = compiled.fndesc
    symbol, environment = description.llvm_cpython_wrapper_name, description.env_name
    return Made(place, text, code, symbol, environment, constants, undefined_symbols(code))


def say(words: str) -> None:
    print(f"eigenwood: {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--levels", nargs="+", default=[HOST], choices=[HOST, ALL, *(level.name for level in LEVELS)])
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder; default: where the package looks for it")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    levels = levels_named(asked.levels)
    if not levels:
        say("no machine code is made for this processor; kernels are compiled when they are first used.")
    for level in levels:
        start = time.perf_counter()
        n_entries = sum(1 for _ in listed())
        say(f"compiling {n_entries} kernels for x86-64-{level.name}, so that nobody waits for it later")
        path = build(level, asked.out, asked.processes)
        size = path.stat().st_size / 1e6
        say(f"{path.name}, {size:.1f} MB, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
