"""S5 (decks A, B): genomes, few people and many SNPs; two components show where people come from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

import eigenwood
from eigenwood import PCA, verify
from eigenwood.data import datasets
from eigenwood.data.genotypes import Genotypes, genotypes

CONTINENTS = {
    "AFR": ("ASW", "LWK", "MKK", "YRI"),
    "AMR": ("CLM", "MEX", "MXL", "PUR"),
    "EAS": ("CHB", "CHD", "CHS", "JPT"),
    "EUR": ("CEU", "FIN", "GBR", "IBS", "TSI"),
    "SAS": ("GIH",),
}
CONTINENT_OF = {population: continent for continent, several in CONTINENTS.items() for population in several}


def nearest(points, among=None):
    """Return for each point the place of the nearest of others."""
    if among is None:
        return NearestNeighbors(n_neighbors=1).fit(points).kneighbors(return_distance=False)[:, 0]
    return NearestNeighbors(n_neighbors=1).fit(among).kneighbors(points, return_distance=False)[:, 0]


# ---- 1000 Genomes ------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("scale", "silhouette", "alike"), [(False, 0.678, 0.936), ("allele_frequency", 0.692, 0.955)], ids=str
)
def test_two_components_separate_the_continents(scale, silhouette, alike):
    """2,504 people x 23,770 SNPs, five super-populations.

    Measured on two components: silhouette 0.678 (scaled by allele frequency 0.692), and the nearest other person is
    from the same super-population for 93.6 % (95.5 %). Africa, Europe, East and South Asia are groups of their own;
    the Americas lie between them, as their people's ancestors do, and have a silhouette below 0.
    """
    people = datasets.load("genomes")
    X = people.X.astype(np.float32)
    model = PCA(2, scale=scale, n_jobs=2).fit(X)
    points = model.transform(X)
    each = silhouette_samples(points, people.y)
    assert X.shape == (2504, 23770)
    assert model.certificate_.holds
    assert each.mean() == pytest.approx(silhouette, abs=0.01)
    assert np.mean(people.y[nearest(points)] == people.y) == pytest.approx(alike, abs=0.01)
    by_continent = {continent: each[people.y == continent].mean() for continent in sorted(set(people.y))}
    assert [name for name, value in by_continent.items() if value > 0.6] == ["AFR", "EAS", "EUR", "SAS"]
    assert by_continent["AMR"] < 0.0


# ---- HapMap3, and people of 1000 Genomes on its axes -------------------------------------------------------------


class Study(NamedTuple):
    """The people of a PLINK file, and the continents of their populations ("" where not known)."""

    X: Genotypes
    continents: np.ndarray


def study(path, populations):
    return Study(genotypes(path), np.array([CONTINENT_OF.get(population, "") for population in populations]))


@pytest.fixture(scope="module")
def studies():
    """HapMap3, whose people make the axes, and 1000 Genomes phase 1, whose people are projected on them."""
    hapmap = datasets.load("hapmap3")
    guests = study(hapmap.X["genomes_overlap"], hapmap.extras["genomes_populations"])
    return study(hapmap.X["hapmap3_overlap"], hapmap.y), guests


@pytest.fixture(scope="module")
def stored(studies, tmp_path_factory):
    """The axes of HapMap3, out of a model file: the first four."""
    path = tmp_path_factory.mktemp("axes") / "hapmap3.safetensors"
    eigenwood.save(PCA(4, scale="allele_frequency", n_jobs=2).fit(studies[0].X), path)
    return eigenwood.load(path)


@pytest.mark.data
def test_the_axes_come_from_the_file_block_by_block(studies, stored):
    """957 people x 14,079 SNPs, 2 bits each on disk. The Gram matrix of all people gives the same axes."""
    hapmap = studies[0].X
    assert hapmap.shape == (957, 14079)
    assert verify(stored, hapmap).holds
    by_gram = PCA(4, scale="allele_frequency", svd_solver="gram_eigh", n_jobs=2).fit(hapmap)
    np.testing.assert_allclose(by_gram.components_, stored.components_, atol=1e-5)


@pytest.mark.data
def test_who_is_in_both_studies_lies_at_the_same_place(studies, stored):
    """564 people, genotyped twice, 190 of the SNPs counted by the other allele.

    Largest difference of a score: 0.68, where scores have a deviation of 19.6 on the first axis and 9.4 on the fourth.
    """
    hapmap, guests = (some.X for some in studies)
    first, second = stored.transform(hapmap), stored.transform(guests)
    here, there = (dict(zip(some.people, range(some.n_people), strict=True)) for some in (hapmap, guests))
    both = [person for person in hapmap.people if person in there]
    difference = first[[here[person] for person in both]] - second[[there[person] for person in both]]
    assert len(both) == 564
    assert sum(a != b for a, b in zip(hapmap.columns, guests.columns, strict=True)) == 190
    assert np.abs(difference).max() < 0.1 * first.std(axis=0).min()


@pytest.mark.data
@pytest.mark.parametrize(("k", "right", "right_without_americas"), [(2, 0.862, 0.927), (4, 0.944, 0.960)])
def test_strangers_lie_where_their_continent_lies(studies, stored, k, right, right_without_americas):
    """The 501 people of 1000 Genomes who are not in HapMap3 and whose population is known: whom are they next to?

    Next to somebody from their continent: 86.2 % on two components, 94.4 % on four. Without the Americas, for which
    HapMap3 has only Mexicans: 92.7 % and 96.0 %; all of East Asia and 97.0 % of Africa on both.
    """
    hapmap, guests = studies
    among, points = (stored.transform(some.X)[:, :k] for some in studies)
    strangers = ~np.isin(guests.X.people, hapmap.X.people) & (guests.continents != "")
    truth = guests.continents[strangers]
    is_right = hapmap.continents[nearest(points[strangers], among)] == truth
    assert truth.size == 501
    assert is_right.mean() == pytest.approx(right, abs=0.01)
    assert is_right[truth != "AMR"].mean() == pytest.approx(right_without_americas, abs=0.01)
    assert is_right[truth == "EAS"].all()
    assert is_right[truth == "AFR"].mean() > 0.96
