"""The page on how to add a criterion does what it says: its edits are carried out in a copy, where trees then grow."""

import os
import re
import shutil
import subprocess
import sys

import pytest

START = """
import numpy as np, eigenwood as ew
from sklearn.metrics import mean_tweedie_deviance
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3)).round(1)

def check_forest(forest, X, y):
    again = ew.load(ew.save(forest.fit(X, y), "forest.safetensors"))
    assert (again.predict(X) == forest.predict(X)).all()
    assert ew.verify(again, X, y).holds
"""

CLASSES = """
y = rng.integers(0, 3, 150)
y[X[:, 1] > 0.4] = 2

def impurity(y):
    shares = np.bincount(y, minlength=3) / y.size
    return (1.0 - (shares**1.5).sum()) / 0.5

def cost(j, t):
    left = X[:, j] <= t
    return left.mean() * impurity(y[left]) + (~left).mean() * impurity(y[~left])

tree = ew.DecisionTreeClassifier(criterion="tsallis", max_depth=4, random_state=0).fit(X, y)
root = tree.nodes_
least = min(cost(j, t) for j in range(3) for t in np.unique(X[:, j])[:-1])
assert abs(cost(root.feature[0], root.threshold[0]) - least) < 1e-12
assert abs(root.impurity[0] - impurity(y)) < 1e-12
assert ew.verify(tree, X, y).holds
assert (tree.predict(X) == ew.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).predict(X)).mean() < 1.0
check_forest(ew.RandomForestClassifier(3, criterion="tsallis", max_depth=3, random_state=0), X, y)
"""

AMOUNTS = """
y = np.where(rng.random(150) < 0.4, 0.0, rng.gamma(0.5, 1.0 + (X[:, 1] > 0.4)))

def impurity(y):
    return 0.5 * mean_tweedie_deviance(y, np.full(y.size, y.mean()), power=1.5) if y.mean() > 0.0 else np.inf

def cost(j, t):
    left = X[:, j] <= t
    return left.mean() * impurity(y[left]) + (~left).mean() * impurity(y[~left])

tree = ew.DecisionTreeRegressor(criterion="tweedie", max_depth=4, random_state=0).fit(X, y)
root = tree.nodes_
least = min(cost(j, t) for j in range(3) for t in np.unique(X[:, j])[:-1])
assert abs(cost(root.feature[0], root.threshold[0]) - least) < 1e-12
assert abs(root.impurity[0] - impurity(y)) < 1e-12
assert ew.verify(tree, X, y).holds
assert (tree.predict(X) == ew.DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y).predict(X)).mean() < 1.0
cut = ew.DecisionTreeRegressor(criterion="tweedie", prune="validation", random_state=0).fit(X, y)
assert cut.nodes_.left.size < 99 and ew.verify(cut, X, y).holds
check_forest(ew.RandomForestRegressor(3, criterion="tweedie", max_depth=3, random_state=0), X, y)
try:
    ew.DecisionTreeRegressor(criterion="tweedie").fit(X, -y)
except ValueError as error:
    assert "not allowed for Tweedie regression" in str(error)
else:
    raise AssertionError
"""


def edits_of(page):
    """Yield the file, the old text and the new one of each edit of a page."""
    for block in re.findall(r"^```diff\n--- (\S+)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        lines = block[1].splitlines()
        yield block[0], *("\n".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")


@pytest.fixture(scope="module")
def edited(repository, tmp_path_factory):
    """A folder with a copy of the package that has all edits of the page, and the files they touched."""
    home = tmp_path_factory.mktemp("copy")
    shutil.copytree(
        repository / "src" / "eigenwood", home / "eigenwood", ignore=shutil.ignore_patterns("*.code", "__pycache__")
    )
    page = (repository / "docs" / "design" / "adding-a-criterion.md").read_text(encoding="utf-8")
    touched = set()
    for file, old, new in edits_of(page):
        text = (home / "eigenwood" / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        (home / "eigenwood" / file).write_text(text.replace(old, new), encoding="utf-8")
        touched.add(file)
    return home, touched


def test_a_criterion_touches_two_files(edited):
    assert edited[1] == {"core/tree/criteria.py", "estimators/tree/params.py"}


@pytest.mark.slow
@pytest.mark.parametrize("program", [CLASSES, AMOUNTS], ids=["tsallis", "tweedie"])
def test_the_page_on_how_to_add_a_criterion(edited, tmp_path, program):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(edited[0])}
    done = subprocess.run(
        [sys.executable, "-c", START + program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
