"""Boosting by stages: trees from one table of bytes, grown on sums of whole numbers."""
