"""A certificate in words: each claim as one sentence that can be read once.

A claim is known by its name; behind the name of a member ("svm 1: gap"), and before that of a pair of classes
("gap of yes, no"). Of a claim that is not known here, the statement stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from eigenwood.proofs.claim import Certificate, Claim

PROVED, MEASURED, NOT_CLAIMED, FAILED = "proved", "measured", "not claimed", "FAILS"
ORDER = (FAILED, NOT_CLAIMED, PROVED, MEASURED)

BOUNDED: Mapping[str, str] = {  # claims with a bound; {value} and {bound} are theirs
    "rows": "Every training row ends up in the node that counts it.",
    "values": "What each node predicts follows from its rows.",
    "impurity": "The impurity stated for each node was found again.",
    "gain": "Every question of the tree makes its sides purer.",
    "validation error": "Pruning did not raise the error on validation rows: {value} after it, {bound} before.",
    "vote error": "The out-of-bag error, {value}, keeps Breiman's bound, which is {bound}.",
    "mean error": "The error of the forest, {value}, keeps Breiman's bound, which is {bound}.",
    "rounds": "{value} rounds were kept, and there may be {bound} at most.",
    "loss never rose": "No round raised the training loss.",
    "training error": "The training error, {value}, keeps its bound, the product of the rounds' normalizers: {bound}.",
    "edges": "That product, {value}, is no larger than the edges of the learners allow: {bound}.",
    "smallest edge": "Nor is it larger than the weakest learner's edge alone allows: {bound}.",
    "edge-margin gap": "The smallest margin is {value} below the largest edge of any stump, and must not be above it.",
    "gap": "No other model of this kind fits better by more than {value} (primal less dual objective).",
    "duality": "The dual objective does not exceed the primal, as theory demands.",
    "constant": "The model costs less than the best constant answer: {value} against {bound}.",
    "KKT violation": "The conditions for an optimum are broken by {value} at most, within the tolerance {bound}.",
    "offset": "The offset is where the conditions put it.",
    "middle": "The offset agrees with the mean of what the free support vectors say.",
    "balance": "The coefficients of the classes balance.",
    "bounds": "Every coefficient keeps its bound C.",
    "gap of landmarks": "With these landmarks no model fits better by more than {value}.",
    "orthonormality": "The components stand at right angles and have length 1.",
    "kept + lost": "The variance that was kept and the variance that was lost add up to the total.",
    "nothing missed": "Beside the components no direction holds more variance than {value}, at the bound {bound}.",
    "signs": "The largest entry of every component is positive, as the rule for signs has it.",
    "least weight": "No member of the ensemble has a negative weight.",
    "sum of weights": "The weights of the members add up to 1.",
}
UNBOUNDED: Mapping[str, str] = {  # numbers that were measured and have no bound
    "training error": "The error on the rows it learnt from is {value}.",
    "training loss": "The mean loss on the rows it learnt from is {value}.",
    "quantile bins": "{value} columns were put into bins; thresholds of all others were searched exactly.",
    "trees": "{value} trees were grown.",
    "rounds": "{value} rounds were made.",
    "rows drawn": "Each tree learnt from {value} rows drawn at random.",
    "left out": "{percent} of the rows were left out by at least one tree, and so could test it.",
    "out-of-bag score": "On rows that its trees had not seen, the forest scores {value}.",
    "out-of-bag lower": "The 95 % interval of that score begins at {value}.",
    "out-of-bag upper": "It ends at {value}.",
    "strength": "The trees' mean margin for the right answer (strength) is {value}.",
    "correlation": "The answers of two trees are correlated by {value}.",
    "smallest margin": "The smallest margin of a training row is {value} (from -1, surely wrong, to 1, surely right).",
    "median margin": "Half of the training rows have a margin above {value}.",
    "primal": "The objective that was minimized came down to {value}.",
    "dual": "No model of this kind can bring it below {value}.",
    "lower bound": "No model of this kind can bring it below {value}.",
    "gap bound": "With the whole kernel the objective could fall by {value} at most.",
    "margin": "The margin between the classes is {value} wide.",
    "support at bound": "{value} support vectors are inside the margin or wrong.",
    "support free": "{value} support vectors are exactly on the margin.",
    "left out error": "Leaving out any one row, the error is at most {value}.",
    "trace error": "The landmarks leave {value} of the kernel's trace unexplained.",
}
LEAVE_ONE_OUT = "leave-one-out"


class ClaimLine(NamedTuple):
    """One claim, as text."""

    member: str
    sentence: str
    status: str
    name: str
    statement: str
    value: str
    bound: str


def claim_lines(certificate: Certificate) -> list[ClaimLine]:
    """Return a line for each claim: what was proved first, then what was measured."""
    lines = [claim_line(claim) for claim in certificate]
    return sorted(lines, key=lambda line: ORDER.index(line.status))


def member_lines(lines: Sequence[ClaimLine]) -> dict[str, list[ClaimLine]]:
    """Return the claims about each member, under its name with a tally; of the only one under no name."""
    found = dict[str, list[ClaimLine]]()
    for line in lines:
        found.setdefault(line.member, []).append(line)
    if len(found) == 1:
        return {"": list(lines)}
    return {f"{member or 'the whole'}: {tally(own)}": own for member, own in sorted(found.items())}


def tally(lines: Sequence[ClaimLine]) -> str:
    """Return how many claims there are of each status."""
    statuses = [line.status for line in lines]
    return ", ".join(f"{statuses.count(status)} {status}" for status in ORDER if status in statuses)


def claim_line(claim: Claim) -> ClaimLine:
    """Return a claim as text."""
    member, name, label = parts_of(claim.name)
    sentence = sentence_of(claim, name)
    value, bound = number(claim.value), "" if claim.bound is None else number(claim.bound)
    about = f"{label}: " if label else ""
    return ClaimLine(member, about + sentence, status_of(claim), claim.name, claim.statement, value, bound)


def parts_of(name: str) -> tuple[str, str, str]:
    """Return the member, the claim and the classes that a name speaks of.

    >>> parts_of("svm 1: gap"), parts_of("gap of yes, no"), parts_of("gap of landmarks")
    (('svm 1', 'gap', ''), ('', 'gap', 'yes, no'), ('', 'gap of landmarks', ''))
    """
    found = re.fullmatch(r"(?:([a-z][a-z-]* \d+): )?(.*)", name, re.DOTALL)
    member, rest = (found[1] or "", found[2]) if found else ("", name)
    if rest in BOUNDED or rest in UNBOUNDED:
        return member, rest, ""
    claim, _, label = rest.partition(" of ")
    return (member, claim, label) if claim in BOUNDED or claim in UNBOUNDED else (member, rest, "")


def sentence_of(claim: Claim, name: str) -> str:
    """Return a claim in words; of one that is not made, why not."""
    if claim.holds is None:
        return f"Not claimed: {claim.statement}."
    if name == "left out" and claim.statement.startswith(LEAVE_ONE_OUT):
        name = "left out error"
    form = (UNBOUNDED if claim.bound is None else BOUNDED).get(name)
    bound = "" if claim.bound is None else number(claim.bound)
    if form is None:
        end = f", at the bound {bound}" if bound else ""
        return f"{name[:1].upper()}{name[1:]}: {claim.statement} is {number(claim.value)}{end}."
    return form.format(value=number(claim.value), bound=bound, percent=f"{100 * claim.value:.3g} %")


def status_of(claim: Claim) -> str:
    if claim.holds is None:
        return NOT_CLAIMED
    return FAILED if not claim.holds else MEASURED if claim.bound is None else PROVED


def number(value: float) -> str:
    """Return a number with as many digits as a sentence bears.

    >>> number(303.0), number(0.0064107), number(-1e-9), number(103.153)
    ('303', '0.00641', '-1e-09', '103')
    """
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"


def certificate_line(certificate: Certificate) -> str:
    """Return what a certificate comes to, in one line.

    >>> from eigenwood.proofs.claim import at_most, measured
    >>> certificate_line(Certificate((at_most("gap", "", 0.1, 1.0), measured("trees", "", 100.0))))
    'Certificate: 1 claim proved, 1 number measured; all claims hold.'
    """
    statuses = [status_of(claim) for claim in certificate]
    n_proved, n_measured = statuses.count(PROVED), statuses.count(MEASURED)
    proved = f"{n_proved} claim{'' if n_proved == 1 else 's'} proved"
    numbers = f"{n_measured} number{'' if n_measured == 1 else 's'} measured"
    return f"Certificate: {proved}, {numbers}; {certificate.verdict()}."
