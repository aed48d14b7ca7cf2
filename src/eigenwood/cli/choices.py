"""What the words of ``learn`` ask for: settings, and the folder that is written."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from eigenwood.cli.sources import is_name, names_in
from eigenwood.data.naming import stem
from eigenwood.errors import InputError
from eigenwood.learning import seconds_of
from eigenwood.runs.files import ready_folder
from eigenwood.runs.settings import Settings


def settings_of(words: dict[str, Any]) -> Settings:
    """Return the settings that the options say."""
    lists: dict[str, Any] = {name: names_in(words[name]) for name in ("models", "drop", "use")}
    plain = {name: words[name] for name in ("metric", "group", "order", "weights", "seed", "strict")}
    return Settings(
        **plain,
        **lists,
        kinds=kinds_of(words["kinds"]),
        test_fraction=words["test"],
        time_limit=seconds_of(words["time"]),
    )


def kinds_of(words: Iterable[str]) -> dict[str, str]:
    """Return the kinds of columns that were set.

    >>> kinds_of(["year=number", "zip=category"])
    {'year': 'number', 'zip': 'category'}
    """
    found = dict[str, str]()
    for word in words:
        name, sign, kind = word.rpartition("=")
        if not sign or not name:
            raise InputError(f"--kind must be COLUMN=KIND, as year=number; got {word!r}.")
        found[name] = kind
    return found


def learn_folder(folder: Path | None, source: str, *, resume: bool, force: bool) -> Path:
    """Return the folder of a run, checked before the work begins; nothing is overwritten unless that was asked."""
    base = Path(f"eigenwood-{source if is_name(source) else stem(Path(source))}")
    if folder is None:
        folder = base if resume or force else first_free(base)
    return ready_folder(folder, resume=resume, force=force)


def first_free(base: Path) -> Path:
    """Return the folder, or the first of its kin with a number behind it that does not exist."""
    names = (base if number == 1 else base.with_name(f"{base.name}-{number}") for number in count(1))
    return next(path for path in names if not path.exists())
