"""Columns that are filled, or missing, for some labels or amounts only: they were written after the fact.

    filled   yes 92 %, no 0 %            only filled where the target is 'yes'
    filled   below 310 0 %, above 88 %   only filled above 310

Labels are parted where the shares of filled rows have their largest gap, amounts where a decision tree would cut. The
share must fall there at once: one that falls slowly, as it does where the sick are measured more often, is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import entr
from scipy.stats import binom, hypergeom

from eigenwood.data.naming import listing
from eigenwood.runs.leaks.findings import FILLED, Finding, amount
from eigenwood.runs.leaks.sample import Block, Sample, Target
from eigenwood.runs.leaks.suspect import CHANCE

LEAST_SHARE = 0.3  # of the rows on one side: less is a rare value more than a trace of the target
SURE = 2e-3  # chance of a finding that is serious
CUTS = 20  # between amounts count as so many independent ones: neighbouring cuts part nearly the same rows
MOST_OUTSIDE, ONE_OUTSIDE = 0.04, 0.1  # of this share, on the other side: slips of the pen, one in a short table


class Side(NamedTuple):
    """The rows of some labels, or above an amount, and the words for them and for the others."""

    rows: np.ndarray  # (n,) whether a row is on this side
    near: np.ndarray  # (n,) whether a row is next to the border, on either side
    words: str
    other_words: str
    n_choices: int  # among which the side was found


def filled_findings(block: Block, sample: Sample) -> Iterator[Finding]:
    """Yield a finding for each line of a block that is filled or missing for some targets only."""
    filled = ~np.isnan(block.values)
    sides = sides_of_labels if sample.target.codes is not None else sides_of_amounts
    for i, side in sides(filled, sample.target):
        if finding := one_sided(block.lines[i].name, filled[i], side, sample):
            yield finding


def one_sided(name: str, filled: np.ndarray, side: Side, sample: Sample) -> Finding | None:
    """Return a finding if a column is filled, or missing, on one of two sides only."""
    n_gappy = sum(column.n_missing > 0 for column in sample.table.columns)
    n_questions = 4 * side.n_choices * n_gappy
    for rows, words in ((side.rows, side.words), (~side.rows, side.other_words)):
        for marked, verb in ((filled, "filled"), (~filled, "missing")):
            inside, outside = float(marked[rows].mean()), float(marked[~rows].mean())
            n_rows, n_marked, n_outside = int(rows.sum()), int(marked.sum()), int(marked[~rows].sum())
            if inside < LEAST_SHARE or outside > (MOST_OUTSIDE if n_outside > 1 else ONE_OUTSIDE) * inside:
                continue
            by_chance = hypergeom.cdf(n_outside, marked.size, marked.size - n_rows, n_marked)
            falling_slowly = binom.cdf(n_outside, marked.size - n_rows, marked[rows & side.near].mean())
            chance = max(by_chance, falling_slowly) * n_questions
            if chance > CHANCE:
                continue
            sentence = (
                f"{name!r} is {verb} only where {sample.target.name!r} is {words}: in {inside:.0%} of these rows, "
                f"and in {outside:.1%} of the others."
            )
            evidence = {"inside": inside, "outside": outside, "n_rows": n_rows, "chance": float(chance)}
            return Finding(FILLED, [name], sentence, chance <= SURE, evidence)
    return None


def sides_of_labels(filled: np.ndarray, target: Target) -> Iterator[tuple[int, Side]]:
    """Yield the lines for which a label is nearly always filled or missing, with the labels above the largest gap."""
    assert target.codes is not None
    counts = np.bincount(target.codes)
    rates = filled.astype(float) @ (target.codes[:, None] == np.arange(counts.size)) / counts
    low, high = rates.min(axis=1), rates.max(axis=1)
    for i in np.flatnonzero(could_be_one_sided(low, high)):
        order = np.argsort(-rates[i], kind="stable")
        n_inside = int(np.argmax(-np.diff(rates[i][order]))) + 1
        inside, outside = (either(target.labels[label] for label in part) for part in np.split(order, [n_inside]))
        near = np.isin(target.codes, order[n_inside - 1 : n_inside + 1])
        yield int(i), Side(np.isin(target.codes, order[:n_inside]), near, inside, outside, counts.size)


def sides_of_amounts(filled: np.ndarray, target: Target) -> Iterator[tuple[int, Side]]:
    """Yield the lines for which one side of an amount is nearly always filled or missing, with the rows above it."""
    assert target.amounts is not None
    lines = np.flatnonzero(filled.any(axis=1) & ~filled.all(axis=1))
    if not lines.size:
        return
    order = np.argsort(target.amounts, kind="stable")
    below = np.cumsum(filled[lines][:, order], axis=1)
    n, n_filled = order.size, below[:, -1:]
    n_below = np.arange(1, n)
    below = below[:, :-1]
    best = (uncertainty(below, n_below) + uncertainty(n_filled - below, n - n_below)).argmin(axis=1)
    filled_below = np.take_along_axis(below, best[:, None], axis=1)[:, 0]
    rates = filled_below / n_below[best], (n_filled[:, 0] - filled_below) / (n - n_below[best])
    for i in np.flatnonzero(could_be_one_sided(np.minimum(*rates), np.maximum(*rates))):
        cut = target.amounts[order[best[i]]]
        is_above = target.amounts > cut
        if is_above.any():
            near = near_border(order, int(n - is_above.sum()))
            yield int(lines[i]), Side(is_above, near, f"above {amount(cut)}", f"at most {amount(cut)}", CUTS)


def near_border(order: np.ndarray, n_below: int) -> np.ndarray:
    """Return whether a row is next to a cut: as many rows on each side as there are on the smaller one."""
    width = min(n_below, order.size - n_below)
    near = np.zeros(order.size, dtype=bool)
    near[order[n_below - width : n_below + width]] = True
    return near


def uncertainty(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return the entropy of ``whole`` rows of which ``part`` are filled."""
    return whole * (entr(part / whole) + entr(1 - part / whole))


def could_be_one_sided(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return whether the lowest and the highest share of filled rows leave it possible."""
    is_filled = (high >= LEAST_SHARE) & (low <= ONE_OUTSIDE * high)
    is_missing = (1 - low >= LEAST_SHARE) & (1 - high <= ONE_OUTSIDE * (1 - low))
    return (high > low) & (is_filled | is_missing)


def either(labels: Iterable[str]) -> str:
    """Return labels as alternatives."""
    return listing(labels).replace(", ", " or ")
