"""Words that people choose by, where the command's help finds them without importing what they stand for."""

from __future__ import annotations

METHOD_NAMES = ("pca", "kernel-pca", "random", "ica", "autoencoder")
EMBEDDING_NAMES = ("cbow", "covariance")
SCALE_NAMES = ("none", "deviation", "allele-frequency")
METRIC_NAMES = (
    "accuracy", "balanced-accuracy", "f1", "auc", "average-precision", "log-loss", "r2", "mae", "rmse", "median-error",
)  # fmt: skip
