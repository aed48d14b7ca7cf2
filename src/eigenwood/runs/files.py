"""The files of a run, and how they are written: whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from eigenwood.data.naming import whole_file
from eigenwood.errors import InputError

RUN_FILE = "run.json"
MODEL_FILE = "model.safetensors"
REPORT_FILE = "report.html"
JOURNAL_FOLDER = ".journal"  # what an unfinished run has done so far


def ready_folder(folder: Path, *, resume: bool, force: bool) -> Path:
    """Return the folder of a run, checked before the work begins; nothing is overwritten unless that was asked."""
    check_can_be_written(folder)
    if force and not resume:
        shutil.rmtree(folder / JOURNAL_FOLDER, ignore_errors=True)
    else:
        check_is_free(folder, resume=resume)
    return folder


def check_is_free(folder: Path, *, resume: bool) -> None:
    """Raise for a finished run that would be overwritten, or an unfinished one that nobody asked to go on with."""
    is_finished, is_begun = (folder / RUN_FILE).exists(), (folder / JOURNAL_FOLDER).exists()
    if is_begun and not resume:
        raise InputError(f"{folder}: an unfinished run needs --resume to go on or --force to begin anew; got neither.")
    if is_finished and not is_begun:
        got = "--resume of a run that is finished" if resume else "one with a run in it"
        raise InputError(f"{folder}: --out must be a folder without a finished run, or --force be given; got {got}.")


def check_can_be_written(folder: Path) -> None:
    """Raise unless a file can be written into the folder, which is made for that, and taken away again."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise InputError(f"{folder}: --out must name a folder that can be written; got {str(existing)!r} in its place.")
    made = [place for place in (folder.absolute(), *folder.absolute().parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / ".probe") as temporary:
            temporary.write_text("eigenwood")
        (folder / ".probe").unlink()
    except OSError as error:
        raise InputError(
            f"{folder}: --out must name a folder that can be written; got {str(existing)!r}: {error.strerror}."
        ) from error
    finally:
        for place in made:
            if place.exists():
                place.rmdir()


def write_text(path: str | os.PathLike, text: str) -> Path:
    """Write a text file, whole or not at all."""
    path = Path(path)
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
