"""A forest in a model file, without the estimators that grow one: its arrays come back as narrow as they were."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import eigenwood
from eigenwood.core.forest.packing import Forest, pack
from eigenwood.core.forest.predict import forest_means, make_predictor
from eigenwood.errors import InputError
from eigenwood.estimators import registry
from eigenwood.estimators.tree.params import LEAF_VALUES
from eigenwood.validation.forests import ForestNodes
from eigenwood.validation.state import Size
from tests.core.forest import cases
from tests.models.crafting import changed, refused

KINDS = {
    "classes": {"n_classes": (3, 2)},
    "table": {"split": "subset", "missing": True, "n_trees": 9},
    "uneven weights": {"criterion": "poisson", "counts": False, "min_samples_leaf": 2},
    "medians": {"criterion": "absolute_error", "min_samples_leaf": 3},
}


class Grove(BaseEstimator):
    """The least that has a forest."""

    PARAMS = {}
    FITTED = {"n_features_in_": Size("n_features"), "forest_": ForestNodes("n_features", "n_values", LEAF_VALUES)}

    def fit(self, kind):
        case = cases.case(**KINDS[kind])
        self.n_features_in_ = case.X.shape[1]
        self.forest_ = pack(case.trees, case.criterion, case.starts, case.bounded)
        return self


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(registry.BY_CLASS, "Grove", registry.Entry("grove", Grove, registry.TRANSFORMATION, None))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_comes_back_bit_for_bit(kind, path):
    model, X = Grove().fit(kind), cases.case(**KINDS[kind]).X
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert type(loaded.forest_) is Forest
    for name, given, found in zip(Forest._fields, model.forest_, loaded.forest_, strict=True):
        assert found.dtype == given.dtype, name
        assert found.shape == given.shape, name
        assert found.tobytes() == given.tobytes(), name
    expected = forest_means(make_predictor(model.forest_), X).values
    assert forest_means(make_predictor(loaded.forest_), X).values.tobytes() == expected.tobytes()


def test_a_file_is_little_larger_than_its_forest(path):
    model = Grove().fit("table")
    eigenwood.save(model, path)
    assert path.stat().st_size < sum(array.nbytes for array in model.forest_) + 4096


def test_a_forest_that_breaks_its_rule_is_not_saved(path):
    model = Grove().fit("classes")
    model.forest_ = model.forest_._replace(node_start=model.forest_.node_start + 1)
    with pytest.raises(InputError, match=r"^Grove: forest_ must have trees that follow each other\.$"):
        eigenwood.save(model, path)
    assert not path.exists()


def put(field, change):
    def spoil(content, tensors):
        tensors[f"0/forest_/{field}"] = change(tensors[f"0/forest_/{field}"].copy())

    return spoil


def without(field):
    def spoil(content, tensors):
        del content["model"]["fitted"]["forest_"]["tensors"][field]
        del tensors[f"0/forest_/{field}"]

    return spoil


def with_another(content, tensors):
    content["model"]["fitted"]["forest_"]["tensors"]["evil"] = "evil"
    tensors["evil"] = np.zeros(1)


def as_a_tree(content, tensors):
    content["model"]["fitted"]["forest_"]["record"] = "Tree"


def twice(content, tensors):
    """Two fields share a tensor."""
    content["model"]["fitted"]["forest_"]["tensors"]["feature"] = "0/forest_/inner"
    del tensors["0/forest_/feature"]


SPOILED = {
    "trees that are none": (put("inner", lambda array: ~array), "forest_ must have the nodes of each tree in preorder"),
    "a feature that is not there": (put("feature", lambda array: array + np.uint8(9)), "features below 4"),
    "a code that is not there": (put("value_code", lambda array: array + np.uint8(200)), "within their table"),
    "as many nodes as memory": (put("node_start", lambda array: array * 10**12), "must have at most"),
    "no arrays of a kind": (without("inner"), "must follow format 1"),
    "an array more": (with_another, "must follow format 1"),
    "another record": (as_a_tree, "must follow format 1"),
    "one tensor twice": (twice, "must follow format 1"),
}


@pytest.mark.parametrize(("spoil", "words"), SPOILED.values(), ids=SPOILED)
def test_a_forest_that_was_tampered_with(spoil, words, path):
    model = Grove().fit("classes")
    assert words in refused(changed(eigenwood.save(model, path), spoil))
