"""Which rows are put aside for the blind test, and on which of the others candidates are compared.

    classes     every class has its share on both sides
    --group     the rows of a group stay on one side
    --order     the newest rows are the blind test, and candidates are checked on rows newer than those they learnt from
    both        a group is as new as its newest row

Of rows in order, five parts of a tenth each are checked on, the newest first; each is predicted from all older rows,
so about half of the rows are always learnt from. Rows that are equally new stay together. Where that leaves nothing
to learn from (all training rows are equally new, or of one group, or the older ones are of one class) folds are drawn
at random.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, train_test_split

from eigenwood.errors import TableError
from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.runs.settings import MOST_FOLDS, Fold, Settings, Split

LEAST_PER_CLASS = 3  # rows: to learn, tune and test
LEAST_TRAIN = 2 * MOST_FOLDS  # amounts; R² compares rows with their mean, so a fold needs two
LEAST_TEST = 5
LEAST_GROUPS = 4
MOST_PARTS = 20  # of groups, of which some are put aside: a step of one part in twenty
MOST_STRATIFIED = 500  # groups; of more, each part has about the same share of each class by itself
NEWEST_PART = 0.1  # of the training rows, in each fold


def split_rows(
    task: str,
    y: np.ndarray,
    settings: Settings,
    *,
    groups: np.ndarray | None,
    order: np.ndarray | None,
    table: str,
    target: str,
) -> Split:
    """Return the training rows and the blind test rows."""
    check_rows(task, y, table, target)
    n_test = blind_size(task, y, settings.test_fraction)
    if order is not None:
        newness = newest_of_group(order, groups)
        check_order(newness, table, settings)
        train, test = by_order(newness, n_test)
    elif groups is not None:
        check_groups(groups, table, settings)
        train, test = by_groups(task, y, groups, n_test, settings.seed)
    else:
        train, test = at_random(task, y, n_test, settings.seed)
    check_sides(task, y, train, test, table, target)
    return Split(train, test)


def folds(
    task: str, y: np.ndarray, seed: int, groups: np.ndarray | None = None, order: np.ndarray | None = None
) -> list[Fold]:
    """Return five folds of the training rows, or as many as there can be; in order, the newest rows come first."""
    found = [] if order is None else folds_by_order(task, y, newest_of_group(order, groups))
    if groups is not None and not found:
        found = [fold for fold in group_folds(task, y, groups, MOST_FOLDS, seed) if can_be_learnt(task, y[fold[0]])]
    if found:
        return found
    if task != CLASSIFICATION:
        return list(KFold(MOST_FOLDS, shuffle=True, random_state=seed).split(y))
    codes, counts = codes_and_counts(y)
    n_folds = max(2, min(MOST_FOLDS, int(counts.max())))
    with warnings.catch_warnings():  # a class of fewer rows than folds is in some of them, and that will do
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes))


def held_out(
    task: str,
    y: np.ndarray,
    n_rows: int,
    seed: int,
    groups: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> Fold:
    """Return about so many of the training rows to check on, and the others to learn from."""
    newness = None if order is None else newest_of_group(order, groups)
    if newness is not None and np.ptp(newness) > 0.0:
        found = by_order(newness, n_rows)
        if can_be_learnt(task, y[found[0]]):
            return found
    if groups is not None and np.ptp(groups) > 0:
        return by_groups(task, y, groups, n_rows, seed)
    return at_random(task, y, n_rows, seed)


# --- at random ----------------------------------------------------------------------------------------


def at_random(task: str, y: np.ndarray, n_other: int, seed: int) -> Fold:
    """Return so many rows on the other side, with the same share of each class."""
    codes = codes_and_counts(y)[0] if task == CLASSIFICATION else None
    one, other = train_test_split(np.arange(y.size), test_size=n_other, stratify=codes, random_state=seed)
    return np.sort(one), np.sort(other)


def codes_and_counts(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of each row as a number, and how many rows each class has."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return codes, counts


def blind_size(task: str, y: np.ndarray, test_fraction: float) -> int:
    """Return how many rows are put aside, so that enough are left on both sides also in a table of few rows."""
    n_wanted = round(test_fraction * y.size)
    if task == CLASSIFICATION:
        n_classes = np.unique(y).size  # at least one row of each class on either side
        return min(max(n_wanted, n_classes), y.size - n_classes)
    return min(max(n_wanted, LEAST_TEST), y.size - LEAST_TRAIN)


# --- groups -------------------------------------------------------------------------------------------


def by_groups(task: str, y: np.ndarray, groups: np.ndarray, n_other: int, seed: int) -> Fold:
    """Return about so many rows on the other side, groups whole."""
    parts = [part for _, part in group_folds(task, y, groups, MOST_PARTS, seed)]
    n_most = max(len(parts) - 2, 1)  # two parts are left, so that folds can be made of them
    sizes = np.cumsum([part.size for part in parts[:n_most]])
    n_taken = int(np.abs(sizes - n_other).argmin()) + 1
    is_other = np.zeros(y.size, dtype=bool)
    is_other[np.concatenate(parts[:n_taken])] = True
    return np.flatnonzero(~is_other), np.flatnonzero(is_other)


def group_folds(task: str, y: np.ndarray, groups: np.ndarray, most: int, seed: int) -> list[Fold]:
    """Return folds of whole groups, of about the same size, and the same share of each class where groups are few."""
    names, codes = np.unique(groups, return_inverse=True)
    n_folds = min(most, names.size)
    if n_folds < 2:
        return []
    if task != CLASSIFICATION or names.size > MOST_STRATIFIED:
        shuffled = np.random.default_rng(seed).permutation(names.size)[codes]  # groups of one size go by the seed
        return list(GroupKFold(n_folds).split(y, groups=shuffled))
    labels, counts = codes_and_counts(y)
    if counts.max() < n_folds:
        n_folds = max(2, int(counts.max()))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        found = list(StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels, codes))
    return [fold for fold in found if fold[1].size]  # large groups may leave nothing for a fold


# --- order --------------------------------------------------------------------------------------------


def newest_of_group(order: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return how new each row is; rows of a group are as new as the newest of them.

    >>> newest_of_group(np.array([1.0, 5.0, 2.0]), np.array([0, 1, 0]))
    array([2., 5., 2.])
    """
    if groups is None:
        return order
    names, codes = np.unique(groups, return_inverse=True)
    newest = np.full(names.size, -np.inf)
    np.maximum.at(newest, codes, order)
    return newest[codes]


def by_order(order: np.ndarray, n_newest: int) -> Fold:
    """Return the older rows and about so many of the newest; rows that are equally new stay together."""
    start = boundary(order, n_newest)
    return np.flatnonzero(order < start), np.flatnonzero(order >= start)


def boundary(order: np.ndarray, n_newest: int) -> float:
    """Return how new a row must be to be among about so many of the newest; some rows are older.

    >>> boundary(np.array([1.0, 2.0, 2.0, 3.0]), 1), boundary(np.array([1.0, 2.0, 2.0, 3.0]), 4)
    (3.0, 2.0)
    """
    values, counts = np.unique(order, return_counts=True)
    n_from = np.cumsum(counts[::-1])[::-1]  # rows at least as new as each value
    return float(values[1:][np.abs(n_from[1:] - n_newest).argmin()])


def folds_by_order(task: str, y: np.ndarray, order: np.ndarray) -> list[Fold]:
    """Return folds that check on rows newer than all they learn from, the newest first."""
    found, left = list[Fold](), np.arange(y.size)
    n_newest = max(round(NEWEST_PART * y.size), 2)
    for _ in range(MOST_FOLDS):
        if 2 * left.size < y.size or np.ptp(order[left]) == 0.0:
            break
        older, newer = by_order(order[left], n_newest)
        if not can_be_learnt(task, y[left[older]]):
            break
        found.append((left[older], left[newer]))
        left = left[older]
    return found


def can_be_learnt(task: str, y: np.ndarray) -> bool:
    """Return whether there are rows enough, and of more than one class."""
    return np.unique(y).size > 1 if task == CLASSIFICATION else y.size >= MOST_FOLDS


# --- what is refused ----------------------------------------------------------------------------------


def check_rows(task: str, y: np.ndarray, table: str, target: str) -> None:
    """Raise unless there are rows enough to learn, tune and test."""
    if task == CLASSIFICATION:
        values, counts = np.unique(y, return_counts=True)
        if counts.min() < LEAST_PER_CLASS:
            raise TableError(
                f"{table}: every class of {target!r} must have at least {LEAST_PER_CLASS} rows to learn, tune and "
                f"test; got {counts.min()} of {str(values[counts.argmin()])!r}."
            )
    elif y.size < LEAST_TRAIN + LEAST_TEST:
        raise TableError(
            f"{table}: must have at least {LEAST_TRAIN + LEAST_TEST} rows with an amount in {target!r} to learn, "
            f"tune and test; got {y.size}."
        )


def check_order(order: np.ndarray, table: str, settings: Settings) -> None:
    """Raise unless every row, or group of rows, has a place in the order, and not all the same."""
    n_missing = int(np.isnan(order).sum())
    if n_missing:
        raise TableError(
            f"{table}: --order column {settings.order!r} must have a value in every row; got {n_missing} without."
        )
    if np.ptp(order) == 0.0:
        raise TableError(
            f"{table}: --order column {settings.order!r} must have different values, so that some rows or groups are "
            f"newer; got the same for all of them."
        )


def check_groups(groups: np.ndarray, table: str, settings: Settings) -> None:
    """Raise unless there are groups for every side."""
    n_groups = np.unique(groups).size
    if n_groups < LEAST_GROUPS:
        raise TableError(
            f"{table}: --group column {settings.group!r} must have at least {LEAST_GROUPS} different groups to learn, "
            f"tune and test; got {n_groups}."
        )


def check_sides(task: str, y: np.ndarray, train: np.ndarray, test: np.ndarray, table: str, target: str) -> None:
    """Raise unless there is something to tell apart among the training rows, and among the blind test rows."""
    for words, rows in (("training", train), ("blind test", test)):
        if np.unique(y[rows]).size == 1:
            raise TableError(
                f"{table}: the {rows.size:,} {words} rows must differ in {target!r} "
                f"(another seed or share draws others); got {shown(y[rows[0]])} in all of them."
            )


def shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(str(value))
