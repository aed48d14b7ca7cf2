"""The record of word vectors: what was done and measured, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class WordPlace:
    """A word, and where it is on the map."""

    word: str
    across: float
    up: float


@dataclass(frozen=True)
class Neighbours:
    """The words nearest to one, the nearest first."""

    word: str
    nearest: list[tuple[str, float]]


@dataclass(frozen=True)
class SectionRecord:
    """The analogies of a section of a file: how many were answered rightly, were asked, and left out."""

    name: str
    n_right: int
    n_asked: int
    n_skipped: int


@dataclass(frozen=True)
class EmbedRecord:
    """What ``embed`` did: the text, the vectors, and the loss of each epoch."""

    text: str
    method: str
    n_words: int  # of the text
    n_vocabulary: int
    n_components: int
    losses: list[float]  # of each epoch; none where there are no epochs
    seconds: dict[str, float]
    stop_reason: str
    certificate: dict[str, Any]
    version: str
    seed: int
    places: list[WordPlace] = field(default_factory=list)  # on a map of frequent words
    shares: list[float] = field(default_factory=list)  # of the variance of these words, that the axes of the map hold
    neighbours: list[Neighbours] = field(default_factory=list)  # of the most frequent words that are on the map
    sections: list[SectionRecord] = field(default_factory=list)  # of a file of analogies, where one was given
