"""One exam for every estimator: scikit-learn's own checks without exception, and what this library promises."""

from __future__ import annotations

import inspect
import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, clone
from sklearn.callback import CallbackSupportMixin, ProgressBar, ScoringMonitor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenwood
from eigenwood.errors import InputError
from eigenwood.estimators import watching
from eigenwood.estimators.registry import BY_CLASS, ENTRIES
from eigenwood.validation.blending import Amounts, Calibrations, Members
from eigenwood.validation.boosting import FeatureGroups, Quantiles, Scorer
from eigenwood.validation.categories import CategoricalFeatures
from eigenwood.validation.ensembles import Learner, Metric
from eigenwood.validation.params import (
    AnyOf,
    Choice,
    ClassWeights,
    ColumnWords,
    Flag,
    Function,
    Infinite,
    Keywords,
    Nothing,
    Number,
    Seed,
    Share,
    Signs,
)
from eigenwood.validation.ridge import KernelArguments, Penalties
from eigenwood.validation.text import NgramRange, NumberType, Terms, Text, Texts
from tests.estimators.exam import (
    COUNTS_MOVES,
    COUNTS_ROWS,
    ENDS_AT_ONCE,
    FIT_KNOWS_RESULT,
    NEED_AN_EDGE,
    OVERSHOOTS,
    ROUNDED,
    ROW_COUNTS,
    SHARES_AMONG_COPIES,
    SUMS_OVER_ROWS,
    TABLE_ENTRIES,
    TAKE_MEDIANS,
    PropagatedRecorder,
    Recorder,
    assert_learnt_alike,
    assert_learnt_the_same,
    candidates,
    classes_on,
    counted_rounds,
    in_rounds,
    is_classifier,
    is_selector,
    is_transformer,
    made,
    refit,
    result,
    short,
    table,
    takes_weights,
)
from tests.models.crafting import assert_one_sentence

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

CANDIDATES = candidates()
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
every_table_entry = pytest.mark.parametrize("entry", TABLE_ENTRIES, ids=lambda entry: entry.name)
every_candidate = pytest.mark.parametrize(
    ("entry", "params"), [case[1:] for case in CANDIDATES], ids=[case[0] for case in CANDIDATES]
)
WATCHED = [case for case in CANDIDATES if issubclass(case[1].estimator, CallbackSupportMixin)]
every_watched = pytest.mark.parametrize(
    ("entry", "params"), [case[1:] for case in WATCHED], ids=[case[0] for case in WATCHED]
)
WEIGHTED = [case for case in CANDIDATES if takes_weights(case[1])]
every_weighted = pytest.mark.parametrize(
    ("entry", "params"), [case[1:] for case in WEIGHTED], ids=[case[0] for case in WEIGHTED]
)


@parametrize_with_checks([entry.estimator() for entry in ENTRIES])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------- the registry


def test_every_public_estimator_is_registered():
    public = {
        value
        for value in (getattr(eigenwood, name) for name in eigenwood.__all__)
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    assert public == {entry.estimator for entry in ENTRIES}


@every_entry
def test_the_docstring_speaks_of_every_parameter(entry):
    for name in entry.estimator.PARAMS:
        assert (
            f"{name} : " in entry.estimator.__doc__
            or f"{name}, " in entry.estimator.__doc__
            or (f", {name}\n" in entry.estimator.__doc__)
        ), name


@every_entry
def test_a_notebook_shows_it_without_complaint(entry):
    """Scikit-learn reads the docstring for that, and warns of sections that it does not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert entry.estimator.__name__ in entry.estimator()._repr_html_()


@every_entry
def test_every_parameter_has_a_rule_that_its_default_keeps(entry):
    defaults = entry.estimator().get_params()
    assert set(defaults) == set(entry.estimator.PARAMS)
    for name, rule in entry.estimator.PARAMS.items():
        assert rule.allows(defaults[name]), name


@every_entry
def test_what_learn_tries_keeps_the_rules(entry):
    for tried in entry.tries:
        for name, value in tried.items():
            assert entry.estimator.PARAMS[name].allows(value)


@every_candidate
def test_parameters_go_round(entry, params):
    model = entry.estimator(**params)
    assert clone(model).get_params() == model.get_params()
    assert entry.estimator().set_params(**model.get_params()).get_params() == model.get_params()
    assert eval(repr(model), {entry.estimator.__name__: entry.estimator}).get_params() == model.get_params()


def forbidden(rule, value):
    """Return whether no part of a rule was made for this value."""
    kinds = {type(part) for part in rule.rules}
    allowed = {
        Nothing: lambda: value is None,
        Flag: lambda: isinstance(value, bool),
        Infinite: lambda: value == np.inf,
        Share: lambda: (
            isinstance(value, float) and 0 < value <= max(part.at_most for part in rule.rules if type(part) is Share)
        ),
        Text: lambda: isinstance(value, str),
        Texts: lambda: isinstance(value, list) and all(isinstance(part, str) for part in value),
    }
    if any(allowed[kind]() for kind in kinds & allowed.keys()):
        return False
    whole = any(part.integer for part in rule.rules if isinstance(part, Number))
    return not (Number in kinds and type(value) is int and (abs(value) < 10**300 or whole))


def wrong_values(rule):
    """Return values that a rule forbids, by its kind."""
    if isinstance(rule, AnyOf):
        return [value for part in rule.rules for value in wrong_values(part) if forbidden(rule, value)]
    if isinstance(rule, Number):
        below = [bound - 1 for bound in (rule.above, rule.at_least) if bound is not None]
        beyond = [bound + 1 for bound in (rule.below, rule.at_most) if bound is not None]
        edges = [bound for bound in (rule.above, rule.below) if bound is not None]
        fraction = [(rule.at_least or rule.above or 0) + 0.5] if rule.integer else []
        no_float = [] if rule.integer else [10**400]
        return [*below, *beyond, *edges, *fraction, *no_float, "1", None, True, [1], np.nan, np.inf, -np.inf, 1j]
    wrong = {
        Choice: ["nonsense", "", 1, None, ["l2"], np.array(["a", "b"])],
        Flag: [0, 1, "True", None, 0.0],
        Infinite: [-np.inf, np.nan, "inf"],
        Nothing: [0, "", False],
        Function: ["nonsense", 1],
        Share: [-0.5, 1.5, 0.0, np.nan, np.inf, "0.5", [0.5], True],
        Keywords: [1, "a", [1], {1: 2}],
        Signs: [1, [2], [[1, 0]], "1", [0.5], ["a", "b"]],
        CategoricalFeatures: ["from_names", 1, [0.5], [None], [["a"]], {"a": 1}, np.array([[0]])],
        Seed: [-1, 2**32, 0.5, "0", np.random.default_rng(0)],
        ClassWeights: ["fair", 1, [1, 2], np.array([1.0, 2.0])],
        FeatureGroups: ["all", [], 1],
        Penalties: [-1.0, "1", None, [-1.0], [[1.0]], [], np.nan, True],
        KernelArguments: [1, "a", ["a"], {1: 2}],
        Quantiles: [[], [0.5, 0.1], [0.0, 0.5], [[0.5]], ["0.5"]],
        Scorer: ["nonsense", "", 1, ["accuracy"], BaseEstimator],
        Text: [1, b"utf-8", ["a"]],
        Texts: ["a", [1], 3],
        NgramRange: [1, (1,), (0, 1), (1, 2.5), "12", None],
        Terms: ["a b", 3, b"a"],
        NumberType: ["words", None, "U3"],
        Members: [[], "tree", [("a", 1)], [("a__b", BaseEstimator())], [BaseEstimator()]],
        Amounts: [[], "1", [-1.0, 2.0], [0.0, 0.0], [np.nan], [[1.0]], 1.0, ["a"]],
        Calibrations: ["a", 1.0, [1.0], [[]], [[[1.0]]], [[[np.nan, 1.0]]], [[["a", "b"]]]],
        ColumnWords: ["number", ["a"], {1: "date"}, {"a": "float"}, {"a": None}],
        Learner: ["tree", 1, BaseEstimator, BaseEstimator()],
        Metric: ["nonsense", "", 1, None, ["accuracy"], BaseEstimator],
    }
    return wrong[type(rule)]


def refusal_by(model, X, y, **more):
    """Return the sentence with which a fit is refused, or that it was not."""
    try:
        model.fit(X, y, **more)
    except InputError as error:
        return str(error)
    return "not refused"


@every_entry
def test_a_wrong_parameter_is_said_in_one_sentence(entry):
    X, who, n_asked = table(10, 2), entry.estimator.__name__, 0
    for name, rule in entry.estimator.PARAMS.items():
        for value in wrong_values(rule):
            said = refusal_by(entry.estimator(**{name: value}), X, classes_on(X, 2))
            expected = f"{who}: {name} must be {rule}; got {value!r}."
            assert said == expected, f"{name}={value!r}: {said}"
            if len(str(value)) < 100:
                assert_one_sentence(said)
            n_asked += 1
    assert n_asked >= len(entry.estimator.PARAMS)


@every_entry
def test_before_fit_there_is_nothing_to_ask(entry):
    model = entry.estimator()
    methods = ("predict", "predict_proba", "decision_function", "transform", "inverse_transform", "apply")
    for method in (*methods, "get_feature_names_out"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(model, method)(*([] if method == "get_feature_names_out" else [table(3, 2)]))


# ---------------------------------------------------------------------------------- same bits


@pytest.fixture(scope="module")
def wide():
    """Data of several blocks of work, however an estimator cuts them."""
    X = table(5000, 90)
    return X, classes_on(X, 4)


@every_candidate
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_for_any_number_of_threads(entry, params, dtype, wide):
    if "n_jobs" not in entry.estimator.PARAMS:
        pytest.skip(f"{entry.estimator.__name__} has no n_jobs: its work is not cut")
    X, y = wide[0].astype(dtype), wide[1]
    models = [short(entry, params, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 8)]
    queries = X[:1500] if is_transformer(entry) else X
    expected = result(models[0], queries)
    for model in models[1:]:
        assert_learnt_the_same(models[0], model)
        np.testing.assert_array_equal(result(model, queries), expected)


@every_candidate
def test_the_same_bits_in_a_joblib_context(entry, params):
    X = table(600, 5)
    y = classes_on(X)
    alone = short(entry, params).fit(X, y)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert_learnt_the_same(short(entry, params).fit(X, y), alone)


@every_candidate
def test_a_second_fit_is_the_same(entry, params):
    X = table(200, 4)
    model = short(entry, params).fit(X, classes_on(X))
    first = result(model, X)
    np.testing.assert_array_equal(result(model.fit(X, classes_on(X)), X), first)


@every_candidate
@pytest.mark.parametrize(
    "seen_as",
    [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X.tolist(), lambda X: X.astype(object)],
    ids=["columns first", "every second row", "lists", "objects"],
)
def test_the_same_numbers_in_another_layout(entry, params, seen_as):
    X = table(100, 4)
    y = classes_on(X)
    plain, other = short(entry, params).fit(X, y), short(entry, params).fit(seen_as(X), y)
    assert_learnt_the_same(plain, other)
    np.testing.assert_array_equal(result(other, seen_as(X)), result(plain, X))


@every_candidate
def test_data_that_may_not_be_written_to(entry, params):
    X, y = table(100, 4), classes_on(table(100, 4))
    weights = np.ones(100)
    for array in (X, y, weights):
        array.setflags(write=False)
    model = short(entry, params)
    model = model.fit(X, y, sample_weight=weights) if takes_weights(entry) else model.fit(X, y)
    result(model, X)


# ---------------------------------------------------------------------------------- weights mean repeated rows


@pytest.fixture(scope="module")
def repeated():
    """Rows on a coarse grid, so that some are equal already, with whole weights; some are 0."""
    rng = np.random.default_rng(1)
    X = table(150, 3, decimals=1)
    return X, classes_on(X), rng.integers(0, 4, size=150), rng


@every_weighted
def test_a_weight_is_a_repeated_row(entry, params, repeated):
    for name in COUNTS_ROWS.keys() & params:
        pytest.skip(f"{name}: {COUNTS_ROWS[name]}")
    X, y, weights, rng = repeated
    copies = np.repeat(np.arange(y.size), weights)
    weighted = made(entry, params).fit(X, y, sample_weight=weights)
    for rows in (copies, copies[::-1], rng.permutation(copies)):
        given = made(entry, params).fit(X[rows], y[rows])
        if entry.estimator.__name__ in SHARES_AMONG_COPIES:
            np.testing.assert_allclose(result(given, X), result(weighted, X), rtol=1e-9, atol=1e-12)
            continue
        alike = assert_learnt_alike if entry.estimator.__name__ in SUMS_OVER_ROWS else assert_learnt_the_same
        alike(weighted, given, but=ROW_COUNTS + ROUNDED[entry.task])
        tolerance = 1e-9 if alike is assert_learnt_alike else 1e-12 if ROUNDED[entry.task] else 0
        np.testing.assert_allclose(result(given, X), result(weighted, X), rtol=tolerance)


@every_weighted
def test_a_row_of_weight_zero_was_never_given(entry, params, repeated):
    X, y, weights, _ = repeated
    there = weights > 0
    poisoned = np.where(there[:, None], X, 1e6)
    weighted = made(entry, params).fit(poisoned, y, sample_weight=there.astype(float))
    without = made(entry, params).fit(X[there], y[there])
    assert_learnt_the_same(weighted, without)


@every_weighted
def test_no_weights_are_weights_of_one(entry, params, repeated):
    X, y, _, _ = repeated
    plain = made(entry, params).fit(X, y)
    assert_learnt_the_same(made(entry, params).fit(X, y, sample_weight=np.ones(y.size)), plain)
    assert_learnt_the_same(made(entry, params).fit(X, y, sample_weight=[1] * y.size), plain)


BAD_WEIGHTS = [
    ([1.0, -1.0, 1.0, 1.0], "Negative values in data passed to `sample_weight`, which must be at least 0; got -1.0."),
    ([1.0, np.nan, 1.0, 1.0], "sample_weight must be finite and at least 0; got nan."),
    ([1.0, np.inf, 1.0, 1.0], "sample_weight must be finite and at least 0; got inf."),
    ([0, 0, 0, 0], "sample_weight must hold at least one weight above zero; got only zeros."),
    ([1.0, 1.0], "sample_weight must have shape (4,); got (2,)."),
    ([[1.0], [1.0], [1.0], [1.0]], "sample_weight must have shape (4,); got (4, 1)."),
    (["a", "b", "c", "d"], "sample_weight must hold numbers; got ['a', 'b', 'c', 'd']."),
]


@every_weighted
def test_weights_that_are_none(entry, params):
    for weights, sentence in BAD_WEIGHTS:
        if entry.estimator.__name__ in COUNTS_MOVES and np.issubdtype(type(weights[1]), np.number) and weights[1] <= 0:
            continue  # rows of negative weight are left out, as by LIBSVM: tests/estimators/test_svm.py
        X = [[0.0], [1.0], [2.0], [3.0]]
        said = refusal_by(entry.estimator(**params), X, [0, 0, 1, 1], sample_weight=weights)
        assert said == f"{entry.estimator.__name__}: {sentence}"


# ---------------------------------------------------------------------------------- a fitted model is read-only


@every_candidate
def test_a_question_changes_nothing(entry, params):
    X = table(300, 4)
    model = short(entry, params).fit(X, classes_on(X))
    before = joblib.hash(model.__dict__)
    for method in ("predict", "predict_proba", "decision_function", "transform", "apply", "decision_path"):
        if hasattr(model, method):
            getattr(model, method)(X)
    if is_transformer(entry):
        model.get_feature_names_out()
    eigenwood.verify(model, X, classes_on(X))
    assert joblib.hash(model.__dict__) == before


@every_candidate
def test_four_threads_may_ask_at_once(entry, params):
    X = table(1200, 6)
    model = short(entry, params, **({"n_jobs": 2} if "n_jobs" in entry.estimator.PARAMS else {}))
    model.fit(X, classes_on(X))
    parts = np.array_split(X, 4)
    alone = [result(model, part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, expected in zip(pool.map(lambda part: result(model, part), parts), alone, strict=True):
                np.testing.assert_array_equal(got, expected)


@every_candidate
def test_four_threads_may_learn_at_once(entry, params):
    X = table(300, 4)
    y = classes_on(X)
    alone = short(entry, params).fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        for model in pool.map(lambda _: short(entry, params).fit(X, y), range(8)):
            assert_learnt_the_same(model, alone)


@every_candidate
def test_a_file_and_a_pickle_keep_the_answers(entry, params, tmp_path):
    X = table(100, 4)
    model = short(entry, params).fit(X, classes_on(X))
    for kept in (
        pickle.loads(pickle.dumps(model)),
        eigenwood.load(eigenwood.save(model, tmp_path / "model.safetensors")),
    ):
        assert_learnt_the_same(kept, model)
        np.testing.assert_array_equal(result(kept, X), result(model, X))


@every_candidate
def test_a_failed_fit_leaves_the_old_model(entry, params):
    """A usable model is never lost: not by data it cannot use, nor by a parameter it cannot use."""
    X = table(100, 4)
    model = short(entry, params).fit(X, classes_on(X))
    before = result(model, X)
    with pytest.raises(ValueError, match=r"inf"):
        model.fit(np.full((4, 4), np.inf), [0, 1, 0, 1])
    np.testing.assert_array_equal(result(model, X), before)


# ---------------------------------------------------------------------------------- callbacks


def noisy(n_rows=300):
    """Return data that nothing learns by heart in a few epochs."""
    X = table(n_rows, 3)
    return X, np.random.default_rng(0).integers(0, 3, size=n_rows)


def long(entry):
    """Return data that gives several rounds: for a tree one is 65,536 rows, and there must be something to ask."""
    if "max_iter" in entry.estimator.PARAMS:
        return noisy()
    X = table(25_000, 3)
    return X, classes_on(X, noise=1.0)


@every_watched
def test_callbacks_hear_of_every_round(entry, params):
    X, y = noisy()
    recorder = Recorder()
    model = short(entry, params).set_callbacks(recorder).fit(X, y)
    assert recorder.events[0] == ("setup", "fit")
    assert recorder.events[1] == ("begin", "fit")
    assert recorder.events[-2] == ("end", "fit")
    assert recorder.events[-1] == ("teardown", "fit")
    assert recorder.count("setup") == recorder.count("teardown") == 1
    assert recorder.count("begin", "round") == recorder.count("end", "round") >= 1
    assert counted_rounds(model) in (None, recorder.count("end", "round"))


@every_watched
def test_callbacks_change_nothing(entry, params):
    X, y = noisy()
    watched = short(entry, params).set_callbacks(Recorder()).fit(X, y)
    assert_learnt_the_same(watched, short(entry, params).fit(X, y))


@every_watched
def test_callbacks_are_given_a_model_that_works(entry, params):
    X, y = long(entry)
    recorder = Recorder()
    model = short(entry, params, **in_rounds(entry)).set_callbacks(recorder).fit(X, y)
    results = [result(so_far, X) for so_far in recorder.models]
    np.testing.assert_array_equal(results[-1], result(model, X))
    assert all(given_X.shape[1] == 3 for given_X, _ in recorder.data)
    if not is_transformer(entry) and entry.estimator.__name__ not in TAKE_MEDIANS:
        assert not np.array_equal(results[0], results[-1])


@every_watched
def test_a_model_of_an_early_round_does_not_change_later(entry, params):
    """It was given away; the fit goes on with its own numbers."""
    X, y = long(entry)

    class Looking(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.models.append((fitted_estimator, result(fitted_estimator, X)))

    recorder = Looking()
    short(entry, params).set_callbacks(recorder).fit(X, y)
    for model, then in recorder.models:
        np.testing.assert_array_equal(result(model, X), then)


@every_watched
def test_a_callback_can_stop_the_fit(entry, params):
    X, y = long(entry)
    recorder = Recorder(stop_after=1)
    epochs = {"max_iter": 50} if "max_iter" in entry.estimator.PARAMS else {}
    model = short(entry, params, **epochs, **in_rounds(entry))
    model.set_callbacks(recorder).fit(X, y)
    assert recorder.count("end", "round") == 1
    assert recorder.events[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert result(model, X).shape[0] == X.shape[0]
    if not is_transformer(entry):
        assert model.stop_reason_ == "callback"
    assert counted_rounds(model) in (None, 1)


@every_watched
def test_a_callback_that_fails_is_torn_down_and_heard(entry, params):
    X, y = noisy()
    recorder = Recorder(problem=RuntimeError("the screen is gone"))
    with pytest.raises(RuntimeError, match="the screen is gone"):
        short(entry, params).set_callbacks(recorder).fit(X, y)
    assert recorder.events[-1] == ("teardown", "fit")


@every_watched
def test_a_fit_that_fails_leaves_callbacks_balanced(entry, params):
    recorder = Recorder()
    with pytest.raises(InputError):
        short(entry, params).set_callbacks(recorder).fit([[np.inf], [1.0]], [0, 1])
    assert recorder.count("setup") == recorder.count("teardown")


@every_watched
def test_the_progress_bar_of_scikit_learn(entry, params, capsys):
    X, y = noisy()
    plain = short(entry, params).fit(X, y)
    model = short(entry, params).set_callbacks(ProgressBar()).fit(X, y)
    assert_learnt_the_same(model, plain)
    assert entry.estimator.__name__ in capsys.readouterr().out


@every_watched
def test_the_scoring_monitor_of_scikit_learn(entry, params):
    if is_transformer(entry):
        pytest.skip("a transformer has no score")
    X, y = long(entry)
    scoring = "accuracy" if is_classifier(entry) else "r2"
    monitor = ScoringMonitor(scoring=scoring)
    model = short(entry, params).set_callbacks(monitor).fit(X, y)
    rounds = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert counted_rounds(model) in (None, len(rounds))
    assert rounds
    assert all((-1.0 if scoring == "r2" else 0.0) <= row[scoring] <= 1.0 for row in rounds)


@every_watched
def test_callbacks_reach_into_a_pipeline(entry, params):
    X, y = noisy()
    recorder = PropagatedRecorder()
    make_pipeline(StandardScaler(), short(entry, params)).set_callbacks(recorder).fit(X, y)
    assert recorder.count("begin", "round") == recorder.count("end", "round") >= 1
    assert recorder.count("setup") == recorder.count("teardown") == 1


@every_watched
def test_callbacks_reach_into_a_search(entry, params):
    if is_transformer(entry):
        pytest.skip("a transformer has no score to search by")
    X, y = noisy()
    recorder = PropagatedRecorder()
    grid = {next(name for name in ("max_iter", "max_depth", "n_estimators") if name in entry.estimator.PARAMS): [1, 2]}
    search = GridSearchCV(short(entry, params), grid, cv=2).set_callbacks(recorder).fit(X, y)
    assert recorder.count("begin", "round") == recorder.count("end", "round") >= 5
    assert search.best_estimator_.predict(X).shape == (300,)


@every_watched
def test_callbacks_of_its_own_inside_cross_validation(entry, params):
    if is_transformer(entry):
        pytest.skip("a transformer has no score")
    X, y = noisy()
    watched = short(entry, params).set_callbacks(ProgressBar())
    np.testing.assert_array_equal(
        cross_val_score(watched, X, y, cv=3), cross_val_score(short(entry, params), X, y, cv=3)
    )


# ---------------------------------------------------------------------------------- time


ENDLESS = {"max_iter": 10**7, "tol": None}
LIMIT = 0.5
LATEST = 1.2 * LIMIT + 0.2


@every_watched
def test_a_time_limit_is_kept(entry, params):
    if is_transformer(entry):
        assert_a_transformer_keeps_its_limit(entry)
        return
    rules = entry.estimator.PARAMS
    endless = {name: value for name, value in ENDLESS.items() if name in rules and rules[name].allows(value)}
    n_rows = 2000
    if entry.estimator.__name__ in COUNTS_MOVES:  # it ends when every row has its C: after seconds, on one thread
        n_rows, endless["n_jobs"] = 15_000, 1
    elif "max_iter" not in rules:  # a tree ends when every row has its leaf
        n_rows = 50_000
    X = np.tile(table(n_rows, 40), (2, 1))
    y = np.arange(2 * n_rows) // n_rows  # every row has both labels, so no other fit ever ends by itself
    if entry.estimator.__name__ in ENDS_AT_ONCE:
        X = table(15_000, 40)
        y, endless = classes_on(X, 2, noise=1.0), {"n_components": 4000, "n_jobs": 1}
    if entry.estimator.__name__ in NEED_AN_EDGE:
        y, endless["n_estimators"] = classes_on(X, 2, noise=1.0), 10**7
    short(entry, params, time_limit=LIMIT / 5.0).fit(X[::8], y[::8])  # compiles, where there is no ready-made code
    model, seconds = made(entry, params, **endless, time_limit=LIMIT), []
    while len(seconds) < 3 and not (seconds and seconds[-1] <= LATEST):  # another worker may have had the machine
        start = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        assert model.stop_reason_ == "time_limit"
        assert seconds[-1] >= LIMIT
    assert seconds[-1] <= LATEST
    assert np.isfinite(result(model, X)).all()
    if entry.estimator.__name__ not in OVERSHOOTS:
        assert 0 <= model.predict(X).min() <= model.predict(X).max() <= 1


def assert_a_transformer_keeps_its_limit(entry):
    """Its fit may be done in time; if it is not, it says so, and claims nothing that it did not find out."""
    X = table(2500, 2500) if entry.estimator.__name__ == "PCA" else table(200_000, 20)
    more = {"n_components": 50} if "n_components" in entry.estimator.PARAMS else {}
    if entry.estimator.__name__ == "KernelPCA":
        X, more["kernel"] = X[:20_000], "rbf"
    model, seconds = made(entry, more, time_limit=LIMIT), []
    while len(seconds) < 3 and not (seconds and seconds[-1] <= LATEST):  # another worker may have had the machine
        start = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - start)
    assert seconds[-1] <= LATEST
    assert np.isfinite(result(model, X[:100])).all()
    assert model.stop_reason_ == "finished" or not model.certificate_.holds


@every_watched
def test_a_fit_that_was_cut_short_claims_nothing(entry, params):
    """Whatever ``verify`` says of it, it does not say that all is well."""
    X, y = noisy(200)
    model = made(entry, params, time_limit=1e-6).fit(X, y)
    if model.stop_reason_ == "finished":
        pytest.skip("done before anybody looked at the clock")
    assert model.certificate_.holds is None
    assert eigenwood.verify(model, X, None if is_transformer(entry) else y).holds is None


@every_candidate
def test_verify_keeps_a_time_limit(entry, params, monkeypatch):
    """A second passes whenever somebody looks at the clock: ``verify`` looks often, and ends when time is up."""
    X, y = noisy(150)
    model = short(entry, params).fit(X, y)
    whole, looks = eigenwood.verify(model, X, y), []
    passing = SimpleNamespace(perf_counter=lambda: looks.append(1) or float(len(looks)))
    monkeypatch.setattr(watching, "time", passing)
    assert [claim.name for claim in eigenwood.verify(model, X, y, time_limit=1e6)] == [claim.name for claim in whole]
    for limit in (0.5, len(looks) / 3.0):
        looks.clear()
        *claims, last = eigenwood.verify(model, X, y, time_limit=limit)
        assert len(looks) <= limit + 10.0  # a fit looks a few times before it ends
        assert (last.name, last.holds) == ("time limit", None)
        assert [claim.name for claim in claims] == [claim.name for claim in whole][: len(claims)]


@every_watched
def test_the_smallest_time_limit_leaves_a_model(entry, params, tmp_path):
    X, y = noisy(2000)
    model = made(entry, params, time_limit=1e-9).fit(X, y)
    assert model.stop_reason_ in ("time_limit", "finished")
    assert result(model, X).shape[0] == 2000
    assert eigenwood.load(eigenwood.save(model, tmp_path / "model")).stop_reason_ == model.stop_reason_


@every_watched
def test_a_time_limit_that_is_not_reached_changes_nothing(entry, params):
    X, y = noisy()
    assert_learnt_the_same(short(entry, params, time_limit=1e6).fit(X, y), short(entry, params).fit(X, y))


# ---------------------------------------------------------------------------------- names in, names out


FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "pyarrow": lambda X, names: pa.table(dict(zip(names, X.T, strict=True))),
}


@every_candidate
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_come_in_with_their_names(entry, params, kind):
    X, names = table(60, 3), ["length", "width", "größe"]
    y = classes_on(X)
    frame = FRAMES[kind](X, names)
    model = short(entry, params).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    assert model.feature_names_in_.dtype == object
    plain = short(entry, params).fit(X, y)
    np.testing.assert_array_equal(result(model, frame), result(plain, X))
    with pytest.raises(InputError) as caught:
        result(model, FRAMES[kind](X, names[::-1]))
    assert_one_sentence(str(caught.value))
    with pytest.raises(InputError) as caught:
        result(model, FRAMES[kind](X[:, :2], names[:2]))
    assert_one_sentence(str(caught.value))


@every_candidate
@pytest.mark.parametrize("fitted_with", FRAMES)
def test_frames_of_one_kind_are_as_good_as_another(entry, params, fitted_with):
    X, names = table(40, 2), ["a", "b"]
    model = short(entry, params).fit(FRAMES[fitted_with](X, names), classes_on(X))
    again = result(model, FRAMES[fitted_with](X, names))
    for asked_with in FRAMES.keys() - {fitted_with}:
        np.testing.assert_array_equal(result(model, FRAMES[asked_with](X, names)), again, err_msg=asked_with)


@every_candidate
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_transformers_give_frames_if_asked(entry, params, kind):
    if not is_transformer(entry):
        pytest.skip("it gives labels or amounts")
    X, names = table(30, 3), ["a", "b", "c"]
    model = entry.estimator(**params).set_output(transform=kind)
    frame = model.fit_transform(FRAMES[kind](X, names), classes_on(X))
    assert type(frame).__module__.split(".")[0] == kind
    assert list(frame.columns) == model.get_feature_names_out().tolist()
    plain = entry.estimator(**params).fit(FRAMES[kind](X, names), classes_on(X))
    tolerance = 1e-9 if entry.estimator.__name__ in FIT_KNOWS_RESULT else 0.0
    np.testing.assert_allclose(frame.to_numpy(), result(plain, FRAMES[kind](X, names)), rtol=0.0, atol=tolerance)


@every_candidate
def test_names_out_without_names_in(entry, params):
    if not is_transformer(entry):
        pytest.skip("it gives labels or amounts")
    X = table(30, 3)
    model = entry.estimator(**params).fit(X, classes_on(X))
    names = model.get_feature_names_out()
    assert names.dtype == object
    assert len(set(names)) == len(names) == result(model, X).shape[1]
    if not isinstance(model, ClassNamePrefixFeaturesOutMixin):
        kept = model.get_support() if is_selector(entry) else np.ones(3, dtype=bool)
        assert set(np.array(["x0", "x1", "x2"])[kept]) <= set(names)
        renamed = model.get_feature_names_out(["a", "b", "c"])
        assert set(np.array(["a", "b", "c"])[kept]) <= set(renamed)
    with pytest.raises(ValueError, match="input_features"):
        model.get_feature_names_out(["a", "b"])


# ---------------------------------------------------------------------------------- bad data, one sentence


BAD_ROWS = {
    "NaN": [[1.0, np.nan], [2.0, 3.0]],
    "infinity": [[1.0, np.inf], [2.0, 3.0]],
    "minus infinity": [[1.0, -np.inf], [2.0, 3.0]],
    "text": [["a", "b"], ["c", "d"]],
    "a vector": [1.0, 2.0],
    "a number": 3.0,
    "a string": "table",
    "nothing": None,
    "no rows": np.empty((0, 2)),
    "no columns": np.empty((2, 0)),
    "three dimensions": np.zeros((2, 2, 2)),
    "ragged": [[1.0, 2.0], [3.0]],
    "complex": np.array([[1j, 2.0], [3.0, 4.0]]),
    "a lazy frame": pl.LazyFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "a dict": {"a": [1.0, 2.0]},
    "equal names": pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]),
}


@every_table_entry
@pytest.mark.parametrize("X", BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_rows_are_refused_in_one_sentence(entry, X):
    if X is BAD_ROWS["NaN"] and entry.estimator().__sklearn_tags__().input_tags.allow_nan:
        pytest.skip(f"{entry.estimator.__name__} can use NaN")
    with pytest.raises((ValueError, TypeError)) as caught:
        entry.estimator().fit(X, [0, 1])
    sentence = str(caught.value)
    assert sentence.startswith(f"{entry.estimator.__name__}: ")
    assert_one_sentence(sentence.replace("(Reshape", "(reshape"))


BAD_LABELS = {
    "None": None,
    "one class": [1, 1, 1, 1],
    "too few": [0, 1],
    "a matrix": [[0, 1], [1, 0], [0, 1], [1, 0]],
    "fractions": [0.1, 0.2, 0.3, 0.4],
    "NaN": [0.0, 1.0, np.nan, 1.0],
    "infinity": [0.0, 1.0, np.inf, 1.0],
    "None among strings": ["a", "b", None, "a"],
    "NaN among strings": ["a", "b", np.nan, "a"],
    "pandas NA": pd.Series(["a", "b", pd.NA, "a"]),
    "pandas NA among integers": pd.array([0, 1, None, 1], dtype="Int64"),
    "polars null": pl.Series([0, 1, None, 1]),
    "polars null among strings": pl.Series(["a", "b", None, "a"]),
    "pyarrow null": pa.array(["a", "b", None, "a"]),
    "NaN among objects": np.array(["a", "b", np.nan, "a"], dtype=object),
    "mixed types": [0, "a", 1, "b"],
    "mixed objects": np.array([0, "a", 1, "b"], dtype=object),
    "complex": [1j, 2j, 1j, 2j],
    "bytes": [b"a", b"b", b"a", b"b"],
    "a string": "abab",
    "a number": 3,
}


TAKEN_BY_TREES = {"one class": "a leaf can say it", "a matrix": "a leaf can say several"}


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if is_classifier(entry)], ids=lambda entry: entry.name)
@pytest.mark.parametrize(("name", "y"), BAD_LABELS.items(), ids=BAD_LABELS)
def test_bad_labels_are_refused_in_one_sentence(entry, name, y):
    if name in TAKEN_BY_TREES and entry.takes_tables:
        pytest.skip(f"{name}: {TAKEN_BY_TREES[name]}")
    with pytest.raises((ValueError, TypeError)) as caught:
        entry.estimator().fit([[0.0], [1.0], [2.0], [3.0]], y)
    sentence = str(caught.value)
    assert sentence.startswith(f"{entry.estimator.__name__}: ")
    assert_one_sentence(sentence)
    for words in ("'<' not supported", "ambiguous", "Unknown label type: unknown"):
        assert words not in sentence, "says what went wrong inside, not what is wrong with y"


GOOD_LABELS = {
    "list": ["no", "yes"] * 10,
    "empty string": ["", "yes"] * 10,
    "tuple": ("no", "yes") * 10,
    "numpy strings": np.array(["no", "yes"] * 10),
    "objects": np.array(["no", "yes"] * 10, dtype=object),
    "booleans": np.array([False, True] * 10),
    "floats": np.array([-1.0, 1.0] * 10),
    "uint8": np.array([3, 200] * 10, dtype=np.uint8),
    "a column": np.array([[0], [1]] * 10),
    "pandas": pd.Series(["no", "yes"] * 10),
    "pandas with another index": pd.Series(["no", "yes"] * 10, index=np.arange(20)[::-1]),
    "pandas column": pd.DataFrame({"y": [0, 1] * 10}),
    "pandas categories": pd.Series(pd.Categorical(["no", "yes"] * 10, categories=["yes", "no", "never"])),
    "pandas Int64": pd.Series([0, 1] * 10, dtype="Int64"),
    "pandas boolean": pd.Series([False, True] * 10, dtype="boolean"),
    "polars": pl.Series(["no", "yes"] * 10),
    "polars integers": pl.Series([0, 1] * 10),
    "polars Enum": pl.Series(["no", "yes"] * 10, dtype=pl.Enum(["yes", "no"])),
    "polars categories": pl.Series(["no", "yes"] * 10, dtype=pl.Categorical),
    "pyarrow": pa.array(["no", "yes"] * 10),
    "pyarrow chunks": pa.chunked_array([[0, 1] * 5, [0, 1] * 5]),
    "pyarrow dictionary": pa.array(["no", "yes"] * 10).dictionary_encode(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if is_classifier(entry)], ids=lambda entry: entry.name)
@pytest.mark.parametrize("y", GOOD_LABELS.values(), ids=GOOD_LABELS)
def test_labels_come_back_as_they_were_given(entry, y):
    X = np.tile([[-1.0, 0.3], [1.0, -0.2]], (10, 1)) + 0.01 * table(20, 2)
    model = entry.estimator().fit(X, y)
    plain = y.to_pylist() if hasattr(y, "to_pylist") else np.asarray(y).ravel().tolist()
    assert model.predict(X).tolist() == plain
    assert model.classes_.tolist() == sorted(set(plain))
    assert {type(label) for label in model.classes_.tolist()} == {type(label) for label in plain}


def test_the_registry_is_found_by_name():
    assert [entry.estimator.__name__ for entry in ENTRIES] == list(BY_CLASS)
    assert refit(ENTRIES[0].estimator(), table(10, 2), None) is not None
