"""Selection by gain in plain loops: read this first, then core/selection.

Every question about every column is tried, branches are lists of rows, and columns are chosen one by one.
"""

from __future__ import annotations

import math

from tests.naive.tree import IMPURITIES, TIE


def mixed(rows, y, w, criterion):
    """Return the weight of some rows times how mixed they are."""
    if not rows:
        return 0.0
    weight = sum(w[i] for i in rows)
    return weight * IMPURITIES[criterion]([y[i] for i in rows], [w[i] for i in rows])


def gain(branches, y, w, criterion):
    """Return by how much less mixed the rows of the branches are than all rows together."""
    everything = [i for branch in branches for i in branch]
    after = sum(mixed(branch, y, w, criterion) for branch in branches)
    return (mixed(everything, y, w, criterion) - after) / sum(w)


def split_entropy(branches, w):
    weights = [sum(w[i] for i in branch) for branch in branches if branch]
    return -sum(own / sum(w) * math.log2(own / sum(w)) for own in weights)


def questions(column, is_category):
    """Yield the branches of every question about a column."""
    if is_category:
        yield [[i for i in range(len(column)) if column[i] == value] for value in sorted(set(column))]
        return
    rows = range(len(column))
    missing = [i for i in rows if math.isnan(column[i])]
    values = sorted({value for value in column if not math.isnan(value)})
    for to_the_left in (False, True) if missing else (False,):
        for value in values:
            left = [i for i in rows if column[i] <= value]
            right = [i for i in rows if column[i] > value]
            left, right = (left + missing, right) if to_the_left else (left, right + missing)
            if left and right:
                yield [sorted(left), sorted(right)]


def best_question(column, is_category, y, w, criterion):
    """Return the gain of the best question about a column, and its branches."""
    best, chosen = 0.0, [list(range(len(column)))]
    for branches in questions(column, is_category):
        if is_category or gain(branches, y, w, criterion) > best + TIE:
            best, chosen = gain(branches, y, w, criterion), branches
    return max(best, 0.0), chosen


def select(X, y, w, is_category, criterion, n_selected, by_ratio=False, is_aware=False):
    """Return the scores of the columns, and the first ``n_selected`` in the order in which they are chosen."""
    found = [best_question(list(column), is_category[j], y, w, criterion) for j, column in enumerate(X.T)]
    scores = []
    for own, branches in found:
        spread = split_entropy(branches, w)
        scores.append((own / spread if spread > 0 else 0.0) if by_ratio else own)
    chosen = []
    while len(chosen) < n_selected:
        left = [j for j in range(len(scores)) if j not in chosen]
        current = {j: scores[j] - redundancy(j, chosen, found, w, criterion, is_aware) for j in left}
        chosen.append(next(j for j in left if current[j] >= max(current.values()) - TIE))
    return scores, chosen


def redundancy(j, chosen, found, w, criterion, is_aware):
    """Return what the answers to the question about column j tell, on average, about those of the chosen columns."""
    if not is_aware or not chosen:
        return 0.0
    total = 0.0
    for other in chosen:
        answers = {i: number for number, branch in enumerate(found[other][1]) for i in branch}
        total += gain(found[j][1], [answers[i] for i in range(len(w))], w, criterion)
    return total / len(chosen)
