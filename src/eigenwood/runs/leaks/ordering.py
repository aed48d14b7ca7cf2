"""Ids and the order of the file: what should say nothing about the target, and does."""

from __future__ import annotations

import re

import numpy as np
from scipy.stats import spearmanr

from eigenwood.runs.leaks.findings import ORDER, Finding
from eigenwood.runs.leaks.sample import FILE_ORDER, Line, Sample
from eigenwood.runs.leaks.suspect import Suspect

ORDERED = 0.7  # agreement; rows that come day by day have less, unless the target changes only over weeks
DISTINCT = 0.95  # of the values of an id
IN_FILE_ORDER = 0.99  # rank correlation with the position in the file
ID_NAME = re.compile(r"(?i:(^|[_\W])(id|nr|no|key|index|idx|row|rownum|serial|uuid)([_\W]|$))|[a-z]I[Dd]$")


def order_finding(suspect: Suspect, sample: Sample) -> Finding | None:
    """Return a finding if the file or an id is ordered by the target."""
    if suspect.agreement < ORDERED or not says_nothing(suspect.line, sample):
        return None
    target = sample.target
    measure = f"(agreement of neighbours {suspect.agreement:.2f}, 0 at random)"
    if suspect.line.name == FILE_ORDER:
        sentence = (
            f"Rows that follow each other in the file have similar {target.name!r} {measure}: "
            "if they depend on each other, --group or --order gives a fairer split."
        )
        return Finding(ORDER, [], sentence, False, suspect.evidence()) if suspect.label is None else None
    what = target.name if suspect.label is None else f"{target.name} = {target.labels[suspect.label]}"
    sentence = f"{suspect.line.name!r} looks like an ID and orders the rows by {what!r} {measure}."
    return Finding(ORDER, [suspect.line.name], sentence, True, suspect.evidence())


def says_nothing(line: Line, sample: Sample) -> bool:
    """Whether a line is the order of the file, an id, or whole numbers that look like one."""
    if line.kind == "id":
        return True
    values = line.values[~np.isnan(line.values)]
    if line.kind != "number" or np.unique(values).size < DISTINCT * values.size or (values != np.floor(values)).any():
        return False
    return ID_NAME.search(line.name) is not None or is_in_file_order(line, sample)


def is_in_file_order(line: Line, sample: Sample) -> bool:
    has_value = ~np.isnan(line.values)
    return abs(spearmanr(line.values[has_value], sample.positions[has_value]).statistic) >= IN_FILE_ORDER
