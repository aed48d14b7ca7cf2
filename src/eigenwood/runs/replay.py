"""Replay: the final model of a run again, bit for bit, from the table and ``run.json``.

Time decided how many trees, rounds and rows there were; the record says what it decided, so nothing is left to time.
"""

from __future__ import annotations

from typing import Any

from eigenwood.data.tables import Table
from eigenwood.errors import InputError
from eigenwood.runs.candidates import recorded
from eigenwood.runs.clock import Clock
from eigenwood.runs.final import assembled, fitted_member, member_name, rows_learnt
from eigenwood.runs.preparing import prepared, target_digest
from eigenwood.runs.record import Run
from eigenwood.runs.settings import Settings


def replayed(run: Run, table: Table, *, assessed: bool = False) -> Any:
    """Return the model that the run made, or the one that was asked about the blind rows, fitted again."""
    recipe = run.assessed_recipe() if assessed else run.recipe
    settings = settings_of(run)
    data = prepared(table, run.target, settings, Clock(0.0))  # no time for what the model does not depend on
    if target_digest(data.y) != run.split.target_digest:
        raise InputError(
            f"{table.name}: the table must be the one that the run learnt from; got other values in {run.target!r}."
        )
    rows = rows_learnt(recipe, data)
    fitted = [
        (member_name(place, recorded(member.method, member.params)), fitted_member(member, recipe, rows, None))
        for place, member in enumerate(recipe.members)
    ]
    return assembled(recipe, fitted, rows)


def settings_of(run: Run) -> Settings:
    """Return the settings of a run."""
    words: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in run.settings.items()
    }
    return Settings(**words)
