"""Which candidate is best: a fixed sequence of trials, which the clock may end early and nothing else can change.

    samples of the rows, four times as many each time      all rows, all folds            tuning
    ──────────────────────────────────────────────────►  ──────────────────────►  ──────────────────────►
    every candidate on the smallest, the better half          the survivors        neighbours of the best,
    of them on the next …                                                           and draws from the space

Which trial comes next depends on the scores of those before alone. A trial for which there is no time is left out,
one that runs out of time is recorded and not compared; so more time means more trials of the same sequence, and the
best of more trials is no worse.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple

from eigenwood.runs.candidates import Candidate
from eigenwood.runs.clock import Clock
from eigenwood.runs.costs import Costs, name_of
from eigenwood.runs.journal import Journal
from eigenwood.runs.recipes import MOST_MEMBERS, Recipe, best_mixture, single
from eigenwood.runs.record import CUT
from eigenwood.runs.trials import SharedColumns, TrainingRows, Trial, run_trial, score_on_first
from eigenwood.runs.tuning import is_tuned, tuned

SAMPLE = 2000  # rows of the smallest sample
TREES = ("decision-tree", "regression-tree")
SMALLEST = 500  # rows that a model is fitted to where there was no time for any
STEP = 4  # times as many rows in the next one
FEWEST = 3  # candidates that reach all rows
PATIENCE = 60  # tuned candidates without a gain, before the search ends by itself
FINAL_SHARE = 0.6  # of all the time, that the final fit may need
AFTER_INTERRUPT = 4.0  # seconds for the final fit when somebody has called the search off
MOST_OF_SAMPLE, MOST_OF_WHOLE = 0.12, 0.5  # of the time that is left for trials, that one of them may take
MOST_OF_TUNED = 0.9  # the same of a tuned one: the others have had their turn
MOST_OF_FIRST = 0.9  # as long as there is no model at all
MOST_LEFT_OUT = 3  # tuned candidates, one after the other, for which there is no time: then there is none

Report = Callable[..., None]  # what has happened, and numbers about it


class Found(NamedTuple):
    """What the search found."""

    trials: list[Trial]
    recipe: Recipe | None  # of trials on all rows of every fold; None where there was no time for one
    whole: list[int]  # places of ranked trials on all rows of every fold
    sampled: list[int]  # places of the last trials of other candidates, on samples or on one fold
    backup: Trial | None  # the best fitted model there is already
    costs: Costs
    notes: list[str]


class Search:
    """The trials of one run, in order."""

    def __init__(
        self, data: TrainingRows, clock: Clock, journal: Journal, report: Report, planned: float, n_rows: int
    ) -> None:
        self._data, self._clock, self._journal, self._report = data, clock, journal, report
        self._planned = planned  # seconds that later stages need
        self._n_rows = n_rows  # with the blind ones, which the final model is fitted to at last
        self._shared = SharedColumns(data)
        self._most_final = FINAL_SHARE * max(clock.spare(planned), 0.0)
        self._all_rows = max(data.learnt_in(fold) for fold in range(len(data.folds)))
        self._n_train = data.y.size
        self._whole: list[int] = []  # places of ranked trials on all rows of every fold
        self._left_out: list[Candidate] = []
        self.trials: list[Trial] = []
        self.costs = Costs()
        self.recipe: Recipe | None = None
        self.backup: Trial | None = None  # the best fitted pipeline so far

    def run(self, candidates: list[Candidate], n_tuned: int) -> Found:
        """Return what the trials found, when the list is done, the time is up, or somebody called it off."""
        notes = list[str]()
        try:
            self._whole_trials(self._halved(candidates))
            self._tune(n_tuned)
        except KeyboardInterrupt:
            if self.backup is None:
                raise
            self._clock.end_within(AFTER_INTERRUPT)
            notes.append("the search was interrupted: the best model so far was taken")
        if candidates and all(trial.record.status == CUT for trial in self.trials):
            self._smallest_trial(quickest(candidates))
        if self._left_out:
            names = sorted({candidate.method for candidate in self._left_out})
            notes.append(f"there was no time for {len(self._left_out)} trials ({', '.join(names)})")
        return Found(self.trials, self.recipe, self._whole, self._sampled(), self.backup, self.costs, notes)

    def _smallest_trial(self, candidate: Candidate) -> None:
        """Fit a candidate to a few rows, however late it is: there is a model in any case."""
        n_rows = min(SMALLEST, self._all_rows)
        trial = run_trial(candidate, self._data, self._shared, n_rows, 1, Clock(None))
        self.costs.add(trial, 1)
        self.trials.append(self._remembered(trial))

    # --- samples ------------------------------------------------------------------------------------

    def _halved(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates that are left when samples have grown to all rows of a fold."""
        left = candidates
        for n_rows in sample_sizes(self._all_rows):
            trials = [self._trial(candidate, n_rows, 1) for candidate in left]
            ranked = sorted(
                (trial for trial in trials if trial and trial.is_ranked), key=lambda t: t.rank, reverse=True
            )
            if not ranked:
                return []
            left = survivors([trial.candidate for trial in ranked])
        return left

    def _whole_trials(self, candidates: list[Candidate]) -> None:
        """Try each candidate on all rows of every fold."""
        for candidate in candidates:
            self._whole_trial(candidate)

    def _tune(self, n_tuned: int) -> None:
        """Try neighbours of the best candidates, until nothing is gained any more."""
        tried = {name_of(trial.candidate) for trial in self.trials}
        best_rank, since, n_left_out = self._best_rank(), 0, 0
        for number in range(n_tuned):
            best = self._best_tunable(number)
            candidate = best and tuned(best, number, self._data.seed, lambda c: name_of(c) in tried)
            if candidate is None or since >= PATIENCE:
                return
            tried.add(name_of(candidate))
            n_left_out = n_left_out + 1 if self._whole_trial(candidate, races=True) is None else 0
            if n_left_out == MOST_LEFT_OUT:
                return
            since = 0 if self._best_rank() > best_rank else since + 1
            best_rank = self._best_rank()

    def _best_tunable(self, number: int) -> Candidate | None:
        """Return the best candidate of the best method, every third time that of the next best method."""
        places = sorted(self._whole, key=lambda place: self.trials[place].rank, reverse=True)
        best_of = dict[tuple[str, str, str], Candidate]()
        for place in places:
            candidate = self.trials[place].candidate
            if is_tuned(candidate):
                best_of.setdefault((candidate.method, candidate.front, candidate.target), candidate)
        choices = list(best_of.values())[:2]
        return choices[-1 if number % 3 == 2 else 0] if choices else None

    # --- one trial ----------------------------------------------------------------------------------

    def _whole_trial(self, candidate: Candidate, *, races: bool = False) -> Trial | None:
        """Try a candidate on all rows of every fold; return the trial, or None if there was no time for it."""
        n_folds = len(self._data.folds)
        trial = self._trial(candidate, self._all_rows, n_folds, races=races)
        if trial is None and n_folds > 1:  # for one fold there may be time: that says more than a sample
            self._trial(candidate, self._all_rows, 1)
        if trial is None or not trial.is_ranked:
            return trial
        found = single(self._whole[-1], trial, self._data, len(self._data.folds))
        self._take(found)
        if len(self._whole) > 1:
            self._take(best_mixture(self.trials, self._whole, self._data, len(self._data.folds)))
        return trial

    def _trial(self, candidate: Candidate, n_rows: int, n_folds: int, *, races: bool = False) -> Trial | None:
        """Return a trial, run now or before; None if there is no time for it."""
        trial = self._journal.known(candidate, n_rows, n_folds)
        if trial is None:
            most = self._most_seconds(n_rows, races=races)
            if n_folds * self.costs.of_fold(candidate, n_rows) >= most:
                self._left_out.append(candidate)
                return None
            self._report("trial", method=candidate.method, params=candidate.words(), n_rows=n_rows, n_folds=n_folds)
            bars = self._bars() if races else []
            trial = run_trial(candidate, self._data, self._shared, n_rows, n_folds, Clock(most), bars)
            self._journal.add(trial, n_rows, n_folds, self._clock.used())
        self.costs.add(trial, n_folds)
        self.trials.append(self._remembered(trial))
        if trial.is_ranked and (n_rows, n_folds) == (self._all_rows, len(self._data.folds)):
            self._whole.append(len(self.trials) - 1)
        self._report("tried", record=trial.record, best=self._best_rank(), used=self._clock.used())
        return trial

    def _bars(self) -> list[float]:
        """Return the scores on the first fold, the first two, … that a tuned candidate must reach to go on.

        It must be among as many of the best there as a mixture has members; then it may still be one of them.
        """
        ranked = [self.trials[place] for place in self._whole]
        if len(ranked) < MOST_MEMBERS:
            return []
        scores = [
            [score_on_first(trial, self._data, n_folds) for trial in ranked]
            for n_folds in range(1, len(self._data.folds))
        ]
        return [sorted(column, reverse=True)[MOST_MEMBERS - 1] for column in scores]

    def _most_seconds(self, n_rows: int, *, races: bool = False) -> float:
        """Return the seconds that one trial may take."""
        share = MOST_OF_WHOLE if n_rows >= self._all_rows else MOST_OF_SAMPLE
        share = MOST_OF_TUNED if races else share
        if self.backup is None:
            share = MOST_OF_FIRST
        return share * self._clock.spare(self._reserved())

    def _reserved(self) -> float:
        """Return the seconds that later stages need: the final fit of the best so far to all training rows, and others.

        The final fit may take more than half of all the time: of forests there can be fewer trees. The fit to all rows
        after it is planned for where there is room for both.
        """
        if self.recipe is not None:
            best = [self.trials[place] for place in self.recipe.members]
        else:
            best = [] if self.backup is None else [self.backup]
        final = self.costs.of_members(best, self._n_train)
        both = final + self.costs.of_members(best, self._n_rows)
        return self._planned + (both if both <= self._most_final else min(final, self._most_final))

    def _remembered(self, trial: Trial) -> Trial:
        """Return a trial as it is kept: the fitted model only of the best on the most rows."""
        if trial.fitted is not None:
            best = self.backup
            if best is None or (trial.record.n_rows, trial.rank) > (best.record.n_rows, best.rank):
                self.backup = trial
        return trial._replace(fitted=None)

    # --- the best -----------------------------------------------------------------------------------

    def _take(self, found: Recipe) -> None:
        """Take a recipe if it is the best so far.

        A mixture is looked for after every trial: a longer search passes through all that a shorter one has seen.
        """
        if self.recipe is None or found.rank > self.recipe.rank:
            self.recipe = found

    def _best_rank(self) -> tuple[float, float]:
        """Return the rank of the best so far, on all rows if there is one."""
        whole = [self.trials[place].rank for place in self._whole]
        if self.recipe is not None:
            whole.append(self.recipe.rank)
        return max(whole or [trial.rank for trial in self.trials if trial.is_ranked], default=(0.0, 0.0))

    def _sampled(self) -> list[int]:
        """Return the places of the trials of candidates that were not compared on all folds, each on its most rows."""
        whole = {name_of(self.trials[place].candidate) for place in self._whole}
        last = {name_of(t.candidate): place for place, t in enumerate(self.trials) if t.is_ranked}
        return [place for name, place in last.items() if name not in whole]


def sample_sizes(n_rows: int) -> list[int]:
    """Return the numbers of rows that candidates are first tried on; none where all are few enough.

    >>> sample_sizes(1_000), sample_sizes(30_000), sample_sizes(400_000)
    ([], [7500], [6250, 25000, 100000])
    """
    sizes = list[int]()
    while n_rows > STEP * SAMPLE:
        n_rows //= STEP
        sizes.insert(0, n_rows)
    return sizes


def quickest(candidates: list[Candidate]) -> Candidate:
    """Return a single tree without pruning if there is one, and otherwise the first candidate."""
    trees = [candidate for candidate in candidates if candidate.method in TREES and "prune" not in candidate.params]
    return trees[0] if trees else candidates[0]


def survivors(ranked: list[Candidate]) -> list[Candidate]:
    """Return the better half, but some of them in any case."""
    return ranked[: max(ceil(len(ranked) / 2), FEWEST)]


def tally(trials: list[Trial]) -> dict[str, Any]:
    """Return how many trials there were, by how they ended."""
    counts = dict[str, Any]()
    for trial in trials:
        status = trial.record.status.split(":")[0]
        counts[status] = counts.get(status, 0) + 1
    return counts
