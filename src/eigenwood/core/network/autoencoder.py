"""What an autoencoder makes of rows: the code of its hidden layer, and the rows again (the boosting and SVM lecture).

x ──► (x - mean) / scale ──► activation(· E + e) = code ──► (code D + d) · scale + mean ≈ x
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

ACTIVATIONS = {
    "identity": lambda values: values,
    "tanh": np.tanh,
    "logistic": expit,
    "relu": lambda values: np.maximum(values, 0.0),
}


class Layers(NamedTuple):
    """The weights of both layers, and how rows are scaled."""

    encoder: np.ndarray  # (n_features, n_components)
    encoder_intercept: np.ndarray
    decoder: np.ndarray  # (n_components, n_features)
    decoder_intercept: np.ndarray
    mean: np.ndarray
    scale: np.ndarray


def code_of(rows, layers: Layers, activation: str) -> np.ndarray:
    """Return what stands in the hidden layer."""
    return ACTIVATIONS[activation](((rows - layers.mean) / layers.scale) @ layers.encoder + layers.encoder_intercept)


def rows_of_code(code, layers: Layers) -> np.ndarray:
    """Return rows from what stands in the hidden layer."""
    return (code @ layers.decoder + layers.decoder_intercept) * layers.scale + layers.mean
