"""Random tables: columns of mixed kinds, and targets that depend on some of them."""

from __future__ import annotations

import numpy as np

MOST_CELLS = 4_000_000


def log_uniform(rng: np.random.Generator, least: float, most: float) -> int:
    """Return an integer whose logarithm is uniform."""
    return int(np.exp(rng.uniform(np.log(least), np.log(most + 1))))


def random_column(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Return a column: continuous, few levels, 0/1, heavy-tailed, sparse counts or rounded."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.normal(size=n_rows)
    if kind == 1:
        return rng.integers(rng.integers(3, 12), size=n_rows).astype(float)
    if kind == 2:
        return (rng.random(n_rows) < rng.uniform(0.02, 0.6)).astype(float)
    if kind == 3:
        return rng.standard_t(2, size=n_rows)
    if kind == 4:
        return rng.poisson(rng.uniform(0.05, 1.0), size=n_rows).astype(float)
    return np.round(rng.gamma(2.0, size=n_rows), rng.integers(0, 3))


def random_table(
    rng: np.random.Generator, least: int, most: int, most_cells: int = MOST_CELLS
) -> tuple[np.ndarray, np.ndarray]:
    """Return a table, and a score of its rows that depends on some columns, alone and in pairs."""
    n_rows, n_columns = log_uniform(rng, least, most), log_uniform(rng, 4, 500)
    n_columns = max(4, min(n_columns, most_cells // n_rows))
    X = np.column_stack([random_column(rng, n_rows) for _ in range(n_columns)])
    ranks = X.argsort(axis=0).argsort(axis=0) / n_rows
    used = rng.choice(n_columns, size=min(n_columns, int(rng.integers(3, 12))), replace=False)
    score = sum(rng.normal() * np.sin(rng.uniform(1, 6) * ranks[:, j]) for j in used)
    for _ in range(3):
        one, other = rng.choice(used, size=2)
        score = score + rng.normal() * (ranks[:, one] > rng.random()) * (ranks[:, other] > rng.random())
    noise = rng.uniform(0.05, 1.0) * np.std(score) * rng.normal(size=n_rows)
    return X, score + noise
