"""Copies and near-copies of labels: recoded, one label alone, or a number with noise.

few values, each with one label     copy, whatever the values are called; serious if nothing else gets near
many values, labels apart           a number that nearly decides the label; serious if all others are far behind
"""

from __future__ import annotations

import numpy as np

from eigenwood.runs.leaks.findings import COPY, NEARLY_ALONE, Finding, share
from eigenwood.runs.leaks.others import Others
from eigenwood.runs.leaks.sample import Target
from eigenwood.runs.leaks.suspect import Suspect

EXTRA_VALUES = 2  # beside one for each label: "unknown", or a label written in two ways
NEAR = 0.88  # agreement of a copy in which 5 % of the rows were exchanged is 0.95, less by chance in a short table
ALONE = 0.97  # an honest column of numbers seldom tells the labels so well,
MANY_LABELS, MANY_ALONE = 4, 0.94  # nor so many of them in one order
WIDE = (
    1.5  # deviations between two labels; the rows of an honest column lie closer, even where they are apart by chance
)
EXACT = 0.985  # so near, a column of few values is a copy whatever other columns can do
LEAST_COPY, LEAST_ALONE = 0.8, 0.9  # the lower end of the interval, to be serious: 30 or 60 rows without an error
AHEAD, EASY = 0.5, 0.05  # at most half of the errors of all others together; they make some


def copy_of_labels(suspect: Suspect, target: Target, others: Others) -> Finding | None:
    """Return a finding if the column is a copy of the labels, or of one of them, or nearly decides them alone."""
    values, codes = suspect.present(target)
    levels, level = np.unique(values, return_inverse=True)
    n_labels = np.unique(codes).size
    if levels.size > n_labels + EXTRA_VALUES:
        return nearly_alone(suspect, target, others) if is_alone(suspect, values, codes) else None
    if suspect.agreement < NEAR:
        return None
    n_codes = int(codes.max()) + 1
    counts = np.bincount(level * n_codes + codes, minlength=levels.size * n_codes).reshape(levels.size, n_codes)
    n_right = int(counts.max(axis=1).sum())
    if codes.size - n_right > (1 - NEAR) * suspect.n_at_stake:
        return None
    return recoded(suspect, target, others, levels.size, n_right)


def recoded(suspect: Suspect, target: Target, others: Others, n_values: int, n_right: int) -> Finding:
    """Return the finding that each value goes with one label."""
    name, rows = suspect.line.name, f"({share(n_right, suspect.n_present)} rows)"
    if suspect.label is None:
        sentence = (
            f"{name!r} says the same as {target.name!r}: each of its {n_values} values goes with one label {rows}."
        )
    else:
        sentence = f"{name!r} says whether {target.name!r} is {target.labels[suspect.label]!r} {rows}."
    serious = suspect.least_agreement >= LEAST_COPY and (suspect.agreement >= EXACT or is_ahead(suspect, others))
    return Finding(COPY, [name], sentence, serious, suspect.evidence() | {"n_values": n_values, "n_right": n_right})


def nearly_alone(suspect: Suspect, target: Target, others: Others) -> Finding:
    """Return the finding that rows sorted by a column are sorted by label, too."""
    what = (
        repr(target.name) if suspect.label is None else f"whether {target.name!r} is {target.labels[suspect.label]!r}"
    )
    sentence = (
        f"{suspect.line.name!r} alone nearly decides {what}: its agreement with the labels is {suspect.agreement:.3f} "
        f"over {suspect.n_present:,} rows, where 0 is chance and 1 a copy."
    )
    serious = suspect.least_agreement >= LEAST_ALONE and is_ahead(suspect, others)
    return Finding(NEARLY_ALONE, [suspect.line.name], sentence, serious, suspect.evidence())


def is_alone(suspect: Suspect, values: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a number tells the labels so well, over so many rows or with such gaps, that it is hardly honest."""
    least = ALONE if np.unique(codes).size < MANY_LABELS else MANY_ALONE
    if suspect.agreement < least:
        return False
    return suspect.least_agreement >= LEAST_COPY or narrowest_gap(values, codes) >= WIDE


def is_ahead(suspect: Suspect, others: Others) -> bool:
    """Whether a column makes at most half of the errors that all others together make, who are not near perfect."""
    wrong = others(suspect)
    return wrong > EASY and 1 - suspect.agreement <= AHEAD * wrong


def narrowest_gap(values: np.ndarray, codes: np.ndarray) -> float:
    """Return the narrowest gap between labels that follow each other along ``values``, in deviations within a label."""
    order = np.argsort(values, kind="stable")
    along, labels = values[order], codes[order]
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    runs = np.split(along, changes + 1)
    variance = sum(((run - run.mean()) ** 2).sum() for run in runs) / max(along.size - len(runs), 1)
    return float(np.diff(along)[changes].min() / np.sqrt(variance)) if variance > 0 else np.inf
