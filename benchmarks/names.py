"""Lists of names on the command line."""

from __future__ import annotations


def names_in(text: str | None) -> list[str] | None:
    """Return the names of a list written a,b; None where nothing was written."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
