"""The leak watch: all detectors, one after the other, as long as there is time."""

from __future__ import annotations

from collections.abc import Iterator

from eigenwood.data.tables import Table
from eigenwood.runs.clock import Clock
from eigenwood.runs.leaks.amount_copies import copy_of_amounts, range_of_amounts
from eigenwood.runs.leaks.duplicates import duplicate_findings
from eigenwood.runs.leaks.filled import filled_findings
from eigenwood.runs.leaks.findings import Finding, LeakReport
from eigenwood.runs.leaks.groups import group_finding
from eigenwood.runs.leaks.label_copies import copy_of_labels
from eigenwood.runs.leaks.ordering import order_finding
from eigenwood.runs.leaks.others import Others, others_of
from eigenwood.runs.leaks.sample import Sample, blocks, sample_of
from eigenwood.runs.leaks.screening import ranges_in, strongest, suspects_in
from eigenwood.runs.leaks.suspect import Suspect
from eigenwood.runs.settings import Split

FEWEST_ROWS = 10  # to learn from; fewer say nothing


def leaks(table: Table, target: str, task: str, split: Split, clock: Clock) -> LeakReport:
    """Return what looks like a leak; only duplicate rows and groups are looked for on both sides of the split."""
    if split.train.size < FEWEST_ROWS or len(table.columns) < 2:
        return LeakReport([], True)
    sample = sample_of(table, target, task, split)
    findings, suspects, ranges = list[Finding](), list[Suspect](), list[Suspect]()
    for block in blocks(sample):
        if clock.time_is_up():
            break
        findings += filled_findings(block, sample)
        suspects += suspects_in(block, sample)
        ranges += ranges_in(block, sample)
    suspects = strongest(suspects)
    others = others_of(sample, suspects, clock)
    found = [range_of_amounts(suspect, sample.target) for suspect in strongest(ranges)]
    found += [explained(suspect, sample, others, table, split) for suspect in suspects]
    findings += one_of_each_column(found)
    if not clock.time_is_up():
        findings += duplicate_findings(table, target, split)
    return LeakReport(sorted(findings, key=lambda finding: not finding.serious), not clock.time_is_up())


def explained(suspect: Suspect, sample: Sample, others: Others, table: Table, split: Split) -> Finding | None:
    """Return what a suspect is: an id, a group, a copy, or nothing to speak of."""
    if suspect.line.kind == "id":
        return order_finding(suspect, sample)
    copy = copy_of_labels if sample.target.codes is not None else copy_of_amounts
    return (
        order_finding(suspect, sample)
        or group_finding(suspect, sample, table, split)
        or copy(suspect, sample.target, others)
    )


def one_of_each_column(found: list[Finding | None]) -> Iterator[Finding]:
    """Yield the first finding of each column."""
    seen = set[tuple[str, ...]]()
    for finding in found:
        if finding is not None and tuple(finding.columns) not in seen:
            seen.add(tuple(finding.columns))
            yield finding
