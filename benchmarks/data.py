"""Arrays that several bench files share, from the data home (EIGENWOOD_DATA)."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays


def mnist_split(n_train: int = 60_000) -> Arrays:
    """Return the first ``n_train`` training digits and all 10,000 test digits, pixels in [0, 1]."""
    from eigenwood.data.datasets import load

    digits = load("mnist")
    train, test = digits.split.train[:n_train], digits.split.test
    return {
        "X": digits.X[train] / np.float32(255.0),
        "y": digits.y[train],
        "X_test": digits.X[test] / np.float32(255.0),
        "y_test": digits.y[test],
        "source": np.array("mnist"),
    }


def covertype_two_classes(seed: int = 0) -> Arrays:
    """Return spruce-fir against lodgepole pine: 49,514 rows to learn from, 445,627 to test, scaled.

    The rows lie in the order of places, which is a bad order to learn in: they are mixed once, for everybody.
    The scale is that of the training rows.
    """
    from eigenwood.data.datasets import load

    cover = load("covertype2")
    train, test = np.random.default_rng(seed).permutation(cover.split.train), cover.split.test
    X = np.asarray(cover.X, dtype=np.float64)
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0] = 1.0  # a soil type that no training row has
    return {
        "X": (X[train] - mean) / scale,
        "y": cover.y[train],
        "X_test": (X[test] - mean) / scale,
        "y_test": cover.y[test],
        "source": np.array("covertype2"),
    }
