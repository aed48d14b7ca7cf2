"""Small tables that ``learn`` is tried on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eigenwood.data.tables import Table, read_table


def houses(n: int = 200, noise: float = 10.0, town_matters: float = 40.0) -> Table:
    """Return houses with their size, town and price; some sizes and towns are missing."""
    rng = np.random.default_rng(0)
    size, town = rng.uniform(50.0, 150.0, n), rng.integers(3, size=n)
    price = 2.0 * size + town_matters * town + rng.normal(scale=noise, size=n)
    size[::17] = np.nan
    towns = [None if i % 19 == 0 else "abc"[code] for i, code in enumerate(town)]
    return read_table(pa.table({"size": pa.array(size, from_pandas=True), "town": towns, "price": price}))


def two_blobs(n: int = 60, **extra) -> Table:
    """Return rows of two classes that lie apart, with more columns if they are given."""
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    columns = {"a": rng.normal(size=n) + 4.0 * side, "b": rng.normal(size=n), "side": np.where(side, "right", "left")}
    return read_table(pa.table(columns | extra))


def three_kinds(n: int, seed: int = 0) -> Table:
    """Return rows of three classes with noise, of which some trees find more the longer they look."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    code = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] + 0.5 * rng.normal(size=n) > 0.5)
    return read_table(pa.table({f"x{j}": X[:, j] for j in range(6)} | {"kind": np.array(["a", "b", "c"])[code]}))
