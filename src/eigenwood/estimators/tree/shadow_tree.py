"""A fitted tree as dtreeviz sees it, with its categories; imported only for a drawing.

dtreeviz draws whatever answers as its ``ShadowDecTree``. To a tree of scikit-learn it puts no other question than
"x ≤ t?", so ours answer for themselves:

    X_train            words in the place of categories, such as "clerk", "missing" or "anything else" (never seen)
    y_train            places among the classes, which may be called anything
    get_node_split     the words that go left: each gets a mark in a drawing; first all of them in one text
    get_thresholds     the words that a node lists, those of its lighter branch: a row is one of them or it is not
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from dtreeviz.models.sklearn_decision_trees import ShadowSKDTree
from dtreeviz.trees import DTreeVizAPI
from scipy import sparse

from eigenwood.estimators.rules import ANYTHING_ELSE, MISSING, label_text
from eigenwood.estimators.tree.data import class_lists
from eigenwood.estimators.tree.input_checks import check_query
from eigenwood.estimators.tree.view import subset_text
from eigenwood.validation.categories import UNKNOWN, Labels
from eigenwood.validation.drawings import (
    check_axes,
    check_drawable,
    check_drawn_category,
    check_name_count,
    check_row_length,
)

WHO = "plots.dtreeviz"


class Words:
    """The categories of a column in words."""

    def __init__(self, labels: Labels) -> None:
        self.are_numbers = isinstance(labels[0], float)
        known = [label_text(label) if self.are_numbers else label for label in labels if label is not None]
        self.missing = unlike(MISSING, known)
        if None in labels:
            known.append(self.missing)
        self.of_code = np.array([*known, unlike(ANYTHING_ELSE, known)], dtype=object)  # the last one has the code -1
        self.codes = {word: code for code, word in enumerate(known)}

    def of(self, value: Any) -> str:
        """Return the word for a value as it stands in a table; a word stays as it is."""
        if pd.isna(value):
            word = self.missing
        elif self.are_numbers and not isinstance(value, str):
            word = label_text(float(value))
        else:
            word = str(value)
        return self.of_code[self.codes.get(word, UNKNOWN)]


class ShadowTree(ShadowSKDTree):
    """A tree with categories under the methods that dtreeviz calls; rows are counted, whatever their weights."""

    def __init__(self, tree: Any, X: Any, y: Any, names: Sequence[str], target: str, classes: Sequence[str]) -> None:
        known = class_lists(tree)
        data = check_query(tree, tree.categories_, known, X, y)
        check_drawable(WHO, tree.n_outputs_, known, data.mixed.X)
        check_name_count(WHO, "feature_names", names, data.n_features(), "columns")
        check_name_count(WHO, "class_names", classes, sum(map(len, known)), "classes")
        self.words = [None if labels is None else Words(labels) for labels in tree.categories_]
        targets = data.target.class_codes.astype(np.int64) if known else data.target.y
        super().__init__(tree, in_words(data.mixed.X, self.words), targets[:, 0], list(names), target, classes)
        self.node_to_samples = rows_of_nodes(tree.tree_.decision_path(data.mixed.X))
        self.score = tree.score(X, y)

    def is_classifier(self) -> bool:
        return bool(class_lists(self.tree_model))

    def classes(self) -> Any:
        return np.arange(self.nclasses()) if self.is_classifier() else None

    def get_class_weight(self) -> None:
        return None

    def get_class_weights(self) -> None:
        return None

    def get_score(self) -> float:
        return self.score

    def is_categorical_split(self, id: int) -> bool:
        return self.tree_model.tree_.categories(id).size > 0

    def get_thresholds(self) -> np.ndarray:
        thresholds = np.asarray(self.tree_model.tree_.threshold).astype(object)
        for node in filter(self.is_categorical_split, range(thresholds.size)):
            thresholds[node] = self.listed(node)
        return thresholds

    def get_node_split(self, id: int) -> Any:
        if not self.is_categorical_split(id):
            return self.tree_model.tree_.threshold[id]
        known = self.words[self.get_node_feature(id)].codes
        left = self.go_left(id, list(known))
        return [self.answer(id, True), *(word for word, is_left in zip(known, left, strict=True) if is_left)]

    def get_split_samples(self, id: int) -> tuple[np.ndarray, np.ndarray]:
        left = self.go_left(id, self.X_train[self.get_node_samples()[id], self.get_node_feature(id)])
        return np.flatnonzero(left), np.flatnonzero(~left)

    def get_root_edge_labels(self) -> list[str]:
        if not self.is_categorical_split(0):
            return super().get_root_edge_labels()
        return [self.answer(0, is_left) for is_left in (True, False)]

    def shouldGoLeftAtSplit(self, id: int, x: Any) -> bool:  # noqa: N802 - dtreeviz's name
        return bool(self.go_left(id, [x])[0])

    def go_left(self, node: int, values: Any) -> np.ndarray:
        """Return which values of the column that a node asks go left."""
        tree, words = self.tree_model.tree_, self.words[self.get_node_feature(node)]
        default = bool(tree.missing_go_to_left[node])
        if words is None:
            numbers = np.asarray(values, dtype=np.float64)
            return np.where(np.isnan(numbers), default, numbers <= tree.threshold[node])
        codes = [words.codes.get(value, UNKNOWN) for value in values]
        return np.isin(codes, tree.categories(node)) != default

    def listed(self, node: int) -> list[str]:
        """Return the categories of a node's lighter branch."""
        return self.words[self.get_node_feature(node)].of_code[self.tree_model.tree_.categories(node)].tolist()

    def answer(self, node: int, is_left: bool) -> str:
        """Return in one text which categories go to a side, such as "{clerk, missing}" or "not {pilot}"."""
        heavier_left = bool(self.tree_model.tree_.missing_go_to_left[node])
        return escape(subset_text(self.listed(node), excluded=heavier_left == is_left))

    def row(self, x: Any) -> list:
        """Return a row of a table as ``X_train`` has its rows."""
        values = list(x)
        check_row_length(WHO, values, len(self.words))
        return [
            float(value) if words is None else words.of(value) for value, words in zip(values, self.words, strict=True)
        ]

    def drawable_row(self, x: Any) -> list:
        """Return what ``row`` does; raise unless each category on its path is in the drawing of that question."""
        row = self.row(x)
        for node in self.predict_path(row)[:-1]:
            if node.is_categorical_split():
                drawn = self.X_train[node.samples(), node.feature()]
                check_drawn_category(WHO, row[node.feature()], drawn, node.feature_name())
        return row

    def axes(self, features: Sequence[str] | None) -> list[str]:
        """Return the columns that span a drawing of regions: those that are named, or the first two of numbers."""
        numbers = [name for name, words in zip(self.feature_names, self.words, strict=True) if words is None]
        chosen = numbers[:2] if features is None else list(features)
        check_axes(WHO, chosen, numbers)
        return chosen


class Drawings(DTreeVizAPI):
    """dtreeviz's drawings; a row x is taken as it stands in the table."""

    def view(self, *args: Any, x: Any = None, **options: Any) -> Any:
        if x is not None:
            x = self.shadow_tree.drawable_row(x) if options.get("fancy", True) else self.shadow_tree.row(x)
        return super().view(*args, x=x, **options)

    def explain_prediction_path(self, x: Any) -> str:
        return super().explain_prediction_path(self.shadow_tree.row(x))

    def instance_feature_importance(self, x: Any, *args: Any, **options: Any) -> Any:
        return super().instance_feature_importance(self.shadow_tree.row(x), *args, **options)

    def ctree_feature_space(self, *args: Any, features: Sequence[str] | None = None, **options: Any) -> Any:
        return super().ctree_feature_space(*args, features=self.shadow_tree.axes(features), **options)

    def rtree_feature_space(self, *args: Any, features: Sequence[str] | None = None, **options: Any) -> Any:
        return super().rtree_feature_space(*args, features=self.shadow_tree.axes(features), **options)

    def rtree_feature_space3D(  # noqa: N802 - dtreeviz's name
        self, *args: Any, features: Sequence[str] | None = None, **options: Any
    ) -> Any:
        return super().rtree_feature_space3D(*args, features=self.shadow_tree.axes(features), **options)


def in_words(rows: Any, words: list[Words | None]) -> np.ndarray:
    """Return coded rows with words in the place of codes; as they are if there are only numbers."""
    dense = rows.toarray() if sparse.issparse(rows) else rows
    if not any(words):
        return dense
    table = dense.astype(object)
    for j, column in enumerate(words):
        if column is not None:
            table[:, j] = column.of_code[dense[:, j].astype(np.intp)]
    return table


def rows_of_nodes(path: sparse.csr_matrix) -> dict[int, list[int]]:
    """Return the rows that visit each node."""
    visits = path.tocsc()
    return {node: rows.tolist() for node, rows in enumerate(np.split(visits.indices, visits.indptr[1:-1]))}


def unlike(word: str, taken: list[str]) -> str:
    """Return a word that is none of those taken.

    >>> unlike("missing", ["clerk"]), unlike("missing", ["missing"])
    ('missing', '(missing)')
    """
    while word in taken:
        word = f"({word})"
    return word
