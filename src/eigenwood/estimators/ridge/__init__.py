"""Kernel ridge regression: the public class, and what it is made of.

faces           the public class
params          its parameters, and the rules of its fitted attributes
input_checks    X, y and weights → rows, amounts and a kernel
fitting         the linear system → coefficients and certified numbers
verifying       the claims, recomputed from the rows
"""

from eigenwood.estimators.ridge.faces import KernelRidge

__all__ = ["KernelRidge"]
