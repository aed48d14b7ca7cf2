"""Eigenwood: classical machine learning that is fast, never runs out of memory, and shows its proof."""

from eigenwood.estimators.bagging import BaggingClassifier, BaggingRegressor
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.estimators.expansion import PolynomialExpansion
from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
from eigenwood.estimators.kernel_perceptron import KernelPerceptron
from eigenwood.estimators.kernels import check_mercer
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.perceptron import Perceptron
from eigenwood.estimators.registry import verify
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
    "BaggingClassifier",
    "BaggingRegressor",
    "Certificate",
    "Claim",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
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
    "rules",
    "save",
    "verify",
]

__version__ = "0.1.0"
