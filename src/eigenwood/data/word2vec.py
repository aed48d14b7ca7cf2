"""Word vectors in the two formats of word2vec, which gensim and others read and write.

    text      36226 100\\n          number of words, number of columns
              the 0.12 -0.5 …\\n    a word and its numbers in each line
    binary    36226 100\\n          the same
              the ␣ 400 bytes \\n   a word, a space, and float32 numbers, little-endian; the line's end may be missing

A file ending with .bin is binary, any other is text; .gz and .xz are compressed.
"""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from eigenwood.data.naming import OPENERS, check_is_file, ending, whole_file
from eigenwood.errors import TableError

BINARY = ".bin"
LONGEST_HEADER, LONGEST_WORD = 100, 1 << 20  # bytes
BROKEN_FILE = (OSError, EOFError, lzma.LZMAError, zlib.error)


def write_word2vec(path: str | os.PathLike, words: np.ndarray, vectors: np.ndarray, binary: bool | None = None) -> Path:
    """Write the vectors, whole or not at all."""
    path = Path(path)
    strange = next((word for word in words if word.split() != [word]), None)
    if strange is not None:
        raise TableError(f"{path.name}: words must be without white space in this format; got {strange!r}.")
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    with whole_file(path) as temporary, OPENERS.get(path.suffix.lower(), open)(temporary, "wb") as file:
        file.write(f"{rows.shape[0]} {rows.shape[1]}\n".encode())
        for word, row in zip(words, rows, strict=True):
            if is_binary(path, binary):
                file.write(f"{word} ".encode() + row.tobytes() + b"\n")
            else:
                file.write(f"{word} {' '.join(map(str, row.tolist()))}\n".encode())
    return path


def read_word2vec(path: str | os.PathLike, binary: bool | None = None) -> tuple[list[str], np.ndarray]:
    """Return the words of a file, and their vectors in float32."""
    path = Path(path)
    check_is_file(path)
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            n_words, n_columns = header_of(path, file.readline(LONGEST_HEADER))
            reading = binary_rows if is_binary(path, binary) else text_rows
            words, rows = [], []
            for word, row in reading(path, file, n_words, n_columns):
                words.append(word)
                rows.append(row)
            check_end(path, file, n_words)
    except BROKEN_FILE as error:
        raise TableError(f"{path.name}: must be a file that can be read; got {error}.") from error
    check_different(path, words)
    return words, checked_numbers(path, words, np.array(rows, dtype=np.float32))


def is_binary(path: Path, binary: bool | None) -> bool:
    return ending(path) == BINARY if binary is None else binary


def header_of(path: Path, line: bytes) -> tuple[int, int]:
    """Return the two numbers of the first line."""
    numbers = line.split()
    if len(numbers) != 2 or not all(number.isdigit() for number in numbers) or min(map(int, numbers)) < 1:
        raise TableError(
            f"{path.name}: the first line must be the number of words and the number of columns; got {line[:40]!r}."
        )
    return int(numbers[0]), int(numbers[1])


def text_rows(path: Path, file: IO[bytes], n_words: int, n_columns: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the words of a text file with their numbers."""
    for number in range(n_words):
        line = file.readline()
        if not line.strip():
            too_short(path, n_words, number)
        parts = line.rstrip().split(b" ")
        try:
            row = np.array(parts[1:], dtype=np.float32)
        except ValueError:
            row = np.empty(0, dtype=np.float32)
        if row.size != n_columns:
            raise TableError(
                f"{path.name}: line {number + 2} must have a word and {n_columns} numbers; got {line[:40]!r}."
            )
        yield word_of(path, parts[0], number), row


def binary_rows(path: Path, file: IO[bytes], n_words: int, n_columns: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the words of a binary file with their numbers."""
    block, at, size = b"", 0, 4 * n_columns
    for number in range(n_words):
        while (space := block.find(b" ", at)) < 0 or len(block) < space + 1 + size:
            if (space < 0 and len(block) - at > LONGEST_WORD) or not (more := file.read(1 << 20)):
                too_short(path, n_words, number)
            block, at = block[at:] + more, 0
        end = space + 1 + size
        yield word_of(path, block[at:space].lstrip(b"\n"), number), np.frombuffer(block[space + 1 : end], "<f4")
        at = end
    if block[at:].strip(b"\n"):
        too_long(path, n_words)


def word_of(path: Path, word: bytes, number: int) -> str:
    """Return a word as text."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError(f"{path.name}: words must be UTF-8 text; got {word[:40]!r} as word {number}.") from None


def check_end(path: Path, file: IO[bytes], n_words: int) -> None:
    """Raise if there is more in a file than its first line says."""
    if file.read(1 << 10).strip():
        too_long(path, n_words)


def too_short(path: Path, n_words: int, number: int) -> NoReturn:
    raise TableError(f"{path.name}: must hold the {n_words} vectors that its first line promises; got {number}.")


def too_long(path: Path, n_words: int) -> NoReturn:
    raise TableError(f"{path.name}: must hold the {n_words} vectors that its first line promises; got more.")


def check_different(path: Path, words: list[str]) -> None:
    """Raise if a word comes twice."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            raise TableError(f"{path.name}: words must differ; got {word!r} twice.")
        seen.add(word)


def checked_numbers(path: Path, words: list[str], vectors: np.ndarray) -> np.ndarray:
    """Return vectors; raise if a number of them is not finite."""
    strange = ~np.isfinite(vectors).all(axis=1)
    if strange.any():
        raise TableError(f"{path.name}: numbers must be finite; got NaN or infinity for {words[strange.argmax()]!r}.")
    return vectors
