"""The page on how to add a criterion does what it says: its edits are carried out in a copy, where trees then grow."""

import os
import re
import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, eigenwood as ew
rng = np.random.default_rng(0)
X, y = rng.normal(size=(150, 3)).round(1), rng.integers(0, 3, 150)
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
forest = ew.RandomForestClassifier(3, criterion="tsallis", max_depth=3, random_state=0).fit(X, y)
again = ew.load(ew.save(forest, "forest.safetensors"))
assert (again.predict_proba(X) == forest.predict_proba(X)).all()
assert ew.verify(again, X, y).holds
"""


def edits_of(page):
    """Yield the file, the old text and the new one of each edit of a page."""
    for block in re.findall(r"^```diff\n--- (\S+)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        lines = block[1].splitlines()
        yield block[0], *("\n".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")


@pytest.mark.slow
def test_the_page_on_how_to_add_a_criterion(repository, tmp_path):
    home = tmp_path / "eigenwood"
    shutil.copytree(repository / "src" / "eigenwood", home, ignore=shutil.ignore_patterns("*.code", "__pycache__"))
    page = (repository / "docs" / "design" / "adding-a-criterion.md").read_text(encoding="utf-8")
    edits = list(edits_of(page))
    assert len(edits) == 7
    for file, old, new in edits:
        text = (home / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        (home / file).write_text(text.replace(old, new), encoding="utf-8")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
