"""Making a store: for every level on any machine, and the same functions come out."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import numpy as np
import pytest

from eigenwood.compiling import build
from eigenwood.compiling.choice import SWITCH
from eigenwood.compiling.levels import LEVELS, levels_within, target_features
from eigenwood.compiling.signatures import READONLY, listed
from eigenwood.compiling.store import Store

SMALL = [entry for entry in listed() if entry[0].endswith((":mirror", ":expand_dense", ":add_products"))]

BUILD = f"""
import sys
from pathlib import Path
from eigenwood.compiling import build
build.listed = lambda: {SMALL!r}
for level in build.levels_named([build.ALL]):
    print(build.build(level, Path(sys.argv[1]), 2).name)
"""

USE = """
import numba.core.event as event
import numpy as np
from eigenwood.compiling.choice import chosen
from eigenwood.core.spectral.bytes import multiplies_bytes
from eigenwood import PolynomialExpansion
with event.install_recorder("numba:compile") as recorder:
    told = [PolynomialExpansion().fit_transform(np.array([[2, 3]], dtype=kind)).tolist() for kind in (float, "f")]
print(chosen().level.name, multiplies_bytes(), len(recorder.buffer), told)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with small stores of all levels."""
    folder = tmp_path_factory.mktemp("levels")
    done = subprocess.run([sys.executable, "-c", BUILD, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(path.name for path in folder.iterdir())
    return folder


def test_every_level_is_made_on_any_machine(folder):
    for path in folder.iterdir():
        assert sorted(Store(path).places()) == sorted(SMALL)
    assert {path.name.rpartition("-")[2] for path in folder.iterdir()} == {"v2.code", "v3.code", "v4.code"}


def has_vnni(path) -> bool:
    """Return whether a store's sums of products of bytes use the instruction: vpdpbusd zmm is EVEX 0F38 W0 50."""
    store = Store(path)
    place, text = next(entry for entry in store.places() if entry[0].endswith(":add_products"))
    code = store.object_code(store.entry(place, text))
    return any(code[i] == 0x62 and code[i + 1] & 7 == 2 and code[i + 4] == 0x50 for i in range(len(code) - 5))


def test_only_the_highest_level_multiplies_bytes(folder):
    assert [has_vnni(path) for path in sorted(folder.iterdir())] == [False, False, True]


@pytest.mark.parametrize("level", levels_within(target_features()), ids=lambda level: level.name)
def test_code_of_every_level_that_this_machine_has_computes_the_same(folder, level):
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, **level.environment(), SWITCH: str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    name, multiplies, n_compiled, told = done.stdout.strip().split(" ", 3)
    assert (name, multiplies, n_compiled) == (level.name, str(level.name == "v4"), "0")
    root = 2**0.5
    expanded = [[1.0, 2 * root, 3 * root, 4.0, 6 * root, 9.0]]
    np.testing.assert_allclose(ast.literal_eval(told), [expanded, expanded], rtol=1e-6)


def test_levels_by_name():
    assert build.levels_named(["v2", "v4"]) == [LEVELS[0], LEVELS[2]]
    assert build.levels_named([build.ALL]) == list(LEVELS)
    assert build.levels_named([build.HOST]) == levels_within(target_features())[:1]


def test_the_list_marks_what_is_only_read():
    """Users' arrays are often read-only; code for arrays that may be written cannot take them."""
    expand = [text for place, text in SMALL if place.endswith(":expand_dense")]
    assert expand
    assert all(READONLY in text for text in expand)
