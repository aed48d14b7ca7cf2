"""Copies and near-copies of amounts: on another scale, with noise, rounded, or cut into ranges.

amounts in the same (or opposite) order     copy, whatever the scale
few values, each a range of amounts         copy that was rounded, or a flag such as "above 300"
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from eigenwood.runs.leaks.findings import COPY, Finding, amount, share
from eigenwood.runs.leaks.others import Others
from eigenwood.runs.leaks.sample import Target
from eigenwood.runs.leaks.suspect import Suspect

CLOSE, NEAREST = 0.05, 0.005  # distances in rank of the copy of an amount with noise (correlation 0.997), and without
CLOSE_SHARE = 0.9  # of the rows: a tenth may be out of place
NEAR_RANGES = 0.88  # agreement of a copy in which 5 % of the rows were exchanged is 0.95, less by chance
LEAST_COPY = 0.8  # the lower end of the interval, to be serious: 30 rows without an error
AHEAD = 0.5  # at most half of the distance that all others together reach
EDGE = 0.05  # of the rows on each side of a cut, which may be on the wrong one


def copy_of_amounts(suspect: Suspect, target: Target, others: Others) -> Finding | None:
    """Return a finding if the amounts follow the column's order, but for a tenth of the rows."""
    distances = distances_in_rank(*suspect.present(target))
    distance = float(np.quantile(distances, CLOSE_SHARE))
    if distance > CLOSE + 1 / distances.size:
        return None
    is_exact = distance <= NEAREST
    close = share(int((distances <= CLOSE).sum()), distances.size)
    how = "in" if is_exact else "nearly in"
    sentence = (
        f"{suspect.line.name!r} puts the rows {how} the order of {target.name!r}: "
        f"{close} are within {CLOSE:.0%} of their place."
    )
    is_sure = suspect.least_agreement >= LEAST_COPY
    serious = is_exact or (is_sure and distance <= AHEAD * others(suspect))
    return Finding(COPY, [suspect.line.name], sentence, serious, suspect.evidence() | {"distance_in_rank": distance})


def distances_in_rank(values: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Return how far each amount is from the middle two of its four neighbours along ``values``, in shares of n."""
    ranks = rankdata(amounts[np.argsort(values, kind="stable")]) / amounts.size
    around = np.pad(ranks, 2, mode="reflect")
    neighbours = np.sort([around[:-4], around[1:-3], around[3:-1], around[4:]], axis=0)
    return np.maximum(np.maximum(neighbours[1] - ranks, ranks - neighbours[2]), 0.0)


def range_of_amounts(suspect: Suspect, target: Target) -> Finding | None:
    """Return a finding if each value of the column stands for a range of amounts."""
    if suspect.agreement < NEAR_RANGES:
        return None
    values, amounts = suspect.present(target)
    levels = np.unique(values)
    name = suspect.line.name
    if levels.size == 2:
        cut, n_right = cut_between(*(amounts[values == level] for level in levels))
        if amounts.size - n_right > (1 - NEAR_RANGES) * suspect.n_at_stake:
            return None
        sentence = (
            f"{name!r} says whether {target.name!r} is above {amount(cut)} ({share(n_right, amounts.size)} rows)."
        )
    else:
        sentence = (
            f"{name!r} says the range of {target.name!r}: each of its {levels.size} values goes with one range "
            f"(agreement {suspect.agreement:.3f}, where 0 is chance and 1 a copy)."
        )
    return Finding(COPY, [name], sentence, suspect.least_agreement >= LEAST_COPY, suspect.evidence())


def cut_between(first: np.ndarray, second: np.ndarray) -> tuple[float, int]:
    """Return the amount between two sets of amounts, and how many of them are on their side of it."""
    lower, upper = sorted((first, second), key=np.median)
    cut = float(np.quantile(lower, 1 - EDGE) + np.quantile(upper, EDGE)) / 2
    return cut, int((lower <= cut).sum() + (upper > cut).sum())
