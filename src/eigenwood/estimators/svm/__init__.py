"""Support vector machines: the public classes, and what they are made of.

faces           the public classes, for classes and for amounts
base            what both share: fit, scores, fitted attributes
input_checks    X, y and weights → the dual problems to solve, and a kernel
fitting         steps of the solver → coefficients, offsets and certified numbers
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.svm.faces import SVC, SVR

__all__ = ["SVC", "SVR"]
