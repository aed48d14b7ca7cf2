"""The sentences and names that the page and the terminal share."""

from __future__ import annotations

from eigenwood.runs.record import CandidateRecord, Run


def candidate_name(candidate: CandidateRecord) -> str:
    """Return the method with the parameters that make it this candidate.

    >>> candidate_name(CandidateRecord("perceptron", {"penalty": "l2"}, [1.0], 1.0, 0.1))
    'perceptron (penalty=l2)'
    """
    params = parameter_words(candidate)
    return f"{candidate.method} ({params})" if params else candidate.method


def parameter_words(candidate: CandidateRecord) -> str:
    return ", ".join(f"{name}={value}" for name, value in candidate.params.items())


def preparation(run: Run) -> str:
    """Return what was done to the columns before the methods saw them."""
    encoded = "Missing numbers become the median, numbers are scaled, and each category gets a column of its own"
    takers = list(dict.fromkeys(candidate.method for candidate in run.candidates if candidate.takes_tables))
    if not takers:
        return f"{encoded}."
    if all(candidate.takes_tables for candidate in run.candidates):
        return "Every method takes categories and missing values as they are."
    *others, last = takers
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{encoded}; {names} can do without, and got categories and missing values as they are."


def percent(share: float) -> str:
    """Return a share as a percentage with one digit.

    >>> percent(0.8684)
    '86.8 %'
    """
    return f"{100 * share:.1f} %"


def decimal(score: float) -> str:
    """Return a score with three digits after the point.

    >>> decimal(0.71249), decimal(-0.0001)
    ('0.712', '0.000')
    """
    return f"{score:z.3f}"


def amount(value: float) -> str:
    """Return an amount with three digits that count, or all those before the point.

    >>> amount(11.0), amount(0.00031), amount(99.96), amount(48211.7), amount(1e12)
    ('11.0', '0.000310', '100', '48212', '1.00e+12')
    """
    return f"{value:.0f}" if 100 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")


def title(run: Run) -> str:
    return f"{run.table}: {run.target}"
