"""Machine code where installations are: elsewhere, offline, read-only, another user's, used by two at once, edited."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import eigenwood
from eigenwood.compiling import notice
from eigenwood.compiling.choice import JIT, SWITCH

PACKAGE = Path(eigenwood.__file__).parent
NOBODY = 65534
DROP_RIGHT, OVERRIDES = 24, (1, 2, 3)  # Linux: PR_CAPBSET_DROP; CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER

# Tells which code runs, how many kernels were compiled, and what was computed.
PROGRAM = """
import sys

def refuse_the_network(event, _):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        raise OSError("there is no network")

sys.addaudithook(refuse_the_network)
import numba.core.event as event
import numpy as np
from eigenwood import DecisionTreeClassifier, PolynomialExpansion
from eigenwood.compiling import notice
from eigenwood.compiling.choice import chosen

notice.PATIENCE = 0.0
with event.install_recorder("numba:compile") as recorder:
    told = PolynomialExpansion(degree=1, kernel_scale=False).fit_transform(np.array([[2.0, 7.0]])).tolist()
    if chosen().store is not None:
        told += [DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).score([[0.0], [1.0]], [0, 1])]
print(chosen().store.path.parent if chosen().store else chosen().reason)
print(sum(happened.is_start for _, happened in recorder.buffer))
print(told)
"""
BY_STORE, BY_JIT = "[[1.0, 2.0, 7.0], 1.0]", "[[1.0, 2.0, 7.0]]"


@pytest.fixture
def site():
    """A folder that any user may read, with a copy of the package as it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, Path(folder, "site", "eigenwood"), ignore=ignored)
        yield Path(folder, "site")


def started(site: Path, preexec_fn: Callable[[], None] | None = None, **environment: str) -> subprocess.Popen:
    """Start the program with the package of a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "EIGENWOOD_"))}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**kept, "PYTHONPATH": str(site), **environment},
        cwd=site.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=preexec_fn,
    )


def told_by(process: subprocess.Popen) -> tuple[str, int, str, str]:
    """Return which code ran, how many kernels were compiled, what was computed, and what was said on stderr."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    code, n_compiled, told = out.splitlines()
    return code, int(n_compiled), told, err


def code_of(site: Path) -> str:
    return str(site / "eigenwood" / "compiling" / "code")


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Return when each file was last written to, and its size."""
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


def test_a_copied_environment_uses_its_own_code(store, site):
    assert told_by(started(site)) == (code_of(site), 0, BY_STORE, "")


def test_a_store_is_only_read(store, site):
    before = files_in(site)
    assert told_by(started(site, PYTHONDONTWRITEBYTECODE="1"))[1:3] == (0, BY_STORE)
    assert files_in(site) == before


@pytest.fixture
def another(site):
    """The settings of a user who owns nothing in the installation, which is read-only, and has no other home."""
    for path in (site, *site.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    return {"HOME": str(site), "preexec_fn": give_up_rights if os.geteuid() == 0 else None}


def give_up_rights() -> None:
    """Write, read and change only what its owner may, even as root: what is executed next has not the right to more."""
    for right in OVERRIDES:
        assert ctypes.CDLL(None).prctl(DROP_RIGHT, right, 0, 0, 0) == 0


def test_another_user_of_a_read_only_installation_compiles_nothing(store, site, another):
    assert told_by(started(site, **another)) == (code_of(site), 0, BY_STORE, "")


def test_another_user_who_must_compile_and_cannot_keep_it_is_told_so(site, another):
    before = files_in(site)
    told = told_by(started(site, **another, **{SWITCH: JIT}))
    assert told[1] > 0
    assert told[2:] == (BY_JIT, notice.UNKEPT_LINE + "\n")
    assert files_in(site) == before


def test_processes_that_start_at_once_share_a_store(store, site):
    assert [told_by(one)[:3] for one in [started(site) for _ in range(2)]] == [(code_of(site), 0, BY_STORE)] * 2


def test_processes_that_compile_at_once_do_not_harm_each_other(site, tmp_path):
    settings = {SWITCH: JIT, "NUMBA_CACHE_DIR": str(tmp_path)}
    both = [told_by(one) for one in [started(site, **settings) for _ in range(2)]]
    assert [(told, err) for _, _, told, err in both] == [(BY_JIT, notice.LINE + "\n")] * 2
    assert told_by(started(site, **settings))[1:] == (0, BY_JIT, "")


def test_an_edited_kernel_is_never_stale(site, tmp_path):
    """Neither from the store nor from Numba's cache on disk; nor is one whose callee, in another file, was edited."""
    kernels = site / "eigenwood" / "core" / "kernels" / "expansion.py"
    callee = kernels.with_name("first_term.py")
    source = kernels.read_text(encoding="utf-8")
    assert source.count("values[0] = 1.0") == 1
    callee.write_text("from eigenwood.compiling import njit\n\n\n@njit\ndef first_term():\n    return 3.0\n")
    kernels.write_text(
        source.replace("values[0] = 1.0", "values[0] = first_term()").replace(
            "from eigenwood.core.rows",
            "from eigenwood.core.kernels.first_term import first_term\nfrom eigenwood.core.rows",
        )
    )
    code, n_compiled, told, err = told_by(started(site, NUMBA_CACHE_DIR=str(tmp_path)))
    assert ("is not that of" in code or "there is no" in code, n_compiled > 0) == (True, True)
    assert (told, err) == ("[[3.0, 6.0, 21.0]]", notice.LINE + "\n")
    assert told_by(started(site, NUMBA_CACHE_DIR=str(tmp_path)))[1:] == (0, "[[3.0, 6.0, 21.0]]", "")
    callee.write_text(callee.read_text().replace("3.0", "5.0"))
    _, n_compiled, told, _ = told_by(started(site, NUMBA_CACHE_DIR=str(tmp_path)))
    assert (n_compiled > 0, told) == (True, "[[5.0, 10.0, 35.0]]")
