"""Which rows and features each learner of an ensemble gets.

Everything follows from one seed and the learner's number, so that learner 7 gets the same rows on any number of
threads, after an interruption, and whether it was fitted at once or added later.

Weights mean repeated rows, here too. Equal rows stand side by side in an order that does not depend on the table's, and
each has an interval as long as its weight; a draw is a point of these (without replacement, equal rows are drawn from
together, and then it is decided which of them it was):

    rows        a a a    b    c c
    weights     1 1 1    1    2 1

So a row of weight 3 and a row given three times lead to the same learners, and each of three equal rows can still be
out of bag alone.
"""

from __future__ import annotations

import warnings
from hashlib import blake2b
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.forest.bootstrap import Bootstrap, drawn_counts
from eigenwood.validation.draws import check_available_rows, check_draw_count, check_drawn_feature_count

FEW_DRAWS = 10
OF_DRAWS, OF_LEARNER = range(2)  # the children of a seed sequence


class Population(NamedTuple):
    """Rows to draw from, equal ones side by side."""

    rows: np.ndarray  # (n_rows,) their places
    weights: np.ndarray  # (n_rows,) their weights, all above 0
    start: np.ndarray  # (n_groups + 1,) where each group of equal rows begins
    digest: bytes  # another one for other rows or weights; the order of the table does not matter

    def mass(self) -> np.ndarray:
        """Return the weight of each group."""
        return np.add.reduceat(self.weights, self.start[:-1])

    def n_meant(self) -> int:
        """Return how many rows the weights stand for.

        Those that are not meant as counts, say shares of 1, must not leave a learner without rows.
        """
        return max(self.start.size - 1, round(float(self.weights.sum())))

    def has_counts(self) -> bool:
        """Return whether the weights count repeated rows."""
        return bool((self.weights == np.round(self.weights)).all())


class Draws(NamedTuple):
    """How learners draw: from which rows and features, how many, with or without putting them back."""

    population: Population
    n_rows: int
    with_replacement: bool
    n_features_in: int
    n_features: int
    features_with_replacement: bool
    seed: int

    def has_rows_of(self, other: Draws) -> bool:
        """Return whether each learner draws the rows that it draws by the other."""
        return (self.population.digest, self.n_rows, self.with_replacement, self.seed) == (
            other.population.digest,
            other.n_rows,
            other.with_replacement,
            other.seed,
        )


class Seeds(NamedTuple):
    """The seeds by which one learner draws."""

    groups: int
    rows: int
    features: int


def draw_count(who: str, max_samples: Any, population: Population, *, with_replacement: bool) -> int:
    """Return how many rows a learner draws; a fraction, or None, is of the rows for which the weights stand."""
    total = float(population.weights.sum())
    if max_samples is None:
        count = population.n_meant()
    elif isinstance(max_samples, Integral):
        count = int(max_samples)
    else:
        count = max(int(max_samples * total), 1)
        if count < FEW_DRAWS <= population.rows.size and total != population.rows.size:
            warnings.warn(
                f"{who}: max_samples={max_samples} of a total weight of {total:.3g} is a draw of {count} for each "
                "learner; an integer says how many rows are meant.",
                stacklevel=5,
            )
    if not with_replacement:
        count = count_without_replacement(who, max_samples, count, population)
    return check_draw_count(who, count)


def count_without_replacement(who: str, max_samples: Any, count: int, population: Population) -> int:
    """Return how many rows can be drawn when none is put back."""
    if population.has_counts():
        available = round(float(population.weights.sum()))
    else:
        available = population.rows.size
        warnings.warn(
            f"{who}: weights that are not whole numbers are chances here, since bootstrap is False; a row is drawn at "
            "most once.",
            stacklevel=6,
        )
    return min(count, available) if max_samples is None else check_available_rows(who, count, available)


def drawn_feature_count(who: str, max_features: Any, n_features: int) -> int:
    """Return how many features a learner draws."""
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_features))
    return check_drawn_feature_count(who, int(max_features), n_features)


def target_codes(targets: np.ndarray) -> np.ndarray:
    """Return a code for each row of targets, the same for equal rows; single numbers are sorted faster than rows.

    >>> target_codes(np.array([[2.5], [1.0], [2.5]])).tolist(), target_codes(np.array([[1, 2], [0, 9]])).tolist()
    ([1, 0, 1], [1, 0])
    """
    if targets.shape[1] == 1:
        return np.unique(targets[:, 0], return_inverse=True)[1]
    return np.unique(targets, axis=0, return_inverse=True)[1].ravel()


def population_of(marks: np.ndarray, weights: np.ndarray) -> Population:
    """Return the rows in the order of their marks, which are equal for equal rows."""
    rows = np.argsort(marks, kind="stable")
    is_new = np.concatenate([[True], np.diff(marks[rows]) != 0])
    population = Population(rows, weights[rows], np.append(np.flatnonzero(is_new), rows.size), b"")
    digest = blake2b(marks[rows][is_new].tobytes(), digest_size=16)
    digest.update(population.mass().tobytes())
    return population._replace(digest=digest.digest())


def seeds_of(draws: Draws, number: int) -> Seeds:
    """Return the seeds by which a learner draws."""
    return Seeds(*_sequence(draws.seed, number, OF_DRAWS).generate_state(3).tolist())


def learner_sequence(seed: int, number: int) -> np.random.SeedSequence:
    """Return what the seeds of a learner itself are generated from."""
    return _sequence(seed, number, OF_LEARNER)


def learner_seed(seed: int, number: int) -> int:
    """Return the ``random_state`` of a learner that has only one."""
    return int(learner_sequence(seed, number).generate_state(1)[0])


def _sequence(seed: int, number: int, child: int) -> np.random.SeedSequence:
    """Return what ``SeedSequence([seed, number])`` would spawn, without the sequence itself and the other child."""
    return np.random.SeedSequence([seed, number], spawn_key=(child,))


def bootstrap_of(draws: Draws) -> Bootstrap:
    """Return how learners draw that put rows back."""
    population = draws.population
    ends = np.empty(0) if (population.weights == 1.0).all() else np.cumsum(population.weights)
    return Bootstrap(draws.n_rows, ends, population.rows)


def row_counts(draws: Draws, number: int) -> np.ndarray:
    """Return how often a learner got each row."""
    seeds, population = seeds_of(draws, number), draws.population
    counts = np.empty(population.rows.size, dtype=np.int64)
    if draws.with_replacement:
        bootstrap = bootstrap_of(draws)
        counts[bootstrap.rows] = drawn_counts(np.uint64(seeds.groups), bootstrap.n_draws, bootstrap.ends, counts.size)
    elif population.has_counts():
        among_groups = np.random.default_rng(seeds.groups)
        drawn = among_groups.multivariate_hypergeometric(population.mass().astype(np.int64), draws.n_rows)
        counts[population.rows] = counts_within_groups(population, drawn, np.random.default_rng(seeds.rows))
    else:
        shares = population.weights / population.weights.sum()
        taken = np.random.default_rng(seeds.groups).choice(population.rows, draws.n_rows, replace=False, p=shares)
        counts[:] = 0
        counts[taken] = 1
    return counts


def counts_within_groups(population: Population, drawn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return how often each row was drawn, given how often its group was; a row of weight w can be drawn w times."""
    sizes = np.diff(population.start)
    counts = np.repeat(np.where(sizes == 1, drawn, 0), sizes)
    several = np.repeat(sizes > 1, sizes)
    copies = np.repeat(np.flatnonzero(several), population.weights[several].astype(np.int64))
    groups = np.repeat(np.arange(sizes.size), sizes)[copies]
    order = np.lexsort((rng.random(copies.size), groups))  # each group's copies stay together, shuffled
    first = np.searchsorted(groups, groups)  # where the group of each copy begins
    taken = np.arange(copies.size) - first < drawn[groups]
    return counts + np.bincount(copies[order][taken], minlength=counts.size)


def drawn_features(draws: Draws, number: int) -> np.ndarray:
    """Return the features of a learner, in order; all of them if so many are wanted."""
    rng = np.random.default_rng(seeds_of(draws, number).features)
    return np.sort(rng.choice(draws.n_features_in, draws.n_features, replace=draws.features_with_replacement))


def has_all_features(draws: Draws) -> bool:
    """Return whether every learner gets all features as they stand."""
    return draws.n_features == draws.n_features_in and not draws.features_with_replacement
