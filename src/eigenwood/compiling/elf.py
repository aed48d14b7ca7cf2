"""What an object file needs from others: the undefined symbols of an ELF file."""

from __future__ import annotations

import struct

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SYMBOL_TABLE = 2  # type of a section
UNDEFINED = 0  # number of the section that a symbol is in


def undefined_symbols(code: bytes) -> list[str]:
    """Return the names that the object uses and does not define, in order."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the object must be a 64-bit little-endian ELF file")
    header = HEADER.unpack_from(code)
    first, size, n_sections = header[6], header[11], header[12]
    sections = [SECTION.unpack_from(code, first + i * size) for i in range(n_sections)]
    names = set()
    for _, kind, _, _, start, length, strings, *_ in sections:
        if kind == SYMBOL_TABLE:
            text = sections[strings][4]
            for at in range(start, start + length, SYMBOL.size):
                name, _, _, section, _, _ = SYMBOL.unpack_from(code, at)
                if section == UNDEFINED and name:
                    names.add(code[text + name : code.index(b"\0", text + name)].decode())
    return sorted(names)
