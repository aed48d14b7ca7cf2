"""No certificate holds for a model that is worse than the trivial one: the largest class, or the mean.

Asked of every classifier and regressor in the registry. Models are made worse by other numbers in any fitted attribute,
also where they say beside it that the fit was stopped early, so that little is claimed; and by other labels, which
leaves models that agree with themselves in everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from eigenwood import verify
from eigenwood.errors import InputError
from eigenwood.estimators.registry import CLASSIFICATION, ENTRIES, REGRESSION, Entry
from eigenwood.estimators.watching import TIME_UP
from tests.estimators.exam import is_classifier, made, table
from tests.proofs.falsifying import Edit, edits_of, falsified

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SUPERVISED = [entry for entry in ENTRIES if entry.task in (CLASSIFICATION, REGRESSION)]
every_entry = pytest.mark.parametrize("entry", SUPERVISED, ids=lambda entry: entry.name)

X = np.abs(table(60, 3)) + 0.1
SCORE = X[:, 0] - X[:, 1]
TARGETS = {True: (np.quantile(SCORE, 0.4) < SCORE).astype(int), False: SCORE}  # rows of classes can be told apart
MOST_WORSE = 8  # models of an estimator
STOPPED = (("stop_reason_", TIME_UP), ("converged_", False), ("fit_status_", 1))


def fitted(entry: Entry, target: np.ndarray) -> Any:
    few = {"n_estimators": 4} if "n_estimators" in entry.estimator.PARAMS else {}
    return made(entry, few).fit(X, target)


def is_worse(model: Any, entry: Entry, target: np.ndarray) -> bool:
    """Return whether a model says less of the rows than the largest class or the mean; what cannot predict does not."""
    with np.errstate(all="ignore"):
        try:
            pred = model.predict(X)
        except Exception:  # of any kind: ``verify`` looks at its structure, ``predict`` trusts it
            return False
    if entry.task == CLASSIFICATION:
        return bool((pred == target).mean() < np.bincount(target).max() / target.size)
    return not ((pred - target) ** 2).sum() <= ((target - target.mean()) ** 2).sum()


def holds(model: Any, target: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        try:
            return verify(model, X, target).holds is True
        except InputError:
            return False


def worse_models(model: Any, entry: Entry, target: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Yield models that one edit has made worse than the trivial one, spread over all such edits."""
    edits = [edit for edit in edits_of(model) if edit.kind != "a whole number" and not changes_structure(edit)]
    edits += edits_of_all_learners(model)
    found = [(str(edit), worse) for edit in edits if is_worse(worse := falsified(model, edit), entry, target)]
    yield from found[:: max(1, len(found) // MOST_WORSE)]


def edits_of_all_learners(model: Any) -> Iterator[Edit]:
    """Yield edits of all trees of an ensemble at once: a median of many does not follow one of them."""
    for name in ("learners_", "estimators_"):
        if name in model.FITTED and all(hasattr(part, "nodes_") for part in getattr(model, name, [None])):
            trees = [tree.nodes_._replace(value=-1000.0 * tree.nodes_.value) for tree in getattr(model, name)]
            parts = zip(getattr(model, name), trees, strict=True)
            yield Edit(name, "times -1000", [falsified(part, Edit("nodes_", "", nodes)) for part, nodes in parts])


def changes_structure(edit: Edit) -> bool:
    """Return whether an edit sends ``predict`` to places that are not there: that is for ``check_fitted`` to refuse."""
    places = ("left", "right", "inner", "feature", "start", "listed", "category")
    return edit.attribute in ("nodes_", "forest_", "stumps_") and any(word in edit.kind for word in places)


@every_entry
def test_numbers_that_make_a_model_worse(entry):
    target = TARGETS[is_classifier(entry)]
    model = fitted(entry, target)
    assert holds(model, target)
    assert not is_worse(model, entry, target)
    worse = list(worse_models(model, entry, target))
    assert worse
    for name, one in worse:
        assert not holds(one, target), name
        for attribute, value in STOPPED:
            if hasattr(one, attribute):
                setattr(one, attribute, value)
        assert not holds(one, target), f"{name}, stopped"


@every_entry
def test_a_model_of_other_labels(entry):
    """It is sound in all it says of itself, but not of these rows."""
    target = TARGETS[is_classifier(entry)]
    model = fitted(entry, 1 - target if is_classifier(entry) else -target)
    assert is_worse(model, entry, target)
    assert not holds(model, target)


@every_entry
def test_a_fit_that_had_no_time(entry):
    """Cut off at once, a model may be no better than the trivial one; then nothing is certified."""
    if "time_limit" not in entry.estimator.PARAMS:
        pytest.skip("takes no time limit")
    target = TARGETS[is_classifier(entry)]
    model = clone(fitted(entry, target)).set_params(time_limit=1e-9).fit(X, target)
    assert not (holds(model, target) and is_worse(model, entry, target))
