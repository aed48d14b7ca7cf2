"""The types of a call's arguments as text, and back: how entries are named in the list and in the store.

    float64, int64, bool, none             a number or another single value
    float64 2C      float64 1A readonly    an array: type, dimensions, layout
    <row int64 0, a float64 8; 16> 1C      an array of records: fields with their places, and the size
    (int64, float64 1C)                    a tuple
    eigenwood.core.tree.nodes:Tree(int32 1C, …)      a NamedTuple, by where its class is

``readonly`` says that the kernel does not write to an array; such code serves arrays that may be written just as well.

``signatures.txt`` lists what must be in the store, an entry a line: ``module:function(types)``. It is recorded
(``python -m tests.start.record``), not written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numba import from_dtype, types

LIST = Path(__file__).with_name("signatures.txt")
WORD = re.compile(r"[\w.:]+")
ARRAY = re.compile(r"(\w+|<[^>]*>) (\d+)([ACF])( readonly)?( unaligned)?")
SCALARS: dict[str, types.Type] = {
    "bool": types.boolean,
    "none": types.none,
    **{f"float{bits}": getattr(types, f"float{bits}") for bits in (32, 64)},
    **{f"{sign}int{bits}": getattr(types, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
NAMES = {kind: name for name, kind in SCALARS.items()}


READONLY = " readonly"


class NoTextError(TypeError):
    """These types have no text; such a call is always compiled on the spot."""


def text_of(args: tuple[types.Type, ...]) -> str:
    """Return the types of the arguments as text, without the brackets around them.

    >>> text_of((types.float64[:, ::1], types.int64))
    'float64 2C, int64'
    """
    return ", ".join(map(_text, args))


def _text(kind: types.Type) -> str:
    if isinstance(kind, types.Array):
        flags = (READONLY if not kind.mutable else "") + (" unaligned" if not kind.aligned else "")
        return f"{_text(kind.dtype)} {kind.ndim}{kind.layout}{flags}"
    if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        where = kind.instance_class
        return f"{where.__module__}:{where.__qualname__}({text_of(tuple(kind))})"
    if isinstance(kind, types.BaseTuple):
        return f"({text_of(tuple(kind))})"
    if isinstance(kind, types.Record):
        fields = ", ".join(f"{name} {_text(field.type)} {field.offset}" for name, field in kind.fields.items())
        return f"<{fields}; {kind.size}>"
    if kind in NAMES:
        return NAMES[kind]
    raise NoTextError(str(kind))


def types_of(text: str) -> tuple[types.Type, ...]:
    """Return the types that a text stands for.

    >>> types_of("float64 2C, (int64, none)")
    (Array(float64, 2, 'C', False, aligned=True), Tuple((int64, none)))
    """
    found, end = _types_from(text, 0)
    assert end == len(text), text
    return found


def _types_from(text: str, at: int) -> tuple[tuple[types.Type, ...], int]:
    """Return the types from a place on, and where they end: at a closing bracket, or with the text."""
    found: list[types.Type] = []
    while at < len(text) and text[at] != ")":
        one, at = _type_at(text, at + 2 if text.startswith(", ", at) else at)
        found.append(one)
    return tuple(found), at


def _type_at(text: str, at: int) -> tuple[types.Type, int]:
    if array := ARRAY.match(text, at):
        name, n_dims, layout, is_readonly, is_unaligned = array.groups()
        one = types.Array(_element(name), int(n_dims), layout, bool(is_readonly), aligned=not is_unaligned)
        return one, array.end()
    word = WORD.match(text, at)
    start = word.end() if word else at
    if text[start : start + 1] == "(":
        members, end = _types_from(text, start + 1)
        cls = class_at(word.group()) if word else None
        return types.BaseTuple.from_types(members, cls), end + 1
    assert word, text[at:]
    return SCALARS[word.group()], start


def _element(name: str) -> types.Type:
    """Return the type of an array's elements."""
    if name in SCALARS:
        return SCALARS[name]
    fields, size = name[1:-1].split("; ")
    names, formats, offsets = zip(*(field.split() for field in fields.split(", ")), strict=True)
    layout: dict[str, Any] = {
        "names": names,
        "formats": formats,
        "offsets": list(map(int, offsets)),
        "itemsize": int(size),
    }
    return from_dtype(np.dtype(layout))  # type: ignore[call-overload]


def writable(text: str) -> str:
    """Return the text of the same types, as if every array may be written."""
    return text.replace(READONLY, "")


def serves(offered: str, asked: str) -> bool:
    """Return whether code for types of one text can be called with those of the other.

    >>> serves("float64 2C readonly, float64 1C", "float64 2C, float64 1C")
    True
    >>> serves("float64 2C, float64 1C", "float64 2C readonly, float64 1C")
    False
    """
    if writable(offered) != writable(asked):
        return False
    pairs = zip(ARRAY.finditer(offered), ARRAY.finditer(asked), strict=True)
    return all(bool(one.group(4)) or not other.group(4) for one, other in pairs)


def class_at(where: str) -> Any:
    """Return the class at ``module:name``."""
    module, name = where.split(":")
    return getattr(import_module(module), name)


def place_of(member: Any) -> str:
    """Return where a class or function is, as ``module:name``."""
    return f"{member.__module__}:{member.__qualname__}"


def constant_text(constant: Any) -> str:
    """Return a constant that code gives back to Python, as text: a class by its place, an array's type by its name.

    >>> constant_text(np.dtype(np.float64))
    'float64'
    """
    return constant.name if isinstance(constant, np.dtype) else place_of(constant)


def constant_of(text: str) -> Any:
    """Return the constant that a text stands for."""
    return class_at(text) if ":" in text else np.dtype(text)


def listed() -> Iterator[tuple[str, str]]:
    """Yield the entries of the list: where the function is, and the text of its types."""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        place, _, text = line.partition("(")
        yield place, text.removesuffix(")")
