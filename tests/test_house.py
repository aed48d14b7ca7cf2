"""The house itself: what a newcomer relies on."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from eigenwood.core.compiling import COUNTED, UNCOUNTED
from numba import config, njit
from numba.core.errors import TypingError

import eigenwood
from eigenwood.estimators.registry import ENTRIES

WARM = """
import numpy as np
from scipy import sparse
import eigenwood
from eigenwood.core.kernels.blocks import gram
from eigenwood.core.kernels.functions import KERNELS, Kernel
rng = np.random.default_rng(0)
X = rng.random((40, 5)); y = np.arange(40) % 3
for data in (X, X.astype(np.float32), sparse.csr_array(X)):
    eigenwood.Perceptron(penalty="elasticnet").fit(data, y)
    eigenwood.KernelPerceptron(vote="voted").fit(data, y).predict(data)
    eigenwood.PolynomialExpansion().fit(data).transform(data)
    for code in KERNELS.values():
        gram(data, data, Kernel(code))
"""

WARM_TREES = """
import numpy as np
from scipy import sparse
import eigenwood
X = np.random.default_rng(0).random((40, 5)); y = np.arange(40) % 3
for data in (X, X.astype(np.float32), sparse.csr_array(X)):
    for tree in (eigenwood.DecisionTreeClassifier(), eigenwood.DecisionTreeRegressor(criterion="absolute_error")):
        tree.set_params(prune="validation", splitter="random").fit(data, y, sample_weight=y + 1).predict(data)
"""

WARM_MACHINES = """
import numpy as np
from scipy import sparse
import eigenwood
X = np.random.default_rng(0).random((40, 5)); y = np.arange(40) % 3
for data in (X, X.astype(np.float32), sparse.csr_array(X)):
    for kernel in ("rbf", "linear", "poly"):
        eigenwood.SVC(kernel=kernel).fit(data, y).predict(data)
        eigenwood.SVR(kernel=kernel).fit(data, y).predict(data)
"""

COUNT_COMPILED = """
import numba.core.event as event
from numba.core.dispatcher import Dispatcher
with event.install_recorder("numba:compile") as recorder:
    exec(WARM)
print("compiled", sum(e.is_start for _, e in recorder.buffer))
"""


def compiled(program: str, **environment: str) -> int:
    """Return how many functions a process compiles that runs a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"WARM = {program!r}\n{COUNT_COMPILED}"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    assert compiled(WARM, NUMBA_CACHE_DIR=str(tmp_path)) > 10
    assert compiled(WARM, NUMBA_CACHE_DIR=str(tmp_path)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("program", [WARM_TREES, WARM_MACHINES], ids=["trees", "machines"])
def test_a_second_process_compiles_nothing_that_takes_long(program):
    # in the cache that all tests share: to compile the trees once more takes a minute
    compiled(program)
    assert compiled(program) == 0


def test_every_kernel_is_cached_and_free_of_the_gil(repository):
    for options in (UNCOUNTED, COUNTED):  # those of @uncounted, @inlined, @merged and @counted
        assert options["cache"]
        assert options["nogil"]
    for path in (repository / "src" / "eigenwood").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", []):
                if "njit" in ast.unparse(decorator):
                    words = ast.unparse(decorator)
                    assert "cache=True" in words, f"{path.name}: {node.name}"
                    assert "nogil=True" in words, f"{path.name}: {node.name}"
    for options in (UNCOUNTED, COUNTED):
        assert options["cache"]
        assert options["nogil"]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_what_is_not_counted_can_neither_make_an_array_nor_return_a_part_of_one():
    def makes_one(a):
        return np.zeros(a.size).sum()

    def returns_a_part(a):
        return a[1:]

    uncounted, counted = (njit(**{**options, "cache": False}) for options in (UNCOUNTED, COUNTED))
    for function in (makes_one, returns_a_part):
        with pytest.raises(TypingError):
            uncounted(function)(np.ones(3))
        counted(function)(np.ones(3))


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
