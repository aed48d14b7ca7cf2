"""Rules for hyper-parameters: what they allow, and the sentence they make."""

from fractions import Fraction

import numpy as np
import pytest

from eigenwood.errors import EigenwoodError, InputError
from eigenwood.validation.params import (
    AnyOf,
    Choice,
    ClassWeights,
    Flag,
    Function,
    Nothing,
    Number,
    Seed,
    check_params,
    check_values,
)

ALLOWED = [
    (Choice(("l1", "l2")), ["l1", "l2"], ["l3", None, 1, ("l1",), np.array(["l1", "l2"])]),
    (Number(), [0, -1.5, 1e300, np.float32(2), Fraction(1, 3)], [np.nan, np.inf, -np.inf, "1", None, True, 1j]),
    (Number(above=0), [1e-300, 1], [0, -1, 0.0]),
    (Number(at_least=0), [0, 1], [-1e-300]),
    (Number(below=1), [0.999, -5], [1, 1.0]),
    (Number(at_most=1), [1], [1.0000001]),
    (Number(above=0, at_most=1), [0.5, 1], [0, 2]),
    (Number(integer=True), [0, -3, np.int64(4), np.uint8(1)], [1.0, 1.5, True, np.bool_(1), "3", None]),
    (Number(at_least=1, at_most=100, integer=True), [1, 100], [0, 101, 50.0]),
    (Flag(), [True, False, np.bool_(True)], [0, 1, "True", None]),
    (Nothing(), [None], [0, False, "None"]),
    (Function("x"), [abs, lambda x: x, int], ["abs", None, 1]),
    (Seed(), [None, 0, 2**32 - 1, np.random.RandomState(0)], [-1, 2**32, 1.5, "0", True, np.random.default_rng(0)]),
    (
        ClassWeights(),
        [None, "balanced", {}, {0: 1.0}, {"a": 0}],
        ["even", 1, [1, 2], {0: -1.0}, {0: np.nan}, {0: np.inf}, {0: "1"}, {0: None}],
    ),
    (AnyOf(Nothing(), Number(above=0)), [None, 1], [0, "1"]),
]


@pytest.mark.parametrize(("rule", "good", "bad"), ALLOWED, ids=[str(rule) for rule, _, _ in ALLOWED])
def test_what_is_allowed(rule, good, bad):
    for value in good:
        assert rule.allows(value) is True, value
    for value in bad:
        assert rule.allows(value) is False, value


@pytest.mark.parametrize("value", [np.array([1.0, 2.0]), np.array(["balanced", "balanced"])], ids=str)
def test_an_array_is_no_class_weight(value):
    assert ClassWeights().allows(value) is False


@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["huge", "minus huge"])
def test_a_whole_number_beyond_all_floats_is_decided_without_a_crash(value):
    assert Number(at_least=1, at_most=100, integer=True).allows(value) is False


def test_a_whole_number_beyond_all_floats_is_no_length_of_a_step():
    assert Number(above=0).allows(10**400) is False


SENTENCES = [
    (Choice(("linear", "rbf")), "rfb", "Who: what must be one of 'linear', 'rbf'; got 'rfb'."),
    (Number(above=0), -1, "Who: what must be a number above 0; got -1."),
    (Number(above=0, at_most=1), 1.5, "Who: what must be a number above 0 and at most 1; got 1.5."),
    (Number(at_least=0, below=1), np.nan, "Who: what must be a number at least 0 and below 1; got nan."),
    (Number(at_least=1, integer=True), 1.5, "Who: what must be an integer at least 1; got 1.5."),
    (Number(), "x", "Who: what must be a number; got 'x'."),
    (Number(integer=True), None, "Who: what must be an integer; got None."),
    (Flag(), 1, "Who: what must be True or False; got 1."),
    (Nothing(), 0, "Who: what must be None; got 0."),
    (Function("two blocks of rows"), 3, "Who: what must be a function of two blocks of rows; got 3."),
    (Seed(), -1, "Who: what must be None, an integer from 0 to 4294967295 or a numpy RandomState; got -1."),
    (
        ClassWeights(),
        "even",
        "Who: what must be None, 'balanced' or a dict of class: weight, each weight a number at least 0; got 'even'.",
    ),
    (AnyOf(Nothing(), Number(above=0)), 0, "Who: what must be None or a number above 0; got 0."),
]


@pytest.mark.parametrize(("rule", "value", "sentence"), SENTENCES, ids=[sentence for _, _, sentence in SENTENCES])
def test_the_sentence(rule, value, sentence):
    with pytest.raises(InputError) as caught:
        check_values("Who", {"what": rule}, {"what": value})
    assert str(caught.value) == sentence


def test_the_error_is_a_value_error_and_ours():
    with pytest.raises(ValueError, match="must be") as caught:
        check_values("Who", {"what": Flag()}, {"what": 2})
    assert isinstance(caught.value, EigenwoodError)


def test_the_first_broken_rule_speaks():
    rules = {"a": Flag(), "b": Flag(), "c": Flag()}
    with pytest.raises(InputError, match="Who: b must be"):
        check_values("Who", rules, {"a": True, "b": 0, "c": 0})


def test_an_estimator_is_named_by_its_class():
    class Thing:
        PARAMS = {"gamma": Number(above=0)}
        gamma = 0

    with pytest.raises(InputError) as caught:
        check_params(Thing())
    assert str(caught.value) == "Thing: gamma must be a number above 0; got 0."
    Thing.gamma = 1
    check_params(Thing())
