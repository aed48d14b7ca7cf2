"""What can be proved of boosting, and how the rounds are told again from the rows and what the learners say of them.

    training error ≤ Π Z_t ≤ exp(-2 Σ γ_t²) ≤ exp(-γ²T/2)     the last two for two classes and a learning rate of 1

Z_t is what the weights come to after round t, γ_t = r_t / 2 by how much learner t is better than chance, and γ the
smallest of these. The first step holds because e^(-margin) is at least 1 where a row is wrong; for AdaBoost.MH with K
classes it needs a factor √(K-1). The last is the kernel lecture's (*The surprising power of weak learning*).

For stumps there is a duality: whatever weights stumps get, their smallest margin is at most the largest edge that any
stump has under any weights of the rows. So the difference says how far the smallest margin is at most from the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.proofs.claim import ROUNDING, Claim, at_least, at_most, claimed, measured

ALIKE = 1e-6  # by which numbers of a round may differ that were added in another way
STOPPED = ("time_limit", "callback")


class History(NamedTuple):
    """The numbers of all rounds."""

    errors: np.ndarray
    edges: np.ndarray
    alphas: np.ndarray
    normalizers: np.ndarray
    train_errors: np.ndarray
    min_margins: np.ndarray


# ---- claims --------------------------------------------------------------------------------------------------------


def boosting_claims(
    history: History,
    margins: np.ndarray,
    weights: np.ndarray,
    *,
    n_classes: int,
    plain: bool,
    real: bool,
    largest_edge: float | None,
    n_wanted: int,
    stop_reason: str,
) -> list[Claim]:
    """Return the claims about rounds; ``plain`` is a learning rate of 1."""
    stopped = f"rounds, of {n_wanted}; stop_reason_ is '{stop_reason}'"
    rounds = measured("rounds", f"rounds, of at most {n_wanted}", history.errors.size)
    claims = [claimed(rounds, stop_reason not in STOPPED, stopped)]
    factor = math.sqrt(n_classes - 1.0) if real else 1.0
    bound = factor * float(np.prod(history.normalizers))
    error = float(weights[margins <= 0.0].sum() / weights.sum())
    statement = "share of weight without a margin above 0 ≤ " + ("√(K-1) Π Z" if factor > 1.0 else "Π Z")
    claims.append(at_most("training error", statement, error, bound + ROUNDING))
    if plain and n_classes == 2:
        claims += edge_claims(history)
    claims.append(measured("smallest margin", "min y f(x) / Σ α, between -1 and 1", float(margins.min())))
    claims.append(measured("median margin", "weighted median of y f(x) / Σ α", weighted_median(margins, weights)))
    if largest_edge is not None:
        statement = "largest edge of any stump, under the weights where it is least, less the smallest margin: ≥ 0"
        claims.append(at_least("edge-margin gap", statement, largest_edge - float(margins.min()), -ROUNDING))
    return claims


def edge_claims(history: History) -> list[Claim]:
    """Return the claims that follow from the edges."""
    gammas = history.edges / 2.0
    tight = math.exp(-2.0 * float((gammas**2).sum()))
    loose = math.exp(-float(gammas.min() ** 2) * gammas.size / 2.0)
    product = float(np.prod(history.normalizers))
    return [
        at_most("edges", "Π Z ≤ exp(-2 Σ γ²), γ = r / 2", product, tight * (1.0 + ROUNDING)),
        at_most("smallest edge", "exp(-2 Σ γ²) ≤ exp(-γ²T/2), γ the smallest", tight, loose * (1.0 + ROUNDING)),
    ]


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the least value that has half of the weight up to it.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    2.0
    """
    order = np.argsort(values)
    up_to = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(up_to, 0.5 * up_to[-1])])


# ---- the rounds, told again ----------------------------------------------------------------------------------------


class Told(NamedTuple):
    """The rounds as they follow from what the learners say, and the margins after the last."""

    history: History
    margins: np.ndarray
    weights: list[np.ndarray]  # D before each round, and after the last
    in_doubt: np.ndarray  # the share of weight whose margin after each round is 0 but for rounding


def told_again(pred: Iterator[np.ndarray], classes, mass, alphas: np.ndarray, real: bool) -> Told:
    """Return the rounds of learners that have the weights ``alphas``.

    ``pred`` has, for each of them, an array (n_rows, n_classes): 1 for what it is sure of, -1 for what it excludes.
    """
    rows, start = np.arange(classes.size), mass / mass.sum()
    scores, lost, total, lines, in_doubt, weights = 0.0, np.zeros(classes.size), 0.0, [], [], [start]
    for alpha, one in zip(alphas, pred, strict=True):
        sign = np.full(one.shape, -1.0)
        sign[rows, classes] = 1.0
        wrong = one.argmax(axis=1) != classes
        error = weights[-1][wrong].sum()
        if real:
            halves = np.where(sign > 0, 0.5, 0.5 / (one.shape[1] - 1)) * start[:, None]
            pairs = normalized(halves, -sign * scores)
            edge = (pairs * sign * one).sum()
            normalizer = (pairs * np.exp(-alpha / 2 * sign * one)).sum()
        else:
            edge, normalizer = 1 - 2 * error, (1 - error) * np.exp(-alpha / 2) + error * np.exp(alpha / 2)
        scores, lost, total = scores + alpha / 2 * one, lost + alpha * wrong, total + alpha
        rest = np.where(sign > 0, -np.inf, scores).max(axis=1)
        margins = (scores[rows, classes] - rest) / total if total > 0 else np.zeros(classes.size)
        lines.append((error, edge, alpha, normalizer, start[margins <= ROUNDING].sum(), margins.min()))
        in_doubt.append(start[np.abs(margins) <= ROUNDING].sum())
        weights.append(normalized(halves, -sign * scores).sum(axis=1) if real else normalized(start, lost))
    return Told(History(*np.array(lines).T), margins, weights, np.array(in_doubt))


def normalized(mass: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return mass · e^exponents as shares of 1."""
    raised = mass * np.exp(exponents - np.max(exponents))
    return raised / raised.sum()


def expected_alphas(history: History, n_classes: int, learning_rate: float, real: bool) -> np.ndarray:
    """Return the weights that learners must have by their errors, or by their edges."""
    lack = (1.0 - history.edges) / 2.0 if real else history.errors
    chance = 0.5 if real else 1.0 - 1.0 / n_classes
    with np.errstate(divide="ignore", invalid="ignore"):  # a lack may be 1 and a little more
        alphas = learning_rate * (np.log((1.0 - lack) / lack) + (0.0 if real else math.log(n_classes - 1.0)))
    for t in np.flatnonzero(lack <= ALIKE**2):
        alphas[t] = 1.0 + history.alphas[:t].sum()
    alphas[lack >= chance - ROUNDING] = 0.0
    return alphas


def history_claims(stored: History, told: Told, wanted: np.ndarray) -> list[Claim]:
    """Return the claims that the stored numbers are found again, and that the weights are those of the rule.

    A margin of about 0 may be on either side of it: training errors may differ by the rows that have one.
    """
    unlike = [0.0]
    for name, ours, again in zip(History._fields, stored, told.history, strict=True):
        loose = told.in_doubt if name == "train_errors" else 0.0
        unlike.append(float(np.max(np.maximum(np.abs(ours - again) - loose, 0.0) / (1.0 + np.abs(again)))))
    off = float(np.max(np.abs(stored.alphas - wanted) / (1.0 + np.abs(wanted))))
    statement = "largest difference of the stored numbers of a round from those found again"
    return [
        at_most("history", statement, max(unlike), ALIKE),
        at_most("weights of learners", "largest difference from ln((1-ε)/ε) + ln(K-1), or ln((1+r)/(1-r))", off, ALIKE),
    ]


# ---- stumps --------------------------------------------------------------------------------------------------------


def preds_of_stumps(stumps: Stumps, X, n_classes: int) -> Iterator[np.ndarray]:
    """Yield what each stump says of each row; X has categories as codes."""
    columns = X.tocsc() if sparse.issparse(X) else X
    for t in range(stumps.feature.size):
        x = column_of(columns, int(stumps.feature[t]))
        listed = stumps.categories[stumps.category_start[t] : stumps.category_start[t + 1]]
        if listed.size:
            left = np.isin(x, listed) != stumps.default_left[t]
        else:
            left = np.where(np.isnan(x), stumps.default_left[t], x <= stumps.threshold[t])
        pred = np.full((x.size, n_classes), -1.0)
        pred[np.arange(x.size), np.where(left, stumps.left[t], stumps.right[t])] = 1.0
        yield pred


def column_of(X, j: int) -> np.ndarray:
    """Return a column of a dense or csc matrix as numbers."""
    return (X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]).astype(np.float64)


def least_error(
    X, is_category: np.ndarray, classes: np.ndarray, weights: np.ndarray, n_classes: int
) -> Iterator[float]:
    """Yield, column by column, the least error of a stump under some weights: one that says the same of all first."""
    by_class = np.where(np.arange(n_classes) == classes[:, None], weights[:, None], 0.0)
    total = by_class.sum(axis=0)
    yield float(weights.sum() - total.max())
    columns = X.tocsc() if sparse.issparse(X) else X
    for j in range(X.shape[1]):
        x = column_of(columns, j)
        values, place = np.unique(x, return_inverse=True)  # NaN comes last, once
        sums = np.zeros((values.size, n_classes))
        np.add.at(sums, place, by_class)
        yield float(weights.sum() - (best_sets(sums) if is_category[j] else best_of_cuts(values, sums, total)))


def best_of_cuts(values: np.ndarray, sums: np.ndarray, total: np.ndarray) -> float:
    """Return the largest weight that a cut between numbers gets right."""
    absent = np.isnan(values[-1])
    left = np.cumsum(sums, axis=0)[:-1]
    sides = [left, left[:-1] + sums[-1]] if absent else [left]
    return max((one.max(axis=1) + (total - one).max(axis=1)).max(initial=total.max()) for one in sides)


def best_sets(sums: np.ndarray) -> float:
    """Return the largest weight that two sets of categories get right."""
    n_classes = sums.shape[1]
    pairs = ((a, b) for a in range(n_classes) for b in range(a + 1, n_classes))
    return max(float(np.maximum(sums[:, a], sums[:, b]).sum()) for a, b in pairs)


def best_stump_claim(errors: list[float], least: list[float]) -> Claim:
    """Return the claim that no stump was better than those found, in the rounds that were searched again."""
    excess = max(own - best for own, best in zip(errors, least, strict=True))
    statement = f"largest excess of ε over the least of all stumps, in {len(errors)} rounds searched again"
    return at_most("best stumps", statement, excess, ALIKE)


# ---- AdaBoost.R2 ---------------------------------------------------------------------------------------------------


def regression_claims(
    errors: np.ndarray, alphas: np.ndarray, learning_rate: float, n_wanted: int, stop_reason: str
) -> list[Claim]:
    """Return the claims about rounds of AdaBoost.R2: each learner has the weight of its mean loss."""
    stopped = f"rounds, of {n_wanted}; stop_reason_ is '{stop_reason}'"
    rounds = measured("rounds", f"rounds, of at most {n_wanted}", errors.size)
    with np.errstate(divide="ignore"):
        wanted = np.where(errors <= 0.0, 1.0, learning_rate * np.log((1.0 - errors) / errors))
    wanted = np.where(errors >= 0.5, 0.0, wanted)
    off = float(np.max(np.abs(alphas - wanted) / (1.0 + np.abs(wanted))))
    return [
        claimed(rounds, stop_reason not in STOPPED, stopped),
        at_most("weights of learners", "largest difference from ln((1-ε)/ε), times the learning rate", off, ALIKE),
    ]


def loss_claim(stored: np.ndarray, told: list[float]) -> Claim:
    """Return the claim that the mean losses are found again."""
    off = float(np.max(np.abs(stored - np.array(told))))
    return at_most("history", "largest difference of a stored mean loss from that found again", off, ALIKE)


def r2_losses(pred: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    """Return the loss of each row, between 0 and 1."""
    off = np.abs(pred - y)
    share = off / off.max() if off.max() > 0 else off
    return {"linear": share, "square": share * share, "exponential": 1 - np.exp(-share)}[loss]
