"""Decision trees with scikit-learn's face."""

from __future__ import annotations

import numpy as np
import sklearn.tree
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.tree.grower import tree_so_far
from eigenwood.core.tree.predict import decision_path, leaves_of
from eigenwood.core.tree.prune import collapse_alphas, pruning_path
from eigenwood.core.tree.types import NO_FEATURE, NO_THRESHOLD, BinnedTable, Tree
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.tree.contributing import contributions_of, tree_explainer
from eigenwood.estimators.tree.data import (
    SharedTable,
    TreeData,
    class_counts,
    class_lists,
    log_proba,
    one_or_list,
    side_by_side,
    values_per_output,
)
from eigenwood.estimators.tree.fitting import binned_table, tree_grower, tree_pruner
from eigenwood.estimators.tree.input_checks import check_no_infinity, check_query, check_training
from eigenwood.estimators.tree.params import (
    CLASS_CRITERIA,
    REGRESSION_CRITERIA,
    TREE_PARAMS,
    TREE_STATE,
    criterion_code,
    feature_count,
)
from eigenwood.estimators.tree.pruning import Pruned, validation_split
from eigenwood.estimators.tree.verifying import STOPPED_EARLY
from eigenwood.estimators.tree.view import TreeView, read_only_nodes
from eigenwood.estimators.watching import FINISHED, TIME_UP, Watch, Watched
from eigenwood.proofs.claim import Certificate, not_claimed
from eigenwood.proofs.tree import NodeNumbers, mean_loss, node_numbers, tree_certificate
from eigenwood.validation.categories import FROM_DTYPE, check_mixed, coded_grid
from eigenwood.validation.params import Choice, ClassWeights, check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import OutputLabels
from eigenwood.validation.threads import thread_count
from eigenwood.validation.trees import (
    SUBSET,
    VALIDATION,
    check_category_lists,
    check_node_values,
    check_nodes,
    check_pruning,
    check_pruning_curve,
)


class DecisionTree(MultiOutputMixin, Watched, BaseEstimator):
    """The part that the classifier and the regressor share."""

    max_bins = None  # what a forest may choose and a tree does not

    nodes_: Tree
    n_outputs_: int
    categories_: list
    pruning_curve_: np.ndarray
    tree_: TreeView

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Grow a tree over the rows of X and their targets y, and prune it if ``prune`` says so.

        ``X_val`` and ``y_val`` are the validation set of ``prune='validation'``; without them a fraction of the rows
        is held out.
        """
        check_params(self)
        watch = Watch(self)
        check_pruning(type(self).__name__, self.prune, self.ccp_alpha, X_val, y_val, sample_weight_val)
        data = check_training(self, X, y, sample_weight)
        given = None
        if X_val is not None:
            given = check_query(self, data.mixed.categories, data.labels, X_val, y_val, sample_weight_val)
        binned = binned_table(data, self.max_bins, self._threads())
        return self._fit_rows(SharedTable(data, binned, {}, X, y), np.arange(data.n_rows()), given, watch)

    @with_callbacks
    def _fit_shared(self, shared: SharedTable, weights: np.ndarray):
        """Fit a tree to codes that many trees share, over the rows whose weight is above 0."""
        check_params(self)
        watch = Watch(self)
        self.__dict__.update(shared.columns)
        shared = shared._replace(data=shared.data.weighted(weights))
        return self._fit_rows(shared, np.flatnonzero(weights), None, watch)

    def _fit_rows(self, shared: SharedTable, rows: np.ndarray, given: TreeData | None, watch: Watch):
        """Fit a tree to some rows; ``given`` is the validation set, if the caller gave one."""
        data, binned, _, X, y = shared
        split_seed, seed = (int(number) for number in integer_seeds(self.random_state, 2))
        learn_rows, held_out = self._divide(data, rows, given, split_seed)
        threads = self._threads()

        grow = tree_grower(self, binned, data, seed, threads)
        prune = tree_pruner(self, data, held_out, grow, watch, seed, threads)
        outcome = watch.follow(
            grow(learn_rows),
            max_rounds=None,
            fitted=lambda step: self._attributes(data, prune(tree_so_far(step)).tree),
            X=X,
            y=y,
        )
        pruned = prune(tree_so_far(outcome.step))

        self._store(data, pruned, outcome.reason if pruned.in_time else TIME_UP, binned, split_seed)
        learnt = data if learn_rows.size == data.n_rows() else data.taken(learn_rows)
        leaves = leaves_of(self.tree_.predictor, learnt.mixed.X, threads).nodes
        numbers = self._node_numbers(learnt, leaves)
        self.certificate_ = self._certify(learnt, leaves, numbers, self._pruning_errors(held_out, threads))
        return self

    def apply(self, X):
        """Return the leaf in which each row of X ends."""
        return self._leaves(X).astype(np.int64)

    def contributions(self, X):
        """Return how much each feature moves each prediction away from the base value: exact Shapley values.

        The result has ``values``, of shape (n_rows, n_features) for one number to predict, else (n_rows, n_features,
        n_outputs or n_classes), and ``base``. The values of a row and the base add up to ``predict_proba``, of
        regression to ``predict``. While a feature is not known, both ways are gone at questions about it, each with its
        share of the training weight (path-dependent TreeSHAP).
        """
        check_is_fitted(self)
        explainer = tree_explainer(self.tree_._nodes, self)
        return contributions_of(self, explainer, self._known_rows(X), self._threads())

    def decision_path(self, X):
        """Return the nodes that each row of X visits, as a sparse matrix of ones."""
        return sparse.csr_matrix(decision_path(self.tree_._nodes, self._leaves(X)))

    def get_depth(self):
        """Return the depth of the tree; a tree of one leaf has depth 0."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Return the ``ccp_alphas`` at which the tree loses leaves, and the ``impurities`` of its leaves then."""
        unpruned = clone(self).set_params(ccp_alpha=0.0, prune=None).fit(X, y, sample_weight=sample_weight)
        nodes = unpruned.tree_._nodes
        path = pruning_path(nodes, collapse_alphas(nodes))
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    @property
    def feature_importances_(self):
        """How much each feature lowers the impurity, as shares of the total."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def _threads(self) -> int:
        return thread_count(type(self).__name__, self.n_jobs)

    def _known_rows(self, X) -> np.ndarray:
        """Return the rows of a query as numbers and codes of categories."""
        return check_mixed(self, X, known=self.categories_).X

    def _leaves(self, X) -> np.ndarray:
        check_is_fitted(self)
        rows = self._known_rows(X)
        found = leaves_of(self.tree_.predictor, rows, self._threads())
        if found.met_infinity:
            check_no_infinity(self, rows)
        return found.nodes

    def _divide(
        self, data: TreeData, rows: np.ndarray, given: TreeData | None, seed: int
    ) -> tuple[np.ndarray, TreeData | None]:
        """Return the rows to learn from and the validation set, if the tree is pruned by one."""
        if self.prune != VALIDATION or given is not None:
            return rows, given
        learn, held_out = validation_split(type(self).__name__, data, self.validation_fraction, seed)
        return learn, data.taken(held_out)

    def _attributes(self, data: TreeData, tree: Tree) -> dict:
        """Return the fitted attributes that a tree stands for."""
        n_features = data.n_features()
        return {
            "nodes_": read_only_nodes(tree),
            "n_outputs_": data.n_outputs(),
            "max_features_": feature_count(self.max_features, n_features),
            "categories_": data.mixed.categories,
            "is_categorical_": np.array([labels is not None for labels in data.mixed.categories]),
            "tree_": TreeView(tree, n_features, np.diff(data.target.starts).tolist(), data.mixed.categories),
        }

    def _store(self, data: TreeData, pruned: Pruned, stop_reason: str, binned: BinnedTable, split_seed: int) -> None:
        for name, value in self._attributes(data, pruned.tree).items():
            setattr(self, name, value)
        self.pruning_curve_ = pruned.curve
        self.has_missing_ = binned.features.missing >= 0
        self.n_binned_, self.split_seed_ = int((~binned.features.exact).sum()), split_seed
        self.stop_reason_ = stop_reason

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who = type(self).__name__
        check_node_values(who, self.nodes_.value.shape[1], self.n_outputs_, class_lists(self))
        n_labels = check_category_lists(who, self.categories_, self.is_categorical_)
        check_nodes(who, self.nodes_, n_labels, self.categorical_split, NO_FEATURE, NO_THRESHOLD)
        check_pruning_curve(who, self.prune, self.pruning_curve_)

    def derive(self) -> None:
        """Set ``tree_``, which follows from the nodes and is in no file."""
        self.tree_ = TreeView(self.nodes_, self.n_features_in_, values_per_output(self), self.categories_)
        self.nodes_ = read_only_nodes(self.nodes_)

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "tree_"}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "nodes_" in state:
            self.derive()

    def _pruning_errors(self, held_out: TreeData | None, threads: int) -> tuple[float, float] | None:
        """Return the validation error before and after pruning."""
        if self.pruning_curve_.size == 0:
            return None
        errors = self.pruning_curve_[:, 2]
        if held_out is None:
            return float(errors[0]), float(errors.min())
        leaves = leaves_of(self.tree_.predictor, held_out.mixed.X, threads).nodes
        return float(errors[0]), mean_loss(self.nodes_, leaves, held_out.target, criterion_code(self.criterion))

    def _monotonic_cst(self) -> np.ndarray | None:
        """Return the monotonic constraints, if there are any."""
        return None if self.monotonic_cst is None else np.asarray(self.monotonic_cst)

    def _node_numbers(self, data: TreeData, leaves: np.ndarray) -> NodeNumbers:
        """Return the numbers of all nodes, as rows give them that end in these leaves."""
        return node_numbers(self.nodes_, leaves, data.target, criterion_code(self.criterion), self._monotonic_cst())

    def _certify(
        self, data: TreeData, leaves: np.ndarray, numbers: NodeNumbers, pruning: tuple[float, float] | None
    ) -> Certificate:
        """Return the claims about the fitted tree, for the rows it learnt from."""
        certificate = tree_certificate(
            self.nodes_,
            numbers,
            leaves,
            data.target,
            criterion_code(self.criterion),
            n_binned=self.n_binned_,
            monotonic_cst=self._monotonic_cst(),
            pruning=pruning,
        )
        if self.stop_reason_ == FINISHED:
            return certificate
        stopped = not_claimed("leaves", f"leaves; {STOPPED_EARLY}", self.get_n_leaves())
        return Certificate((*certificate.claims, stopped))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@describe
class DecisionTreeClassifier(ClassifierMixin, DecisionTree):
    """Ask one question after the other until a class is clear.

    Like :class:`sklearn.tree.DecisionTreeClassifier`, with its parameters and attributes. Differences: (1) thresholds
    are found in integer codes, exactly, several times faster, and X is not rounded to float32; (2) categories and
    missing values are used as they are; (3) ``criterion='error'``; (4) pruning with a validation set or by
    cross-validation; (5) ``n_jobs``, ``time_limit``, callbacks and a ``certificate_``; (6) the draw of
    ``max_features`` counts only features that can split the node.

    Parameters
    ----------
    criterion : 'gini', 'entropy', 'log_loss' or 'error', default='gini'
        How mixed a node is: 1 - Σp², -Σ p log₂ p (twice), or 1 - max p.
    random_state : int, RandomState or None, default=None
        Draws the features of ``max_features``, the cuts of ``splitter='random'``, the rows held out for pruning, and
        one of several splits that are equally good.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, feature_importances_, max_features_, tree_
        As in scikit-learn.
    categories_ : list
        The labels of each column's categories, None for a column of numbers.
    is_categorical_, has_missing_ : ndarray of shape (n_features,)
        Which columns are categories, and in which columns of numbers some were missing.
    pruning_curve_ : ndarray of shape (n_trees, 3)
        Alpha, leaves and validation error of each tree on the way.
    stop_reason_ : 'finished', 'time_limit' or 'callback'
    certificate_ : Certificate

    Examples
    --------
    >>> import pyarrow as pa
    >>> from eigenwood import DecisionTreeClassifier
    >>> table = pa.table({"outlook": ["sunny", "rain", "overcast", "sunny"], "windy": [1, 0, 1, 0]})
    >>> model = DecisionTreeClassifier(random_state=0).fit(table, ["no", "yes", "yes", "no"])
    >>> model.get_depth(), model.predict(table), model.certificate_.holds
    (1, array(['no', 'yes', 'yes', 'no'], dtype='<U3'), True)
    """

    PARAMS = {"criterion": Choice(tuple(CLASS_CRITERIA)), **TREE_PARAMS, "class_weight": ClassWeights(several=True)}
    FITTED = {"classes_": OutputLabels("n_values"), **TREE_STATE}

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        leaf_uncertainty=0.0,
        categorical_features=FROM_DTYPE,
        categorical_split=SUBSET,
        prune=None,
        validation_fraction=0.25,
        n_folds=5,
        n_jobs=None,
        time_limit=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.leaf_uncertainty = leaf_uncertainty
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.prune = prune
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    @property
    def n_classes_(self):
        """The number of classes, or an array of such numbers for several outputs."""
        return class_counts(self)

    def predict(self, X):
        """Return the most frequent class of the leaf of each row."""
        leaves = self._leaves(X)
        columns = [
            labels.take(proba.argmax(axis=1)).take(leaves)
            for labels, proba in zip(class_lists(self), self._node_proba(), strict=True)
        ]
        return columns[0] if self.n_outputs_ == 1 else side_by_side(columns)

    def predict_proba(self, X):
        """Return the shares of the classes in the leaf of each row; a list of such arrays for several outputs."""
        leaves = self._leaves(X)
        return one_or_list([proba.take(leaves, axis=0) for proba in self._node_proba()])

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        return log_proba(self.predict_proba(X))

    def _node_proba(self) -> list[np.ndarray]:
        """Return the shares of the classes at each node, output by output."""
        ends = np.cumsum(values_per_output(self))
        return np.split(self.nodes_.value, ends[:-1], axis=1)

    def _attributes(self, data: TreeData, tree: Tree) -> dict:
        return {"classes_": one_or_list(data.labels), **super()._attributes(data, tree)}


@describe
class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    """Ask one question after the other until the number to predict is clear.

    Like :class:`sklearn.tree.DecisionTreeRegressor`, with its parameters and attributes; it differs from it as
    :class:`DecisionTreeClassifier` does from its twin.

    Parameters
    ----------
    criterion : 'squared_error', 'absolute_error', 'poisson' or 'friedman_mse', default='squared_error'
        How far the targets of a node are apart. 'friedman_mse' is 'squared_error', as in scikit-learn.
    random_state : int, RandomState or None, default=None
        As in :class:`DecisionTreeClassifier`.

    Attributes
    ----------
    n_outputs_, n_features_in_, feature_names_in_, feature_importances_, max_features_, tree_
        As in scikit-learn.
    categories_, is_categorical_, has_missing_, pruning_curve_, stop_reason_, certificate_
        As in :class:`DecisionTreeClassifier`.

    Examples
    --------
    >>> from eigenwood import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 7.0])
    >>> model.predict([[0.5], [2.5]]), float(model.tree_.threshold[0])
    (array([1., 6.]), 1.5)
    """

    PARAMS = {"criterion": Choice(tuple(REGRESSION_CRITERIA)), **TREE_PARAMS}
    FITTED = TREE_STATE

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        leaf_uncertainty=0.0,
        categorical_features=FROM_DTYPE,
        categorical_split=SUBSET,
        prune=None,
        validation_fraction=0.25,
        n_folds=5,
        n_jobs=None,
        time_limit=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.leaf_uncertainty = leaf_uncertainty
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.prune = prune
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    def predict(self, X):
        """Return the value of the leaf of each row."""
        leaves = self._leaves(X)
        values = self.nodes_.value.take(leaves, axis=0)
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _compute_partial_dependence_recursion(self, grid, target_features):
        """Return the mean prediction at each point of a grid; scikit-learn's ``partial_dependence`` asks for it."""
        means = np.zeros(len(grid))
        coded = coded_grid(grid, [self.categories_[j] for j in target_features])
        self.tree_.compute_partial_dependence(coded, target_features, means)
        return means


# scikit-learn's plot_tree and export_text take trees of these classes only; ours have all that they read.
sklearn.tree.DecisionTreeClassifier.register(DecisionTreeClassifier)
sklearn.tree.DecisionTreeRegressor.register(DecisionTreeRegressor)
