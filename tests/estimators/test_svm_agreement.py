"""How often SVC says what scikit-learn's SVC says, over any cost and with repeated rows.

Two kinds of tables. Repeated rows of real numbers: hardly a score is 0. Rows on a coarse grid: many scores are 0 in
exact numbers, and then rounding, or ``tol``, decides what is said. scikit-learn itself says something else of these if
rows come in another order or classes exchange their names: there is no answer of its to agree with. So agreement is
counted where its answer is the same in all four forms of a problem, and beside it over all answers. Both machines solve
these to ``TIGHT``, so that what differs are solutions and not where somebody stopped.

At other tolerances tables are so small that scikit-learn finishes without a limit. ``EIGENWOOD_WHOLE_EXAM=1`` asks 600
machines of each kind at each tolerance, which takes minutes; ``-s`` shows what was counted, and ``EIGENWOOD_SEED`` is
that of the first machine.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn import svm as scikit

from eigenwood import SVC

KERNELS: dict[str, dict[str, Any]] = {"linear": {}, "rbf": {}, "poly": {"degree": 2, "coef0": 1.0}}
N_FITS = {1e-3: 60, 1e-5: 24}  # by tol
TIGHT, N_TIGHT, MOST_MOVES = 1e-7, 40, 10**6  # its moves: what it has then is its answer
SEED = int(os.environ.get("EIGENWOOD_SEED", "0"))
if os.environ.get("EIGENWOOD_WHOLE_EXAM"):
    N_FITS, N_TIGHT = dict.fromkeys(N_FITS, 600), 600
REPEATED, GRID = "repeated rows", "grid"


class Case(NamedTuple):
    """A machine, what it learns from, what it is asked, and another order of the rows."""

    params: dict[str, Any]
    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray
    order: np.ndarray


class Counts(NamedTuple):
    """How many answers there were, and how many differed."""

    asked: int = 0
    ties: int = 0  # a score is within tol
    ours: int = 0  # differ from those of scikit-learn
    ours_clear: int = 0  # and are no ties
    reordered: int = 0  # of scikit-learn differ from its own for the rows in another order
    renamed: int = 0  # and for classes that have exchanged their names
    sure: int = 0  # of scikit-learn are the same in every form of the problem
    ours_sure: int = 0  # differ from those

    def plus(self, *more: int) -> Counts:
        return Counts(*(one + int(other) for one, other in zip(self, more, strict=True)))


def case_of(kind: str, seed: int) -> Case:
    """Return a random table with repeated rows, and a machine with a cost between 1e-4 and 1e4."""
    rng = np.random.default_rng([seed, kind == GRID])
    n_rows, n_features = int(rng.integers(10, 60)), int(rng.integers(1, 4))
    if kind == GRID:
        X = rng.integers(-1, 2, (n_rows, n_features)).astype(float)
        others = [rng.integers(-1, 2, (20, n_features)), rng.normal(size=(80, n_features))]
    else:
        X = np.repeat(rng.normal(size=(n_rows // 2, n_features)), rng.integers(1, 4, n_rows // 2), axis=0)
        others = [rng.normal(size=(100, n_features))]
    y = (X[:, 0] + rng.choice([0.3, 1.0, 5.0]) * rng.normal(size=len(X)) > 0.0).astype(int)
    y[:2] = 0, 1
    kernel = tuple(KERNELS)[seed % len(KERNELS)]
    params = {"kernel": kernel, "C": 10.0 ** rng.uniform(-4, 4), **KERNELS[kernel]}
    return Case(params, X, y, np.vstack([X, *others]), rng.permutation(len(X)))


def counted(kind: str, tol: float, n_fits: int, most_moves: int = -1) -> Counts:
    """Return what ``n_fits`` machines said."""
    counts = Counts()
    for seed in range(SEED, SEED + n_fits):
        params, X, y, queries, order = case_of(kind, seed)
        ours = SVC(tol=tol, **params).fit(X, y)
        theirs, reordered, renamed, both = (
            scikit.SVC(tol=tol, max_iter=most_moves, **params).fit(rows, labels)
            for rows, labels in ((X, y), (X[order], y[order]), (X, 1 - y), (X[order], 1 - y[order]))
        )
        assert ours.converged_
        assert theirs.fit_status_ == 0 or most_moves > 0
        expected = theirs.predict(queries)
        ties = np.minimum(*(np.abs(model.decision_function(queries)) for model in (ours, theirs))) <= tol
        differs = ours.predict(queries) != expected
        is_other = [reordered.predict(queries) != expected]
        is_other += [1 - model.predict(queries) != expected for model in (renamed, both)]
        is_sure = ~np.any(is_other, axis=0)
        counts = counts.plus(
            len(queries),
            ties.sum(),
            differs.sum(),
            (differs & ~ties).sum(),
            is_other[0].sum(),
            is_other[1].sum(),
            is_sure.sum(),
            (differs & is_sure).sum(),
        )
    shares = f"{1 - counts.ours / counts.asked:.3%} of all, {1 - counts.ours_sure / counts.sure:.3%} of the sure ones"
    print(f"\n{kind}, tol={tol:g}: {shares}; {counts}")
    return counts


@pytest.mark.parametrize("tol", N_FITS)
def test_repeated_rows(tol):
    """All answers are counted, ties as well."""
    counts = counted(REPEATED, tol, N_FITS[tol])
    assert counts.asked > 100 * N_FITS[tol]
    assert counts.ours <= 0.001 * counts.asked


@pytest.mark.parametrize("tol", N_FITS)
def test_a_coarse_grid(tol):
    """Where scores are 0, ours and scikit-learn's differ no more than scikit-learn's and its own, but for chance."""
    counts = counted(GRID, tol, N_FITS[tol])
    assert counts.asked > 100 * N_FITS[tol]
    assert counts.ours_clear <= 0.001 * counts.asked
    own = max(counts.reordered, counts.renamed)
    assert counts.ours <= own + 3.0 * np.sqrt(own)


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("kind", [REPEATED, GRID])
def test_where_scikit_learn_agrees_with_itself(kind):
    """The bar of 99.9 %, of the answers that it has; most answers are such."""
    counts = counted(kind, TIGHT, N_TIGHT, MOST_MOVES)
    assert counts.sure > 0.95 * counts.asked > 95 * N_TIGHT
    assert counts.ours_sure <= 0.001 * counts.sure
