"""A network of one hidden layer in plain loops: read this first, then core/network/autoencoder.py."""

from __future__ import annotations

import math

ACTIVATIONS = {
    "identity": lambda value: value,
    "tanh": math.tanh,
    "logistic": lambda value: 1.0 / (1.0 + math.exp(-value)),
    "relu": lambda value: max(value, 0.0),
}


def layer(row, weights, intercepts):
    """Return what comes out of a layer: for each unit the weighted sum of the row, and its intercept."""
    return [intercepts[k] + sum(row[j] * weights[j][k] for j in range(len(row))) for k in range(len(intercepts))]


def code(row, encoder, intercepts, mean, scale, activation):
    """Return what stands in the hidden layer."""
    scaled = [(row[j] - mean[j]) / scale[j] for j in range(len(row))]
    return [ACTIVATIONS[activation](value) for value in layer(scaled, encoder, intercepts)]


def row(code, decoder, intercepts, mean, scale):
    """Return the row that a code stands for."""
    return [value * scale[j] + mean[j] for j, value in enumerate(layer(code, decoder, intercepts))]
