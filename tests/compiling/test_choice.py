"""Which code is used, and the reason that is told."""

from __future__ import annotations

import shutil

import pytest
from numba.core import config

from eigenwood.compiling import choice, levels
from eigenwood.compiling.store import HEAD


@pytest.fixture
def folder(store, tmp_path, monkeypatch):
    """A folder with a copy of the store in use, which is used in its place."""
    shutil.copy(store.path, tmp_path)
    monkeypatch.setenv(choice.SWITCH, str(tmp_path))
    return tmp_path


def chosen() -> choice.Choice:
    return choice.chosen.__wrapped__()


def test_a_store_that_fits_is_used(folder, store):
    now = chosen()
    assert now.store.path == folder / store.path.name
    assert now.level.features <= levels.target_features()
    assert now.level.name in store.path.name
    assert choice.code_features() == choice.chosen().level.features


def refused(monkeypatch, words: str) -> None:
    now = chosen()
    assert now.store is None
    assert now.level is None
    assert words in now.reason
    monkeypatch.setattr(choice, "chosen", lambda: now)
    assert choice.code_features() == levels.target_features()
    assert now.reason in choice.description()["code"]


def test_who_asks_for_the_compiler_gets_it(folder, monkeypatch):
    monkeypatch.setenv(choice.SWITCH, choice.JIT)
    refused(monkeypatch, "EIGENWOOD_CODE=jit asks for it")


@pytest.mark.parametrize(
    ("name", "value"), [("BOUNDSCHECK", 1), ("OPT", type(config.OPT)(0)), ("DEBUGINFO_DEFAULT", 1)], ids=str
)
def test_numbas_variables_that_change_code_refuse_the_store(folder, monkeypatch, name, value):
    monkeypatch.setattr(config, name, value)
    refused(monkeypatch, "asks for other code than is shipped")


def test_no_file(folder, store, monkeypatch):
    (folder / store.path.name).unlink()
    refused(monkeypatch, "there is no")


@pytest.mark.parametrize("length", [0, 7, HEAD.size, HEAD.size + 100])
def test_a_file_that_is_cut_off(folder, store, monkeypatch, length):
    path = folder / store.path.name
    path.write_bytes(path.read_bytes()[:length])
    refused(monkeypatch, "cut off")


def test_edited_source(folder, monkeypatch):
    monkeypatch.setattr(choice, "source_stamp", lambda: "another")
    refused(monkeypatch, "the source of the kernels is not that of")


@pytest.mark.parametrize("version", ["0.61.0", "1.0.0"])
def test_another_numba(folder, monkeypatch, version):
    monkeypatch.setattr(choice.numba, "__version__", version)
    refused(monkeypatch, f"numba{version}")


def test_another_processor(folder, monkeypatch):
    monkeypatch.setattr(choice, "target_features", lambda: frozenset({"neon"}))
    monkeypatch.setattr(levels, "target_features", lambda: frozenset({"neon"}))
    now = chosen()
    assert now.store is None
    assert "this processor is not one" in now.reason


def test_a_better_processor_uses_the_level_below_if_that_is_all_there_is(folder, store, monkeypatch):
    names = [level.name for level in levels.LEVELS]
    path = folder / store.path.name
    lower = path.with_name(path.name.replace(f"-{choice.chosen().level.name}.", "-v2."))
    path.rename(lower)
    monkeypatch.setattr(choice, "target_features", lambda: frozenset(levels.V4 | {levels.VNNI}))
    assert names == ["v4", "v3", "v2"]
    now = chosen()
    assert (now.store.path, now.level.name) == (lower, "v2")
    monkeypatch.setattr(choice, "chosen", lambda: now)
    assert levels.VNNI not in choice.code_features()  # the processor has it; the code does not
