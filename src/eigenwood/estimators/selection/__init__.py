"""Selection of columns with scikit-learn's faces."""

from eigenwood.estimators.selection.gains import GainSelector
from eigenwood.estimators.selection.hard_thresholding import IterativeHardThresholding

__all__ = ["GainSelector", "IterativeHardThresholding"]
