"""Blocks of clean columns: a table of any size, read as columns of known kinds, some rows at a time.

    first time through     how are the strings of numbers and dates read, in all rows?
    second time            blocks of rows, read that way: the same values however the rows are cut

Kinds are known before, from the table that a model learnt from; nothing is detected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from eigenwood.data.blocks import Source, Stored
from eigenwood.data.cleaning import BY_KIND, Asked, columns_as_asked, look_at, misfit, misfit_error, wanted_words
from eigenwood.data.columns import decoded, tables_of
from eigenwood.data.readings import COMMA_DECIMAL, PLAIN, Fits, chosen_readings
from eigenwood.data.row_blocks import regrouped
from eigenwood.errors import TableError


def blocks_of_kinds(opened: Source, asked: Asked, rows: int) -> Iterator[pa.Table]:
    """Yield the columns whose kinds are asked for, ``rows`` rows at a time."""
    stored = stored_table(opened)
    settled = asked._replace(readings=settled_readings(opened.who, stored, asked))
    first_row = stored.first_row
    for block in raw_blocks(stored, list(asked.kinds), rows):
        yield columns_as_asked(block, stored.markers, opened.who, first_row, settled).table
        first_row += block.num_rows


def stored_table(opened: Source) -> Stored:
    """Return the columns of a source as they are stored; raise where it has numbers without names."""
    if opened.stored is None or opened.stored.names != opened.names:
        raise TableError(f"{opened.who}: must be a table with names of columns; got an array.")
    return opened.stored


def raw_blocks(stored: Stored, names: list[str], rows: int) -> Iterator[pa.Table]:
    return regrouped(map(decoded, tables_of(stored, names, rows)), rows, pa.concat_tables)


# --- how strings are read -----------------------------------------------------------------------------

SETTLING_ROWS = 2**16  # that are looked at together


def settled_readings(who: str, stored: Stored, asked: Asked) -> dict[str, str]:
    """Return one reading for all rows of each column whose strings must be numbers or dates."""
    names = written_columns(stored, asked)
    found = fits_of_rows(who, stored, asked, names, closely=False)
    has_commas = any(COMMA_DECIMAL in fit.evidence() for fit in found.values())
    again = [name for name, fit in found.items() if not fit.readings or (has_commas and PLAIN in fit.readings)]
    found |= fits_of_rows(who, stored, asked, again, closely=True)
    return {name: reading for name, reading in chosen_readings(found, asked.readings).items() if reading}


def written_columns(stored: Stored, asked: Asked) -> list[str]:
    """Return the columns that must hold numbers or dates and hold something that has to be read."""
    names = [name for name, kind in asked.kinds.items() if kind in BY_KIND]
    first = next(raw_blocks(stored, names, 1), None) if names else None
    if first is None:
        return []
    return [name for name in names if look_at(first[name], name, stored.markers, asked).fit is not None]


def fits_of_rows(who: str, stored: Stored, asked: Asked, names: Sequence[str], *, closely: bool) -> dict[str, Fits]:
    """Return the readings that fit all rows of columns; a look ``closely`` raises where there is none."""
    found, first_row = dict[str, Fits](), stored.first_row
    for block in raw_blocks(stored, list(names), SETTLING_ROWS) if names else ():
        for name in names:
            look = look_at(block[name], name, stored.markers, asked, closely)
            assert look.fit is not None
            joined = found[name].joined(look.fit) if name in found else look.fit
            if closely and not joined.readings:
                place = misfit(look.values, found[name].readings if name in found else BY_KIND[asked.kinds[name]])
                wanted = wanted_words(who, name, asked.kinds[name], asked.why)
                raise misfit_error(wanted, look.values, place, first_row)
            found[name] = joined
        first_row += block.num_rows
    return found
