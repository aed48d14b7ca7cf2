"""Arrays that several bench files share, from the data home (EIGENWOOD_DATA)."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays


def mnist_split(n_train: int = 60_000) -> Arrays:
    """Return the first ``n_train`` training digits and all 10,000 test digits, pixels in [0, 1]."""
    from eigenwood.data.datasets import load

    digits = load("mnist")
    train, test = digits.split.train[:n_train], digits.split.test
    return {
        "X": digits.X[train] / np.float32(255.0),
        "y": digits.y[train],
        "X_test": digits.X[test] / np.float32(255.0),
        "y_test": digits.y[test],
        "source": np.array("mnist"),
    }


def covertype_two_classes(seed: int = 0) -> Arrays:
    """Return spruce-fir against lodgepole pine: 49,514 rows to learn from, 445,627 to test, scaled.

    The rows lie in the order of places, which is a bad order to learn in: they are mixed once, for everybody.
    The scale is that of the training rows.
    """
    from eigenwood.data.datasets import load

    cover = load("covertype2")
    train, test = np.random.default_rng(seed).permutation(cover.split.train), cover.split.test
    X = np.asarray(cover.X, dtype=np.float64)
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0] = 1.0  # a soil type that no training row has
    return {
        "X": (X[train] - mean) / scale,
        "y": cover.y[train],
        "X_test": (X[test] - mean) / scale,
        "y_test": cover.y[test],
        "source": np.array("covertype2"),
    }


def covertype_seven_classes(n_train: int = 100_000, seed: int = 0) -> Arrays:
    """Return ``n_train`` rows of all seven classes, drawn at random, and the other rows (at most 100,000) to test."""
    from eigenwood.data.datasets import load

    cover = load("covertype")
    order = np.random.default_rng(seed).permutation(cover.y.size)
    train, test = order[:n_train], order[-100_000:]
    X = np.asarray(cover.X, dtype=np.float64)
    return {
        "X": X[train],
        "y": cover.y[train],
        "X_test": X[test],
        "y_test": cover.y[test],
        "source": np.array("covertype"),
    }


def adult_columns() -> Arrays:
    """Return the census as numbers and words, a missing word as an empty one."""
    from eigenwood.data.datasets import load

    adult = load("adult")
    frame = adult.X.to_pandas()
    is_number = [kind.kind in "fiu" for kind in frame.dtypes]
    numbers = frame.loc[:, is_number].to_numpy(dtype=np.float64)
    words = frame.loc[:, [not number for number in is_number]].fillna("").to_numpy(dtype=str)
    arrays: Arrays = {"source": np.array("adult")}
    for part, rows in (("", adult.split.train), ("_test", adult.split.test)):
        arrays |= {"numbers" + part: numbers[rows], "words" + part: words[rows], "y" + part: adult.y[rows].astype(str)}
    return arrays


def noisy_steps(n_features: int, n_rows: int = 20_000, seed: int = 0) -> Arrays:
    """Return a staircase in the first five of ``n_features`` columns of noise, to learn and to test."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n_rows, n_features))
    y = np.floor(2.0 * X[:, :5]).sum(axis=1) + 0.1 * rng.standard_normal(2 * n_rows)
    return {
        "X": X[:n_rows],
        "y": y[:n_rows],
        "X_test": X[n_rows:],
        "y_test": y[n_rows:],
        "source": np.array("generated"),
    }


def california_ten_times(n_times: int = 10, noise: float = 0.01, seed: int = 0) -> Arrays:
    """Return four fifths of the districts, each ten times with a little noise, and the others as they are, to test.

    The test rows are set apart first, so that no near copy of them is learnt. The noise is normal, 1 % of the standard
    deviation of each column and of the value: no two rows are equal.
    """
    from eigenwood.data.datasets import load

    houses = load("california_housing")
    rng = np.random.default_rng(seed)
    train, test = np.split(rng.permutation(houses.y.size), [houses.y.size * 4 // 5])
    table = np.column_stack([houses.X, houses.y])
    rows = rng.permutation(np.repeat(train, n_times))
    noisy = table[rows] + noise * table[train].std(axis=0) * rng.standard_normal((rows.size, table.shape[1]))
    return {
        "X": np.ascontiguousarray(noisy[:, :-1]),
        "y": noisy[:, -1].copy(),
        "X_test": houses.X[test],
        "y_test": houses.y[test],
        "source": np.array("california_housing"),
    }


def census_in_zeros_and_ones() -> Arrays:
    """Return the census as 123 zeros and ones (a9a), which is small enough to be dense."""
    from eigenwood.data.datasets import load

    census = load("a9a")
    arrays: Arrays = {"source": np.array("a9a")}
    for part, rows in (("", census.split.train), ("_test", census.split.test)):
        arrays |= {"X" + part: census.X[rows].toarray().astype(np.float64), "y" + part: census.y[rows]}
    return arrays


def california_scaled(seed: int = 0) -> Arrays:
    """Return four fifths of the districts to learn from and the others to test, by the scale of the former."""
    from eigenwood.data.datasets import load

    houses = load("california_housing")
    train, test = np.split(np.random.default_rng(seed).permutation(houses.y.size), [houses.y.size * 4 // 5])
    mean, scale = houses.X[train].mean(axis=0), houses.X[train].std(axis=0)
    return {
        "X": (houses.X[train] - mean) / scale,
        "y": houses.y[train],
        "X_test": (houses.X[test] - mean) / scale,
        "y_test": houses.y[test],
        "source": np.array("california_housing"),
    }
