"""Every example in a docstring, in the README and in docs/ gives what it says."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import eigenwood

ROOT = Path(__file__).resolve().parent.parent
NEEDED = {"eigenwood.estimators.tree.shadow_tree": "dtreeviz"}  # a package that is not ours
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(eigenwood.__path__, "eigenwood.")
    if importlib.util.find_spec(NEEDED.get(module.name, "eigenwood"))
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstring(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    counts = [len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(counts) > 50
