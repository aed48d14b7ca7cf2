"""The final model: which rows and how many rounds there is time for, and the fit that ``replay`` can do again.

recipe of the search ──► planned: what fits into the time ──► fitted, member by member ──► one model
                                                                    │ time was up all the same
                                                                    └──► the model of the search's best trial

Once that model has been asked about the blind rows, the same recipe is fitted again to all rows, the blind ones too,
if there is time: what a user gets has learnt from everything there is, and what the blind test says is said of the
recipe without those rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from eigenwood.core.blending import weighted_mean
from eigenwood.errors import InputError
from eigenwood.estimators.blending import WeightedEnsembleClassifier, WeightedEnsembleRegressor
from eigenwood.estimators.watching import TIME_UP
from eigenwood.runs.candidates import ROUND_METHODS, Candidate, method_of, pipeline, recorded, without_limit
from eigenwood.runs.clock import Clock
from eigenwood.runs.costs import affordable_rows, affordable_trees, seconds_again
from eigenwood.runs.metrics import Score
from eigenwood.runs.preparing import Prepared
from eigenwood.runs.recipes import Recipe, single
from eigenwood.runs.record import MemberRecord, RecipeRecord
from eigenwood.runs.search import Found
from eigenwood.runs.trials import TrainingRows, Trial, fit_weighted, sample_of

MORE_ROWS = 1.5  # times as many as a model of the search has learnt from: else that one does
LEAST_SHARE = 0.3  # of the training rows, that the best method must have time for; else the next best has its turn
EVERY_ROW = "all rows"  # the blind ones, too
ALL_ROWS, FOLD_ROWS = "all training rows", "the first fold's part of the training rows"


class Final(NamedTuple):
    """The final model and how it came about."""

    model: Any
    recipe: RecipeRecord
    notes: list[str]
    seconds: float = 0.0  # of the fit


def final_model(found: Found, data: TrainingRows, clock: Clock, planned: float) -> Final:
    """Return the best model there is time for."""
    notes = list[str]()
    recipe = final_recipe(found, data, clock.spare(planned))
    if recipe is not None:
        began = clock.used()
        model = fitted_in_time(recipe, data, clock, planned)
        if model is not None:
            return Final(model, recipe, notes, clock.used() - began)
        notes.append("the final fit ran out of time and was not used")
    if found.backup is None or found.backup.fitted is None:
        raise nothing_learnt(found.trials)
    notes.append("there was no time for a fit to all training rows: the best model of the search was taken")
    recipe = recipe_of_backup(found, data)
    fitted = [(member_name(0, found.backup.candidate), without_limit(found.backup.fitted))]
    return Final(assembled(recipe, fitted, data), recipe, notes)


def final_recipe(found: Found, data: TrainingRows, spare: float) -> RecipeRecord | None:
    """Return the best recipe there is time for."""
    plans = (planned_recipe(recipe, found, data.y.size, spare) for recipe in recipes_of(found, data))
    return next((plan for plan in plans if plan is not None), None)


def planned_recipe(recipe: Recipe, found: Found, n_train: int, spare: float) -> RecipeRecord | None:
    """Return a recipe as far as there is time: all of it, fewer trees, or fewer rows; None if that is too little."""
    trials = [found.trials[place] for place in recipe.members]
    seconds = found.costs.of_members(trials, n_train)
    if seconds <= spare:
        return recipe_record(recipe, found.trials, ALL_ROWS, n_train)
    if len(trials) > 1:
        return None
    n_trees = affordable_trees(trials[0].candidate, seconds, spare)
    if n_trees:
        return recipe_record(recipe, found.trials, ALL_ROWS, n_train, n_trees)
    n_rows = affordable_rows(trials[0].candidate, n_train, seconds, spare)
    if n_rows < max(MORE_ROWS * trials[0].record.n_rows, LEAST_SHARE * n_train):
        return None
    return recipe_record(recipe, found.trials, ALL_ROWS, n_rows)


def nothing_learnt(trials: list[Trial]) -> InputError:
    """Return the error of a search in which no fit was finished: all methods refused the rows, or time was up."""
    refused = [trial.record for trial in trials if trial.record.status.startswith("failed")]
    if refused and len(refused) == len(trials):
        return InputError(
            f"learn: some method must be able to learn from the table; got {refused[0].method} {refused[0].status}"
        )
    return InputError("learn: the time limit must leave room for one small fit; got none that was finished.")


def recipes_of(found: Found, data: TrainingRows) -> list[Recipe]:
    """Return the recipe of the search, and candidates that were only tried on less, the best first.

    All are compared on the rows that the first fold checks on. Who has learnt from less, and has both the higher score
    and the smaller loss there all the same, is likely to be the better one; a score alone may be higher by luck.
    """
    others = singles_of(found, found.sampled, data)
    if found.recipe is None:
        return others
    there = score_on_first_fold(found.recipe, found.trials, data)
    better = [recipe for recipe in others if recipe.score > there.value and recipe.loss < there.loss]
    members = singles_of(found, found.whole, data)  # for a mixture there may be no time, and for one of it there is
    return [*better, found.recipe, *members, *(recipe for recipe in others if recipe not in better)]


def singles_of(found: Found, places: list[int], data: TrainingRows) -> list[Recipe]:
    """Return the recipes of single trials, the best first."""
    trials = [(place, found.trials[place]) for place in places]
    recipes = [single(place, trial, data, len(trial.record.fold_scores)) for place, trial in trials]
    return sorted(recipes, key=lambda recipe: recipe.rank, reverse=True)


def score_on_first_fold(recipe: Recipe, trials: list[Trial], data: TrainingRows) -> Score:
    """Return how good a recipe is on the rows that the first fold checks on."""
    rows = data.folds[0][1]
    predictions = [trials[place].predictions for place in recipe.members]
    mixed = weighted_mean(np.stack([p[: rows.size] for p in predictions if p is not None]), np.array(recipe.weights))
    chosen = None if recipe.decision_weights is None else np.array(recipe.decision_weights)
    return data.score(rows, mixed, chosen)


def recipe_record(
    recipe: Recipe, trials: list[Trial], rows: str, n_rows: int, n_trees: int | None = None
) -> RecipeRecord:
    """Return a recipe with all it takes to fit it again."""
    members = [
        member_record(place, trials[place], weight, n_trees)
        for place, weight in zip(recipe.members, recipe.weights, strict=True)
    ]
    chosen = None if recipe.decision_weights is None else list(recipe.decision_weights)
    return RecipeRecord(members, rows, n_rows, recipe.score, chosen)


def member_record(place: int, trial: Trial, weight: float, n_trees: int | None = None) -> MemberRecord:
    """Return a member, with the number of rounds that was best out of fold."""
    candidate = trial.candidate
    n_rounds = n_trees or trial.record.n_rounds
    if n_rounds and (n_trees or candidate.method in ROUND_METHODS):
        candidate = candidate.with_rounds(n_rounds)
    calibration = None if trial.calibration is None else trial.calibration.tolist()
    return MemberRecord(place, candidate.method, candidate.words(), weight, calibration, n_rounds)


def recipe_of_backup(found: Found, data: TrainingRows) -> RecipeRecord:
    """Return the recipe of the best model that the search has fitted; all its rounds are kept."""
    assert found.backup is not None
    trial = found.backup
    same = [place for place, other in enumerate(found.trials) if other.record is trial.record]
    recipe = single(same[0], trial, data, len(trial.record.fold_scores))
    record = recipe_record(recipe, found.trials, FOLD_ROWS, trial.record.n_rows)
    member = MemberRecord(same[0], trial.candidate.method, trial.candidate.words(), 1.0, record.members[0].calibration)
    return RecipeRecord([member], FOLD_ROWS, trial.record.n_rows, recipe.score, record.decision_weights)


# --- fitting ------------------------------------------------------------------------------------------


def fitted_in_time(recipe: RecipeRecord, data: TrainingRows, clock: Clock, planned: float) -> Any | None:
    """Return the model of a recipe, or None if a member was cut by the time limit."""
    fitted = []
    for place, member in enumerate(recipe.members):
        spare = clock.spare(planned)
        limit = None if spare == float("inf") else max(spare, 0.05)
        model = fitted_member(member, recipe, data, limit)
        if getattr(method_of(model), "stop_reason_", "") == TIME_UP:
            return None
        fitted.append((member_name(place, recorded(member.method, member.params)), without_limit(model)))
    return assembled(recipe, fitted, data)


def fitted_member(member: MemberRecord, recipe: RecipeRecord, data: TrainingRows, limit: float | None) -> Pipeline:
    """Return one member, fitted to the rows of the recipe."""
    rows = rows_of(recipe, data)
    model = pipeline(recorded(member.method, member.params), data.columns, data.seed, limit)
    return fit_weighted(model, data.X.take(rows), data.y[rows], data.weights_of(rows))


def recipe_of_every_row(final: Final, data: Prepared, spare: float) -> RecipeRecord | None:
    """Return the same recipe for all rows, the blind ones too; None where there is no time, or no use.

    A model that had no time for all training rows would have none for more, and blind rows may be of a class that no
    training row is of: weights and calibrations know nothing of it.
    """
    rows = data.every_row()
    if final.recipe.n_rows < data.rows.y.size or not all_known(rows.y, rows.classes):
        return None
    methods = [member.method for member in final.recipe.members]
    if seconds_again(methods, final.seconds, final.recipe.n_rows, rows.y.size) > spare:
        return None
    return replace(final.recipe, rows=EVERY_ROW, n_rows=rows.y.size)


def all_known(y: np.ndarray, classes: np.ndarray | None) -> bool:
    return classes is None or bool(np.isin(y, classes).all())


def rows_learnt(recipe: RecipeRecord, data: Prepared) -> TrainingRows:
    """Return the rows among which a recipe chooses those that it learns from."""
    return data.every_row() if recipe.rows == EVERY_ROW else data.rows


def rows_of(recipe: RecipeRecord, data: TrainingRows) -> np.ndarray:
    """Return the rows that a recipe learns from, among those of ``data``."""
    rows = data.folds[0][0] if recipe.rows == FOLD_ROWS else np.arange(data.y.size)
    return sample_of(rows, recipe.n_rows, data.seed)


def assembled(recipe: RecipeRecord, fitted: list[tuple[str, Pipeline]], data: TrainingRows) -> Any:
    """Return one model of the fitted members: a pipeline if there is one member and nothing around it."""
    weights = [member.weight for member in recipe.members]
    calibrations = [None if m.calibration is None else np.array(m.calibration) for m in recipe.members]
    is_calibrated = any(calibration is not None for calibration in calibrations)
    if len(fitted) == 1 and recipe.decision_weights is None and not is_calibrated:
        return fitted[0][1]
    if data.classes is None:
        return WeightedEnsembleRegressor.from_fitted(fitted, weights=weights)
    return WeightedEnsembleClassifier.from_fitted(
        fitted,
        data.classes,
        weights=weights,
        calibrations=calibrations if is_calibrated else None,
        decision_weights=recipe.decision_weights,
    )


def member_name(place: int, candidate: Candidate) -> str:
    return f"{candidate.method} {place + 1}"
