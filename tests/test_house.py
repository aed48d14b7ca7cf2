"""The house itself: what a newcomer relies on."""

from __future__ import annotations

import re
import tomllib

import pytest

import eigenwood
from eigenwood.estimators.registry import ENTRIES


def test_the_import_rule_has_no_exceptions(repository):
    contracts = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert contracts
    assert all("ignore_imports" not in contract for contract in contracts)


def test_the_readme_has_two_set_up_commands_right_after_its_sentence(repository):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install .*$", readme, flags=re.MULTILINE)
    assert commands == ["pip install . && eigenwood learn heart", 'pip install ".[test]" && python -m pytest']


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_method_is_exported_and_has_its_page(entry, repository):
    assert getattr(eigenwood, entry.estimator.__name__) is entry.estimator
    assert entry.estimator.__name__ in eigenwood.__all__
    page = (repository / "docs" / "methods" / f"{entry.name}.md").read_text(encoding="utf-8")
    assert entry.estimator.__name__ in page


def test_nothing_is_left_open_in_the_source(repository):
    for path in (repository / "src").rglob("*.py"):
        assert not re.search(r"TODO|FIXME|NotImplementedError", path.read_text(encoding="utf-8")), path


def test_version_is_the_packages(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    assert eigenwood.__version__ == project["version"]


def test_the_architecture_is_read_in_a_few_minutes(repository):
    assert len((repository / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= 1200
