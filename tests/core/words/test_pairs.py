"""Contexts as matrices: they hold the words that plain loops find."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.words.pairs import contexts_of, meetings
from eigenwood.core.words.workspace import SENTENCE_END
from tests.naive import words as naive

IDS = np.array([0, 1, 2, 1, -1, 3, -1, -1, 4, 4, 0, 2, 1], dtype=np.int32)


@pytest.mark.parametrize("window", [1, 2, 7])
def test_contexts_end_with_the_sentence(window):
    places = np.flatnonzero(IDS != SENTENCE_END)
    found = contexts_of(IDS, places, np.full(places.size, window), 5)
    expected = [(IDS[k], naive.context_of(IDS.tolist(), k, window)) for k in places]
    expected = [(word, context) for word, context in expected if context]
    assert found.centres.tolist() == [word for word, _ in expected]
    assert found.sizes.tolist() == [len(context) for _, context in expected]
    shares = [np.bincount(context, minlength=5) / len(context) for _, context in expected]
    assert_allclose(found.shares.toarray(), shares, rtol=1e-6)


def test_each_word_has_its_own_reach():
    found = contexts_of(IDS, np.array([1, 10]), np.array([1, 2]), 5)
    assert_allclose(found.shares.toarray(), [[0.5, 0, 0.5, 0, 0], [0, 0.25, 0.25, 0, 0.5]])


@pytest.mark.parametrize("window", [1, 3, 50])
def test_meetings_are_symmetric_and_counted_once_for_each_side(window):
    found = meetings(IDS, window, 5).toarray()
    assert_array_equal(found, naive.meetings(IDS, window, 5))
    assert_array_equal(found, found.T)


def test_nobody_meets_in_sentences_of_one_word():
    assert meetings(np.array([0, -1, 1, -1], dtype=np.int32), 3, 2).nnz == 0
