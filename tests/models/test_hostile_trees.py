"""Model files of trees that were tampered with, with a right digest: each is refused with one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import eigenwood
from tests.models.crafting import changed, refused
from tests.models.samples import sample


@pytest.fixture
def file_of(tmp_path):
    """Return a function that saves a sample, to be spoiled."""
    return lambda name: eigenwood.save(sample(name).model, tmp_path / "model.safetensors")


def put(field, change):
    """Return a spoiling that changes one array of the nodes."""

    def spoil(content, tensors):
        tensors[f"0/nodes_/{field}"] = change(tensors[f"0/nodes_/{field}"].copy())

    return spoil


def with_entry(at, value):
    """Return a change of one entry of an array."""

    def change(array):
        array[at] = value
        return array

    return change


def longer(array):
    return np.concatenate([array, array[-1:]])


PREORDER = "nodes_ must have its nodes in preorder"
SPOILED_NODES = {
    "a child that is not there": ("decision-tree", put("right", with_entry(0, 10**6)), PREORDER),
    "a child before its parent": ("decision-tree", put("left", with_entry(0, 0)), PREORDER),
    "a negative child": ("decision-tree", put("left", with_entry(0, -5)), PREORDER),
    "one child only": ("decision-tree", put("right", with_entry(0, -1)), "two children or none"),
    "a ring": ("decision-tree", put("right", with_entry(0, 1)), PREORDER),
    "a leaf that has children": ("decision-tree", put("left", with_entry(-1, 1)), "two children or none"),
    "a feature that is not there": ("decision-tree", put("feature", with_entry(0, 3)), "features below 3"),
    "a negative feature": ("decision-tree", put("feature", with_entry(0, -1)), "features below 3"),
    "a threshold that is NaN": ("decision-tree", put("threshold", with_entry(0, np.nan)), "a finite threshold"),
    "an infinite value": ("regression-tree", put("value", with_entry((0, 0), np.inf)), "a finite value"),
    "weight 0": ("decision-tree", put("weight", with_entry(0, 0.0)), "rows of positive weight"),
    "no rows": ("decision-tree", put("n_rows", with_entry(0, 0)), "rows of positive weight"),
    "another dtype": ("decision-tree", put("left", lambda array: array.astype(np.int64)), "left of dtype int32"),
    "a node too much": ("decision-tree", put("left", longer), "right of dtype int32 and shape"),
    "a value too much": ("decision-tree", put("value", lambda array: np.hstack([array, array])), "2 values"),
    "no nodes": ("decision-tree", put("left", lambda array: array[:0]), "shape"),
    "lists that overlap": ("decision-tree-table", put("category_start", with_entry(1, 99)), "follow each other"),
    "lists that are not there": ("decision-tree-table", put("categories", lambda array: array[:-1]), "follow"),
    "a category that is not there": (
        "decision-tree-multiway",
        put("categories", with_entry(0, 99)),
        "known categories",
    ),
    "a negative category": ("decision-tree-multiway", put("categories", with_entry(0, -1)), "known categories"),
    "a chain that asks about something else": (
        "decision-tree-multiway",
        put("chained", lambda array: np.ones_like(array)),
        "no question at a leaf",
    ),
}


@pytest.mark.parametrize(("name", "spoil", "words"), SPOILED_NODES.values(), ids=SPOILED_NODES)
def test_nodes_that_are_no_tree(name, spoil, words, file_of):
    sentence = refused(changed(file_of(name), spoil))
    assert sentence.startswith("the model in it is not valid, since DecisionTree")
    assert words in sentence


def without_lists(content, tensors):
    """Turn questions about categories into thresholds."""
    tensors["0/nodes_/category_start"][:] = 0
    tensors["0/nodes_/categories"] = tensors["0/nodes_/categories"][:0]


def test_a_threshold_on_a_category(file_of):
    assert "must list known categories" in refused(changed(file_of("decision-tree-multiway"), without_lists))


def test_nodes_in_another_order_than_preorder(file_of):
    """Every node is somebody's child and the way down ends, but a stretch of nodes is not what is below one."""

    def spoil(content, tensors):
        n = 5
        for name in [name for name in tensors if name.startswith("0/nodes_/")]:
            tensors[name] = tensors[name][: n + (name.endswith("start"))].copy()
        tensors["0/nodes_/left"][:] = [1, 2, -1, -1, -1]
        tensors["0/nodes_/right"][:] = [3, 4, -1, -1, -1]
        tensors["0/nodes_/feature"][:2] = 0
        tensors["0/nodes_/category_start"][:] = 0
        tensors["0/nodes_/categories"] = tensors["0/nodes_/categories"][:0]

    assert PREORDER in refused(changed(file_of("regression-tree"), spoil))


@pytest.mark.parametrize("fields", [{}, {"left": "0/nodes_/left"}])
def test_a_tree_without_its_arrays(fields, file_of):
    def spoil(content, tensors):
        content["model"]["fitted"]["nodes_"]["tensors"] = fields
        for name in [name for name in tensors if name.startswith("0/nodes_/") and name not in fields.values()]:
            del tensors[name]

    refused(changed(file_of("decision-tree"), spoil))


@pytest.mark.parametrize("record", ["Claim", "os.system", None, 1, ["Tree"]])
def test_a_record_that_is_not_known(record, file_of):
    refused(
        changed(file_of("decision-tree"), lambda content, _: content["model"]["fitted"]["nodes_"].update(record=record))
    )


FITTED = {
    "as many outputs as memory": ("regression-tree", "n_outputs_", 10**12),
    "no outputs": ("regression-tree", "n_outputs_", 0),
    "outputs of another number": ("decision-tree-several", "n_outputs_", 1),
    "a seed that is none": ("decision-tree-validation", "split_seed_", 2**40),
    "a negative seed": ("decision-tree-validation", "split_seed_", -1),
    "categories for numbers": ("decision-tree", "categories_", [["a"], None, None]),
    "no categories": ("decision-tree-table", "categories_", [None, None, None]),
    "too few columns": ("decision-tree-table", "categories_", [None]),
    "categories out of order": ("decision-tree-table", "categories_", [None, ["red", "blue", "green", None], None]),
    "a category twice": ("decision-tree-table", "categories_", [None, ["blue", "blue", "red", None], None]),
    "numbers among words": ("decision-tree-table", "categories_", [None, ["blue", 1.0, "red", None], None]),
    "categories that are a word": ("decision-tree-table", "categories_", [None, "blue", None]),
    "no list": ("decision-tree-table", "categories_", {"a": 1}),
    "a stop for no reason": ("decision-tree", "stop_reason_", "bored"),
    "no nodes": ("decision-tree", "nodes_", None),
    "nodes that are a list": ("decision-tree", "nodes_", [1, 2]),
    "one list of classes in a list": ("decision-tree", "classes_", {"several": []}),
}


@pytest.mark.parametrize(("name", "attribute", "value"), FITTED.values(), ids=FITTED)
def test_a_fitted_attribute_that_breaks_its_rule(name, attribute, value, file_of):
    refused(changed(file_of(name), lambda content, _: content["model"]["fitted"].update({attribute: value})))


PARAMETERS = {
    "a fraction of a row": ("min_samples_leaf", 1.5),
    "no folds": ("n_folds", 1),
    "a sign that is none": ("monotonic_cst", {"list": [1, 2, 0]}),
    "signs that are words": ("monotonic_cst", {"list": ["up", "down", "up"]}),
    "columns that are none": ("categorical_features", {"list": [0.5]}),
    "pruning that is none": ("prune", "hard"),
    "a list of weights that are none": ("class_weight", {"list": [1, 2]}),
    "a list that is none": ("class_weight", {"list": 3}),
}


@pytest.mark.parametrize(("name", "value"), PARAMETERS.values(), ids=PARAMETERS)
def test_a_parameter_that_breaks_its_rule(name, value, file_of):
    refused(changed(file_of("decision-tree"), lambda content, _: content["model"]["params"].update({name: value})))


def test_pruning_without_a_curve_makes_no_claim_about_it(file_of):
    path = changed(
        file_of("decision-tree"), lambda content, _: content["model"]["params"].update({"prune": "validation"})
    )
    _, X, y = sample("decision-tree")
    names = [claim.name for claim in eigenwood.verify(eigenwood.load(path), X, y)]
    assert "validation error" not in names
