"""What files and columns are called: endings, sentences about names, and files that appear whole or not at all.

Nothing here reads a table, so nobody waits for Arrow who only wants a name checked.
"""

from __future__ import annotations

import difflib
import gzip
import lzma
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from eigenwood.errors import TableError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
PARQUET_ENDINGS = (".parquet",)
ARROW_ENDINGS = (".feather", ".arrow")
OPENERS: dict[str, Callable[..., IO[bytes]]] = {".gz": gzip.open, ".xz": lzma.open}  # type: ignore[dict-item]
READ_ENDINGS = (*DELIMITERS, *PARQUET_ENDINGS, *ARROW_ENDINGS)
MAX_NAMES_IN_A_SENTENCE = 8


def ending(path: Path) -> str:
    """Return the ending that names the format: ``.csv`` for ``a.csv`` and for ``a.csv.gz``."""
    inner = Path(path.stem) if path.suffix.lower() in OPENERS else path
    return inner.suffix.lower()


def stem(path: Path) -> str:
    """Return the file name without its endings."""
    return path.name.removesuffix(path.suffix if path.suffix.lower() in OPENERS else "").rsplit(".", 1)[0]


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest allowed name, or nothing when none is close.

    >>> suggestion("diseas", ["age", "disease"])
    " (did you mean 'disease'?)"
    """
    close = difflib.get_close_matches(name, [str(word) for word in allowed], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listing(names: Iterable[str]) -> str:
    """Return the names as one phrase, cut short when there are many."""
    words = [repr(name) for name in names]
    if len(words) <= MAX_NAMES_IN_A_SENTENCE:
        return ", ".join(words)
    return ", ".join(words[:MAX_NAMES_IN_A_SENTENCE]) + f" … ({len(words)} in all)"


def check_is_file(path: Path) -> None:
    """Raise unless ``path`` is an existing file."""
    if path.is_dir():
        raise TableError(f"{path.name}: must be a file; got a folder.")
    if not path.exists():
        folder = path.parent
        neighbours = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        raise TableError(
            f"{path.name}: must be an existing file; got nothing of that name in "
            f"{str(folder)!r}{suggestion(path.name, neighbours)}."
        )


def unknown_ending(path: Path, allowed: Iterable[str]) -> TableError:
    """Return the error for a file whose ending names no format we know."""
    return TableError(f"{path.name}: ending must be one of {', '.join(allowed)}; got {path.suffix!r}.")


def is_text_file(path: Path) -> bool:
    return ending(path) in DELIMITERS


def check_names(who: str, names: list[str]) -> None:
    """Raise when there is no column, or two of one name."""
    if not names:
        raise TableError(f"{who}: must have at least one column; got none.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(f"{who}: column names must differ; got {name!r} {names.count(name)} times.")
        seen.add(name)


def unknown_column(who: str, name: str, names: list[str]) -> TableError:
    """Return the error for a column that the table does not have."""
    return TableError(f"{who}: column must be one of {listing(names)}; got {name!r}{suggestion(str(name), names)}.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it when the block succeeds, delete it when it fails.

    So a reader sees the old file or the new one, never half of one.
    """
    if not path.parent.is_dir():
        raise TableError(f"{path.name}: must be written to an existing folder; got {path.parent}.")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
