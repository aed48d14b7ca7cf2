"""Checks of what a model says about the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigenwood.errors import InputError


def check_column_state(
    who: str, n_of_kind: dict[str, int], n_dates: int, terms: list[list[str]], weights: np.ndarray
) -> None:
    """Raise unless there is a first date for each column of dates, and a list of terms for each text."""
    if n_of_kind["date"] != n_dates or n_of_kind["text"] != len(terms):
        raise InputError(
            f"{who}: kinds_ must tell of {n_dates} columns of dates and {len(terms)} of texts; "
            f"got {n_of_kind['date']} and {n_of_kind['text']}."
        )
    if not all(part == sorted(set(part)) for part in terms):
        raise InputError(f"{who}: terms_ must be in order and different; got others.")
    if sum(map(len, terms)) != weights.size or not (weights > 0).all():
        raise InputError(f"{who}: term_weights_ must have a number above 0 for each of terms_; got others.")


def check_pairs(who: str, is_wanted: bool, found: Mapping[str, np.ndarray | None], kinds: np.ndarray) -> None:
    """Raise unless there are pairs of columns of numbers, and by what they are standardized, where they are wanted."""
    places, scales = found["pairs_"], found["pair_scales_"]
    if any((value is not None) != is_wanted for value in found.values()):
        there = ", ".join(sorted(name for name, value in found.items() if value is not None)) or "none of them"
        raise InputError(f"{who}: {', '.join(sorted(found))} must be there if pairs is true; got {there}.")
    if places is None or scales is None:
        return
    if not (kinds[places] == "number").all() or (places[:, 0] >= places[:, 1]).any():
        raise InputError(f"{who}: pairs_ must hold two different columns of numbers in order; got others.")
    if not (scales > 0.0).all():
        raise InputError(f"{who}: pair_scales_ must hold numbers above 0; got {scales.min()}.")


def check_some_column(who: str, n_used: int, kinds: list[str]) -> None:
    """Raise if every column was left out."""
    if n_used == 0:
        raise InputError(f"{who}: X must have a column to learn from; got {', '.join(sorted(set(kinds)))}.")


def check_names_no_column(who: str, X: Any, asked: Mapping[str, str]) -> None:
    """Raise if something was said about columns by name, and X is an array without names."""
    if asked:
        raise InputError(f"{who}: X must be a frame, since kinds names columns; got {type(X).__name__}.")


def check_is_frame(who: str, X: Any, frame: Any | None) -> None:
    """Raise if no frame was found in X."""
    if frame is None:
        raise InputError(f"{who}: X must be a frame with the columns it had in fit; got {type(X).__name__}.")


def check_has_rows(who: str, n_rows: int) -> None:
    """Raise if there are no rows."""
    if n_rows == 0:
        raise InputError(f"{who}: X must have at least 1 row; got none.")
