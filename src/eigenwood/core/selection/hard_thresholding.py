"""Best k columns for a linear regression: iterative hard thresholding, then exchanges of one column for another.

    step       u = β + μ Aᵀ(b − Aβ), keep the k largest |u|, and solve least squares on these columns
    μ          ‖g‖² / ‖A g‖² for the k largest entries g of the gradient outside the support (the normalised step of
               Blumensath and Davies 2010); halved until the residual decreases
    fixed      no step of any length changes the support for the better
    exchange   of all pairs (a column inside, one outside) the one that decreases the residual most, until none does

A has the columns of X less their means and divided by their norms. It is never made: Aᵀr = (Xᵀ W r − m Σ w r) / s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST_DECREASE = 1e-10  # of the residual: what decreases it by less is rounding
MOST_HALVINGS = 30
NO_LENGTH = 1e-9  # of a column beside the columns in the support: it adds nothing
BLOCK_NUMBERS = 2**17  # of X, which stay in the cache: a copy of X costs more than all that is done with it here


class Design(NamedTuple):
    """The columns of a regression, and their target."""

    X: np.ndarray
    weights: np.ndarray
    mean: np.ndarray  # zeros without an intercept
    scale: np.ndarray  # 1 for a column that does not vary
    target: np.ndarray  # less its mean


class Subset(NamedTuple):
    """Some columns with their least-squares coefficients."""

    support: np.ndarray  # ascending
    coef: np.ndarray  # of scaled columns
    rest: np.ndarray  # what is left of the target
    residual: float  # its weighted sum of squares


class SubsetFit(NamedTuple):
    """The best subset found, and how."""

    best: Subset
    path: np.ndarray  # the residual after each step and exchange, from that of no column on
    n_steps: int


def design_of(X, y, weights, centred: bool) -> tuple[Design, float]:
    """Return a regression's design, and the mean of y."""
    total = weights.sum()
    mean = weights @ X / total if centred else np.zeros(X.shape[1])
    y_mean = float(weights @ y / total) if centred else 0.0
    squares, largest = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    n_rows = max(1, BLOCK_NUMBERS // X.shape[1])
    moved = np.empty((n_rows, X.shape[1]))
    for begin in range(0, X.shape[0], n_rows):
        rows = X[begin : begin + n_rows]
        from_mean = np.subtract(rows, mean, out=moved[: len(rows)])
        np.multiply(from_mean, from_mean, out=from_mean)
        squares += weights[begin : begin + n_rows] @ from_mean
        np.maximum(largest, rows.max(axis=0), out=largest)
        np.maximum(largest, -rows.min(axis=0), out=largest)
    varies = squares > (1e-13 * largest) ** 2 * total
    return Design(X, weights, mean, np.where(varies, np.sqrt(squares), 1.0), y - y_mean), y_mean


def correlations(design: Design, rest) -> np.ndarray:
    """Return Aᵀ W r for one vector, or for each row of a matrix."""
    weighted = rest * design.weights
    products = weighted @ design.X
    return (products - np.multiply.outer(weighted.sum(axis=-1), design.mean)) / design.scale


def scaled_columns(design: Design, support) -> np.ndarray:
    """Return some columns of A."""
    return (design.X[:, support] - design.mean[support]) / design.scale[support]


def least_squares(design: Design, support) -> Subset:
    """Return the coefficients of some columns that leave least."""
    support = np.sort(support)
    columns, root = scaled_columns(design, support), np.sqrt(design.weights)
    coef = np.linalg.lstsq(columns * root[:, None], design.target * root, rcond=None)[0]
    rest = design.target - columns @ coef
    return Subset(support, coef, rest, float(design.weights @ (rest * rest)))


def best_subset(design: Design, k: int, starts, max_iter: int) -> SubsetFit:
    """Return the best of the fits from each of the starts; a start is a vector with an entry for each column."""
    best: SubsetFit | None = None
    for start in starts:
        found = descended(design, k, start, max_iter)
        best = found if best is None or found.best.residual < best.best.residual else best
    assert best is not None
    return exchanged(design, best, max_iter)


def largest(values, k: int) -> np.ndarray:
    """Return the places of the k largest absolute values, ascending; of equal ones the first."""
    return np.sort(np.argsort(-np.abs(values), kind="stable")[:k])


def descended(design: Design, k: int, start, max_iter: int) -> SubsetFit:
    """Return where steps of hard thresholding lead from the columns in which the start is largest."""
    here = least_squares(design, largest(start, k))
    path = [float(design.weights @ design.target**2), here.residual]
    for n_steps in range(1, max_iter + 1):
        there = stepped(design, here)
        if there is None:
            return SubsetFit(here, np.array(path), n_steps)
        here = there
        path.append(here.residual)
    return SubsetFit(here, np.array(path), max_iter)


def stepped(design: Design, here: Subset) -> Subset | None:
    """Return the next subset; None if no length of the step leaves less."""
    k = here.support.size
    gradient = correlations(design, here.rest)
    gradient[here.support] = 0.0
    length, tried = step_length(design, gradient, k), {here.support.tobytes()}
    coef = np.zeros(gradient.size)
    coef[here.support] = here.coef
    for _ in range(MOST_HALVINGS):
        support = largest(coef + length * gradient, k)
        if np.array_equal(support, here.support):
            return None
        if support.tobytes() not in tried:
            tried.add(support.tobytes())
            there = least_squares(design, support)
            if there.residual < here.residual * (1.0 - LEAST_DECREASE):
                return there
        length *= 0.5
    return None


def step_length(design: Design, gradient, k: int) -> float:
    """Return ‖g‖² / ‖A g‖² for the k largest entries of the gradient."""
    support = largest(gradient, k)
    direction = scaled_columns(design, support) @ gradient[support]
    squares = float(design.weights @ (direction * direction))
    return float(gradient[support] @ gradient[support]) / squares if squares > 0.0 else 1.0


# ---- exchanges ---------------------------------------------------------------------------------------------------


def exchanged(design: Design, fit: SubsetFit, most: int) -> SubsetFit:
    """Return the fit after the exchanges that decrease the residual, the best one first."""
    here, path = fit.best, list(fit.path)
    products = correlations(design, scaled_columns(design, here.support).T)
    for _ in range(most):
        place, column, decrease = best_exchange(design, here, products)
        if decrease <= LEAST_DECREASE * here.residual:
            break
        support = here.support.copy()
        support[place] = column
        there = least_squares(design, support)
        if there.residual >= here.residual * (1.0 - LEAST_DECREASE):
            break
        products[place] = correlations(design, scaled_columns(design, np.array([column])).T)[0]
        products, here = products[np.argsort(support)], there
        path.append(here.residual)
    return fit._replace(best=here, path=np.array(path))


def best_exchange(design: Design, here: Subset, products) -> tuple[int, int, float]:
    """Return which place of the support is best given to which column, and by how much that decreases the residual.

    With G the products of the support's columns and z those with another column: without column i the residual grows by
    β_i²/G⁻¹_ii; the gradient of the others and their squared lengths beside the support change by (G⁻¹z)_i.
    """
    inverse = np.linalg.pinv(products[:, here.support], hermitian=True)
    diagonal = np.maximum(np.diag(inverse), np.finfo(np.float64).tiny)
    shares = inverse @ products
    lengths = 1.0 - np.einsum("ij,ij->j", products, shares) + shares**2 / diagonal[:, None]
    gradient = correlations(design, here.rest) + (here.coef / diagonal)[:, None] * shares
    usable = lengths > NO_LENGTH
    gains = np.where(usable, gradient**2 / np.where(usable, lengths, 1.0), 0.0)
    gains[:, here.support] = 0.0
    gains -= (here.coef**2 / diagonal)[:, None]
    place, column = np.unravel_index(int(np.argmax(gains)), gains.shape)
    return int(place), int(column), float(gains[place, column])
