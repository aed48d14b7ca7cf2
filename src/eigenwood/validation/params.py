"""Rules for hyper-parameters, as data.

An estimator declares ``PARAMS = {"gamma": Number(above=0), ...}``. The same table makes the error sentence, picks the
shared words for the docstring, and guards model files, so a rule exists in exactly one place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from eigenwood.errors import InputError


class Rule(Protocol):
    """What a value must be: ``allows`` decides, ``str`` says it."""

    def allows(self, value: Any) -> bool: ...


@dataclass(frozen=True)
class Choice:
    """One of a few named options."""

    options: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return "one of " + ", ".join(map(repr, self.options))


@dataclass(frozen=True)
class Number:
    """A finite number, whole or not, within bounds.

    >>> str(Number(above=0, at_most=1))
    'a number above 0 and at most 1'
    >>> Number(at_least=1, integer=True).allows(1.5)
    False
    """

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    integer: bool = False

    def allows(self, value: Any) -> bool:
        kind = Integral if self.integer else Real
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
            return False
        number: Any = value
        return (self.integer or is_finite(number)) and (
            (self.above is None or number > self.above)
            and (self.at_least is None or number >= self.at_least)
            and (self.below is None or number < self.below)
            and (self.at_most is None or number <= self.at_most)
        )

    def __str__(self) -> str:
        bounds = {
            "above": self.above,
            "at least": self.at_least,
            "below": self.below,
            "at most": self.at_most,
        }
        words = [f"{name} {bound}" for name, bound in bounds.items() if bound is not None]
        return " ".join(["an integer" if self.integer else "a number", " and ".join(words)]).strip()


@dataclass(frozen=True)
class Share:
    """A share of a whole, written with a point: 1.0 is all of it, and the integer 1 is not meant."""

    above: float = 0.0
    at_most: float = 1.0
    below: float | None = None

    def allows(self, value: Any) -> bool:
        return not isinstance(value, Integral) and self._number().allows(value)

    def _number(self) -> Number:
        return Number(above=self.above, at_most=None if self.below else self.at_most, below=self.below)

    def __str__(self) -> str:
        return str(self._number()).replace("a number", "a fraction")


@dataclass(frozen=True)
class Signs:
    """What scikit-learn takes as ``monotonic_cst``: -1, 0 or 1 for each column."""

    def allows(self, value: Any) -> bool:
        return value is None or (np.ndim(value) == 1 and bool(np.isin(np.asarray(value), (-1, 0, 1)).all()))

    def __str__(self) -> str:
        return "None or an array-like of -1, 0 or 1"


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True)
class Infinite:
    """The number infinity."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, Real) and value == math.inf

    def __str__(self) -> str:
        return "infinity"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_))

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Nothing:
    """The value None."""

    def allows(self, value: Any) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True)
class Function:
    """Anything that can be called."""

    takes: str

    def allows(self, value: Any) -> bool:
        return callable(value)

    def __str__(self) -> str:
        return f"a function of {self.takes}"


@dataclass(frozen=True)
class Keywords:
    """Keyword arguments for a function of the user's."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, dict) and all(isinstance(name, str) for name in value)

    def __str__(self) -> str:
        return "a dict of names and values"


@dataclass(frozen=True)
class ColumnWords:
    """A dict of columns, each with one of a few words."""

    options: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return isinstance(value, dict) and all(
            isinstance(name, str) and Choice(self.options).allows(word) for name, word in value.items()
        )

    def __str__(self) -> str:
        return f"a dict of column names, each with {Choice(self.options)}"


@dataclass(frozen=True)
class Seed:
    """What scikit-learn takes as ``random_state``."""

    def allows(self, value: Any) -> bool:
        return (
            value is None
            or isinstance(value, np.random.RandomState)
            or Number(at_least=0, at_most=2**32 - 1, integer=True).allows(value)
        )

    def __str__(self) -> str:
        return "None, an integer from 0 to 4294967295 or a numpy RandomState"


@dataclass(frozen=True)
class ClassWeights:
    """What scikit-learn takes as ``class_weight``; a list of dicts where there may be ``several`` outputs."""

    several: bool = False
    presets: tuple[str, ...] = ("balanced",)

    def allows(self, value: Any) -> bool:
        if isinstance(value, list) and self.several:
            return all(isinstance(part, Mapping) and self.allows(part) for part in value)
        if isinstance(value, Mapping):
            return all(Number(at_least=0).allows(weight) for weight in value.values())
        return value is None or Choice(self.presets).allows(value)

    def __str__(self) -> str:
        more = ", or a list of such dicts, one for each output" if self.several else ""
        presets = ", ".join(map(repr, self.presets))
        return f"None, {presets} or a dict of class: weight, each weight a number at least 0{more}"


class AnyOf:
    """A value that one of several rules allows."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def allows(self, value: Any) -> bool:
        return any(rule.allows(value) for rule in self.rules)

    def __str__(self) -> str:
        return " or ".join(map(str, self.rules))


def check_params(estimator: Any) -> None:
    """Raise for the first hyper-parameter that breaks its rule."""
    values = {name: getattr(estimator, name) for name in estimator.PARAMS}
    check_values(type(estimator).__name__, estimator.PARAMS, values)


def check_values(who: str, rules: Mapping[str, Rule], values: Mapping[str, Any]) -> None:
    """Raise for the first value that breaks its rule.

    >>> check_values("Perceptron", {"eta0": Number(above=0)}, {"eta0": -1})
    Traceback (most recent call last):
    eigenwood.errors.InputError: Perceptron: eta0 must be a number above 0; got -1.
    """
    for name, rule in rules.items():
        if not rule.allows(values[name]):
            raise InputError(f"{who}: {name} must be {rule}; got {values[name]!r}.")
