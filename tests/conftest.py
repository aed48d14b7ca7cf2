"""Shared by all tests: the data home, and who needs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eigenwood.data.datasets import data_home

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def pytest_collection_modifyitems(items):
    """Skip, and say so, the tests that need data this machine does not have."""
    absent = pytest.mark.skip(reason="needs the data home: set EIGENWOOD_DATA, or put it at ../shared/data")
    for item in items:
        if "data" in item.keywords and item.get_closest_marker("data") and data_home() is None:
            item.add_marker(absent)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent
