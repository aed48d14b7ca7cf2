"""AdaBoost: the public classes, and what they are made of.

faces           the classifier
params          the rules for parameters and fitted attributes
input_checks    X, y and weights → StumpData for our stumps, LearnerData for any learner
fitting         rounds with any learner, by weights or by resampling
voting          the weighted vote, after all rounds or after each
regressor       AdaBoost.R2
stump           one stump of a fitted model as a classifier
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.adaboost.faces import AdaBoostClassifier
from eigenwood.estimators.adaboost.regressor import AdaBoostRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]
