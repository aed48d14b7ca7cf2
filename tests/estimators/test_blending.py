"""Ensembles by weight and scaled amounts: what the common exam does not ask."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenwood import (
    SVC,
    SVR,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    KernelLogisticRegression,
    KernelRidge,
    Perceptron,
    RandomForestRegressor,
    ScaledTargetRegressor,
    TableEncoder,
    WeightedEnsembleClassifier,
    WeightedEnsembleRegressor,
    load,
    save,
    verify,
)
from eigenwood.core.blending import calibrated
from eigenwood.errors import InputError
from eigenwood.estimators.blending.fitting import folds_of
from eigenwood.estimators.blending.input_checks import checked_classes
from tests.models.crafting import assert_one_sentence
from tests.models.samples import assert_same_model

NAMES = np.array(["ant", "bee", "cat"])


def tree(**params):
    return DecisionTreeClassifier(random_state=0, **{"max_depth": 3, **params})


def classes_of(n_rows=150, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(2)
    score = X[:, 0] + X[:, 1] ** 2 + 0.4 * rng.normal(size=n_rows)
    return X, NAMES[np.digitize(score, [0.3, 1.5][: n_classes - 1])]


def mixed(X):
    colours = np.array(["red", "green", None], dtype=object)[np.digitize(X[:, 2], [-0.5, 1.0])]
    return pa.table({"long": X[:, 0], "wide": X[:, 1], "colour": pa.array(colours.tolist())})


def amounts_of(n_rows=200, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.exp(X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=n_rows))


# ---- the same answers as scikit-learn's ---------------------------------------------------------------------------


def test_probabilities_are_those_of_the_voting_classifier():
    X, y = classes_of()
    members = [("tree", tree()), ("line", LogisticRegression())]
    ours = WeightedEnsembleClassifier(members, weights=[1, 3]).fit(X, y)
    theirs = VotingClassifier(members, voting="soft", weights=[1, 3]).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_amounts_are_those_of_the_voting_regressor():
    X, y = amounts_of()
    members = [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("ridge", KernelRidge())]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    ours = WeightedEnsembleRegressor(members, weights=[1, 3]).fit(X, y, weights)
    theirs = VotingRegressor(members, weights=[1, 3]).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert verify(ours, X, y, weights).holds


def test_scaled_amounts_are_those_of_the_transformed_target_regressor():
    X, y = amounts_of()
    inside = KernelRidge(kernel="rbf")
    theirs = TransformedTargetRegressor(inside, transformer=StandardScaler()).fit(X, y)
    np.testing.assert_allclose(ScaledTargetRegressor(inside).fit(X, y).predict(X), theirs.predict(X), rtol=1e-9)
    logs = TransformedTargetRegressor(inside, func=np.log, inverse_func=np.exp).fit(X, y)
    ours = ScaledTargetRegressor(clone(inside).set_params(alpha=1e-6), scale="log").fit(X, y)
    logs.set_params(regressor__alpha=1e-6).fit(X, y)
    assert np.corrcoef(np.log(ours.predict(X)), np.log(logs.predict(X)))[0, 1] > 0.999


# ---- members ------------------------------------------------------------------------------------------------------


def test_members_are_pipelines_of_a_table_with_texts():
    X, y = classes_of()
    table = mixed(X)
    members = [("forest of one", tree()), ("machine", make_pipeline(TableEncoder(), SVC()))]
    model = WeightedEnsembleClassifier(members).fit(table, y)
    assert model.feature_names_in_.tolist() == ["long", "wide", "colour"]
    assert model.score(table, y) > 0.8
    assert verify(model, table, y).holds
    with pytest.raises(InputError) as caught:
        model.predict(table.select(["wide", "long", "colour"]))
    assert_one_sentence(str(caught.value))


def test_fitted_members_are_taken_as_they_are():
    X, y = classes_of()
    fitted = [("tree", tree().fit(X, y)), ("machine", KernelLogisticRegression().fit(X, y))]
    model = WeightedEnsembleClassifier.from_fitted(fitted, NAMES, weights=[0.25, 0.75])
    assert all(one is other for one, (_, other) in zip(model.estimators_, fitted, strict=True))
    mean = 0.25 * fitted[0][1].predict_proba(X) + 0.75 * fitted[1][1].predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), mean, rtol=1e-12)
    assert verify(model, X, y).holds
    assert_same_model(clone(model).fit(X, y), model)


def test_fitted_regressors_are_taken_as_they_are(tmp_path):
    X, y = amounts_of()
    steps = [("encode", TableEncoder()), ("model", ScaledTargetRegressor(SVR(), scale="log"))]
    fitted = [("machine", Pipeline(steps).fit(X, y)), ("tree", DecisionTreeRegressor(max_depth=4).fit(X, y))]
    model = WeightedEnsembleRegressor.from_fitted(fitted, weights=[1.0, 1.0])
    mean = (fitted[0][1].predict(X) + fitted[1][1].predict(X)) / 2.0
    np.testing.assert_allclose(model.predict(X), mean, rtol=1e-12)
    kept = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(kept.predict(X), model.predict(X))
    assert verify(kept, X, y).holds


def test_a_member_that_never_saw_a_class_gives_it_nothing():
    X, y = classes_of()
    some = y != "bee"
    for member in (tree(), Perceptron()):
        calibrations = None if hasattr(member, "predict_proba") else [[[1.0, 0.0]] * 3]
        fitted = [("one", member.fit(X[some], y[some]))]
        model = WeightedEnsembleClassifier.from_fitted(fitted, NAMES, calibrations=calibrations)
        shares = model.predict_proba(X)
        np.testing.assert_array_equal(shares[:, 1], 0.0)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_array_equal(NAMES[shares.argmax(axis=1)], fitted[0][1].predict(X))


def test_parameters_of_members_are_set_by_name():
    model = WeightedEnsembleClassifier([("tree", tree()), ("machine", SVC())])
    assert model.get_params()["machine__C"] == 1.0
    model.set_params(machine__C=3.0, tree=Perceptron())
    assert model.estimators[1][1].C == 3.0
    assert isinstance(model.estimators[0][1], Perceptron)
    X, y = classes_of(60)
    search = GridSearchCV(WeightedEnsembleClassifier([("tree", tree())]), {"tree__max_depth": [1, 4]}, cv=2).fit(X, y)
    assert search.best_estimator_.named_estimators_["tree"].max_depth == search.best_params_["tree__max_depth"]


def test_an_ensemble_of_ensembles_goes_into_a_file(tmp_path):
    X, y = classes_of()
    inner = WeightedEnsembleClassifier([("tree", tree()), ("machine", make_pipeline(TableEncoder(), SVC()))])
    model = WeightedEnsembleClassifier([("inner", inner), ("tree", tree(max_depth=2))]).fit(mixed(X), y)
    kept = load(save(model, tmp_path / "model"))
    assert_same_model(kept, model)
    np.testing.assert_array_equal(kept.predict_proba(mixed(X)), model.predict_proba(mixed(X)))
    assert verify(kept, mixed(X), y).holds
    assert "inner: machine: gap [ant or bee]" in [claim.name for claim in kept.certificate_]


# ---- probabilities of scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_calibrated_on_rows_that_were_not_seen(n_classes):
    """Training scores of a machine that learns by heart say nothing about new rows."""
    X, y = classes_of(300, n_classes)
    new_X, new_y = classes_of(600, n_classes, seed=1)
    machine = SVC(C=1000.0, gamma=10.0)
    model = WeightedEnsembleClassifier([("machine", machine)]).fit(X, y)
    fitted = clone(machine).fit(X, y)
    scores = fitted.decision_function(new_X).reshape(len(new_X), -1)
    np.testing.assert_allclose(model.predict_proba(new_X), calibrated(scores, model.calibrations_[0]), rtol=1e-9)
    blind = WeightedEnsembleClassifier.from_fitted(
        [("machine", fitted)], model.classes_, calibrations=[np.tile([4.0, 0.0], (scores.shape[1], 1))]
    )
    ours, sure = (log_loss(new_y, one.predict_proba(new_X)) for one in (model, blind))
    shares = np.unique(y, return_counts=True)[1] / y.size
    assert ours < min(sure, 1.05 * log_loss(new_y, np.tile(shares, (new_y.size, 1))))


def test_copies_of_a_row_are_in_one_fold():
    X, y = classes_of(90)
    rows = np.random.default_rng(0).integers(0, 90, 400)
    model = WeightedEnsembleClassifier([("machine", SVC())])
    folds = folds_of(model, checked_classes(model, X[rows], y[rows], None))
    assert all(len(set(folds[rows == row])) == 1 for row in rows)
    assert all(set(folds[y[rows] == name]) == set(range(5)) for name in NAMES)
    once = folds_of(model, checked_classes(model, X[np.unique(rows)], y[np.unique(rows)], None))
    np.testing.assert_array_equal(once[np.searchsorted(np.unique(rows), rows)], folds)


def test_a_weight_is_a_repeated_row_of_a_calibrated_member():
    X, y = classes_of(100)
    weights = np.random.default_rng(1).integers(0, 4, y.size)
    rows = np.repeat(np.arange(y.size), weights)
    ensemble = WeightedEnsembleClassifier([("machine", SVC(tol=1e-8)), ("tree", tree())])
    weighted = ensemble.fit(X, y, weights).predict_proba(X)
    np.testing.assert_allclose(clone(ensemble).fit(X[rows], y[rows]).predict_proba(X), weighted, atol=1e-6)
    assert verify(ensemble, X, y, weights).holds
    assert not verify(ensemble, X, y).holds


def test_a_class_of_one_row_is_calibrated_by_training_scores():
    X, y = classes_of(40, 2)
    y[:] = "ant"
    y[3] = "bee"
    model = WeightedEnsembleClassifier([("machine", SVC())]).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert verify(model, X, y).holds


# ---- decisions ----------------------------------------------------------------------------------------------------


def test_decision_weights_move_predictions_and_not_probabilities():
    X, y = classes_of()
    plain = WeightedEnsembleClassifier([("tree", tree(max_depth=1))]).fit(X, y)
    moved = WeightedEnsembleClassifier([("tree", tree(max_depth=1))], decision_weights=[1.0, 5.0, 1.0]).fit(X, y)
    np.testing.assert_array_equal(moved.predict_proba(X), plain.predict_proba(X))
    shares = plain.predict_proba(X)
    np.testing.assert_array_equal(plain.predict(X), NAMES[shares.argmax(axis=1)])
    np.testing.assert_array_equal(moved.predict(X), NAMES[(shares * [1.0, 5.0, 1.0]).argmax(axis=1)])
    assert (moved.predict(X) == "bee").sum() > (plain.predict(X) == "bee").sum()


# ---- what is proved -----------------------------------------------------------------------------------------------


def test_the_certificate_has_the_claims_of_all_members():
    X, y = classes_of()
    model = WeightedEnsembleClassifier([("tree", tree()), ("machine", make_pipeline(TableEncoder(), SVC()))]).fit(X, y)
    tree_claims, machine_claims = (list(last.certificate_) for last in (model.estimators_[0], model.estimators_[1][-1]))
    expected = [f"tree: {c.name}" for c in tree_claims] + [f"machine: {c.name}" for c in machine_claims]
    assert [claim.name for claim in model.certificate_] == expected
    assert model.certificate_.holds


def test_a_member_of_other_labels_is_found_out():
    X, y = classes_of()
    right, wrong = tree().fit(X, y), tree().fit(X, np.roll(NAMES, 1)[np.searchsorted(NAMES, y)])
    model = WeightedEnsembleClassifier.from_fitted([("a", right), ("b", wrong)], NAMES)
    failed = [claim.name for claim in verify(model, X, y) if claim.holds is False]
    assert "b: values" in failed
    assert all(name.startswith("b: ") or name == "certificate" for name in failed)


def test_members_of_others_claim_nothing():
    X, y = classes_of()
    model = WeightedEnsembleClassifier([("tree", tree()), ("neighbours", KNeighborsClassifier())]).fit(X, y)
    assert model.certificate_.holds is None
    assert verify(model, X, y).holds is None


def test_the_loss_of_a_mixture_keeps_its_bound_where_members_are_sure_and_wrong():
    X, y = classes_of()
    sure = tree(max_depth=None).fit(X[:20], y[:20])
    fitted = [("sure", sure), ("tree", tree(max_depth=1).fit(X, y))]
    claim = verify(WeightedEnsembleClassifier.from_fitted(fitted, NAMES), X, y)["log loss"]
    assert (claim.bound, claim.holds) == (np.inf, True)
    assert np.isfinite(claim.value)


def test_the_squared_error_is_that_of_the_members_less_their_ambiguity():
    X, y = amounts_of()
    members = [("tree", DecisionTreeRegressor(max_depth=2, random_state=0)), ("ridge", KernelRidge(kernel="rbf"))]
    certificate = verify(WeightedEnsembleRegressor(members, weights=[1, 2]).fit(X, y), X, y)
    error = certificate["squared error"]
    assert error.value == pytest.approx(error.bound - certificate["ambiguity"].value)


def test_a_pipeline_that_scales_its_target_is_verified_by_the_regressor_inside():
    X, y = amounts_of()
    model = make_pipeline(TableEncoder(), ScaledTargetRegressor(SVR())).fit(X, y)
    certificate = verify(model, X, y)
    assert certificate.holds
    assert certificate["gap"].value <= certificate["gap"].bound
    names = [claim.name for claim in certificate]
    assert len(names) - len(set(names)) == 0
    assert verify(model, X, 2.0 * y).holds is False


# ---- amounts ------------------------------------------------------------------------------------------------------


def skewed(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.exp(X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=n_rows))


@pytest.mark.parametrize(
    "inside", [SVR(), GradientBoostingRegressor(n_estimators=50), RandomForestRegressor(30, random_state=0)]
)
def test_the_correction_makes_means_of_medians(inside):
    """On rows that were not seen, by R², and in total."""
    gains, totals = [], []
    for seed in range(5):
        X, y = skewed(800, seed)
        model = ScaledTargetRegressor(inside, scale="log").fit(X[:400], y[:400])
        means = model.predict(X[400:])
        medians = means / model.correction_
        assert model.predict(X[:400]).sum() == pytest.approx(y[:400].sum())
        gains.append(((medians - y[400:]) ** 2).sum() - ((means - y[400:]) ** 2).sum())
        totals.append((means.sum() / y[400:].sum(), medians.sum() / y[400:].sum()))
    assert np.median(gains) > 0.0
    means, medians = np.mean(totals, axis=0)
    assert abs(means - 1.0) < abs(medians - 1.0)


@pytest.mark.parametrize("scale", ["standard", "log"])
@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_the_unit_of_the_amounts_does_not_matter(scale, unit):
    X, y = amounts_of()
    before = ScaledTargetRegressor(KernelRidge(kernel="rbf"), scale=scale).fit(X, y).predict(X)
    after = ScaledTargetRegressor(KernelRidge(kernel="rbf"), scale=scale).fit(X, unit * y).predict(X)
    np.testing.assert_allclose(after / unit, before, rtol=1e-9)


def test_weights_are_repeated_amounts_to_the_last_bit():
    X, y = amounts_of()
    weights = np.random.default_rng(2).integers(0, 4, y.size)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(y.size), weights))
    ensemble = ScaledTargetRegressor(DecisionTreeRegressor(max_depth=3, random_state=0), scale="log")
    one, other = clone(ensemble).fit(X, y, weights), clone(ensemble).fit(X[rows], y[rows])
    assert (one.mean_, one.scale_) == (other.mean_, other.scale_)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12)


def test_amounts_that_are_all_the_same():
    for scale in ("standard", "log"):
        model = ScaledTargetRegressor(DecisionTreeRegressor(), scale=scale).fit([[1.0], [2.0]], [5.0, 5.0])
        np.testing.assert_allclose(model.predict([[3.0]]), [5.0])
        assert verify(model, [[1.0], [2.0]], [5.0, 5.0]).holds is not False


def test_amounts_of_any_size_stay_finite():
    X = np.arange(20.0)[:, None]
    y = np.geomspace(1e-150, 1e150, 20)
    model = ScaledTargetRegressor(KernelRidge(), scale="log").fit(X, y)
    assert np.isfinite(model.predict([[-1000.0], [1000.0]])).all()
    assert np.isfinite(model.correction_)


def test_time_limit_and_callbacks_are_those_of_the_regressor_inside():
    X, y = amounts_of(3000)
    model = ScaledTargetRegressor(RandomForestRegressor(10**6, time_limit=0.2, random_state=0)).fit(X, y)
    assert model.regressor_.stop_reason_ == "time_limit"
    model.regressor_.set_params(time_limit=None)
    assert np.isfinite(model.predict(X)).all()


# ---- one sentence -------------------------------------------------------------------------------------------------

X2, Y2 = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
BAD = {
    "weights": (
        lambda: WeightedEnsembleClassifier([("a", tree())], weights=[1, 2]).fit(X2, Y2),
        "WeightedEnsembleClassifier: weights must have one entry for each of 1 members; got 2.",
    ),
    "calibrations": (
        lambda: WeightedEnsembleClassifier([("a", tree())], calibrations=[None, None]).fit(X2, Y2),
        "WeightedEnsembleClassifier: calibrations must have one entry for each of 1 members; got 2.",
    ),
    "decision weights": (
        lambda: WeightedEnsembleClassifier([("a", tree())], decision_weights=[1.0]).fit(X2, Y2),
        "WeightedEnsembleClassifier: decision_weights must have one entry for each of 2 classes; got 1.",
    ),
    "no scores": (
        lambda: WeightedEnsembleClassifier([("a", SVR())]).fit(X2, Y2),
        "WeightedEnsembleClassifier: estimators must have predict_proba or decision_function; got 'a' (SVR), "
        "which has neither.",
    ),
    "no calibration": (
        lambda: WeightedEnsembleClassifier.from_fitted([("a", SVC().fit(X2, Y2))], [0, 1]),
        "WeightedEnsembleClassifier: calibrations_ must hold numbers for members without predict_proba; got None.",
    ),
    "calibration of nothing": (
        lambda: WeightedEnsembleClassifier.from_fitted(
            [("a", tree().fit(X2, Y2))], [0, 1], calibrations=[[[1.0, 0.0]]]
        ),
        "WeightedEnsembleClassifier: calibrations_ must be None for members without decision_function.",
    ),
    "pairs": (
        lambda: WeightedEnsembleClassifier([("a", SVC(decision_function_shape="ovo"))]).fit(X2, [0, 1, 2, 2]),
        "WeightedEnsembleClassifier: estimators must have one score for each class; got 'a', whose "
        "decision_function_shape is 'ovo'.",
    ),
    "other classes": (
        lambda: WeightedEnsembleClassifier.from_fitted([("a", tree().fit(X2, Y2))], [1, 2]),
        "WeightedEnsembleClassifier: estimators_ must be classifiers of the classes [1, 2].",
    ),
    "other features": (
        lambda: WeightedEnsembleRegressor.from_fitted(
            [("a", KernelRidge().fit(X2, Y2)), ("b", KernelRidge().fit([[1.0, 2.0]] * 4, Y2))]
        ),
        "WeightedEnsembleRegressor: estimators_ must have 1 features; got 2.",
    ),
    "a classifier": (
        lambda: WeightedEnsembleRegressor([("a", tree())]).fit(X2, Y2),
        "WeightedEnsembleRegressor: estimators_ must be regressors of one amount; got DecisionTreeClassifier.",
    ),
    "no weights taken": (
        lambda: WeightedEnsembleClassifier([("a", KNeighborsClassifier(1))]).fit(X2, Y2, [1.0] * 4),
        "WeightedEnsembleClassifier: sample_weight must be None for members that do not take it; got weights and 'a'.",
    ),
    "no logarithm": (
        lambda: ScaledTargetRegressor(scale="log").fit(X2, [1.0, 0.0, 2.0, 3.0]),
        "ScaledTargetRegressor: y must hold numbers above 0 for scale='log'; got 0.",
    ),
    "several amounts": (
        lambda: ScaledTargetRegressor().fit(X2, np.ones((4, 2))),
        "ScaledTargetRegressor: y must be one column of numbers; got 2 columns.",
    ),
}


@pytest.mark.parametrize(("call", "sentence"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_said_in_one_sentence(call, sentence):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == sentence
    assert_one_sentence(sentence)


def test_frames_of_pandas_go_to_the_members_as_they_are():
    X, y = classes_of(60)
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    model = WeightedEnsembleClassifier([("tree", tree())]).fit(frame, y, np.r_[np.zeros(10), np.ones(50)])
    assert model.estimators_[0].is_categorical_.tolist() == [False, True]
    np.testing.assert_array_equal(model.predict_proba(frame), tree().fit(frame[10:], y[10:]).predict_proba(frame))
