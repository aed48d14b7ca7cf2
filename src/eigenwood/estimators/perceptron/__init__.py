"""Perceptrons: the public classes, and what they are made of.

perceptron           the public class with weights for the features
kernel_perceptron    the public class with coefficients for the rows it erred on
early_stopping       rows that are held out, and when to stop by them
verifying            the claims, recomputed from the rows
"""

from eigenwood.estimators.perceptron.kernel_perceptron import KernelPerceptron
from eigenwood.estimators.perceptron.perceptron import Perceptron

__all__ = ["KernelPerceptron", "Perceptron"]
