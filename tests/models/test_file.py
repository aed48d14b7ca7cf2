"""A model goes into a file and comes out the same; nothing half-written stays; what cannot be kept is said."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron as ScikitPerceptron
from sklearn.pipeline import Pipeline, make_pipeline

import eigenwood
from eigenwood import KernelPerceptron, Perceptron, PolynomialExpansion, TableEncoder
from eigenwood.errors import EigenwoodError, ModelFileError
from eigenwood.estimators import registry
from eigenwood.models import file as model_file
from eigenwood.proofs.claim import Certificate, at_most, measured
from tests.models.crafting import assert_one_sentence, without_name
from tests.models.samples import (
    MAKERS,
    WITHOUT_TARGET,
    assert_same_model,
    assert_same_outputs,
    parts_of,
    rows,
    sample,
    three,
    two,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("name", MAKERS)
def test_what_comes_out_is_what_went_in(name, path):
    model, X, _ = sample(name)
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert_same_model(loaded, model)
    assert_same_outputs(loaded, model, X)


@pytest.mark.parametrize("name", [name for name in MAKERS if not name.startswith(WITHOUT_TARGET)])
def test_a_loaded_model_can_be_verified(name, path):
    model, X, y = sample(name)
    assert y is not None
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert eigenwood.verify(loaded, X, y) == eigenwood.verify(model, X, y)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "perceptron-limit"])
def test_a_loaded_model_can_be_cloned_and_fitted_again(name, path):
    model, X, y = sample(name)
    again = clone(eigenwood.load(eigenwood.save(model, path))).fit(X, y)
    assert_same_model(again, model)


def test_every_registered_estimator_is_among_the_samples():
    kept = {type(part) for name in MAKERS for part in parts_of(sample(name).model)}
    assert kept == {entry.estimator for entry in registry.ENTRIES}


def test_learning_goes_on_after_loading(path):
    X = rows()
    whole = Perceptron().partial_fit(X[:12], two(X)[:12], classes=[0, 1])
    loaded = eigenwood.load(eigenwood.save(whole, path))
    whole.partial_fit(X[12:], two(X)[12:])
    loaded.partial_fit(X[12:], two(X)[12:])
    np.testing.assert_array_equal(loaded.coef_, whole.coef_)


def test_a_loaded_array_can_be_written_to(path):
    loaded = eigenwood.load(eigenwood.save(sample("perceptron").model, path))
    assert loaded.coef_.flags.writeable


def test_the_same_model_makes_the_same_bytes(tmp_path):
    files = [eigenwood.save(sample("pipeline").model, tmp_path / name) for name in ("a", "b")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_path_may_be_a_string_and_is_returned(tmp_path):
    saved = eigenwood.save(sample("perceptron").model, str(tmp_path / "model"))
    assert saved == tmp_path / "model"
    assert isinstance(eigenwood.load(str(saved)), Perceptron)


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", ">i8", ">f8"]
)
def test_labels_of_any_number_type(dtype, path):
    X = rows()
    model = Perceptron().fit(X, two(X).astype(dtype))
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert loaded.classes_.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_text_labels_are_as_wide_as_the_longest(path):
    X = rows()
    model = Perceptron().fit(X, np.array(["a", "bcd"])[two(X)].astype("<U50"))
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert loaded.classes_.dtype == np.dtype("<U3")
    np.testing.assert_array_equal(loaded.classes_, model.classes_)


def test_keys_of_class_weight_keep_their_type(path):
    X = rows()
    for weights in ({0: 1, 1: 2.5}, {np.int64(0): np.float32(2.0), np.int64(1): 1}):
        model = Perceptron(class_weight=weights).fit(X, two(X))
        assert eigenwood.load(eigenwood.save(model, path)).class_weight == weights
    words = np.array(["no", "yes"])[two(X)]
    model = Perceptron(class_weight={"no": 1.0, "yes": 3}).fit(X, words)
    assert eigenwood.load(eigenwood.save(model, path)).class_weight == {"no": 1.0, "yes": 3}


def test_a_claim_without_a_finite_number_is_kept(path):
    model = Perceptron().fit(rows(), two(rows()))
    model.certificate_ = Certificate((measured("a", "b", np.inf), at_most("c", "d", np.nan, -np.inf)))
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert str(loaded.certificate_) == str(model.certificate_)
    assert not loaded.certificate_.holds


def test_a_pipeline_in_a_pipeline(path):
    model, X, _ = sample("pipeline-nested")
    loaded = eigenwood.load(eigenwood.save(model, path))
    assert isinstance(loaded.steps[0][1], Pipeline)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


# ---------------------------------------------------------------------------------- whole or not at all


class Broken(BaseException):
    """What ends a write from outside: no Exception, like a KeyboardInterrupt."""


@pytest.mark.parametrize("step", ["safetensors_bytes", "os.fsync", "os.replace"])
@pytest.mark.parametrize("problem", [Broken, OSError("disk full"), MemoryError])
def test_a_broken_write_leaves_nothing(step, problem, path, monkeypatch):
    def fail(*args, **kwargs):
        raise problem

    monkeypatch.setattr(f"eigenwood.models.file.{step}", fail)
    with pytest.raises((Broken, ModelFileError, MemoryError)):
        eigenwood.save(sample("perceptron").model, path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("step", ["safetensors_bytes", "os.fsync", "os.replace"])
def test_a_broken_write_leaves_the_good_file(step, path, monkeypatch):
    eigenwood.save(sample("perceptron").model, path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise Broken

    monkeypatch.setattr(f"eigenwood.models.file.{step}", fail)
    with pytest.raises(Broken):
        eigenwood.save(sample("kernel-perceptron").model, path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_half_written_file_is_taken_away(path, monkeypatch):
    """The exception comes when some bytes are on the disk already."""

    def half(handle):
        temporary = next(path.parent.iterdir())
        assert temporary.stat().st_size > 0
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eigenwood.models.file.os.fsync", half)
    with pytest.raises(ModelFileError) as caught:
        eigenwood.save(sample("perceptron").model, path)
    sentence = without_name(str(caught.value), path)
    assert sentence == "must be a file that can be written; got OSError: [Errno 28] No space left on device."
    assert list(path.parent.iterdir()) == []


def test_an_old_file_is_replaced(path):
    eigenwood.save(sample("perceptron").model, path)
    eigenwood.save(sample("table-encoder").model, path)
    assert isinstance(eigenwood.load(path), TableEncoder)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="rights of files are a matter of POSIX")
def test_others_may_read_the_file_as_the_user_has_set_it(path):
    plain = path.with_name("plain")
    plain.write_bytes(b"")
    eigenwood.save(sample("perceptron").model, path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


# ------------------------------------------------------------------------------------- what cannot be kept


def unsavable(model, path):
    with pytest.raises(EigenwoodError) as caught:
        eigenwood.save(model, path)
    assert list(path.parent.iterdir()) == []
    assert_one_sentence(str(caught.value))
    return str(caught.value)


def linear(X, Z):
    return X @ Z.T


def test_a_function_as_kernel(path):
    X = rows()
    model = KernelPerceptron(kernel=linear, max_iter=2).fit(X, two(X))
    sentence = re.sub("0x[0-9a-f]+", "0x", unsavable(model, path))
    assert sentence == (
        "KernelPerceptron: kernel must be a number, a string or None to be saved; got <function linear at 0x> "
        "(set_params(kernel=…) changes it on the fitted model)."
    )
    model.set_params(kernel="linear")
    np.testing.assert_allclose(
        eigenwood.load(eigenwood.save(model, path)).decision_function(X), model.decision_function(X)
    )


def test_a_random_state(path):
    model = Perceptron(random_state=np.random.RandomState(0)).fit(rows(), two(rows()))
    sentence = re.sub("0x[0-9A-Fa-f]+", "0x", unsavable(model, path))
    assert sentence == (
        "Perceptron: random_state must be a number, a string or None to be saved; got RandomState(MT19937) at 0x "
        "(set_params(random_state=…) changes it on the fitted model)."
    )


class Pretender(Perceptron):
    """A subclass is not the class: its file would come back as something else."""


class PretendingPipeline(Pipeline):
    """The same for a pipeline."""


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (ScikitPerceptron().fit(rows(), two(rows())), "Perceptron"),
        (Pretender().fit(rows(), two(rows())), "Pretender"),
        (make_pipeline(TableEncoder(), ScikitPerceptron()).fit(rows(), two(rows())), "Perceptron"),
        (PretendingPipeline([("learn", Perceptron())]).fit(rows(), two(rows())), "PretendingPipeline"),
        (Pipeline([("nothing", "passthrough"), ("learn", Perceptron())]).fit(rows(), two(rows())), "str"),
        (None, "NoneType"),
        (Perceptron, "ABCMeta"),
    ],
)
def test_an_estimator_that_is_not_ours(model, kind, path):
    assert unsavable(model, path) == f"eigenwood: the model must be one of eigenwood's estimators; got {kind}."


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_a_model_that_is_not_fitted(entry, path):
    who = entry.estimator.__name__
    assert unsavable(entry.estimator(), path) == f"{who}: the model must be fitted to be saved; got one that is not."


def test_a_pipeline_that_is_not_fitted(path):
    sentence = unsavable(make_pipeline(TableEncoder(), Perceptron()), path)
    assert sentence == "TableEncoder: the model must be fitted to be saved; got one that is not."


def test_weights_that_are_not_finite(path):
    model = Perceptron().fit(rows(), two(rows()))
    model.coef_ = model.coef_ * np.inf
    assert unsavable(model, path) == "Perceptron: coef_ must be finite; got NaN or infinity."


@pytest.mark.parametrize("dtype", ["longdouble", "datetime64[s]"])
def test_labels_that_a_file_cannot_hold(dtype, path):
    model = Perceptron().fit(rows(), two(rows()).astype(dtype))
    assert unsavable(model, path) == "Perceptron: classes_ must be an array of numbers, truth values or strings."


def test_a_parameter_changed_to_nonsense_after_fit(path):
    model = PolynomialExpansion().fit(rows()).set_params(degree=-1)
    assert (
        unsavable(model, path) == "PolynomialExpansion: degree must be an integer at least 1 and at most 100; got -1."
    )


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "absent" / "model.safetensors"
    with pytest.raises(ModelFileError) as caught:
        eigenwood.save(sample("perceptron").model, path)
    sentence = without_name(str(caught.value), path)
    assert sentence == f"the folder must exist; got no folder {str(path.parent)!r}."


def test_a_folder_where_the_file_should_be(tmp_path):
    with pytest.raises(ModelFileError) as caught:
        eigenwood.save(sample("perceptron").model, tmp_path)
    without_name(str(caught.value), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert [other.name for other in tmp_path.parent.iterdir() if other.name.startswith(f".{tmp_path.name}.")] == []


def test_pipelines_too_deep_to_load_are_not_saved(path):
    model = Perceptron()
    for _ in range(model_file.MOST_LEVELS + 1):
        model = make_pipeline(model)
    model.fit(rows(), three(rows()))
    assert unsavable(model, path) == "pipelines must stand at most 8 deep in each other; got more."


def test_nothing_in_this_folder_runs_what_a_file_says():
    folder = Path(model_file.__file__).parent
    text = "\n".join(source.read_text() for source in folder.glob("*.py"))
    for word in ("pickle", "eval(", "exec(", "__import__", "import_module", "getattr(eigenwood", "marshal", "joblib"):
        assert word not in text, word
