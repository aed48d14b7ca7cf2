"""Files that nobody wrote with ``eigenwood.save``: each is refused with one sentence that names the file."""

from __future__ import annotations

import json
import shutil
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

import eigenwood
from tests.models.crafting import changed, crafted, opened, raw, refused, written
from tests.models.samples import MAKERS, assert_same_model, parts_of, sample


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Every sample, saved."""
    folder = tmp_path_factory.mktemp("good")
    for name in MAKERS:
        eigenwood.save(sample(name).model, folder / name)
    return folder


@pytest.fixture
def copy(good, tmp_path):
    """Return a function that gives a copy of a good file, to be spoiled."""
    return lambda name: shutil.copy(good / name, tmp_path / "model.safetensors")


# -------------------------------------------------------------------------------------- not a model file


def test_an_absent_file(tmp_path):
    assert refused(tmp_path / "absent") == "a model file must exist there; got nothing."


def test_a_folder(tmp_path):
    assert refused(tmp_path) == "a model file must exist there; got a folder."


@pytest.mark.parametrize("name", ["perceptron", "kernel-perceptron-voted", "polynomial-expansion"])
def test_a_file_cut_off_anywhere(name, copy):
    path = copy(name)
    whole = path.read_bytes()
    lengths = {*range(40), *range(40, len(whole), 37), *range(len(whole) - 20, len(whole))}
    for length in lengths:
        path.write_bytes(whole[:length])
        assert refused(path).startswith("must be a whole safetensors file; got ")


@pytest.mark.parametrize("extra", [b"\0", b"more", bytes(4096)])
def test_a_file_with_something_behind_it(extra, copy):
    path = copy("perceptron")
    path.write_bytes(path.read_bytes() + extra)
    assert refused(path).startswith("must be a whole safetensors file; got ")


NOT_MODELS = {
    "empty": b"",
    "text": b"Dear reader, this is a letter.",
    "zeros": bytes(100),
    "ones": b"\xff" * 100,
    "zip": b"PK\x03\x04" + bytes(200),
    "pickle": b"\x80\x04\x95\x1e\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "header is 2^63 long": struct.pack("<Q", 2**63) + b"{}",
    "header is 2^64 - 1 long": struct.pack("<Q", 2**64 - 1) + b"{}",
    "header is longer than the file": struct.pack("<Q", 1000) + b"{}",
    "header is a list": raw(b"[]"),
    "header is a number": raw(b"1"),
    "header is not UTF-8": raw(b'{"\xff\xfe": 1}'),
    "header is deep": raw(b"[" * 100_000),
    "metadata is a list": raw(b'{"__metadata__": ["eigenwood"]}'),
    "metadata holds a number": raw(b'{"__metadata__": {"eigenwood": 1}}'),
    "shape of 2^40": raw(b'{"0/coef_":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8]}}', bytes(8)),
    "shape of 2^40 x 2^40": raw(
        b'{"0/coef_":{"dtype":"F64","shape":[1099511627776,1099511627776],"data_offsets":[0,8]}}', bytes(8)
    ),
    "offsets backwards": raw(b'{"0/coef_":{"dtype":"F64","shape":[1],"data_offsets":[8,0]}}', bytes(8)),
    "offsets outside": raw(b'{"0/coef_":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}', bytes(8)),
    "negative shape": raw(b'{"0/coef_":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}', bytes(8)),
    "unknown dtype": raw(b'{"0/coef_":{"dtype":"PY","shape":[1],"data_offsets":[0,8]}}', bytes(8)),
}


@pytest.mark.parametrize("content", NOT_MODELS.values(), ids=NOT_MODELS)
def test_something_else(content, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    assert refused(path).startswith("must be a whole safetensors file; got ")


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(seed, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(np.random.default_rng(seed).bytes(50 * (seed + 1)))
    refused(path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_safetensors_file_of_another_kind(metadata, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"weight": np.ones(3)}, path, metadata=metadata)
    assert refused(path) == "must be written by eigenwood.save; got a safetensors file of another kind."


@pytest.mark.parametrize("size", ["[1099511627776, 0]", "[0, 1099511627776]", "[4611686018427387904, 0]"])
def test_an_empty_tensor_of_absurd_shape(size, copy):
    """It takes no room in the file, and must take none here."""
    path = copy("perceptron")
    content, _ = opened(path)
    header = {"__metadata__": {"eigenwood": json.dumps(content)}, "0/coef_": None}
    tensor = f'{{"dtype":"F64","shape":{size},"data_offsets":[0,0]}}'
    path.write_bytes(raw(json.dumps(header).replace("null}", tensor + "}").encode()))
    refused(path)


# -------------------------------------------------------------------------------------- a header of another kind


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must follow format 1; got JSONDecodeError: Expecting value: line 1 column 1 (char 0)."),
        ("[]", "its header must hold exactly digest, format, model, version; got list."),
        ("null", "its header must hold exactly digest, format, model, version; got NoneType."),
        ("{}", "its header must hold exactly digest, format, model, version; got ."),
        ('{"format": 1, "format": 1}', "its keys must be different; got one twice."),
        ('{"format": NaN}', "its numbers must be finite; got NaN."),
        ('{"format": -Infinity}', "its numbers must be finite; got -Infinity."),
        ('{"format": 1e999}', "its numbers must be finite; got 1e999."),
    ],
)
def test_a_header_that_says_something_else(text, sentence, copy):
    path = copy("perceptron")
    assert refused(written(path, text, opened(path)[1])) == sentence


@pytest.mark.parametrize("text", ["[" * 100_000, '{"model":' * 100_000, "[" * 900 + "]" * 900, "9" * 10_000])
def test_a_header_too_deep_or_too_long_to_read(text, copy):
    path = copy("perceptron")
    refused(written(path, text, {}))


@pytest.mark.parametrize("key", ["format", "version", "model", "digest"])
def test_a_header_with_a_part_missing(key, copy):
    path = copy("perceptron")
    content, tensors = opened(path)
    del content[key]
    assert refused(crafted(path, content, tensors)).startswith("its header must hold exactly ")


def test_a_header_with_a_part_too_much(copy):
    sentence = refused(changed(copy("perceptron"), lambda content, tensors: content.update(run="rm -r")))
    assert sentence.startswith("its header must hold exactly digest, format, model, version; got ")


@pytest.mark.parametrize("number", [2, 10**30, 0, -1, 1.0, "1", True, None, [1]])
def test_a_format_of_the_future(number, copy):
    def future(content, tensors):
        content["format"], content["version"] = number, "9.0"

    sentence = refused(changed(copy("perceptron"), future))
    got = number if isinstance(number, str) else repr(number)
    assert sentence == (
        f"its format must be at most 1 for this version of eigenwood; got {got}, written by eigenwood 9.0."
    )


def test_control_characters_are_not_repeated(copy):
    def shout(content, tensors):
        content["format"], content["version"] = 2, "\x1b[31mred\n\x07" + "long" * 1000

    refused(changed(copy("perceptron"), shout))


def test_a_wrong_digest(copy):
    path = copy("perceptron")
    content, tensors = opened(path)
    for digest in ("0" * 64, "", None, 7, content["digest"].upper()):
        text = json.dumps({**content, "digest": digest})
        sentence = "the file must be as it was written; got other content (its digest differs)."
        assert refused(written(path, text, tensors)) == sentence


# -------------------------------------------------------------------------------------- a model of another kind


def model_of(content):
    return content["model"]


@pytest.mark.parametrize(
    "name", ["os.system", "sklearn.svm.SVC", "NuSVC", "eigenwood.Perceptron", "perceptron", "", "__class__"]
)
def test_a_class_that_is_not_registered(name, copy):
    sentence = refused(changed(copy("perceptron"), lambda content, tensors: model_of(content).update({"class": name})))
    assert sentence == f"its class must be one of eigenwood's estimators; got {name}."


@pytest.mark.parametrize("name", [None, 1, ["Perceptron"], {"a": 1}, "x" * 100_000])
def test_a_class_that_is_no_name(name, copy):
    refused(changed(copy("perceptron"), lambda content, tensors: model_of(content).update({"class": name})))


@pytest.mark.parametrize("node", [None, [], {}, 1, "Perceptron", {"class": "Perceptron"}, {"class": "Pipeline"}])
def test_a_model_that_is_none(node, copy):
    refused(changed(copy("perceptron"), lambda content, tensors: content.update(model=node)))


@pytest.mark.parametrize("key", ["params", "fitted"])
@pytest.mark.parametrize("value", [None, [], 1, "text", {}])
def test_a_part_of_a_model_of_another_type(key, value, copy):
    refused(changed(copy("perceptron"), lambda content, tensors: model_of(content).update({key: value})))


@pytest.mark.parametrize("key", ["class", "params", "fitted"])
def test_a_part_of_a_model_missing(key, copy):
    refused(changed(copy("perceptron"), lambda content, tensors: model_of(content).pop(key)))


def test_a_part_of_a_model_too_much(copy):
    sentence = refused(changed(copy("perceptron"), lambda content, tensors: model_of(content).update(code="1 + 1")))
    assert sentence == "a model must hold exactly class, fitted, params; got class, params, fitted, code."


# -------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("perceptron", "max_iter", 0),
        ("perceptron", "max_iter", 1.5),
        ("perceptron", "max_iter", 1000.0),
        ("perceptron", "max_iter", True),
        ("perceptron", "max_iter", "1000"),
        ("perceptron", "max_iter", None),
        ("perceptron", "max_iter", [1]),
        ("perceptron", "max_iter", {"pairs": []}),
        ("perceptron", "max_iter", {"tensor": "0/coef_"}),
        ("perceptron", "eta0", 10**400),
        ("perceptron", "penalty", "l3" * 10_000),
        ("perceptron", "shuffle", 1),
        ("perceptron", "random_state", -1),
        ("perceptron", "random_state", 2**32),
        ("perceptron", "class_weight", {"pairs": [[[], 1]]}),
        ("perceptron", "class_weight", {"pairs": [[1]]}),
        ("perceptron", "class_weight", {"pairs": 3}),
        ("perceptron", "class_weight", {"other": []}),
        ("perceptron", "class_weight", "fair"),
        ("perceptron", "n_jobs", 0.5),
        ("perceptron", "time_limit", 0),
        ("kernel-perceptron", "kernel", "precomputed2"),
        ("kernel-perceptron", "kernel", {"pairs": []}),
        ("kernel-perceptron", "gamma", -1.0),
        ("kernel-perceptron", "degree", 0),
        ("kernel-perceptron-averaged", "degree", 10**9),
        ("kernel-perceptron-averaged", "degree", 10**30),
        ("kernel-perceptron-averaged", "degree", 10**400),
        ("polynomial-expansion", "degree", 10**9),
        ("table-encoder", "max_categories", 0),
        ("table-encoder", "scale", "yes"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_parameter_that_breaks_its_rule(name, key, value, copy):
    refused(changed(copy(name), lambda content, tensors: model_of(content)["params"].update({key: value})))


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_parameter_that_is_not_finite(word, copy):
    path = copy("perceptron")
    content, tensors = opened(path)
    content["model"]["params"]["alpha"] = "HERE"
    sentence = refused(written(path, json.dumps(content).replace('"HERE"', word), tensors))
    assert sentence == f"its numbers must be finite; got {word}."


def test_a_parameter_twice(copy):
    path = copy("perceptron")
    content, tensors = opened(path)
    text = json.dumps(content).replace('"tol": ', '"tol": 0.5, "tol": ')
    assert refused(written(path, text, tensors)) == "its keys must be different; got one twice."


def test_a_parameter_missing_or_too_much(copy):
    sentence = refused(
        changed(copy("table-encoder"), lambda content, tensors: model_of(content)["params"].pop("scale"))
    )
    assert sentence == "the params of TableEncoder must hold exactly max_categories, scale; got max_categories."
    sentence = refused(changed(copy("table-encoder"), lambda content, tensors: model_of(content)["params"].update(x=1)))
    assert (
        sentence == "the params of TableEncoder must hold exactly max_categories, scale; got scale, max_categories, x."
    )


# -------------------------------------------------------------------------------------- arrays


def put(key, array):
    """Return a change that puts ``array`` in the place of a tensor."""

    def change(content, tensors):
        assert key in tensors
        tensors[key] = array(tensors[key]) if callable(array) else array

    return change


@pytest.mark.parametrize("dtype", ["float16", "int64", "uint64", "int32", "uint8", "bool"])
def test_weights_of_another_dtype(dtype, copy):
    sentence = refused(changed(copy("perceptron"), put("0/coef_", lambda array: array.astype(dtype))))
    assert sentence == (
        f"the model in it is not valid, since Perceptron: coef_ must be of dtype float64 or float32; got {dtype}."
    )


def test_weights_that_numpy_has_no_type_for(copy):
    path = copy("perceptron")
    content, _ = opened(path)
    header = {"__metadata__": {"eigenwood": json.dumps(content)}}
    header["0/coef_"] = {"dtype": "BF16", "shape": [1, 3], "data_offsets": [0, 6]}
    path.write_bytes(raw(json.dumps(header).encode(), bytes(6)))
    refused(path)


@pytest.mark.parametrize(
    ("name", "key", "array"),
    [
        ("perceptron", "0/coef_", lambda a: a[:, :2]),
        ("perceptron", "0/coef_", lambda a: a[0]),
        ("perceptron", "0/coef_", lambda a: a[None]),
        ("perceptron", "0/coef_", np.zeros((0, 3))),
        ("perceptron", "0/coef_", np.zeros((1, 0))),
        ("perceptron", "0/coef_", lambda a: a * np.nan),
        ("perceptron", "0/coef_", lambda a: a * np.inf),
        ("perceptron", "0/intercept_", np.zeros(2)),
        ("perceptron", "0/intercept_", np.array(1.0)),
        ("perceptron", "0/converged_", np.ones(2, dtype=bool)),
        ("perceptron", "0/converged_", np.ones(1)),
        ("perceptron", "0/classes_", np.array([1, 1])),
        ("perceptron", "0/classes_", np.array([1, 0])),
        ("perceptron", "0/classes_", np.array([1])),
        ("perceptron", "0/classes_", np.zeros(0, dtype=int)),
        ("perceptron", "0/classes_", np.array([0, 1, 2])),
        ("perceptron", "0/classes_", np.array([0.0, np.nan])),
        ("perceptron", "0/classes_", np.array([0.0, np.inf])),
        ("perceptron", "0/classes_", np.array([[0, 1]])),
        ("perceptron", "0/classes_", np.array([0, 1], dtype=np.complex64)),
        ("kernel-perceptron", "0/dual_coef_", lambda a: a[:, :-1]),
        ("kernel-perceptron", "0/support_", lambda a: -a),
        ("kernel-perceptron", "0/support_", lambda a: a.astype(float)),
        ("kernel-perceptron-voted", "0/history_support_", lambda a: a + 1_000_000),
        ("kernel-perceptron-voted", "0/history_support_", lambda a: np.where(np.arange(a.size) == 0, a.max() + 1, a)),
        ("kernel-perceptron-voted", "0/history_support_", lambda a: a - 1),
        ("kernel-perceptron-voted", "0/history_support_", lambda a: a[:-1]),
        ("kernel-perceptron-voted", "0/history_problem_", lambda a: a + 1),
        ("kernel-perceptron-voted", "0/history_problem_", lambda a: a - 2**62),
        ("kernel-perceptron-voted", "0/history_changes_", lambda a: a[:, :2].copy()),
        ("table-encoder", "0/is_number_", np.ones(2, dtype=bool)),
        ("table-encoder", "0/mean_", np.zeros(1)),
        ("kernel-perceptron-sparse", "0/support_vectors_/indices", lambda a: a + 1_000_000),
        ("kernel-perceptron-sparse", "0/support_vectors_/indices", lambda a: a - 1),
        ("kernel-perceptron-sparse", "0/support_vectors_/indices", lambda a: a[:-1]),
        ("kernel-perceptron-sparse", "0/support_vectors_/indices", lambda a: a.astype(float)),
        ("kernel-perceptron-sparse", "0/support_vectors_/indptr", lambda a: a[::-1].copy()),
        ("kernel-perceptron-sparse", "0/support_vectors_/indptr", lambda a: a + 1),
        ("kernel-perceptron-sparse", "0/support_vectors_/indptr", lambda a: a[:-1]),
        ("kernel-perceptron-sparse", "0/support_vectors_/data", lambda a: a[:-1]),
        ("kernel-perceptron-sparse", "0/support_vectors_/data", lambda a: a * np.nan),
        ("kernel-perceptron-sparse", "0/support_vectors_/data", lambda a: a.astype(int)),
    ],
)
def test_an_array_that_breaks_its_rule(name, key, array, copy):
    refused(changed(copy(name), put(key, array)))


@pytest.mark.parametrize(
    ("name", "key", "array"),
    [
        # the compiled kernels would read behind the end of these arrays
        ("kernel-perceptron-laplacian", "0/support_vectors_", lambda a: a[:, :1].copy()),
        ("kernel-perceptron-laplacian", "0/support_vectors_", lambda a: a[:1].copy()),
        ("kernel-perceptron-voted", "0/support_vectors_", lambda a: a[:1].copy()),
        ("kernel-perceptron-voted", "0/support_vectors_", np.zeros((0, 0))),
        ("kernel-perceptron", "0/support_vectors_", np.zeros((0, 3))),
        # and NumPy would raise in predict, or stretch one number over all columns
        ("kernel-perceptron-precomputed", "0/support_", lambda a: a + 24),
        ("kernel-perceptron-precomputed", "0/support_vectors_", np.zeros((2, 2))),
        ("table-encoder", "0/is_number_", np.array([True, True, True])),
        ("table-encoder", "0/is_number_", np.array([False, False, False])),
        ("table-encoder", "0/scale_", np.zeros(2)),
        ("table-columns", "0/first_dates_", np.zeros(1)),
        ("table-columns", "0/has_times_", np.array([True])),
        ("table-columns", "0/term_weights_", np.ones(3)),
        ("table-columns", "0/term_weights_", np.zeros(4)),
    ],
)
def test_arrays_that_do_not_go_together(name, key, array, copy):
    refused(changed(copy(name), put(key, array)))


@pytest.mark.parametrize("shape", [[10**12, 3], [-1, 3], [3], [], None, "ab", [1.5, 3], [True, True], [3, 3, 3]])
def test_a_sparse_shape_that_is_none(shape, copy):
    def change(content, tensors):
        model_of(content)["fitted"]["support_vectors_"]["shape"] = shape

    refused(changed(copy("kernel-perceptron-sparse"), change))


@pytest.mark.parametrize("n_features", [2, 10**12, -3, 3.0, True, None, "3"])
def test_a_number_of_features_that_fits_nothing(n_features, copy):
    for name in ("perceptron", "kernel-perceptron", "table-encoder-numbers", "polynomial-expansion"):
        refused(
            changed(copy(name), lambda content, tensors: model_of(content)["fitted"].update(n_features_in_=n_features))
        )


def test_more_terms_than_the_parameters_make(copy):
    refused(changed(copy("polynomial-expansion"), lambda content, t: model_of(content)["params"].update(degree=100)))
    refused(
        changed(
            copy("polynomial-expansion"), lambda content, t: model_of(content)["fitted"].update(n_output_features_=4)
        )
    )


def test_a_vote_without_its_history(copy):
    refused(
        changed(copy("kernel-perceptron"), lambda content, tensors: model_of(content)["params"].update(vote="voted"))
    )


@pytest.mark.parametrize("name", ["perceptron", "kernel-perceptron-voted", "pipeline"])
def test_a_fitted_attribute_missing(name, copy, good):
    part = parts_of(sample(name).model)[-1]
    for attribute in [key for key in part.FITTED if hasattr(part, key)]:

        def change(content, tensors, attribute=attribute):
            node = model_of(content)["steps"][-1][1] if name == "pipeline" else model_of(content)
            told = node["fitted"].pop(attribute)
            if isinstance(told, dict) and "tensor" in told:
                del tensors[told["tensor"]]

        sentence = refused(changed(copy(name), change))
        assert sentence.endswith("must be there; got nothing.")


@pytest.mark.parametrize("name", ["predict", "__class__", "__dict__", "coef", "history_support_", "_skl_callbacks"])
def test_a_fitted_attribute_too_much(name, copy):
    sentence = refused(changed(copy("perceptron"), lambda content, t: model_of(content)["fitted"].update({name: 1})))
    assert sentence == f"the model in it is not valid, since Perceptron: {name} must not be there."


@pytest.mark.parametrize(
    "value", [1, None, [], {}, {"tensor": "absent"}, {"tensor": None}, {"labels": 1}, {"csr": {}}, {"certificate": 1}]
)
def test_a_fitted_attribute_of_another_kind(value, copy):
    refused(changed(copy("perceptron"), lambda content, tensors: model_of(content)["fitted"].update(coef_=value)))
    refused(
        changed(copy("perceptron"), lambda content, tensors: model_of(content)["fitted"].update(certificate_=value))
    )


def test_two_attributes_of_one_tensor(copy):
    def change(content, tensors):
        model_of(content)["fitted"]["n_mistakes_"] = {"tensor": "0/intercept_"}
        del tensors["0/n_mistakes_"]

    refused(changed(copy("perceptron"), change))


def test_a_tensor_of_nobody(copy):
    sentence = refused(changed(copy("perceptron"), lambda content, tensors: tensors.update(more=np.ones(3))))
    assert sentence == "its tensors must all belong to the model; got more."


@pytest.mark.parametrize(
    "labels", [["a", "a", "b"], ["b", "a", "c"], ["a", 1, "c"], ["a", None, "c"], ["a"], [], "abc", {}]
)
def test_labels_that_are_none(labels, copy):
    change = {"labels": labels, "kind": "U"}
    path = copy("perceptron-strings")
    if labels == "abc":  # three letters are three labels, as good as a list of them
        eigenwood.load(changed(path, lambda content, tensors: model_of(content)["fitted"].update(classes_=change)))
    else:
        refused(changed(path, lambda content, tensors: model_of(content)["fitted"].update(classes_=change)))


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "b"], ["a", "b", 1]])
def test_feature_names_that_are_none(names, copy):
    change = {"labels": names, "kind": "O"}
    refused(
        changed(
            copy("perceptron-names"), lambda content, t: model_of(content)["fitted"].update(feature_names_in_=change)
        )
    )


@pytest.mark.parametrize("categories", [None, [], [[1]], ["red"], [["a"], ["b"]], [["b", "a"]], [["a", "a"]], {"a": 1}])
def test_categories_that_are_none(categories, copy):
    refused(
        changed(copy("table-encoder"), lambda content, t: model_of(content)["fitted"].update(categories_=categories))
    )


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("n_iter_", -1), ("n_iter_", 1.5), ("t_", "many"), ("from_zero_", 1), ("stop_reason_", "bored"), ("t_", None)],
)
def test_a_number_that_breaks_its_rule(attribute, value, copy):
    refused(changed(copy("perceptron"), lambda content, t: model_of(content)["fitted"].update({attribute: value})))


CLAIM = {"name": "a", "statement": "b", "value": 1.0, "bound": None, "holds": True}


@pytest.mark.parametrize(
    "claim",
    [
        {**CLAIM, "proof": "trust me"},
        {key: value for key, value in CLAIM.items() if key != "holds"},
        {**CLAIM, "value": "large"},
        {**CLAIM, "value": 1},
        {**CLAIM, "value": None},
        {**CLAIM, "value": [1.0]},
        {**CLAIM, "bound": True},
        {**CLAIM, "holds": 1},
        {**CLAIM, "holds": "yes"},
        {**CLAIM, "name": 7},
        {**CLAIM, "statement": None},
        [],
        "claim",
        None,
    ],
)
def test_a_claim_that_is_none(claim, copy):
    def change(content, tensors):
        model_of(content)["fitted"]["certificate_"] = {"certificate": [claim]}

    refused(changed(copy("perceptron"), change))


# -------------------------------------------------------------------------------------- pipelines


@pytest.mark.parametrize("levels", [8, 50, 200])
def test_pipelines_in_pipelines(levels, copy):
    def change(content, tensors):
        for _ in range(levels):
            content["model"] = {"class": "Pipeline", "steps": [["one", content["model"]]]}

    sentence = refused(changed(copy("pipeline"), change))
    assert sentence == "pipelines must stand at most 8 deep in each other; got more."


@pytest.mark.parametrize("levels", [450, 10_000, 100_000])
def test_pipelines_in_pipelines_without_end(levels, copy):
    path = copy("polynomial-expansion")
    content, tensors = opened(path)
    node = json.dumps(content["model"])
    content["model"] = "HERE"
    nested = '{"class": "Pipeline", "steps": [["one", ' * levels + node + "]]}" * levels
    refused(written(path, json.dumps(content).replace('"HERE"', nested), tensors))


def steps_of(content):
    return content["model"]["steps"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda steps: steps.clear(),
        lambda steps: steps.extend([steps[0]] * 100),
        lambda steps: steps[0].pop(),
        lambda steps: steps[0].append(1),
        lambda steps: steps[0].__setitem__(0, 3),
        lambda steps: steps[0].__setitem__(0, steps[1][0]),
        lambda steps: steps[0].__setitem__(1, None),
        lambda steps: steps.reverse(),
    ],
)
def test_steps_that_make_no_pipeline(spoil, copy):
    refused(changed(copy("pipeline"), lambda content, tensors: spoil(steps_of(content))))


def test_steps_that_are_no_list(copy):
    for steps in (None, {}, 1, "ab", {"a": 1}):
        refused(changed(copy("pipeline"), lambda content, tensors, steps=steps: content["model"].update(steps=steps)))


def test_a_pipeline_with_more_than_steps(copy):
    refused(changed(copy("pipeline"), lambda content, tensors: content["model"].update(memory="somewhere")))


def test_an_untouched_file_still_loads(copy):
    """The tests above would pass if nothing could be loaded."""
    for name in MAKERS:
        path = changed(copy(name), lambda content, tensors: None)
        assert_same_model(eigenwood.load(path), sample(name).model)
