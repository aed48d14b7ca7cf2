"""The sentences and names that the page and the terminal share."""

from __future__ import annotations

from eigenwood.runs.record import AssessmentRecord, CandidateRecord, Run


def candidate_name(candidate: CandidateRecord) -> str:
    """Return the method with the parameters that make it this candidate.

    >>> candidate_name(CandidateRecord("perceptron", {"penalty": "l2"}, [1.0], 1.0, 0.1))
    'perceptron (penalty=l2)'
    """
    params = parameter_words(candidate)
    return f"{candidate.method} ({params})" if params else candidate.method


def parameter_words(candidate: CandidateRecord) -> str:
    return ", ".join(f"{name}={value}" for name, value in candidate.params.items())


def verdict(assessment: AssessmentRecord, n_test: int) -> str:
    """Return the result in one sentence."""
    found = f"{percent(assessment.score)} of {n_test} blind test rows are right"
    interval = f"95 % interval {percent(assessment.low)} to {percent(assessment.high)}"
    always = f"always saying {assessment.baseline_label!r} gives {percent(assessment.baseline)}"
    return f"{found} ({interval}); {always}."


def percent(share: float) -> str:
    """Return a share as a percentage with one digit.

    >>> percent(0.8684)
    '86.8 %'
    """
    return f"{100 * share:.1f} %"


def title(run: Run) -> str:
    return f"{run.table}: {run.target}"
