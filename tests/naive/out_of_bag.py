"""The mean of learners on rows that they did not see, in plain loops over rows and pairs of learners."""


def product(one, other):
    """Return the mean over the outputs of the products of two residuals."""
    return sum(a * b for a, b in zip(one, other, strict=True)) / len(one)


def assessed_mean(residuals, weights):
    """Return error, learner error, learners asked (harmonic) and correlation.

    ``residuals`` has a dictionary for each learner: row → what it is off by, a list with a number for each output.
    """
    asked = {i: [own[i] for own in residuals if i in own] for i in range(len(weights))}
    asked = {i: off for i, off in asked.items() if off}
    total = sum(weights[i] for i in asked)

    error = learner_error = own_error = 0.0
    for i, off in asked.items():
        mean = [sum(column) / len(off) for column in zip(*off, strict=True)]
        one = sum(product(r, r) for r in off) / len(off)
        error += weights[i] / total * product(mean, mean)
        learner_error += weights[i] / total * one
        own_error += weights[i] / total * one / len(off)

    products = squares = 0.0
    for t, one in enumerate(residuals):
        for u, other in enumerate(residuals):
            for i in one.keys() & other.keys() if t != u else ():
                share = weights[i] / len(asked[i]) ** 2
                products += share * product(one[i], other[i])
                squares += share * (product(one[i], one[i]) + product(other[i], other[i])) / 2

    masses = [sum(weights[i] for i in own) for own in residuals if own]
    errors = [
        sum(weights[i] * product(r, r) for i, r in own.items()) / sum(weights[i] for i in own)
        for own in residuals
        if own
    ]
    mean_square = sum(w * e for w, e in zip(masses, errors, strict=True)) / sum(masses)
    mean_deviation = sum(w * e**0.5 for w, e in zip(masses, errors, strict=True)) / sum(masses)
    correlation = products / squares * mean_square / mean_deviation**2
    return error, learner_error, learner_error / own_error, correlation
