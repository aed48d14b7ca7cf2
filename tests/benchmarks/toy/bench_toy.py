"""A bench file that needs NumPy only and has every kind of contender: good, slow, missing, broken."""

import os
import time
from pathlib import Path

import numpy as np

from benchmarks.case import Case, Quality

SECRET = "/home/somebody/private/data.csv"


def note(what):
    """Write down who ran, in which process, on how many threads, if a test wants to know."""
    if "TOY_LOG" in os.environ:
        with Path(os.environ["TOY_LOG"]).open("a") as log:
            log.write(f"{what} {os.getpid()} {os.environ['OMP_NUM_THREADS']}\n")


def numbers(n=1000):
    return {"x": np.arange(float(n)), "source": np.array("counted")}


def ours(threads):
    note("eigenwood")
    return lambda arrays: arrays["x"].sum()


def theirs(threads):
    note("numpy")
    return lambda arrays: np.add.reduce(arrays["x"]) + 1.0


def hungry(threads):
    return lambda arrays: np.ones(10_000_000)[: arrays["x"].size].sum()


def yardstick(threads):
    return lambda arrays: None


def missing(threads):
    import a_rival_that_nobody_has  # noqa: F401


def unfinished(threads):
    import eigenwood.not_yet_written  # noqa: F401


def broken(threads):
    raise FileNotFoundError(2, "No such file", SECRET)


def aborting(threads):
    return lambda arrays: os.abort()


def endless(threads):
    return lambda arrays: time.sleep(60)


def undefined(threads):
    return lambda arrays: np.nan


def error(arrays, total):
    return abs(total - arrays["x"].sum())


def no_data():
    raise FileNotFoundError(2, "No such file", SECRET)


ERROR = Quality("error", error, better="lower")

CASES = [
    Case("plain", numbers, {"eigenwood": ours, "numpy": theirs, "absent": missing}, ERROR, target="be quick"),
    Case(
        "odd",
        numbers,
        {
            "eigenwood": unfinished,
            "yardstick": yardstick,
            "hungry": hungry,
            "broken": broken,
            "aborting": aborting,
            "undefined": undefined,
        },
        ERROR,
    ),
    Case("growing", numbers, {"eigenwood": ours, "endless": endless}, ERROR, sizes=(10, 20), time_limit=3.0),
    Case("no_data", no_data, {"eigenwood": ours}, ERROR),
]
