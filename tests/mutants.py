"""Mutants of the core: one small change each, drawn at random, and whether the core's own tests notice it.

    python -m tests.mutants --count 200 --seed 0 --out mutants.jsonl

Each mutant lives in a copy of the repository. The tests of its own file run first, for all mutants; then those of its
folder, for the ones that nobody noticed; both without the JIT where they can, so that nothing is compiled. A line of
``--out`` tells what was changed and who noticed. Changes that cannot be noticed are left out: annotations, docstrings,
assertions, and constants in capitals, which are mostly sizes of blocks.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CORE = Path("src/eigenwood/core")
SECONDS = 18.0  # of the processor for one run of tests, in a random but fixed order; it ends after the test it is at
PATIENCE, LEAST_SECONDS = (
    2.0,
    75.0,
)  # of what tests take without a mutant, after which they count as failed: some never end
TREE = "tests/core/tree/"
TESTS_ELSEWHERE = {  # of files whose tests have another name
    "tree/large_node.py": [TREE + "test_node_loop.py", TREE + "test_grower.py"],
    "tree/node_stats.py": [TREE + "test_node_loop.py", TREE + "test_grower.py"],
    "tree/thresholds.py": [TREE + "test_grower.py"],
    "tree/workspace.py": [TREE + "test_grower.py", TREE + "test_small_node.py"],
    "tree/split/column.py": [TREE + "split/test_best.py", TREE + "split/test_histogram_of_few_codes.py"],
    "tree/split/gap.py": [TREE + "split/test_best.py", TREE + "test_small_node.py"],
    "tree/split/partition.py": [TREE + "test_node_loop.py", TREE + "test_grower.py"],
    "tree/split/sizes.py": [TREE + "split/test_best.py"],
    "tree/split/sort_keys.py": [TREE + "split/test_sorted_scan.py", TREE + "test_small_node.py"],
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin"}


class Mutant(NamedTuple):
    """One change: in which file, where, from what to what."""

    file: Path
    line: int
    before: str
    after: str
    source: str  # of the whole file, changed


def mutant_at(file: Path, number: int) -> Mutant:
    """Return one of the changes of a file, by its number."""
    tree = ast.parse((ROOT / file).read_text())
    node = list(changeable(tree))[number]
    before = ast.unparse(node)
    change(node)
    return Mutant(file, node.lineno, before, ast.unparse(node), ast.unparse(tree))


def changeable(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions in functions that can be changed, in a fixed order."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = {id(node) for function in functions for node in ast.walk(function) if node is not function}
    for function in functions:
        if id(function) in inner:  # is walked with the function around it
            continue
        kept = {id(part) for node in ast.walk(function) for left_out in unseen(node) for part in ast.walk(left_out)}
        yield from (node for node in ast.walk(function) if id(node) not in kept and can_change(node))


def unseen(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node whose change nobody could notice."""
    if isinstance(node, ast.FunctionDef):
        return [*node.decorator_list, *([node.returns] if node.returns else []), node.args]
    if isinstance(node, ast.AnnAssign):
        return [node.annotation]
    if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return [node]
    return []


def can_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in COMPARISONS
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS
    if isinstance(node, ast.Call):
        return called(node) in NAMES
    return isinstance(node, ast.BoolOp) or (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)))


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def change(node: ast.expr) -> None:
    """Change a node in place."""
    if isinstance(node, ast.Compare):
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        node.func.id = NAMES[node.func.id]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node.func.attr = NAMES[node.func.attr]


def own_tests(file: Path) -> str | None:
    """Return the tests of a file, if it has some of its own; several are separated by spaces."""
    own = Path("tests/core") / file.relative_to(CORE).with_name(f"test_{file.name}")
    elsewhere = TESTS_ELSEWHERE.get(file.relative_to(CORE).as_posix(), [])
    return str(own) if (ROOT / own).exists() else " ".join(elsewhere) or None


def folder_tests(file: Path) -> str:
    """Return the tests of a file's folder."""
    return str(Path("tests/core") / file.relative_to(CORE).parent)


# ---- hooks of pytest, which has this file as a plugin in the runs below -------------------------------------------

failures: list[str] = []


def pytest_collection_modifyitems(items: list) -> None:
    """Shuffle the tests, so that the first ones are of every kind."""
    random.Random(0).shuffle(items)


def pytest_runtest_logreport(report) -> None:
    """End a run that has had its time, unless this test has failed."""
    if report.when == "teardown" and report.passed and time.process_time() > SECONDS and not failures:
        os._exit(0)
    failures.extend([report.nodeid] if report.failed else [])


class Laboratory:
    """A copy of the repository in which one mutant lives at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._seconds: dict[str, float] = {}  # that tests take without a mutant
        self._jit_is_off: dict[str, bool] = {}

    def notices(self, tests: str, mutant: Mutant) -> bool:
        """Return whether tests fail with a mutant, or do not end."""
        if tests not in self._seconds:
            self._try_out(tests)
        place = self._home / mutant.file
        before = place.read_text()
        place.write_text(mutant.source)
        try:
            return not self._pass(tests, max(LEAST_SECONDS, PATIENCE * self._seconds[tests]))
        except subprocess.TimeoutExpired:
            return True
        finally:
            place.write_text(before)

    def _try_out(self, tests: str) -> None:
        """Find out whether tests pass without the JIT, or else with it, and how long they take."""
        for self._jit_is_off[tests] in (True, False):
            start = time.perf_counter()
            if self._pass(tests, None):
                self._seconds[tests] = time.perf_counter() - start
                return
        raise AssertionError(f"{tests} must pass before anything is changed")

    def _pass(self, tests: str, seconds: float | None) -> bool:
        options = [
            "-x",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.mutants",
            "-m",
            "not slow and not data",
        ]
        command = [sys.executable, "-m", "pytest", *options, *tests.split()]
        paths = f"{self._home / 'src'}{os.pathsep}{self._home}"
        environment = {**os.environ, "NUMBA_DISABLE_JIT": str(int(self._jit_is_off[tests])), "PYTHONPATH": paths}
        environment.pop("EIGENWOOD_REQUIRE_CODE", None)
        done = subprocess.run(
            command, cwd=self._home, env=environment, capture_output=True, timeout=seconds, check=False
        )
        return done.returncode == 0


def drawn(count: int, seed: int, only: list[str]) -> list[Mutant]:
    """Return some mutants of the whole core, or of files that begin so; each is as likely as any other."""
    files = sorted(path.relative_to(ROOT) for path in (ROOT / CORE).rglob("*.py"))
    files = [file for file in files if file.relative_to(CORE).as_posix().startswith(tuple(only) or "")]
    whole = [(file, i) for file in files for i, _ in enumerate(changeable(ast.parse((ROOT / file).read_text())))]
    return [mutant_at(file, i) for file, i in random.Random(seed).sample(whole, min(count, len(whole)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1", help="i/n: every n-th mutant from the i-th on, for several processes")
    parser.add_argument("--only", nargs="*", default=[], help="how files begin, such as boosting/ or kernels/low_rank")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    part, n_parts = map(int, words.part.split("/"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "repository"
        left_out = shutil.ignore_patterns(".git", "*.code", "__pycache__", "site", ".hypothesis")
        shutil.copytree(ROOT, home, ignore=left_out)
        laboratory, alive = Laboratory(home), drawn(words.count, words.seed, words.only)[part::n_parts]
        for tests_of in (own_tests, folder_tests):
            asked, alive = alive, []
            for mutant in asked:
                tests = tests_of(mutant.file)
                noticed = tests is not None and laboratory.notices(tests, mutant)
                write(words.out, mutant, tests if noticed else None)
                alive += [] if noticed else [mutant]


def write(out: Path, mutant: Mutant, noticed: str | None) -> None:
    """Add a line about a mutant, and about who noticed it."""
    where = {"file": str(mutant.file.relative_to(CORE)), "line": mutant.line}
    told = {**where, "before": mutant.before, "after": mutant.after, "noticed": noticed}
    with out.open("a") as lines:
        lines.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
