"""Data sets that are genomes: people x SNPs, each value the number of alternative alleles."""

import gzip
import lzma
import shutil
import tempfile
from pathlib import Path

import numpy as np

from eigenwood.data.naming import whole_file
from eigenwood.data.sets.record import Dataset

N_PEOPLE = 2_504  # of the 2,535 in the panel; the last 31 are relatives without genotypes here
PANEL = "1kg_peddy/integrated_call_samples_v3.20130502.ALL.panel"

# What the three PLINK files of the folder hold.
PLINK_STEMS = {
    "hapmap3": "data",
    "hapmap3_overlap": "HM3_thinned_autosomal_overlap",
    "genomes_overlap": "1kg_phase1_thinned_autosomal_overlap",
}
UNKNOWN_POPULATION = ""


def read_panel(home: Path) -> np.ndarray:
    """Return sample, population, super-population and gender of each person, shape (n_people, 4)."""
    lines = (home / PANEL).read_text().splitlines()[1:]
    return np.array([line.split("\t")[:4] for line in lines], dtype=object)


def genomes(description: str, home: Path) -> Dataset:
    """The file holds SNPs x people; X holds people x SNPs, bytes 0, 1 or 2."""
    folder = home / "1kg_peddy"
    packed = gzip.decompress((folder / "GRCH37.sites.bin.gz").read_bytes())
    by_snp = np.frombuffer(packed, dtype=np.uint8).reshape(-1, N_PEOPLE)
    sample, population, super_population, gender = read_panel(home)[:N_PEOPLE].T
    return Dataset(
        name="genomes",
        description=description,
        X=np.ascontiguousarray(by_snp.T),
        y=super_population,
        feature_names=tuple((folder / "GRCH37.sites").read_text().split()),
        target_name="super_population",
        row_labels={"sample": sample, "population": population, "gender": gender},
    )


def hapmap3(description: str, home: Path, cache_dir: str | Path | None = None) -> Dataset:
    """X holds the paths of PLINK .bed files, unpacked into ``cache_dir``, with .bim and .fam beside them.

        hapmap3           957 people x 14,389 SNPs; y is their population
        hapmap3_overlap   the same people x 14,079 SNPs that 1000 Genomes has too
        genomes_overlap   1,092 people of 1000 Genomes x the same 14,079 SNPs

    ``extras`` has the people and populations of the last; "" where the population is not known.
    """
    cache = Path(cache_dir or Path(tempfile.gettempdir()) / "eigenwood-hapmap3")
    cache.mkdir(parents=True, exist_ok=True)
    beds = {name: unpacked_bed(home / "hapmap3", stem, cache) for name, stem in PLINK_STEMS.items()}
    people = read_people(beds["hapmap3"])
    guests = read_people(beds["genomes_overlap"])
    panel = read_panel(home)
    return Dataset(
        name="hapmap3",
        description=description,
        X=beds,
        y=populations(people, read_relationships(home)),
        feature_names=(),
        target_name="population",
        row_labels={"person": people},
        extras={
            "genomes_people": guests,
            "genomes_populations": populations(guests, dict(panel[:, :2])),
        },
    )


def unpacked_bed(folder: Path, stem: str, cache: Path) -> Path:
    """Unpack the three files of one PLINK set where they are not there yet; return the .bed path."""
    for packed in (f"{stem}.bed.xz", f"{stem}.bim.xz", f"{stem}.fam"):
        target = cache / packed.removesuffix(".xz")
        if not target.exists():
            unpack(folder / packed, target)
    return cache / f"{stem}.bed"


def unpack(packed: Path, target: Path) -> None:
    opener = lzma.open if packed.suffix == ".xz" else open
    with opener(packed, "rb") as source, whole_file(target) as temporary, open(temporary, "wb") as sink:
        shutil.copyfileobj(source, sink)


def read_people(bed: Path) -> np.ndarray:
    """Return the name of each person, the second word of each line in the .fam file."""
    lines = bed.with_suffix(".fam").read_text().splitlines()
    return np.array([line.split()[1] for line in lines], dtype=object)


def read_relationships(home: Path) -> dict[str, str]:
    """Return the population of each HapMap3 person, by name."""
    lines = (home / "hapmap3" / "relationships_w_pops_121708.txt").read_text().splitlines()[1:]
    return {words[1]: words[-1] for words in map(str.split, lines)}


def populations(people: np.ndarray, known: dict[str, str]) -> np.ndarray:
    return np.array([known.get(person, UNKNOWN_POPULATION) for person in people], dtype=object)
