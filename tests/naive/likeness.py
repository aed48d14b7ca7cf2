"""Likeness of neighbours in plain loops, and the chance of it by counting all orders."""

from __future__ import annotations

from itertools import permutations


def label_likeness(values, labels):
    """Return 1 minus the changes between neighbours over those of any two rows, without the changes that must be."""
    present = sorted((v, i) for i, v in enumerate(values) if v == v)
    along = [labels[i] for _, i in present]
    n = len(along)
    changes = sum(along[i] != along[i + 1] for i in range(n - 1))
    differing = sum(along[i] != along[j] for i in range(n) for j in range(n) if i != j)
    expected = (n - 1) * differing / (n * (n - 1))
    needed = len(set(along)) - 1
    return 1 - (changes - needed) / (expected - needed)


def rank_likeness(values, ranks):
    """Return 1 minus the distance of neighbours over the mean distance of any two rows."""
    along = [rank for _, rank in sorted(zip(values, ranks, strict=True))]
    n = len(along)
    near = sum(abs(along[i] - along[i + 1]) for i in range(n - 1)) / (n - 1)
    any_two = sum(abs(a - b) for a in along for b in along) / (n * (n - 1))
    return 1 - near / any_two


def chance_of_changes(changes, labels):
    """Return the share of the orders of ``labels`` that change at most so often."""
    orders = set(permutations(labels))
    return sum(sum(a != b for a, b in zip(o, o[1:], strict=False)) <= changes for o in orders) / len(orders)
