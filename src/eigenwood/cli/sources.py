"""What the words on the command line stand for: a table by file or by name, a model with its run beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from eigenwood.data import datasets
from eigenwood.data.naming import stem
from eigenwood.data.tables import Table, read_table
from eigenwood.errors import InputError
from eigenwood.runs.files import RUN_FILE
from eigenwood.runs.record import Run


def is_name(source: str) -> bool:
    """Return whether a word is the name of a data set, or a slip in one: ``load`` suggests the right one."""
    return not Path(source).is_file() and not Path(source).suffix


def table_and_target(
    source: str, target: str | None, *, needed: bool = True, kinds: Mapping[str, str] | None = None
) -> tuple[Table, str]:
    """Return the table and the column to predict; a bundled table knows its own."""
    if is_name(source):
        dataset = datasets.load(source)
        table, target = read_table(dataset.table(), kinds=kinds), target or dataset.target_name
    else:
        table = read_table(source, kinds=kinds)
    if target is None and needed:
        raise InputError(f"{table.name}: --target must name the column to predict; got nothing.")
    return table, target or ""


class Rows(NamedTuple):
    """What can be read in blocks."""

    source: Path | Table
    name: str
    target: str | None  # of a data set, that is not to be computed with


def rows_of(source: str) -> Rows:
    """Return the file, which is read when it is needed, or the data set that a word stands for."""
    if not is_name(source):
        return Rows(Path(source), stem(Path(source)), None)
    dataset = datasets.load(source)
    if isinstance(dataset.X, Mapping) and source in dataset.X:  # files of genotypes
        return Rows(Path(dataset.X[source]), source, None)
    return Rows(dataset.table(), source, dataset.target_name)


def names_in(words: str | None) -> tuple[str, ...]:
    """Return the names of columns between commas.

    >>> names_in("age, sex"), names_in(None)
    (('age', 'sex'), ())
    """
    return tuple(word.strip() for word in words.split(",")) if words else ()


def component_count(word: str) -> int | float:
    """Return a number of components, or a share of the variance; what it may be is checked by the run.

    >>> component_count("20"), component_count("0.9")
    (20, 0.9)
    """
    try:
        return int(word) if word.strip().lstrip("+-").isdigit() else float(word)
    except ValueError:
        raise InputError(f"--components must be an integer or a share of the variance, as 0.9; got {word!r}.") from None


def run_beside(model: Path) -> Run | None:
    """Return the record of the run that made a model, if it lies beside it."""
    run_file = model.parent / RUN_FILE
    return Run.load(run_file) if run_file.is_file() else None


def check_outputs(source: str, outputs: Mapping[str, Path | None]) -> None:
    """Raise, before the work begins, for a file that cannot be written, or that is another one at the same time."""
    taken = {Path(source).resolve(): "TABLE"}
    for option, path in outputs.items():
        if path is None:
            continue
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise InputError(f"{path}: {option} must be another file than {other}; got the same.")
        wrong = {
            "a folder of that name": path.is_dir(),
            f"no folder {str(path.parent)!r}": not path.parent.is_dir(),
            f"{str(path.parent)!r}, which is read-only": not os.access(path.parent, os.W_OK),
        }
        for got, is_wrong in wrong.items():
            if is_wrong:
                raise InputError(f"{path}: {option} must name a file in a folder that can be written; got {got}.")


class GivenText(NamedTuple):
    """Sentences to learn from."""

    source: Path | list[str]
    name: str


def text_of(source: str) -> GivenText:
    """Return the file, or the texts of the data set, that a word stands for."""
    if not is_name(source):
        return GivenText(Path(source), stem(Path(source)))
    texts = datasets.load(source).X
    if not isinstance(texts, list):
        raise InputError(f"{source}: TEXT must be a file or a data set of texts; got a table.")
    return GivenText(texts, source)


def plus_and_minus(question: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that are added, and those that are taken off.

    >>> plus_and_minus(["king", "-", "man", "+", "woman"])
    (['king', 'woman'], ['man'])
    """
    words: dict[str, list[str]] = {"+": [], "-": []}
    sign = "+"
    for place, word in enumerate(question):
        if word not in words:
            words[sign or "+"].append(word)
            sign = ""
        elif sign or place == 0:
            raise InputError(f"words: a word must stand between two signs; got {' '.join(question)!r}.")
        else:
            sign = word
    if sign:
        raise InputError(f"words: a word must stand behind each sign; got {' '.join(question)!r}.")
    return words["+"], words["-"]
