"""Kernel logistic regression: the public class, and what it is made of.

faces           the public class
params          its parameters, and the rules of its fitted attributes
input_checks    X, y and weights → rows, outcomes and a kernel
planning        how many landmarks, by the rows and the memory
fitting         steps of the solver → attributes and certified numbers
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.logistic.faces import KernelLogisticRegression

__all__ = ["KernelLogisticRegression"]
