"""The levels of x86-64 that machine code is shipped for.

A level is a set of instructions that the machines of many years have in common. Code for a level runs on every machine
that has them all.
"""

from __future__ import annotations

from typing import NamedTuple

from numba.core.registry import cpu_target

V2 = {"cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2"}
V3 = V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
V4 = V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
VNNI = "avx512vnni"  # sums of products of bytes: PCA is much faster with it, so v4 is shipped with it


class Level(NamedTuple):
    """What a machine must have, and how LLVM is told so."""

    name: str
    cpu: str
    features: frozenset[str]

    def environment(self) -> dict[str, str]:
        """Return the variables that make Numba compile for this level, on any machine."""
        return {
            "NUMBA_CPU_NAME": self.cpu,
            "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in sorted(self.features)),
            "NUMBA_DISABLE_INTEL_SVML": "1",  # its functions are not on every machine
        }


LEVELS = (  # the best first
    Level("v4", "x86-64-v4", frozenset(V4 | {VNNI})),
    Level("v3", "x86-64-v3", frozenset(V3)),
    Level("v2", "x86-64-v2", frozenset(V2)),
)


def target_features() -> frozenset[str]:
    """Return the instructions that Numba compiles for in this process: the machine's, unless its variables say else."""
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    if not triple.startswith("x86_64"):
        return frozenset()
    return frozenset(word[1:] for word in features.split(",") if word.startswith("+"))


def levels_within(features: frozenset[str]) -> list[Level]:
    """Return the levels that a machine with these instructions can run, the best first."""
    return [level for level in LEVELS if level.features <= features]
