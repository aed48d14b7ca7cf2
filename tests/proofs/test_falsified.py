"""The falsification exam: no fitted attribute of any estimator can be changed without ``verify`` noticing it.

Every attribute in ``FITTED`` is edited in several ways and sizes, in memory and in the model file. An edit is noticed
if the model is refused, or if its certificate does not hold any more. Some samples are asked in each run; all of them
with ``EIGENWOOD_WHOLE_EXAM=1``, which takes some minutes. What stands in ``HARMLESS`` cannot change a prediction or a
claim, for the reason that is given.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from eigenwood import (
    SVC,
    SVR,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    Perceptron,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
    verify,
)
from eigenwood.errors import InputError, ModelFileError
from eigenwood.estimators.registry import ENTRIES
from tests.models.samples import MAKERS, Sample, amounts, labelled, named, parts_of, rows, sample, two
from tests.proofs.falsifying import Edit, edits_of, falsified

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

MORE = {
    "svm-loose": labelled(SVC(C=10.0, tol=0.5), two),
    "svm-regression-loose": labelled(SVR(C=10.0, tol=0.5), amounts, named(rows())),
    "bagging-accuracy": labelled(
        BaggingClassifier(Perceptron(max_iter=5), 4, max_samples=0.75, oob_score=True, resample=True, random_state=0),
        two,
    ),
    "random-forest-accuracy": labelled(
        RandomForestClassifier(6, max_features="oob", oob_score=True, random_state=0), two, named(rows())
    ),
    "regression-tree-names": labelled(DecisionTreeRegressor(max_depth=2, random_state=0), amounts, named(rows())),
    "bagging-regression-names": labelled(BaggingRegressor(n_estimators=2, random_state=0), amounts, named(rows())),
    "random-forest-regression-oob": labelled(
        RandomForestRegressor(8, max_features="oob", oob_score=True, random_state=0), amounts, named(rows())
    ),
}
# What classes are made of matters little here, and intervals of the F1 score take their time.
LEFT_OUT = (
    "pipeline",
    *(f"perceptron-{kind}" for kind in ("strings", "objects", "bool", "floats", "int8", "uint64")),
    "bagging-oob",
    "random-forest-oob",
)
SHORT = (
    "perceptron-sparse",
    "kernel-perceptron",
    "kernel-perceptron-voted",
    "svm",
    "svm-precomputed",
    "svm-regression",
    "svm-landmarks",
    "svm-regression-landmarks",
    "kernel-logistic",
    "kernel-logistic-strings",
    "kernel-logistic-precomputed",
    "kernel-ridge",
    "kernel-ridge-several",
    "kernel-ridge-landmarks",
    "decision-tree",
    "decision-tree-table",
    "decision-tree-cv",
    "regression-tree",
    "bagging",
    "bagging-regression-several",
    "weighted-ensemble",
    "weighted-ensemble-fitted",
    "weighted-ensemble-regression",
    "scaled-target-log",
    "cbow",
    "covariance-embedding",
    "pca",
    "pca-missing",
    "kernel-pca",
    "kernel-pca-low-rank",
    "low-rank-kernel",
    "low-rank-kernel-share",
    "random-forest",
    "random-forest-regression-missing",
    "adaboost-early",
    "adaboost-missing",
    "adaboost-regression-early",
    "gradient-boosting-early",
    "gradient-boosting-init",
    "gradient-boosting-regression",
    "gradient-boosting-regression-init",
    "gradient-boosting-regression-missing",
    "autoencoder",
    "autoencoder-tanh",
    "bag-of-words",
    "bag-of-words-pairs",
    "bag-of-words-given",
    "gain-selector",
    "gain-selector-aware",
    "gain-selector-table",
    "hard-thresholding",
    "hard-thresholding-cv",
    "polynomial-expansion",
    "table-columns",
    "table-columns-cyclic",
    "table-encoder",
)
EVERY = [*(name for name in MAKERS if not name.startswith(LEFT_OUT)), *MORE]
SOON = [*SHORT, *(name for name in MORE if "regression" not in name)]
NAMES = EVERY if os.environ.get("EIGENWOOD_WHOLE_EXAM") else SOON

MOVES = "counts how often a pair of coefficients moved; nothing is read from it"
ROUNDED = "the solver's scores are float32: an error below their rounding is none (the loose samples have larger ones)"

# (class, attribute): why nobody is harmed
HARMLESS: dict[tuple[str, str], str] = {
    ("SVC", "n_iter_"): MOVES,
    ("SVR", "n_iter_"): MOVES,
    ("KernelLogisticRegression", "n_iter_"): "counts steps of Newton's method; nothing is read from it",
    ("KernelLogisticRegression", "solver_reason_"): "a sentence for people",
    ("KernelLogisticRegression", "solver_"): "'low_rank' promises less; the other way it is noticed as 'whole kernel'",
    ("KernelRidge", "solver_"): "all rows may be landmarks; the other way it is noticed as 'every row'",
    ("KernelRidge", "solver_reason_"): "a sentence for people",
    ("PCA", "solver_reason_"): "a sentence for people",
    ("KernelPCA", "solver_reason_"): "a sentence for people",
    ("KernelPCA", "solver_"): "all exact routes make one promise; 'low_rank' instead of one is noticed",
    (
        "PCA",
        "solver_",
    ): "all exact routes make one promise; an edit to one that promises less is noticed as 'tolerance'",
}

# The same for single samples, where numbers are as small as rounding.
TINY: dict[tuple[str, str], str] = {
    (name, attribute): ROUNDED
    for name in NAMES
    if name.startswith("svm") and not name.endswith("loose")
    for attribute in ("duality_gap_", "kkt_violation_")
}
for whole in ("kernel-logistic", "kernel-logistic-precomputed"):
    for small in ("trace_error_", "duality_gap_"):
        TINY[(whole, small)] = "the landmarks leave nothing but rounding; a sample with fewer has larger ones"
TINY["kernel-logistic-names", "duality_gap_"] = "three landmarks are the whole of a linear kernel on three columns"
TINY["kernel-ridge-precomputed", "dual_coef_"] = "its first row is 0, and like no row: its coefficient says nothing"
TINY["gradient-boosting-table", "feature_gains_"] = "two of its three gains are a millionth of the third"


@cache
def case(name: str) -> Sample:
    return MORE[name]() if name in MORE else sample(name)


def is_harmless(name: str, model: Any, edit: Edit) -> bool:
    return (type(model).__name__, edit.attribute) in HARMLESS or (name, edit.attribute) in TINY


def is_noticed(model: Any, given: Sample) -> bool:
    """Return whether a model is refused, or its certificate does not hold."""
    with np.errstate(all="ignore"):
        try:
            return verify(model, given.X, given.y).holds is not True
        except InputError:
            return True


def honest(name: str) -> tuple[Sample, Any]:
    given = case(name)
    (model,) = parts_of(given.model)
    return given, model


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_model_does_not_fail(name):
    given, model = honest(name)
    assert verify(model, given.X, given.y).holds is not False


@pytest.mark.parametrize("name", NAMES)
def test_every_edit_in_memory_is_noticed(name):
    given, model = honest(name)
    unnoticed = [
        str(edit)
        for edit in edits_of(model)
        if not is_harmless(name, model, edit) and not is_noticed(falsified(model, edit), given)
    ]
    assert unnoticed == []


FILED = ("perceptron-sparse", "svm", "decision-tree", "pca", "random-forest", "table-columns", "table-encoder")


@pytest.mark.parametrize("name", FILED)
def test_every_edit_in_the_file_is_noticed(name, tmp_path):
    """A file that was written by ``save`` after the edit: its digest is right."""
    given, model = honest(name)
    unnoticed = []
    for edit in edits_of(model):
        if is_harmless(name, model, edit):
            continue
        try:
            written = save(falsified(model, edit), tmp_path / "edited.safetensors")
        except (ModelFileError, InputError):
            continue
        if not is_noticed(load(written), given):
            unnoticed.append(str(edit))
    assert unnoticed == []


def test_the_exam_asks_about_every_attribute_of_every_estimator():
    asked = {(type(case(name).model).__name__, edit.attribute) for name in EVERY for edit in edits_of(case(name).model)}
    wanted = {(entry.estimator.__name__, attribute) for entry in ENTRIES for attribute in entry.estimator.FITTED}
    assert wanted <= asked


def test_every_estimator_has_a_sample_whose_certificate_holds():
    """Otherwise nothing would be noticed, because nothing is claimed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sound = {
            type(case(name).model)
            for name in NAMES
            if verify(case(name).model, case(name).X, case(name).y).holds is True
        }
    assert {entry.estimator for entry in ENTRIES} <= sound


def test_what_is_harmless_exists():
    attributes = {(entry.estimator.__name__, name) for entry in ENTRIES for name in entry.estimator.FITTED}
    assert set(HARMLESS) <= attributes
