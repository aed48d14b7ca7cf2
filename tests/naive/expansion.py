"""Basis expansion term by term: read this first, then core/kernels/expansion.py."""

from itertools import combinations_with_replacement
from math import factorial, prod, sqrt

import numpy as np


def terms(n_features, degree):
    """Return the features of every term, degree by degree: () is the constant, (0, 0, 2) is x0² x2."""
    return [term for order in range(degree + 1) for term in combinations_with_replacement(range(n_features), order)]


def factor(term, n_features, degree):
    """Return √(p! / (k₀! k₁! … k_d!)): k_j is how often x_j stands in the term, k₀ what is missing to p."""
    exponents = [degree - len(term), *(term.count(j) for j in range(n_features))]
    return sqrt(factorial(degree) / prod(factorial(k) for k in exponents))


def expand(X, degree, scaled):
    """Return Φ(X), the constant first."""
    n_features = X.shape[1]
    phi = np.empty((len(X), len(terms(n_features, degree))))
    for i, x in enumerate(X):
        for t, term in enumerate(terms(n_features, degree)):
            value = prod(float(x[j]) for j in term)
            phi[i, t] = value * factor(term, n_features, degree) if scaled else value
    return phi
