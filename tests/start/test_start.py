"""Nobody waits for a compiler: the first minute of a new user, in counts that do not depend on a machine's load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from eigenwood.compiling.choice import JIT, SWITCH, chosen
from eigenwood.compiling.signatures import listed
from eigenwood.estimators.registry import ENTRIES
from tests.start.calls import CALLS

# Runs calls, and tells for each the digest of what it computed, and what Numba compiled for it.
PROGRAM = """
import hashlib, json, sys, warnings
import numba.core.event as event
from tests.start.calls import CALLS, numbers_in

warnings.simplefilter("ignore")
told = {}
for name in json.loads(sys.stdin.read()):
    digest = hashlib.sha256()
    with event.install_recorder("numba:compile") as recorder:
        for part in numbers_in(CALLS[name]()):
            digest.update(part)
    compiled = [str(happened.data["dispatcher"].py_func) for _, happened in recorder.buffer if happened.is_start]
    told[name] = [digest.hexdigest(), compiled]
print(json.dumps(told))
"""

# One call of each kind: to compile everything twice would take minutes.
SOME = [
    "tree of as_float32", "regression tree of with_missing", "tree by entropy, 300 rows", "tree by poisson, 300 rows",
    "tree, 10 leaves", "tree of frame", "forest of thin", "forest by gini, 300 rows", "forest by absolute_error",
    "regression forest with weights", "forest, out of bag", "bagging of machines",
    "svm of as_float32", "svm, poly, whole", "svm, laplacian, thin", "svr, rbf, as_float32", "svm, large",
    "kernel perceptron, voted", "perceptron, elasticnet", "thin perceptron, l1", "expansion of thin", "check_mercer",
    "pca, krylov, float64", "pca, covariance_eigh, float32", "wide pca, gram_refined, float32", "wide pca of pixels",
    "pca of missing values", "thin wide pca", "pca, oja, float64", "pca, power, float32", "wide pca, auto, float64",
    "forest by gini, 30000 rows", "regression forest, large", "adaboost of thin", "boosting, frame",
    "boosting for regression, with_missing", "adaboost of frame, two classes", "kernel logistic of as_float32",
    "kernel ridge of as_float32", "kernel pca, back", "kernel pca, low_rank, as_float32", "bag of words",
    "gain selector, aware, a table", "word vectors by continuous bag of words", "weighted ensemble",
]  # fmt: skip


def paths(repository) -> str:
    """Return where a new process finds these tests, and the same package as this one."""
    return os.pathsep.join(filter(None, [str(repository), os.environ.get("PYTHONPATH")]))


def told_by(names: list[str], repository, **environment: str) -> dict[str, tuple[str, list[str]]]:
    """Return digests and compiled functions of calls in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(names),
        env={**os.environ, "PYTHONPATH": paths(repository), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_table_covers_every_estimator(repository):
    assert len(CALLS) >= 100
    assert set(SOME) <= set(CALLS)
    source = (repository / "tests" / "start" / "calls.py").read_text(encoding="utf-8")
    assert [entry.name for entry in ENTRIES if f"ew.{entry.estimator.__name__}" not in source] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_call_of_a_user_compiles_anything(store, repository, part, tmp_path):
    # what another test has compiled, and Numba kept on disk, must not hide what the store lacks
    told = told_by(list(CALLS)[part::4], repository, NUMBA_CACHE_DIR=str(tmp_path))
    assert {name: compiled for name, (_, compiled) in told.items() if compiled} == {}


@pytest.mark.slow
def test_the_store_has_the_bits_of_the_compiler(store, repository, tmp_path):
    """At the same level: without the store, the same names, in a process that compiles everything itself."""
    level = chosen().level
    by_jit = told_by(SOME, repository, **level.environment(), **{SWITCH: JIT, "NUMBA_CACHE_DIR": str(tmp_path)})
    by_store = told_by(SOME, repository)
    assert sum(len(compiled) for _, compiled in by_jit.values()) > 200
    assert [name for name in SOME if by_jit[name][0] != by_store[name][0]] == []


@pytest.mark.slow
def test_a_second_process_finds_what_the_first_has_compiled(repository, tmp_path):
    names = ["expansion of thin", "perceptron, None", "svm of as_int"]
    settings = {SWITCH: JIT, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (told_by(names, repository, **settings) for _ in range(2))
    assert all(compiled for _, compiled in first.values())
    assert not any(compiled for _, compiled in second.values())
    assert [digest for digest, _ in first.values()] == [digest for digest, _ in second.values()]


MOST_BYTES = {"small_node:grow_small_nodes": 190_000, "large_node:grow_large_nodes": 385_000}


@pytest.mark.parametrize("name", MOST_BYTES)
def test_no_kernel_of_trees_grows_unnoticed(store, name):
    """Bytes of machine code tell what a kernel costs to compile, on any machine: a scan inlined once more, say."""
    sizes = [store.entry(place, text).size for place, text in store.places() if place.endswith(name)]
    assert sizes
    assert max(sizes) <= MOST_BYTES[name]


@cache
def imported_by(program: str, *hidden: str) -> set[str]:
    """Return the top-level modules that a new process has after a program; ``hidden`` ones cannot be imported."""
    hide = "".join(f"sys.modules[{name!r}] = None\n" for name in hidden)
    tell = "\nprint(*{name.partition('.')[0] for name, module in sys.modules.items() if module is not None})"
    done = subprocess.run([sys.executable, "-c", f"import sys\n{hide}{program}{tell}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_top_level_imports_nothing():
    assert not imported_by("import eigenwood; eigenwood.__version__") & {"numpy", "numba", "sklearn", "pyarrow"}


def test_help_imports_nothing_that_computes():
    help_of = "import eigenwood.cli.main as command; from typer.main import get_command; get_command(command.app)"
    assert not imported_by(help_of) & {"numpy", "numba", "sklearn", "pyarrow", "plotly", "jinja2"}


@pytest.mark.parametrize("name", ["RandomForestClassifier", "DecisionTreeRegressor", "SVC", "PCA", "Perceptron"])
def test_an_estimator_imports_what_it_computes_with(name):
    # scikit-learn imports rich, where it is installed, and pandas, which itself imports Arrow
    known = imported_by("import sklearn.callback", "pandas")
    modules = imported_by(f"from eigenwood import {name}", "pandas")
    assert "sklearn" in modules
    assert "numba" not in modules  # it comes with the first call of a kernel
    assert not (modules - known) & {"pyarrow", "rich", "plotly", "jinja2", "typer", "safetensors"}


def test_an_import_is_not_interrupted_by_searches_for_garbage():
    program = (
        "import gc, eigenwood\nsearches = lambda: sum(generation['collections'] for generation in gc.get_stats())\n"
        "before = searches()\nfrom eigenwood import RandomForestClassifier\n"
        "import eigenwood.core.bits as bits\nbits.word_count.dispatcher\n"
        "assert searches() <= before + 2, searches()\nassert gc.isenabled()\n"  # one each time it may search again
        "young = len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))\n"
        "assert young < 5000, young\n"  # what was imported counts as old, and no search looks at it soon
        "gc.disable()\nfrom eigenwood import PCA\nassert not gc.isenabled()"
    )
    assert "numba" in imported_by(program)


def test_an_import_leaves_frozen_what_somebody_has_frozen():
    imported_by("import gc, eigenwood; gc.freeze(); eigenwood.Certificate; assert gc.get_freeze_count() > 0")


def test_kernels_import_what_the_build_has():
    """An isolated build installs no more than pyproject.toml asks for; see ``requires`` there."""
    modules = sorted({place.partition(":")[0] for place, _ in listed()})
    absent = ("sklearn", "joblib", "narwhals", "pyarrow", "safetensors", "plotly", "jinja2", "typer", "rich")
    imported_by(f"import {', '.join(modules)}, eigenwood.compiling.build", *absent)


def test_all_names_are_there_and_the_others_are_not():
    import eigenwood

    for name in eigenwood.__all__:
        assert getattr(eigenwood, name) is not None
        assert name in dir(eigenwood)
    assert eigenwood.plots.__name__ == "eigenwood.plots"
    with pytest.raises(AttributeError, match="no attribute 'RandomForrest'"):
        eigenwood.RandomForrest  # noqa: B018
