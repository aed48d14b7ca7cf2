"""The inside of one fresh process: make the arrays of a case, or let one contender run on them.

    python -m benchmarks.worker JOB.json        the answer is written to the file that the job names

Order of a run: import the contender, load the arrays whole (a memory map would be read by the clocked code),
warm up on a small slice, then clock.
"""

from __future__ import annotations

import gc
import json
import math
import platform
import re
import sys
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.case import OURS, Arrays, Case
from benchmarks.discovery import cases_of
from benchmarks.memory import PeakMemory


def main(job_file: str) -> None:
    """Do the job and write its answer; whatever goes wrong is an answer too."""
    job = json.loads(Path(job_file).read_text())
    try:
        answer = ACTIONS[job["action"]](cases_of(Path(job["bench"]))[job["case"]], job)
    except ModuleNotFoundError as error:
        traceback.print_exc()
        answer = answer_to_missing_module(error)
    except Exception as error:
        traceback.print_exc()
        answer = {"status": "failed", "reason": reason_of(error)}
    Path(job["answer"]).write_text(json.dumps(answer))


def made(case: Case, job: dict) -> dict:
    """Save the arrays of the case; return what they are."""
    arrays = case.make(job["n"]) if case.sizes else case.make()
    for name, array in arrays.items():
        np.save(Path(job["arrays"]) / f"{name}.npy", array)
    return {"status": "ok", "data": {name: description(array) for name, array in arrays.items()}}


def measured(case: Case, job: dict) -> dict:
    """Return seconds, quality and peak memory of one run of one contender."""
    run = case.contenders[job["contender"]](job["threads"])
    arrays = load_arrays(Path(job["arrays"]))
    run(case.small(arrays))
    gc.collect()

    memory = PeakMemory()
    start = time.perf_counter()
    result = run(arrays)
    seconds = time.perf_counter() - start
    peak_mb = memory.mb()

    return {"status": "ok", "seconds": seconds, "peak_mb": peak_mb, "quality": score(case, arrays, result)}


ACTIONS = {"make": made, "run": measured}


def load_arrays(folder: Path) -> Arrays:
    """Return the saved arrays, read whole into memory."""
    return {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}


def description(array: np.ndarray) -> str:
    """Return "8000 x 784 float32"; for a remark, its text."""
    array = np.asarray(array)
    if array.ndim == 0:
        return str(array)
    return f"{' x '.join(map(str, array.shape))} {array.dtype}"


def score(case: Case, arrays: Arrays, result) -> float | None:
    """Return the quality of the result; None for a yardstick, an error for what is no number."""
    if result is None:
        return None
    quality = float(case.quality.of(arrays, result))
    if not math.isfinite(quality):
        raise ValueError(f"{case.quality.name} is {quality}")
    return quality


def answer_to_missing_module(error: ModuleNotFoundError) -> dict:
    """Return "missing" for a package that is not installed, "failed" for a broken import."""
    package = (error.name or "").partition(".")[0]
    if package and package != OURS and find_spec(package) is None:
        return {"status": "missing", "reason": f"{package} is not installed (pip install .[bench])"}
    return {"status": "failed", "reason": reason_of(error)}


def reason_of(error: Exception) -> str:
    """Return type and first line of the error, fit to publish."""
    first_line = (str(error).splitlines() or [""])[0]
    return publishable(f"{type(error).__name__}: {first_line}".rstrip(": "))


def publishable(text: str) -> str:
    """Return the text without paths and without the name of this machine.

    >>> publishable("cannot open '/home/me/data.csv'")
    "cannot open '<path>'"
    """
    text = re.sub(r"(?:[A-Za-z]:)?(?:[\\/~][^\s'\"\\/:,;()]+){2,}", "<path>", text)
    host = platform.node()
    return text.replace(host, "<host>") if host else text


if __name__ == "__main__":
    main(sys.argv[1])
