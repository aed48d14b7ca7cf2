"""Decision trees with scikit-learn's face."""

from __future__ import annotations

import numpy as np
import sklearn.tree
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.tree.grower import grown, growth_steps
from eigenwood.core.tree.predict import decision_path, leaves_of
from eigenwood.core.tree.prune import collapse_alphas, pruned_at, pruning_path
from eigenwood.core.tree.types import BinnedTable, Tree
from eigenwood.errors import InputError
from eigenwood.estimators.parameters import describe
from eigenwood.estimators.state import COUNT, FEATURE_STATE, FIT_STATE
from eigenwood.estimators.tree_data import Shared, TreeData, folds, put_aside
from eigenwood.estimators.tree_gate import (
    AMOUNT_CRITERIA,
    CATEGORICAL_SPLITS,
    CLASS_CRITERIA,
    FEATURE_COUNTS,
    MOST_LEAVES,
    SUBSET,
    AmountGate,
    ClassGate,
    TreeGate,
    asks_only_where_it_branches,
    lists_known_categories,
    side_by_side,
)
from eigenwood.estimators.tree_pruning import CrossValidation, Grow, Pruned, cut_by_validation, uncut
from eigenwood.estimators.tree_verifying import NOT_WHOLE, VALIDATION
from eigenwood.estimators.tree_verifying import verify_tree as verify_tree
from eigenwood.estimators.tree_view import TreeView, seen_only
from eigenwood.estimators.watching import FINISHED, TIME_LIMIT, TIME_UP, Watch, Watched
from eigenwood.proofs.claim import Certificate, not_claimed
from eigenwood.proofs.tree import NodeNumbers, mean_loss, node_numbers, tree_certificate
from eigenwood.validation.arrays import check_finite
from eigenwood.validation.categories import (
    FROM_DTYPE,
    CategoricalFeatures,
    check_mixed,
    coded_grid,
)
from eigenwood.validation.params import (
    AnyOf,
    Choice,
    ClassWeights,
    Nothing,
    Number,
    Seed,
    Share,
    Signs,
    check_params,
)
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.state import Array, CategoryLists, Nodes, OutputLabels, Scalar
from eigenwood.validation.threads import N_JOBS, thread_count

COST_COMPLEXITY_CV = "cost_complexity_cv"
TREE_PARAMS = {
    "splitter": Choice(("best", "random")),
    "max_depth": AnyOf(Nothing(), Number(at_least=1, whole=True)),
    "min_samples_split": AnyOf(Number(at_least=2, whole=True), Share()),
    "min_samples_leaf": AnyOf(Number(at_least=1, whole=True), Share(below=1)),
    "min_weight_fraction_leaf": Number(at_least=0, at_most=0.5),
    "max_features": AnyOf(Nothing(), Number(at_least=1, whole=True), Share(), Choice(tuple(FEATURE_COUNTS))),
    "random_state": Seed(),
    "max_leaf_nodes": AnyOf(Nothing(), Number(at_least=2, at_most=MOST_LEAVES, whole=True)),
    "min_impurity_decrease": Number(at_least=0),
    "ccp_alpha": Number(at_least=0),
    "monotonic_cst": Signs(),
    "leaf_uncertainty": Number(at_least=0),
    "categorical_features": CategoricalFeatures(),
    "categorical_split": Choice(CATEGORICAL_SPLITS),
    "prune": AnyOf(Nothing(), Choice((VALIDATION, COST_COMPLEXITY_CV))),
    "validation_fraction": Share(below=1),
    "n_folds": Number(at_least=2, whole=True),
    "n_jobs": N_JOBS,
    "time_limit": TIME_LIMIT,
}
TREE_STATE = {
    **FEATURE_STATE,
    "nodes_": Nodes("n_features", "n_values"),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "categories_": CategoryLists("n_features"),
    "is_categorical_": Array("b", ("n_features",)),
    "has_missing_": Array("b", ("n_features",)),
    "n_binned_": COUNT,
    "split_seed_": Scalar(Number(at_least=0, at_most=2**32 - 1, whole=True)),
    "pruning_curve_": Array("f", ("n_prunings", 3)),
    **FIT_STATE,
}


class DecisionTree(MultiOutputMixin, Watched, TreeGate):
    """What both trees share."""

    max_bins = None  # what a forest may choose and a tree does not

    nodes_: Tree
    pruning_curve_: np.ndarray
    tree_: TreeView

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Grow a tree over the rows of X and their targets y, and cut it back if ``prune`` says so.

        ``X_val`` and ``y_val`` are the validation set of ``prune='validation'``; without them a fraction of the rows
        is put aside.
        """
        check_params(self)
        watch = Watch(self)
        self._check_pruning(X_val, y_val, sample_weight_val)
        data = self._checked(X, y, sample_weight)
        given = None
        if X_val is not None:
            given = self._checked_query(data.mixed.categories, data.labels, X_val, y_val, sample_weight_val)
        binned = self._binned(data, thread_count(type(self).__name__, self.n_jobs))
        return self._grow(Shared(data, binned, {}, X, y), np.arange(data.n_rows()), given, watch)

    @with_callbacks
    def _fit_shared(self, shared: Shared, weights: np.ndarray):
        """Grow a tree from codes that many trees share, over the rows whose weight is above 0."""
        check_params(self)
        watch = Watch(self)
        self.__dict__.update(shared.noted)
        return self._grow(shared._replace(data=shared.data.weighted(weights)), np.flatnonzero(weights), None, watch)

    def _grow(self, shared: Shared, rows: np.ndarray, given: TreeData | None, watch: Watch):
        """Grow a tree over some rows and cut it back; ``given`` is the validation set, if there is one."""
        data, binned, _, X, y = shared
        split_seed, seed = (int(number) for number in integer_seeds(self.random_state, 2))
        learn_rows, held_out = self._parts(data, rows, given, split_seed)
        threads = thread_count(type(self).__name__, self.n_jobs)

        grow = self._grower(binned, data, seed, threads)
        prune = self._pruner(data, held_out, grow, watch, seed, threads)
        outcome = watch.follow(
            grow(learn_rows),
            max_rounds=None,
            fitted=lambda step: self._attributes(data, prune(grown(step)).tree),
            X=X,
            y=y,
        )
        cut = prune(grown(outcome.step))

        self._store(data, cut, outcome.reason if cut.in_time else TIME_UP, binned, split_seed)
        learnt = data if learn_rows.size == data.n_rows() else data.taken(learn_rows)
        leaves = leaves_of(self.tree_.predictor, learnt.mixed.X, threads).nodes
        numbers = self._numbers(learnt, leaves)
        self.certificate_ = self._certify(learnt, leaves, numbers, self._pruning_errors(held_out, threads))
        return self

    def apply(self, X):
        """Return the leaf in which each row of X ends."""
        return self._leaves(X).astype(np.int64)

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
        whole = clone(self).set_params(ccp_alpha=0.0, prune=None).fit(X, y, sample_weight=sample_weight)
        path = pruning_path(whole.tree_._nodes, collapse_alphas(whole.tree_._nodes))
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    @property
    def feature_importances_(self):
        """How much each feature lowers the impurity, as shares of the whole."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def _leaves(self, X) -> np.ndarray:
        check_is_fitted(self)
        rows = self._known_rows(X)
        found = leaves_of(self.tree_.predictor, rows, thread_count(type(self).__name__, self.n_jobs))
        if found.met_infinity:
            check_finite(type(self).__name__, rows, getattr(self, "feature_names_in_", None), missing=True)
        return found.nodes

    def _check_pruning(self, X_val, y_val, sample_weight_val) -> None:
        who = type(self).__name__
        if (X_val is None) != (y_val is None):
            raise InputError(f"{who}: X_val and y_val must be given together; got only one of them.")
        if X_val is None and sample_weight_val is not None:
            raise InputError(f"{who}: sample_weight_val must be given with X_val and y_val; got it alone.")
        if X_val is not None and self.prune != VALIDATION:
            raise InputError(f"{who}: X_val must be given with prune='validation' only; got prune={self.prune!r}.")
        if self.prune == COST_COMPLEXITY_CV and self.ccp_alpha > 0:
            raise InputError(
                f"{who}: ccp_alpha must be 0 when prune='cost_complexity_cv' chooses it; got {self.ccp_alpha}."
            )

    def _shared(self, X, y, threads: int) -> Shared | None:
        """Return what trees like this one share when they get the same rows with other weights; nothing if they cannot.

        Pruning and balanced classes depend on the rows a tree got; such a tree must be fitted to them alone.
        """
        if self.prune is not None or getattr(self, "class_weight", None) is not None:
            return None
        gate = clone(self)
        data = gate._checked(X, y, None)
        noted = {name: value for name, value in vars(gate).items() if name in FEATURE_STATE}
        return Shared(data, gate._binned(data, threads), noted, X, y)

    def _parts(
        self, data: TreeData, rows: np.ndarray, given: TreeData | None, seed: int
    ) -> tuple[np.ndarray, TreeData | None]:
        """Return the rows to learn from and the validation data."""
        if self.prune != VALIDATION or given is not None:
            return rows, given
        learn, aside = self._split(data, seed)
        return learn, data.taken(aside)

    def _split(self, data: TreeData, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows to learn from and those put aside."""
        return put_aside(type(self).__name__, data, self.validation_fraction, seed)

    def _grower(self, binned: BinnedTable, data: TreeData, seed: int, threads: int) -> Grow:
        """Return what grows a tree over some rows."""
        n_features = data.mixed.X.shape[1]
        monotonic_cst = np.zeros(n_features) if self.monotonic_cst is None else np.asarray(self.monotonic_cst)
        max_leaves = 0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes)

        weights = data.weights()
        n_undrawn = int((weights == 0).sum())  # shares of rows are of all rows, also of those that a draw left out

        def grow(rows: np.ndarray):
            params = self._growth_params(data, rows.size + n_undrawn, float(weights[rows].sum()))
            return growth_steps(binned, data.target, rows, params, monotonic_cst, max_leaves, np.uint64(seed), threads)

        return grow

    def _pruner(self, data: TreeData, held_out: TreeData | None, grow: Grow, watch: Watch, seed: int, threads: int):
        """Return what cuts a grown tree back as wished."""
        if self.prune == COST_COMPLEXITY_CV:
            parts = folds(type(self).__name__, data, self.n_folds, seed)
            return CrossValidation(data, parts, grow, watch.seconds_left, self._criterion(), threads)

        def prune(tree: Tree) -> Pruned:
            in_time = self.ccp_alpha == 0 or not watch.time_is_up()
            if self.ccp_alpha > 0 and in_time:
                tree = pruned_at(tree, collapse_alphas(tree), float(self.ccp_alpha))
            cut = uncut(tree) if held_out is None else cut_by_validation(tree, held_out, self._criterion(), threads)
            return cut._replace(in_time=in_time)

        return prune

    def _attributes(self, data: TreeData, tree: Tree) -> dict:
        """Return the fitted attributes that a tree stands for."""
        n_features = data.mixed.X.shape[1]
        return {
            "nodes_": seen_only(tree),
            "n_outputs_": data.target.starts.size - 1,
            "max_features_": self._feature_count(n_features),
            "categories_": data.mixed.categories,
            "is_categorical_": np.array([labels is not None for labels in data.mixed.categories]),
            "tree_": TreeView(tree, n_features, np.diff(data.target.starts).tolist(), data.mixed.categories),
        }

    def _store(self, data: TreeData, cut: Pruned, stop_reason: str, binned: BinnedTable, split_seed: int) -> None:
        for name, value in self._attributes(data, cut.tree).items():
            setattr(self, name, value)
        self.pruning_curve_ = cut.curve
        self.has_missing_ = binned.features.missing >= 0
        self.n_binned_, self.split_seed_ = int((~binned.features.exact).sum()), split_seed
        self.stop_reason_ = stop_reason

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who, n_values = type(self).__name__, self.nodes_.value.shape[1]
        if (
            self.n_outputs_ > n_values
            or len(self._n_classes()) != self.n_outputs_
            or sum(self._n_classes()) != n_values
        ):
            raise InputError(f"{who}: nodes_ must have one value for each class or output.")
        n_labels = np.array([-1 if labels is None else len(labels) for labels in self.categories_])
        if ((n_labels >= 0) != self.is_categorical_).any():
            raise InputError(f"{who}: categories_ must be there for the columns of is_categorical_.")
        if not lists_known_categories(self.nodes_, n_labels):
            raise InputError(f"{who}: nodes_ must list known categories, ascending, where a category is asked.")
        if self.nodes_.chained.any() and self.categorical_split == SUBSET:
            raise InputError(f"{who}: nodes_ must have no chains when categorical_split is 'subset'.")
        if not asks_only_where_it_branches(self.nodes_):
            raise InputError(
                f"{who}: nodes_ must have no feature, threshold or side where nothing of the kind is asked."
            )
        if self.prune is None and self.pruning_curve_.size > 0:
            raise InputError(
                f"{who}: pruning_curve_ must be empty when prune is None; got {len(self.pruning_curve_)} lines."
            )

    def derive(self) -> None:
        """Make what is seen of the nodes."""
        self.tree_ = TreeView(self.nodes_, self.n_features_in_, self._n_classes(), self.categories_)
        self.nodes_ = seen_only(self.nodes_)

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
        return float(errors[0]), mean_loss(self.nodes_, leaves, held_out.target, self._criterion())

    def _monotonic_cst(self) -> np.ndarray | None:
        """Return the monotonic constraints, if there are any."""
        return None if self.monotonic_cst is None else np.asarray(self.monotonic_cst)

    def _numbers(self, data: TreeData, leaves: np.ndarray) -> NodeNumbers:
        """Return the numbers of all nodes, as rows give them that end in these leaves."""
        return node_numbers(self.nodes_, leaves, data.target, self._criterion(), self._monotonic_cst())

    def _certify(
        self, data: TreeData, leaves: np.ndarray, numbers: NodeNumbers, pruning: tuple[float, float] | None
    ) -> Certificate:
        """Return the claims about the fitted tree, for the rows it learnt from."""
        certificate = tree_certificate(
            self.nodes_,
            numbers,
            leaves,
            data.target,
            self._criterion(),
            n_binned=self.n_binned_,
            monotonic_cst=self._monotonic_cst(),
            pruning=pruning,
        )
        if self.stop_reason_ == FINISHED:
            return certificate
        stopped = not_claimed("leaves", f"leaves; {NOT_WHOLE}", self.get_n_leaves())
        return Certificate((*certificate.claims, stopped))

    def _known_rows(self, X) -> np.ndarray:
        """Return the rows of a query as numbers and codes of categories."""
        return check_mixed(self, X, known=self.categories_).X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


@describe
class DecisionTreeClassifier(ClassifierMixin, ClassGate, DecisionTree):
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
        Draws the features of ``max_features``, the cuts of ``splitter='random'``, the rows put aside for pruning, and
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

    def predict(self, X):
        """Return the most frequent class of the leaf of each row."""
        leaves = self._leaves(X)
        columns = [
            labels.take(shares.argmax(axis=1)).take(leaves)
            for labels, shares in zip(self._class_lists(), self._shares(), strict=True)
        ]
        return columns[0] if self.n_outputs_ == 1 else side_by_side(columns)

    def predict_proba(self, X):
        """Return the shares of the classes in the leaf of each row; a list of such arrays for several outputs."""
        leaves = self._leaves(X)
        columns = [shares.take(leaves, axis=0) for shares in self._shares()]
        return columns[0] if self.n_outputs_ == 1 else columns

    def predict_log_proba(self, X):
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(part) for part in shares]

    def _shares(self) -> list[np.ndarray]:
        """Return the shares of the classes at each node, output by output."""
        ends = np.cumsum(self._n_classes())
        return np.split(self.nodes_.value, ends[:-1], axis=1)

    def _attributes(self, data: TreeData, tree: Tree) -> dict:
        classes = data.labels[0] if len(data.labels) == 1 else data.labels
        return {"classes_": classes, **super()._attributes(data, tree)}


@describe
class DecisionTreeRegressor(RegressorMixin, AmountGate, DecisionTree):
    """Ask one question after the other until an amount is clear.

    Like :class:`sklearn.tree.DecisionTreeRegressor`, with its parameters and attributes; it differs from it as
    :class:`DecisionTreeClassifier` does from its twin.

    Parameters
    ----------
    criterion : 'squared_error', 'absolute_error', 'poisson' or 'friedman_mse', default='squared_error'
        How far the amounts of a node are apart. 'friedman_mse' is 'squared_error', as in scikit-learn.
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

    PARAMS = {"criterion": Choice(tuple(AMOUNT_CRITERIA)), **TREE_PARAMS}
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
        """Return the amount of the leaf of each row."""
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
