"""Greedy selection and calibrated scores in plain loops: read this first, then core/blending.py."""

from math import exp, log

MOST_ADDED = 50
LEAST_PROBABILITY = 1e-15


def select_weights(predictions, y, is_classes, weights):
    """Return the share of each model in the best mixture among the first 50 of greedy selection."""
    chosen, best, least = [], None, float("inf")
    for _ in range(MOST_ADDED):
        losses = [loss_of(predictions, [*chosen, model], y, is_classes, weights) for model in range(len(predictions))]
        model = losses.index(min(losses))
        chosen.append(model)
        if losses[model] < least:
            best, least = list(chosen), losses[model]
    return [best.count(model) / len(best) for model in range(len(predictions))]


def loss_of(predictions, chosen, y, is_classes, weights):
    """Return the mean log loss, or squared error, of the mean of the models that were chosen."""
    total = 0.0
    for i in range(len(y)):
        if is_classes:
            mean = sum(predictions[model][i][y[i]] for model in chosen) / len(chosen)
            total += weights[i] * -log(max(mean, LEAST_PROBABILITY))
        else:
            mean = sum(predictions[model][i][0] for model in chosen) / len(chosen)
            total += weights[i] * (mean - y[i]) ** 2
    return total / sum(weights)


def platt_loss(slope, offset, scores, is_positive, weights):
    """Return the cross entropy of sigmoids to Platt's targets."""
    n_positive = sum(w for w, positive in zip(weights, is_positive, strict=True) if positive)
    n_negative = sum(weights) - n_positive
    total = 0.0
    for score, positive, weight in zip(scores, is_positive, weights, strict=True):
        target = (n_positive + 1) / (n_positive + 2) if positive else 1 / (n_negative + 2)
        probability = sigmoid(slope * score + offset)
        total -= weight * (target * log(probability) + (1 - target) * log(1 - probability))
    return total


def platt(scores, is_positive, weights):
    """Return slope and offset with the least cross entropy, by steps along one axis after the other."""
    point, size = [0.0, 0.0], [1.0, 1.0]
    least = platt_loss(*point, scores, is_positive, weights)
    while max(size) > 1e-10:
        for axis in (0, 1):
            for sign in (1.0, -1.0):
                moved = list(point)
                moved[axis] += sign * size[axis]
                loss = platt_loss(*moved, scores, is_positive, weights)
                if loss < least:
                    point, least = moved, loss
                    size[axis] *= 2.0
                    break
            else:
                size[axis] /= 2.0
    return tuple(point)


def calibrated(scores, calibration):
    """Return the probabilities of a row of scores: each by its own sigmoid, divided by their sum."""
    each = [sigmoid(slope * score + offset) for score, (slope, offset) in zip(scores, calibration, strict=True)]
    if len(each) == 1:
        return [1.0 - each[0], each[0]]
    return [probability / sum(each) for probability in each]


def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))
