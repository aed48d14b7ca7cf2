"""What ``learn`` tries: methods of the registry with choices of parameters, each behind the steps it needs.

    raw columns ──► TableColumns ──► the method                                  methods that take tables
                        │
                        └──► TableEncoder ──► [PCA ──►] the method               kernels and margins

What is fast comes first, so that there is a usable model early; what time allows is a matter of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from eigenwood.data.naming import suggestion
from eigenwood.errors import InputError
from eigenwood.estimators.blending import ScaledTargetRegressor
from eigenwood.estimators.columns import TableColumns
from eigenwood.estimators.encoder import TableEncoder
from eigenwood.estimators.pca import PCA
from eigenwood.estimators.registry import ENTRIES, REGRESSION, Entry

PCA_SHARE = 0.95  # of the variance, where principal components stand in front
MANY_COLUMNS = 40  # encoded columns; with fewer, principal components have little to gather
WIDE = 500  # encoded columns, as texts have; with more, linear methods are the fastest, and often the best
FEWEST_ROUNDS = 200  # that boosting has, however few the rows are
SKEWED = 2.0  # the skewness of positive amounts from which their logarithm is tried, too
ROUND_METHODS = ("gradient-boosting", "gradient-boosting-regression", "adaboost", "adaboost-regression")
FOREST_METHODS = ("random-forest", "random-forest-regression")
PCA_FRONT, PAIRS_FRONT = "pca", "pairs"
FRONT, TARGET = "front", "target"  # what a candidate says beside the parameters of its method

BOOSTED: tuple[Mapping[str, Any], ...] = (
    {"max_depth": None, "max_leaf_nodes": 31, "min_samples_leaf": 20, "n_estimators": 300},
    {"max_depth": None, "max_leaf_nodes": 6, "min_samples_leaf": 5, "max_features": 0.5, "n_estimators": 400},
    {
        "learning_rate": 0.05,
        "max_depth": None,
        "max_leaf_nodes": 15,
        "min_samples_leaf": 10,
        "max_features": 0.5,
        "l2_regularization": 1.0,
        "n_estimators": 800,
    },
    {
        "learning_rate": 0.05,
        "max_depth": None,
        "max_leaf_nodes": 63,
        "min_samples_leaf": 5,
        "max_features": 0.4,
        "l2_regularization": 5.0,
        "n_estimators": 600,
    },
    {
        "learning_rate": 0.03,
        "max_depth": None,
        "max_leaf_nodes": 31,
        "min_samples_leaf": 10,
        "max_features": 0.5,
        "n_estimators": 1500,
    },
)
PAIRED_METHODS = ("gradient-boosting", "gradient-boosting-regression", *FOREST_METHODS)
FORESTS: tuple[Mapping[str, Any], ...] = ({}, {"max_features": 0.4, "min_samples_leaf": 3})
KERNELS: tuple[Mapping[str, Any], ...] = (
    {"kernel": "linear"},
    {},
    {"C": 10.0},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
)
PAIRED = (*(params for params in BOOSTED if params["max_leaf_nodes"] in (15, 31, 63)), {}, {"max_features": 0.34})
# What ``learn`` tries of a method, the fastest methods first; of one that is not here, what the registry says.
LISTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "decision-tree": ({"prune": "cost_complexity_cv"}, {"min_samples_leaf": 5}),
    "regression-tree": ({"prune": "cost_complexity_cv"}, {"min_samples_leaf": 5}),
    "random-forest": FORESTS,
    "random-forest-regression": ({}, {"max_features": 0.34}, {"max_features": 0.34, "min_samples_leaf": 3}),
    "gradient-boosting": BOOSTED,
    "gradient-boosting-regression": BOOSTED,
    "adaboost": ({"n_estimators": 200},),
    "kernel-logistic": ({"kernel": "linear"}, {}, {"C": 10.0}),
    "svm": KERNELS,
    "svm-regression": KERNELS,
}
ORDER = tuple(LISTS)  # methods that are not in the list come last


class ColumnFacts(NamedTuple):
    """What is known of the columns of a table."""

    kinds: Mapping[str, str]
    readings: Mapping[str, str]  # of strings that became numbers or dates


class Candidate(NamedTuple):
    """A method with one choice of its parameters; ``front`` and ``target`` say what stands around it."""

    method: str
    params: Mapping[str, Any]
    front: str = ""  # "pca": principal components in front; "pairs": those of correlated pairs beside the columns
    target: str = ""  # of amounts: "log", "standard", or as they are

    def words(self) -> dict[str, Any]:
        """Return the choice as it is recorded."""
        around = {FRONT: self.front, TARGET: self.target}
        return {**self.params, **{name: value for name, value in around.items() if value}}

    @property
    def n_rounds(self) -> int | None:
        """The most rounds that boosting has; None of another method."""
        return self.params.get("n_estimators") if self.method in ROUND_METHODS else None

    def with_rounds(self, n_rounds: int) -> Candidate:
        """Return the same with so many trees or rounds."""
        return self._replace(params={**self.params, "n_estimators": n_rounds})


def recorded(method: str, words: Mapping[str, Any]) -> Candidate:
    """Return the candidate whose ``words`` were recorded."""
    params = {name: value for name, value in words.items() if name not in (FRONT, TARGET)}
    return Candidate(method, params, words.get(FRONT, ""), words.get(TARGET, ""))


def entry_named(method: str) -> Entry:
    return next(entry for entry in ENTRIES if entry.name == method)


def candidates_for(
    task: str,
    methods: tuple[str, ...],
    n_rows: int,
    n_columns: int,
    amounts: np.ndarray | None,
    *,
    has_pairs: bool = False,
) -> list[Candidate]:
    """Return the candidates of a task with so many rows to learn from, and columns after encoding.

    Where numbers are strongly correlated, boosting and forests are tried with their pairs, too.
    """
    found = list[Candidate]()
    for entry in entries_of(task):
        if entry.name in methods or (entry.is_candidate and not methods):
            of_entry = fitting_trees(candidates_of(entry, n_columns, amounts), n_rows)
            found += of_entry + ([paired for each in of_entry if (paired := with_pairs(each))] if has_pairs else [])
    if n_columns > WIDE:
        found.sort(key=lambda candidate: candidate.params.get("kernel") != "linear")
    return [fewer_rounds(candidate, max(n_rows, FEWEST_ROUNDS)) for candidate in found]


def with_pairs(candidate: Candidate) -> Candidate | None:
    """Return a candidate whose trees ask about pairs of numbers, too; None of those for which it is not tried."""
    is_tried = candidate.method in PAIRED_METHODS and not candidate.target and candidate.params in PAIRED
    return candidate._replace(front=PAIRS_FRONT) if is_tried else None


def fewer_rounds(candidate: Candidate, most: int) -> Candidate:
    """Return a candidate with at most so many rounds: few rows are learnt by heart in few."""
    is_long = candidate.method in ROUND_METHODS and candidate.params.get("n_estimators", 0) > most
    return candidate.with_rounds(most) if is_long else candidate


def fitting_trees(candidates: list[Candidate], n_rows: int) -> list[Candidate]:
    """Return the candidates whose trees find rows for their leaves; others would grow the same trees more slowly."""
    found = [candidate for candidate in candidates if rows_for_leaves(candidate) <= n_rows]
    return found or candidates[:1]


def rows_for_leaves(candidate: Candidate) -> int:
    """Return how many rows the leaves of a tree hold at least, where their number is given."""
    return (candidate.params.get("max_leaf_nodes") or 0) * candidate.params.get("min_samples_leaf", 1)


def entries_of(task: str) -> list[Entry]:
    """Return the methods that can be asked for, in the order in which they are tried."""
    entries = [entry for entry in ENTRIES if entry.task == task and choices_of(entry)]
    return sorted(entries, key=lambda entry: ORDER.index(entry.name) if entry.name in ORDER else len(ORDER))


def choices_of(entry: Entry) -> tuple[Mapping[str, Any], ...]:
    """Return the parameters that are tried of a method: the list above, or what the registry says."""
    return LISTS.get(entry.name, entry.tries)


def candidates_of(entry: Entry, n_columns: int, amounts: np.ndarray | None) -> list[Candidate]:
    """Return what is tried of one method."""
    is_scaled = entry.task == REGRESSION and not entry.takes_tables
    found = [Candidate(entry.name, params, target="standard" if is_scaled else "") for params in choices_of(entry)]
    if amounts is not None and is_skewed(amounts):
        found.append(found[0]._replace(target="log"))
    if not entry.takes_tables and n_columns > MANY_COLUMNS:
        found.append(found[-1]._replace(front=PCA_FRONT))
    return found


def check_methods(task: str, methods: Iterable[str]) -> None:
    """Raise for the first method that the task does not have."""
    known = [entry.name for entry in entries_of(task)]
    for method in methods:
        if method not in known:
            raise InputError(f"--models must be some of {', '.join(known)}; got {method!r}{suggestion(method, known)}.")


def is_skewed(amounts: np.ndarray) -> bool:
    """Return whether positive amounts have a long tail to the right."""
    if amounts.min() <= 0.0:
        return False
    centred = amounts - amounts.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return spread > 0.0 and float((centred**3).mean()) / spread**3 > SKEWED


def columns_step(candidate: Candidate, columns: ColumnFacts) -> TableColumns:
    """Return the first step, which makes numbers and categories of dates and texts."""
    is_encoded = not entry_named(candidate.method).takes_tables
    is_paired = candidate.front == PAIRS_FRONT
    return TableColumns(kinds=dict(columns.kinds), readings=dict(columns.readings), cyclic=is_encoded, pairs=is_paired)


def later_steps(candidate: Candidate, seed: int, time_limit: float | None) -> list[tuple[str, Any]]:
    """Return the steps behind the first: an encoder where the method does not take tables, and the method."""
    entry = entry_named(candidate.method)
    model = entry.estimator(**candidate.params)
    chosen = {"random_state": seed, "time_limit": time_limit, "n_jobs": -1}
    model.set_params(**{name: value for name, value in chosen.items() if name in model.get_params()})
    if candidate.target:
        model = ScaledTargetRegressor(model, scale=candidate.target)
    encoder = [] if entry.takes_tables else [("encoder", TableEncoder())]
    front = [("pca", PCA(PCA_SHARE))] if candidate.front == PCA_FRONT else []
    return [*encoder, *front, ("model", model)]


def pipeline(candidate: Candidate, columns: ColumnFacts, seed: int, time_limit: float | None) -> Pipeline:
    """Return the candidate as one model of raw columns."""
    return Pipeline([("columns", columns_step(candidate, columns)), *later_steps(candidate, seed, time_limit)])


def method_of(model: Pipeline) -> Any:
    """Return the fitted method at the end of a pipeline, without what scales its target."""
    last = model.steps[-1][1]
    return last.regressor_ if isinstance(last, ScaledTargetRegressor) else last


def without_limit(model: Pipeline) -> Pipeline:
    """Return a fitted pipeline whose method forgets its time limit: it was not reached."""
    last = model.steps[-1][1]
    methods = [last, last.regressor, last.regressor_] if isinstance(last, ScaledTargetRegressor) else [last]
    for method in methods:
        if "time_limit" in method.get_params():
            method.set_params(time_limit=None)
    return model
