"""Mutants of the core: one small change each, drawn at random, and whether the core's own tests notice it.

    python -m tests.mutants --count 200 --seed 0 --out mutants.jsonl

Each mutant lives in a copy of the repository. The tests of its file run first, then those of its folder, both without
the JIT, so that nothing is compiled. A line of ``--out`` tells what was changed and who noticed. Changes that cannot be
noticed are left out: annotations, docstrings, assertions, and constants in capitals, which are mostly sizes of blocks.
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
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CORE = Path("src/eigenwood/core")
SECONDS = 240  # after which a test run counts as failed: a mutant may run for ever
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


def tests_of(file: Path) -> list[list[str]]:
    """Return the tests that may notice a change of a file: its own, then those of its folder."""
    folder = Path("tests/core") / file.relative_to(CORE).parent
    own = folder / f"test_{file.name}"
    whole = [str(folder)] if folder != Path("tests/core") else ["tests/core/margin", "tests/core/kernels"]
    return [[str(own)], whole] if (ROOT / own).exists() else [whole]


def noticed_by(mutant: Mutant, home: Path) -> str | None:
    """Return the tests that notice a mutant, or nothing."""
    place = home / mutant.file
    before = place.read_text()
    place.write_text(mutant.source)
    try:
        return next((" ".join(tests) for tests in tests_of(mutant.file) if fails(tests, home)), None)
    finally:
        place.write_text(before)


def fails(tests: list[str], home: Path) -> bool:
    """Return whether some tests fail in a copy of the repository, or do not end."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-m", "not slow and not data", *tests]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{home / 'src'}{os.pathsep}{home}"}
    environment.pop("EIGENWOOD_REQUIRE_CODE", None)
    try:
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def drawn(count: int, seed: int) -> list[Mutant]:
    """Return some mutants of the whole core; each is as likely as any other."""
    files = sorted(path.relative_to(ROOT) for path in (ROOT / CORE).rglob("*.py"))
    whole = [(file, i) for file in files for i, _ in enumerate(changeable(ast.parse((ROOT / file).read_text())))]
    return [mutant_at(file, i) for file, i in random.Random(seed).sample(whole, min(count, len(whole)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="0/1", help="i/n: every n-th mutant from the i-th on, for several processes")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    part, n_parts = map(int, words.part.split("/"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "repository"
        left_out = shutil.ignore_patterns(".git", "*.code", "__pycache__", "site", ".hypothesis")
        shutil.copytree(ROOT, home, ignore=left_out)
        for mutant in drawn(words.count, words.seed)[part::n_parts]:
            told = {
                "file": str(mutant.file.relative_to(CORE)),
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                "noticed": noticed_by(mutant, home),
            }
            with words.out.open("a") as out:
                out.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
