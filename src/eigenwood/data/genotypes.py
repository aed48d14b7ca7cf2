"""Genotypes: people x variants from a PLINK 1 file, a block of columns at a time, as often as needed.

    study.bed   two bits for each person and variant, variant by variant
    study.bim   one row for each variant: chromosome, id, centimorgans, position, A1, A2
    study.fam   one row for each person: family, id, father, mother, sex, phenotype

A value is how often a person has the allele A1: 0, 1, 2, or NaN where it is missing. The file lies variant by
variant, so columns are its natural blocks: a loop reads it once, and memory is bounded by the block.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eigenwood.data.naming import check_is_file, check_names, suggestion
from eigenwood.errors import MissingExtraError, TableError

# Of columns here, of rows in ``blocks``: a few fit the last-level cache of a large machine and the memory of any.
BLOCK_BYTES = 32 * 2**20
MAGIC = b"\x6c\x1b\x01"  # the last byte says that the file lies variant by variant
PEOPLE_PER_BYTE = 4
N_WORDS = 6  # in each row of .bim and .fam


class Variant(NamedTuple):
    """A row of the .bim file; values count the first allele."""

    id: str
    counted: str
    other: str


@dataclass(frozen=True, eq=False)
class Genotypes:
    """People x variants in blocks of ``block_variants`` columns; each loop starts again at the first one.

    A block is a C-contiguous float32 array of all people and some columns, NaN where a value is missing. A
    column is named as in PLINK's .raw files: "rs123_A" holds the count of allele A at the variant rs123.
    """

    dtype: ClassVar[np.dtype] = np.dtype(np.float32)

    path: Path
    block_variants: int
    people: tuple[str, ...] = field(repr=False)
    columns: tuple[str, ...] = field(repr=False)
    shape_in_file: tuple[int, int]
    rows: np.ndarray = field(repr=False)  # where these people stand in the file
    places: np.ndarray = field(repr=False)  # where the variants of these columns stand in the file
    swapped: np.ndarray = field(repr=False)  # which columns count the other allele than the file

    @property
    def n_people(self) -> int:
        return len(self.people)

    @property
    def n_variants(self) -> int:
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_people, self.n_variants

    def __iter__(self) -> Iterator[np.ndarray]:
        for start in range(0, self.n_variants, self.block_variants):
            yield self.read(slice(None), slice(start, start + self.block_variants))

    def read(self, people: slice, columns: slice) -> np.ndarray:
        """Return a part of these people and columns as one C-contiguous float32 array."""
        n_people, n_variants = self.shape_in_file
        part = self.rows[people], self.places[columns]
        try:
            with bed_reader().open_bed(self.path, iid_count=n_people, sid_count=n_variants) as bed:
                counts = bed.read(part, dtype=self.dtype, order="C")
        except (OSError, ValueError):
            check_begin(self.path)  # says what is wrong with a file that has changed since it was opened
            check_size(self.path, n_people, n_variants)
            raise
        swapped = self.swapped[columns]
        if swapped.any():
            np.subtract(2, counts, out=counts, where=swapped)
        return counts

    def aligned(self, columns: Sequence[str]) -> "Genotypes":
        """Return the same people with exactly these columns, in this order, wherever the file has them.

        Where the file counts the other allele of a variant, counts become 2 - count. Variants are known by
        their id, alleles by their letters. Strands are not guessed: a variant that the file gives on the other
        strand (A, G there and T, C here) is absent, and one whose alleles are complements (A, T or C, G) is
        taken at its word, so bring both files to one strand first.
        """
        names = tuple(columns)
        check_names(self.path.name, list(names))
        places, swapped = find_columns(names, read_variants(self.path.with_suffix(".bim")))
        absent = np.flatnonzero(places < 0)
        if absent.size:
            raise TableError(
                f"{self.path.name}: must have a variant and an allele for each of the {len(names)} columns; "
                f"got none for {absent.size}, the first is {names[absent[0]]!r}."
            )
        return replace(self, columns=names, places=places, swapped=swapped)


def genotypes(
    path: str | PathLike,
    *,
    people: Sequence[int] | Sequence[str] | np.ndarray | None = None,
    block_variants: int | None = None,
) -> Genotypes:
    """Return the people and variants of a PLINK 1 .bed file, with .bim and .fam beside it, as a stream.

    ``people`` picks and orders people, by their places in the .fam file (from 0) or by their ids; default are
    all. ``block_variants`` defaults to about 32 MB per block. Needs the package bed-reader::

        for block in genotypes("study.bed", people=["NA19916", "NA19835"]):
            ...  # float32, (2, block_variants)

    The ids of variants must differ. Chromosome and position could tell equal ones apart, but they change with
    the build of the genome: a name would then not mean the same variant in the next file.
    """
    bed_reader()
    path = Path(path)
    check_begin(path)
    ids = read_people(path.with_suffix(".fam"))
    columns = read_columns(path.with_suffix(".bim"))
    check_size(path, len(ids), len(columns))
    rows = np.arange(len(ids)) if people is None else find_people(people, ids)
    width = default_block_variants(rows.size) if block_variants is None else block_variants
    check_block_variants(width)
    return Genotypes(
        path=path,
        block_variants=width,
        people=tuple(ids[row] for row in rows),
        columns=columns,
        shape_in_file=(len(ids), len(columns)),
        rows=rows,
        places=np.arange(len(columns)),
        swapped=np.zeros(len(columns), dtype=bool),
    )


def bed_reader() -> Any:
    """Return the optional package that reads .bed files."""
    try:
        return import_module("bed_reader")
    except ImportError:
        raise MissingExtraError(
            "genotypes: bed-reader must be installed to read .bed files; pip install 'eigenwood[genetics]'."
        ) from None


# --- the files beside -----------------------------------------------------------------------------


def read_rows(path: Path) -> Iterator[list[str]]:
    """Yield the words of each row of a .bim or .fam file."""
    from eigenwood.data.files import filled, text_errors  # which waits for Arrow

    check_is_file(path)
    with text_errors(path), open(path, encoding="utf-8") as lines:
        for row, line in enumerate(filled(lines), 1):
            words = line.split()
            if len(words) < N_WORDS:
                raise TableError(f"{path.name}: row {row} must have {N_WORDS} words; got {len(words)}.")
            yield words


def read_people(fam: Path) -> tuple[str, ...]:
    """Return the id of each person."""
    ids = tuple(words[1] for words in read_rows(fam))
    if not ids:
        raise TableError(f"{fam.name}: must have at least one person; got none.")
    return ids


def read_variants(bim: Path) -> Iterator[Variant]:
    return (Variant(words[1], words[4], words[5]) for words in read_rows(bim))


def read_columns(bim: Path) -> tuple[str, ...]:
    """Return the name of each variant's column; raise when two variants have one id."""
    variants = list(read_variants(bim))
    if not variants:
        raise TableError(f"{bim.name}: must have at least one variant; got none.")
    [(most, times)] = Counter(variant.id for variant in variants).most_common(1)
    if times > 1:
        raise TableError(
            f"{bim.name}: ids of variants must differ (plink2 --set-all-var-ids makes new ones); "
            f"got {most!r} {times} times."
        )
    return tuple(column_name(variant.id, variant.counted) for variant in variants)


def column_name(variant: str, allele: str) -> str:
    return f"{variant}_{allele}"


def find_columns(names: Sequence[str], variants: Iterable[Variant]) -> tuple[np.ndarray, np.ndarray]:
    """Return for each name the place of its variant, -1 where there is none, and whether the file counts the other.

    >>> find_columns(["rs2_T", "rs1_A", "rs3_A"], [Variant("rs1", "A", "G"), Variant("rs2", "C", "T")])
    (array([ 1,  0, -1]), array([ True, False, False]))
    """
    wanted = {name: j for j, name in enumerate(names)}
    places = np.full(len(names), -1)
    swapped = np.zeros(len(names), dtype=bool)
    for place, variant in enumerate(variants):
        for allele, is_other in ((variant.other, True), (variant.counted, False)):
            j = wanted.get(column_name(variant.id, allele))
            if j is not None:
                places[j] = place
                swapped[j] = is_other
    return places, swapped


# --- choices and checks ---------------------------------------------------------------------------


def find_people(people: Any, ids: tuple[str, ...]) -> np.ndarray:
    """Return the places of the people asked for, which are places already or ids."""
    wanted = np.asarray(people, dtype=object)
    if wanted.ndim == 1 and wanted.size:
        if all(isinstance(person, str) for person in wanted):
            return find_ids(wanted, ids)
        if all(isinstance(person, int | np.integer) and not isinstance(person, bool) for person in wanted):
            return checked_places(wanted, len(ids))
    raise TableError(f"genotypes: people must be a list of places or of ids, not empty; got {short(people)}.")


def checked_places(wanted: np.ndarray, n_people: int) -> np.ndarray:
    for place in wanted:
        if not 0 <= place < n_people:
            raise TableError(f"genotypes: people must be places from 0 to {n_people - 1}; got {place}.")
    return wanted.astype(np.intp)


def find_ids(wanted: np.ndarray, ids: tuple[str, ...]) -> np.ndarray:
    place = {person: row for row, person in enumerate(ids)}
    times = Counter(ids)
    for person in wanted:
        if times[person] == 0:
            raise TableError(
                f"genotypes: people must be among the {len(ids)} ids of the file; "
                f"got {person!r}{suggestion(person, ids)}."
            )
        if times[person] > 1:
            raise TableError(
                f"genotypes: people must be places where an id is not unique; "
                f"got {person!r}, which the file has {times[person]} times."
            )
    return np.array([place[person] for person in wanted])


def short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]} …"


def default_block_variants(n_people: int) -> int:
    return max(1, BLOCK_BYTES // (n_people * Genotypes.dtype.itemsize))


def check_block_variants(width: Any) -> None:
    if not isinstance(width, int | np.integer) or isinstance(width, bool) or width < 1:
        raise TableError(f"genotypes: block_variants must be an integer above 0; got {width!r}.")


def check_begin(path: Path) -> None:
    """Raise unless there is a file that begins as PLINK 1 writes it; other formats are called .bed too."""
    check_is_file(path)
    with open(path, "rb") as file:
        begin = file.read(len(MAGIC))
    if begin != MAGIC:
        raise TableError(
            f"{path.name}: must be a PLINK 1 file that lies variant by variant, which begins with the bytes "
            f"{MAGIC.hex()}; got {begin.hex() or 'none'}."
        )


def check_size(path: Path, n_people: int, n_variants: int) -> None:
    """Raise for a file that was cut, or that does not belong to the files beside it."""
    size = path.stat().st_size
    expected = len(MAGIC) + n_variants * -(-n_people // PEOPLE_PER_BYTE)
    if size != expected:
        raise TableError(
            f"{path.name}: must have {expected} bytes for the {n_people} people of .fam and the {n_variants} variants "
            f"of .bim; got {size}."
        )
