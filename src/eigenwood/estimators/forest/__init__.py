"""Random forests: the public classes, and what they are made of.

faces           the public classes
params          the rules for parameters and fitted attributes
input_checks    X, y and weights → TreeData; parameters that exclude each other
fitting         tree number t, from codes that all trees share; the choice of max_features; importances
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.forest.faces import RandomForestClassifier, RandomForestRegressor

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]
