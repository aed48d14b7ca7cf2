"""Verify gradient boosting: go through its rounds again, with the rows that were given to ``fit``."""

from __future__ import annotations
