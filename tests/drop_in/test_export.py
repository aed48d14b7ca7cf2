"""Scikit-learn's tests of its pictures and texts of trees, passed with ours."""

from __future__ import annotations

from tests.drop_in.borrowed import Loan, borrow
from tests.drop_in.extra_trees import OURS

globals().update(borrow(Loan(module="sklearn.tree.tests.test_export", ours=OURS, foreign=("test_rgb_to_hexstring",))))
