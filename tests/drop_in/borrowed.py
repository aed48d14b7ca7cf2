"""Scikit-learn's own tests, with our classes in the place of its classes.

Scikit-learn ships its tests in its wheel. ``borrow`` runs the source of one of those modules under a new name while our
classes stand where it will import its own from, and hands its tests over to pytest:

    sklearn/linear_model/tests/test_perceptron.py     from sklearn.linear_model import Perceptron     ← ours
                                                      def test_perceptron_accuracy(): ...             → our test

A file in this folder is a few lines: the module, our classes, and the tests that are not ours to pass, each with its
reason. Those are expected to fail; one that passes is reported as a failure, so the list cannot rot. Cases that chance
decides, with numbers that are drawn anew or a bound in the midst of what seeds give, may pass or fail; they are counted
as if they failed. Tests of
scikit-learn's inner parts, and cases that run other classes of its own, would pass whatever stands in. They are
``foreign``: left out, and not counted.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest


@dataclass(frozen=True)
class Loan:
    """One module of scikit-learn's tests, and what stands in its place."""

    module: str  # "sklearn.linear_model.tests.test_perceptron"
    ours: Mapping[str, Mapping[str, Any]]  # {"sklearn.linear_model": {"Perceptron": our class}}
    deselected: Mapping[str, str] = field(default_factory=dict)  # {"test_name" or "test_name[id]": reason}
    by_chance: Mapping[str, str] = field(default_factory=dict)  # {words in the name of a case: reason}
    foreign: tuple[str, ...] = ()  # tests in which our classes do not occur
    foreign_cases: tuple[str, ...] = ()  # words in the names of such cases
    least_share: float = 1.0  # of the tests that must pass
    beside: tuple[str, ...] = ()  # words in reasons that say that a test does not apply, as it reads private parts
    least_share_applying: float = 0.0  # of the tests that apply


def borrow(loan: Loan) -> dict[str, Any]:
    """Return the tests of a module, to be put among the globals of a test file."""
    module = loaded(loan)
    tests = {name: value for name, value in vars(module).items() if is_test(name, value)}
    unknown = {name.split("[")[0] for name in (*loan.deselected, *loan.by_chance, *loan.foreign)} - tests.keys()
    if unknown:
        raise ValueError(f"{loan.module} has no {', '.join(sorted(unknown))}: take it off the list of deselected tests")
    tests = {name: test for name, test in tests.items() if name not in loan.foreign}
    return {**tests, **fixtures_of(module), "LOAN": loan, "test_enough_of_them_pass": share_test(loan)}


def is_test(name: str, value: Any) -> bool:
    return name.startswith("test_") and callable(value)


def fixtures_of(module: ModuleType) -> dict[str, Any]:
    kind = type(pytest.fixture(lambda: None))
    return {name: value for name, value in vars(module).items() if isinstance(value, kind)}


def loaded(loan: Loan) -> ModuleType:
    """Return the module, made from its source with our classes in place of scikit-learn's."""
    importlib.import_module(loan.module)  # so that what it imports is not made anew with our classes inside
    spec = importlib.util.find_spec(loan.module)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with ExitStack() as stack:
        for home, classes in loan.ours.items():
            for name, ours in classes.items():
                stack.enter_context(patch(f"{home}.{name}", ours))
        spec.loader.exec_module(module)
    lend_homes(module, loan.ours)
    return module


def lend_homes(module: ModuleType, ours: Mapping[str, Mapping[str, Any]]) -> None:
    """Let ``svm.SVC`` be ours too, where a test says ``from sklearn import svm``; nobody else sees it."""
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType) and value.__name__ in ours:
            lent = ModuleType(value.__name__)
            vars(lent).update({**vars(value), **ours[value.__name__]})
            setattr(module, name, lent)


def reason_of(item: pytest.Item, loan: Loan) -> str | None:
    """Return why a test is not ours to pass, or nothing."""
    return loan.deselected.get(item.name) or loan.deselected.get(getattr(item, "originalname", ""))


def is_beside(reason: str | None, loan: Loan) -> bool:
    """Return whether a test that is not ours to pass does not apply to ours."""
    return reason is not None and any(words in reason for words in loan.beside)


def chance_of(item: pytest.Item, loan: Loan) -> str | None:
    """Return why chance decides a case, or nothing."""
    return next((reason for words, reason in loan.by_chance.items() if words in item.name), None)


def is_foreign(item: pytest.Item) -> bool:
    """Return whether a case runs classes of scikit-learn's own."""
    loan = getattr(getattr(item, "module", None), "LOAN", None)
    return loan is not None and any(word in item.name for word in loan.foreign_cases)


def share_test(loan: Loan) -> Any:
    def test_enough_of_them_pass(request):
        """What is not deselected passes, or is a failure of its own; so the share follows from the list."""
        borrowed = [item for item in request.session.items if getattr(item, "module", None) is request.module]
        borrowed = [item for item in borrowed if item is not request.node]
        passing = [item for item in borrowed if reason_of(item, loan) is None and chance_of(item, loan) is None]
        assert len(passing) >= loan.least_share * len(borrowed)
        applying = [item for item in borrowed if not is_beside(reason_of(item, loan), loan)]
        assert len(passing) >= loan.least_share_applying * len(applying)

    return test_enough_of_them_pass
