"""Families of random work for ``anywhere``; one is added by a line here and a file that draws its workloads."""

from __future__ import annotations

from benchmarks import random_kernels, random_margins
from benchmarks.anywhere import Family
from benchmarks.random_boosting import draw_workload, relative_quality
from benchmarks.random_documents import draw_words, identical

FAMILIES = {
    "boosting": Family(draw_workload, relative_quality, tolerance=0.005),
    "bag_of_words": Family(draw_words, identical, tolerance=0.0),
    "kernel-pca": Family(random_kernels.draw_workload, random_kernels.eigenvalue_accuracy, tolerance=1e-4),
    "svc": Family(random_margins.draw_classes, random_margins.solved_quality, tolerance=0.02),
    "svr": Family(random_margins.draw_amounts, random_margins.solved_quality, tolerance=0.02),
}
