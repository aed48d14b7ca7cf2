"""The fitted attributes that many estimators share, for the rules of the model file."""

from eigenwood.estimators.watching import STOP_REASONS
from eigenwood.validation.params import Choice, Flag, Number
from eigenwood.validation.state import Array, Labels, Proof, Scalar, Size

FEATURE_STATE = {"n_features_in_": Size("n_features"), "feature_names_in_": Labels("n_features", text_only=True)}

OPTIONAL = frozenset({"feature_names_in_"})

FIT_STATE = {
    "stop_reason_": Scalar(Choice(STOP_REASONS)),
    "certificate_": Proof(),
}

CLASS_STATE = {"classes_": Labels("n_classes")}

COUNT = Scalar(Number(at_least=0, whole=True))
FLAG = Scalar(Flag())
POSITIVE = Scalar(Number(above=0))
AMOUNT = Scalar(Number(at_least=0))
PER_PROBLEM = Array("f", ("n_problems",))
