"""A column in whose order the target is alike, too much for chance and for most honest columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from eigenwood.runs.leaks.sample import Line, Target

CHANCE = 2e-2  # that any column of a table that says nothing is a suspect
CONFIDENCE = 0.95


class Suspect(NamedTuple):
    """A line along which the target is alike; ``label`` is the class it tells from all others, None if it tells all."""

    line: Line
    label: int | None
    likeness: float
    n_present: int
    n_at_stake: float  # rows that a guess at random would get wrong

    @property
    def agreement(self) -> float:
        """Return the share of the rows that are right, 0 at random: neighbours are alike if both are right."""
        return float(np.sqrt(max(self.likeness, 0.0)))

    @property
    def least_agreement(self) -> float:
        """Return the lower end of the one-sided 95 % interval of the agreement."""
        wrong = (1 - self.agreement) * self.n_at_stake
        return 1 - float(beta.ppf(CONFIDENCE, wrong + 1, max(self.n_at_stake - wrong, 1e-9)))

    def evidence(self) -> dict[str, Any]:
        return {
            "agreement": self.agreement,
            "least_agreement": self.least_agreement,
            "n_rows": self.n_present,
        }

    def present(self, target: Target) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the rows that have one, and their labels (1 and 0 for one label) or amounts."""
        has_value = ~np.isnan(self.line.values)
        if target.amounts is not None:
            return self.line.values[has_value], target.amounts[has_value]
        assert target.codes is not None
        codes = target.codes if self.label is None else (target.codes == self.label).astype(np.int64)
        return self.line.values[has_value], codes[has_value]
