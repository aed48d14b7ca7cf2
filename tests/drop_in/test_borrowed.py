"""The way tests are borrowed: ours stand in, deselected tests cannot rot, and scikit-learn is left as it was."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import sklearn.linear_model
import sklearn.svm

from eigenwood import Perceptron
from tests.drop_in.borrowed import Loan, borrow, loaded, reason_of, share_test
from tests.drop_in.conftest import pytest_collection_modifyitems

MODULE = "sklearn.linear_model.tests.test_perceptron"
OURS = {"sklearn.linear_model": {"Perceptron": Perceptron}}


def test_ours_stands_in_and_scikit_learn_stays():
    theirs = sklearn.linear_model.Perceptron
    module = loaded(Loan(MODULE, OURS))
    assert module.Perceptron is Perceptron
    assert sklearn.linear_model.Perceptron is theirs
    assert sys.modules.get(MODULE) is not module


def test_a_class_named_through_its_module_is_ours_too():
    """scikit-learn's test_svm says ``svm.SVC``."""

    class OurSVC(sklearn.svm.SVC):
        """Stands for a class of ours with SVC's parameters."""

    module = loaded(Loan("sklearn.svm.tests.test_svm", {"sklearn.svm": {"SVC": OurSVC}}))
    assert module.svm.SVC is OurSVC
    assert module.svm.LinearSVC is sklearn.svm.LinearSVC
    assert sklearn.svm.SVC is not OurSVC


@pytest.mark.parametrize(
    "module",
    [
        "sklearn.tree.tests.test_tree",
        "sklearn.ensemble.tests.test_forest",
        "sklearn.decomposition.tests.test_pca",
        "sklearn.svm.tests.test_svm",
    ],
)
def test_other_modules_can_be_borrowed(module):
    tests = borrow(Loan(module, {}))
    assert sum(name.startswith("test_") for name in tests) > 20


def test_a_name_that_no_test_has_is_refused():
    with pytest.raises(ValueError, match="has no test_of_yesterday: take it off the list"):
        borrow(Loan(MODULE, OURS, {"test_of_yesterday[1]": "it was hard"}))


def test_a_foreign_test_is_left_out():
    tests = borrow(Loan("sklearn.tree.tests.test_tree", {}, foreign=("test_realloc",)))
    assert "test_realloc" not in tests
    assert "test_iris" in tests
    with pytest.raises(ValueError, match="has no test_of_yesterday"):
        borrow(Loan(MODULE, OURS, foreign=("test_of_yesterday",)))


def test_a_foreign_case_is_left_out():
    loan = Loan(MODULE, OURS, foreign_cases=("RandomForest",))
    items = [Item("test_a[RandomForestClassifier]", "test_a"), Item("test_a[Perceptron]", "test_a")]
    for item in items:
        item.module = SimpleNamespace(LOAN=loan)
    kept = items[:]
    pytest_collection_modifyitems(kept)
    assert kept == items[1:]


class Item:
    def __init__(self, name, originalname):
        self.name, self.originalname = name, originalname


def test_a_test_is_deselected_by_name_or_by_one_of_its_cases():
    loan = Loan(MODULE, OURS, {"test_a": "all of it", "test_b[1]": "one case"})
    assert reason_of(Item("test_a[x]", "test_a"), loan) == "all of it"
    assert reason_of(Item("test_b[1]", "test_b"), loan) == "one case"
    assert reason_of(Item("test_b[2]", "test_b"), loan) is None


def mark_of(item, loan):
    item.module = SimpleNamespace(LOAN=loan)
    item.add_marker = lambda mark: setattr(item, "mark", mark)
    pytest_collection_modifyitems([item])
    assert item.mark.name == "xfail"
    return item.mark.kwargs


def test_a_deselected_test_that_passes_is_reported():
    """It is marked as expected to fail, strictly: pytest makes a failure of a success."""
    loan = Loan(MODULE, OURS, {"test_a": "hard"})
    assert mark_of(Item("test_a", "test_a"), loan) == {"reason": "hard", "strict": True}


def test_a_case_that_chance_decides_may_pass_and_is_not_counted_among_those_that_do():
    loan = Loan(MODULE, OURS, by_chance={"test_a[1]": "dice"}, least_share=0.5)
    items = [Item(f"test_a[{i}]", "test_a") for i in (1, 2)]
    assert mark_of(items[0], loan) == {"reason": "dice", "strict": False}
    for item in items:
        item.module = "here"
    request = SimpleNamespace(module="here", node=None, session=SimpleNamespace(items=items))
    share_test(loan)(request)
    with pytest.raises(AssertionError):
        share_test(replace(loan, least_share=0.6))(request)
