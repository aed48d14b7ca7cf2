"""Whether some weak classifiers can represent two classes at all (the PCA and boosting lecture, Problem 2)."""

from __future__ import annotations

from typing import Any

from eigenwood.estimators.watching import TIME_LIMIT
from eigenwood.proofs.representable import Representation, represented
from eigenwood.validation.params import check_values
from eigenwood.validation.votes import ANY_SIGN, NONNEGATIVE, SIGN_OF_WEIGHTS, check_two_classes, check_votes


def representable(
    classifiers: Any, y: Any, X: Any = None, *, weights: str = ANY_SIGN, time_limit: float | None = None
) -> Representation:
    """Say whether a weighted vote of some classifiers can get every row right, and prove it either way.

    ``classifiers`` is an array with a row for each label of y and a column for each classifier, of -1 and 1 or of the
    classes of y, or a list of fitted classifiers, which are asked about X. The vote is f(x) = Σ β_t h_t(x) with β
    of any sign, or with ``weights="nonnegative"``; a row is right if f has its sign, so a tie is wrong.

    The result has ``holds``, which is None if neither could be shown, the best ``weights`` with the smallest ``margin``
    of a row, a ``distribution`` on the rows under which no classifier has an edge above ``limit``, and a
    ``certificate``, in which all this is checked without the solver.

    >>> votes = [[1, 1, 1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]]
    >>> representable(votes, ["yes", "yes", "no", "no"]).weights
    array([1., 0., 0.])
    >>> parity = representable(votes, ["yes", "no", "no", "yes"])
    >>> parity.holds, parity.counts, parity.certificate.holds
    (False, array([1, 1, 1, 1]), True)
    """
    who = "representable"
    check_values(
        who, {"weights": SIGN_OF_WEIGHTS, "time_limit": TIME_LIMIT}, {"weights": weights, "time_limit": time_limit}
    )
    classes = check_two_classes(who, y)
    votes = check_votes(who, classifiers, classes, X)
    return represented(votes, 2 * classes.codes - 1, weights == NONNEGATIVE, time_limit)
