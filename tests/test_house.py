"""The house itself: what a newcomer relies on."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest
from typer.main import get_command

import eigenwood
from eigenwood import plots
from eigenwood.cli.main import app
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


def test_checks_of_what_users_give_stand_in_validation(repository):
    for path in (repository / "src" / "eigenwood" / "estimators").rglob("*.py"):
        assert "raise InputError" not in path.read_text(encoding="utf-8"), path


MOST_PARAMETERS, MANY_PARAMETERS, FUNCTIONS_OF_MANY = 17, 10, 7


def test_no_function_takes_more_parameters_than_a_reader_can_hold(repository):
    """Of hyper-parameters there may be more, since scikit-learn's are counted among them."""
    counts = {
        f"{path.stem}.{node.name}": len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
        for folder in ("core", "proofs", "validation", "estimators")
        for path in (repository / "src" / "eigenwood" / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    }
    assert {name: n for name, n in counts.items() if n > MOST_PARAMETERS} == {}
    assert sum(n > MANY_PARAMETERS for n in counts.values()) <= FUNCTIONS_OF_MANY


def test_the_architecture_is_read_in_a_few_minutes(repository):
    assert len((repository / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= 1200


# --- what the package shows ---------------------------------------------------------------------------


def test_every_public_name_is_there_once_and_has_a_home():
    names = eigenwood.__all__
    assert len(set(names)) == len(names)
    assert sorted(eigenwood._HOME_OF) == sorted(names)
    assert [name for name in names if getattr(eigenwood, name).__doc__ is None] == []


def test_figures_are_reachable_and_all_of_them_listed():
    assert eigenwood.plots is plots
    assert set(re.findall(r"plots\.(\w+)\(", plots.__doc__)) <= set(plots.__all__)
    assert all(callable(getattr(plots, name)) for name in plots.__all__)


def test_the_package_says_that_it_has_types(repository):
    assert (repository / "src" / "eigenwood" / "py.typed").is_file()


# --- what the pages show ------------------------------------------------------------------------------


def test_the_reference_has_every_public_name_and_no_other(repository):
    page = (repository / "docs" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `([\w.]+)` \|", page, flags=re.MULTILINE)
    public = [*eigenwood.__all__, *(f"plots.{name}" for name in plots.__all__)]
    assert sorted(name for name in names if not name.startswith("data.")) == sorted(public)


@pytest.mark.parametrize("page", ["README.md", "docs/learn.md"])
def test_the_pages_on_learn_have_all_of_its_options(page, repository):
    text = (repository / page).read_text(encoding="utf-8")
    options = [param.opts[0] for param in get_command(app).commands["learn"].params if param.opts[0].startswith("--")]
    assert len(options) > 10
    assert [option for option in options if f"{option}`" not in text and f"{option} " not in text] == []


def test_every_page_is_in_the_navigation(repository):
    listed = re.findall(r"- ([\w/-]+\.md)$", (repository / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    docs = repository / "docs"
    assert sorted(listed) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def test_links_between_pages_lead_somewhere(repository):
    pages = [*repository.glob("*.md"), *(repository / "docs").rglob("*.md"), *(repository / "benchmarks").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_pictures_are_small(repository):
    assert [path.name for path in (repository / "docs").rglob("*.png") if path.stat().st_size > 300_000] == []
