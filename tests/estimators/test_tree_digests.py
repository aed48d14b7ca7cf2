"""The same trees as ever, bit for bit: digests of many fits."""

import json

import pytest

from tests.estimators.tree_digests import CASES, FILE, digest

STORED = json.loads(FILE.read_text())


def test_every_case_is_stored():
    assert list(STORED) == list(CASES)
    assert len(CASES) >= 100


@pytest.mark.parametrize("name", CASES)
def test_the_trees_are_those_of_before(name):
    assert digest(CASES[name]()) == STORED[name]
