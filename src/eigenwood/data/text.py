"""Texts as sentences of words, from files or from any iterable, in pieces that are never all in memory.

    "the drama was good\\nI liked it"     a file: a line is a sentence; words stand between white space
    [["the", "drama"], "I liked it"]     an iterable: lists of words, or strings that are cut at white space

Lists of words come as they are. Other text comes in blocks of UTF-8 that are cut between words, so a sentence may go
on in the next block, however long it is: nothing is cut off. Files of questions about words are read here as well.
"""

from __future__ import annotations

import codecs
import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eigenwood.data.naming import OPENERS, check_is_file
from eigenwood.errors import InputError, TableError

BLOCK = 1 << 22  # bytes of a text at a time
NEWLINE, NO_LETTER = b"\n", b"\xff"  # bytes behind a sentence: of a file, and of a string, which may hold newlines
WHITE = (b" ", b"\n", b"\t", b"\r", b"\v", b"\f")
UTF_8 = "utf-8"
BROKEN_FILE = (OSError, EOFError, lzma.LZMAError)


class TextBlock(NamedTuple):
    """Some text in UTF-8, cut between words."""

    letters: bytes
    end: bytes  # the byte behind a sentence


class Question(NamedTuple):
    """The words of "a is to b as c is to d", and the section they stand in."""

    section: str
    words: tuple[str, str, str, str]


class WordPair(NamedTuple):
    """Two words, and how similar people find them."""

    first: str
    second: str
    score: float


def sentences_of(who: str, source: Any, encoding: str = UTF_8) -> Iterator[TextBlock | Iterable[Any]]:
    """Yield a file (a path that is no string) or an iterable of sentences: blocks of text, or lists of words."""
    if isinstance(source, os.PathLike):
        for letters in file_blocks(Path(source), encoding):
            yield TextBlock(letters, NEWLINE)
        yield TextBlock(NEWLINE, NEWLINE)
        return
    if isinstance(source, (str, bytes)) or not isinstance(source, Iterable):
        raise InputError(
            f"{who}: sentences must be a file, as pathlib.Path, or an iterable of sentences; "
            f"got {'a string' if isinstance(source, str) else type(source).__name__}."
        )
    waiting, n_letters = list[str](), 0
    for number, sentence in enumerate(source):
        if isinstance(sentence, str):
            waiting.append(sentence)
            n_letters += len(sentence)
            if n_letters < BLOCK:
                continue
        elif isinstance(sentence, (bytes, dict)) or not isinstance(sentence, Iterable):
            raise InputError(
                f"{who}: a sentence must be a string or a list of words; got {type(sentence).__name__} "
                f"as sentence {number}."
            )
        yield from blocks_of(waiting)
        waiting, n_letters = [], 0
        if not isinstance(sentence, str):
            yield sentence
    yield from blocks_of(waiting)


def blocks_of(sentences: list[str]) -> Iterator[TextBlock]:
    """Yield strings as blocks of text; a long one is cut behind a space."""
    letters, start = b"".join(sentence.encode(UTF_8, "surrogatepass") + NO_LETTER for sentence in sentences), 0
    while start < len(letters):
        end = letters.rfind(b" ", start, start + BLOCK) + 1
        if start + BLOCK >= len(letters) or end == 0:
            end = len(letters)
        yield TextBlock(letters[start:end], NO_LETTER)
        start = end


def file_blocks(path: Path, encoding: str = UTF_8) -> Iterator[bytes]:
    """Yield a file as UTF-8, cut between words only; ``.gz`` and ``.xz`` are decompressed."""
    check_is_file(path)
    rest, at, decoder = b"", 0, codecs.getincrementaldecoder(encoding)()
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as stream:
            while block := stream.read(BLOCK):
                letters = rest + decoded(path, decoder, block, at, encoding)
                end = max(map(letters.rfind, WHITE)) + 1
                yield letters[:end]
                rest, at = letters[end:], at + len(block)
    except BROKEN_FILE as error:
        raise TableError(f"{path.name}: must be a file that can be read; got {error}.") from error
    yield rest + decoded(path, decoder, b"", at, encoding)


def decoded(path: Path, decoder: codecs.IncrementalDecoder, block: bytes, at: int, encoding: str) -> bytes:
    """Return bytes as UTF-8; ``at`` is where they stand in the file, and no more come if there are none."""
    n_waiting = len(decoder.getstate()[0])  # bytes of a letter that began before
    try:
        return decoder.decode(block, final=not block).encode()
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path.name}: must be {encoding.upper()} text; got the byte 0x{error.object[error.start]:02x} "
            f"at {at - n_waiting + error.start}."
        ) from None


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line that is not blank."""
    lines = b"".join(file_blocks(path)).decode().splitlines()
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
