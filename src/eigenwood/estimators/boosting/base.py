"""What the classifier and the regressor of gradient boosting share: the fit, and what is asked of a fitted model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from eigenwood.core.boosting.losses import CUSTOM, EXPONENTIAL, base_scores
from eigenwood.core.forest.batch_predict import batch_sums, make_batch_forest, pays
from eigenwood.core.forest.contributions import forest_explainer
from eigenwood.core.forest.packing import Forest, joined, tree_at
from eigenwood.core.forest.predict import Means, Predictor, forest_leaves, forest_sums, make_predictor, some_trees
from eigenwood.core.tree.contributions import Contributions
from eigenwood.core.tree.criteria import SQUARED_ERROR
from eigenwood.core.tree.types import NO_THRESHOLD, Tree
from eigenwood.estimators.boosting.fitting import Rounds, Step, Stopping, is_watched, own_loss
from eigenwood.estimators.boosting.initial import fitted_init, init_scores
from eigenwood.estimators.boosting.input_checks import BoostData, check_choices, check_query, check_training
from eigenwood.estimators.boosting.params import (
    LOSS,
    PATIENCE,
    POISSON_LOSS,
    SOMETIMES,
    ZERO,
    loss_code,
    output_count,
    quantiles_of,
    round_count,
    stops_early,
)
from eigenwood.estimators.boosting.setup import Setup, make_setup
from eigenwood.estimators.boosting.stopping import patience_of, validation_split
from eigenwood.estimators.boosting.view import tree_estimator
from eigenwood.estimators.ensemble.metrics import OobAnswers, metric_of
from eigenwood.estimators.forest.faces import FEW_ROWS, Cache
from eigenwood.estimators.forest.input_checks import all_equal
from eigenwood.estimators.tree.contributing import checked_contributions
from eigenwood.estimators.tree.input_checks import check_no_infinity, query_rows
from eigenwood.estimators.tree.params import feature_count
from eigenwood.estimators.watching import FINISHED, NO_GAIN, Watch, Watched, all_or_nothing
from eigenwood.proofs.boosting import Trained, certificate_of, training_error
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.boosting import (
    check_no_init,
    check_output_count,
    check_poisson,
    check_round_count,
    check_round_sizes,
    check_scorable,
    check_validation_set,
    checked_score,
)
from eigenwood.validation.draws import check_warm_columns, check_warm_targets, has_same_columns
from eigenwood.validation.forests import check_forest
from eigenwood.validation.params import check_params
from eigenwood.validation.seeds import integer_seeds
from eigenwood.validation.threads import thread_count
from eigenwood.validation.trees import check_category_lists

CONTINUED = ("forest_", "feature_gains_", "train_score_", "oob_scores_", "oob_improvement_")  # by a warm start
TREES_AT_ONCE = 32  # whose leaves are found together when predictions are wanted after each round


class GradientBoosting(Watched, BaseEstimator):
    """The part that the classifier and the regressor share."""

    OPTIONAL = SOMETIMES

    forest_: Forest
    baseline_: np.ndarray
    train_score_: np.ndarray
    validation_score_: np.ndarray
    init_models_: list
    feature_gains_: np.ndarray
    categories_: list
    _cache: Cache

    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Learn from the rows of X and their targets y; a weight is a repeated row.

        ``X_val`` and ``y_val`` are rows to stop by; without them ``validation_fraction`` of the rows is held out, if
        boosting is to stop early.
        """
        with all_or_nothing(self, "_cache") as before:
            check_params(self)
            check_choices(self)
            check_validation_set(type(self).__name__, X_val, y_val, sample_weight_val, self.early_stopping)
            watch = Watch(self)
            data = check_training(self, X, y, sample_weight)
            n_earlier = self._earlier_count(data, before)
            if n_earlier == round_count(self):
                return self
            validation = None if X_val is None else (X_val, y_val, sample_weight_val)
            rounds, fixed = self._begun(data, n_earlier, X, sample_weight is not None, validation)
            earlier = {name: vars(self)[name] for name in CONTINUED if n_earlier > 0 and name in vars(self)}
            outcome = watch.follow(
                rounds.steps(round_count(self), is_watched(self)),
                max_rounds=round_count(self) - n_earlier,
                fitted=lambda step: {**fixed, **self._learnt(rounds, step, earlier)},
                X=X,
                y=y,
                wants_stop=lambda step: step.stops,
            )
            self._store({**fixed, **self._learnt(rounds, outcome.step, earlier)}, outcome.reason)
            self.certificate_ = self._certify(rounds.setup, X)
            return self

    def _begun(
        self, data: BoostData, n_earlier: int, X: Any, has_weights: bool, validation: tuple | None
    ) -> tuple[Rounds, dict]:
        """Return what makes the rounds, and the fitted attributes that no round changes."""
        seed = self._seed(data, validation is not None)
        learn, held_out = self._divide(data, seed, validation)
        inits = fitted_init(self, X, learn, has_weights or learn.weights.size > 0)
        baseline = self.baseline_ if n_earlier > 0 else self._baseline(learn)
        setup = make_setup(self, learn, held_out, seed, thread_count(type(self).__name__, self.n_jobs))
        rounds = Rounds(
            setup,
            self._start_scores(setup, baseline, inits, n_earlier, X, X if validation is None else validation[0]),
            n_earlier,
            self._stopping(learn, held_out, data.n_rows()),
            own_loss(self),
            getattr(self, "validation_score_", np.empty(0)) if n_earlier > 0 else np.empty(0),
        )
        return rounds, {
            **self._columns(data, setup.has_missing),
            "baseline_": baseline,
            "seed_": seed,
            "n_held_out_": 0 if held_out is None or validation is not None else held_out.n_rows(),
            **({"init_models_": inits} if inits else {}),
        }

    def _store(self, attributes: dict, reason: str) -> None:
        """Store what was learnt, and why the fit ended."""
        for name in SOMETIMES:
            self.__dict__.pop(name, None)
        for name, value in attributes.items():
            setattr(self, name, value)
        is_short = reason == FINISHED and len(self) < round_count(self)
        self.stop_reason_ = NO_GAIN if is_short else reason

    # ---- before the rounds

    def _earlier_count(self, data: BoostData, before: dict) -> int:
        """Return how many rounds stay."""
        if not self.warm_start or "forest_" not in before:
            return 0
        who = type(self).__name__
        is_same = has_same_columns(vars(self), before) and all_equal(data.mixed.categories, self.categories_)
        check_warm_columns(who, is_same)
        is_alike = output_count(self, data.n_classes()) == self.baseline_.size
        check_warm_targets(
            who, is_alike and (data.labels is None or np.array_equal(vars(self)["classes_"], data.labels))
        )
        check_round_count(who, len(self), round_count(self))
        return len(self)

    def _seed(self, data: BoostData, has_validation_set: bool) -> int:
        """Return what all draws follow from; 0 where nothing is drawn."""
        if self.warm_start and hasattr(self, "seed_"):
            return self.seed_
        holds_out = stops_early(self, data.n_rows(), has_validation_set)
        holds_out &= not has_validation_set and self.validation_fraction is not None
        draws = holds_out or self.subsample < 1.0 or self._feature_count(data.n_features()) < data.n_features()
        return int(integer_seeds(self.random_state, 1)[0]) if draws else 0

    def _feature_count(self, n_features: int) -> int:
        return min(feature_count(self.max_features, n_features), n_features)

    def _divide(self, data: BoostData, seed: int, validation: tuple | None) -> tuple[BoostData, BoostData | None]:
        """Return the rows to learn from, and those to stop by; ``validation`` are X, y and weights, if given."""
        who = type(self).__name__
        if not stops_early(self, data.n_rows(), validation is not None):
            return data, None
        check_scorable(who, callable(self.loss), self.scoring)
        if validation is not None:
            return data, check_query(self, data.mixed.categories, data.labels, *validation)
        if self.validation_fraction is None:
            return data, None
        learn, held_out = (data.taken(rows) for rows in validation_split(who, data, self.validation_fraction, seed))
        if self.loss == POISSON_LOSS:
            check_poisson(who, learn.y)
        return learn, held_out

    def _baseline(self, learn: BoostData) -> np.ndarray:
        """Return the scores that boosting begins with, one for each output."""
        n_outputs, loss = output_count(self, learn.n_classes()), loss_code(self, learn.n_classes())
        if self.init is not None or loss == CUSTOM:
            return np.zeros(n_outputs)
        if n_outputs == quantiles_of(self).size:
            shares = quantiles_of(self)
            return np.concatenate([base_scores(loss, learn.y, learn.weights, 1, share) for share in shares])
        return base_scores(loss, learn.y, learn.weights, n_outputs, 0.5)

    def _start_scores(
        self, setup: Setup, baseline: np.ndarray, inits: list, n_earlier: int, X: Any, X_later: Any
    ) -> np.ndarray:
        """Return the scores before the first new round, (n_outputs, n_rows); rows held out are from ``X_later``."""
        data, who, n_train, K = setup.data, type(self).__name__, setup.n_train, baseline.size
        if n_earlier > 0:
            return forest_sums(make_predictor(self.forest_), data_rows(data), baseline, setup.n_threads).values.T
        scores = np.repeat(baseline[:, None], data.n_rows(), axis=1)
        if not inits:
            return scores
        parts = [init_scores(who, inits[0], X, setup.params.loss, K)[data.places[:n_train]]]
        if n_train < data.n_rows():
            parts.append(init_scores(who, inits[0], X_later, setup.params.loss, K)[data.places[n_train:]])
        return scores + np.vstack(parts).T

    def _stopping(self, learn: BoostData, held_out: BoostData | None, n_rows: int) -> Stopping | None:
        """Return when boosting stops early; None if it does not."""
        if not stops_early(self, n_rows, held_out is not None):
            return None
        by_training = held_out is None
        metric = None if self.scoring == LOSS else self._metric(learn if held_out is None else held_out)
        return Stopping(patience_of(self, PATIENCE), float(self.tol), by_training, metric)

    def _metric(self, held_out: BoostData) -> Callable[[np.ndarray], float]:
        """Return what scores the rows held out, given their raw scores."""
        rows, who = np.arange(held_out.n_rows()), type(self).__name__
        metric = True if self.scoring is None else self.scoring

        def score(raw: np.ndarray) -> float:
            answers = self._answers(held_out, raw.T.copy())
            return checked_score(who, self.scoring, lambda: metric_of(metric, answers)[1](rows))

        return score

    @abstractmethod
    def _answers(self, held_out: BoostData, raw: np.ndarray) -> OobAnswers:
        """Return targets and predictions of rows, given their raw scores."""

    # ---- after the rounds

    def _columns(self, data: BoostData, has_missing: np.ndarray) -> dict:
        """Return what is known of the columns."""
        is_category = np.array([labels is not None for labels in data.mixed.categories])
        return {
            "categories_": data.mixed.categories,
            "is_categorical_": is_category,
            "has_missing_": has_missing,
            "max_features_": self._feature_count(data.n_features()),
        }

    def _learnt(self, rounds: Rounds, step: Step, earlier: dict) -> dict:
        """Return the fitted attributes that rounds leave."""
        found = rounds.result(rounds.kept(step.n_rounds))
        attributes = {"forest_": found.forest, "feature_gains_": found.gains, "_cache": Cache()}
        if found.losses is not None:
            attributes["train_score_"] = found.losses
        if found.scores is not None:
            attributes["validation_score_"] = found.scores
        if found.oob is not None:
            unknown = np.zeros(rounds.n_earlier)  # where earlier rounds drew nothing
            attributes["oob_scores_"] = np.append(earlier.get("oob_scores_", unknown), found.oob[:, 1])
            gains = found.oob[:, 0] - found.oob[:, 1]
            attributes["oob_improvement_"] = np.append(earlier.get("oob_improvement_", unknown), gains)
        if earlier:
            attributes["forest_"] = joined(earlier["forest_"], found.forest)
            attributes["feature_gains_"] = earlier["feature_gains_"] + found.gains
            if "train_score_" in earlier and found.losses is not None:
                attributes["train_score_"] = np.append(earlier["train_score_"], found.losses)
        return attributes

    def _certify(self, setup: Setup, X: Any) -> Certificate:
        """Return the claims about the rounds."""
        error, loss, n = 0.0, setup.params.loss, setup.n_train
        if loss == EXPONENTIAL:
            data = setup.data
            raw = self._sums(data_rows(data)[:n], setup.n_threads).values[:, 0]
            if hasattr(self, "init_models_"):
                raw = raw + self._init_raw(X)[data.places[:n], 0]
            error = training_error(data.y[:n], raw, data.row_weights()[:n])
        return certificate_of(self._trained(loss, error))

    def _trained(self, loss: int, error: float) -> Trained:
        """Return what is claimed about."""
        return Trained(
            loss=loss,
            n_rounds=len(self),
            n_wanted=round_count(self),
            stop_reason=self.stop_reason_,
            losses=getattr(self, "train_score_", np.empty(0)),
            learning_rate=float(self.learning_rate),
            is_plain=self.subsample == 1.0 and not np.any(self.monotonic_cst),
            error=error,
        )

    # ---- queries

    def _raw(self, X: Any) -> np.ndarray:
        """Return the raw scores of rows, (n_rows, n_outputs)."""
        check_is_fitted(self)
        rows = query_rows(self, X)
        found = self._sums(rows, 1 if rows.shape[0] <= FEW_ROWS else thread_count(type(self).__name__, self.n_jobs))
        if found.met_infinity:
            check_no_infinity(self, rows)
        return found.values + self._init_raw(X) if hasattr(self, "init_models_") else found.values

    def _sums(self, rows: Any, n_threads: int) -> Means:
        """Return the baseline and what the leaves of each row add to it."""
        return self._batch_sums(rows, n_threads) or forest_sums(self._predictor(), rows, self.baseline_, n_threads)

    def _batch_sums(self, rows: Any, n_threads: int) -> Means | None:
        """Return the scores by the kernel for very many rows; None if it does not pay or cannot take the forest."""
        if not pays(self.forest_, rows.shape[0], made="batch_forest" in self._cache):
            return None
        forest = self._cached("batch_forest", lambda: make_batch_forest(self.forest_, self.has_missing_))
        return None if forest is None else batch_sums(forest, rows, self.baseline_, n_threads)

    def _init_raw(self, X: Any) -> np.ndarray:
        """Return the scores of the estimator that boosting began with."""
        loss = loss_code(self, getattr(self, "n_classes_", 0))
        return init_scores(type(self).__name__, self.init_models_[0], X, loss, self.baseline_.size)

    def _predictor(self) -> Predictor:
        return self._cached("predictor", lambda: make_predictor(self.forest_))

    def _cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a value that follows from the trees; it is computed when first needed."""
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the raw scores after each round."""
        check_is_fitted(self)
        rows, K, predictor = query_rows(self, X), self.baseline_.size, self._predictor()
        raw = np.repeat(self.baseline_[None], rows.shape[0], axis=0)
        if hasattr(self, "init_models_"):
            raw += self._init_raw(X)
        n_trees, at_once = self.forest_.node_start.size - 1, max(1, TREES_AT_ONCE // K) * K
        for first in range(0, n_trees, at_once):
            trees = np.arange(first, min(first + at_once, n_trees))
            found = forest_leaves(some_trees(predictor, trees), rows)
            if found.met_infinity:
                check_no_infinity(self, rows)
            values = predictor.value[predictor.code[found.nodes + predictor.roots[trees]], 0]
            for i in range(0, trees.size, K):
                raw += values[:, i : i + K]
                yield raw.copy()

    def contributions(self, X):
        """Return how much each feature moves the scores of each row away from the base value: exact Shapley values.

        The result has ``values``, of shape (n_rows, n_features) for one score, else (n_rows, n_features, n_outputs),
        and ``base``. The values of a row and the base add up to its scores: ``decision_function`` for classes,
        ``predict`` for amounts (of Poisson's loss its logarithm; quantiles as they are before they are put in order).
        """
        check_is_fitted(self)
        check_no_init(type(self).__name__, hasattr(self, "init_models_"))
        rows = query_rows(self, X)
        explainer = self._cached(
            "explainer",
            lambda: forest_explainer(self.forest_, self.n_features_in_, n_interleaved=self.baseline_.size),
        )
        values, base = checked_contributions(self, explainer, rows, thread_count(type(self).__name__, self.n_jobs))
        base = base + self.baseline_
        return Contributions(values[:, :, 0], float(base[0])) if base.size == 1 else Contributions(values, base)

    def apply(self, X):
        """Return the leaf of each tree in which each row of X ends, shape (n_rows, n_rounds) and one more for classes.

        For regression it has two dimensions, and for several quantiles or classes (n_rows, n_rounds, n_outputs).
        """
        check_is_fitted(self)
        rows = query_rows(self, X)
        found = forest_leaves(self._predictor(), rows)
        if found.met_infinity:
            check_no_infinity(self, rows)
        leaves = found.nodes.reshape(rows.shape[0], len(self), self.baseline_.size).astype(np.int64)
        return leaves[:, :, 0] if self.baseline_.size == 1 and not hasattr(self, "classes_") else leaves

    # ---- what a user of scikit-learn looks at

    def __len__(self) -> int:
        return (self.forest_.node_start.size - 1) // self.baseline_.size

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    @property
    def n_estimators_(self) -> int:
        """The number of rounds that were kept."""
        check_is_fitted(self)
        return len(self)

    @property
    def n_iter_(self) -> int:
        """The number of rounds that were kept."""
        return self.n_estimators_

    @property
    def do_early_stopping_(self) -> bool:
        """Whether boosting could stop early, by rows held out or by the training rows."""
        check_is_fitted(self)
        return hasattr(self, "validation_score_")

    @property
    def oob_score_(self) -> float:
        """The loss of the rows that the last round did not draw."""
        check_is_fitted(self)
        return float(self.oob_scores_[-1])

    @property
    def n_trees_per_iteration_(self) -> int:
        """The number of trees of a round: one for each score of a row."""
        check_is_fitted(self)
        return self.baseline_.size

    @property
    def feature_importances_(self) -> np.ndarray:
        """What the questions about each feature gained, as shares of the total."""
        check_is_fitted(self)
        total = self.feature_gains_.sum()
        return self.feature_gains_ / total if total > 0 else np.zeros_like(self.feature_gains_)

    @property
    def init_(self) -> Any:
        """The fitted estimator that boosting began with, 'zero', or None where it began with a constant."""
        check_is_fitted(self)
        return self.init_models_[0] if hasattr(self, "init_models_") else ZERO if self.init == ZERO else None

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as estimators of their own, shape (n_rounds, n_trees_per_iteration_)."""
        check_is_fitted(self)
        return self._cached("estimators", self._tree_estimators)

    def _tree_estimators(self) -> np.ndarray:
        trees = np.empty(self.forest_.node_start.size - 1, dtype=object)
        for number, nodes in enumerate(self._trees()):
            trees[number] = tree_estimator(self, nodes)
        return trees.reshape(len(self), -1)

    def _trees(self) -> Iterator[Tree]:
        return (tree_at(self.forest_, number) for number in range(self.forest_.node_start.size - 1))

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes agree with each other."""
        who, n_classes = type(self).__name__, getattr(self, "n_classes_", 0)
        check_output_count(who, self.baseline_.size, output_count(self, n_classes))
        sizes = {"train_score_": 0, "validation_score_": 1}
        lengths = {name: (getattr(self, name).size, more) for name, more in sizes.items() if hasattr(self, name)}
        check_round_sizes(who, self.forest_.node_start.size - 1, self.baseline_.size, lengths)
        check_forest(
            who,
            self.forest_,
            check_category_lists(who, self.categories_, self.is_categorical_),
            is_bounded=False,
            criterion=("squared_error", SQUARED_ERROR),
            no_threshold=NO_THRESHOLD,
        )

    def derive(self) -> None:
        """Begin with an empty cache, which is in no file."""
        self._cache = Cache()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def data_rows(data: BoostData) -> Any:
    """Return rows as predictions read them."""
    return data.mixed.X if not isinstance(data.mixed.X, np.ndarray) else np.ascontiguousarray(data.mixed.X)
