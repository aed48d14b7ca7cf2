"""From what a user gives to trusted rows, for forests: as for a tree, but classes have no weights in the draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenwood.estimators.forest.params import OOB
from eigenwood.estimators.tree.data import TreeData, class_lists
from eigenwood.estimators.tree.input_checks import (
    check_known_table,
    check_table,
    class_weight_of,
    drop_weightless,
    join_targets,
    learnable_rows,
    warn_if_deprecated,
)
from eigenwood.validation.categories import Mixed
from eigenwood.validation.draws import (
    check_accuracy_targets,
    check_bootstrap,
    check_dense_targets,
    check_max_samples,
    check_warm_columns,
    check_warm_monotonic_cst,
    check_warm_targets,
    has_same_columns,
)
from eigenwood.validation.targets import Outputs, output_weights


def check_choices(forest: Any) -> None:
    """Raise if parameters exclude each other."""
    who = type(forest).__name__
    if forest.oob_score:
        check_bootstrap(who, forest.bootstrap, "Out of bag estimation")
    if forest.max_features == OOB:
        check_bootstrap(who, forest.bootstrap, "max_features='oob' is")
    check_max_samples(who, forest.max_samples, forest.bootstrap)


def check_training(forest: Any, X: Any, y: Any, sample_weight: Any) -> TreeData:
    """Return the rows that a forest learns from; those of weight 0 are gone."""
    warn_if_deprecated(forest)
    table = check_table(forest, X)
    return learnable_rows(forest, table, join_forest_targets(forest, table, y, sample_weight, None))


def check_query(forest: Any, X: Any, y: Any, sample_weight: Any) -> TreeData:
    """Return more rows with targets, of the categories and classes that a fitted forest knows."""
    table = check_known_table(forest, X, forest.categories_)
    return join_forest_targets(forest, table, y, sample_weight, class_lists(forest))


def join_forest_targets(forest: Any, table: Mixed, y: Any, sample_weight: Any, known: list | None) -> TreeData:
    """Return rows with their targets; those of weight 0 are gone, and those of classes of weight 0.

    The weights of rows are for the draw, and those of classes are multiplied with them afterwards. A tree could have
    drawn nothing but rows of classes of weight 0, if these were not left out.
    """
    check_dense_targets(type(forest).__name__, y)
    data = join_targets(forest, table, y, sample_weight, None, known)
    if forest.oob_score and not callable(forest.oob_score):
        check_accuracy_targets(type(forest).__name__, data.labels)
    class_weight = class_weight_of(forest)
    if class_weight is None or isinstance(class_weight, str):
        return data
    return drop_weightless(forest, data, output_weights(forest, class_weight, outputs_of(data), data.weights()))


def outputs_of(data: TreeData, rows: Any = slice(None)) -> Outputs:
    """Return the classes of some rows."""
    return Outputs(data.labels, data.target.class_codes[rows])


# ---- warm starts: trees that stay must know the new rows ----------------------------------------------------------


def check_same_columns(forest: Any, data: TreeData, before: dict) -> None:
    """Raise unless trees that stay know the columns; ``before`` has the fitted attributes of the last fit."""
    is_same = has_same_columns(vars(forest), before) and all_equal(data.mixed.categories, forest.categories_)
    check_warm_columns(type(forest).__name__, is_same)


def check_same_targets(forest: Any, data: TreeData) -> None:
    """Raise unless trees that stay would learn the same classes again, under the same kind of constraints."""
    who = type(forest).__name__
    is_same = data.n_outputs() == forest.n_outputs_ and all_equal(data.labels, class_lists(forest))
    check_warm_targets(who, is_same)
    check_warm_monotonic_cst(who, forest.monotonic_cst, bool(forest.forest_.bounded[0]))


def all_equal(given: list, before: list) -> bool:
    """Return whether two lists of labels, or of None, are the same."""
    return len(given) == len(before) and all(
        np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object))
        for one, other in zip(given, before, strict=True)
    )
