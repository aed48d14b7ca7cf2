"""Facts about the machine that a reader needs to judge a time: no names of hosts, no paths."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np  # noqa: F401 - loads the BLAS, so that threadpoolctl sees it
from threadpoolctl import threadpool_info

LIBRARIES = (
    "eigenwood",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "scikit-learn-intelex",
    "lightgbm",
    "ydf",
    "gensim",
)


def machine_facts(threads: int) -> dict:
    """Return the facts, ready for JSON."""
    return {
        "cpu": cpu_model(),
        "cores": usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": blas_versions(),
        "libraries": library_versions(),
        "threads": threads,
    }


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def usable_cores() -> int:
    """Return how many cores this process may use: containers often have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blas_versions() -> list[str]:
    """Return name, version and chosen CPU kernel of each loaded BLAS."""
    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    words = ("internal_api", "version", "architecture")
    return sorted({" ".join(str(info[word]) for word in words if info.get(word)) for info in libraries})


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that are installed."""
    return {name: found for name in LIBRARIES if (found := _installed_version(name))}


def _installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
