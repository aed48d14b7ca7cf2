"""Words that people choose by, where the command's help finds them without importing what they stand for."""

from __future__ import annotations

METHOD_NAMES = ("pca", "kernel-pca", "random", "ica", "autoencoder")
SCALE_NAMES = ("none", "deviation", "allele-frequency")
