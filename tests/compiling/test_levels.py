"""Which levels a machine can run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from eigenwood.compiling.levels import LEVELS, V2, V3, V4, VNNI, levels_within

NAMES = "from eigenwood.compiling.levels import *; print(*[level.name for level in levels_within(target_features())])"


def names(features) -> list[str]:
    return [level.name for level in levels_within(frozenset(features))]


def test_the_best_level_comes_first():
    assert names(V4 | {VNNI, "sha"}) == ["v4", "v3", "v2"]
    assert names(V4) == ["v3", "v2"]  # without VNNI
    assert names(V3 | {"avx512f"}) == ["v3", "v2"]
    assert names(V2) == ["v2"]
    assert names(V3 - {"fma"}) == ["v2"]
    assert names(V2 - {"popcnt"}) == []


def levels_told(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", NAMES], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_numba_set_to_a_level_has_it(level):
    assert levels_told(**level.environment())[:1] == [level.name]


def test_numbas_variables_are_obeyed():
    assert levels_told(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == []
    features = ",".join(f"+{feature}" for feature in V2)
    assert levels_told(NUMBA_CPU_NAME="x86-64-v2", NUMBA_CPU_FEATURES=features) == ["v2"]
