"""From amounts to what the inner regressor learns, and back.

    standard    z = (y - mean) / scale               y = mean + scale z
    log         z = (log y - mean) / scale           y = correction · exp(mean + scale z)

A model of log y predicts about the median of y, and the mean of what is skewed is larger. The correction is the ratio
of two sums over the training rows, of the amounts and of the medians (Snowdon, 1991), so that predictions sum to what
the amounts sum to. On held-out rows it was at least as good as Duan's smearing factor, the mean of exp(residual), which
gives the residuals of small amounts as much weight as those of large ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.estimators.blending.params import LOG

LARGEST_EXPONENT = 345.0  # of e: squares of such amounts can be added up


class Scaling(NamedTuple):
    """How amounts are brought to mean 0 and variance 1, with or without their logarithm."""

    scale_word: str
    mean: float
    scale: float

    def to_scaled(self, y: np.ndarray) -> np.ndarray:
        """Return what the inner regressor learns."""
        return (measured_amounts(y, self.scale_word) - self.mean) / self.scale

    def to_amounts(self, z: np.ndarray, correction: float) -> np.ndarray:
        """Return amounts of what the inner regressor predicts."""
        found = self.mean + self.scale * z
        return correction * np.exp(np.minimum(found, LARGEST_EXPONENT)) if self.scale_word == LOG else found


def scaling_of(y: np.ndarray, weights: np.ndarray, scale_word: str) -> Scaling:
    """Return the scaling of amounts; equal ones are merged, so that a weight is a repeated row to the last bit."""
    values, mass = merged(measured_amounts(y, scale_word), weights)
    mean = float(np.average(values, weights=mass))
    scale = float(np.sqrt(np.average((values - mean) ** 2, weights=mass)))
    return Scaling(scale_word, mean, scale if scale > 0.0 else 1.0)


def measured_amounts(y: np.ndarray, scale_word: str) -> np.ndarray:
    """Return the amounts, or their logarithms."""
    return np.log(y) if scale_word == LOG else y


def correction_of(scaling: Scaling, y: np.ndarray, z: np.ndarray, weights: np.ndarray) -> float:
    """Return the sum of the amounts beside that of the medians that were predicted; 1 without logarithms."""
    if scaling.scale_word != LOG:
        return 1.0
    return mean_exponential(np.log(y) - scaling.mean, weights) / mean_exponential(scaling.scale * z, weights)


def mean_exponential(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of exp(value)."""
    different, mass = merged(values, weights)
    return float(np.average(np.exp(np.clip(different, -LARGEST_EXPONENT, LARGEST_EXPONENT)), weights=mass))


def merged(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return different values in order, and the weight of each."""
    different, place = np.unique(values, return_inverse=True)
    return different, np.bincount(place, weights=weights)
