"""Eigenwood: classical machine learning that is fast, never runs out of memory, and shows its proof.

A name is imported when it is first asked for: who needs one estimator does not wait for the others.
"""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigenwood.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from eigenwood.estimators.bagging import BaggingClassifier, BaggingRegressor
    from eigenwood.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from eigenwood.estimators.encoder import TableEncoder
    from eigenwood.estimators.expansion import PolynomialExpansion
    from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
    from eigenwood.estimators.kernels import check_mercer
    from eigenwood.estimators.pca import PCA
    from eigenwood.estimators.perceptron import KernelPerceptron, Perceptron
    from eigenwood.estimators.registry import verify
    from eigenwood.estimators.representable import representable
    from eigenwood.estimators.rules import rules
    from eigenwood.estimators.svm import SVC, SVR
    from eigenwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from eigenwood.models.file import load, save
    from eigenwood.proofs.claim import Certificate, Claim
    from eigenwood.validation.kernels import gamma_from_s, gamma_from_sigma

__all__ = [
    "PCA",
    "SVC",
    "SVR",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "Certificate",
    "Claim",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KernelPerceptron",
    "Perceptron",
    "PolynomialExpansion",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "TableEncoder",
    "check_mercer",
    "gamma_from_s",
    "gamma_from_sigma",
    "load",
    "representable",
    "rules",
    "save",
    "verify",
]

__version__ = "0.1.0"

_HOMES = {
    "estimators.adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "estimators.bagging": ("BaggingClassifier", "BaggingRegressor"),
    "estimators.boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "estimators.encoder": ("TableEncoder",),
    "estimators.expansion": ("PolynomialExpansion",),
    "estimators.forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "estimators.kernels": ("check_mercer",),
    "estimators.pca": ("PCA",),
    "estimators.perceptron": ("KernelPerceptron", "Perceptron"),
    "estimators.registry": ("verify",),
    "estimators.representable": ("representable",),
    "estimators.rules": ("rules",),
    "estimators.svm": ("SVC", "SVR"),
    "estimators.tree": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "models.file": ("load", "save"),
    "proofs.claim": ("Certificate", "Claim"),
    "validation.kernels": ("gamma_from_s", "gamma_from_sigma"),
}
_FOLDERS = ("data", "plots")
_HOME_OF = {name: f"eigenwood.{home}" for home, names in _HOMES.items() for name in names}


def _imported(name: str) -> ModuleType:
    """Return a module. What an import makes stays: searching it for garbage would be a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collecting:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Put all objects among those that are rarely searched, where they would come anyway after two searches.

    What somebody has frozen stays frozen: then nothing is done.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return _imported(f"eigenwood.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'eigenwood' has no attribute {name!r}")
    value = getattr(_imported(_HOME_OF[name]), name)
    globals()[name] = value  # the next time Python finds it by itself
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
