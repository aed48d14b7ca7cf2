"""Families of random work for ``anywhere``; one is added by a line here and a file that draws its workloads."""

from __future__ import annotations

from benchmarks import random_kernels, random_margins, random_pca, random_trees
from benchmarks.anywhere import Family
from benchmarks.random_boosting import draw_workload, relative_quality
from benchmarks.random_documents import draw_words, identical

FAMILIES = {
    "boosting": Family(draw_workload, relative_quality, tolerance=0.005),
    "bag_of_words": Family(draw_words, identical, tolerance=0.0),
    "kernel-pca": Family(random_kernels.draw_workload, random_kernels.eigenvalue_accuracy, tolerance=1e-4),
    "svc": Family(random_margins.draw_classes, random_margins.solved_quality, tolerance=0.02),
    "svr": Family(random_margins.draw_amounts, random_margins.solved_quality, tolerance=0.02),
    "pca": Family(random_pca.draw_pca, random_pca.held, tolerance=1e-5),
    "pca-loose": Family(random_pca.draw_loose_pca, random_pca.held, tolerance=1e-3),
    "tree": Family(random_trees.draw_decision_tree, random_trees.quality_on_test_rows, tolerance=0.02),
    "regression-tree": Family(random_trees.draw_regression_tree, random_trees.quality_on_test_rows, tolerance=0.02),
    "forest": Family(random_trees.draw_random_forest, random_trees.quality_on_test_rows, tolerance=0.02),
    "regression-forest": Family(random_trees.draw_regression_forest, random_trees.quality_on_test_rows, tolerance=0.02),
    "forest-predict": Family(random_trees.draw_forest_to_predict, random_trees.quality_of_answers, tolerance=0.02),
}
