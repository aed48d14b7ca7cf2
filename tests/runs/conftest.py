"""The bundled heart table, a table of houses, and what ``learn`` makes of them, once for all tests of runs."""

from __future__ import annotations

import time
from functools import cache

import pytest

from eigenwood.data import datasets
from eigenwood.runs.clock import Clock
from eigenwood.runs.learn import learn
from eigenwood.runs.settings import Settings
from tests.runs import tables_of_learn

FAST = ("decision-tree", "kernel-logistic", "svm")


@pytest.fixture(scope="package")
def heart():
    return datasets.load("heart").table()


@pytest.fixture(scope="package")
def learned(heart):
    """What ``learn`` makes of the heart table by all methods."""
    return learn(heart, "disease", Settings())


@pytest.fixture(scope="package")
def learned_by(heart):
    """Return what ``learn`` makes of the heart table by some methods alone."""

    @cache
    def by(*methods):
        return learn(heart, "disease", Settings(models=methods))

    return by


@pytest.fixture(scope="package")
def limited():
    """A table, the seconds that ``learn`` had for it, what it made of it, and the seconds it took."""
    table, limit = tables_of_learn.three_kinds(20_000), 6.0
    began = time.perf_counter()
    learned = learn(table, "kind", Settings(time_limit=limit), clock=Clock(limit))
    return table, limit, learned, time.perf_counter() - began


@pytest.fixture(scope="package")
def houses():
    return tables_of_learn.houses()


@pytest.fixture(scope="package")
def priced(houses):
    """What ``learn`` makes of the houses by a method that takes tables, and one behind the encoder."""
    return learn(houses, "price", Settings(models=("regression-tree", "svm-regression")))
