"""Find bench files by name: the method ``svm`` is ``bench_svm.py``."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from benchmarks.case import Case

HOME = Path(__file__).parent


def methods(folder: Path) -> list[str]:
    """Return the names of the methods that have a bench file."""
    return sorted(file.stem.removeprefix("bench_") for file in folder.glob("bench_*.py"))


def bench_file(method: str, folder: Path) -> Path:
    """Return the bench file of ``method``; a ValueError says which there are."""
    if method not in methods(folder):
        raise ValueError(f"METHOD must be one of {', '.join(methods(folder))}; got {method}.")
    return folder / f"bench_{method}.py"


def cases_of(file: Path) -> dict[str, Case]:
    """Return the cases that ``file`` defines, by name."""
    spec = spec_from_file_location(f"benchmarks.{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file.name} cannot be read as a Python module.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {case.name: case for case in module.CASES}
