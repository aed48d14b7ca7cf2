"""Kernel PCA: the public class, and what it is made of.

faces           the public class
input_checks    X and parameters → a problem with a kernel, and a request
planning        which route
routes          steps to the components
streaming       the same for rows in blocks
results         eigenpairs → components, and what projects new rows
fitting         a result → fitted attributes, the certificate
going_back      scores → rows
verifying       the claims, recomputed from the rows: verified_rows, verified_landmarks
"""

from eigenwood.estimators.kernel_pca.faces import KernelPCA

__all__ = ["KernelPCA"]
