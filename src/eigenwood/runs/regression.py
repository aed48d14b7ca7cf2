"""Learn amounts: rows are put aside at random, R² is the score, always saying the mean is the baseline.

The interval of R² comes from the bootstrap: draw as many blind test rows as there are, with repetition, score them,
many times over; the middle 95 % of these scores is the interval. Amounts are often skewed (prices, incomes), and there
the bootstrap covers the true R² more often than formulas that lean on a normal distribution.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, train_test_split

from eigenwood.errors import TableError
from eigenwood.runs.record import RegressionRecord
from eigenwood.runs.settings import CONFIDENCE, MOST_FOLDS, Fold, Settings, Split

LEAST_TRAIN = 2 * MOST_FOLDS  # R² compares rows with their mean, so a fold needs two
LEAST_TEST = 5
MOST_RESAMPLES, LEAST_RESAMPLES = 1000, 200
MOST_DRAWS = 100_000_000  # rows drawn by all resamples together: a few seconds
MOST_POINTS = 2000  # rows that the record keeps for the figure


def blind_split(name: str, target: str, amounts: np.ndarray, settings: Settings) -> Split:
    """Return the training rows and the blind test rows, drawn at random."""
    least = LEAST_TRAIN + LEAST_TEST
    if amounts.size < least:
        raise TableError(
            f"{name}: must have at least {least} rows with an amount in {target!r} to learn, tune and test; "
            f"got {amounts.size}."
        )
    n_test = min(max(round(settings.test_fraction * amounts.size), LEAST_TEST), amounts.size - LEAST_TRAIN)
    train, test = train_test_split(np.arange(amounts.size), test_size=n_test, random_state=settings.seed)
    check_spread(name, target, amounts[test])
    return Split(np.sort(train), np.sort(test))


def check_spread(name: str, target: str, amounts: np.ndarray) -> None:
    """Raise if the blind test rows are all the same: nothing could be told from them."""
    if np.ptp(amounts) == 0:
        raise TableError(
            f"{name}: the {amounts.size} blind test rows must differ in {target!r} (another seed draws others); "
            f"got {amounts[0]:g} in all of them."
        )


def validation_folds(amounts: np.ndarray, seed: int) -> list[Fold]:
    """Return five folds of rows drawn at random."""
    return list(KFold(MOST_FOLDS, shuffle=True, random_state=seed).split(amounts))


def score(amounts: np.ndarray, predicted: np.ndarray) -> float:
    """Return R²: 1 is perfect, 0 is as good as always saying the mean."""
    return float(r2_score(amounts, predicted))


def assessed(amounts: np.ndarray, predicted: np.ndarray, training_amounts: np.ndarray, seed: int) -> RegressionRecord:
    """Return how good the predictions of the blind test rows are; ``seed`` draws the resamples of the interval."""
    mean = float(training_amounts.mean())
    always = np.full(amounts.size, mean)
    n_resamples = min(max(MOST_DRAWS // amounts.size, LEAST_RESAMPLES), MOST_RESAMPLES)
    low, high = bootstrap_interval(amounts, predicted, n_resamples, seed)
    shown = evenly_spaced(amounts.size, MOST_POINTS)
    return RegressionRecord(
        metric="R²",
        score=score(amounts, predicted),
        low=low,
        high=high,
        interval=f"percentiles of R² in {n_resamples} bootstrap resamples of the blind test rows",
        baseline=score(amounts, always),
        baseline_amount=mean,
        mean_absolute_error=float(mean_absolute_error(amounts, predicted)),
        baseline_mean_absolute_error=float(mean_absolute_error(amounts, always)),
        root_mean_squared_error=float(root_mean_squared_error(amounts, predicted)),
        baseline_root_mean_squared_error=float(root_mean_squared_error(amounts, always)),
        shown_true=amounts[shown].tolist(),
        shown_predicted=predicted[shown].tolist(),
    )


def bootstrap_interval(amounts: np.ndarray, predicted: np.ndarray, n_resamples: int, seed: int) -> tuple[float, float]:
    """Return the percentiles of R² over resamples of the rows."""
    errors, scores = (amounts - predicted) ** 2, []
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples):
        rows = rng.integers(amounts.size, size=amounts.size)
        drawn = amounts[rows]
        if np.ptp(drawn) > 0:  # R² of equal amounts says nothing
            scores.append(1.0 - errors[rows].sum() / ((drawn - drawn.mean()) ** 2).sum())
    low, high = np.quantile(scores, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def evenly_spaced(n_rows: int, most: int) -> np.ndarray:
    """Return at most ``most`` row numbers, from the first row on.

    >>> evenly_spaced(3, 5), evenly_spaced(10, 4)
    (array([0, 1, 2]), array([0, 2, 5, 7]))
    """
    n_shown = min(n_rows, most)
    return np.arange(n_shown) * n_rows // n_shown
