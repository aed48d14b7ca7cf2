"""The members of a fitted model: it is one pipeline, or a weighted ensemble of some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from eigenwood.runs.candidates import method_of


class Member(NamedTuple):
    """One pipeline of a model, with its share of the prediction."""

    name: str
    weight: float
    pipeline: Pipeline

    @property
    def method(self) -> Any:
        """The fitted method at the end of the pipeline."""
        return method_of(self.pipeline)

    def inputs(self, X: Any) -> Any:
        """Return what the method itself is given of raw columns."""
        return self.pipeline[:-1].transform(X)


def members_of(model: Any) -> list[Member]:
    """Return the pipelines a model is made of, the heaviest first."""
    if isinstance(model, Pipeline):
        return [Member("", 1.0, model)]
    named = model.named_estimators_.items()
    members = [Member(name, float(w), pipeline) for (name, pipeline), w in zip(named, model.weights_, strict=True)]
    return sorted(members, key=lambda member: -member.weight)


def own_importances(model: Any, names: Sequence[str]) -> dict[str, float] | None:
    """Return how much the model's own feature importances give to each raw column; None if it has none."""
    found = dict.fromkeys(names, 0.0)
    is_known = False
    for member in members_of(model):
        importances = getattr(member.method, "feature_importances_", None)
        inputs = getattr(member.method, "feature_names_in_", None)
        if importances is None or inputs is None:
            continue
        is_known = True
        for name, importance in zip(raw_columns(inputs, names), importances, strict=True):
            if name is not None:
                found[name] += member.weight * float(importance)
    return found if is_known else None


def raw_columns(inputs: Sequence[str], names: Sequence[str]) -> list[str | None]:
    """Return for each input of a method the raw column it was made of: the longest name that its own begins with.

    >>> raw_columns(["age", "sold year", "note=late"], ["age", "sold", "note"])
    ['age', 'sold', 'note']
    """
    known = set(names)
    return [next((name[:end] for end in range(len(name), 0, -1) if name[:end] in known), None) for name in inputs]
