"""Scikit-learn's tests of its principal components, passed by ours."""

from __future__ import annotations

from eigenwood import PCA
from tests.drop_in.borrowed import Loan, borrow

OURS = {"sklearn.decomposition": {"PCA": PCA}}

globals().update(borrow(Loan(module="sklearn.decomposition.tests.test_pca", ours=OURS, least_share=0.85)))
