"""The blind assessment: once, on rows that neither training nor any choice has seen, beside a constant answer.

blind rows, answers ──► measures with intervals ──► headline
                    └─► confusion, curves, worst rows
"""

from __future__ import annotations

from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.runs.assessing_amounts import assessed_amounts
from eigenwood.runs.assessing_classes import assessed_classes
from eigenwood.runs.assessment_record import AssessmentRecord
from eigenwood.runs.blind import Blind

__all__ = ["Blind", "assessed"]


def assessed(blind: Blind) -> AssessmentRecord:
    """Return how good the final model is on the blind rows."""
    return assessed_classes(blind) if blind.metric.task == CLASSIFICATION else assessed_amounts(blind)
