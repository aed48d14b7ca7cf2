"""Bags of words: the vocabulary and the matrix of scikit-learn, to the last bit, and how long that takes."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality

N_DOCUMENTS = 50_000


def as_arrays(documents: list[str], source: str) -> Arrays:
    """Return documents as one array of bytes and where they end: a fixed width would be that of the longest."""
    encoded = [document.encode() for document in documents]
    return {
        "letters": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ends": np.cumsum([len(document) for document in encoded]),
        "source": np.array(source),
    }


def documents_of(arrays: Arrays) -> list[str]:
    letters, ends = arrays["letters"].tobytes(), arrays["ends"].tolist()
    return [letters[begin:end].decode() for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def reviews() -> Arrays:
    from eigenwood.data.datasets import load

    return as_arrays(load("polarity").X, "polarity")


def reviews_and_messages() -> Arrays:
    from eigenwood.data.datasets import load

    return as_arrays([*load("polarity").X, *load("sms_spam").X], "polarity and sms_spam")


def encyclopedia() -> Arrays:
    """Return the corpus cut into 50,000 documents of as many words."""
    from eigenwood.data.datasets import load

    words = load("enwiki").X[0].split(" ")
    size = -(-len(words) // N_DOCUMENTS)
    return as_arrays([" ".join(words[at : at + size]) for at in range(0, len(words), size)], "enwiki")


def small(arrays: Arrays) -> Arrays:
    ends = arrays["ends"][:20]
    return {**arrays, "letters": arrays["letters"][: ends[-1]], "ends": ends}


class Counting:
    """Makes texts of the arrays and counts their words."""

    def __init__(self, vectorizer):
        self.vectorizer = vectorizer

    def __call__(self, arrays: Arrays):
        return self.vectorizer, self.vectorizer.fit_transform(documents_of(arrays))


def ours(**options):
    def contender(threads):
        from eigenwood import BagOfWords

        return Counting(BagOfWords(n_jobs=threads, **options))

    return contender


def scikit_learn(**options):
    def contender(threads):
        from sklearn.feature_extraction.text import CountVectorizer

        return Counting(CountVectorizer(**options))

    return contender


def reading_alone(threads):
    """A yardstick: making texts of the bytes, which everybody does while the clock is on."""
    return lambda arrays: documents_of(arrays) and None


def same_as_scikit_learn(arrays: Arrays, result) -> float:
    """Return 1 if vocabulary and matrix are those of CountVectorizer, to the last bit."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer, counts = result
    names = set(CountVectorizer().get_params())
    theirs = CountVectorizer(**{name: value for name, value in vectorizer.get_params().items() if name in names})
    expected = theirs.fit_transform(documents_of(arrays))
    parts = ("data", "indices", "indptr")
    same = all(np.array_equal(getattr(counts, part), getattr(expected, part)) for part in parts)
    return float(same and vectorizer.vocabulary_ == theirs.vocabulary_)


def contenders(**options):
    return {"eigenwood": ours(**options), "scikit-learn": scikit_learn(**options), "reading alone": reading_alone}


QUALITY = Quality("identical", same_as_scikit_learn, better="higher")
TARGET = "5 x scikit-learn, identical"

CASES = [
    Case("polarity_sms", reviews_and_messages, contenders(), QUALITY, TARGET, small=small),
    Case("enwiki_50k", encyclopedia, contenders(), QUALITY, TARGET, small=small),
    Case("polarity_pairs", reviews, contenders(ngram_range=(1, 2)), QUALITY, TARGET, small=small),
    Case("polarity_top", reviews, contenders(max_features=5000, min_df=2), QUALITY, TARGET, small=small),
]
