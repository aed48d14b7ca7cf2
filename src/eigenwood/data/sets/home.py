"""Where the large data sets lie.

The data home is the folder in the environment variable ``EIGENWOOD_DATA``. Without it, a folder
``shared/data`` is looked for in the working directory and in every folder above it, then in every folder
above this package.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from eigenwood.errors import TableError

VARIABLE = "EIGENWOOD_DATA"
USUAL_PLACE = Path("shared") / "data"


def data_home() -> Path | None:
    """Return the folder of the large data sets, or None when there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        return existing_folder(named)
    return next((place for place in usual_places() if place.is_dir()), None)


def existing_folder(named: str) -> Path:
    folder = Path(named)
    if not folder.is_dir():
        raise TableError(f"{VARIABLE}: must be an existing folder; got {named!r}.")
    return folder


def usual_places() -> Iterable[Path]:
    for start in (Path.cwd(), Path(__file__).resolve()):
        for folder in (start, *start.parents):
            yield folder / USUAL_PLACE
