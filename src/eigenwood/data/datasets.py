"""Data sets by name: ``load("heart")``.

The small ones come with the package. The large ones lie in the data home (see ``sets.home``); where
scikit-learn can fetch a set from the internet, that is the second route.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from eigenwood.data.naming import listing, suggestion
from eigenwood.data.sets import bundled, genomes, images, tabular, texts
from eigenwood.data.sets.bundled import bundled_file
from eigenwood.data.sets.home import VARIABLE, data_home
from eigenwood.data.sets.record import Dataset, Split
from eigenwood.errors import TableError

__all__ = ["Dataset", "Split", "bundled_file", "data_home", "describe", "load", "names"]


class Recipe(NamedTuple):
    """How one data set is made."""

    description: str
    make: Callable[..., Dataset]
    needs: tuple[str, ...] = ()  # files in the data home; none for a bundled set
    fetch: Callable[..., Dataset] | None = None  # by way of scikit-learn


RECIPES: dict[str, Recipe] = {
    "uk_foods": Recipe("What 4 countries eat: 17 foods, grams per person and week", bundled.uk_foods),
    "play_tennis": Recipe("14 days, their weather, and whether tennis was played", bundled.play_tennis),
    "ten_points": Recipe("10 points in the plane that three stumps separate", bundled.ten_points),
    "reviews": Recipe("4 reviews of a drama, liked or not liked", bundled.reviews),
    "heart": Recipe("Cleveland heart disease: 303 patients, 13 findings, 6 missing", bundled.heart),
    "covertype": Recipe(
        "Forest cover type: 581,012 patches, 54 features, 7 classes",
        tabular.covertype,
        ("covtype/covtype.parquet",),
        tabular.fetch_covertype,
    ),
    "covertype2": Recipe(
        "Spruce-fir or lodgepole pine: classes 1 and 2 of covertype, 49,514 to train and 445,627 to test",
        tabular.covertype2,
        ("covtype/covtype.parquet",),
        tabular.fetch_covertype2,
    ),
    "mnist": Recipe(
        "Handwritten digits: 60,000 to train and 10,000 to test, 28 x 28 pixels",
        images.mnist,
        tuple(f"mnist/{part}-{what}-ubyte.gz" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")),
        images.fetch_mnist,
    ),
    "faces": Recipe(
        "Olivetti faces: 40 people, 10 pictures each, 64 x 64 pixels",
        images.faces,
        ("olivetti_orl/olivettifaces.mat",),
        images.fetch_faces,
    ),
    "orl_faces": Recipe(
        "The same faces in full size, 112 x 92 pixels",
        images.orl_faces,
        ("olivetti_orl/orl_faces.tar.xz",),
    ),
    "genomes": Recipe(
        "1000 Genomes: 2,504 people, 23,770 SNPs, 26 populations",
        genomes.genomes,
        ("1kg_peddy/GRCH37.sites.bin.gz", "1kg_peddy/GRCH37.sites", genomes.PANEL),
    ),
    "hapmap3": Recipe(
        "HapMap3: 957 people, 14,389 SNPs, 11 populations, as PLINK files",
        genomes.hapmap3,
        ("hapmap3/data.bed.xz", "hapmap3/relationships_w_pops_121708.txt", genomes.PANEL),
    ),
    "adult": Recipe(
        "Census income: 48,842 people, 14 features, categories and missing values",
        tabular.adult,
        ("adult/adult.data.xz", "adult/adult.test.xz"),
        tabular.fetch_adult,
    ),
    "a9a": Recipe(
        "Census income as 123 binary features, sparse",
        tabular.a9a,
        ("a9a/a9a.xz", "a9a/a9a.t.xz"),
    ),
    "california_housing": Recipe(
        "House values of 20,640 districts, 8 features",
        tabular.california_housing,
        ("california_housing/cal_housing.data.xz",),
        tabular.fetch_housing,
    ),
    "spambase": Recipe(
        "Spam or not: 4,601 mails, 57 frequencies",
        tabular.spambase,
        ("spambase/spambase.data.xz",),
        tabular.fetch_spambase,
    ),
    "sms_spam": Recipe(
        "Spam or ham: 5,574 text messages",
        texts.sms_spam,
        ("sms_spam/SMSSpamCollection.xz",),
    ),
    "polarity": Recipe(
        "Movie reviews: 1,000 liked, 1,000 not liked",
        texts.polarity,
        ("polarity/review_polarity.tar.gz",),
    ),
    "enwiki": Recipe(
        "English Wikipedia, lower case a-z, 5.09 million words",
        texts.enwiki,
        (texts.ENWIKI,),
    ),
    "word_eval": Recipe(
        "19,544 word analogies, and word pairs with human similarity scores",
        texts.word_eval,
        ("word_eval/questions-words.txt.xz", "word_eval/wordsim353.tsv", "word_eval/simlex999.txt"),
    ),
}


def names() -> tuple[str, ...]:
    """Return the names that ``load`` knows.

    >>> names()[:3]
    ('uk_foods', 'play_tennis', 'ten_points')
    """
    return tuple(RECIPES)


def describe() -> dict[str, str]:
    """Return one line about every data set, by name."""
    return {name: recipe.description for name, recipe in RECIPES.items()}


def load(name: str, **options: Any) -> Dataset:
    """Return a data set by name.

    >>> heart = load("heart")
    >>> heart.X.shape, heart.target_name, int((heart.y == "yes").sum())
    ((303, 13), 'disease', 139)
    """
    if name not in RECIPES:
        raise TableError(f"datasets: name must be one of {listing(RECIPES)}; got {name!r}{suggestion(name, RECIPES)}.")
    recipe = RECIPES[name]
    if not recipe.needs:
        return recipe.make(recipe.description, **options)
    home = data_home()
    if home is not None and all((home / file).exists() for file in recipe.needs):
        return recipe.make(recipe.description, home, **options)
    return fetched(name, recipe, home)


def fetched(name: str, recipe: Recipe, home: Path | None) -> Dataset:
    """Return the data set from the internet, or say which file would help."""
    absent = next(file for file in recipe.needs if home is None or not (home / file).exists())
    cure = f"set {VARIABLE} to a folder that holds {absent}"
    if recipe.fetch is None:
        raise TableError(f"datasets: {name} is not in the data home and cannot be fetched; {cure}.")
    try:
        return recipe.fetch(recipe.description)
    except Exception as error:  # no network, a moved page, a bad download: the cure is the same
        raise TableError(f"datasets: {name} is not in the data home and could not be fetched; {cure}.") from error
