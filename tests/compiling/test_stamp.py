"""No kernel outside the files that the stamp is made of, and no edit of them that it does not see."""

from __future__ import annotations

import ast
import shutil

import pytest

from eigenwood.compiling import stamp


def test_kernels_are_only_where_the_stamp_looks():
    for path in stamp.PACKAGE.rglob("*.py"):
        words = [
            ast.unparse(decorator)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for decorator in getattr(node, "decorator_list", [])
        ]
        if any("jit" in word or "overload" in word or "intrinsic" in word for word in words):
            assert path.relative_to(stamp.PACKAGE).parts[0] in stamp.FOLDERS, path


def test_every_kernel_is_made_by_our_njit():
    """Numba's own decorators would compile at every level of calls, and leave code that no stamp guards."""
    for path in stamp.PACKAGE.rglob("*.py"):
        if path.parent.name != "compiling":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "numba":
                    assert not {"jit", "njit", "vectorize", "guvectorize", "cfunc"} & {name.name for name in node.names}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package's kernel files that can be edited."""
    for folder in stamp.FOLDERS:
        shutil.copytree(stamp.PACKAGE / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "code"))
    monkeypatch.setattr(stamp, "PACKAGE", tmp_path)
    return tmp_path


def stamped() -> str:
    return stamp.source_stamp.__wrapped__()


def test_a_copy_has_the_same_stamp(copy):
    assert stamped() == stamp.source_stamp()


def test_any_edit_changes_the_stamp(copy):
    seen = {stamped()}
    edits = ("core/tree/criteria.py", "core/bits.py", "proofs/tree.py", "compiling/dispatcher.py")
    for edit in edits:
        path = copy / edit
        path.write_text(path.read_text(encoding="utf-8") + "\n# \n", encoding="utf-8")
        seen.add(stamped())
    (copy / "core" / "new.py").write_text("")
    seen.add(stamped())
    (copy / "core" / "new.py").rename(copy / "core" / "newer.py")
    seen.add(stamped())
    assert len(seen) == len(edits) + 3
