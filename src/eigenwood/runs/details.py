"""A fitted member's own numbers, as plain data for the report: what it learnt, and how.

target    of the training rows: labels and counts, or edges and counts of a histogram
members   one entry for each, the heaviest first: name, method, weight, numbers, and what there is of
  rules          of a tree: its branches as deep as they can be read, and its heaviest rules
  pruning        of a pruned tree: leaves and error on the way to a single leaf
  out_of_bag     of a forest: the score with its interval, and what was tried for max_features
  oob_curve      of a forest: the error out of bag after each tree
  rounds         of a booster: losses, errors and their bound, margins of blind rows
  plane          of support vectors: what the machine says in the plane of two principal components
  contributions  of trees: how far each column moves the answers for some blind rows
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.estimators.pca import PCA
from eigenwood.estimators.rules import Branch, Rule, Rules, pruning_of, rules
from eigenwood.estimators.svm import SVC, SVR
from eigenwood.estimators.tree.faces import DecisionTree
from eigenwood.estimators.watching import Deadline
from eigenwood.plots import one_output, shown_values
from eigenwood.plots.boosted import bounds_of, error_rates, losses_of, margins_after, some_rounds, squared_errors
from eigenwood.plots.tree import readable_depth
from eigenwood.runs.members import Member
from eigenwood.runs.trials import TrainingRows

DIGITS = 5  # that count in a recorded number
MOST_RULES, MOST_MARGINS = 60, 300
MOST_OOB_ROWS, MOST_DRAWN = 1000, 20_000_000  # of a curve out of bag; rows that all trees drew, to be drawn again
MOST_CLASSES, N_BINS = 50, 30  # of a target's distribution
CLOSE = (0.005, 0.995)  # quantiles between which a histogram lies; its outer bins count what is beyond, too
MOST_PLANE_ROWS, GRID, AROUND = 400, 64, 0.12  # rows, places along each side of the plane, and room around the rows
MOST_CONTRIBUTION_ROWS, MOST_CONTRIBUTION_COLUMNS = 150, 12


def target_details(y_train: np.ndarray, classes: np.ndarray | None) -> dict[str, Any]:
    """Return how the target is distributed over the training rows."""
    if classes is None:
        low, high = np.quantile(y_train, CLOSE)
        edges = np.linspace(low, high, N_BINS + 1) if high > low else np.array([low - 0.5, low + 0.5])
        counts = np.histogram(np.clip(y_train, edges[0], edges[-1]), edges)[0]
        return {"edges": rounded(edges), "counts": counts.tolist()}
    labels, counts = np.unique(y_train, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    return {"labels": [str(labels[k]) for k in order], "counts": counts[order].tolist(), "n_labels": int(labels.size)}


class Kept(NamedTuple):
    """The model that the user gets, and the rows that it learnt from."""

    model: Any
    among: TrainingRows
    learnt: np.ndarray  # which of these


class LearntRows(NamedTuple):
    """A member of the model that the user gets, and what it learnt from."""

    member: Member
    kept: Kept

    def oob_curve(self) -> dict[str, Any] | None:
        """Return the error of a forest on rows out of bag after each tree, on some of its rows."""
        method, n_rows = self.member.method, self.kept.learnt.size
        if n_rows * len(method) > MOST_DRAWN or self.kept.among.weights is not None:  # a row of weight 2 is half out
            return None
        places = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_OOB_ROWS)).astype(np.int64))
        rows, among = self.kept.learnt[places], self.kept.among
        is_out = [~np.isin(places, drawn) for drawn in method.estimators_samples_]
        errors = oob_errors(method, self.member.inputs(among.X.take(rows)), among.y[rows], is_out)
        measure = "error rate" if hasattr(method, "classes_") else "mean squared error"
        return {"measure": measure, "errors": rounded(errors), "n_rows": int(places.size)}


def oob_errors(method: Any, inputs: Any, y: np.ndarray, is_out: list[np.ndarray]) -> np.ndarray:
    """Return the error of the first tree, the first two, …, each asked about rows that it did not learn from."""
    classes = getattr(method, "classes_", None)
    total = np.zeros((y.size, 1 if classes is None else classes.size))
    n_asked, errors = np.zeros(y.size), []
    for tree, out in zip(method.estimators_, is_out, strict=True):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X has feature names", UserWarning)  # which trees of a forest do not know
            said = tree.predict(inputs)[:, np.newaxis] if classes is None else tree.predict_proba(inputs)
        total[out] += said[out]
        n_asked += out
        asked = np.flatnonzero(n_asked)
        mean = total[asked] / n_asked[asked, np.newaxis]
        off = (mean[:, 0] - y[asked]) ** 2 if classes is None else classes[mean.argmax(axis=1)] != y[asked]
        if asked.size:
            errors.append(off.mean())
    return np.array(errors)


def member_details(
    member: Member, X: pa.Table, y: np.ndarray, deadline: Deadline, learnt: LearntRows | None = None
) -> dict[str, Any]:
    """Return the numbers of one member; X are some blind rows and y their true answers.

    ``learnt`` is the member that the user gets, with its rows: what is known from the fit is said of that one.
    """
    method, kept = member.method, member.method if learnt is None else learnt.member.method
    found: dict[str, Any] = {
        "name": member.name,
        "method": type(method).__name__,
        "weight": member.weight,
        "numbers": numbers_of(kept),
    }
    for name, (has_it, details) in KNOWN.items():
        if has_it(kept):
            found[name] = details(kept)
    inputs = None
    for name, (has_it, measured) in MEASURED.items():
        if has_it(method) and not deadline.time_is_up():
            inputs = member.inputs(X) if inputs is None else inputs
            found[name] = measured(method, inputs, y)
    if learnt is not None and hasattr(kept, "oob_curve_") and not deadline.time_is_up():
        found["oob_curve"] = learnt.oob_curve()
    return {name: value for name, value in found.items() if value is not None}


def rounded(values: Iterable[float] | np.ndarray) -> list[float]:
    """Return numbers with as many digits as a figure needs.

    >>> rounded([1.23456789, 1e-9 / 3])
    [1.2346, 3.3333e-10]
    """
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, dtype=np.float64).ravel()]


def numbers_of(method: Any) -> dict[str, Any]:
    """Return single numbers and words about a method, as far as it has them."""
    found: dict[str, Any] = {"stopped": getattr(method, "stop_reason_", "finished")}
    if isinstance(method, DecisionTree):
        found |= {"leaves": int(method.get_n_leaves()), "depth": int(method.get_depth())}
    if hasattr(method, "forest_") and not hasattr(method, "feature_gains_"):
        found |= {"trees": int(method.forest_.node_start.size - 1)}
    if hasattr(method, "feature_gains_"):
        found |= {"rounds": int(method.n_iter_)}
    if hasattr(method, "estimator_weights_"):
        found |= {"rounds": len(method.estimator_weights_)}
    return found | (support_numbers(method) if has_support(method) else {})


def has_support(method: Any) -> bool:
    return isinstance(method, (SVC, SVR))


def support_numbers(method: Any) -> dict[str, Any]:
    """Return what can be counted in a support vector machine, with its gap."""
    certificate = {claim.name: claim.value for claim in method.certificate_}
    sums = {
        name: sum(value for claim, value in certificate.items() if claim.split(" of ")[0].startswith(name))
        for name in ("primal", "support at bound")
    }
    return {
        "kernel": str(method.kernel),
        "C": float(method.C),
        "gamma": float(method.gamma_),
        "rows": int(method.shape_fit_[0]),
        "support vectors": int(method.support_.size),
        "at bound": int(sums["support at bound"]),
        "gap": float(np.sum(method.duality_gap_)),
        "primal": float(sums["primal"]),
    }


# --- known from the fit -------------------------------------------------------------------------------


def tree_details(method: DecisionTree) -> dict[str, Any]:
    """Return the branches of a tree as deep as they can be read, and its heaviest rules."""
    found = rules(method)
    depth = readable_depth(found.branches)
    heaviest = sorted(found.leaves, key=lambda rule: -rule.weight_share)[:MOST_RULES]
    return {
        "measure": found.measure,
        "classes": [list(labels) for labels in found.classes],
        "n_rules": len(found.leaves),
        "depth": depth,
        "branches": branch_entries(found, depth),
        "rules": [rule_entry(rule) for rule in heaviest],
    }


def branch_entries(found: Rules, depth: int) -> list[dict[str, Any]]:
    """Return the branches down to a depth, each with the place of the one above it among those that are kept."""
    places, entries = dict[int, int](), list[dict[str, Any]]()
    for number, branch in enumerate(found.branches):
        if branch.depth <= depth and (branch.above in places or branch.above < 0):
            places[number] = len(entries)
            entries.append(branch_entry(branch, places.get(branch.above, -1)))
    return entries


def branch_entry(branch: Branch, above: int) -> dict[str, Any]:
    return {
        "above": above,
        "depth": branch.depth,
        "answer": None if branch.answer is None else branch.answer.answer(),
        "question": branch.question,
        "n_leaves": branch.n_leaves,
        "rule": rule_entry(branch.rule),
        "value": rounded(branch.value),
    }


def rule_entry(rule: Rule) -> dict[str, Any]:
    """Return a rule whose conditions are words."""
    is_class = rule.share is not None
    return {
        "conditions": [str(condition) for condition in rule.conditions],
        "prediction": str(rule.prediction) if is_class else float(rule.prediction),
        "share": float(rule.share) if is_class else None,
        "impurity": float(rule.impurity),
        "n_rows": rule.n_rows,
        "weight_share": rule.weight_share,
    }


def pruning_details(method: DecisionTree) -> dict[str, Any]:
    found = pruning_of(method)
    return {**found._asdict(), "errors": rounded(found.errors), "alphas": rounded(found.alphas)}


def out_of_bag_details(method: Any) -> dict[str, Any]:
    """Return the out-of-bag score of a forest, and its error for each number of columns that was tried."""
    return {
        "score": float(method.oob_score_),
        "interval": [float(end) for end in method.oob_interval_],
        "is_classes": hasattr(method, "classes_"),
        "curve": [rounded(point) for point in method.oob_curve_],
    }


# --- measured on blind rows ---------------------------------------------------------------------------


def rounds_details(method: Any, inputs: Any, y: np.ndarray) -> dict[str, Any]:
    """Return what each round came to: losses, errors on blind rows, the bound, and margins after some rounds."""
    losses = {name: rounded(values) for name, values in losses_of(method).items()}
    if not hasattr(method, "classes_"):
        return {
            "measure": "mean squared error",
            "errors": {"test": rounded(squared_errors(method, inputs, y))},
            "losses": losses,
        }
    known = np.flatnonzero(np.isin(y, method.classes_))
    inputs, y = taken_rows(inputs, known), y[known]
    errors = {"training": getattr(method, "train_errors_", ()), "test": error_rates(method, inputs, y)}
    bounds = bounds_of(method)
    if bounds is not None and bounds.min() < 1.0:
        errors["bound"] = np.minimum(bounds, 1.0)
    shown = some_rounds(len(errors["test"]))
    margins = zip(shown, margins_after(method, inputs, y, shown), strict=True)
    return {
        "measure": "error rate",
        "errors": {name: rounded(values) for name, values in errors.items() if len(values)},
        "losses": losses,
        "margins": [[number, rounded(evenly_ranked(values))] for number, values in margins],
    }


def evenly_ranked(values: np.ndarray) -> np.ndarray:
    """Return the values in their order, or some of very many, evenly spaced in rank.

    >>> evenly_ranked(np.array([2.0, 1.0, 2.0]))
    array([1., 2., 2.])
    """
    ranked = np.sort(values)
    places = np.linspace(0, ranked.size - 1, min(ranked.size, MOST_MARGINS))
    return ranked[places.round().astype(int)]


def taken_rows(inputs: Any, rows: np.ndarray) -> Any:
    return inputs.take(rows) if isinstance(inputs, pa.Table) else inputs[rows]


def plane_details(method: Any, inputs: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    """Return what a machine says in the plane of the first two principal components of its inputs."""
    if inputs.shape[1] < 2 or len(inputs) < 3:
        return None
    rows = inputs[:MOST_PLANE_ROWS]
    pca = PCA(2).fit(rows)
    points = pca.transform(rows)
    low, high = points.min(axis=0), points.max(axis=0)
    room = AROUND * (high - low)
    across, up = (np.linspace(low[i] - room[i], high[i] + room[i], GRID) for i in (0, 1))
    places = pca.inverse_transform(np.column_stack([values.ravel() for values in np.meshgrid(across, up)]))
    labels = [str(label) for label in method.classes_]
    codes = np.searchsorted(method.classes_, method.predict(places))
    found = {
        "labels": labels,
        "shares": rounded(pca.explained_variance_ratio_),
        "points": [rounded(point) for point in points],
        "codes": np.searchsorted(method.classes_, y[:MOST_PLANE_ROWS]).tolist(),
        "predicted": np.searchsorted(method.classes_, method.predict(rows)).tolist(),
        "across": rounded(across),
        "up": rounded(up),
    }
    if len(labels) == 2:
        scores = np.asarray(method.decision_function(places), dtype=np.float64).reshape(GRID, GRID)
        return {**found, "scores": [rounded(line) for line in scores]}
    return {**found, "regions": codes.reshape(GRID, GRID).tolist()}


def contribution_details(method: Any, inputs: Any, y: np.ndarray) -> dict[str, Any] | None:
    """Return how far each column moves the answers for some rows; columns that hardly do are left out."""
    some = taken_rows(inputs, np.arange(min(len(y), MOST_CONTRIBUTION_ROWS)))
    values, base, what = one_output(method, method.contributions(some), None)
    _, numbers = shown_values(some)
    sizes = np.abs(values).mean(axis=0)
    kept = [j for j in np.argsort(-sizes, kind="stable")[:MOST_CONTRIBUTION_COLUMNS] if sizes[j] > 0.0]
    if not kept:
        return None
    names = getattr(method, "feature_names_in_", [f"x[{j}]" for j in range(values.shape[1])])
    return {
        "what": what,
        "base": float(base),
        "n_columns": int(values.shape[1]),
        "columns": [
            {
                "name": str(names[j]),
                "contributions": rounded(values[:, j]),
                "values": [None if np.isnan(number) else float(f"{number:.{DIGITS}g}") for number in numbers[:, j]],
            }
            for j in kept
        ],
    }


Has = Callable[[Any], bool]
KNOWN: dict[str, tuple[Has, Callable[[Any], dict[str, Any]]]] = {
    "rules": (lambda method: isinstance(method, DecisionTree), tree_details),
    "pruning": (lambda method: getattr(method, "pruning_curve_", np.empty(0)).size > 0, pruning_details),
    "out_of_bag": (lambda method: hasattr(method, "oob_interval_"), out_of_bag_details),
}
MEASURED: dict[str, tuple[Has, Callable[[Any, Any, np.ndarray], dict[str, Any] | None]]] = {
    "contributions": (lambda method: hasattr(method, "contributions"), contribution_details),
    "rounds": (lambda method: hasattr(method, "staged_predict"), rounds_details),
    "plane": (lambda method: has_support(method) and hasattr(method, "classes_"), plane_details),
}
