"""The stored results: benchmarks/results/<method>.json, one record per case, every single time in it.

A run replaces the cases it ran and keeps the others, so each case carries its own date and machine facts.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile

import numpy as np

from benchmarks.case import Case
from benchmarks.discovery import HOME
from benchmarks.rounds import Row

SCHEMA = 1
RESULTS = HOME / "results"


def case_record(case: Case, rows: list[Row], data: dict[str, str], facts: dict) -> dict:
    """Return what is stored, and shown, about one case."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": facts,
        "data": data,
        "target": case.target,
        "quality": {"name": case.quality.name, "better": case.quality.better},
        "rows": [row_record(row) for row in rows],
        "exponents": exponents(rows),
    }


def row_record(row: Row) -> dict:
    """Return one row; medians are None where there is nothing to take them of."""
    whole = row.status == "ok"
    scores = [score for score in row.quality if score is not None]
    return {
        "contender": row.contender,
        "n": row.n,
        "status": row.status,
        "reason": row.reason,
        "seconds": [rounded(value) for value in row.seconds],
        "median_seconds": rounded(median(row.seconds)) if whole else None,
        "quality": rounded(median(scores)) if whole and scores else None,
        "peak_mb": rounded(median(row.peak_mb)) if whole else None,
    }


def exponents(rows: list[Row]) -> dict[str, float]:
    """Return p of the fit seconds ~ n^p for every contender that was timed at two sizes or more."""
    fitted = {}
    for name in dict.fromkeys(row.contender for row in rows):
        timed = [(row.n, median(row.seconds)) for row in rows if row.contender == name and row.status == "ok"]
        if len(timed) > 1:
            n, seconds = np.log(np.array(timed, dtype=float)).T
            fitted[name] = rounded(float(np.polyfit(n, seconds, 1)[0]))
    return fitted


def rounded(value: float) -> float:
    """Return four significant digits: more would be noise, and the files are kept small."""
    return float(f"{value:.4g}")


def store(method: str, records: dict[str, dict], folder: Path) -> Path:
    """Put the records of these cases into the method's file; return the file."""
    file = folder / f"{method}.json"
    cases = stored_cases(file) | records
    write_whole(file, json.dumps({"schema": SCHEMA, "method": method, "cases": cases}, indent=1) + "\n")
    return file


def stored_cases(file: Path) -> dict[str, dict]:
    """Return the records that ``file`` holds now."""
    if not file.exists():
        return {}
    stored = json.loads(file.read_text())
    return stored["cases"] if stored.get("schema") == SCHEMA else {}


def write_whole(file: Path, text: str) -> None:
    """Write under a temporary name, then rename: a reader sees the old file or the new one, never a part."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = NamedTemporaryFile("w", dir=file.parent, suffix=".tmp", delete=False)  # noqa: SIM115
    try:
        with temporary:
            temporary.write(text)
        os.chmod(temporary.name, 0o644)  # temporary files are private; results are to be read
        os.replace(temporary.name, file)
    except BaseException:
        os.unlink(temporary.name)
        raise
