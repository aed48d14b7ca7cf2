"""Random forests with scikit-learn's face."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sklearn.ensemble
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.distinct import fingerprints
from eigenwood.core.forest.batch_predict import BatchForest, batch_means, make_batch_forest, pays
from eigenwood.core.forest.contributions import forest_explainer
from eigenwood.core.forest.grow_batch import WorkspacePool
from eigenwood.core.forest.packing import Forest, PackedTree, forest_of, tree_at
from eigenwood.core.forest.predict import Means, Predictor, forest_leaves, forest_means, make_predictor
from eigenwood.core.rows import rows_of
from eigenwood.core.tree.predict import decision_path
from eigenwood.core.tree.types import NO_THRESHOLD, GrowthParams, Tree
from eigenwood.estimators.ensemble.base import Ensemble
from eigenwood.estimators.ensemble.learning import Step, learner_steps
from eigenwood.estimators.ensemble.metrics import OobAnswers
from eigenwood.estimators.ensemble.out_of_bag import OobAccumulator, OobResiduals
from eigenwood.estimators.ensemble.sampling import (
    Draws,
    draw_count,
    learner_seed,
    population_of,
    row_counts,
    target_codes,
)
from eigenwood.estimators.forest.fitting import (
    ForestFitter,
    class_factors,
    feature_counts_to_try,
    oob_importances,
    predict_out_of_bag,
    select_max_features,
)
from eigenwood.estimators.forest.input_checks import (
    check_choices,
    check_query,
    check_same_columns,
    check_same_targets,
    check_training,
)
from eigenwood.estimators.forest.params import (
    BALANCED,
    BALANCED_SUBSAMPLE,
    FOREST_PARAMS,
    FOREST_STATE,
    HANDED_ON,
    IMPORTANCE_PARAMS,
    OOB,
    forest_feature_count,
)
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.contributing import contributions_of
from eigenwood.estimators.tree.data import (
    TreeData,
    class_counts,
    class_lists,
    log_proba,
    one_or_list,
    side_by_side,
    values_per_output,
)
from eigenwood.estimators.tree.faces import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.tree.fitting import binned_table, growth_params, max_leaf_count, monotonic_signs
from eigenwood.estimators.tree.input_checks import check_no_infinity, query_rows
from eigenwood.estimators.tree.params import CLASS_CRITERIA, REGRESSION_CRITERIA, criterion_code
from eigenwood.estimators.tree.view import TreeView
from eigenwood.estimators.watching import FINISHED, TIME_UP, Watch, Watched, all_or_nothing
from eigenwood.proofs.claim import Certificate, Claim, measured
from eigenwood.proofs.out_of_bag import Score, assessed_vote, vote_claims
from eigenwood.proofs.tree import bins_claim
from eigenwood.validation.categories import FROM_DTYPE
from eigenwood.validation.draws import check_bootstrap, check_some_left_out
from eigenwood.validation.forests import check_forest, check_forest_values
from eigenwood.validation.params import Choice, ClassWeights, check_params, check_values
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import OutputLabels
from eigenwood.validation.threads import thread_count
from eigenwood.validation.trees import SUBSET, check_category_lists

FEW_ROWS = 64  # so many rows are predicted by one thread: to start others takes longer
SHARED_WITH_TREES = (
    "n_features_in_", "n_outputs_", "max_features_", "categories_", "is_categorical_", "has_missing_", "n_binned_",
    "stop_reason_",
)  # fmt: skip


class Cache(dict):
    """Values that follow from the trees and are computed when first needed; copies and pickles begin empty."""

    def __reduce__(self):
        return type(self), ()


class RandomForest(MultiOutputMixin, Watched, Ensemble, BaseEstimator):
    """The part that the classifier and the regressor share."""

    # what a tree may choose and a forest does not
    splitter, leaf_uncertainty, categorical_split = "best", 0.0, SUBSET

    LEARNERS = "trees"

    forest_: Forest
    n_outputs_: int
    categories_: list
    oob_curve_: np.ndarray
    n_draws_: int
    n_binned_: int
    max_features_: int
    _cache: Cache

    @abstractmethod
    def _tree(self) -> Any:
        """Return the tree of which there will be many."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the trees, each over its own draw of the rows of X and their targets y; a weight is a repeated row."""
        with all_or_nothing(self, "_cache", "_draws_of_fit") as before:
            check_params(self)
            check_choices(self)
            watch = Watch(self)
            data = check_training(self, X, y, sample_weight)
            n_earlier = self._earlier_count()
            if n_earlier > 0:
                check_same_columns(self, data, before)
            if n_earlier == self.n_estimators and not self._is_choosing():
                warnings.warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=3
                )
                return self._rescore(data, watch) if self._wants_score() else self
            if n_earlier > 0:
                check_same_targets(self, data)
            seconds = self._check_metric(data)
            draws = self._draws(data, self._seed())
            known_draws = self._known_draws(draws, data.places, n_earlier)
            threads = thread_count(type(self).__name__, self.n_jobs)

            earlier, oob = [PackedTree(self.forest_, i) for i in range(n_earlier)], self._new_oob_accumulator(data)
            fitter = self._fitter(data, draws, watch, threads)
            fitter, curve, earlier = self._select_max_features(fitter, earlier, threads)
            outcome = watch.follow(
                learner_steps(fitter, earlier, self.n_estimators, fitter.thread_count(threads), oob.add),
                max_rounds=max(1, self.n_estimators - len(earlier)),
                fitted=lambda step: self._attributes(fitter, curve, step),
                X=X,
                y=y,
                seconds_after=self._kept_for_score(seconds, watch),
            )

            for name, value in self._attributes(fitter, curve, outcome.step).items():
                setattr(self, name, value)
            self.stop_reason_, self._draws_of_fit = outcome.reason, known_draws
            if self._is_choosing():
                self.stop_reason_ = TIME_UP
            self._set_oob_score(data, data.weights(), oob, watch)
            return self

    def apply(self, X):
        """Return the leaf of each tree in which each row of X ends, shape (n_rows, n_trees)."""
        rows = self._query(X)
        found = forest_leaves(self._predictor(), rows, self._threads(rows))
        if found.met_infinity:
            check_no_infinity(self, rows)
        return found.nodes.astype(np.int64)

    def contributions(self, X):
        """Return how much each feature moves each prediction away from the base value: exact Shapley values.

        The result has ``values``, of shape (n_rows, n_features) for one number to predict, else (n_rows, n_features,
        n_outputs or n_classes), and ``base``. The values of a row and the base add up to ``predict_proba``, of
        regression to ``predict``; they are the means of those of the trees.
        """
        rows = self._query(X)
        explainer = self._cached(
            "explainer", lambda: forest_explainer(self.forest_, self.n_features_in_, factor=1.0 / len(self))
        )
        return contributions_of(self, explainer, rows, self._threads(rows))

    def decision_path(self, X):
        """Return which nodes each row visits, tree beside tree, as a sparse matrix of ones, and where trees begin."""
        leaves = self.apply(X)
        paths = [decision_path(tree, own) for tree, own in zip(self._trees(), leaves.T, strict=True)]
        return sparse.csr_matrix(sparse.hstack(paths)), self.forest_.node_start.astype(np.int64)

    def oob_permutation_importance(self, X, y, sample_weight=None, *, n_repeats=1, random_state=0):
        """Return how much worse each tree gets on the rows it did not see when one feature is shuffled there.

        X, y and the weights are those of ``fit``. The result has ``importances_mean`` and ``importances_std`` over
        the trees (for classes in shares of rows, for regression in squared error), and ``importances`` of each tree.
        """
        check_is_fitted(self)
        who = type(self).__name__
        check_values(who, IMPORTANCE_PARAMS, {"n_repeats": n_repeats, "random_state": random_state})
        check_bootstrap(who, self.bootstrap, "oob_permutation_importance is")
        data = check_query(self, X, y, sample_weight)
        draws, seed = self._draws(data, self.seed_), int(integer_seeds(random_state, 1)[0])
        self._check_draws_of_fit(draws)
        importances = oob_importances(self.forest_, data, draws, n_repeats, seed, thread_count(who, self.n_jobs))
        known = importances[~np.isnan(importances).any(axis=1)]
        check_some_left_out(who, len(known))
        return Bunch(importances_mean=known.mean(axis=0), importances_std=known.std(axis=0), importances=importances)

    @property
    def estimator(self):
        """The tree of which there are many, as it is before any fit."""
        return self._tree()

    @property
    def estimator_(self):
        """The tree of which there are many, under the name that scikit-learn has for it after a fit."""
        check_is_fitted(self)
        return self._tree()

    @property
    def estimators_(self) -> list:
        """The trees, as estimators of their own."""
        return self._cached("estimators", lambda: [self._tree_estimator(*tree) for tree in enumerate(self._trees())])

    @property
    def estimators_samples_(self):
        """The rows that each tree got, drawn again from its seed; a row drawn twice is there twice."""
        return [rows.astype(np.int32) for rows in super().estimators_samples_]

    @property
    def feature_importances_(self):
        """How much each feature lowers the impurity, as shares of the total: the mean over the trees."""
        return self._cached("importances", self._mean_importances)

    def __len__(self) -> int:
        return self.forest_.node_start.size - 1

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def _cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a value that follows from the trees; it is computed when first needed."""
        check_is_fitted(self)
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def _trees(self) -> Iterator[Tree]:
        return (tree_at(self.forest_, number) for number in range(len(self)))

    def _counts(self, draws: Draws, number: int) -> np.ndarray:
        return row_counts(draws, number) if self.bootstrap else np.ones(draws.population.rows.size, dtype=np.int64)

    # ---- before the trees grow

    def _draws(self, data: TreeData, seed: int) -> Draws:
        """Return how the trees draw their rows."""
        n_features = data.n_features()
        codes = target_codes(data.target.class_codes if data.labels else data.target.y)
        population = population_of(fingerprints(rows_of(data.mixed.X), codes.astype(np.int64)), data.weights())
        n_rows = population.n_meant()
        if self.bootstrap:
            n_rows = draw_count(type(self).__name__, self.max_samples, population, with_replacement=True)
        return Draws(population, n_rows, bool(self.bootstrap), n_features, n_features, False, seed)

    def _fitter(self, data: TreeData, draws: Draws, watch: Watch | None, threads: int) -> ForestFitter:
        """Return what grows tree number t."""
        n_features = data.n_features()
        n_tried = forest_feature_count(self.max_features, n_features)
        # all columns that are kept by their rare entries are read at every node, drawn or not
        rare_share = min(0.5, max(n_tried / n_features, 1e-9))

        def params(weights: np.ndarray) -> GrowthParams:
            # shares of rows are of all rows, also of those that a tree does not see
            return growth_params(self, data.weighted(weights), data.n_rows(), float(weights.sum()), n_tried)

        return ForestFitter(
            data,
            binned_table(data, self.max_bins, threads, rare_share),
            draws,
            bootstrap=bool(self.bootstrap),
            criterion=criterion_code(self.criterion),
            factors=class_factors(self, data),
            params=params,
            monotonic_cst=monotonic_signs(self, n_features).astype(np.int64),
            max_leaves=max_leaf_count(self),
            alpha=float(self.ccp_alpha),
            max_features=n_tried,
            wants_oob=self._wants_score(),
            workspaces=WorkspacePool(),
            watch=watch,
        )

    def _is_choosing(self) -> bool:
        """Return whether time was up before all numbers of features were tried."""
        if self.max_features != OOB or len(self.oob_curve_) == len(feature_counts_to_try(self.n_features_in_)):
            return False
        return len(self.oob_curve_) > 0 or self.stop_reason_ == TIME_UP

    def _select_max_features(
        self, fitter: ForestFitter, earlier: list[PackedTree], threads: int
    ) -> tuple[ForestFitter, np.ndarray, list]:
        """Return the fitter with its number of features, the errors of all numbers tried, and the trees that stay."""
        nothing_tried = np.empty((0, 2))
        if self.max_features != OOB:
            return fitter, nothing_tried, earlier
        if earlier and not self._is_choosing():
            return fitter._replace(max_features=self.max_features_), self.oob_curve_, earlier
        curve = self.oob_curve_ if earlier else nothing_tried
        max_features, ready, curve = select_max_features(fitter, self.n_estimators, threads, curve, earlier)
        fitter = fitter._replace(max_features=max_features)
        if fitter.time_is_up():  # no tree will be added one by one: those that are done stay together
            return fitter, curve, ready
        return fitter._replace(ready=ready), curve, []

    # ---- after the trees have grown

    def _attributes(self, fitter: ForestFitter, curve: np.ndarray, step: Step) -> dict:
        """Return the fitted attributes that some trees stand for."""
        data, features = fitter.data, fitter.binned.features
        return {
            "forest_": forest_of([fitted.learner for fitted in step.learners]),
            "n_outputs_": data.n_outputs(),
            "max_features_": fitter.max_features,
            "oob_curve_": curve,
            "categories_": data.mixed.categories,
            "is_categorical_": np.array([labels is not None for labels in data.mixed.categories]),
            "has_missing_": features.missing >= 0,
            "n_binned_": int((~features.exact).sum()),
            "n_draws_": fitter.draws.n_rows,
            "seed_": fitter.draws.seed,
            "_cache": Cache(),
        }

    def _new_oob_accumulator(self, data: TreeData) -> OobAccumulator:
        residuals = None if data.labels else OobResiduals(data.target.y, data.weights())
        return OobAccumulator(data.n_rows(), data.n_values(), keeps_ballots=len(data.labels) == 1, residuals=residuals)

    def _rescore(self, data: TreeData, watch: Watch):
        """Score the trees that are there."""
        check_same_targets(self, data)
        draws = self._draws(data, self.seed_)
        self._check_draws_of_fit(draws)
        self.stop_reason_ = FINISHED  # all learners are there: time can have cut nothing but the score
        self._set_oob_score(data, data.weights(), self._oob_predictions(data, draws), watch)
        return self

    def _oob_predictions(
        self, data: TreeData, draws: Draws, check: Callable[[], None] = lambda: None
    ) -> OobAccumulator:
        """Return what each tree predicts for the rows it did not see, which are drawn again."""
        oob = self._new_oob_accumulator(data)
        for number, tree in enumerate(self._trees()):
            check()
            oob.add(predict_out_of_bag(tree, data, self._counts(draws, number)))
        return oob

    def _certify(self, data: TreeData, oob: OobAccumulator, score: Score | None) -> Certificate:
        """Return the claims about the forest."""
        claims = [
            self._count_claim("trees", "trees that were grown"),
            measured("rows drawn", "rows that each tree got, repeated ones counted", self.n_draws_),
            bins_claim(self.n_binned_),
        ]
        return Certificate((*claims, *self._oob_claims(data, oob, score)))

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who, output_sizes = type(self).__name__, np.diff(self.forest_.output_start).tolist()
        check_forest_values(who, output_sizes, self.n_outputs_, class_lists(self))
        check_forest(
            who,
            self.forest_,
            check_category_lists(who, self.categories_, self.is_categorical_),
            is_bounded=bool(np.any(self.monotonic_cst)),
            criterion=(self.criterion, criterion_code(self.criterion)),
            no_threshold=NO_THRESHOLD,
        )

    # ---- queries

    def _query(self, X):
        check_is_fitted(self)
        return query_rows(self, X)

    def _threads(self, rows) -> int:
        return 1 if rows.shape[0] <= FEW_ROWS else thread_count(type(self).__name__, self.n_jobs)

    def _predictor(self) -> Predictor:
        return self._cached("predictor", lambda: make_predictor(self.forest_))

    def _batch_forest(self) -> BatchForest | None:
        return self._cached("batch_forest", lambda: make_batch_forest(self.forest_, self.has_missing_))

    def _means(self, X) -> np.ndarray:
        """Return the mean of what the trees predict for each row."""
        rows = self._query(X)
        found = self._batch_means(rows) or forest_means(self._predictor(), rows, self._threads(rows))
        if found.met_infinity:
            check_no_infinity(self, rows)
        return found.values

    def _batch_means(self, rows) -> Means | None:
        """Return the means by the kernel for very many rows; None if it does not pay or cannot take the forest."""
        if not pays(self.forest_, rows.shape[0], made="batch_forest" in self._cache):
            return None
        forest = self._batch_forest()
        return None if forest is None else batch_means(forest, rows, self._threads(rows))

    # ---- the trees, seen one by one

    def _mean_importances(self) -> np.ndarray:
        views = (
            TreeView(tree, self.n_features_in_, values_per_output(self), self.categories_) for tree in self._trees()
        )
        parts = [view.compute_feature_importances() for view in views if view.node_count > 1]
        mean = np.mean(parts, axis=0) if parts else np.zeros(self.n_features_in_)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def _tree_estimator(self, number: int, nodes: Tree) -> Any:
        """Return one tree as an estimator."""
        seed = learner_seed(self.seed_, number)
        tree = self._tree().set_params(random_state=seed)
        attributes = {
            **{name: getattr(self, name) for name in SHARED_WITH_TREES},
            "nodes_": nodes,
            "tree_": TreeView(nodes, self.n_features_in_, values_per_output(self), self.categories_),
            "split_seed_": int(integer_seeds(seed, 2)[0]),
            "pruning_curve_": np.empty((0, 3)),
            "certificate_": Certificate(()),
            **self._tree_classes(),
        }
        for name, value in attributes.items():
            setattr(tree, name, value)
        return tree

    def _tree_classes(self) -> dict:
        """Return what a tree must know of classes: here nothing."""
        return {}

    def derive(self) -> None:
        """Begin with an empty cache, which is in no file."""
        self._cache = Cache()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@describe
class RandomForestClassifier(ClassifierMixin, RandomForest):
    """Let many trees vote, each of which saw its own draw of the rows and, at each node, its own draw of the features.

    Like :class:`sklearn.ensemble.RandomForestClassifier`, with its parameters and attributes. Differences: (1) all
    trees grow from one table of codes, at most ``max_bins`` for a column; (2) categories and missing values are
    used as they are; (3) the draw of ``max_features`` counts only features that can split the node, and
    ``max_features='oob'`` chooses their number by the error out of bag; (4) ``oob_score`` takes any metric and comes
    with an interval; (5) a weight is a repeated row: it counts in the draw; (6) ``time_limit``, callbacks and a
    ``certificate_`` with Breiman's strength and correlation; (7) the forest is kept in few bytes.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : 'gini', 'entropy', 'log_loss' or 'error', default='gini'
        How mixed a node is: 1 - Σp², -Σ p log₂ p (twice), or 1 - max p.
    max_features : 'sqrt', 'log2', 'oob', int, float or None, default='sqrt'
        How many features are tried at a node. 'oob' grows a few trees with each of some numbers, from 1 to all, and
        goes on with the best; ``oob_curve_`` has the errors.
    bootstrap : bool, default=True
        Whether each tree draws its rows, with replacement; False gives all rows to every tree.
    oob_score : bool, str or function, default=False
        Score the rows by those trees that did not see them: True is the accuracy; or the name of a scorer of
        scikit-learn, a scorer, or a function of y_true and y_pred.
    verbose : int, default=0
        Is there for scikit-learn's sake; ``set_callbacks(ProgressBar())`` shows progress.
    warm_start : bool, default=False
        Keep the trees of the last fit and add more, up to ``n_estimators``.
    class_weight : dict, list of dicts, 'balanced', 'balanced_subsample' or None, default=None
        A factor for the weights of each class, as in scikit-learn; rows of a class of weight 0 are as if not given.
    max_samples : int, float or None, default=None
        How many rows each tree draws; a float is a fraction, None as many as the weights stand for.
    max_bins : int or None, default=4096
        A column with more values than this is cut into so many bins of about equally many rows, and trees ask
        between bins; None looks at every value.
    random_state : int, RandomState or None, default=None
        Draws rows and features, and one of several splits that are equally good. Tree t is the same whatever
        ``n_jobs`` and ``n_estimators`` are.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, feature_importances_, estimators_,
    estimators_samples_, oob_score_, oob_decision_function_
        As in scikit-learn; rows that every tree saw are NaN in ``oob_decision_function_`` and not in the score.
    oob_interval_ : ndarray of shape (2,)
        The 95 % interval of ``oob_score_``: Wilson's for the accuracy, else from resamples of the rows.
    max_features_, n_draws_ : int
        How many features are tried at a node, and how many rows each tree drew.
    oob_curve_ : ndarray of shape (n_tried, 2)
        Number of features and error out of bag, if ``max_features='oob'``.
    categories_, is_categorical_, has_missing_
        As in :class:`DecisionTreeClassifier`.
    stop_reason_ : 'finished', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> from eigenwood import RandomForestClassifier
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]] * 5
    >>> model = RandomForestClassifier(10, random_state=0, oob_score=True).fit(X, ["a", "a", "b", "b"] * 5)
    >>> model.predict([[0.5, 1.0], [2.5, 0.0]]), len(model), model.certificate_.holds
    (array(['a', 'b'], dtype='<U1'), 10, True)
    """

    PARAMS = {
        "criterion": Choice(tuple(CLASS_CRITERIA)),
        **FOREST_PARAMS,
        "class_weight": ClassWeights(several=True, presets=(BALANCED, BALANCED_SUBSAMPLE)),
    }
    FITTED = {"classes_": OutputLabels("n_values"), **FOREST_STATE}

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        max_bins=4096,
        categorical_features=FROM_DTYPE,
        time_limit=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.time_limit = time_limit

    @property
    def n_classes_(self):
        """The number of classes, or an array of such numbers for several outputs."""
        return class_counts(self)

    def predict(self, X):
        """Return the class with the largest mean share over the trees."""
        columns = likeliest(class_lists(self), self._proba(self._means(X)))
        return columns[0] if self.n_outputs_ == 1 else side_by_side(columns)

    def predict_proba(self, X):
        """Return the mean shares of the classes over the trees; a list of such arrays for several outputs."""
        return one_or_list(self._proba(self._means(X)))

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return log_proba(self.predict_proba(X))

    def _proba(self, means: np.ndarray) -> list[np.ndarray]:
        """Return the shares of the classes, output by output."""
        return [means] if self.n_outputs_ == 1 else np.split(means, self.forest_.output_start[1:-1], axis=1)

    def _tree(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(criterion=self.criterion, **tree_params(self))

    def _oob_answers(self, data: TreeData, rows: np.ndarray, means: np.ndarray) -> OobAnswers:
        labels, proba = data.labels, np.split(means, data.target.starts[1:-1], axis=1)
        pred = likeliest(labels, proba)
        truth = [own.take(codes) for own, codes in zip(labels, data.target.class_codes[rows].T, strict=True)]
        weights = data.weights()[rows]
        if len(labels) == 1:
            return OobAnswers(truth[0], pred[0], proba[0], weights, labels[0])
        return OobAnswers(side_by_side(truth), side_by_side(pred), np.hstack(proba), weights, np.array([0, 1]))

    def _perfect_means(self, data: TreeData) -> np.ndarray:
        codes, starts = data.target.class_codes, data.target.starts
        means = np.zeros((len(codes), data.n_values()))
        means[np.arange(len(codes))[:, None], starts[:-1] + codes] = 1.0
        return means

    def _vote_claims(self, data: TreeData, oob: OobAccumulator) -> list[Claim]:
        if len(data.labels) > 1 or data.labels[0].size < 2:
            return []
        return vote_claims(
            assessed_vote(oob.ballots, data.target.class_codes[:, 0], data.weights(), data.labels[0].size)
        )

    def _store_oob_means(self, means: np.ndarray) -> None:
        proba = self._proba(means)
        self.oob_decision_function_: Any = one_or_list(proba)
        if len(proba) > 1 and len({part.shape[1] for part in proba}) == 1:
            self.oob_decision_function_ = np.stack(proba, axis=2)

    def _attributes(self, fitter: ForestFitter, curve: np.ndarray, step: Step) -> dict:
        return {"classes_": one_or_list(fitter.data.labels), **super()._attributes(fitter, curve, step)}

    def _tree_classes(self) -> dict:
        return {"classes_": one_or_list([np.arange(n, dtype=np.float64) for n in values_per_output(self)])}


@describe
class RandomForestRegressor(RegressorMixin, RandomForest):
    """Take the mean of many trees, each of which saw its own draw of the rows and of the features.

    Like :class:`sklearn.ensemble.RandomForestRegressor`, with its parameters and attributes; it differs from it as
    :class:`RandomForestClassifier` does from its twin.

    Parameters
    ----------
    criterion : 'squared_error', 'absolute_error', 'poisson' or 'friedman_mse', default='squared_error'
        How far the targets of a node are apart. 'friedman_mse' is 'squared_error', as in scikit-learn.
    max_features : 'sqrt', 'log2', 'oob', int, float or None, default=1.0
        How many features are tried at a node; 'oob' as in :class:`RandomForestClassifier`.
    oob_score : bool, str or function, default=False
        As in :class:`RandomForestClassifier`; True is R².
    n_estimators, bootstrap, verbose, warm_start, max_samples, max_bins, random_state
        As in :class:`RandomForestClassifier`.

    Attributes
    ----------
    n_outputs_, n_features_in_, feature_names_in_, feature_importances_, estimators_, estimators_samples_, oob_score_,
    oob_prediction_
        As in scikit-learn; rows that every tree saw are NaN in ``oob_prediction_`` and not in the score.
    oob_interval_, max_features_, n_draws_, oob_curve_, categories_, is_categorical_, has_missing_, stop_reason_,
    certificate_
        As in :class:`RandomForestClassifier`.

    Examples
    --------
    >>> from eigenwood import RandomForestRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]] * 5
    >>> model = RandomForestRegressor(10, random_state=0).fit(X, [1.0, 1.0, 5.0, 5.0] * 5)
    >>> model.predict([[0.5], [2.5]])
    array([1., 5.])
    """

    PARAMS = {"criterion": Choice(tuple(REGRESSION_CRITERIA)), **FOREST_PARAMS}
    FITTED = FOREST_STATE

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        max_bins=4096,
        categorical_features=FROM_DTYPE,
        time_limit=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.time_limit = time_limit

    def predict(self, X):
        """Return the mean value of the leaves of each row."""
        means = self._means(X)
        return means[:, 0] if self.n_outputs_ == 1 else means

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return the mean prediction at each point of a grid; scikit-learn's ``partial_dependence`` asks for it."""
        trees = self.estimators_
        return sum(tree._compute_partial_dependence_recursion(grid, target_features) for tree in trees) / len(trees)

    def _tree(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(criterion=self.criterion, **tree_params(self))

    def _oob_answers(self, data: TreeData, rows: np.ndarray, means: np.ndarray) -> OobAnswers:
        truth, pred = data.target.y[rows], means
        if truth.shape[1] == 1:
            truth, pred = truth[:, 0], pred[:, 0]
        return OobAnswers(truth, pred, np.empty((rows.size, 0)), data.weights()[rows], None)

    def _perfect_means(self, data: TreeData) -> np.ndarray:
        return data.target.y

    def _vote_claims(self, data: TreeData, oob: OobAccumulator) -> list[Claim]:
        return oob.mean_claims(data.weights())

    def _store_oob_means(self, means: np.ndarray) -> None:
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means


def likeliest(labels: list[np.ndarray], proba: list[np.ndarray]) -> list[np.ndarray]:
    """Return the classes with the largest shares, output by output."""
    return [own.take(part.argmax(axis=1)) for own, part in zip(labels, proba, strict=True)]


def tree_params(forest: RandomForest) -> dict:
    """Return the parameters that a forest hands on to its trees."""
    max_features = getattr(forest, "max_features_", None) if forest.max_features == OOB else forest.max_features
    return {"max_features": max_features, **{name: getattr(forest, name) for name in HANDED_ON}}


# scikit-learn's tools ask whether a forest is one; ours have all that they read.
sklearn.ensemble.RandomForestClassifier.register(RandomForestClassifier)
sklearn.ensemble.RandomForestRegressor.register(RandomForestRegressor)
