"""Qualities that several methods share."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Quality


def share_of_right_answers(arrays, model) -> float:
    """Return the accuracy of a fitted classifier on X_test, y_test."""
    return float(np.mean(model.predict(arrays["X_test"]) == arrays["y_test"]))


TEST_ACCURACY = Quality("test accuracy", share_of_right_answers, better="higher")
