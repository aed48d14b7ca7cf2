"""How long a fit will take, from how long fits have taken: the same method on fewer rows, scaled up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eigenwood.runs.candidates import FOREST_METHODS, ROUND_METHODS, Candidate, entry_named
from eigenwood.runs.record import CUT
from eigenwood.runs.trials import Trial

GROWTH = 1.15  # the power of the rows that the time of trees grows with: sorting, and deeper trees
ROUNDS_GROWTH = 0.85  # the same of boosting: part of the time of a round is that of its bins, however many the rows
KERNEL_GROWTH = 2.0
CAUTION, CAUTION_NEAR = 1.4, 1.2  # times as long as expected is allowed for; the second where about as many were timed
FAR = 2.0  # times as many rows
OF_CUT = 4.0  # times as long as it had, that a fit is expected to take which was cut
LEAST_TREES = 10


class Measured(NamedTuple):
    """Seconds of one fit and of its predictions, and the rows it learnt from."""

    fit: float
    predictions: float
    n_rows: int

    def scaled(self, n_rows: int, growth: float) -> Measured:
        """Return what to allow for with so many rows to learn from, and as many to predict."""
        caution = CAUTION if n_rows > FAR * self.n_rows else CAUTION_NEAR
        factor = caution * (n_rows / max(self.n_rows, 1)) ** growth
        return Measured(factor * self.fit, caution * self.predictions, n_rows)


class Costs:
    """Seconds of the fits of each candidate, and of each method where a candidate is new."""

    def __init__(self) -> None:
        self._of_candidate: dict[str, Measured] = {}
        self._of_method: dict[tuple[str, str], tuple[Measured, int | None]] = {}  # the slowest; the rounds it had

    def add(self, trial: Trial, n_folds: int) -> None:
        """Note what a trial took; one that was cut would have taken longer."""
        record = trial.record
        n_fitted = len(record.fold_scores) or n_folds  # fewer than all where it was dropped
        fit, others = record.fit_seconds / n_fitted, (record.seconds - record.fit_seconds) / n_fitted
        measured = Measured(OF_CUT * fit if record.status == CUT else fit, others, record.n_rows)
        self._of_candidate[name_of(trial.candidate)] = measured
        key = trial.candidate.method, trial.candidate.front
        known, n_rounds = self._of_method.get(key, (Measured(0.0, 0.0, 0), None))
        if (known.n_rows, known.fit / (n_rounds or 1)) < (
            measured.n_rows,
            measured.fit / (trial.candidate.n_rounds or 1),
        ):
            self._of_method[key] = measured, trial.candidate.n_rounds

    def of_fold(self, candidate: Candidate, n_rows: int) -> float:
        """Return the seconds of one fit and its predictions; 0 where nothing is known."""
        found = self._scaled(candidate, n_rows)
        return found.fit + found.predictions

    def of_final_fit(self, trial: Trial, n_rows: int) -> float:
        """Return the seconds of a fit to all rows, with the rounds that are kept."""
        return self._scaled(trial.candidate, n_rows).fit * kept_share(trial)

    def of_members(self, trials: Sequence[Trial], n_rows: int) -> float:
        return sum(self.of_final_fit(trial, n_rows) for trial in trials)

    def _scaled(self, candidate: Candidate, n_rows: int) -> Measured:
        known = self._of_candidate.get(name_of(candidate))
        if known is None:
            known, n_rounds = self._of_method.get((candidate.method, candidate.front), (Measured(0.0, 0.0, 1), None))
            if n_rounds and candidate.n_rounds:
                known = known._replace(fit=known.fit * candidate.n_rounds / n_rounds)
        return known.scaled(n_rows, growth_of(candidate))


def kept_share(trial: Trial) -> float:
    """Return the share of the rounds of a trial that its final fit will have."""
    n_rounds = trial.candidate.params.get("n_estimators")
    if trial.candidate.method not in ROUND_METHODS or not n_rounds or not trial.record.n_rounds:
        return 1.0
    return trial.record.n_rounds / n_rounds


def affordable_trees(candidate: Candidate, seconds_of_all: float, spare: float) -> int | None:
    """Return how many trees of a forest there is time for, or None if there are too few to be one."""
    if candidate.method not in FOREST_METHODS:
        return None
    n_trees = candidate.params.get("n_estimators", entry_named(candidate.method).estimator().n_estimators)
    n_affordable = int(n_trees * spare / seconds_of_all)
    return n_affordable if n_affordable >= LEAST_TREES else None


def affordable_rows(candidate: Candidate, n_rows: int, seconds_of_all: float, spare: float) -> int:
    """Return how many of the rows there is time to learn from."""
    return int(n_rows * max(spare / seconds_of_all, 0.0) ** (1.0 / growth_of(candidate)))


def seconds_again(methods: Sequence[str], seconds: float, n_rows: int, n_more: int) -> float:
    """Return what the same fits of some methods to more rows will take; where it is more, nothing is lost but time."""
    growth = max(growth_of_method(method) for method in methods)
    return seconds * (n_more / max(n_rows, 1)) ** growth


def growth_of(candidate: Candidate) -> float:
    return growth_of_method(candidate.method)


def growth_of_method(method: str) -> float:
    if method in ROUND_METHODS:
        return ROUNDS_GROWTH
    return GROWTH if entry_named(method).takes_tables else KERNEL_GROWTH


def name_of(candidate: Candidate) -> str:
    return repr((candidate.method, sorted(candidate.words().items())))
