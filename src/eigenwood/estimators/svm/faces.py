"""Support vector machines for classes and for amounts, with the interface of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.margin.dual_problems import DualProblems
from eigenwood.core.margin.one_against_one import class_scores, pair_votes
from eigenwood.estimators.classifying import scores_for_users
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import CLASS_STATE, COUNT
from eigenwood.estimators.svm.base import SVM_PARAMS, SVM_STATE, BaseSVM
from eigenwood.estimators.svm.input_checks import checked_query, problem_of_amounts, problems_of_classes
from eigenwood.validation.params import Choice, ClassWeights, Flag, Number, Seed
from eigenwood.validation.state import Array
from eigenwood.validation.svm import ONE_AGAINST_ONE, SHAPES, check_tie_breaking


@describe
class SVC(ClassifierMixin, BaseSVM):
    """Separate classes by the widest margin, in the space of a kernel.

    More than two classes are separated pair by pair, as in scikit-learn.

    Parameters
    ----------
    degree : int, default=3
        The power of 'poly'.
    decision_function_shape : 'ovr' or 'ovo', default='ovr'
        For more than two classes: a score for each class, or one for each pair.
    break_ties : bool, default=False
        Let the scores decide where several classes win equally many pairs, instead of the order of the classes.
    max_iter : int, default=-1
        The most moves of a pair of coefficients; -1 is as many as LIBSVM takes before it gives up.
    memory_limit : float or None, default=None
        Megabytes for kernel values that are kept; None is half of what is free.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.
    random_state : None
        Taken for scikit-learn's sake: there is nothing random here.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : the rows that matter, by place, by value, and how many of each class
    dual_coef_, intercept_, coef_, classes_, class_weight_, gamma_, n_iter_, fit_status_, shape_fit_
    duality_gap_, kkt_violation_ : ndarray of shape (n_problems,)
        How much the model costs beyond the best one, at most; how far the conditions of the optimum are violated.
    landmarks_, landmark_vectors_, landmark_coef_ : with ``approximation``, what f stands on
    converged_, stop_reason_, certificate_

    Examples
    --------
    >>> from eigenwood import SVC
    >>> model = SVC(kernel="linear", C=100.0).fit([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]], ["low", "low", "high"])
    >>> model.support_, model.certificate_.holds, round(model.certificate_["margin"].value, 3)
    (array([2, 1], dtype=int32), True, 2.828)
    """

    PARAMS = {
        **SVM_PARAMS,
        "class_weight": ClassWeights(),
        "decision_function_shape": Choice(SHAPES),
        "break_ties": Flag(),
        "random_state": Seed(),
    }
    FITTED = {
        **CLASS_STATE,
        **SVM_STATE,
        "class_weight_": Array("f", ("n_classes",)),
        "n_iter_": Array("i", ("n_pairs",)),
    }

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        slack="hinge",
        approximation=None,
        shrinking=True,
        tol=1e-3,
        cache_size=None,
        memory_limit=None,
        time_limit=None,
        class_weight=None,
        max_iter=-1,
        warm_start=False,
        decision_function_shape="ovr",
        break_ties=False,
        verbose=False,
        random_state=None,
        n_jobs=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.slack = slack
        self.approximation = approximation
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def decision_function(self, X):
        """Return signed distances from the surface: one for two classes, else one for each class or pair."""
        scores = self._scores(checked_query(self, X))
        if scores.shape[1] == 1 or self.decision_function_shape == ONE_AGAINST_ONE:
            return scores_for_users(scores)
        return class_scores(scores, self.classes_.size)

    def predict(self, X):
        """Return the class of every row; of several, the one that wins most pairs.

        A score of exactly 0 counts for the second class of its pair, as in LIBSVM.
        """
        check_is_fitted(self)
        check_tie_breaking(self.break_ties, self.decision_function_shape)
        scores = self._scores(checked_query(self, X))
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] >= 0.0).astype(np.intp)]
        ranks = class_scores(scores, self.classes_.size) if self.break_ties else pair_votes(scores, self.classes_.size)
        return self.classes_[ranks.argmax(axis=1)]

    def _duals(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> DualProblems:
        return problems_of_classes(self, X, y, sample_weight, self._cost(), reset)

    def _own_attributes(self, duals: DualProblems, n_moves: list[int]) -> dict:
        return {
            "classes_": duals.labels,
            "class_weight_": duals.costs / self._cost(),
            "n_iter_": np.array(n_moves, dtype=np.int32),
        }


@describe
class SVR(RegressorMixin, BaseSVM):
    """Fit a curve with a tube around it: what lies inside costs nothing, what lies outside its distance.

    Parameters
    ----------
    degree : int, default=3
        The power of 'poly'.
    epsilon : float, default=0.1
        Half the width of the tube.
    max_iter : int, default=-1
        The most moves of a pair of coefficients; -1 is as many as LIBSVM takes before it gives up.
    memory_limit : float or None, default=None
        Megabytes for kernel values that are kept; None is half of what is free.
    n_jobs : int, default=-1
        Threads; -1 is all, None is 1. The result has the same bits for any number.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : the rows on the tube or outside, by place, by value, and how many
    dual_coef_, intercept_, coef_, gamma_, n_iter_, fit_status_
    duality_gap_, kkt_violation_ : ndarray of shape (1,)
        How much the model costs beyond the best one, at most; how far the conditions of the optimum are violated.
    landmarks_, landmark_vectors_, landmark_coef_ : with ``approximation``, what f stands on
    converged_, stop_reason_, certificate_

    Examples
    --------
    >>> from eigenwood import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[4.0]]).round(3), model.coef_.round(3)  # the flattest line within the tube
    (array([2.5]), array([[0.5]]))
    """

    PARAMS = {**SVM_PARAMS, "epsilon": Number(at_least=0)}
    FITTED = {**SVM_STATE, "n_iter_": COUNT}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        slack="hinge",
        approximation=None,
        shrinking=True,
        cache_size=None,
        memory_limit=None,
        time_limit=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=-1,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.slack = slack
        self.approximation = approximation
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def predict(self, X):
        """Return the amount of every row."""
        return self._scores(checked_query(self, X))[:, 0]

    def _duals(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> DualProblems:
        return problem_of_amounts(self, X, y, sample_weight, self._cost(), reset)

    def _own_attributes(self, duals: DualProblems, n_moves: list[int]) -> dict:
        return {"n_iter_": n_moves[0]}
