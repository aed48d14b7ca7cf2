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
    stamp._imported.cache_clear()
    yield tmp_path
    stamp._imported.cache_clear()


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


def imported_by(path):
    """The kernel files that a file imports, by Python's own parser."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: the stamp does not see relative imports"
            modules |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
    return {
        file
        for module in modules
        if module.split(".")[0] == "eigenwood" and module.split(".")[1:2] and module.split(".")[1] in stamp.FOLDERS
        for file in stamp._files_of(module.removeprefix("eigenwood."))
    }


def test_the_stamp_sees_every_import():
    for folder in stamp.FOLDERS:
        for path in (stamp.PACKAGE / folder).rglob("*.py"):
            assert imported_by(path) <= stamp._imported(path), path


def test_the_stamp_of_a_kernel_is_over_what_its_file_imports(copy):
    """Of a chain of imports every link counts, and what nobody imports does not."""
    (copy / "core" / "first.py").write_text("from eigenwood.core.second import (\n    one,\n)\n")
    (copy / "core" / "second.py").write_text("def one():\n    import eigenwood.core.tree.third as third\n")
    (copy / "core" / "tree" / "third.py").write_text("from eigenwood.core import fourth\n")
    (copy / "core" / "fourth.py").write_text("ONE = 1\n")

    def first():
        stamp._imported.cache_clear()
        return stamp.file_stamp.__wrapped__(str(copy / "core" / "first.py"))

    seen = {first()}
    for edit in ("first.py", "second.py", "tree/third.py", "tree/__init__.py", "fourth.py", "../compiling/levels.py"):
        path = copy / "core" / edit
        path.write_text(path.read_text(encoding="utf-8") + "\n# \n", encoding="utf-8")
        seen.add(first())
    assert len(seen) == 7
    path = copy / "core" / "tree" / "grower.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# \n", encoding="utf-8")
    assert first() in seen
