"""Randomness enters here and leaves as plain integers, before any parallel work starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def integer_seeds(random_state: Any, n_seeds: int) -> np.ndarray:
    """Return ``n_seeds`` integers drawn from scikit-learn's ``random_state``.

    >>> integer_seeds(0, 2)
    array([2357136044, 2546248239])
    """
    return check_random_state(random_state).randint(2**32, size=n_seeds, dtype=np.uint32).astype(np.int64)
