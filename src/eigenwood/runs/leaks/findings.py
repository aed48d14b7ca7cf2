"""What the leak watch reports."""

from __future__ import annotations

from typing import Any, NamedTuple

COPY = "copy of the target"
NEARLY_ALONE = "predicts the target alone"
ORDER = "order"
GROUPS = "groups on both sides"
FILLED = "filled for some targets only"
DUPLICATES = "duplicate rows over the split"


class Finding(NamedTuple):
    """Something that looks like a leak, as a sentence with its evidence."""

    kind: str
    columns: list[str]
    sentence: str
    serious: bool  # --strict stops
    evidence: dict[str, Any]


class LeakReport(NamedTuple):
    """All findings, the serious ones first."""

    findings: list[Finding]
    complete: bool  # whether time allowed to look at everything


def share(part: int, whole: int) -> str:
    """Return a part of the rows in words.

    >>> share(1234, 5000)
    '1,234 of 5,000'
    """
    return f"{part:,} of {whole:,}"


def amount(value: float) -> str:
    """Return a number with as many digits as a sentence needs.

    >>> amount(1234567.0), amount(0.123456)
    ('1,234,567', '0.1235')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
