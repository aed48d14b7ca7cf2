"""Gradient boosting: the public classes, and what they are made of.

faces           the public classes
params          losses, and the rules for parameters and fitted attributes
input_checks    X, y and weights → BoostData; parameters that exclude each other
setup           rows and parameters → what the core's rounds are made from
fitting         rounds one after the other, as steps, and the trees that they leave
stopping        rows held out, and the round that is best on them
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.boosting.faces import GradientBoostingClassifier, GradientBoostingRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]
