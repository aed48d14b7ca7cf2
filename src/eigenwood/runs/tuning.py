"""Which parameters are tried after the list: an endless sequence that the seed fixes, around what has been best so far.

Every other trial is drawn from the whole space, so that the search does not end in the first hollow it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from eigenwood.runs.candidates import Candidate

USUAL_STEP, MOST_ROUNDS = 0.1, 2000  # the learning rate of boosting where none is given


class Axis(NamedTuple):
    """One parameter: the values it may have, in order; a draw is one of them, a step goes to a neighbour."""

    values: tuple[Any, ...]

    def drawn(self, rng: np.random.Generator) -> Any:
        return self.values[int(rng.integers(len(self.values)))]

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        """Return a neighbour of a value, or the value itself."""
        if value not in self.values:
            return self.drawn(rng)
        place = self.values.index(value) + int(rng.integers(-1, 2))
        return self.values[min(max(place, 0), len(self.values) - 1)]


TREES_OF_BOOSTING = {
    "learning_rate": Axis((0.02, 0.03, 0.05, 0.08, 0.12)),
    "max_leaf_nodes": Axis((4, 8, 15, 31, 63, 127, 255)),
    "max_features": Axis((0.2, 0.35, 0.5, 0.7, 1.0)),
    "min_samples_leaf": Axis((3, 5, 10, 20, 40)),
    "l2_regularization": Axis((0.0, 0.3, 1.0, 5.0, 20.0)),
}
TREES_OF_FORESTS = {
    "max_features": Axis((0.15, 0.25, 0.4, 0.6, 0.8, 1.0)),
    "min_samples_leaf": Axis((1, 2, 3, 5, 10)),
}
KERNELS = {
    "C": Axis((0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),
    "gamma": Axis((0.001, 0.003, 0.01, 0.03, 0.1, 0.3)),
}
SPACES: dict[str, Mapping[str, Axis]] = {
    "gradient-boosting": TREES_OF_BOOSTING,
    "gradient-boosting-regression": TREES_OF_BOOSTING,
    "random-forest": TREES_OF_FORESTS,
    "random-forest-regression": TREES_OF_FORESTS,
    "svm": KERNELS,
    "svm-regression": KERNELS,
    "kernel-logistic": KERNELS,
}


def is_tuned(candidate: Candidate) -> bool:
    """Return whether there is a space of parameters around a candidate; linear kernels have no width."""
    return candidate.method in SPACES and candidate.params.get("kernel", "rbf") == "rbf"


def as_far(candidate: Candidate, best: Candidate) -> Candidate:
    """Return a candidate with as many rounds as it needs to go as far as another: more where each is a smaller step."""
    n_rounds, step = best.n_rounds, candidate.params.get("learning_rate")
    if n_rounds is None or step is None:
        return candidate
    return candidate.with_rounds(
        min(round(n_rounds * best.params.get("learning_rate", USUAL_STEP) / step), MOST_ROUNDS)
    )


def tuned(best: Candidate, trial: int, seed: int, tried: Callable[[Candidate], bool]) -> Candidate | None:
    """Return the next candidate of a method that has not been tried, or None if none is found."""
    rng = np.random.default_rng([seed, trial])
    space = SPACES[best.method]
    for _ in range(20):
        if trial % 2:
            changed = {name: axis.drawn(rng) for name, axis in space.items()}
        else:
            changed = {name: axis.near(best.params.get(name), rng) for name, axis in space.items()}
        candidate = as_far(best._replace(params={**best.params, **changed}), best)
        if not tried(candidate):
            return candidate
    return None
