"""Eigenwood: classical machine learning that is fast, never runs out of memory, and shows its proof.

A name is imported when it is first asked for: who needs one estimator does not wait for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenwood.importing import imported as _imported

if TYPE_CHECKING:
    from eigenwood.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from eigenwood.estimators.autoencoder import Autoencoder
    from eigenwood.estimators.bagging import BaggingClassifier, BaggingRegressor
    from eigenwood.estimators.blending import (
        ScaledTargetRegressor,
        WeightedEnsembleClassifier,
        WeightedEnsembleRegressor,
    )
    from eigenwood.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from eigenwood.estimators.columns import TableColumns
    from eigenwood.estimators.encoder import TableEncoder
    from eigenwood.estimators.expansion import PolynomialExpansion
    from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
    from eigenwood.estimators.kernel_pca import KernelPCA
    from eigenwood.estimators.kernels import check_mercer
    from eigenwood.estimators.logistic import KernelLogisticRegression
    from eigenwood.estimators.low_rank_kernel import LowRankKernel
    from eigenwood.estimators.pca import PCA
    from eigenwood.estimators.perceptron import KernelPerceptron, Perceptron
    from eigenwood.estimators.registry import verify
    from eigenwood.estimators.representable import representable
    from eigenwood.estimators.ridge import KernelRidge
    from eigenwood.estimators.rules import rules
    from eigenwood.estimators.selection import GainSelector, IterativeHardThresholding
    from eigenwood.estimators.svm import SVC, SVR
    from eigenwood.estimators.text import BagOfWords
    from eigenwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from eigenwood.estimators.words import CBOW, CovarianceEmbedding, WordVectors
    from eigenwood.learning import Learned, learn
    from eigenwood.models.file import load, save
    from eigenwood.proofs.claim import Certificate, Claim
    from eigenwood.validation.kernels import gamma_from_s, gamma_from_sigma

__all__ = [
    "CBOW",
    "PCA",
    "SVC",
    "SVR",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "Autoencoder",
    "BagOfWords",
    "BaggingClassifier",
    "BaggingRegressor",
    "Certificate",
    "Claim",
    "CovarianceEmbedding",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GainSelector",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "IterativeHardThresholding",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "Learned",
    "LowRankKernel",
    "Perceptron",
    "PolynomialExpansion",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ScaledTargetRegressor",
    "TableColumns",
    "TableEncoder",
    "WeightedEnsembleClassifier",
    "WeightedEnsembleRegressor",
    "WordVectors",
    "check_mercer",
    "gamma_from_s",
    "gamma_from_sigma",
    "learn",
    "load",
    "representable",
    "rules",
    "save",
    "verify",
]

__version__ = "0.1.0"

_HOMES = {
    "estimators.adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "estimators.autoencoder": ("Autoencoder",),
    "estimators.bagging": ("BaggingClassifier", "BaggingRegressor"),
    "estimators.blending": ("ScaledTargetRegressor", "WeightedEnsembleClassifier", "WeightedEnsembleRegressor"),
    "estimators.boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "estimators.columns": ("TableColumns",),
    "estimators.encoder": ("TableEncoder",),
    "estimators.expansion": ("PolynomialExpansion",),
    "estimators.forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "estimators.kernel_pca": ("KernelPCA",),
    "estimators.kernels": ("check_mercer",),
    "estimators.logistic": ("KernelLogisticRegression",),
    "estimators.low_rank_kernel": ("LowRankKernel",),
    "estimators.pca": ("PCA",),
    "estimators.perceptron": ("KernelPerceptron", "Perceptron"),
    "estimators.registry": ("verify",),
    "estimators.representable": ("representable",),
    "estimators.ridge": ("KernelRidge",),
    "estimators.rules": ("rules",),
    "estimators.selection": ("GainSelector", "IterativeHardThresholding"),
    "estimators.svm": ("SVC", "SVR"),
    "estimators.text": ("BagOfWords",),
    "estimators.tree": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "estimators.words": ("CBOW", "CovarianceEmbedding", "WordVectors"),
    "learning": ("Learned", "learn"),
    "models.file": ("load", "save"),
    "proofs.claim": ("Certificate", "Claim"),
    "validation.kernels": ("gamma_from_s", "gamma_from_sigma"),
}
_FOLDERS = ("data", "plots", "scale")
_HOME_OF = {name: f"eigenwood.{home}" for home, names in _HOMES.items() for name in names}


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
