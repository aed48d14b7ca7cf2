"""The full softmax: the steps of plain loops, and losses that are cross-entropies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenwood.core.words import softmax
from eigenwood.core.words.cbow import Schedule
from eigenwood.core.words.pairs import contexts_of
from eigenwood.core.words.softmax import BATCH, examples_of, softmax_steps, train_on
from eigenwood.core.words.workspace import ContextParams
from tests.core.words.test_cbow import text_of, weights_of
from tests.naive import words as naive


@pytest.mark.parametrize("corrected", [0, 1])
def test_equals_the_textbook(corrected):
    text, rule = text_of(40, 12), ContextParams(2, 1, corrected)
    places = np.flatnonzero(text.ids >= 0)
    examples = contexts_of(text.ids, places, np.full(places.size, 2), 12)
    weights = weights_of(12)
    expected = weights.astype(np.float64)
    loss = train_on(weights, examples, rule, np.float32(0.2))
    group = [(int(text.ids[k]), naive.context_of(text.ids.tolist(), k, 2)) for k in places]
    group = [(word, context) for word, context in group if context]
    naive_loss = sum(
        naive.softmax_batch(expected, group[i : i + BATCH], rule, 0.2) for i in range(0, len(group), BATCH)
    )
    assert loss == pytest.approx(naive_loss, rel=1e-5)
    assert_allclose(weights, expected, atol=1e-5)


def test_it_learns_what_follows_what():
    ids = np.array([0, 1, 2, -1, 3, 4, 5, -1] * 40, dtype=np.int32)
    text = text_of(10, 6)._replace(ids=ids)
    weights = weights_of(6, scale=0.01)
    *_, last = softmax_steps(weights, text, ContextParams(1, 1, 1), Schedule(8, 0.3, 0.1), np.arange(8))
    assert last.losses[0] < np.log(6) + 0.1
    assert 2 / 3 * np.log(2) < last.losses[-1] < 0.5  # the middle word tells nothing about which of both others it is
    assert last.n_examples.tolist() == [240] * 8


def test_pieces_say_how_much_of_the_text_they_end(monkeypatch):
    monkeypatch.setattr(softmax, "PIECE", 9)
    shares = [share for _, share in examples_of(text_of(60, 12), ContextParams(2, 1, 1), seed=0)]
    assert len(shares) > 2
    np.testing.assert_allclose(np.diff(shares, prepend=0.0), 1.0 / len(shares))
    assert shares[-1] == 1.0
