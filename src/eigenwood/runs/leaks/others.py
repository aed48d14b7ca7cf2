"""How well all other columns together predict the target: where they do it easily, a perfect column is no leak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenwood.estimators.forest import RandomForestClassifier, RandomForestRegressor
from eigenwood.runs.clock import Clock
from eigenwood.runs.frames import FEATURE_KINDS
from eigenwood.runs.leaks.sample import Sample, lines_of
from eigenwood.runs.leaks.suspect import Suspect

MOST_ROWS, MOST_COLUMNS, N_TREES = 2_000, 100, 30
MOST_FORESTS = 8  # where more columns are nearly perfect, the target is easy
CLOSE_SHARE = 0.9  # of the rows: the distance in rank is theirs

Others = Callable[[Suspect], float]  # the errors they make: 1 at random for labels, a distance in rank for amounts


def others_of(sample: Sample, suspects: list[Suspect], clock: Clock) -> Others:
    """Return a function for the errors of all columns but one; the suspects among them come first.

    Without time, and after ``MOST_FORESTS`` of them, it returns that they make none.
    """
    kinds = {column.name: column.kind for column in sample.table.columns if column.kind in FEATURE_KINDS}
    ranked = dict.fromkeys([*(suspect.line.name for suspect in suspects if suspect.line.name in kinds), *kinds])
    asked = list[Suspect]()

    def errors_without(suspect: Suspect) -> float:
        asked.append(suspect)
        if len(asked) > MOST_FORESTS or clock.time_is_up():
            return 0.0
        names = [name for name in ranked if name != suspect.line.name][:MOST_COLUMNS]
        if not names:
            return 1.0
        lines = [lines_of(name, kinds[name], sample.table.frame[name].slice(0, MOST_ROWS)) for name in names]
        X = np.column_stack([line.values for parts in lines for line in parts])
        if sample.target.ranks is not None:
            return rank_errors(X, sample.target.ranks[:MOST_ROWS])
        assert sample.target.codes is not None
        codes = sample.target.codes[:MOST_ROWS]
        return label_errors(X, codes if suspect.label is None else (codes == suspect.label).astype(np.int64))

    return errors_without


def label_errors(X: np.ndarray, codes: np.ndarray) -> float:
    """Return the errors of a small forest out of bag, as a share of those of a guess: 1 − Cohen's kappa."""
    by_guess = 1 - ((np.bincount(codes) / codes.size) ** 2).sum()
    if by_guess == 0:
        return 1.0
    forest = RandomForestClassifier(n_estimators=N_TREES, oob_score=True, random_state=0).fit(X, codes)
    return float((1 - forest.oob_score_) / by_guess)


def rank_errors(X: np.ndarray, ranks: np.ndarray) -> float:
    """Return how near a small forest comes to nine tenths of the ranks out of bag."""
    forest = RandomForestRegressor(n_estimators=N_TREES, oob_score=distance_of_most, random_state=0).fit(X, ranks)
    return float(forest.oob_score_)


def distance_of_most(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the distance within which nine tenths of the predictions are."""
    return float(np.quantile(np.abs(y_true - y_pred), CLOSE_SHARE))
