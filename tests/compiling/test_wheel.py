"""What a wheel gets: which levels are compiled for whom, and what is packed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest


class Hook:
    """What hatchling's hook is to a hook: a place to keep the root of the source."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)


@pytest.fixture
def hook(repository, monkeypatch):
    """The hook of this repository; hatchling itself is there only while a wheel is built."""
    names = "hatchling.builders.hooks.plugin.interface".split(".")
    for n in range(1, len(names) + 1):
        monkeypatch.setitem(sys.modules, ".".join(names[:n]), ModuleType(names[n - 1]))
    sys.modules[".".join(names)].BuildHookInterface = Hook
    spec = importlib.util.spec_from_file_location("hatch_build", repository / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in (*module.INSTALLERS, module.LEVELS):
        monkeypatch.delenv(name, raising=False)
    return module


@pytest.fixture
def run(monkeypatch):
    """Take the place of the compiler: note what it was asked for, and write a file for each level."""
    asked, outcome = [], SimpleNamespace(returncode=0)

    def compiled(command, **_):
        out, levels = Path(command[command.index("--out") + 1]), command[command.index("--levels") + 1 :]
        asked.append(levels)
        for level in levels if outcome.returncode == 0 else []:
            (out / f"some-{level}.code").write_text(level)
        return outcome

    monkeypatch.setattr(subprocess, "run", compiled)
    return SimpleNamespace(asked=asked, outcome=outcome)


def built(hook, repository, version="standard"):
    """Return what the wheel is told to hold; the files are there until the end."""
    data = {"force_include": {}, "pure_python": True, "infer_tag": False}
    code = hook.MachineCode(repository)
    code.initialize(version, data)
    assert all(Path(path).is_file() for path in data["force_include"])
    code.finalize(version, data, "")
    assert not any(Path(path).exists() for path in data["force_include"])
    return data


@pytest.mark.parametrize(
    ("variables", "levels"),
    [
        ({}, ["all"]),
        ({"PIP_BUILD_TRACKER": "x"}, ["host"]),
        ({"UV": "x"}, ["host"]),
        ({"EIGENWOOD_LEVELS": "v2 v3", "PIP_BUILD_TRACKER": "x"}, ["v2", "v3"]),
    ],
)
def test_a_wheel_to_hand_out_has_all_levels_and_an_installation_the_hosts(
    hook, run, repository, monkeypatch, variables, levels
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    data = built(hook, repository)
    assert run.asked == [levels]
    assert sorted(data["force_include"].values()) == [f"eigenwood/compiling/code/some-{level}.code" for level in levels]
    assert (data["pure_python"], data["infer_tag"]) == (False, True)


def test_nothing_is_compiled_for_an_editable_installation_or_if_asked_so(hook, run, repository, monkeypatch):
    assert built(hook, repository, "editable")["pure_python"]
    monkeypatch.setenv("EIGENWOOD_LEVELS", "none")
    assert built(hook, repository)["pure_python"]
    assert run.asked == []


def test_where_nothing_can_be_compiled_there_is_a_wheel_of_source(hook, run, repository, capsys):
    run.outcome.returncode = 1
    data = built(hook, repository)
    assert (data["force_include"], data["pure_python"]) == ({}, True)
    assert "when they are first used" in capsys.readouterr().out
