"""What a fit of word vectors is made of: a plan from parameters and text, steps, and attributes from a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from eigenwood.core.words.cbow import EmbeddingStep, Schedule, cbow_steps
from eigenwood.core.words.drawing import alias_table, keep_thresholds, noise_shares
from eigenwood.core.words.pairs import Contexts, contexts_of
from eigenwood.core.words.softmax import softmax_steps
from eigenwood.core.words.workspace import SENTENCE_END, ContextParams, Text, padded
from eigenwood.estimators.watching import FINISHED
from eigenwood.estimators.words.corpus import Corpus
from eigenwood.proofs.claim import Certificate
from eigenwood.proofs.words import WordFacts, expected_losses, softmax_losses, word_claims
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.words import check_examples, check_neighbours

NEGATIVE_SAMPLING, SOFTMAX = LOSSES = ("negative_sampling", "softmax")
MOST_SCORES = 4_000_000  # of examples and words, for a certificate
MOST_EXAMPLES = 1000


class Plan(NamedTuple):
    """All that a fit begins with."""

    corpus: Corpus
    text: Text
    held_out: Text | None
    weights: np.ndarray  # (2 V, width) float32: of contexts, then of answers
    rule: ContextParams
    schedule: Schedule
    seeds: np.ndarray  # of the epochs
    n_neighbours: int


class FitStep(NamedTuple):
    """A step of the solver, and the losses on the text that is held out."""

    step: EmbeddingStep
    validation_losses: np.ndarray
    whole: bool
    last: bool


# ---- the beginning -------------------------------------------------------------------------------------------------


def plan_of(model: Any, corpus: Corpus) -> Plan:
    """Return the plan for a text."""
    seeds = integer_seeds(model.random_state, model.epochs + 1)
    n_learnt = corpus.ids.size - int(model.validation_fraction * corpus.ids.size)
    text = text_of(model, corpus.ids[:n_learnt], corpus.counts)
    held_out = text._replace(ids=corpus.ids[n_learnt:]) if model.validation_fraction else None
    if held_out is not None:
        check_neighbours("CBOW", neighbour_count(held_out.ids))
    schedule = Schedule(model.epochs, float(model.learning_rate), float(model.final_learning_rate))
    weights = first_weights(corpus.counts.size, model.n_components, int(seeds[0]))
    return Plan(corpus, text, held_out, weights, rule_of(model), schedule, seeds[1:], neighbour_count(text.ids))


def text_of(model: Any, ids: np.ndarray, counts: np.ndarray) -> Text:
    """Return a text with the tables by which its words are drawn."""
    noise = noise_shares(counts, model.noise_exponent)
    return Text(ids, keep_thresholds(counts, model.subsample), *alias_table(noise))


def rule_of(model: Any) -> ContextParams:
    return ContextParams(int(model.window), int(model.negatives), int(model.corrected))


def first_weights(n_words: int, n_components: int, seed: int) -> np.ndarray:
    """Return small random vectors for contexts, and zeros for answers."""
    vectors = np.zeros((2 * n_words, n_components), dtype=np.float32)
    draws = np.random.default_rng(seed).random((n_words, n_components), dtype=np.float32)
    vectors[:n_words] = (draws - np.float32(0.5)) / np.float32(n_components)
    return padded(vectors)


def neighbour_count(ids: np.ndarray) -> int:
    """Return how many words stand beside another one."""
    return int(beside_others(ids).sum())


def beside_others(ids: np.ndarray) -> np.ndarray:
    """Return, for each place of a text, whether it holds a word beside another one."""
    is_word = ids != SENTENCE_END
    return is_word & (np.append(is_word[1:], False) | np.append(False, is_word[:-1]))


# ---- steps ---------------------------------------------------------------------------------------------------------


def steps_of(model: Any, plan: Plan, n_threads: int) -> Iterator[FitStep]:
    """Yield the steps of a fit; each whole epoch comes with its loss on the text that is held out."""
    found: list[float] = []
    for step in solver_of(model, n_threads)(plan.weights, plan.text, plan.rule, plan.schedule, plan.seeds):
        if step.whole:
            check_examples("CBOW", int(step.n_examples[-1]), model.subsample)
        if step.whole and plan.held_out is not None:
            found.append(loss_of_text(model, plan.weights, plan.held_out, n_threads))
        yield FitStep(step, np.array(found), step.whole, step.last)


def solver_of(model: Any, n_threads: int) -> Callable[..., Iterator[EmbeddingStep]]:
    """Return the function that makes the steps."""
    if model.loss == SOFTMAX:
        return softmax_steps
    return partial(cbow_steps, n_threads=n_threads)


def loss_of_text(model: Any, weights: np.ndarray, text: Text, n_threads: int) -> float:
    """Return the mean loss of the examples of a text: an epoch with steps of size 0."""
    *_, last = solver_of(model, n_threads)(weights, text, rule_of(model), Schedule(1, 0.0, 0.0), np.zeros(1, np.int64))
    check_examples("CBOW", int(last.n_examples[0]), model.subsample)
    return float(last.losses[0])


def loss_of(model: Any, ids: np.ndarray, n_threads: int) -> float:
    """Return the mean loss of a fitted model on a text in its numbers."""
    check_neighbours("CBOW", neighbour_count(ids))
    weights = padded(np.vstack([model.vectors_, model.output_vectors_]))
    return loss_of_text(model, weights, text_of(model, ids, model.counts_), n_threads)


# ---- the end -------------------------------------------------------------------------------------------------------


def attributes_of(model: Any, plan: Plan, fit_step: FitStep) -> dict[str, Any]:
    """Return the fitted attributes that a step stands for."""
    step, n_words = fit_step.step, plan.corpus.counts.size
    return {
        "vocabulary_": plan.corpus.words,
        "counts_": plan.corpus.counts,
        "vectors_": step.weights[:n_words, : model.n_components].copy(),
        "output_vectors_": step.weights[n_words:, : model.n_components].copy(),
        "losses_": step.losses.copy(),
        "n_examples_": step.n_examples.copy(),
        "validation_losses_": fit_step.validation_losses,
        "n_iter_": step.losses.size if step.whole else step.losses.size - 1,
        "n_corpus_words_": plan.corpus.n_words,
    }


def certificate_of(model: Any, ids: np.ndarray) -> Certificate:
    """Return the claims about a fitted model, measured on its first examples."""
    examples = first_examples(ids, int(model.window), model.counts_.size)
    means = examples.shares.astype(np.float64) @ model.vectors_.astype(np.float64)
    if model.loss == SOFTMAX:
        losses = softmax_losses(means, examples.centres, model.output_vectors_)
        without = float(np.log(model.counts_.size))
    else:
        noise = noise_shares(model.counts_, model.noise_exponent)
        losses = expected_losses(means, examples.centres, model.output_vectors_, noise, model.negatives)
        without = float((1 + model.negatives) * np.log(2.0))
    is_finished, last_loss = model.stop_reason_ == FINISHED, float(model.losses_[-1])
    facts = WordFacts(float(losses.mean()), losses.size, without, last_loss, is_finished)
    return Certificate(tuple(word_claims(facts)))


def first_examples(ids: np.ndarray, window: int, n_vocabulary: int) -> Contexts:
    """Return the first examples of a text, as many as can be scored against all words in a moment."""
    n = min(max(MOST_SCORES // n_vocabulary, 16), MOST_EXAMPLES)
    places = np.flatnonzero(beside_others(ids))[:n]
    ids = ids[: places[-1] + window + 1]
    return contexts_of(ids, places, np.full(places.size, window), n_vocabulary)
