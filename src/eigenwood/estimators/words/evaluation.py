"""How good word vectors are: analogies by section, and the correlation with what people say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from eigenwood.core.threads import one_blas_thread, row_blocks
from eigenwood.data.text import Question, WordPair
from eigenwood.validation.words import check_known_pairs

BLOCK = 512  # questions whose cosines are computed at once


class SectionScore(NamedTuple):
    """The questions of one section."""

    section: str
    n_right: int
    n_asked: int
    n_skipped: int  # questions with a word that is not in the vocabulary

    @property
    def accuracy(self) -> float:
        """Return the share of right answers; NaN if nothing was asked."""
        return self.n_right / self.n_asked if self.n_asked else float("nan")


class AnalogyScores(NamedTuple):
    """All sections of a file of analogies."""

    sections: tuple[SectionScore, ...]

    @property
    def total(self) -> SectionScore:
        """Return all sections as one."""
        sums = (sum(getattr(part, name) for part in self.sections) for name in SectionScore._fields[1:])
        return SectionScore("all", *sums)

    @property
    def accuracy(self) -> float:
        """Return the share of right answers."""
        return self.total.accuracy


class SimilarityScore(NamedTuple):
    """How cosines go with what people say."""

    correlation: float  # Spearman's
    n_pairs: int
    n_skipped: int


@one_blas_thread()
def analogy_scores(
    unit_vectors: np.ndarray, places: dict[str, int], questions: list[Question], lowercase: bool
) -> AnalogyScores:
    """Return how many questions the first rows answer rightly."""
    sections = list(dict.fromkeys(question.section for question in questions))
    codes, rows, skipped = [], [], [0] * len(sections)
    for question in questions:
        found = [places.get(word.lower() if lowercase else word, len(unit_vectors)) for word in question.words]
        code = sections.index(question.section)
        if max(found) < len(unit_vectors):
            codes.append(code)
            rows.append(found)
        else:
            skipped[code] += 1
    is_right = right_answers(unit_vectors, np.array(rows, dtype=np.int64).reshape(-1, 4))
    asked = np.bincount(codes, minlength=len(sections)) if codes else np.zeros(len(sections), dtype=int)
    right = np.bincount(np.array(codes, dtype=int)[is_right], minlength=len(sections))
    scores = zip(sections, right.tolist(), asked.tolist(), skipped, strict=True)
    return AnalogyScores(tuple(SectionScore(*score) for score in scores))


def right_answers(unit_vectors: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """Return, for each "a is to b as c is to d", whether the word nearest to b - a + c, but for these, is d."""
    is_right = np.zeros(len(questions), dtype=bool)
    for block in row_blocks(len(questions), BLOCK):
        a, b, c, d = questions[block].T
        cosines = (unit_vectors[b] - unit_vectors[a] + unit_vectors[c]) @ unit_vectors.T
        for asked in (a, b, c):
            cosines[np.arange(asked.size), asked] = -np.inf
        is_right[block] = cosines.argmax(axis=1) == d
    return is_right


def similarity_score(
    unit_vectors: np.ndarray, places: dict[str, int], pairs: list[WordPair], lowercase: bool
) -> SimilarityScore:
    """Return Spearman's correlation over the pairs whose words are known."""
    named = [tuple(word.lower() for word in pair[:2]) if lowercase else pair[:2] for pair in pairs]
    known = [i for i, words in enumerate(named) if set(words) <= places.keys()]
    check_known_pairs("evaluate_similarity", len(known))
    first, second = np.array([[places[word] for word in named[i]] for i in known]).T
    scores = np.array([pairs[i].score for i in known])
    cosines = np.einsum("ij,ij->i", unit_vectors[first], unit_vectors[second])
    return SimilarityScore(float(spearmanr(cosines, scores).statistic), len(known), len(pairs) - len(known))
