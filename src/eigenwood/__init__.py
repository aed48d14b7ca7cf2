"""Eigenwood: classical machine learning that is fast, never runs out of memory, and shows its proof."""
