"""Random work for PCA: shapes, spectra, both float types, how many components.

A rival counts where its components hold as much of the variance of the rows, measured in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.bench_pca import intelex, ours, share_of_variance, theirs
from benchmarks.case import Arrays, Contender
from benchmarks.random_tables import log_uniform

MOST_CELLS = 40_000_000
COUNTS = (2, 10, 50, 0.9)
MOST_COLUMNS_SQUARED = 4000  # columns from which scikit-learn's covariance takes minutes


def draw_pca(rng: np.random.Generator) -> Workload:
    """Return rows of some spectrum, and who finds the components."""
    return workload_of(rng, exact_contenders)


def draw_loose_pca(rng: np.random.Generator) -> Workload:
    """Return the same, where a hundredth of what is held may be lost; the rival is scikit-learn's default."""
    return workload_of(rng, loose_contenders)


def workload_of(rng: np.random.Generator, contenders: Callable[[tuple[int, int], float], dict]) -> Workload:
    n = d = MOST_CELLS
    while n * d > MOST_CELLS:
        n, d = log_uniform(rng, 200, 200_000), log_uniform(rng, 10, 40_000)
    spectrum = str(rng.choice(list(SPECTRA)))
    dtype = rng.choice([np.float32, np.float64])
    count = COUNTS[rng.integers(len(COUNTS))]
    if count >= 1:
        count = min(int(count), min(n, d) - 1)
    X = np.ascontiguousarray(SPECTRA[spectrum](rng, n, d), dtype=dtype)
    words = f"{n} x {d} {np.dtype(dtype).name}, {spectrum}, k = {count}"
    return Workload(words, {"X": X}, contenders((n, d), count))


# ---- spectra


def low_rank(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return a few directions with noise beside them."""
    rank = log_uniform(rng, 2, max(3, min(n, d) // 4))
    return mixed(rng, n, d, rng.gamma(1.0, 10.0, size=min(rank, 300))) + gaussian(rng, n, d)


def power_law(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return deviations that fall as a power of their number."""
    falling = np.arange(1, min(n, d, 300) + 1) ** -rng.uniform(0.3, 1.5)
    return mixed(rng, n, d, 10.0 * falling) + 10.0 * falling[-1] * gaussian(rng, n, d)


def flat(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return gaussian(rng, n, d)


def heavy_tailed(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return numbers of which a few are huge."""
    return gaussian(rng, n, d) / np.sqrt(rng.chisquare(3, size=(n, 1))) * rng.lognormal(0.0, 1.0, size=d)


def integers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return levels from 0 to some number, which rise and fall together in groups of rows."""
    most = int(rng.integers(2, 12))
    groups = rng.random((int(rng.integers(2, 20)), d))
    return rng.binomial(most, groups[rng.integers(len(groups), size=n)])


def pixels(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return bytes, where neighbours are alike and the border is empty."""
    noise = gaussian(rng, n, d)
    smooth = noise.cumsum(axis=1)
    window = max(2, d // int(rng.integers(8, 40)))
    smooth[:, window:] = smooth[:, window:] - noise.cumsum(axis=1)[:, :-window]
    picture = np.clip(128.0 + 60.0 / np.sqrt(window) * smooth, 0.0, 255.0).round()
    picture[:, rng.random(d) < 0.2] = 0.0
    return picture


def standardised_counts(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return counts divided by their deviations: of alleles in a few populations, or of words."""
    populations = rng.beta(0.8, 2.0, size=d) * np.ones((int(rng.integers(2, 6)), 1))
    populations = np.clip(populations + rng.uniform(0.01, 0.1) * rng.normal(size=populations.shape), 0.01, 0.99)
    of_row = populations[rng.integers(len(populations), size=n)]
    counts = rng.binomial(2, of_row) if rng.random() < 0.5 else rng.poisson(4.0 * of_row)
    return counts / np.maximum(counts.std(axis=0), 0.05)


def offsets(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return columns far from zero, in units of their own."""
    return low_rank(rng, n, d) * rng.lognormal(0.0, 1.0, size=d) + rng.normal(0.0, 100.0, size=d)


def mixed(rng: np.random.Generator, n: int, d: int, sizes: np.ndarray) -> np.ndarray:
    """Return rows in random directions of these deviations."""
    return (gaussian(rng, n, sizes.size) * sizes.astype(np.float32)) @ (gaussian(rng, sizes.size, d) / np.sqrt(d))


def gaussian(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d), dtype=np.float32)


SPECTRA: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "low rank": low_rank,
    "power law": power_law,
    "flat": flat,
    "heavy-tailed": heavy_tailed,
    "integers": integers,
    "pixels": pixels,
    "standardised counts": standardised_counts,
    "offsets": offsets,
}


# ---- contenders


def exact_contenders(shape: tuple[int, int], count: float) -> dict[str, Contender]:
    """Return ours, and who may hold as much variance."""
    options = {"n_components": count}
    contenders = {
        "eigenwood": ours(**options),
        "scikit-learn": theirs(random_state=0, **options),
        "scikit-learn-intelex": intelex(random_state=0, **options),
    }
    if count >= 1:
        contenders["scikit-learn arpack"] = theirs(svd_solver="arpack", random_state=0, **options)
    if shape[1] <= MOST_COLUMNS_SQUARED:
        contenders["scikit-learn covariance_eigh"] = theirs(svd_solver="covariance_eigh", **options)
    return contenders


def loose_contenders(shape: tuple[int, int], count: float) -> dict[str, Contender]:
    """Return ours, with a hundredth that may be lost, and scikit-learn's default."""
    options = {"n_components": count}
    return {
        "eigenwood": ours(accuracy=1e-2, **options),
        "scikit-learn": theirs(random_state=0, **options),
    }


def held(arrays: Arrays, model) -> float:
    """Return the share of variance that the components hold."""
    return share_of_variance(arrays, model)
