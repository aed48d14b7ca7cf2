"""The record of word vectors: what was done and measured, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EmbedRecord:
    """What ``embed`` did: the text, the vectors, and the loss of each epoch."""

    text: str
    method: str
    n_words: int  # of the text
    n_vocabulary: int
    n_components: int
    losses: list[float]  # of each epoch; none where there are no epochs
    seconds: float
    stop_reason: str
    certificate: dict[str, Any]
