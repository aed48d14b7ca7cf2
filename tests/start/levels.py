"""How much the code of one level differs from that of another: ``python -m tests.start.levels v3 v4``.

All calls of ``calls.py`` run in a process for each level, with its store; this machine must have both, and the stores
must be there (``python -m eigenwood.compiling.build --levels v3 v4``). Of each call that differs, the attributes are
told, the worst first: by how much, as a share of the largest number there, or how many entries, if they are no amounts.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenwood.compiling.choice import chosen
from eigenwood.compiling.levels import LEVELS
from tests.start.calls import CALLS

MOST_TOLD = 4  # attributes of a call


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every array, number and word in what a call has computed, with a name for it."""
    if sparse.issparse(value):
        value = value.toarray()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if hasattr(value, "FITTED"):
        value = {key: getattr(value, key) for key in value.FITTED if hasattr(value, key) and key != "certificate_"}
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{name}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from leaves(part, f"{name}[{i}]")
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield name, value.astype(str)
    else:
        yield (
            name,
            value if isinstance(value, np.ndarray) else np.array(value if isinstance(value, float) else repr(value)),
        )


def difference(one: np.ndarray, other: np.ndarray) -> str | None:
    """Return in words how two results differ, or nothing if they have the same bits."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{one.shape} {one.dtype} and {other.shape} {other.dtype}"
    if one.tobytes() == other.tobytes():
        return None
    if one.dtype.kind != "f":
        return f"{np.count_nonzero(one != other)} of {one.size} entries"
    with np.errstate(all="ignore"):
        apart, largest = np.nanmax(np.abs(one - other), initial=0.0), np.nanmax(np.abs(one), initial=0.0)
    return f"{apart / largest if largest else apart:.0e} of {largest:.1e}"


def run(path: Path) -> None:
    """Make all calls and keep what they computed."""
    warnings.simplefilter("ignore")
    told: dict[str, Any] = {}
    for name, call in CALLS.items():
        told[name] = list(leaves(call()))
    choice = chosen()
    assert choice.store is not None, choice.reason
    told["level"] = choice.level.name
    path.write_bytes(pickle.dumps(told))


def told_by(name: str, path: Path) -> dict[str, Any]:
    """Return what all calls compute with the code of a level."""
    level = next(level for level in LEVELS if level.name == name)
    if not path.exists():
        program = f"from pathlib import Path; from tests.start.levels import run; run(Path({str(path)!r}))"
        subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, **level.environment()})
    told = pickle.loads(path.read_bytes())
    assert told.pop("level") == name
    return told


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, other = (told_by(name, Path(folder, name)) for name in sys.argv[1:3])
    n_different = 0
    for name in CALLS:
        pairs = zip(one[name], other[name], strict=False)
        found = [f"{place}: {words}" for (place, a), (_, b) in pairs if (words := difference(a, b))]
        found += ["another number of parts"] if len(one[name]) != len(other[name]) else []
        n_different += bool(found)
        if found:
            print(f"{name}: {'; '.join(found[:MOST_TOLD])}{' …' if len(found) > MOST_TOLD else ''}")
    print(f"{n_different} of {len(CALLS)} calls differ")


if __name__ == "__main__":
    main()
