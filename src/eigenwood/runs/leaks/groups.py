"""Groups on both sides of the split: many levels with several rows each, whose target is always the same.

A model then knows the person rather than the disease; ``--group`` keeps the rows of a level on one side.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import rankdata

from eigenwood.data.tables import Table
from eigenwood.runs.leaks.findings import GROUPS, Finding, share
from eigenwood.runs.leaks.neighbours import mean_distance
from eigenwood.runs.leaks.sample import Sample
from eigenwood.runs.leaks.suspect import Suspect
from eigenwood.runs.settings import Split

# Persons are not few, and they are many or have few rows each; 9 smells of 900 mushrooms each are no persons.
FEWEST_LEVELS, MANY_LEVELS, FEW_ROWS = 8, 20, 50
LARGEST = 0.3  # of the rows in one level: a number that is mostly 0 makes no groups
ALIKE_LABELS, ALIKE_AMOUNTS = 0.8, 0.7  # likeness within a level: a tenth of the labels may differ
STEPWISE = 0.5  # of this, at most, between neighbouring levels of a number: numbers of persons say nothing


def group_finding(suspect: Suspect, sample: Sample, table: Table, split: Split) -> Finding | None:
    """Return a finding if the levels of a column decide the target, and stand on both sides of the split."""
    values, targets = suspect._replace(label=None).present(sample.target)
    are_labels = sample.target.codes is not None
    if suspect.line.kind not in ("category", "number") or not are_groups(values, len(sample.target.labels)):
        return None
    within, between = likeness_within(values, targets, are_labels)
    if within < (ALIKE_LABELS if are_labels else ALIKE_AMOUNTS):
        return None
    if suspect.line.kind == "number" and between > STEPWISE * within:
        return None
    n_known = rows_of_known_levels(table.frame[suspect.line.name], split)
    if n_known == 0:
        return None
    name = suspect.line.name
    sentence = (
        f"{name!r} looks like a group: rows of one value nearly always have the same {sample.target.name!r}, and "
        f"{share(n_known, split.test.size)} test rows have a value that is also in training; --group keeps them apart."
    )
    evidence = {"n_levels": np.unique(values).size, "likeness_within": within, "n_test_rows_known": n_known}
    return Finding(GROUPS, [name], sentence, True, suspect.evidence() | evidence)


def are_groups(values: np.ndarray, n_labels: int) -> bool:
    """Whether levels are as many, and as large, as those of persons."""
    sizes = np.unique(values, return_counts=True)[1]
    n_repeated = int((sizes > 1).sum())
    if n_repeated < max(FEWEST_LEVELS, 2 * n_labels) or sizes.max() > LARGEST * values.size:
        return False
    return n_repeated >= MANY_LEVELS or values.size <= FEW_ROWS * sizes.size


def likeness_within(values: np.ndarray, targets: np.ndarray, are_labels: bool) -> tuple[float, float]:
    """Return how alike the targets of neighbours are in the order of ``values``: of one level, and of two levels.

    Only levels with several rows count: the rare values at the ends of a number may go with a rare label.
    """
    _, level, sizes = np.unique(values, return_inverse=True, return_counts=True)
    repeated = sizes[level] > 1
    level, targets = level[repeated], targets[repeated]
    order = np.argsort(level, kind="stable")
    along = targets[order] if are_labels else rankdata(targets)[order] / targets.size
    distance = (along[1:] != along[:-1]).astype(float) if are_labels else np.abs(np.diff(along))
    expected = 1 - ((np.bincount(along) / along.size) ** 2).sum() if are_labels else mean_distance(along)
    if expected == 0:
        return 0.0, 0.0
    is_same = np.diff(level[order]) == 0
    return float(1 - distance[is_same].mean() / expected), float(1 - distance[~is_same].mean() / expected)


def rows_of_known_levels(column: pa.ChunkedArray, split: Split) -> int:
    """Return how many test rows have a value that a training row has, too."""
    train, test = (column.take(pa.array(rows, type=pa.int64())) for rows in split)
    return int(pc.sum(pc.and_(pc.is_in(test, value_set=pc.unique(train)), test.is_valid())).as_py() or 0)
