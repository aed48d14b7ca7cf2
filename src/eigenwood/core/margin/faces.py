"""The best point of a face: all variables that are between their bounds move at once, the others stand still.

Pairs settle quickly which variables are at a bound, and take very long to settle the others where K hardly tells them
apart or C is large. Among the free ones, F, the best point without bounds is the solution of a linear system:

    (K_FF + R) d + λ 1 = e_F ∓ ε            the sum grows no more along any direction with Σd = 0
           1ᵀd         = 0

Where it lies beyond a bound there are two ways to go: straight on to the first bound; or to the nearest point within
all bounds, by which many variables arrive at theirs. The one by which the sum grows more is taken, and the face has
become smaller.

    ┌──────────────┐
    │        a ····│···· d          a  straight on, to the first bound
    │   β ⟋        │   ⟋
    │              b                b  the nearest point within bounds: β moves towards it as long as that is good
    └──────────────┘
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import njit

SOFTENED = 1e-10  # of the largest |k(x, z)|, added to all k(x, x): K_FF may be singular
SOLVED_AT = 20.0  # n³ over this: what a linear system takes, in additions along a row
HALVINGS = 70  # of the interval in which the shift of a projection lies
LEAST = 3  # free variables
TINY = 1e-100
FARTHEST = 1e3  # as many times the widest bounds
LOST = 1e-15  # of a sum: rounding


@njit
def solving_work(n_free, n_members):
    """Return what a step on a face takes, in additions along a row."""
    return 1000.0 + n_free * (n_free * (n_free / SOLVED_AT + 4.0) + 2.0 * n_members)


@njit
def free_variables(beta, low, high, epsilon):
    """Return the variables between their bounds; with a tube 0 is a bound too."""
    free, n_free = np.empty(beta.size, np.int64), 0
    for k in range(beta.size):
        if low[k] < beta[k] < high[k] and (epsilon == 0.0 or beta[k] != 0.0):
            free[n_free] = k
            n_free += 1
    return free[:n_free]


@njit
def step_on_face(K, ridge, errors, beta, low, high, epsilon, free):
    """Move the free variables to the best point of their face, or towards it; return by how much the sum has grown.

    ``errors`` and ``beta`` are changed.
    """
    size = free.size
    slopes, floor, ceiling = np.empty(size), np.empty(size), np.empty(size)
    H = np.empty((size + 1, size + 1))
    largest = 0.0
    for a in range(size):
        k = free[a]
        slopes[a] = errors[k] - (epsilon if beta[k] > 0.0 else -epsilon)
        floor[a] = 0.0 if epsilon > 0.0 and beta[k] > 0.0 else low[k]
        ceiling[a] = 0.0 if epsilon > 0.0 and beta[k] < 0.0 else high[k]
        for b in range(size):
            H[a, b] = K[k, free[b]]
            largest = max(largest, abs(H[a, b]))
        H[a, a] += ridge[k]
        H[a, size] = H[size, a] = 1.0
    H[size, size] = 0.0
    curvatures = H[:size, :size].copy()
    for a in range(size):
        H[a, a] += SOFTENED * max(largest, TINY)
    told = np.zeros((size + 1, 1))
    told[:size, 0] = slopes
    own = beta[free]
    wish = np.linalg.solve(H, told)[:size, 0].copy()
    if not np.isfinite(wish.sum()):
        return 0.0
    longest, widest = np.abs(wish).max(), (ceiling - floor).max()
    if longest > FARTHEST * widest:
        wish *= FARTHEST * widest / longest  # numbers far beyond all bounds keep no digits within
    near = projected(own, wish, floor, ceiling) - own
    straight, most = growth_along(curvatures, slopes, wish)
    straight = min(straight, room_along(own, wish, floor, ceiling))
    growth = straight * most[0] - 0.5 * straight * straight * most[1]
    towards, other = growth_along(curvatures, slopes, near)
    towards = min(towards, 1.0)
    growth_near = towards * other[0] - 0.5 * towards * towards * other[1]
    if max(growth, growth_near) <= 0.0:
        return 0.0
    if growth_near > growth:
        wish, straight, growth = near, towards, growth_near
    for a in range(size):
        k = free[a]
        there = own[a] + straight * wish[a]
        margin = (
            1e-13 * max(abs(floor[a]), abs(ceiling[a])) if abs(ceiling[a]) < 1e299 and abs(floor[a]) < 1e299 else 0.0
        )
        if there >= ceiling[a] - margin:
            there = ceiling[a]
        elif there <= floor[a] + margin:
            there = floor[a]
        beta[k] = there
    if not is_balanced(own, beta, low, high, free):
        beta[free] = own
        return 0.0
    for a in range(size):
        change = beta[free[a]] - own[a]
        if change != 0.0:
            row = K[free[a]]
            for k in range(errors.size):
                errors[k] -= change * row[k]
            errors[free[a]] -= change * ridge[free[a]]
    return growth


@njit
def growth_along(curvatures, slopes, direction):
    """Return how far the sum grows along a direction, and its slope and curvature there."""
    slope, curvature = 0.0, 0.0
    for a in range(slopes.size):
        slope += slopes[a] * direction[a]
        part = 0.0
        for b in range(slopes.size):
            part += curvatures[a, b] * direction[b]
        curvature += direction[a] * part
    if slope <= 0.0:
        return 0.0, (slope, curvature)
    if curvature <= 0.0:
        return 1.0, (slope, 0.0)
    return slope / curvature, (slope, curvature)


@njit
def room_along(own, direction, floor, ceiling):
    """Return how far one can go before the first bound."""
    room = np.inf
    for a in range(own.size):
        if direction[a] > 0.0:
            room = min(room, (ceiling[a] - own[a]) / direction[a])
        elif direction[a] < 0.0:
            room = min(room, (floor[a] - own[a]) / direction[a])
    return room


@njit
def projected(own, wish, floor, ceiling):
    """Return the point within bounds that is nearest to own + wish, with the sum of own."""
    total, least, most = own.sum(), np.inf, -np.inf
    for a in range(own.size):  # at the shift ``least`` all are at their ceilings, or as they wish
        least = min(least, own[a] + wish[a] - ceiling[a])
        most = max(most, own[a] + wish[a] - floor[a])
    point = np.empty(own.size)
    for _ in range(HALVINGS):
        shift = 0.5 * (least + most)
        found = 0.0
        for a in range(own.size):
            point[a] = min(max(own[a] + wish[a] - shift, floor[a]), ceiling[a])
            found += point[a]
        if found > total:
            least = shift
        else:
            most = shift
    return point


@njit
def is_balanced(own, beta, low, high, free):
    """Let the sum of the free variables be what it was: rounding goes to the one with most room, if that is enough."""
    off, size, best, most = 0.0, 0.0, -1, 0.0
    for a in range(free.size):
        k = free[a]
        off += beta[k] - own[a]
        size += abs(own[a])
        room = min(beta[k] - low[k], high[k] - beta[k])
        room = min(room, abs(beta[k])) if low[k] < 0.0 < high[k] else room
        if room > most:
            best, most = k, room
    if best >= 0 and abs(off) < most:
        beta[best] -= off
        return True
    return abs(off) <= LOST * size
