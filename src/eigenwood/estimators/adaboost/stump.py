"""One stump of a fitted model, as a classifier that can be asked alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from eigenwood.core.adaboost.stumps import Stumps, stump_votes
from eigenwood.validation.categories import check_mixed


class Stump(ClassifierMixin, BaseEstimator):
    """A tree of one question; ``feature_`` is the column that it asks about, ``threshold_`` where it is cut."""

    def predict(self, X):
        """Return the class that the stump says of each row."""
        rows = check_mixed(self, X, known=self.categories_).X
        votes = stump_votes(self.stump_, np.ones(1), rows, self.classes_.size, 1)
        return self.classes_[votes.argmax(axis=1)]


def stump_of(stumps: Stumps, model: Any) -> Stump:
    """Return the only one of some stumps, of a fitted model."""
    stump = Stump()
    stump.stump_, stump.classes_, stump.categories_ = stumps, model.classes_, model.categories_
    stump.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        stump.feature_names_in_ = model.feature_names_in_
    stump.feature_, stump.threshold_ = int(stumps.feature[0]), float(stumps.threshold[0])
    return stump
