"""When an iteration should give way to another way to the same pairs: no later than it has cost a part of that.

error     │ ·                     looks at the residuals of the wanted pairs, as products go on
          │   ·
          │      ·     ← now      the rate between two looks tells how many products are left
tol  ─────┼──────────── ✕
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenwood.core.spectral.krylov import KrylovStep

PROBE = 0.15  # of the work of the other way, which an iteration may do before it is judged: what is lost, if it is slow
LOOKS = 2  # back, from which a rate is taken


class Look(NamedTuple):
    """How many times too large residuals are after so many products with a vector."""

    n_products: int
    excess: float


def look_at(step: KrylovStep) -> Look:
    return Look(step.n_products, step.excess)


def is_slow(looks: list[Look], per_product: float, other_cost: float) -> bool:
    """Return whether the products that are left, at the rate so far, cost more than another way.

    It is not asked before the products so far have cost a certain share of it: the first ones say nothing.
    """
    now = looks[-1]
    if len(looks) <= LOOKS or now.n_products * per_product < PROBE * other_cost:
        return False
    before = looks[-1 - LOOKS]
    if not now.excess < before.excess:
        return True
    gain = np.log(before.excess / now.excess) / (now.n_products - before.n_products)
    return bool(np.log(now.excess) / gain * per_product > other_cost)
