"""The bundled heart table, and what ``learn`` makes of it, once for all tests of runs."""

from __future__ import annotations

import pytest

from eigenwood.data import datasets
from eigenwood.runs.learn import Settings, learn


@pytest.fixture(scope="package")
def heart():
    return datasets.load("heart").table()


@pytest.fixture(scope="package")
def learned(heart):
    return learn(heart, "disease", Settings())
