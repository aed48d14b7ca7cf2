"""What a fitted booster says after each round, as numbers for figures.

The votes of AdaBoost are shares: scikit-learn's ``decision_function`` divides them by the sum of the weights, so that
a class has 1 where all learners vote for it, and -1/(K - 1) where none of them does; for two classes it is the
difference of both. Gradient boosting has scores without bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from eigenwood.errors import InputError
from eigenwood.estimators.boosting.params import quantiles_of
from eigenwood.plots.rounds import Rounds
from eigenwood.validation.targets import check_amounts, check_known, check_labels

SHOWN = 4  # numbers of rounds of which margins or boundaries are shown
SQUARES, QUANTILE = "mean squared error", "mean quantile loss"
SHARES, SCORES = "margin, as a share of all votes", "margin y f(x)"


def check_booster(who: str, model: Any) -> None:
    """Raise unless a model is fitted and says what it predicts after each round."""
    if not (hasattr(model, "staged_predict") and (hasattr(model, "classes_") or hasattr(model, "n_features_in_"))):
        raise InputError(f"plots.{who}: the model must be a fitted booster; got {type(model).__name__}.")


def numbers_of_rounds(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> Rounds:
    """Return the errors, losses and margins after each round."""
    if (X_test is None) != (y_test is None):
        raise InputError(
            f"plots.rounds: X_test and y_test must be given together; got {'y' if X_test is None else 'X'}_test."
        )
    sets = {"training": (X, y)} | ({} if X_test is None else {"test": (X_test, y_test)})
    if not hasattr(model, "classes_"):
        error, measure = (quantile_losses, QUANTILE) if is_of_quantiles(model) else (squared_errors, SQUARES)
        return Rounds({name: error(model, *rows) for name, rows in sets.items()}, measure, losses_of(model))
    errors = {name: error_rates(model, *rows) for name, rows in sets.items()}
    if is_vote(model) and hasattr(model, "validation_score_"):
        errors["validation"] = 1.0 - np.asarray(model.validation_score_)
    bounds = bounds_of(model)
    if bounds is not None and bounds.min() < 1.0:  # of many classes it may say nothing
        errors["bound"] = np.minimum(bounds, 1.0)
    rounds = some_rounds(errors["training"].size)
    margins = dict(zip(rounds, margins_after(model, X, y, rounds), strict=True))
    return Rounds(errors, "error rate", losses_of(model), margins, SHARES if is_vote(model) else SCORES)


def squared_errors(model: Any, X: Any, y: Any) -> np.ndarray:
    """Return the mean squared error after each round."""
    truth = check_amounts(model, y, len(y))[:, 0]
    return np.array([np.mean((np.asarray(pred) - truth) ** 2) for pred in model.staged_predict(X)])


def is_of_quantiles(model: Any) -> bool:
    return getattr(model, "loss", None) == "quantile"


def quantile_losses(model: Any, X: Any, y: Any) -> np.ndarray:
    """Return the mean loss of quantiles after each round, that of several quantiles together."""
    truth, shares = check_amounts(model, y, len(y)), quantiles_of(model)
    lost = (truth - np.asarray(pred).reshape(len(truth), -1) for pred in model.staged_predict(X))
    return np.array([np.mean(np.maximum(shares * rest, (shares - 1.0) * rest)) for rest in lost])


def error_rates(model: Any, X: Any, y: Any) -> np.ndarray:
    """Return the share of the rows that are wrong after each round."""
    codes = codes_of(model, y)
    return np.array([np.mean(np.searchsorted(model.classes_, pred) != codes) for pred in model.staged_predict(X)])


def losses_of(model: Any) -> dict[str, np.ndarray]:
    """Return the losses that a model has noted, of its training and its validation rows.

    Some note minus the loss, which rises; validation rows may have been scored by another measure, which is left out.
    """
    losses = {}
    training = np.asarray(getattr(model, "train_score_", ()), dtype=np.float64)
    if training.size > 0:
        losses["training"] = -training if training[-1] > training[0] else training
    scores = np.asarray(getattr(model, "validation_score_", ()), dtype=np.float64)
    if scores.size > 0 and getattr(model, "scoring", None) == "loss":
        losses["validation"] = -scores
    return losses


def bounds_of(model: Any) -> np.ndarray | None:
    """Return the bound of the training error after each round, the product of all Z_t; None if nothing says it."""
    if hasattr(model, "bounds_"):
        return np.asarray(model.bounds_)
    is_lecture = len(model.classes_) == 2 and getattr(model, "learning_rate", None) == 1.0
    if not (is_vote(model) and is_lecture):
        return None
    errors = np.asarray(model.estimator_errors_)[: len(model.estimators_)]
    return np.cumprod(2.0 * np.sqrt(errors * (1.0 - errors)))


def is_vote(model: Any) -> bool:
    """Return whether a model is AdaBoost, whose learners vote with weights."""
    return hasattr(model, "estimator_weights_")


def some_rounds(n_rounds: int, n_shown: int = SHOWN) -> list[int]:
    """Return some numbers of rounds, each about as many times the one before, from the first to the last.

    >>> some_rounds(200), some_rounds(3), some_rounds(1)
    ([1, 6, 34, 200], [1, 2, 3], [1])
    """
    return sorted({round(number) for number in np.geomspace(1, n_rounds, n_shown)})


# --- scores ----------------------------------------------------------------------------------------


def codes_of(model: Any, y: Any) -> np.ndarray:
    """Return the places of the labels among the model's classes."""
    return check_known(model, check_labels(model, y, len(y)), model.classes_).codes


def scores_after(model: Any, X: Any, rounds: Sequence[int]) -> Iterator[np.ndarray]:
    """Yield the scores of the rows after some numbers of rounds: of each class, or of two classes their difference."""
    for number, scores in enumerate(model.staged_decision_function(X), start=1):
        if number in rounds:
            table = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
            yield table[:, 0] if table.shape[1] == 1 else table


def margins_after(model: Any, X: Any, y: Any, rounds: Sequence[int]) -> Iterator[np.ndarray]:
    """Yield the margins of the rows: the score of the right class less that of the strongest other one."""
    codes, n_classes = codes_of(model, y), len(model.classes_)
    scale = (n_classes - 1) / n_classes if is_vote(model) else 1.0
    for scores in scores_after(model, X, rounds):
        if scores.ndim == 1:
            yield scale * np.where(codes == 1, scores, -scores)
            continue
        right, others = scores[np.arange(codes.size), codes], scores.copy()
        others[np.arange(codes.size), codes] = -np.inf
        yield scale * (right - others.max(axis=1))


def weights_after(model: Any, X: Any, y: Any, rounds: Sequence[int]) -> Iterator[np.ndarray]:
    """Yield the weight of each row after some numbers of rounds, as a share of all.

    AdaBoost's is e to the minus weights of the learners that were right; gradient boosting has no weights, and the
    share that its logistic loss would still move the row stands for it.
    """
    codes, n_classes = codes_of(model, y), len(model.classes_)
    for number, scores in zip(rounds, scores_after(model, X, rounds), strict=True):
        if scores.ndim == 1:
            right = np.where(codes == 1, scores, -scores) / (2.0 if is_vote(model) else 1.0)
        else:
            right = scores[np.arange(codes.size), codes]
        if is_vote(model):
            votes = float(np.sum(np.asarray(model.estimator_weights_)[:number]))
            exponents = -(n_classes - 1) / n_classes * votes * right
            weights = np.exp(exponents - exponents.max())
        else:
            weights = 1.0 / (1.0 + np.exp(np.minimum(right, 700.0)))
        yield weights / weights.sum()
