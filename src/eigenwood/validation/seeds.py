"""Randomness enters here and leaves as plain integers, before any parallel work starts."""

from __future__ import annotations

from numbers import Integral
from threading import local
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_own = local()  # of each thread: a new generator takes longer than a new seed for one that is there


def integer_seeds(random_state: Any, n_seeds: int) -> np.ndarray:
    """Return ``n_seeds`` integers drawn from scikit-learn's ``random_state``.

    >>> integer_seeds(0, 2)
    array([2357136044, 2546248239])
    """
    generator = _generator(random_state)
    # one by one: for so few, an array of them takes several times as long to make
    return np.array([int(generator.randint(2**32, dtype=np.uint32)) for _ in range(n_seeds)], dtype=np.int64)


def _generator(random_state: Any) -> np.random.RandomState:
    """Return the generator that scikit-learn's ``random_state`` stands for."""
    if not isinstance(random_state, Integral):
        return check_random_state(random_state)
    if not hasattr(_own, "generator"):
        _own.generator = np.random.RandomState(0)
    _own.generator.seed(int(random_state))
    return _own.generator
