"""Rules for what a fitted model holds: each kind of wrong state has its sentence."""

import numpy as np
import pytest
from scipy import sparse

from eigenwood.errors import InputError
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.params import Choice, Number
from eigenwood.validation.state import Array, Labels, Proof, Scalar, Size, TextLists, Words, agreed, check_state

RULES = {
    "classes_": Labels("n_classes"),
    "n_features_in_": Size("n_features"),
    "feature_names_in_": Labels("n_features", text_only=True),
    "coef_": Array("f", ("n_problems", "n_features")),
    "support_": Array("i", ("n_support",)),
    "places_": Array("i", ("n_places",), below="n_support"),
    "vectors_": Array("f", ("n_support", "n_features"), or_sparse=True),
    "changes_": Array("f", ("n_places", 3)),
    "flags_": Array("b", ("n_problems",)),
    "words_": TextLists("n_lists"),
    "n_iter_": Scalar(Number(at_least=0, integer=True)),
    "reason_": Scalar(Choice(("finished", "callback"))),
    "certificate_": Proof(),
}
OPTIONAL = frozenset({"feature_names_in_"})


def good():
    return {
        "classes_": np.array(["a", "b"]),
        "n_features_in_": 2,
        "feature_names_in_": np.array(["x", "y"], dtype=object),
        "coef_": np.zeros((1, 2)),
        "support_": np.array([4, 0, 9]),
        "places_": np.array([0, 2]),
        "vectors_": np.zeros((3, 2), dtype=np.float32),
        "changes_": np.zeros((2, 3)),
        "flags_": np.array([True]),
        "words_": [["u", "v"], []],
        "n_iter_": 5,
        "reason_": "finished",
        "certificate_": Certificate(()),
    }


def check(**changed):
    check_state("Who", RULES, good() | changed, OPTIONAL)


def test_a_good_state_passes():
    check()
    check(vectors_=sparse.csr_array(np.eye(3, 2)))
    check(support_=np.zeros(3, dtype=np.int32))
    check(classes_=np.array([False, True]))
    check(classes_=np.array([-1.5, 2.0]))
    check(places_=np.zeros(0, dtype=np.int64), changes_=np.zeros((0, 3)))


def test_three_classes_are_three_problems():
    three = {"classes_": np.array([0, 1, 2]), "coef_": np.zeros((3, 2)), "flags_": np.ones(3, dtype=bool)}
    check(**three)
    with pytest.raises(InputError, match=r"Who: coef_ must have shape \(n_problems, n_features\); got \(1, 2\)\."):
        check(classes_=np.array([0, 1, 2]))


def test_optional_and_required():
    state = good()
    del state["feature_names_in_"]
    check_state("Who", RULES, state, OPTIONAL)
    del state["coef_"]
    with pytest.raises(InputError) as caught:
        check_state("Who", RULES, state, OPTIONAL)
    assert str(caught.value) == "Who: coef_ must be there; got nothing."


SHAPE = "Who: {} must have shape ({}); got {}."
WRONG = [
    ({"coef_": [[0.0, 0.0]]}, "Who: coef_ must be an array; got list."),
    ({"coef_": sparse.csr_array(np.eye(1, 2))}, "Who: coef_ must be an array; got csr_array."),
    ({"coef_": np.zeros((1, 2), dtype=int)}, "Who: coef_ must be of dtype float64 or float32; got int64."),
    ({"coef_": np.zeros((1, 2), dtype=np.float16)}, "Who: coef_ must be of dtype float64 or float32; got float16."),
    ({"coef_": np.zeros((1, 2), dtype=complex)}, "Who: coef_ must be of dtype float64 or float32; got complex128."),
    ({"coef_": np.zeros((1, 2), dtype=object)}, "Who: coef_ must be of dtype float64 or float32; got object."),
    ({"coef_": np.zeros((1, 3))}, SHAPE.format("coef_", "n_problems, n_features", "(1, 3)")),
    ({"coef_": np.zeros(2)}, SHAPE.format("coef_", "n_problems, n_features", "(2,)")),
    ({"coef_": np.array([[0.0, np.nan]])}, "Who: coef_ must be finite; got NaN or infinity."),
    ({"coef_": np.array([[0.0, -np.inf]])}, "Who: coef_ must be finite; got NaN or infinity."),
    ({"changes_": np.zeros((2, 4))}, SHAPE.format("changes_", "n_places, 3", "(2, 4)")),
    ({"support_": np.array([4, -1, 9])}, "Who: support_ must hold indices from 0; got a negative one."),
    ({"support_": np.array([4.0, 0.0, 9.0])}, "Who: support_ must be of dtype int64 or int32; got float64."),
    ({"places_": np.array([0, 3])}, "Who: places_ must hold indices below n_support; got 3."),
    ({"vectors_": np.zeros((2, 2))}, SHAPE.format("vectors_", "n_support, n_features", "(2, 2)")),
    (
        {"vectors_": sparse.csr_array(np.full((3, 2), np.inf))},
        "Who: vectors_ must be finite; got NaN or infinity.",
    ),
    ({"flags_": np.array([1])}, "Who: flags_ must be of dtype bool; got int64."),
    ({"classes_": ["a", "b"]}, "Who: classes_ must be an array of numbers, truth values or strings."),
    ({"classes_": np.array([1j, 2j])}, "Who: classes_ must be an array of numbers, truth values or strings."),
    ({"classes_": np.array(["a", 1], dtype=object)}, "Who: classes_ must hold strings."),
    ({"classes_": np.array(["a", "a"])}, "Who: classes_ must hold different labels."),
    ({"classes_": np.array(["b", "a"])}, "Who: classes_ must be in order."),
    ({"classes_": np.array(["a"])}, "Who: classes_ must hold at least 2 classes; got 1."),
    ({"classes_": np.array([0.0, np.nan])}, "Who: classes_ must be finite; got NaN or infinity."),
    ({"classes_": np.array([["a", "b"]])}, SHAPE.format("classes_", "n_classes,", "(1, 2)")),
    ({"feature_names_in_": np.array([1, 2])}, "Who: feature_names_in_ must be an array of strings."),
    ({"feature_names_in_": np.array(["x"])}, SHAPE.format("feature_names_in_", "n_features,", "(1,)")),
    ({"n_features_in_": 2.0}, "Who: n_features_in_ must be an integer at least 0; got 2.0."),
    ({"n_features_in_": -1}, "Who: n_features_in_ must be an integer at least 0; got -1."),
    ({"n_features_in_": True}, "Who: n_features_in_ must be an integer at least 0; got True."),
    ({"words_": ("u",)}, "Who: words_ must be a list of lists."),
    ({"words_": [["u"], "v"]}, "Who: words_ must be a list of lists."),
    ({"words_": [["u"], [1]]}, "Who: words_ must hold strings."),
    ({"n_iter_": -1}, "Who: n_iter_ must be an integer at least 0; got -1."),
    ({"n_iter_": float("nan")}, "Who: n_iter_ must be an integer at least 0; got nan."),
    ({"reason_": "tired"}, "Who: reason_ must be one of 'finished', 'callback'; got 'tired'."),
    ({"certificate_": None}, "Who: certificate_ must be a certificate."),
    ({"evil_": 1}, "Who: evil_ must not be there."),
]


@pytest.mark.parametrize(("changed", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_each_kind_of_wrong_state_has_its_sentence(changed, sentence):
    with pytest.raises(InputError) as caught:
        check(**changed)
    assert str(caught.value) == sentence


def test_a_size_that_was_fixed_before_is_told():
    rules = {"coef_": Array("f", ("n_features",)), "n_features_in_": Size("n_features")}
    with pytest.raises(InputError) as caught:
        check_state("Who", rules, {"coef_": np.zeros(3), "n_features_in_": 2}, frozenset())
    assert str(caught.value) == "Who: n_features_in_ must be 3; got 2."


def test_the_number_of_lists_must_agree():
    rules = {"n": Size("n_lists"), "words_": TextLists("n_lists")}
    with pytest.raises(InputError) as caught:
        check_state("Who", rules, {"n": 2, "words_": [["u"]]}, frozenset())
    assert str(caught.value) == "Who: words_ must have n_lists lists."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array(["a", "c"]), "kinds_ must hold 'a', 'b'; got 'c'."),
        (np.array(["a"]), "kinds_ must have shape (n_columns,)."),
        (np.array([["a", "b"]]), "kinds_ must have shape (n_columns,)."),
        (np.array(["a", "b"], dtype=object), "kinds_ must be an array of strings."),
        (["a", "b"], "kinds_ must be an array of strings."),
    ],
)
def test_words_are_some_of_a_few(value, expected):
    rules = {"n": Size("n_columns"), "kinds_": Words("n_columns", ("a", "b"))}
    check_state("Who", rules, {"n": 2, "kinds_": np.array(["b", "a"])}, frozenset())
    with pytest.raises(InputError) as caught:
        check_state("Who", rules, {"n": 2, "kinds_": value}, frozenset())
    assert str(caught.value) == f"Who: {expected}"


def test_names_are_fixed_by_the_first_and_kept():
    sizes = {}
    assert agreed(("n", "n"), (3, 3), sizes)
    assert sizes == {"n": 3}
    assert not agreed(("n",), (4,), sizes)
    assert not agreed(("n",), (3, 1), sizes)
    assert agreed((7,), (7,), sizes)
    assert not agreed((7,), (6,), sizes)
    assert not agreed(("m", "m"), (1, 2), sizes)
