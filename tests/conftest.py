"""Shared by all tests: who needs the data home, and that its tests run wherever it is."""

from __future__ import annotations

import gc
import os

# Tests run on as many workers as there are cores: more threads of BLAS would wait for each other, and burn CPU time.
# Set before NumPy loads BLAS; a test that needs more threads of BLAS asks threadpoolctl for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from eigenwood.compiling.choice import chosen
from eigenwood.compiling.store import Store
from eigenwood.data.datasets import data_home

# Time is short in CI: what does not ask for more has this many examples, and there the same ones in every run:
# new ones are for a developer to look at, not for chance to stop a landing.
settings.register_profile("short", max_examples=15, deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("short")

NEEDS_DATA = "needs the data home"
REQUIRED = bool(os.environ.get("EIGENWOOD_REQUIRE_DATA"))

_outcomes: dict[str, int] = {"passed": 0, "failed": 0, "skipped": 0}


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Do not search for garbage among tests, neither while they are collected nor later: they all stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items):
    """Skip, and say so, the tests that need data this machine does not have; begin with those that take minutes.

    At the end of a run one worker would wait for the other.
    """
    items.sort(key=lambda item: item.path.parent.name != "start")
    absent = pytest.mark.skip(reason="needs the data home: set EIGENWOOD_DATA, or put it at ../shared/data")
    for item in items:
        if item.get_closest_marker("data"):
            item.user_properties.append((NEEDS_DATA, True))  # keywords would do, were there no folder of that name
            if data_home() is None:
                item.add_marker(absent)


def pytest_runtest_logreport(report):
    """Count what became of the tests that need data."""
    if any(name == NEEDS_DATA for name, _ in report.user_properties) and (report.when == "call" or report.skipped):
        _outcomes[report.outcome] += 1


def pytest_sessionfinish(session):
    """Fail a run that should have used the data home and did not."""
    if REQUIRED and (_outcomes["skipped"] or not _outcomes["passed"]):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if REQUIRED and (_outcomes["skipped"] or not _outcomes["passed"]):
        terminalreporter.write_line(f"The data home is required, but its tests did not all run: {_outcomes}.", red=True)


@pytest.fixture(autouse=True)
def _chance_is_the_same_in_every_run():
    """What is fitted without a ``random_state`` draws from NumPy's generator: no test may pass or fail by luck."""
    np.random.seed(0)


@pytest.fixture(scope="session")
def store() -> Store:
    """The ready-made machine code; an installation from source has none until it is built, but CI's must have it."""
    choice = chosen()
    if choice.store is None and os.environ.get("EIGENWOOD_REQUIRE_CODE"):
        pytest.fail(f"CI must have ready-made code: {choice.reason}")
    if choice.store is None:
        pytest.skip(f"needs ready-made code (python -m eigenwood.compiling.build): {choice.reason}")
    return choice.store


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent
