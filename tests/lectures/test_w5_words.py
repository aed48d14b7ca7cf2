"""W5-W7 (the boosting and SVM lecture, *(Word) Embedding*): context in, word out; king - man + woman; orthogonal
embeddings."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose

from eigenwood import CBOW, CovarianceEmbedding, WordVectors
from eigenwood.core.words.pairs import contexts_of
from eigenwood.data.datasets import data_home, load

# A hypothetical word vector representation: royalty, masculinity, femininity, age.
KING, QUEEN, WOMAN, PRINCESS = (
    [0.98, 0.98, 0.05, 0.7],
    [0.98, 0.04, 0.92, 0.6],
    [0.01, 0.02, 0.99, 0.5],
    [0.93, 0.02, 0.95, 0.2],
)
MAN = [0.01, 0.98, 0.05, 0.6]  # the deck's answer


@pytest.fixture
def table():
    rows = {"king": KING, "queen": QUEEN, "woman": WOMAN, "princess": PRINCESS, "man": MAN}
    return WordVectors(rows, list(rows.values()))


def test_what_would_be_the_vector_for_man():
    """King : queen is man : woman, so man is about king - queen + woman."""
    assert_allclose(np.array(KING) - QUEEN + WOMAN, MAN, atol=0.11)


def test_king_less_man_plus_woman_is_queen(table):
    assert table.analogy("king", "man", "woman", n=1)[0][0] == "queen"
    assert_allclose(np.array(KING) - MAN + WOMAN, QUEEN, atol=0.1)


def test_king_is_to_man_as_queen_is_to_woman(table):
    assert table.analogy("queen", "king", "man", n=1)[0][0] == "woman"
    assert_allclose(np.array(KING) - MAN, np.array(QUEEN) - WOMAN, atol=0.16)


def test_the_decks_example_of_context_and_word():
    """ "I really liked the drama", a window of five words around "liked"."""
    words = ["I", "really", "liked", "the", "drama"]
    found = contexts_of(np.arange(5, dtype=np.int32), np.array([2]), np.array([2]), 5)
    assert [words[i] for i in found.shares.indices] == ["I", "really", "the", "drama"]
    assert words[found.centres[0]] == "liked"


@pytest.mark.skipif(config.DISABLE_JIT, reason="takes too long in plain Python")
def test_liked_and_loved_are_alike():
    """Bag of words lacks it: words of the same contexts have no column in common."""
    text = [
        f"I {really} {verb} the {what}"
        for really in ("really", "simply", "just")
        for verb in ("liked", "loved")
        for what in ("drama", "scene", "role")
    ] + [f"three {how} hours" for how in ("boring", "dull", "slow")] * 6
    for loss in ("negative_sampling", "softmax"):
        model = CBOW(8, window=2, min_count=1, subsample=None, loss=loss, learning_rate=0.2, epochs=30).fit(text * 3)
        assert model.most_similar("liked", n=1)[0][0] == "loved"
        assert model.similarity("liked", "loved") > model.similarity("liked", "boring") + 0.3


def test_embeddings_as_a_generalisation_of_pca():
    """The deck's matrix of three sentences and five words: orthogonal directions in decreasing importance."""
    D = np.array([[2, 5, 0, 0, 0], [5, 3, 1, 2, 0], [0, 0, 1, 3, 5]])
    text = [np.repeat(list("vwxyz"), counts).tolist() for counts in D]
    model = CovarianceEmbedding(2, matrix="counts", power=0, min_count=1).fit(text)
    columns = ["vwxyz".index(word) for word in model.vocabulary_]
    covariance = np.cov(D.T)[np.ix_(columns, columns)]
    first, second = model.components_
    assert_allclose(covariance @ first, model.explained_variance_[0] * first, atol=1e-10)
    assert abs(first @ second) < 1e-12
    assert model.explained_variance_[0] > model.explained_variance_[1]


def test_two_variables_of_unit_variance():
    """Tutorial 10: cov(X1, X2) = θ has the eigenvectors (1, 1) and (1, -1), with 1 + θ and 1 - θ."""
    values, vectors = np.linalg.eigh(np.array([[1.0, 0.3], [0.3, 1.0]]))
    assert_allclose(values, [0.7, 1.3])
    assert_allclose(np.abs(vectors), np.full((2, 2), np.sqrt(0.5)))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="takes too long in plain Python")
def test_vectors_of_wikipedia_answer_capitals():
    """A small run: 3 epochs, the 10,000 most frequent words, lower case. Chance is 1 in 10,000."""
    model = CBOW(40, max_vocab=10_000, epochs=3, negatives=3).fit(load("enwiki").X)
    home = data_home()
    assert home is not None
    scores = model.evaluate_analogies(home / "word_eval" / "questions-words.txt.xz")
    sections = {section.section: section for section in scores.sections}
    capitals = sections["capital-common-countries"]
    assert capitals.n_asked == 132
    assert capitals.accuracy > 0.05
    assert sections["family"].accuracy > 0.1
    assert model.evaluate_similarity(home / "word_eval" / "wordsim353.tsv").correlation > 0.3
