"""A proof beside every answer: claims, each a number with its bound, and the certificate that collects them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Claim:
    """One proved statement about a fit: ``value`` stands against ``bound`` (None when nothing bounds it).

    >>> at_most("mistakes", "mistakes ≤ (R/γ)²", 3, 10).holds
    True
    """

    name: str
    statement: str
    value: float
    bound: float | None
    holds: bool


def at_most(name: str, statement: str, value: float, bound: float) -> Claim:
    """Return the claim that ``value`` is not above ``bound``; NaN never holds."""
    return Claim(name, statement, float(value), float(bound), bool(value <= bound))


def at_least(name: str, statement: str, value: float, bound: float) -> Claim:
    """Return the claim that ``value`` is not below ``bound``; NaN never holds."""
    return Claim(name, statement, float(value), float(bound), bool(value >= bound))


def measured(name: str, statement: str, value: float) -> Claim:
    """Return a number that was measured and has no bound; it holds unless it is not a number."""
    return Claim(name, statement, float(value), None, not math.isnan(value))


@dataclass(frozen=True)
class Certificate:
    """What was proved about a fit. Prints as a table; ``holds`` is the conjunction of all claims.

    >>> certificate = Certificate((at_most("errors", "training errors", 0, 0),))
    >>> certificate.holds, certificate["errors"].value
    (True, 0.0)
    """

    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    def verdict(self) -> str:
        """Return what the claims come to, in a few words."""
        if not self.holds:
            return "NOT all claims hold"
        return "all claims hold" if any(claim.bound is not None for claim in self.claims) else "no bound was claimed"

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
    return claim.name, claim.statement, f"{claim.value:.6g}", bound, "yes" if claim.holds else "NO"
