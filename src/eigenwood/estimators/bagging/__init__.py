"""Bagging: the public classes, and what they are made of.

faces           the public classes
params          the rules for parameters and fitted attributes
input_checks    X, y and weights → BaggingData
fitting         learner number t, fitted to its own draw
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.bagging.faces import BaggingClassifier, BaggingRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]
