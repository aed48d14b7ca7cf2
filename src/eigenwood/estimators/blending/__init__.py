"""Models around models: the public classes, and what they are made of.

faces           ensembles by weight
scaled_target   a regressor of scaled or logarithmic amounts
params          the rules for parameters and fitted attributes
input_checks    X, y and weights → rows and targets as members get them
fitting         one member, fitted; its probabilities, and the calibration of its scores
scaling         amounts → what the inner regressor learns, and back
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.blending.faces import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from eigenwood.estimators.blending.scaled_target import ScaledTargetRegressor

__all__ = ["ScaledTargetRegressor", "WeightedEnsembleClassifier", "WeightedEnsembleRegressor"]
