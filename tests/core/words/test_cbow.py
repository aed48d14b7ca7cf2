"""Continuous bag of words: the textbook's steps, exact losses, and the same bits for any number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_allclose, assert_array_equal

from eigenwood.core.words import workspace
from eigenwood.core.words.cbow import Schedule, ThreadChoice, cbow_steps
from eigenwood.core.words.drawing import alias_table, keep_thresholds, noise_shares
from eigenwood.core.words.workspace import SENTENCE_END, ContextParams, Text, most_round_words, padded, round_shape
from tests.naive import words as naive

COMPILED = not config.DISABLE_JIT


def text_of(n_words, n_vocabulary, seed=0, subsample=None, sentence=12):
    """Return random sentences, some words more often than others."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.zipf(1.5, n_words) - 1, n_vocabulary - 1).astype(np.int32)
    ids[rng.random(n_words) < 1.0 / sentence] = SENTENCE_END
    counts = np.bincount(ids[ids >= 0], minlength=n_vocabulary) + 1
    return Text(ids, keep_thresholds(counts, subsample), *alias_table(noise_shares(counts, 0.75)))


def weights_of(n_vocabulary, n_columns=10, seed=0, scale=0.3):
    return padded(scale * np.random.default_rng(seed).normal(size=(2 * n_vocabulary, n_columns)))


def trained(weights, text, rule, schedule, n_threads=1, seconds=0.05, seeds=(3, 4, 5)):
    """Return the weights and the last step."""
    weights = padded(weights)
    *_, last = cbow_steps(weights, text, rule, schedule, np.array(seeds), n_threads, seconds)
    return weights, last


def shape_of(text, rule, rate):
    return round_shape(text.alias.size, most_round_words(text, rule, rate))


def rates_of(text, schedule, n_shards, length):
    n_rounds = -(-text.ids.size // (n_shards * length))
    change = (schedule.last_rate - schedule.rate) / (n_rounds * schedule.epochs)
    return [schedule.rate + r * change for r in range(n_rounds)]


CASES = {
    "one shard": (ContextParams(2, 3, 1), 60, 30, None, 8),
    "several shards": (ContextParams(3, 2, 1), 300, 320, None, 12),
    "not corrected": (ContextParams(2, 2, 0), 120, 30, None, 8),
    "some words are left out": (ContextParams(2, 2, 1), 200, 300, 0.02, 8),
    "shards without an example": (ContextParams(9, 2, 1), 700, 320, 2e-4, 40),
    "a window longer than any sentence": (ContextParams(50, 2, 1), 60, 30, None, 4),
    "one sentence": (ContextParams(4, 1, 1), 150, 300, None, 1e9),
    "two words": (ContextParams(2, 4, 1), 40, 2, None, 6),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_textbook(name):
    rule, n_words, n_vocabulary, subsample, sentence = CASES[name]
    text = text_of(n_words, n_vocabulary, subsample=subsample, sentence=sentence)
    weights, schedule = weights_of(n_vocabulary), Schedule(1, 0.2, 0.1)
    got, last = trained(weights, text, rule, schedule)
    expected = weights.astype(np.float64)
    shape = shape_of(text, rule, 0.2)
    loss, n_examples = naive.train_epoch(expected, text, rule, *shape, rates_of(text, schedule, *shape), seed=3)
    assert last.n_examples.tolist() == [n_examples]
    assert last.losses[0] == pytest.approx(loss / n_examples, rel=1e-5)
    assert_allclose(got, expected, atol=2e-5)
    assert np.abs(expected - weights).max() > 0.01


def test_one_step_goes_down_the_gradient():
    """By finite differences of the loss: each word of a context has its part of the gradient of the mean."""
    text = text_of(3, 30, sentence=1e9)._replace(ids=np.array([4, 7, 9, 7], dtype=np.int32)[:3])
    rule, rate = ContextParams(1, 2, 1), 1e-3
    weights = weights_of(30, 16)
    after, _ = trained(weights, text, rule, Schedule(1, rate, rate))
    step = 1e-5
    place = [(row, column) for row in (4, 7, 9, 34, 37, 39) for column in (0, 5)]
    for row, column in place:
        losses = []
        for sign in (1, -1):
            moved = weights.astype(np.float64)
            moved[row, column] += sign * step
            losses.append(naive.train_epoch(moved, text, rule, 1, 512, [0.0], seed=3)[0])
        gradient = (losses[0] - losses[1]) / (2 * step)
        assert (weights[row, column] - after[row, column]) / rate == pytest.approx(gradient, abs=2e-3)


def test_without_the_correction_each_context_word_changes_as_the_mean_should():
    """So by the gradient times the number of words: here of two beside one."""
    text, weights = text_of(3, 30)._replace(ids=np.array([1, 2, 3], dtype=np.int32)), weights_of(30, 16)
    schedule, seeds = Schedule(1, 1e-3, 1e-3), (3,)
    right, _ = trained(weights, text, ContextParams(5, 1, 1), schedule, seeds=seeds)
    historical, _ = trained(weights, text, ContextParams(5, 1, 0), schedule, seeds=seeds)
    assert_allclose(historical[30:], right[30:], atol=1e-7)
    changes = np.linalg.norm((historical - weights)[[1, 2, 3]], axis=1) / np.linalg.norm(
        (right - weights)[[1, 2, 3]], axis=1
    )
    assert changes.max() == pytest.approx(2.0, rel=0.01)


LONG = 60_000 if COMPILED else 300


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_the_same_bits_for_any_number_of_threads(n_threads):
    text = text_of(LONG, 2000, subsample=1e-2)
    weights, rule, schedule = weights_of(2000, 20, scale=0.05), ContextParams(3, 4, 1), Schedule(2, 0.1, 0.01)
    alone, last_alone = trained(weights, text, rule, schedule)
    together, last = trained(weights, text, rule, schedule, n_threads)
    assert_array_equal(together, alone)
    assert_array_equal(last.losses, last_alone.losses)
    assert_array_equal(last.n_examples, last_alone.n_examples)


def test_the_same_bits_however_often_it_comes_back():
    text, weights = text_of(3000 if COMPILED else 500, 600), weights_of(600)
    alone, last_alone = trained(weights, text, ContextParams(2, 2, 1), Schedule(2, 0.1, 0.01))
    often, last = trained(weights, text, ContextParams(2, 2, 1), Schedule(2, 0.1, 0.01), seconds=1e-9)
    assert_array_equal(often, alone)
    assert_array_equal(last.losses, last_alone.losses)


def test_steps_tell_where_they_are():
    steps = list(
        cbow_steps(weights_of(600), text_of(2000, 600), ContextParams(2, 2, 1), Schedule(2, 0.1, 0.1), np.array([1, 2]))
    )
    assert [step.last for step in steps].count(True) == 1
    assert steps[-1].last
    assert [step.losses.size for step in steps if step.whole] == [1, 2]
    shares = [step.share for step in steps if step.losses.size == 1]
    assert all(a < b for a, b in pairwise(shares))
    assert shares[-1] == 1.0


def test_steps_of_size_zero_measure_and_change_nothing():
    text, weights = text_of(2000, 600, subsample=0.05), weights_of(600)
    after, last = trained(weights, text, ContextParams(3, 5, 1), Schedule(1, 0.0, 0.0), seeds=(0,))
    assert_array_equal(after, weights)
    loss, n_examples = naive.train_epoch(
        weights.astype(np.float64),
        text,
        ContextParams(3, 5, 1),
        *shape_of(text, ContextParams(3, 5, 1), 0.0),
        [0.0] * 30,
        seed=0,
    )
    assert last.losses[0] == pytest.approx(loss / n_examples, rel=1e-6)


@pytest.mark.parametrize("scale", [20.0, 1e4])
def test_the_loss_is_exact_however_wrong_the_scores_are(scale):
    """Probabilities round to 0 long before their logarithms are out of range."""
    text, weights = text_of(50, 30), weights_of(30, scale=1.0)
    weights[:30] *= scale
    _, last = trained(weights, text, ContextParams(2, 3, 1), Schedule(1, 0.0, 0.0))
    n_vocabulary, loss, n = 30, 0.0, 0
    seed = naive.mix(3)
    state = naive.mix(seed)
    words, group = text.ids.tolist(), []
    for k, word in enumerate(words):
        if word != naive.END:
            state = (state + naive.GOLDEN) & naive.MASK
            context = naive.context_of(words, k, 1 + ((naive.mix(state) >> 32) * 2 >> 32))
            group += [(word, context)] if context else []
        if len(group) == naive.GROUP or (k == len(words) - 1 and group):
            negatives = []
            for _ in range(3):
                state = (state + naive.GOLDEN) & naive.MASK
                negatives.append(naive.drawn(text, naive.mix(state), n_vocabulary))
            for mine, context in group:
                mean = np.mean(weights[context].astype(np.float64), axis=0)
                wrong = [-weights[30 + mine] @ mean, *(weights[30 + v] @ mean for v in negatives if v != mine)]
                loss += np.logaddexp(0.0, wrong).sum()
            n, group = n + len(group), []
    assert last.losses[0] == pytest.approx(loss / n, rel=1e-5)


def test_a_round_is_short_beside_the_vocabulary():
    for n_vocabulary in (2, 100, 300, 1000, 5000, 10**6):
        n_shards, length = round_shape(n_vocabulary, np.inf)
        assert n_shards == 1 or n_shards * length <= n_vocabulary / 8
        assert 1 <= n_shards <= 8
        assert 16 <= length <= 512


FEW_WORDS = {  # the shares of the most frequent words, what a step is, and how many words a round may have
    "a quarter": ([0.25], ContextParams(5, 5, 1), 0.1, 80),
    "a half": ([0.5], ContextParams(5, 5, 1), 0.1, 20),
    "four of a fifth": ([0.2] * 4, ContextParams(5, 5, 1), 0.1, 31),
    "long steps": ([0.06], ContextParams(5, 5, 1), 0.5, 42),
    "not corrected": ([0.25], ContextParams(5, 5, 0), 0.05, 53),
}


def text_of_few_words(shares, n_vocabulary, n_words, seed=0):
    """Return sentences of 20 words, each word of one of 50 subjects but for the most frequent ones."""
    rng = np.random.default_rng(seed)
    each = 1.0 / np.arange(1, n_vocabulary // 50 + 1)
    words = rng.choice(each.size, n_words, p=each / each.sum()) * 50 + np.repeat(
        rng.integers(50, size=n_words // 20), 20
    )
    ids = (len(shares) + words).astype(np.int32)
    draw = np.searchsorted(np.cumsum(shares), rng.random(n_words))
    ids = np.where(draw < len(shares), draw, ids).astype(np.int32)
    counts = np.bincount(ids, minlength=n_vocabulary + len(shares)) + 1
    ids = np.insert(ids, np.arange(20, n_words, 20), SENTENCE_END)
    return Text(ids, keep_thresholds(counts, None), *alias_table(noise_shares(counts, 0.75)))


@pytest.mark.skipif(not COMPILED, reason="long without the compiler")
@pytest.mark.parametrize("name", FEW_WORDS)
def test_the_loss_falls_where_few_words_are_much_of_the_text(name, monkeypatch):
    """What shards change side by side goes too far in long rounds; in short ones it is as one after the other."""
    shares, rule, rate, most = FEW_WORDS[name]
    text = text_of_few_words(shares, 5000, 60_000)
    assert most_round_words(text, rule, rate) == pytest.approx(most, rel=0.1)
    weights = weights_of(text.alias.size, 40, scale=0.01)
    weights[text.alias.size :] = 0.0
    _, last = trained(weights, text, rule, Schedule(3, rate, 1e-4))
    assert (np.diff(last.losses) < 0.0).all()
    monkeypatch.setattr(workspace, "round_shape", lambda *_: (1, 512))
    _, in_turn = trained(weights, text, rule, Schedule(3, rate, 1e-4))
    assert_allclose(last.losses, in_turn.losses, rtol=0.1)
    monkeypatch.setattr(workspace, "round_shape", lambda *_: (8, 78))
    _, too_long = trained(weights, text, rule, Schedule(3, rate, 1e-4))
    assert not (too_long.losses < 2.0 * in_turn.losses).all()


def test_a_small_vocabulary_does_not_diverge():
    text = text_of(20_000 if COMPILED else 200, 4)
    _, last = trained(weights_of(4, scale=0.01), text, ContextParams(2, 5, 1), Schedule(3, 0.05, 0.01))
    assert last.losses[-1] <= last.losses[0] < 6 * np.log(2.0) + 0.1


def choices(speeds, n_calls=60):
    """Return what is chosen call by call, when rounds in a second go with the number of threads."""
    choice, chosen = ThreadChoice(4), []
    for _ in range(n_calls):
        chosen.append(choice.next())
        choice.tell(chosen[-1], int(100 * speeds[chosen[-1]]), 0.05)
    return chosen


def test_threads_that_are_slower_together_are_sent_home_and_asked_again():
    busy, idle = choices({4: 0.5, 1: 1.0}), choices({4: 3.0, 1: 1.0})
    assert busy.count(4) <= 5
    assert idle.count(1) <= 5
    assert 4 in busy[10:]
    assert 1 in idle[10:]


def test_a_short_call_tells_nothing():
    choice = ThreadChoice(4)
    choice.tell(4, 1, 0.001)
    assert choice.next() in (1, 4)
    choice.tell(4, 1, 0.05)
    choice.tell(1, 100, 0.05)
    choice.tell(1, 1, 0.001)
    assert choice.next() == 1


def test_one_thread_stays_one():
    choice = ThreadChoice(1)
    assert {choice.next() for _ in range(3)} == {1}
