"""Continuous bag of words with the full softmax (the boosting and SVM lecture: *(Word) Embedding*, cross-entropy of
the word in the middle).

With the mean h of a context's vectors and a vector o_v for each word, the loss of an example with the word w is

    L = -log P(w | C),    P(v | C) = exp(h·o_v) / Σ_u exp(h·o_u),    ∂L/∂o_v = (P(v | C) - [v = w]) h

so each example costs as much as the vocabulary is long: it is for small ones. A few examples go through matrix products
at once, and their changes are added up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import log_softmax

from eigenwood.core.threads import one_blas_thread
from eigenwood.core.words.cbow import EmbeddingStep, Schedule
from eigenwood.core.words.pairs import Contexts, contexts_of
from eigenwood.core.words.workspace import SENTENCE_END, ContextParams, Text

BATCH = 8  # examples whose changes are added up
PIECE = 4096  # places of the text that become examples at a time


def softmax_steps(
    weights: np.ndarray, text: Text, rule: ContextParams, schedule: Schedule, seeds: np.ndarray
) -> Iterator[EmbeddingStep]:
    """Train ``weights`` in place; yield after every piece of the text, and after each epoch."""
    losses, counts = np.zeros(schedule.epochs), np.zeros(schedule.epochs, dtype=np.int64)
    for epoch in range(schedule.epochs):
        pieces = examples_of(text, rule, int(seeds[epoch]))
        for examples, share in pieces:
            rate = schedule.rate + (schedule.last_rate - schedule.rate) * (epoch + share) / schedule.epochs
            losses[epoch] += train_on(weights, examples, rule, np.float32(rate))
            counts[epoch] += examples.centres.size
            whole = share == 1.0
            yield EmbeddingStep(
                weights,
                losses[: epoch + 1] / np.maximum(counts[: epoch + 1], 1),
                counts[: epoch + 1].copy(),
                share,
                whole,
                whole and epoch + 1 == schedule.epochs,
            )


def examples_of(text: Text, rule: ContextParams, seed: int) -> Iterator[tuple[Contexts, float]]:
    """Yield the examples of an epoch in pieces, with the share of the text up to their end."""
    rng = np.random.default_rng(seed)
    is_end = text.ids == SENTENCE_END
    is_kept = is_end | (rng.integers(1 << 32, size=text.ids.size, dtype=np.uint64) < text.keep[text.ids])
    ids = text.ids[is_kept]
    places = np.flatnonzero(ids != SENTENCE_END)
    reach = rng.integers(1, rule.window + 1, size=places.size)
    n_pieces = max(1, -(-places.size // PIECE))
    for piece in range(n_pieces):
        here = slice(piece * PIECE, (piece + 1) * PIECE)
        yield contexts_of(ids, places[here], reach[here], text.keep.size), (piece + 1) / n_pieces


@one_blas_thread()
def train_on(weights: np.ndarray, examples: Contexts, rule: ContextParams, rate: np.float32) -> float:
    """Train on some examples; return the sum of their losses as they were before, in float64."""
    n_vocabulary, loss = weights.shape[0] // 2, 0.0
    contexts, answers = weights[:n_vocabulary], weights[n_vocabulary:]
    for first in range(0, examples.centres.size, BATCH):
        shares, centres = examples.shares[first : first + BATCH], examples.centres[first : first + BATCH]
        means = shares @ contexts
        logs = log_probabilities(means, answers)
        steps = (-np.exp(logs)).astype(np.float32)
        each = np.arange(centres.size)
        loss -= float(logs[each, centres].sum())
        steps[each, centres] += np.float32(1.0)
        changes = rate * (steps @ answers)
        if not rule.corrected:
            changes *= examples.sizes[first : first + BATCH, None].astype(np.float32)
        answers += rate * (steps.T @ means)
        contexts += shares.T @ changes
    return loss


def log_probabilities(means: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return log P(v | C) for each example and each word, in float64."""
    return log_softmax((means @ answers.T).astype(np.float64), axis=1)
