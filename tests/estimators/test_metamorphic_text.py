"""Changes of a text that mean nothing, and what learns from text: the answers stay, or change in the known way.

The order of documents, names of words, repeated documents, the container, the number of threads. What learns from
tables is asked in ``test_metamorphic``.
"""

from __future__ import annotations

import time
from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwood import CBOW, BagOfWords, CovarianceEmbedding, verify
from eigenwood.estimators.registry import ENTRIES, TEXT

pytestmark = pytest.mark.slow

SEEDS = st.integers(0, 2**32 - 1)
MODELS = {
    "bag-of-words": BagOfWords(token_pattern=r"\w+"),
    "cbow": CBOW(4, window=2, min_count=1, subsample=None, epochs=2),
    "covariance-embedding": CovarianceEmbedding(3, min_count=1),
}
VECTORS = ("cbow", "covariance-embedding")


def some(n_cases):
    return settings(max_examples=n_cases, deadline=None)


def text_of(seed: int) -> list[str]:
    """Return sentences of words of one letter, of which some are frequent and each stands beside others."""
    rng = np.random.default_rng(seed)
    frequent = np.minimum(rng.geometric(0.15, size=(60, 8)) - 1, 19)
    return [" ".join(ascii_lowercase[code] for code in row[: rng.integers(3, 9)]) for row in frequent]


def fitted(name, text, **params):
    model = MODELS[name]
    return type(model)(**{**model.get_params(), **params}).fit(text)


def numbers_of(model, text) -> np.ndarray:
    """Return the matrix of counts, or the vectors by the names of their words."""
    if isinstance(model, BagOfWords):
        return model.transform(text).toarray()
    return np.array([model.vector(word) for word in sorted(set(" ".join(text).split()))])


def renamed(text: list[str], new: dict[str, str]) -> list[str]:
    return [" ".join(new[word] for word in sentence.split()) for sentence in text]


def test_everything_that_learns_from_text_is_asked():
    assert set(MODELS) == {entry.name for entry in ENTRIES if entry.task == TEXT}


@some(4)
@given(seed=SEEDS)
def test_the_order_of_documents(seed):
    """Word vectors by rounds read sentences in their order, so another one is another fit."""
    text, order = text_of(seed), np.random.default_rng(seed).permutation(60)
    other = [text[place] for place in order]
    bag = fitted("bag-of-words", text)
    np.testing.assert_array_equal(numbers_of(fitted("bag-of-words", other), other), numbers_of(bag, text)[order])
    vectors = [numbers_of(fitted("covariance-embedding", one), text) for one in (text, other)]
    np.testing.assert_allclose(np.abs(vectors[1]), np.abs(vectors[0]), atol=1e-8)


@some(4)
@given(seed=SEEDS)
def test_the_names_of_words(seed):
    """Names in the same order of the alphabet, since ties of counts are broken by it."""
    text = text_of(seed)
    other = renamed(text, {letter: f"word{letter}" for letter in ascii_lowercase})
    for name in MODELS:
        before, after = numbers_of(fitted(name, text), text), numbers_of(fitted(name, other), other)
        assert before.tobytes() == after.tobytes(), name


@some(4)
@given(seed=SEEDS, times=st.integers(2, 4))
def test_repeated_documents(seed, times):
    """Counts repeat with their documents; what meets how often by chance does not change."""
    text = text_of(seed)
    bag = fitted("bag-of-words", text * times)
    np.testing.assert_array_equal(numbers_of(bag, text), numbers_of(fitted("bag-of-words", text), text))
    vectors = [numbers_of(fitted("covariance-embedding", one), text) for one in (text, text * times)]
    np.testing.assert_allclose(np.abs(vectors[1]), np.abs(vectors[0]), atol=1e-8)


@some(3)
@given(seed=SEEDS)
def test_containers_and_threads(seed):
    text = text_of(seed)
    for name in MODELS:
        whole = numbers_of(fitted(name, text), text).tobytes()
        assert numbers_of(fitted(name, text, n_jobs=2), text).tobytes() == whole, name
        assert numbers_of(fitted(name, tuple(text)), text).tobytes() == whole, name
    for name in VECTORS:
        words = [sentence.split() for sentence in text]
        assert numbers_of(fitted(name, words), text).tobytes() == numbers_of(fitted(name, text), text).tobytes(), name


@pytest.mark.parametrize("name", VECTORS)
def test_a_time_limit_is_kept(name):
    """Two million words would take longer; what was stopped claims nothing, and verify keeps its limit, too."""
    draws = np.random.default_rng(0).zipf(1.3, size=2_000_000) % 20_000
    text = [[f"w{word}" for word in part] for part in np.split(draws, 20_000)]
    long = (
        {"n_components": 50, "epochs": 50, "subsample": 1e-3} if name == "cbow" else {"n_components": 150, "window": 10}
    )
    began = time.perf_counter()
    model = fitted(name, text, **long, time_limit=2.0)
    assert time.perf_counter() - began < 6.0
    assert model.stop_reason_ == "time_limit"
    assert model.certificate_.holds is None
    assert np.isfinite(model.vector("w1")).all()
    began = time.perf_counter()
    certificate = verify(model, text, time_limit=1.0)
    assert time.perf_counter() - began < 5.0
    assert not certificate.holds
