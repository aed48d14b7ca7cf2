"""Principal component analysis: the public class, and what it is made of.

faces               the public class
input_checks        what a user has → a source
sources             rows in memory, blocks of rows, blocks of columns: what the routes read
types               what is asked of a route, and what it returns
routes              which solver is taken, and what happens when time is short
direct_routes       solvers that make a matrix of products, or the SVD
iterative_routes    solvers that multiply with the table only
decomposition       the eigenpairs of a matrix of products
back_transform      eigenpairs → components
planning, costs     the cheapest route, by the work that each one takes
scaling, units      means, scales, and numbers too large or too small to be squared
growing, filling    a share of the variance; missing values
fitting             a result → fitted attributes and certificate
clock               how much work fits into the time that is left
verifying           the claims, recomputed from the rows
"""

from eigenwood.estimators.pca.faces import PCA

__all__ = ["PCA"]
