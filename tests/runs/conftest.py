"""The bundled heart table, a table of houses, and what ``learn`` makes of them, once for all tests of runs."""

from __future__ import annotations

from functools import cache

import pytest

from eigenwood.data import datasets
from eigenwood.estimators.registry import ENTRIES
from eigenwood.runs import learn as stages
from eigenwood.runs.learn import learn
from eigenwood.runs.settings import Settings
from tests.runs import fakes


@pytest.fixture(scope="package")
def heart():
    return datasets.load("heart").table()


@pytest.fixture(scope="package")
def learned(heart):
    return learn(heart, "disease", Settings())


@pytest.fixture(scope="package")
def learned_by(heart):
    """Return what ``learn`` makes of the heart table by one method alone, whichever is the best of all."""

    @cache
    def by(method):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stages, "ENTRIES", tuple(entry for entry in ENTRIES if entry.name == method))
            return learn(heart, "disease", Settings())

    return by


@pytest.fixture
def amounts(monkeypatch):
    """The methods for amounts of ``fakes``, as candidates."""
    monkeypatch.setattr(stages, "ENTRIES", fakes.LINES)


@pytest.fixture(scope="package")
def houses():
    return fakes.houses()


@pytest.fixture(scope="package")
def priced(houses):
    """What ``learn`` makes of the houses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "ENTRIES", fakes.LINES)
        return learn(houses, "price", Settings())


@pytest.fixture(scope="package")
def grouped():
    """The same where size matters little, so that the method that takes tables is chosen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "ENTRIES", fakes.LINES[1:])
        return learn(fakes.houses(town_matters=400.0), "price", Settings())
