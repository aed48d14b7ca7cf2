"""A model file as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline

from eigenwood.estimators.blending import WeightedEnsembleClassifier, WeightedEnsembleRegressor


def model_summary(model: Any) -> Group:
    """Return the steps of a model, their parameters and its certificate."""
    steps = list(steps_of(model))
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    certificate = getattr(last, "certificate_", None)
    return Group(*(parameters_table(*step) for step in steps), *([certificate] if certificate else []))


def steps_of(model: Any, member: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the steps of a model, those of the members of an ensemble with the name of the member."""
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from steps_of(step, member)
        return
    yield model, member
    if isinstance(model, WeightedEnsembleClassifier | WeightedEnsembleRegressor):
        for name, fitted in model.named_estimators_.items():
            yield from steps_of(fitted, name)


def parameters_table(step: Any, member: str) -> Table:
    """Return the parameters of one step, those that differ from the default marked."""
    defaults = type(step)().get_params(deep=False)
    name = f"{member}: {type(step).__name__}" if member else type(step).__name__
    table = Table(title=Text(name), title_justify="left")
    for heading in ("parameter", "value", ""):
        table.add_column(heading)
    for parameter, value in step.get_params(deep=False).items():
        default = defaults[parameter]
        table.add_row(parameter, Text(value_words(value)), "" if value == default else f"default: {default}")
    return table


def value_words(value: Any) -> str:
    """Return a value; of models by name, their names."""
    is_members = isinstance(value, list) and value and all(isinstance(one, tuple) for one in value)
    return ", ".join(name for name, _ in value) if is_members else str(value)
