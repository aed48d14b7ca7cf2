"""Random documents: words of random letters by Zipf's law, and random settings of a bag of words."""

from __future__ import annotations

import numpy as np

from benchmarks.anywhere import Workload
from benchmarks.bench_bag_of_words import as_arrays, documents_of, same_as_scikit_learn
from benchmarks.case import Arrays
from benchmarks.random_tables import log_uniform

ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "ABCdefGHIjklmn0123_", "éèüßabcdefghiÀÉ", "αβγδεζηθικλμνξοπρσΣ")
MOST_WORDS = 2_000_000


def random_words(rng: np.random.Generator, n_words: int) -> list[str]:
    """Return words of one to fourteen letters of an alphabet."""
    alphabet = np.array(list(ALPHABETS[rng.integers(len(ALPHABETS))]))
    lengths = rng.integers(1, 15, n_words)
    return ["".join(rng.choice(alphabet, length)) for length in lengths]


def random_documents(rng: np.random.Generator) -> list[str]:
    """Return documents of a few words or of thousands."""
    words = np.array(random_words(rng, log_uniform(rng, 50, 20_000)), dtype=object)
    n_documents, n_each = log_uniform(rng, 200, 50_000), log_uniform(rng, 3, 1000)
    n_documents = max(200, min(n_documents, MOST_WORDS // n_each))
    exponent = rng.uniform(1.05, 2.0)
    sizes = rng.poisson(n_each, n_documents)
    picked = words[(rng.zipf(exponent, sizes.sum()) - 1) % words.size]
    ends = np.cumsum(sizes)
    joint = (" ", ", ", ". ", "\n")[rng.integers(4)]
    return [joint.join(picked[begin:end]) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def random_settings(rng: np.random.Generator) -> dict:
    settings: dict = {}
    if rng.random() < 0.3:
        settings["ngram_range"] = (1, 2)
    if rng.random() < 0.3:
        settings["max_features"] = log_uniform(rng, 10, 2000)
    if rng.random() < 0.2:
        settings["lowercase"] = False
    if rng.random() < 0.2:
        settings["binary"] = True
    return settings


def draw_words(rng: np.random.Generator) -> Workload:
    """Return random documents, settings and who counts their words."""
    arrays, settings = as_arrays(random_documents(rng), "random"), random_settings(rng)
    texts = documents_of(arrays)

    def ours(threads):
        from eigenwood import BagOfWords

        bag = BagOfWords(n_jobs=threads, **settings)
        return lambda _: (bag, bag.fit_transform(texts))

    def theirs(threads):
        from sklearn.feature_extraction.text import CountVectorizer

        vectorizer = CountVectorizer(**settings)
        return lambda _: (vectorizer, vectorizer.fit_transform(texts))

    words = f"{len(texts)} documents, {arrays['letters'].size} bytes, {settings or 'defaults'}"
    return Workload(words, arrays, {"eigenwood": ours, "scikit-learn": theirs})


def identical(arrays: Arrays, result) -> float:
    """Return 1 if the counts are scikit-learn's to the last bit."""
    return same_as_scikit_learn(arrays, result)
