"""Random forests with scikit-learn's face."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
import sklearn.ensemble
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.distinct import fingerprints
from eigenwood.core.forest.nodes import Forest, joined, packed, tree_at
from eigenwood.core.forest.predicting import Walk, forest_leaves, forest_means, walk_of
from eigenwood.core.rows import rows_of
from eigenwood.core.tree.nodes import Tree
from eigenwood.core.tree.predicting import decision_path
from eigenwood.core.tree.splitting import Rule
from eigenwood.errors import InputError
from eigenwood.estimators.ensemble_learning import Step, learner_steps
from eigenwood.estimators.ensemble_sampling import Draws, draw_count, learner_seed, population_of, row_counts
from eigenwood.estimators.ensemble_scoring import Answers, Tally, scored
from eigenwood.estimators.forest_growing import Nursery, oob_importances, tried_feature_counts
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from eigenwood.estimators.tree_data import TreeData
from eigenwood.estimators.tree_gate import (
    AMOUNT_CRITERIA,
    CLASS_CRITERIA,
    FEATURE_COUNTS,
    MOST_LEAVES,
    SUBSET,
    AmountGate,
    ClassGate,
    TreeGate,
    feature_count,
    side_by_side,
)
from eigenwood.estimators.tree_view import TreeView
from eigenwood.estimators.watching import TIME_LIMIT, Watch, Watched
from eigenwood.proofs.claim import Certificate, Claim, at_most, measured
from eigenwood.proofs.out_of_bag import Score, assessed_vote, score_claims, vote_claims
from eigenwood.validation.arrays import check_finite
from eigenwood.validation.categories import FROM_DTYPE, CategoricalFeatures, check_mixed
from eigenwood.validation.ensembles import Metric
from eigenwood.validation.forests import ForestNodes, forest_lists_known_categories
from eigenwood.validation.params import (
    AnyOf,
    Choice,
    ClassWeights,
    Flag,
    Nothing,
    Number,
    Seed,
    Share,
    Signs,
    check_params,
)
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array, CategoryLists, OutputLabels, Scalar
from eigenwood.validation.targets import Outputs, output_weights
from eigenwood.validation.threads import N_JOBS, thread_count

OOB = "oob"  # max_features: chosen by the error out of bag
BALANCED_SUBSAMPLE = "balanced_subsample"
FEW_ROWS = 64  # so many rows are predicted by one thread: to start others takes longer

FOREST_PARAMS = {
    "n_estimators": Number(at_least=1, whole=True),
    "max_depth": AnyOf(Nothing(), Number(at_least=1, whole=True)),
    "min_samples_split": AnyOf(Number(at_least=2, whole=True), Share()),
    "min_samples_leaf": AnyOf(Number(at_least=1, whole=True), Share(below=1)),
    "min_weight_fraction_leaf": Number(at_least=0, at_most=0.5),
    "max_features": AnyOf(Nothing(), Number(at_least=1, whole=True), Share(), Choice((*FEATURE_COUNTS, OOB))),
    "max_leaf_nodes": AnyOf(Nothing(), Number(at_least=2, at_most=MOST_LEAVES, whole=True)),
    "min_impurity_decrease": Number(at_least=0),
    "bootstrap": Flag(),
    "oob_score": Metric(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
    "verbose": AnyOf(Flag(), Number(at_least=0, whole=True)),
    "warm_start": Flag(),
    "ccp_alpha": Number(at_least=0),
    "max_samples": AnyOf(Nothing(), Number(at_least=1, whole=True), Share()),
    "monotonic_cst": Signs(),
    "categorical_features": CategoricalFeatures(),
    "time_limit": TIME_LIMIT,
}
FOREST_STATE = {
    **FEATURE_STATE,
    "forest_": ForestNodes("n_features", "n_values"),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "oob_curve_": Array("f", ("n_tried", 2)),
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "n_binned_": COUNT,
    "n_draws_": COUNT,
    "seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, whole=True)),
    "oob_score_": Scalar(Number()),
    "oob_interval_": Array("f", (2,)),
    **FIT_STATE,
}


class RandomForest(MultiOutputMixin, Watched, TreeGate):
    """What both forests share."""

    OPTIONAL = frozenset({"oob_score_", "oob_interval_"})

    # what a tree may choose and a forest does not
    splitter, leaf_uncertainty, categorical_split = "best", 0.0, SUBSET

    forest_: Forest
    seed_: int
    n_draws_: int
    n_binned_: int
    max_features_: int

    @abstractmethod
    def _tree(self) -> Any:
        """Return the tree of which there will be many."""

    @abstractmethod
    def _factors(self, data: TreeData, weights: np.ndarray) -> np.ndarray:
        """Return what the weights of a tree's rows are multiplied with."""

    @abstractmethod
    def _answers(self, data: TreeData, tally: Tally) -> Answers:
        """Return truth and answers for the rows that some tree did not see."""

    @abstractmethod
    def _vote_claims(self, data: TreeData, tally: Tally) -> list[Claim]:
        """Return what can be claimed about the vote."""

    @abstractmethod
    def _store_answers(self, means: np.ndarray) -> None:
        """Keep what the trees say about the rows they did not see."""

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the trees, each over its own draw of the rows of X and their targets y; a weight is a repeated row."""
        check_params(self)
        watch = Watch(self)
        data = self._checked(X, y, sample_weight)
        n_given = len(y)
        n_earlier = self._earlier_count(data)
        if n_earlier == self.n_estimators:
            warnings.warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=3)
            return self
        seed = self.seed_ if n_earlier else int(integer_seeds(self.random_state, 1)[0])
        draws = self._draws(data, seed)
        threads = thread_count(type(self).__name__, self.n_jobs)

        nursery = self._nursery(data, draws, watch, threads)
        earlier, curve = self._earlier(nursery, n_earlier, threads)
        nursery, tally = nursery._replace(max_features=self.max_features_), self._new_tally(data)
        outcome = watch.follow(
            learner_steps(nursery, earlier, self.n_estimators, threads, tally.hear),
            max_rounds=self.n_estimators - n_earlier,
            fitted=lambda step: self._attributes(data, draws, step, curve),
            X=X,
            y=y,
        )

        self._store(self._attributes(data, draws, outcome.step, curve), outcome.reason)
        self.n_binned_ = int((~nursery.binned.features.exact).sum())
        self._draws_of_fit = draws, data.places
        score = None if self.oob_score is False else self._scored(data, tally)
        self._store_score(n_given, data, tally, score)
        self.certificate_ = self._proved(data, tally, score)
        return self

    def apply(self, X):
        """Return the leaf of each tree in which each row of X ends, shape (n_rows, n_trees)."""
        found = forest_leaves(self._walk(), self._query(X), self._threads(X))
        self._refuse_infinity(X, found.met_infinity)
        return found.nodes.astype(np.int64)

    def decision_path(self, X):
        """Return which nodes each row visits, tree beside tree, as a sparse matrix of ones, and where trees begin."""
        leaves = self.apply(X)
        paths = [decision_path(tree_at(self.forest_, i), leaves[:, i]) for i in range(leaves.shape[1])]
        return sparse.csr_matrix(sparse.hstack(paths)), self.forest_.node_start.astype(np.int64)

    def oob_permutation_importance(self, X, y, sample_weight=None, *, n_repeats=1, random_state=0):
        """Return how much worse each tree gets on the rows it did not see when one feature is shuffled there.

        X, y and the weights are those of ``fit``. The result has ``importances_mean`` and ``importances_std`` over
        the trees (for classes in shares of rows, for amounts in squared error), and ``importances`` of each tree.
        """
        check_is_fitted(self)
        data = self._checked_query(self.categories_, self._class_lists(), X, y, sample_weight)
        draws, seed = self._draws(data, self.seed_), int(integer_seeds(random_state, 1)[0])
        importances = oob_importances(self.forest_, data, draws, n_repeats, seed, self._threads(X))
        means, deviations = np.nanmean(importances, axis=0), np.nanstd(importances, axis=0)
        return Bunch(importances_mean=means, importances_std=deviations, importances=importances)

    @property
    def estimators_(self) -> list:
        """The trees, as estimators of their own."""
        check_is_fitted(self)
        if "_estimators" not in self.__dict__:
            self._estimators = [self._tree_estimator(i) for i in range(self._n_trees())]
        return self._estimators

    @property
    def estimator_(self):
        """The tree as it was before any fit."""
        check_is_fitted(self)
        return self._tree()

    @property
    def estimators_samples_(self):
        """The rows that each tree got, drawn again from its seed; a row drawn twice is there twice."""
        check_is_fitted(self)
        if not hasattr(self, "_draws_of_fit"):
            raise AttributeError(f"{type(self).__name__}: estimators_samples_ is not kept in a model file.")
        draws, places = self._draws_of_fit
        numbers = range(self._n_trees())
        if not self.bootstrap:
            return [places.astype(np.int32) for _ in numbers]
        return [np.repeat(places, row_counts(draws, number)).astype(np.int32) for number in numbers]

    @property
    def feature_importances_(self):
        """How much each feature lowers the impurity, as shares of the whole: the mean over the trees."""
        check_is_fitted(self)
        if "_importances" not in self.__dict__:
            parts = [tree.feature_importances_ for tree in self.estimators_ if tree.tree_.node_count > 1]
            mean = np.mean(parts, axis=0) if parts else np.zeros(self.n_features_in_)
            self._importances = mean / mean.sum() if mean.sum() > 0 else mean
        return self._importances

    def __len__(self) -> int:
        return self._n_trees()

    def __getitem__(self, number):
        return self.estimators_[number]

    def __iter__(self):
        return iter(self.estimators_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def __getstate__(self):
        derived = ("_estimators", "_importances", "_walk_of_forest", "_draws_of_fit")
        return {name: value for name, value in super().__getstate__().items() if name not in derived}

    def _n_trees(self) -> int:
        return self.forest_.node_start.size - 1

    def _earlier_count(self, data: TreeData) -> int:
        """Return how many trees stay."""
        if not self.warm_start or not hasattr(self, "forest_"):
            return 0
        who, n_trees = type(self).__name__, self._n_trees()
        if n_trees > self.n_estimators:
            raise InputError(
                f"{who}: n_estimators must be at least the {n_trees} trees there are when warm_start is True; "
                f"got n_estimators={self.n_estimators}."
            )
        if data.target.starts[-1] != self.forest_.output_start[-1]:
            raise InputError(f"{who}: y must have the classes it had before when warm_start is True; got others.")
        return n_trees

    def _draws(self, data: TreeData, seed: int) -> Draws:
        """Return how the trees draw their rows."""
        who, n_features = type(self).__name__, data.mixed.X.shape[1]
        if self.oob_score is not False and not self.bootstrap:
            raise InputError(f"{who}: Out of bag estimation only available if bootstrap=True; got bootstrap=False.")
        if self.max_features == OOB and not self.bootstrap:
            raise InputError(f"{who}: max_features='oob' must go with bootstrap=True; got bootstrap=False.")
        if self.max_samples is not None and not self.bootstrap:
            raise InputError(
                f"{who}: `max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                f"max_samples=None; got max_samples={self.max_samples}."
            )
        codes = np.unique(data.target.labels if data.labels else data.target.amounts, axis=0, return_inverse=True)[1]
        population = population_of(fingerprints(rows_of(data.mixed.X), codes.ravel().astype(np.int64)), data.weights())
        n_rows = draw_count(who, self.max_samples, population, with_replacement=True)
        return Draws(population, n_rows, True, n_features, n_features, False, seed)

    def _nursery(self, data: TreeData, draws: Draws, watch: Watch | None, threads: int) -> Nursery:
        """Return what grows tree number t."""
        n_features = data.mixed.X.shape[1]
        n_tried = n_features if self.max_features == OOB else feature_count(self.max_features, n_features)
        return Nursery(
            data,
            # all thin columns are read at every node, drawn or not
            self._binned(data, threads, rare_share=min(0.5, max(n_tried / n_features, 1e-9))),
            draws,
            bool(self.bootstrap),
            lambda weights: self._factors(data, weights),
            lambda weights: self._rule_of(data, weights),
            np.zeros(n_features, dtype=np.int64)
            if self.monotonic_cst is None
            else np.asarray(self.monotonic_cst).astype(np.int64),
            0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            float(self.ccp_alpha),
            n_tried,
            asks=self.oob_score is not False,
            watch=watch,
        )

    def _rule_of(self, data: TreeData, weights: np.ndarray) -> Rule:
        """Return how a tree over rows of these weights is grown; shares of rows are of all rows."""
        own = data._replace(target=data.target._replace(weights=weights))
        return self._rule(own, data.n_rows(), float(weights.sum()))

    def _earlier(self, nursery: Nursery, n_earlier: int, threads: int) -> tuple[list[Forest], np.ndarray]:
        """Return the trees that are there already, and the errors of the numbers of features that were tried."""
        if n_earlier:
            return [self._alone(i) for i in range(n_earlier)], self.oob_curve_
        if self.max_features != OOB:
            self.max_features_ = nursery.max_features
            return [], np.empty((0, 2))
        self.max_features_, trees, curve = tried_feature_counts(nursery, self.n_estimators, threads)
        return trees, curve

    def _alone(self, number: int) -> Forest:
        """Return one tree as a forest of its own."""
        bounded = bool(self.forest_.bounded[0])
        return packed([tree_at(self.forest_, number)], self._criterion(), self.forest_.output_start, bounded)

    def _new_tally(self, data: TreeData) -> Tally:
        n_values = int(data.target.starts[-1])
        return Tally(data.n_rows(), n_values, keeps_ballots=len(data.labels) == 1)

    def _attributes(self, data: TreeData, draws: Draws, step: Step, curve: np.ndarray) -> dict:
        """Return the fitted attributes that some trees stand for."""
        return {
            "forest_": joined(*(learnt.learner for learnt in step.learnt)),
            "n_outputs_": data.target.starts.size - 1,
            "max_features_": self.max_features_,
            "oob_curve_": curve,
            "categories_": data.mixed.categories,
            "is_categorical_": np.array([labels is not None for labels in data.mixed.categories]),
            "n_draws_": draws.n_rows,
            "seed_": draws.seed,
        }

    def _store(self, attributes: dict, reason: str) -> None:
        for name in ("_estimators", "_importances", "_walk_of_forest"):
            self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        self.stop_reason_ = reason

    def _scored(self, data: TreeData, tally: Tally) -> Score | None:
        """Return the score on rows out of bag; nothing if there are none."""
        heard = tally.heard()
        if heard.size == 0:
            return None
        weights = data.weights()
        share = float(weights[heard].sum() / weights.sum())
        return scored(self.oob_score or True, self._answers(data, tally), share, self.seed_)

    def _store_score(self, n_given: int, data: TreeData, tally: Tally, score: Score | None) -> None:
        """Keep the score, and what was said about each row that was given; or nothing."""
        for name in ("oob_score_", "oob_interval_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if self.oob_score is False:
            return
        if not tally.counts.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used to compute any "
                f"reliable OOB estimates: {(tally.counts == 0).sum()} of {tally.counts.size} rows.",
                stacklevel=4,
            )
        means = np.full((n_given, tally.sums.shape[1]), np.nan)
        means[data.places] = tally.means()
        self._store_answers(means)
        if score is not None:
            self.oob_score_ = score.value
            if np.isfinite(score.interval).all():
                self.oob_interval_ = np.array(score.interval)

    def _proved(self, data: TreeData, tally: Tally, score: Score | None) -> Certificate:
        """Return the claims about the forest."""
        claims = [
            measured("trees", "trees that were grown", self._n_trees()),
            measured("rows drawn", "rows that each tree got, repeated ones counted", self.n_draws_),
            measured("binned columns", "columns with so many values that they were put in bins", self.n_binned_),
        ]
        if score is not None:
            claims += [*score_claims(score), *self._vote_claims(data, tally)]
        return Certificate(tuple(claims))

    def _query(self, X):
        """Return the rows of a query; a plain matrix of numbers needs no more than a look at its shape."""
        check_is_fitted(self)
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.dtype in (np.float64, np.float32)
            and not hasattr(self, "feature_names_in_")
            and not self.is_categorical_.any()
        ):
            return np.ascontiguousarray(X)
        return check_mixed(self, X, known=self.categories_).X

    def _threads(self, X) -> int:
        n_rows = X.shape[0] if hasattr(X, "shape") else FEW_ROWS + 1
        return 1 if n_rows <= FEW_ROWS else thread_count(type(self).__name__, self.n_jobs)

    def _walk(self) -> Walk:
        check_is_fitted(self)
        if "_walk_of_forest" not in self.__dict__:
            self._walk_of_forest = walk_of(self.forest_)
        return self._walk_of_forest

    def _means(self, X) -> np.ndarray:
        """Return the mean of what the trees say about each row."""
        rows = self._query(X)
        found = forest_means(self._walk(), rows, self._threads(rows))
        self._refuse_infinity(rows, found.met_infinity)
        return found.values

    def _refuse_infinity(self, rows, met_infinity: bool) -> None:
        if met_infinity:
            check_finite(type(self).__name__, rows, getattr(self, "feature_names_in_", None), missing=True)

    def _tree_estimator(self, number: int) -> Any:
        """Return one tree as an estimator."""
        tree, nodes = self._tree(), tree_at(self.forest_, number)
        tree.random_state = learner_seed(self.seed_, number)
        attributes = {
            "nodes_": nodes,
            "n_features_in_": self.n_features_in_,
            "n_outputs_": self.n_outputs_,
            "max_features_": self.max_features_,
            "categories_": self.categories_,
            "is_categorical_": self.is_categorical_,
            "has_missing_": np.zeros(self.n_features_in_, dtype=bool),
            "n_binned_": self.n_binned_,
            "split_seed_": 0,
            "pruning_curve_": np.empty((0, 3)),
            "stop_reason_": self.stop_reason_,
            "certificate_": Certificate(()),
            "tree_": TreeView(nodes, self.n_features_in_, self._n_classes()),
            **self._tree_classes(),
        }
        for name, value in attributes.items():
            setattr(tree, name, value)
        return tree

    def _tree_classes(self) -> dict:
        """Return what a tree must know of classes: here nothing."""
        return {}

    def check_fitted(self) -> None:
        """Raise unless the attributes of a model file agree with each other."""
        who, starts = type(self).__name__, self.forest_.output_start
        if self.n_outputs_ != starts.size - 1 or self._n_classes() != np.diff(starts).tolist():
            raise InputError(f"{who}: forest_ must have one value for each class or output.")
        n_labels = np.array([-1 if labels is None else len(labels) for labels in self.categories_])
        if ((n_labels >= 0) != self.is_categorical_).any():
            raise InputError(f"{who}: categories_ must be there for the columns of is_categorical_.")
        if not forest_lists_known_categories(self.forest_, n_labels):
            raise InputError(f"{who}: forest_ must list known categories, ascending, where a category is asked.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@describe
class RandomForestClassifier(ClassifierMixin, ClassGate, RandomForest):
    """Let many trees vote, each of which saw its own draw of the rows and, at each node, its own draw of the features.

    Like :class:`sklearn.ensemble.RandomForestClassifier`, with its parameters and attributes. Differences: (1) all
    trees grow from one table of integer codes, exactly, several times faster; (2) categories and missing values are
    used as they are; (3) the draw of ``max_features`` counts only features that can split the node, and
    ``max_features='oob'`` chooses their number by the error out of bag; (4) ``oob_score`` takes any metric and comes
    with an interval; (5) a weight is a repeated row: it counts in the draw; (6) ``time_limit``, callbacks and a
    ``certificate_`` with Breiman's strength and correlation; (7) the forest is kept in few bytes.

    Parameters
    ----------
    criterion : 'gini', 'entropy', 'log_loss' or 'error', default='gini'
        How mixed a node is: 1 - Σp², -Σ p log₂ p (twice), or 1 - max p.
    max_features : 'sqrt', 'log2', 'oob', int, float or None, default='sqrt'
        How many features are tried at a node. 'oob' grows a few trees with each of some numbers, from 1 to all, and
        goes on with the best; ``oob_curve_`` has the errors.
    class_weight : dict, list of dicts, 'balanced', 'balanced_subsample' or None, default=None
        A factor for the weights of each class, as in scikit-learn.
    random_state : int, RandomState or None, default=None
        Draws rows and features, and one of several splits that are equally good.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, feature_importances_, estimators_,
    estimators_samples_, oob_score_, oob_decision_function_
        As in scikit-learn; rows that every tree saw are NaN in ``oob_decision_function_`` and not in the score.
    oob_interval_ : ndarray of shape (2,)
        Where the score lies with 95 % confidence.
    max_features_ : int
    oob_curve_ : ndarray of shape (n_tried, 2)
        Number of features and error out of bag, if ``max_features='oob'``.
    categories_ : list
        The labels of each column's categories, None for a column of numbers.
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
        "class_weight": AnyOf(ClassWeights(several=True), Choice((BALANCED_SUBSAMPLE,))),
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
        self.categorical_features = categorical_features
        self.time_limit = time_limit

    def predict(self, X):
        """Return the class with the largest mean share over the trees."""
        columns = [
            labels.take(shares.argmax(axis=1))
            for labels, shares in zip(self._class_lists(), self._shares(self._means(X)), strict=True)
        ]
        return columns[0] if self.n_outputs_ == 1 else side_by_side(columns)

    def predict_proba(self, X):
        """Return the mean shares of the classes over the trees; a list of such arrays for several outputs."""
        shares = self._shares(self._means(X))
        return shares[0] if self.n_outputs_ == 1 else shares

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(part) for part in shares]

    def _shares(self, means: np.ndarray) -> list[np.ndarray]:
        """Return the shares of the classes, output by output."""
        return [means] if self.n_outputs_ == 1 else np.split(means, self.forest_.output_start[1:-1], axis=1)

    def _tree(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(class_weight=None, criterion=self.criterion, **tree_params(self))

    def _class_weight(self) -> Any:
        return None  # weights of rows are for the draw; classes get theirs afterwards

    def _factors(self, data: TreeData, weights: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return np.ones(weights.size)
        outputs, ones = Outputs(data.labels, data.target.labels), np.ones(weights.size)
        if self.class_weight == BALANCED_SUBSAMPLE:
            drawn = np.flatnonzero(weights)
            some = Outputs(data.labels, data.target.labels[drawn])
            factors = np.zeros(weights.size)
            factors[drawn] = output_weights(self, "balanced", some, weights[drawn]) / weights[drawn]
            return factors
        if self.class_weight == "balanced":
            own = data.weights()
            return output_weights(self, "balanced", outputs, own) / own
        return output_weights(self, self.class_weight, outputs, ones)

    def _answers(self, data: TreeData, tally: Tally) -> Answers:
        rows, labels = tally.heard(), self._class_lists()
        shares = self._shares_of(tally.means()[rows], data)
        said = [own.take(part.argmax(axis=1)) for own, part in zip(labels, shares, strict=True)]
        truth = [own.take(codes) for own, codes in zip(labels, data.target.labels[rows].T, strict=True)]
        weights = data.weights()[rows]
        if len(labels) == 1:
            return Answers(truth[0], said[0], shares[0], weights, labels[0])
        return Answers(side_by_side(truth), side_by_side(said), np.hstack(shares), weights, np.arange(1))

    def _shares_of(self, means: np.ndarray, data: TreeData) -> list[np.ndarray]:
        return np.split(means, data.target.starts[1:-1], axis=1)

    def _vote_claims(self, data: TreeData, tally: Tally) -> list[Claim]:
        if len(data.labels) > 1 or data.labels[0].size < 2:
            return []
        return vote_claims(assessed_vote(tally.ballots, data.target.labels[:, 0], data.weights(), data.labels[0].size))

    def _store_answers(self, means: np.ndarray) -> None:
        shares = np.split(means, self.forest_.output_start[1:-1], axis=1)
        self.oob_decision_function_: Any = shares[0] if len(shares) == 1 else shares
        if len(shares) > 1 and len({part.shape[1] for part in shares}) == 1:
            self.oob_decision_function_ = np.stack(shares, axis=2)

    def _attributes(self, data: TreeData, draws: Draws, step: Step, curve: np.ndarray) -> dict:
        classes = data.labels[0] if len(data.labels) == 1 else data.labels
        return {"classes_": classes, **super()._attributes(data, draws, step, curve)}

    def _tree_classes(self) -> dict:
        codes = [np.arange(n, dtype=np.float64) for n in self._n_classes()]
        return {"classes_": codes[0] if self.n_outputs_ == 1 else codes}


@describe
class RandomForestRegressor(RegressorMixin, AmountGate, RandomForest):
    """Take the mean of many trees, each of which saw its own draw of the rows and of the features.

    Like :class:`sklearn.ensemble.RandomForestRegressor`, with its parameters and attributes; it differs from it as
    :class:`RandomForestClassifier` does from its twin.

    Parameters
    ----------
    criterion : 'squared_error', 'absolute_error', 'poisson' or 'friedman_mse', default='squared_error'
        How far the amounts of a node are apart. 'friedman_mse' is 'squared_error', as in scikit-learn.
    max_features : 'sqrt', 'log2', 'oob', int, float or None, default=1.0
        How many features are tried at a node; 'oob' as in :class:`RandomForestClassifier`.
    random_state : int, RandomState or None, default=None
        As in :class:`RandomForestClassifier`.

    Attributes
    ----------
    n_outputs_, n_features_in_, feature_names_in_, feature_importances_, estimators_, estimators_samples_, oob_score_,
    oob_prediction_
        As in scikit-learn; rows that every tree saw are NaN in ``oob_prediction_`` and not in the score.
    oob_interval_, max_features_, oob_curve_, categories_, stop_reason_, certificate_
        As in :class:`RandomForestClassifier`.

    Examples
    --------
    >>> from eigenwood import RandomForestRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]] * 5
    >>> model = RandomForestRegressor(10, random_state=0).fit(X, [1.0, 1.0, 5.0, 5.0] * 5)
    >>> model.predict([[0.5], [2.5]])
    array([1., 5.])
    """

    PARAMS = {"criterion": Choice(tuple(AMOUNT_CRITERIA)), **FOREST_PARAMS}
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
        self.categorical_features = categorical_features
        self.time_limit = time_limit

    def predict(self, X):
        """Return the mean amount of the leaves of each row."""
        means = self._means(X)
        return means[:, 0] if self.n_outputs_ == 1 else means

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return the mean prediction at each point of a grid; scikit-learn's ``partial_dependence`` asks for it."""
        trees = self.estimators_
        return sum(tree._compute_partial_dependence_recursion(grid, target_features) for tree in trees) / len(trees)

    def _tree(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(criterion=self.criterion, **tree_params(self))

    def _factors(self, data: TreeData, weights: np.ndarray) -> np.ndarray:
        return np.ones(weights.size)

    def _answers(self, data: TreeData, tally: Tally) -> Answers:
        rows = tally.heard()
        truth, said = data.target.amounts[rows], tally.means()[rows]
        if truth.shape[1] == 1:
            truth, said = truth[:, 0], said[:, 0]
        return Answers(truth, said, np.empty((rows.size, 0)), data.weights()[rows], None)

    def _vote_claims(self, data: TreeData, tally: Tally) -> list[Claim]:
        return []

    def _store_answers(self, means: np.ndarray) -> None:
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means


def tree_params(forest: RandomForest) -> dict:
    """Return the parameters that a forest hands on to its trees."""
    names = (
        "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes",
        "min_impurity_decrease", "ccp_alpha", "monotonic_cst", "categorical_features",
    )  # fmt: skip
    max_features = forest.max_features_ if forest.max_features == OOB else forest.max_features
    return {"max_features": max_features, **{name: getattr(forest, name) for name in names}}


def verify_forest(model: RandomForest, X, y, sample_weight=None) -> Certificate:
    """Return the certificate, recomputed from the rows that were given to ``fit``.

    Every tree's rows are drawn again and it is asked about the others; and the first tree is grown again, to see that
    it is the one that follows from these rows.
    """
    check_mixed(model, X, known=model.categories_)
    again = clone(model)
    data = again._checked(X, y, sample_weight)
    draws = again._draws(data, model.seed_)
    again.max_features_ = model.max_features_
    nursery = again._nursery(data, draws, None, 1)
    nursery = nursery._replace(max_features=model.max_features_, asks=bool(model.bootstrap))
    tally = model._new_tally(data)
    for number in range(model._n_trees() if model.bootstrap else 0):
        tally.hear(nursery.left(tree_at(model.forest_, number), nursery.counts(number)))
    score = None if model.oob_score is False else model._scored(data, tally)
    first, theirs = nursery.grown(0, nursery.counts(0)), tree_at(model.forest_, 0)
    statement = "questions of the first tree, grown again, that are other ones"
    n_others = question_differences(first, theirs)
    return Certificate((*model._proved(data, tally, score).claims, at_most("first tree", statement, n_others, 0)))


def question_differences(tree: Tree, other: Tree) -> int:
    """Return how many questions of two trees differ."""
    if tree.feature.size != other.feature.size:
        return abs(tree.feature.size - other.feature.size)
    return int(((tree.feature != other.feature) | (tree.threshold != other.threshold)).sum())


# scikit-learn's tools ask whether a forest is one; ours have all that they read.
sklearn.ensemble.RandomForestClassifier.register(RandomForestClassifier)
sklearn.ensemble.RandomForestRegressor.register(RandomForestRegressor)
