"""Continuous bag of words on Wikipedia: from the text to vectors, the vocabulary included; seeds are averaged.

The text is one sentence of 5.09 million words. Gensim cuts sentences at 10,000 words and drops the rest, so it gets
pieces of that length; both count words and train in the clocked part, each with its own defaults for what is not given.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Arrays, Case, Quality

EPOCHS, DIM, WINDOW, NEGATIVES, MIN_COUNT = 5, 100, 5, 5, 5
LONGEST = 10_000  # words of a sentence for gensim
SEEDS = (0, 1, 2)
MOST_FREQUENT = 30_000  # words that take part in analogies


def wikipedia() -> Arrays:
    """Return the bytes of the text."""
    from eigenwood.data.datasets import load

    text = np.frombuffer(load("enwiki").X[0].encode("ascii"), dtype=np.uint8)
    return {"text": text, "source": np.array("enwiki")}


def first_letters(arrays: Arrays) -> Arrays:
    """Return enough text to compile and to start libraries."""
    return {**arrays, "text": arrays["text"][:300_000]}


def text_of(arrays: Arrays) -> str:
    return arrays["text"].tobytes().decode("ascii")


# ---- contenders


def ours(threads, **params):
    from eigenwood import CBOW

    def run(arrays):
        text = text_of(arrays)
        settings = {"window": WINDOW, "min_count": MIN_COUNT, "negatives": NEGATIVES, "epochs": EPOCHS, **params}
        return [CBOW(DIM, random_state=seed, n_jobs=threads, **settings).fit([text]) for seed in SEEDS]

    return run


def ours_historical(threads):
    return ours(threads, corrected=False, learning_rate=0.05)


def gensim(threads):
    from gensim.models import Word2Vec

    def run(arrays):
        words = text_of(arrays).split()
        sentences = [words[i : i + LONGEST] for i in range(0, len(words), LONGEST)]
        settings = {
            "vector_size": DIM,
            "window": WINDOW,
            "negative": NEGATIVES,
            "epochs": EPOCHS,
            "min_count": MIN_COUNT,
        }
        return [Word2Vec(sentences, sg=0, workers=threads, seed=seed, **settings) for seed in SEEDS]

    return run


# ---- qualities


def vectors_of(model):
    """Return the words and vectors of either library, in one class that asks the questions."""
    from eigenwood import WordVectors

    if hasattr(model, "wv"):
        return WordVectors(model.wv.index_to_key, model.wv.vectors)
    return model


def analogy_accuracy(arrays: Arrays, models) -> float:
    """Return the share of Google's analogies answered rightly among the 30,000 most frequent words; a mean of seeds."""
    from eigenwood.data.datasets import data_home

    path = data_home() / "word_eval" / "questions-words.txt.xz"
    return float(np.mean([vectors_of(model).evaluate_analogies(path, MOST_FREQUENT).accuracy for model in models]))


def wordsim_correlation(arrays: Arrays, models) -> float:
    """Return Spearman's correlation with WordSim-353; a mean of seeds."""
    from eigenwood.data.datasets import data_home

    path = data_home() / "word_eval" / "wordsim353.tsv"
    return float(np.mean([vectors_of(model).evaluate_similarity(path).correlation for model in models]))


ANALOGIES = Quality("analogies", analogy_accuracy, better="higher")
WORDSIM = Quality("WordSim-353", wordsim_correlation, better="higher")
CONTENDERS = {"eigenwood": ours, "eigenwood not corrected": ours_historical, "gensim": gensim}

CASES = [
    Case(
        name="wikipedia_analogies",
        make=wikipedia,
        contenders=CONTENDERS,
        quality=ANALOGIES,
        target="twice as fast as gensim at its accuracy",
        small=first_letters,
    ),
    Case(
        name="wikipedia_wordsim",
        make=wikipedia,
        contenders=CONTENDERS,
        quality=WORDSIM,
        target="twice as fast as gensim at its correlation",
        small=first_letters,
    ),
]
