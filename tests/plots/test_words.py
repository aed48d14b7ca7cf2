"""Figures of word vectors: a map, losses, and analogies by section."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import eigenwood.plots as plots
from eigenwood import CBOW, PCA, WordVectors
from eigenwood.errors import InputError
from eigenwood.estimators.words.evaluation import AnalogyScores, SectionScore

NAMES = ["king", "queen", "man", "woman", "<b>tea"]
VECTORS = np.random.default_rng(0).normal(size=(5, 4))


@pytest.fixture
def model():
    return WordVectors(NAMES, VECTORS)


def test_a_map_has_the_words_at_their_first_components(model):
    figure = plots.words(model)
    rows = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    expected = PCA(2).fit(rows.astype(np.float32)).transform(rows.astype(np.float32))
    points = np.column_stack([figure.data[0].x, figure.data[0].y])
    assert_allclose(points, expected, atol=1e-6)
    assert len(figure.layout.annotations) == 5
    assert plots.words(model, ["king", "man", "woman"]).data[0].x.size == 3
    assert plots.words(model, n=4).data[0].x.size == 4


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda model: plots.words(model, ["king", "wine", "man"]), "words must be in the vocabulary"),
        (lambda model: plots.words(model, ["king", "man"]), "words must be at least 3; got 2"),
        (lambda model: plots.words(PCA()), "the model must be one of words; got PCA"),
        (lambda model: plots.losses(model), "the model must be a fitted CBOW; got WordVectors"),
        (lambda model: plots.analogies([1]), "scores must be those of evaluate_analogies; got list"),
    ],
)
def test_what_cannot_be_drawn(model, ask, what):
    with pytest.raises(InputError, match=what):
        ask(model)


def test_losses_of_epochs_and_of_text_that_is_held_out():
    text = ["a b c", "b c d"] * 6
    fitted = CBOW(3, min_count=1, subsample=None, epochs=3, validation_fraction=0.3).fit(text)
    training, validation = plots.losses(fitted).data
    assert training.x.tolist() == [1, 2, 3]
    assert_allclose(training.y, fitted.losses_)
    assert_allclose(validation.y, fitted.validation_losses_)
    assert len(plots.losses(CBOW(3, min_count=1, subsample=None, epochs=2).fit(text)).data) == 1


def test_a_bar_for_each_section_that_was_asked():
    scores = AnalogyScores(
        (SectionScore("family", 3, 4, 1), SectionScore("currency", 0, 0, 9), SectionScore("x", 0, 2, 0))
    )
    (bars,) = plots.analogies(scores).data
    assert list(bars.y) == ["family", "x"]
    assert list(bars.x) == [0.75, 0.0]
    assert list(bars.text) == ["75.0 %  (3 of 4)", "0.0 %  (0 of 2)"]
