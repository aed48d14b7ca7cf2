"""Several models as one: weights by greedy selection, and probabilities from scores.

    predictions of m models          shares                 one prediction
    (m, n, k)                   ──►  (m,), sum 1       ──►  sum of share · prediction

    scores of n rows                 slope, offset          probabilities
    (n, 1) or (n, classes)      ──►  of each column    ──►  sigmoids of slope · score + offset, divided by their sum

Greedy selection (Caruana, Niculescu-Mizil, Crew and Ksikes, 2004) begins with the best model and adds, again and
again, the one with which the mean is best; a model may be added many times, and its share is how often it was. What is
mixed is linear in the models (the probability of the true class, or the residual), so a step costs one pass over (m, n)
numbers. To add the best model once more changes nothing at first and allows smaller shares of others later, so all 50
models are added, and the best mixture on the way is kept.

Platt's calibration is a logistic regression on one score, whose targets are (N₊+1)/(N₊+2) and 1/(N₋+2) in place of 1
and 0: classes that a score separates still have a best slope. Solved as by Lin, Lin and Weng (2007).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logit

LOG_LOSS, SQUARED_ERROR = range(2)

MOST_ADDED = 50  # models, of which the shares are whole multiples of 1/50 or more
LEAST_PROBABILITY = 1e-15  # a class that was given none costs so much, not infinitely much
LEAST_LOG = -1e300  # of a probability: infinities cannot be taken from each other
MOST_STEPS = 100  # of Newton's method
LEAST_STEP = 1e-10
ENOUGH_GRADIENT = 1e-10  # as a share of the weight of all rows
SUFFICIENT = 1e-4  # of the decrease that the gradient promises


# ---- weights ------------------------------------------------------------------------------------------------------


def select_weights(predictions: np.ndarray, y: np.ndarray, loss: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the share of each model, shape (m,), of the mixture with the least loss that greedy selection meets.

    ``predictions`` are of shape (m, n, k), ``y`` holds codes of classes or amounts, ``weights`` belong to the rows.
    """
    parts = true_parts(predictions, y, loss)
    rows = np.full(y.size, 1.0 / y.size) if weights is None else weights / weights.sum()
    counts = np.zeros(parts.shape[0])
    best_counts, least = counts, np.inf
    total = np.zeros(parts.shape[1])
    for n_added in range(1, MOST_ADDED + 1):
        losses = mean_losses((total + parts) / n_added, loss, rows)
        chosen = int(losses.argmin())
        total = total + parts[chosen]
        counts[chosen] += 1.0
        if losses[chosen] < least:
            best_counts, least = counts / n_added, losses[chosen]
    return best_counts


def true_parts(predictions: np.ndarray, y: np.ndarray, loss: int) -> np.ndarray:
    """Return what the loss depends on, shape (m, n): the probability of the true class, or the residual."""
    if loss == LOG_LOSS:
        return predictions[:, np.arange(y.size), y]
    return predictions[:, :, 0] - y


def mean_losses(parts: np.ndarray, loss: int, rows: np.ndarray) -> np.ndarray:
    """Return the mean loss of each model; ``rows`` are the shares of the rows."""
    if loss == LOG_LOSS:
        return -np.log(np.maximum(parts, LEAST_PROBABILITY)) @ rows
    return parts**2 @ rows


def weighted_mean(predictions: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the sum of share · prediction over the models, which are added in their order."""
    total = np.zeros(predictions.shape[1:])
    for share, prediction in zip(shares, predictions, strict=True):
        total += share * prediction
    return total


# ---- probabilities from scores ------------------------------------------------------------------------------------


def calibrations_of(
    scores: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return slope and offset of each column of scores: one for two classes, else one for each class."""
    rows = np.ones(codes.size) if weights is None else weights
    positive = [1] if scores.shape[1] == 1 else range(n_classes)
    columns = zip(scores.T, positive, strict=True)
    return np.array([platt(column, codes == code, rows) for column, code in columns])


def platt(scores: np.ndarray, is_positive: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return slope and offset of the sigmoid of a score; rows without a finite score are left out."""
    finite = np.isfinite(scores) & (weights > 0.0)
    scores, is_positive, weights = scores[finite], is_positive[finite], weights[finite]
    n_positive, n_negative = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    targets = np.where(is_positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
    spread = float(np.abs(scores).max(initial=0.0))
    if scores.size == 0 or scores.min() == scores.max():
        return 0.0, log_odds(targets, weights)
    centre = float(np.average(scores / spread, weights=weights))
    scaled = scores / spread - centre
    width = float(np.sqrt(np.average(scaled**2, weights=weights)))
    slope, offset = newton(scaled / width, targets, weights)
    return slope / width / spread, offset - slope * centre / width


def log_odds(targets: np.ndarray, weights: np.ndarray) -> float:
    """Return the offset whose probability is the mean target; 0 if there are no rows."""
    return float(logit(np.average(targets, weights=weights))) if targets.size else 0.0


def newton(scores: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return slope and offset with the least cross entropy; the scores have mean 0 and variance 1."""
    point = np.array([0.0, log_odds(targets, weights)])
    value = cross_entropy(point, scores, targets, weights)
    features = np.stack([scores, np.ones(scores.size)])
    for _ in range(MOST_STEPS):
        probability = expit(point[0] * scores + point[1])
        gradient = features @ (weights * (probability - targets))
        if np.abs(gradient).max() <= ENOUGH_GRADIENT * weights.sum():
            break
        curvature = weights * probability * (1.0 - probability)
        step = -np.linalg.solve((features * curvature) @ features.T + 1e-12 * np.eye(2), gradient)
        length, promised = 1.0, float(gradient @ step)
        while length >= LEAST_STEP:
            moved = cross_entropy(point + length * step, scores, targets, weights)
            if moved <= value + SUFFICIENT * length * promised:
                break
            length /= 2.0
        if length < LEAST_STEP:
            break
        point, value = point + length * step, moved
    return float(point[0]), float(point[1])


def cross_entropy(point: np.ndarray, scores: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
    """Return -Σ w (t log p + (1-t) log(1-p)) of p = sigmoid(slope · score + offset)."""
    logits = point[0] * scores + point[1]
    return -float(weights @ (targets * log_expit(logits) + (1.0 - targets) * log_expit(-logits)))


def calibrated(scores: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Return probabilities of shape (n, n_classes), whose rows sum to 1.

    They are divided by their sum as logarithms, so a row in which no class is likely has a right answer, too. A score
    of minus infinity is that of a class which is excluded; a row that excludes all has equal probabilities.
    """
    excluded = np.isneginf(scores)
    logits = np.where(excluded, 0.0, scores) * calibration[:, 0] + calibration[:, 1]
    logits[excluded] = -np.inf
    if scores.shape[1] == 1:
        return np.column_stack([expit(-logits[:, 0]), expit(logits[:, 0])])
    logs = np.maximum(log_expit(logits), LEAST_LOG)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)
