"""What was done about each column: those not used first, then those with another role, then the most important."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from eigenwood.report.words import counted, percent, together
from eigenwood.runs.record import ColumnRecord, Run

MOST_SHOWN = 200
NOT_USED, FEATURE = "not used: ", "feature"
PLURALS = {"category": "categories", "text": "texts", "id": "IDs"}


class ColumnLine(NamedTuple):
    """One column, as text."""

    name: str
    kind: str
    use: str
    treatment: str
    n_distinct: int
    n_missing: int
    missing: str
    importance: float | None
    is_dropped: bool


class ColumnLines(NamedTuple):
    """The lines that are shown, and how many others there are."""

    shown: list[ColumnLine]
    n_others: int


def column_lines(run: Run) -> ColumnLines:
    """Return the columns that tell most: not used, with another role, then the most important ones."""
    importances = {name: mean for name, mean, _, _ in run.explanation.importances}
    order = sorted(run.columns, key=lambda column: telling(column, importances))
    lines = [column_line(column, run.n_rows, importances.get(column.name)) for column in order[:MOST_SHOWN]]
    return ColumnLines(lines, max(len(order) - MOST_SHOWN, 0))


def telling(column: ColumnRecord, importances: dict[str, float]) -> tuple:
    """Return what columns are sorted by."""
    roles = 0 if is_dropped(column) else 1 if column.use != FEATURE else 2
    return (roles, -importances.get(column.name, -1.0), not column.treatment, -column.n_missing)


def is_dropped(column: ColumnRecord) -> bool:
    return column.use.startswith(NOT_USED)


def column_line(column: ColumnRecord, n_rows: int, importance: float | None) -> ColumnLine:
    """Return a column as text."""
    missing = percent(column.n_missing / max(n_rows, 1)) if column.n_missing else ""
    return ColumnLine(
        column.name,
        column.kind,
        column.use,
        column.treatment,
        column.n_distinct,
        column.n_missing,
        missing,
        importance,
        is_dropped(column),
    )


def kinds_words(run: Run) -> str:
    """Return how many columns of each kind were learnt from."""
    kinds = Counter(column.kind for column in run.columns if column.use == FEATURE)
    words = [counted(count, kind, PLURALS.get(kind)) for kind, count in kinds.most_common()]
    return together(words)


def dropped_words(run: Run) -> str:
    """Return which columns were not used, and why, in a sentence; nothing if all were."""
    reasons = dict[str, list[str]]()
    for column in run.columns:
        if is_dropped(column):
            reasons.setdefault(column.use.removeprefix(NOT_USED), []).append(column.name)
    return "; ".join(f"{short_list(names)} ({reason})" for reason, names in reasons.items())


def short_list(names: list[str], most: int = 8) -> str:
    """Return names as one phrase, cut short when there are many.

    >>> short_list(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return together(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most:,} more"
