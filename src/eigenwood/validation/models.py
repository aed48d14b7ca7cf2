"""Checks of models that are given to functions."""

from __future__ import annotations

from typing import Any

from eigenwood.errors import InputError


def check_kind(who: str, model: Any, is_right: bool, allowed: str) -> None:
    """Raise unless a model is of a kind that a function takes; ``allowed`` names these in words.

    >>> check_kind("rules", 7, False, "a decision tree")
    Traceback (most recent call last):
    eigenwood.errors.InputError: rules: the model must be a decision tree; got int.
    """
    if not is_right:
        raise InputError(f"{who}: the model must be {allowed}; got {type(model).__name__}.")
