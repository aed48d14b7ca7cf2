"""What training of word vectors works on.

    weights   row w          the vector of word w as part of a context: the word vectors
              row V + w      the vector of word w as the answer
    ids       7 2 9 -1 4 …   the text as numbers of words; -1 ends a sentence

A round trains on some pieces of the text, its shards. Each works on its own copies of the rows it needs, made when it
first needs them. When all are done, what each has changed is added to the weights, in the order of the shards. So no
two threads write to the same row, and the result does not depend on who did what.

    weights ──copy of each row needed──► shard 0 … 7 ──what changed──► weights

Changes that were made side by side add up. Where all shards change a word many times, their sum goes too far. So a
round is short beside the vocabulary: V / 8 words of text at most. And it is short where few words make up much of the
text: with f_w the share of word w, what is the same in two examples goes with Σ f_w² (the chance that two words of the
text are one), and a step changes answers by rate · h and contexts by rate · (1 + k) · o, so that

    words of a round  ≤  0.3 / (rate² (1 + k) Σ f_w²)            a context's change not divided: / (window + 1) again

Measured on made-up texts where one to four words are 6 to 80 percent of all: vectors grew without bounds in rounds from
three to seven times that long. Where a round would be too short for two shards it has one, in which one example follows
the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_SHARDS = 8  # of a round: more threads than these would have nothing to do
MERGES = 8  # parts of the table of weights to which changes are added
LEAST_SHARD_WORDS, MOST_SHARD_WORDS = 16, 512
MOST_CHANGE = 0.3  # of what two examples share, in a round
SHARE_OF_VOCABULARY = 8  # a round has V / this many words, unless it has one shard
GROUP = 4  # examples that have the same negatives
PICKED = 8  # rows that are added up at a time
LANES = 16  # the columns of a row come in multiples of it
LINE = 64  # bytes of a line of the cache
SENTENCE_END = -1

KIND, N_THREADS, FIRST_WORD, SEED, SHARD_WORDS = range(5)
RATE = 0
LOW, HIGH, CENTRE, WORD, ANSWER = range(5)  # of an example: its context, where its word is, the word, its answer's copy


class ContextParams(NamedTuple):
    """How examples are made of text, and what they change."""

    window: int
    negatives: int
    corrected: int  # 1: what the mean of a context is to change by is divided by the number of its words


class Text(NamedTuple):
    """The corpus, and how its words are drawn."""

    ids: np.ndarray  # (n,) int32
    keep: np.ndarray  # (V,) uint64: a word is kept where a random number of 32 bits is below this
    alias_share: np.ndarray  # (V,) uint32: the part of a bin that is the word's own
    alias: np.ndarray  # (V,) int32: the word that has the rest


class Group(NamedTuple):
    """What a group of examples needs; the first place is the number of the shard."""

    means: np.ndarray  # (n_shards, GROUP, width) float32: of contexts
    changes: np.ndarray  # (n_shards, GROUP, width) float32: what they are to change by
    shares: np.ndarray  # (n_shards, GROUP) float32: of that, for each word of the context
    picked: np.ndarray  # (n_shards, PICKED) int64
    scores: np.ndarray  # (n_shards, (1 + negatives) * GROUP): products, then what they are to change by
    right: np.ndarray  # the same shape: probabilities of what is right
    wrong: np.ndarray  # the same shape: 1 - right
    bits: np.ndarray  # the same shape, int64, and
    powers: np.ndarray  # the same memory as float64


class Shards(NamedTuple):
    """What each shard works on; the first place is the number of the shard."""

    slots: np.ndarray  # (n_shards, 2 V) int32: where the copy of a row is; -1 if there is none
    rows: np.ndarray  # (n_shards, most) int32: the rows that were copied
    copies: np.ndarray  # (n_shards, most + 1, width) float32; the last row stays 0
    n_rows: np.ndarray  # (n_shards,) int64
    by_part: np.ndarray  # (n_shards, most) int32: the copies that each part of the weights gets, part by part
    part_ends: np.ndarray  # (n_shards, MERGES + 1) int64: where those of a part begin, and end
    words: np.ndarray  # (n_shards, most_words) int32: the words that are kept, and ends of sentences
    places: np.ndarray  # (n_shards, most_words) int32: where the copies of their rows are
    examples: np.ndarray  # (n_shards, 5, GROUP) int64
    negatives: np.ndarray  # (n_shards, 2, negatives) int64: words, and where their copies are
    loss: np.ndarray  # (n_shards, 8): the first is used; each in a line of the cache of its own
    n_examples: np.ndarray  # (n_shards, 8) int64


class Training(NamedTuple):
    """All that the threads share."""

    weights: np.ndarray  # (2 V, width) float32
    text: Text
    rule: ContextParams
    shards: Shards
    groups: Group
    n_copies: np.ndarray  # (2 V,) int8: of each row, while changes are added; else 0
    crew: np.ndarray
    whole: np.ndarray  # (5,) int64
    real: np.ndarray  # (1,)


def new_training(weights: np.ndarray, text: Text, rule: ContextParams, rate: float, crew: np.ndarray) -> Training:
    """Return what is needed to train on a text in steps of at most ``rate``."""
    n_rows, width = weights.shape
    n_shards, length = round_shape(text.alias.size, most_round_words(text, rule, rate))
    most_words = length + 2 * min(rule.window, text.ids.size) + 2
    most = min(n_rows, most_words + length + (length // GROUP + 1) * rule.negatives)
    shards = Shards(
        slots=np.full((n_shards, n_rows), -1, dtype=np.int32),
        rows=np.zeros((n_shards, most), dtype=np.int32),
        copies=aligned_zeros((n_shards, most + 1, width)),
        n_rows=np.zeros(n_shards, dtype=np.int64),
        by_part=np.zeros((n_shards, most), dtype=np.int32),
        part_ends=np.zeros((n_shards, MERGES + 1), dtype=np.int64),
        words=np.zeros((n_shards, most_words), dtype=np.int32),
        places=np.zeros((n_shards, most_words), dtype=np.int32),
        examples=np.zeros((n_shards, 5, GROUP), dtype=np.int64),
        negatives=np.zeros((n_shards, 2, rule.negatives), dtype=np.int64),
        loss=np.zeros((n_shards, 8)),
        n_examples=np.zeros((n_shards, 8), dtype=np.int64),
    )
    whole = np.zeros(5, dtype=np.int64)
    whole[SHARD_WORDS] = length
    groups, n_copies = new_groups(n_shards, width, rule.negatives), np.zeros(n_rows, dtype=np.int8)
    return Training(weights, text, rule, shards, groups, n_copies, crew, whole, np.zeros(1))


def new_groups(n_shards: int, width: int, n_negatives: int) -> Group:
    """Return room for one group of each shard."""
    n_scores = (1 + n_negatives) * GROUP
    bits = np.zeros((n_shards, n_scores), dtype=np.int64)
    return Group(
        means=aligned_zeros((n_shards, GROUP, width)),
        changes=aligned_zeros((n_shards, GROUP, width)),
        shares=np.zeros((n_shards, GROUP), dtype=np.float32),
        picked=np.zeros((n_shards, PICKED), dtype=np.int64),
        scores=np.zeros(bits.shape),
        right=np.zeros(bits.shape),
        wrong=np.zeros(bits.shape),
        bits=bits,
        powers=bits.view(np.float64),
    )


def most_round_words(text: Text, rule: ContextParams, rate: float) -> float:
    """Return how many words a round may have so that what its shards change side by side does not go too far."""
    counts = np.bincount(text.ids[text.ids != SENTENCE_END], minlength=text.keep.size)
    kept = counts * text.keep.astype(np.float64)
    meeting = float(np.square(kept / max(kept.sum(), 1.0)).sum())
    parts = 1 if rule.corrected else rule.window + 1
    return MOST_CHANGE / max(rate**2 * (1 + rule.negatives) * parts * meeting, np.finfo(np.float64).tiny)


def round_shape(n_vocabulary: int, most_words: float) -> tuple[int, int]:
    """Return how many shards a round has, and how many words each of them trains on.

    >>> round_shape(36_000, 1e9), round_shape(1000, 1e9), round_shape(100, 1e9), round_shape(36_000, 80.0)
    ((8, 512), (7, 17), (1, 512), (5, 16))
    """
    n_words = int(min(n_vocabulary // SHARE_OF_VOCABULARY, most_words))
    n_shards = min(n_words // LEAST_SHARD_WORDS, MOST_SHARDS)
    return (1, MOST_SHARD_WORDS) if n_shards < 2 else (n_shards, min(n_words // n_shards, MOST_SHARD_WORDS))


def padded(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors with zeros behind them, so that every row begins and ends with a line of the cache."""
    n_rows, n_columns = vectors.shape
    weights = aligned_zeros((n_rows, -(-n_columns // LANES) * LANES))
    weights[:, :n_columns] = vectors
    return weights


def aligned_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Return zeros in float32 that begin where a line of the cache does."""
    size = int(np.prod(shape))
    room = np.zeros(size + LINE // 4, dtype=np.float32)
    first = (-room.ctypes.data % LINE) // 4
    return room[first : first + size].reshape(shape)
