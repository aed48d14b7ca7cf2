"""Scikit-learn's tests of its perceptron, passed by ours."""

from __future__ import annotations

from eigenwood import Perceptron
from tests.drop_in.borrowed import Loan, borrow

DESELECTED = {
    "test_perceptron_l1_ratio": (
        "asks two fits for different accuracies; with our order of rows both are right on two flowers of three. That "
        "their weights differ, and that elastic net meets L1 and L2 at its ends, is tested in tests/estimators"
    ),
}

globals().update(
    borrow(
        Loan(
            module="sklearn.linear_model.tests.test_perceptron",
            ours={"sklearn.linear_model": {"Perceptron": Perceptron}},
            deselected=DESELECTED,
            least_share=0.8,
        )
    )
)
