"""Joining equal rows with a dictionary: read this first, then core/distinct.py."""


def distinct_rows(X, codes, weights):
    """Return {(row, code): weight of all its copies}."""
    mass = {}
    for x, code, weight in zip(X, codes, weights, strict=True):
        key = (tuple(float(value) + 0.0 for value in x), int(code))  # + 0.0 makes -0.0 a zero like any other
        mass[key] = mass.get(key, 0.0) + float(weight)
    return mass
