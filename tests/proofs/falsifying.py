"""Falsified models: every fitted attribute of a model, edited in several ways and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from eigenwood.proofs.claim import Certificate, Claim
from eigenwood.validation.params import Choice
from eigenwood.validation.state import Scalar


class Edit(NamedTuple):
    """One attribute of a model, and what stands there instead."""

    attribute: str
    kind: str
    value: Any

    def __str__(self) -> str:
        return f"{self.attribute} {self.kind}"


def edits_of(model: Any) -> Iterator[Edit]:
    """Yield every edit of every fitted attribute that makes a difference."""
    for name, rule in model.FITTED.items():
        if hasattr(model, name):
            value = getattr(model, name)
            for kind, edited in edited_values(value, rule):
                if not is_same(edited, value):
                    yield Edit(name, kind, edited)


def falsified(model: Any, edit: Edit) -> Any:
    """Return a copy of the model with the edit; what is derived from the attribute follows."""
    copied = deepcopy(model)
    setattr(copied, edit.attribute, edit.value)
    return copied


def edited_values(value: Any, rule: Any = None) -> Iterator[tuple[str, Any]]:
    """Yield other values in the place of one, each with a few words."""
    if isinstance(value, Certificate):
        yield from edited_certificates(value)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):  # a tree or a forest
        for field in value._fields:
            for kind, edited in list(edited_values(getattr(value, field)))[::2]:
                yield f"{field} {kind}", value._replace(**{field: edited})
    elif isinstance(value, dict):
        yield from edited_dicts(value)
    elif isinstance(value, list):
        yield from edited_lists(value)
    elif sparse.issparse(value):
        for kind, edited in edited_arrays(value.data):
            yield kind, type(value)((edited, value.indices, value.indptr), shape=value.shape)
    elif isinstance(value, np.ndarray):
        yield from edited_arrays(value)
    elif hasattr(value, "get_params"):
        yield from edited_parts(value)
    elif isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, str):
        others = rule.rule.options if isinstance(rule, Scalar) and isinstance(rule.rule, Choice) else ("other",)
        yield from ((f"is {other}", other) for other in others)
    else:
        for kind, edited in (("+ 1", value + 1), ("doubled", 2 * value), ("zero", 0 * value), ("negative", -value - 1)):
            yield kind, type(value)(edited)
        if isinstance(value, float):
            yield "+ 1 %", 1.01 * value
            yield "huge", 1e6 * (1.0 + abs(value))
            yield "a whole number", 10**300


def edited_arrays(value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield other arrays of the same shape and dtype."""
    if value.size == 0:
        return
    yield "reversed", value[::-1].copy()
    if value.dtype.kind == "f":
        largest = max(float(np.abs(value).max()), 1e-3)
        yield "+ 1 %", (value * 1.01).astype(value.dtype)
        yield "negated", -value
        yield "zeroed", np.zeros_like(value)
        yield "times -1000", (value * -1000).astype(value.dtype)
        yield "shifted by 1e6", (value + 1e6).astype(value.dtype)
        for place in sorted({0, value.size // 2, value.size - 1}):
            yield f"+ 10 % at {place}", with_entry(value, place, value.flat[place] + 0.1 * largest)
        yield "not a number", with_entry(value, 0, np.nan)
    elif value.dtype.kind in "iu":
        yield "+ 1", value + value.dtype.type(1)
        yield "- 1", value - value.dtype.type(1)
        yield "zeroed", np.zeros_like(value)
        yield "far out", with_entry(value, value.size - 1, 2**30 if value.dtype.itemsize > 2 else 100)
        for place in sorted({0, value.size // 2, value.size - 1}):
            yield f"+ 1 at {place}", with_entry(value, place, value.flat[place] + value.dtype.type(1))
    elif value.dtype.kind == "b":
        yield "flipped", ~value
        for place in sorted({0, value.size // 2, value.size - 1}):
            yield f"flipped at {place}", with_entry(value, place, not value.flat[place])
    else:
        yield "renamed", with_entry(value.astype(object), 0, "another name").astype(value.dtype)


def edited_dicts(value: dict) -> Iterator[tuple[str, dict]]:
    """Yield dicts with other values, or with another name."""
    first, *rest = value
    yield "reversed", dict(zip(value, reversed(value.values()), strict=True))
    yield "renamed", {f"{first}?": value[first], **{name: value[name] for name in rest}}
    yield "without the last", dict(list(value.items())[:-1])
    yield "+ 1", {name: number + 1 for name, number in value.items()}


def edited_lists(value: list) -> Iterator[tuple[str, list]]:
    """Yield lists with one part edited, or with two parts in each other's place."""
    if len(value) > 1:
        yield "reversed", value[::-1]
        yield "the first twice", [value[0], value[0], *value[2:]]
    if value:
        yield "without the last", value[:-1]
    are_models = bool(value) and hasattr(value[0], "FITTED")
    places = {0, len(value) // 2, len(value) - 1} if are_models else range(len(value))
    for place, part in ((place, value[place]) for place in sorted(places)):
        for kind, edited in edited_parts(part):
            yield f"[{place}] {kind}", [*value[:place], edited, *value[place + 1 :]]


def edited_parts(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield other parts of a list: learners, arrays, lists of names."""
    if isinstance(part, Pipeline):
        for place, (name, step) in enumerate(part.steps):
            for kind, edited in edited_parts(step):
                yield f"{name} {kind}", Pipeline([*part.steps[:place], (name, edited), *part.steps[place + 1 :]])
    elif hasattr(part, "FITTED"):
        yield from ((str(edit), falsified(part, edit)) for edit in few(list(edits_of(part))))
    elif isinstance(part, (list, np.ndarray)):
        yield from edited_values(part)
    elif isinstance(part, str):
        yield "renamed", f"{part}?"
    elif isinstance(part, float):
        yield "+ 1", part + 1.0
    elif part is None:
        yield "named", ["a", "b"]


def few(edits: list[Edit], most: int = 8) -> list[Edit]:
    """Return some edits of a learner inside another, spread over all of them; the learner's own exam has them all."""
    return edits[:: max(1, len(edits) // most)]


def edited_certificates(value: Certificate) -> Iterator[tuple[str, Certificate]]:
    """Yield certificates that say something else."""
    for place, claim in enumerate(value.claims):
        others = {
            f"[{claim.name}] fails": replace(claim, holds=False),
            f"[{claim.name}] is not claimed": replace(claim, holds=None),
        }
        if claim.bound is not None:
            others[f"[{claim.name}] beyond its bound"] = beyond(claim)
        if claim.bound is None:
            others[f"[{claim.name}] doubled"] = replace(claim, value=2.0 * claim.value + 1.0)
        for kind, other in others.items():
            yield kind, Certificate((*value.claims[:place], other, *value.claims[place + 1 :]))


def beyond(claim: Claim) -> Claim:
    """Return a claim that says it holds, while its value breaks the bound."""
    assert claim.bound is not None
    size = 1.0 + abs(claim.bound)
    return replace(claim, value=claim.bound + (size if claim.value <= claim.bound else -size), holds=True)


def with_entry(values: np.ndarray, place: int, entry: Any) -> np.ndarray:
    """Return a copy with one entry changed."""
    changed = values.copy()
    changed.flat[place] = entry
    return changed


def is_same(one: Any, other: Any) -> bool:
    """Return whether an edit made no difference."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and hasattr(one, "_fields"):
        return all(is_same(getattr(one, field), getattr(other, field)) for field in one._fields)
    if sparse.issparse(one):
        return is_same(one.data, other.data)
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool((one == other).all())
    if isinstance(one, list):
        return len(one) == len(other) and all(is_same(a, b) for a, b in zip(one, other, strict=True))
    if hasattr(one, "FITTED"):
        return one is other
    return one == other
