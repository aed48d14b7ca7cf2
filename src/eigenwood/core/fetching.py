"""Memory that is read soon is asked for now: rows of a table that lie far apart come slowly, one after the other if
each is asked for only when the one before is done.
"""

from __future__ import annotations

from eigenwood.compiling import instructions_in

instructions_in("eigenwood.core.llvm.fetching")


def fetch(array, i):
    """Ask for an entry of an array; nothing else changes, so without a compiler there is nothing to do."""


def fetch_row(table, i):
    """Ask for row ``i`` of a table whose rows lie one behind the other."""
