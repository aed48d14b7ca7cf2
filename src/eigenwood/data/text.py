"""Texts as sentences of words, from files or from any iterable, in pieces that are never all in memory.

    "the drama was good\\nI liked it"     a file: a line is a sentence; words stand between white space
    [["the", "drama"], "I liked it"]     an iterable: lists of words, or strings that are cut at white space

A sentence may come in several pieces, however long it is: nothing is cut off. Files of questions about words are read
here as well.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eigenwood.data.naming import OPENERS, check_is_file
from eigenwood.errors import InputError, TableError

BLOCK = 1 << 20  # bytes of a file at a time
WHITE = b" \n\t\r\v\f"
BROKEN_FILE = (OSError, EOFError, lzma.LZMAError)


class Piece(NamedTuple):
    """Words of a sentence, and whether it ends with them."""

    words: Iterable[Any]
    ends: bool


class Question(NamedTuple):
    """The words of "a is to b as c is to d", and the section they stand in."""

    section: str
    words: tuple[str, str, str, str]


class WordPair(NamedTuple):
    """Two words, and how similar people find them."""

    first: str
    second: str
    score: float


def pieces_of(who: str, source: Any) -> Iterator[Piece]:
    """Yield the sentences of a file (a path that is no string), or of an iterable."""
    if isinstance(source, os.PathLike):
        yield from file_pieces(Path(source))
        return
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise InputError(
            f"{who}: sentences must be a file, as pathlib.Path, or an iterable of sentences; "
            f"got {'a string' if isinstance(source, str) else type(source).__name__}."
        )
    for number, sentence in enumerate(source):
        if isinstance(sentence, (bytes, dict)) or not isinstance(sentence, Iterable):
            raise InputError(
                f"{who}: a sentence must be a string or a list of words; got {type(sentence).__name__} "
                f"as sentence {number}."
            )
        yield Piece(sentence.split() if isinstance(sentence, str) else sentence, ends=True)


def file_pieces(path: Path) -> Iterator[Piece]:
    """Yield the lines of a file as sentences, a long one in several pieces."""
    for text in text_blocks(path):
        *lines, rest = text.split("\n")
        for line in lines:
            yield Piece(line.split(), ends=True)
        if words := rest.split():
            yield Piece(words, ends=False)
    yield Piece((), ends=True)


def text_blocks(path: Path) -> Iterator[str]:
    """Yield a file as text, cut between words only; ``.gz`` and ``.xz`` are decompressed."""
    check_is_file(path)
    rest, at = b"", 0
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
            while block := stream.read(BLOCK):
                block = rest + block
                end = max(block.rfind(white) for white in (WHITE[i : i + 1] for i in range(len(WHITE)))) + 1
                yield decoded(path, block[:end], at)
                rest, at = block[end:], at + end
    except BROKEN_FILE as error:
        raise TableError(f"{path.name}: must be a file that can be read; got {error}.") from error
    yield decoded(path, rest, at)


def decoded(path: Path, block: bytes, at: int) -> str:
    """Return bytes as text; ``at`` is where they stand in the file."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path.name}: must be UTF-8 text; got the byte 0x{block[error.start]:02x} at {at + error.start}."
        ) from None


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line that is not blank."""
    lines = "".join(text_blocks(path)).splitlines()
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def read_questions(path: str | os.PathLike) -> list[Question]:
    """Return the analogies in a file: four words in a line, and ": name" where a section begins."""
    path, section, questions = Path(path), "", []
    for number, line in lines_of(path):
        words = line.split()
        if words[0] == ":":
            section = " ".join(words[1:])
        elif len(words) == 4:
            questions.append(Question(section, (words[0], words[1], words[2], words[3])))
        else:
            raise TableError(f"{path.name}: line {number} must have four words, or begin with ':'; got {len(words)}.")
    if not questions:
        raise TableError(f"{path.name}: must hold a question; got none.")
    return questions


def read_word_pairs(path: str | os.PathLike) -> list[WordPair]:
    """Return the pairs in a file: two words and a number between tabs; lines that begin with # are remarks."""
    path, pairs = Path(path), []
    for number, line in lines_of(path):
        if line.startswith("#"):
            continue
        try:
            first, second, score = line.split("\t")[:3]
            pairs.append(WordPair(first.strip(), second.strip(), float(score)))
        except ValueError:
            raise TableError(
                f"{path.name}: line {number} must have two words and a number between tabs; got {line[:60]!r}."
            ) from None
    if not pairs:
        raise TableError(f"{path.name}: must hold a pair of words; got none.")
    return pairs
