"""Continuous bag of words in plain loops: read this first, then core/words.

Draws are those of the fast code, from the same mixing function, so that both see the same examples; all else is the
textbook. A shard works on its own copy of all weights, and at the end of a round all changes are added up.
"""

from __future__ import annotations

import math

import numpy as np

END = -1
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
GROUP = 4


def mix(z):
    """Return 64 well-mixed bits: the finisher of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def sigma(x):
    return 1.0 / (1.0 + math.exp(-x)) if x > -700 else 0.0


def train_epoch(weights, text, rule, n_shards, length, rates, seed):
    """Change ``weights`` (float64); return the sum of losses and the number of examples; a rate for each round."""
    loss, n_examples = 0.0, 0
    for r, rate in enumerate(rates):
        before, changed = weights.copy(), np.zeros_like(weights)
        for s in range(n_shards):
            start = (r * n_shards + s) * length
            mine = before.copy()
            lost, count = train_shard(mine, text, rule, start, min(start + length, len(text.ids)), rate, seed)
            loss, n_examples = loss + lost, n_examples + count
            changed += mine - before
        weights += changed
    return loss, n_examples


def train_shard(weights, text, rule, start, end, rate, seed):
    if start >= end:
        return 0.0, 0
    seed = mix(seed)
    state, n_vocabulary = mix(seed ^ ((start * GOLDEN) & MASK)), len(text.alias)
    kept = [at for at in range(len(text.ids)) if is_kept(text, seed, at)]
    words = [int(text.ids[at]) for at in kept]
    loss, n_examples, group = 0.0, 0, []
    centres = [k for k, at in enumerate(kept) if start <= at < end]
    for k in centres:
        if words[k] != END:
            state = (state + GOLDEN) & MASK
            reach = 1 + ((mix(state) >> 32) * rule.window >> 32)
            context = context_of(words, k, reach)
            if context:
                group.append((words[k], context))
        if len(group) == GROUP or (k == centres[-1] and group):
            negatives = []
            for _ in range(rule.negatives):
                state = (state + GOLDEN) & MASK
                negatives.append(drawn(text, mix(state), n_vocabulary))
            loss += train_group(weights, group, negatives, rule, rate)
            n_examples += len(group)
            group = []
    return loss, n_examples


def is_kept(text, seed, at):
    word = text.ids[at]
    return word == END or mix((seed + at * GOLDEN) & MASK) >> 32 < int(text.keep[word])


def context_of(words, k, reach):
    """Return the words around place k, up to the ends of the sentence."""
    before, after = [], []
    for j in range(k - 1, max(k - reach, 0) - 1, -1):
        if words[j] == END:
            break
        before.append(words[j])
    for j in range(k + 1, min(k + reach, len(words) - 1) + 1):
        if words[j] == END:
            break
        after.append(words[j])
    return before + after


def drawn(text, bits, n_vocabulary):
    word = (bits >> 32) * n_vocabulary >> 32
    return word if bits & 0xFFFFFFFF < int(text.alias_share[word]) else int(text.alias[word])


def train_group(weights, group, negatives, rule, rate):
    """Take one step for a few examples that share their negatives.

    All scores are of the weights as they were; then one answer after the other is changed: the words of the examples,
    and each negative by all of them; at the end the contexts.
    """
    n_vocabulary, loss = len(weights) // 2, 0.0
    means = [sum(weights[c] for c in context) / len(context) for _, context in group]
    answers = [[(word, 1.0), *((negative, 0.0) for negative in negatives)] for word, _ in group]
    scores = [
        [float(weights[n_vocabulary + v] @ mean) for v, _ in mine] for mine, mean in zip(answers, means, strict=True)
    ]
    changes = [np.zeros(weights.shape[1]) for _ in group]
    for m in range(1 + len(negatives)):
        was = weights.copy()
        for g, (word, _) in enumerate(group):
            answer, label = answers[g][m]
            if label == 0.0 and answer == word:
                continue
            score = scores[g][m]
            loss -= math.log(sigma(score if label else -score))
            step = rate * (label - sigma(score))
            row = weights if label else was  # words of two examples may be the same
            changes[g] += step * row[n_vocabulary + answer]
            weights[n_vocabulary + answer] += step * means[g]
    for (_, context), change in zip(group, changes, strict=True):
        for c in context:
            weights[c] += change / (len(context) if rule.corrected else 1.0)
    return loss


def softmax_batch(weights, group, rule, rate):
    """The same with all words as answers, and their probabilities by the softmax."""
    n_vocabulary, before, loss = len(weights) // 2, weights.copy(), 0.0
    for word, context in group:
        mean = sum(before[c] for c in context) / len(context)
        scores = before[n_vocabulary:] @ mean
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        loss -= math.log(shares[word])
        change = np.zeros(weights.shape[1])
        for v in range(n_vocabulary):
            step = rate * ((v == word) - shares[v])
            weights[n_vocabulary + v] += step * mean
            change += step * before[n_vocabulary + v]
        for c in context:
            weights[c] += change / (len(context) if rule.corrected else 1.0)
    return loss


def meetings(ids, window, n_vocabulary):
    """Return how often words stand at most ``window`` places from each other, in the same sentence."""
    counts = np.zeros((n_vocabulary, n_vocabulary))
    for i, word in enumerate(ids):
        if word != END:
            for other in context_of(list(ids), i, window):
                counts[word, other] += 1
    return counts
