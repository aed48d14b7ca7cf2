"""AdaBoost: the public classes, and what they are made of.

faces           the classifier
base            what it shares with the regressor: learners, seeds, what a warm start begins with
history         the rounds of a fit and what they come to, earlier ones counted, up to the best one
stopping        rows held out, and when rounds stop early
contributing    what each feature adds to the vote
medians         the weighted median
params          the rules for parameters and fitted attributes
input_checks    X, y and weights → StumpData for our stumps, LearnerData for any learner
fitting         rounds with any learner, by weights or by resampling
votes           votes of learners → scores and shares of the classes
voting          the weighted vote, after all rounds or after each
regressor       AdaBoost.R2
stump           one stump of a fitted model as a classifier
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.adaboost.faces import AdaBoostClassifier
from eigenwood.estimators.adaboost.regressor import AdaBoostRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]
