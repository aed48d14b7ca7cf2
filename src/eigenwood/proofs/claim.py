"""A proof beside every answer: claims, each a number with its bound, and the certificate that collects them.

    holds     True     the value keeps its bound, or was measured and has none
              False    it does not
              None     the fit does not claim it: it was stopped early, or no such bound exists

A certificate fails if one claim fails. It holds if all do, and something is claimed at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

NOT_CLAIMED = "not claimed"
ROUNDING = 1e-9  # a share of the numbers they are made of, by which sums may differ that were added in another order
ALIKE = 1e-3  # a share by which numbers that were measured twice may differ, in float32 and in float64


@dataclass(frozen=True)
class Claim:
    """One statement about a fit: ``value`` stands against ``bound`` (None when nothing bounds it).

    >>> at_most("mistakes", "mistakes ≤ (R/γ)²", 3, 10).holds
    True
    """

    name: str
    statement: str
    value: float
    bound: float | None
    holds: bool | None

    def verdict(self) -> str:
        """Return whether it holds, in a word or two."""
        if self.holds is None:
            return NOT_CLAIMED
        return ("measured" if self.bound is None else "yes") if self.holds else "NO"


def at_most(name: str, statement: str, value: float, bound: float) -> Claim:
    """Return the claim that ``value`` is not above ``bound``; NaN never holds."""
    return Claim(name, statement, float(value), float(bound), bool(value <= bound))


def at_least(name: str, statement: str, value: float, bound: float) -> Claim:
    """Return the claim that ``value`` is not below ``bound``; NaN never holds."""
    return Claim(name, statement, float(value), float(bound), bool(value >= bound))


def measured(name: str, statement: str, value: float) -> Claim:
    """Return a number that was measured and has no bound; it holds unless it is not a number."""
    return Claim(name, statement, float(value), None, not math.isnan(value))


def not_claimed(name: str, statement: str, value: float) -> Claim:
    """Return a number about which the fit should claim something, and does not; the statement says why."""
    return Claim(name, statement, float(value), None, None)


def agreement_claim(stated: Certificate, recomputed: Certificate) -> Claim:
    """Return that the certificate which a model carries says what was found again.

    A claim that nobody makes any more may be that of an older version: nothing is claimed then.
    """
    again = {claim.name: claim for claim in recomputed}
    n_others = sum(claim.name in again and not agree(claim, again[claim.name]) for claim in stated)
    n_unknown = sum(claim.name not in again for claim in stated)
    claim = at_most("certificate", "claims of certificate_ that are not found again", n_others, 0)
    return claimed(claim, n_others > 0 or n_unknown == 0, f"{n_unknown} claims of certificate_ are not made here")


def agree(stated: Claim, again: Claim) -> bool:
    """Return whether a claim was found again: it holds as before, with about the value that was measured.

    What a verifier cannot claim, because it lacks the rows for it, is nothing that could disagree.
    """
    alike = math.isclose(stated.value, again.value, rel_tol=ALIKE, abs_tol=ALIKE)
    if again.holds is None:
        return bool(stated.holds) or (stated.holds is None and alike)
    if stated.holds is not again.holds or (stated.bound is not None and again.bound is None):
        return False
    if stated.bound is None:  # a verifier that looks at the rows may have found a bound
        return alike
    is_at_most = again.bound is not None and again.value <= again.bound
    keeps = stated.value <= stated.bound if is_at_most else stated.value >= stated.bound
    return not stated.holds or keeps


def claimed(claim: Claim, is_claimed: bool, otherwise: str) -> Claim:
    """Return the claim, or that it is not claimed, with the statement ``otherwise``."""
    return claim if is_claimed else not_claimed(claim.name, otherwise, claim.value)


@dataclass(frozen=True)
class Certificate:
    """What was proved about a fit. Prints as a table; ``holds`` is the conjunction of all claims.

    >>> certificate = Certificate((at_most("errors", "training errors", 0, 0),))
    >>> certificate.holds, certificate["errors"].value
    (True, 0.0)
    >>> print(Certificate((not_claimed("errors", "training errors; the fit was stopped early", 3),)).holds)
    None
    """

    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool | None:
        """True if all claims hold, False if one fails, None if none fails but what matters is not claimed."""
        if any(claim.holds is False for claim in self.claims):
            return False
        is_claimed = any(claim.bound is not None for claim in self.claims)
        return True if is_claimed and all(claim.holds for claim in self.claims) else None

    def verdict(self) -> str:
        """Return what the claims come to, in a few words."""
        if self.holds:
            return "all claims hold"
        if self.holds is False:
            return "NOT all claims hold"
        missing = ", ".join(claim.name for claim in self.claims if claim.holds is None)
        return f"{NOT_CLAIMED}: {missing}" if missing else "nothing is claimed"

    def __getitem__(self, name: str) -> Claim:
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(name)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def as_dict(self) -> dict:
        return {"holds": self.holds, "claims": [asdict(claim) for claim in self.claims]}

    @classmethod
    def from_dict(cls, content: dict) -> Certificate:
        return cls(tuple(Claim(**claim) for claim in content["claims"]))

    def __str__(self) -> str:
        from rich.console import Console  # only who prints a table waits for it

        console = Console(width=110, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(self.table())
        return capture.get()

    def __rich__(self) -> Table:
        return self.table()

    def table(self) -> Table:
        """Return the claims as a table for the terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=f"certificate: {self.verdict()}")
        for heading in ("claim", "statement", "value", "bound", "holds"):
            table.add_column(heading, justify="right" if heading in ("value", "bound") else "left")
        for claim in self.claims:
            table.add_row(*map(Text, _cells(claim)))  # as text: a class may be called [red]
        return table

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(claim)) + "</tr>" for claim in self.claims
        )
        head = "<tr><th>claim</th><th>statement</th><th>value</th><th>bound</th><th>holds</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _cells(claim: Claim) -> tuple[str, str, str, str, str]:
    bound = "" if claim.bound is None else f"{claim.bound:.6g}"
    return claim.name, claim.statement, f"{claim.value:.6g}", bound, claim.verdict()
