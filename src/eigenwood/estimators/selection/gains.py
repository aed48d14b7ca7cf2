"""Selection of columns by gain, with the face of scikit-learn's selectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.selection.gains import Labels, Question
from eigenwood.core.selection.greedy import MixedColumns, greedy_order, questions_of, redundancy_function
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import CLASS_STATE, FEATURE_STATE
from eigenwood.estimators.tree.input_checks import empty_if_all_one
from eigenwood.estimators.tree.params import CLASS_CRITERIA
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.claim import Certificate, Claim
from eigenwood.proofs.selection import Chosen, Rows, best_questions_claim, selection_claims
from eigenwood.validation.categories import CategoricalFeatures
from eigenwood.validation.params import AnyOf, Choice, Flag, Nothing, Number, Share, check_params
from eigenwood.validation.selection import (
    SelectionData,
    check_ranking,
    check_selection,
    column_reader,
    selected_columns,
    selected_count,
)
from eigenwood.validation.state import Array, CategoryLists, Proof
from eigenwood.validation.threads import N_JOBS, thread_count

CRITERIA = ("entropy", "gini", "error")


@describe
class GainSelector(SelectorMixin, BaseEstimator):
    """Keep the columns that tell most about the classes, chosen one by one by the gain of their best question.

    A number is asked by its best cut, a category has one branch for each value (the boosting and SVM lecture). Unlike
    scikit-learn's
    :class:`~sklearn.feature_selection.SelectKBest`, the score is what a tree would gain at its root; missing numbers
    go to the side that gains more.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep, a fraction of them, or (None) half, as in scikit-learn's ``RFE``.
    criterion : 'entropy', 'gini' or 'error', default='entropy'
        How mixed rows are; by 'entropy' the gain is the information gain, in bits.
    gain_ratio : bool, default=False
        Divide each gain by the entropy of the question's branches (C4.5), so that many branches alone are no merit.
    redundancy_aware : bool, default=False
        Subtract from the score of a column its mean redundancy with those chosen before (mRMR). Redundancy is
        estimated as the gain, by the same criterion, that the branches of the column's question give about the branches
        of the other's; by 'entropy' that is the mutual information of the two questions, counted from the rows.

    Attributes
    ----------
    scores_ : array of shape (n_features,), the gain or gain ratio of each column
    gains_, thresholds_, missing_left_ : arrays of shape (n_features,), the best question: its gain, the cut of a
        column of numbers (0 elsewhere), and whether missing numbers go left
    redundancies_ : array of shape (n_features,), mean redundancy with the columns chosen before
    ranking_ : array of shape (n_features,), 1 for the column chosen first
    support_ : array of bool of shape (n_features,), which columns are kept
    classes_, categories_, n_features_in_, feature_names_in_, certificate_

    Examples
    --------
    >>> from eigenwood import GainSelector
    >>> selector = GainSelector(1).fit([[0, 5], [1, 6], [0, 7], [1, 8]], ["no", "no", "yes", "yes"])
    >>> selector.scores_, selector.get_feature_names_out()
    (array([0., 1.]), array(['x1'], dtype=object))
    """

    PARAMS = {
        "n_features_to_select": AnyOf(Nothing(), Number(at_least=1, integer=True), Share()),
        "criterion": Choice(CRITERIA),
        "gain_ratio": Flag(),
        "redundancy_aware": Flag(),
        "categorical_features": CategoricalFeatures(),
        "n_jobs": N_JOBS,
    }
    FITTED = {
        **FEATURE_STATE,
        **CLASS_STATE,
        "categories_": CategoryLists("n_features"),
        "scores_": Array("f", ("n_features",)),
        "gains_": Array("f", ("n_features",)),
        "thresholds_": Array("f", ("n_features",)),
        "missing_left_": Array("b", ("n_features",)),
        "redundancies_": Array("f", ("n_features",)),
        "ranking_": Array("i", ("n_features",)),
        "support_": Array("b", ("n_features",)),
        "certificate_": Proof(),
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        criterion="entropy",
        gain_ratio=False,
        redundancy_aware=False,
        categorical_features="from_dtype",
        n_jobs=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.gain_ratio = gain_ratio
        self.redundancy_aware = redundancy_aware
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Find the best question about each column, and the order in which columns are chosen."""
        check_params(self)
        who = type(self).__name__
        n_threads = thread_count(who, self.n_jobs)
        data = check_selection(self, X, y, sample_weight)
        n_selected = selected_count(who, self.n_features_to_select, data.mixed.X.shape[1])

        fitted = selected(self, data, n_selected, n_threads)

        for name, value in fitted.items():
            setattr(self, name, value)
        self.certificate_ = Certificate(tuple(claims_of(self, data, Deadline(None).check)))
        return self

    def transform(self, X):
        """Return the columns that are kept; objects where one of them holds text."""
        check_is_fitted(self)
        return selected_columns(self, X, self.categories_, self.support_)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns that are kept."""
        check_is_fitted(self)
        return input_names(self, input_features)[self.support_]

    def check_fitted(self) -> None:
        """Raise unless the ranks fit the columns that are kept."""
        check_ranking(type(self).__name__, self.ranking_, self.support_)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def selected(model: GainSelector, data: SelectionData, n_selected: int, n_threads: int) -> dict[str, Any]:
    """Return the fitted attributes."""
    X = data.mixed.X.tocsc() if sparse.issparse(data.mixed.X) else data.mixed.X
    columns, criterion = MixedColumns(X, data.mixed.counts().tolist(), n_threads), CLASS_CRITERIA[model.criterion]
    weights = empty_if_all_one(data.weights)
    labels = Labels(data.classes.codes, weights, data.classes.labels.size)
    questions = questions_of(columns, labels, criterion)
    scores = np.array([score_of(question, model.gain_ratio) for question in questions])
    redundancies = redundancy_function(columns, questions, weights, criterion) if model.redundancy_aware else None
    order = greedy_order(scores, n_selected, redundancies, 1.0)
    ranking = np.empty(scores.size, dtype=np.int64)
    ranking[order.columns] = np.arange(1, scores.size + 1)
    return {
        "classes_": data.classes.labels,
        "categories_": data.mixed.categories,
        "scores_": scores,
        "gains_": np.array([question.gain for question in questions]),
        "thresholds_": np.array([question.threshold for question in questions]),
        "missing_left_": np.array([question.missing_left for question in questions]),
        "redundancies_": order.redundancies,
        "ranking_": ranking,
        "support_": ranking <= n_selected,
    }


def score_of(question: Question, by_ratio: bool) -> float:
    """Return the gain of a question, or its gain ratio."""
    if not by_ratio:
        return question.gain
    return question.gain / question.split_entropy if question.split_entropy > 0.0 else 0.0


def claims_of(model: GainSelector, data: SelectionData, check_time: Callable[[], None]) -> Iterator[Claim]:
    """Yield the claims about questions and order, measured on some rows."""
    yield from selection_claims(
        rows_of(data), chosen_of(model), model.criterion, model.gain_ratio, model.redundancy_aware, check_time
    )


def rows_of(data: SelectionData) -> Rows:
    is_category = [labels is not None for labels in data.mixed.categories]
    return Rows(column_reader(data.mixed.X), is_category, data.classes.codes, data.weights)


def chosen_of(model: GainSelector) -> Chosen:
    """Return what a fitted selection states."""
    return Chosen(
        model.gains_,
        model.scores_,
        model.redundancies_,
        model.thresholds_,
        model.missing_left_,
        model.ranking_,
        int(model.support_.sum()),
    )


def verify_selection(model: GainSelector, X, y, sample_weight, deadline: Deadline) -> Iterator[Claim]:
    """Yield the claims, recomputed from the rows that were given to ``fit``."""
    data = check_selection(model, X, y, sample_weight, categories=model.categories_, known=model.classes_)
    deadline.check()
    yield from claims_of(model, data, deadline.check)
    yield best_questions_claim(rows_of(data), chosen_of(model), model.criterion, deadline.check)
