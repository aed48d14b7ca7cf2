"""Families of random work for ``anywhere``; one is added by a line here and a file that draws its workloads."""

from __future__ import annotations

from benchmarks.anywhere import Family
from benchmarks.random_boosting import draw_workload, relative_quality

FAMILIES = {"boosting": Family(draw_workload, relative_quality, tolerance=0.005)}
