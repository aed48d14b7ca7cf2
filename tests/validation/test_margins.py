"""What support vector machines and perceptrons refuse, in one sentence each."""

import numpy as np
import pytest

from eigenwood.errors import InputError
from eigenwood.validation import kernels, perceptron, svm
from tests.models.crafting import assert_one_sentence

LABELS = np.array(["a", "b"])
CODES = np.array([0, 0, 0, 1, 1, 1])
CHANGES = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 4.0]])
HISTORY = {"history_support_": np.array([0, 1]), "history_problem_": np.zeros(2), "history_changes_": CHANGES}
NO_HISTORY = dict.fromkeys(HISTORY)


def fitted(support=(3, 1), n_support=(1, 1), shape=(1, 2), n_intercepts=1):
    return lambda: svm.check_fitted_problems("SVC", np.array(support), np.array(n_support), shape, n_intercepts)


REFUSED = {
    "a huge cost": (lambda: svm.check_costs("SVR", [np.ones(2), np.array([1.0, 1e151])]), "1e+150; got 1e+151"),
    "a tiny cost": (lambda: svm.check_costs("SVC", [np.array([1e-151])]), "got 1e-151"),
    "a class without rows": (
        lambda: svm.check_class_factors("SVC", LABELS, np.array([1.0, np.nan])),
        "got none of 'b'",
    ),
    "a class of no weight": (lambda: svm.check_class_factors("SVC", LABELS, np.array([0.0, 1.0])), "got 0 for 'a'"),
    "two amounts": (lambda: svm.check_one_amount(2), "one column; got 2"),
    "ties of pairs": (lambda: svm.check_tie_breaking(True, "ovo"), "break_ties must be False"),
    "one line too many": (fitted(shape=(2, 2)), "of the same problems"),
    "an offset too many": (fitted(n_intercepts=2), "of the same problems"),
    "a row twice": (fitted(support=(3, 3)), "different rows; got one twice"),
    "status": (lambda: svm.check_fitted_end("SVC", 1, True, "finished", "finished"), "got 1"),
    "stopped": (lambda: svm.check_fitted_end("SVC", 0, True, "time_limit", "finished"), "must be 'finished'"),
    "vectors": (lambda: kernels.check_support_vectors("SVC", False, CODES, (6, 2), 3), "shape (6, 3); got (6, 2)"),
    "vectors of a matrix": (lambda: kernels.check_support_vectors("SVC", True, CODES, (6, 3), 3), "shape (0, 0)"),
    "a row beyond": (lambda: kernels.check_support_vectors("SVC", True, np.array([3]), (0, 0), 3), "below 3; got 3"),
    "balance of a batch": (lambda: perceptron.check_batch_weights("balanced"), "which needs all rows"),
    "one row of a class": (lambda: perceptron.held_out_rows(CODES[:4], 0.5, 0), "more rows of every class"),
    "a budget for votes": (lambda: perceptron.check_budget(5, "voted"), "got 5 with vote='voted'"),
    "votes of nothing": (lambda: perceptron.check_history("voted", NO_HISTORY, 9.0), "history_changes_ must be there"),
    "history of nobody": (lambda: perceptron.check_history("last", HISTORY, 9.0), "no history unless vote is 'voted'"),
    "time runs back": (lambda: perceptron.check_history("voted", HISTORY, 3.0), "in the order of their times"),
    "no change": (
        lambda: perceptron.check_history("voted", HISTORY | {"history_changes_": 0.0 * CHANGES}, 9.0),
        "must be changes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_allowed_is_refused_in_one_sentence(name):
    call, words = REFUSED[name]
    with pytest.raises(InputError) as caught:
        call()
    assert_one_sentence(str(caught.value))
    assert words in str(caught.value)


def test_what_is_allowed_passes():
    svm.check_costs("SVC", [np.array([1e-150, 1e150])])
    assert svm.check_class_factors("SVC", LABELS, np.array([0.5, 2.0])).sum() == 2.5
    svm.check_one_amount(1)
    svm.check_tie_breaking(True, "ovr")
    svm.check_tie_breaking(False, "ovo")
    fitted()()
    fitted(n_support=(1, 1, 0), shape=(2, 2), n_intercepts=3)()
    svm.check_fitted_end("SVC", 1, False, "time_limit", "finished")
    kernels.check_support_vectors("SVC", False, CODES, (6, 3), 3)
    kernels.check_support_vectors("SVC", True, np.array([2]), (0, 0), 3)
    perceptron.check_batch_weights({0: 2.0})
    perceptron.check_budget(None, "voted")
    perceptron.check_budget(5, "last")
    perceptron.check_history("voted", HISTORY, 4.0)
    perceptron.check_history("averaged", NO_HISTORY, 4.0)


def test_every_class_is_held_out():
    learn, held_out = perceptron.held_out_rows(CODES, 0.34, seed=0)
    assert sorted([*learn, *held_out]) == [0, 1, 2, 3, 4, 5]
    assert set(CODES[held_out]) == set(CODES[learn]) == {0, 1}
