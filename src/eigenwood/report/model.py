"""A model file as text for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table
from sklearn.pipeline import Pipeline


def model_summary(model: Any) -> Group:
    """Return the steps of a model, their parameters and its certificate."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    certificate = getattr(steps[-1], "certificate_", None)
    return Group(*(parameters_table(step) for step in steps), *([certificate] if certificate else []))


def parameters_table(step: Any) -> Table:
    """Return the parameters of one step, those that differ from the default marked."""
    defaults = type(step)().get_params()
    table = Table(title=type(step).__name__, title_justify="left")
    for heading in ("parameter", "value", ""):
        table.add_column(heading)
    for name, value in step.get_params().items():
        table.add_row(name, str(value), "" if value == defaults[name] else f"default: {defaults[name]}")
    return table
