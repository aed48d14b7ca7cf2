"""Machine code that is shipped: one file for each level, found by function and signature, checked before it runs.

    magic     8 bytes                          EWCODE1\\n
    length    8 bytes, of the index
    digest    32 bytes, SHA-256 of the index
    index     JSON: what the code was made for, and where each entry lies with its own digest
    objects   ELF object files, one after the other, as LLVM emitted them

The file's name says what it fits: Python, platform, Numba, llvmlite and level. The stamp in the index says which source
it was made of. Whatever does not fit, is cut off or was changed is as if it were not there: Numba compiles instead.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from eigenwood.compiling.signatures import serves, writable

MAGIC = b"EWCODE1\n"
HEAD = struct.Struct("<8sQ32s")
FOLDER = Path(__file__).with_name("code")
SUFFIX = ".code"


class Entry(NamedTuple):
    """One function for one signature, as it lies in the file."""

    start: int  # of its object, counted from the first object
    size: int
    digest: str  # SHA-256 of the object
    symbol: str  # the function that Python calls
    environment: str  # the symbol that holds the address of its constants
    constants: list[str]  # these constants: classes, by where they are
    needs: list[str]  # symbols that others must define: LLVM ends the process if one is missing
    signature: str  # the text of its types


class Made(NamedTuple):
    """An entry on its way to the file."""

    place: str
    signature: str
    object_code: bytes
    symbol: str
    environment: str
    constants: list[str]
    needs: list[str]


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_name(level: str, numba_version: str, llvmlite_version: str) -> str:
    """Return the name of the file that fits this Python, these versions and a level."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{platform}-numba{numba_version}-llvmlite{llvmlite_version}-{level}{SUFFIX}"


def write_store(path: Path, stamp: str, made: Iterable[Made]) -> None:
    """Write a store, whole or not at all."""
    entries: dict[str, dict[str, Entry]] = {}
    objects = bytearray()
    for one in sorted(made):
        entry = Entry(len(objects), len(one.object_code), digest_of(one.object_code), *one[3:], one.signature)
        entries.setdefault(one.place, {})[writable(one.signature)] = entry
        objects += one.object_code
    index = json.dumps({"stamp": stamp, "entries": entries}, separators=(",", ":")).encode()
    head = HEAD.pack(MAGIC, len(index), hashlib.sha256(index).digest())
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(head + index + objects)
        beside.replace(path)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


class BadStoreError(Exception):
    """The file is not what it says it is."""


class Store:
    """An open file of machine code."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            head = file.read(HEAD.size)
            if len(head) < HEAD.size:
                raise BadStoreError("it is cut off")
            magic, length, digest = HEAD.unpack(head)
            if magic != MAGIC or length > path.stat().st_size:
                raise BadStoreError("it is no store, or cut off")
            index = file.read(length)
        if hashlib.sha256(index).digest() != digest:
            raise BadStoreError("its index was changed or cut off")
        self._first_object = HEAD.size + length
        content: dict[str, Any] = json.loads(index)
        self.stamp: str = content["stamp"]
        self._entries: dict[str, dict[str, list[Any]]] = content["entries"]

    @cached_property
    def n_entries(self) -> int:
        return sum(map(len, self._entries.values()))

    def places(self) -> list[tuple[str, str]]:
        """Return all entries: where the function is, and the text of its types."""
        return [
            (place, Entry(*found).signature) for place, entries in self._entries.items() for found in entries.values()
        ]

    def entry(self, place: str, signature: str) -> Entry | None:
        """Return the entry that a call with such types can use, or None if it is not in the file."""
        found = self._entries.get(place, {}).get(writable(signature))
        return Entry(*found) if found is not None and serves(Entry(*found).signature, signature) else None

    def object_code(self, entry: Entry) -> bytes | None:
        """Return the object of an entry, or None if it is not what was written."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._first_object + entry.start)
                code = file.read(entry.size)
        except OSError:
            return None
        return code if digest_of(code) == entry.digest else None
