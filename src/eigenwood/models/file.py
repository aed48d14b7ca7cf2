"""One model, one file: safetensors for the arrays, JSON in its header for the rest. Nothing in it is run.

    header   __metadata__  {"eigenwood": {"format": 1, "version": …, "model": node, "digest": sha256}}
    node     {"class": "Perceptron", "params": {…}, "fitted": {"coef_": {"tensor": "0/coef_"}, "n_iter_": 7}}
             {"class": "Pipeline", "steps": [["encode", node], ["model", node]]}
             {"estimator": node without "fitted"} for a parameter, {"model": node} or {"models": [node, …]} for
             what is fitted inside another
    body     the tensors, named "<number of the node>/<attribute>", and "…/<place>/<attribute>" inside an ensemble

A class is looked up in the registry, never imported by name. What was read is checked three times: by
safetensors (the file is whole), by the digest (it is what was written), and by the class's own rules (it can
be used without reading out of bounds): ``PARAMS``, ``FITTED`` and, where attributes depend on parameters,
``check_fitted``. ``save`` puts a model through the same rules, so what was saved can be loaded.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as safetensors_bytes
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import eigenwood.estimators.registry as registry
from eigenwood.core.adaboost.stumps import Stumps
from eigenwood.core.forest.packing import Forest
from eigenwood.core.tree.types import Tree
from eigenwood.data.naming import whole_file
from eigenwood.errors import InputError, ModelFileError, TableError
from eigenwood.estimators.state import OPTIONAL
from eigenwood.proofs.claim import Certificate, Claim
from eigenwood.validation.params import check_params
from eigenwood.validation.state import check_state

FORMAT = 1
KEY = "eigenwood"
MOST_STEPS = 64
MOST_LEVELS = 8  # of pipelines in pipelines, or ensembles in ensembles
LONGEST_QUOTE = 100  # characters of a file that an error repeats
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # JSON has no words for these
CSR_PARTS = ("data", "indices", "indptr")
RECORDS = {"Tree": Tree, "Forest": Forest, "Stumps": Stumps}
CLAIM_TYPES: dict[str, Any] = {
    "name": str,
    "statement": str,
    "value": float,
    "bound": (float, type(None)),
    "holds": (bool, type(None)),
}
BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError)

Tensors = dict[str, np.ndarray]


def save(model: Any, path: str | os.PathLike) -> Path:
    """Write a fitted model to ``path``, whole or not at all.

    Of a pipeline its steps are kept; ``memory``, ``verbose`` and ``transform_input`` matter to its fit alone.

    >>> import eigenwood, tempfile, pathlib
    >>> model = eigenwood.Perceptron().fit([[0.0], [1.0]], ["no", "yes"])
    >>> path = eigenwood.save(model, pathlib.Path(tempfile.mkdtemp()) / "model.safetensors")
    >>> eigenwood.load(path).predict([[1.0]])
    array(['yes'], dtype='<U3')
    """
    path = Path(path)
    tensors: Tensors = {}
    content = {"format": FORMAT, "version": version("eigenwood"), "model": _node(model, tensors)}
    _model(_parsed(json.dumps(content["model"])), dict(tensors))
    content["digest"] = _digest(content, tensors)
    _write(path, tensors, json.dumps(content))
    return path


def load(path: str | os.PathLike) -> Any:
    """Return the fitted model that ``save`` wrote."""
    path = Path(path)
    header, tensors = _read(path)
    try:
        content = _content(header, tensors)
        model = _model(content["model"], tensors)
        if tensors:
            raise ModelFileError(f"its tensors must all belong to the model; got {_brief(min(tensors))}.")
    except ModelFileError as problem:
        raise ModelFileError(f"{path}: {problem}") from None
    except InputError as problem:
        raise ModelFileError(f"{path}: the model in it is not valid, since {_brief(str(problem))}.") from None
    except BROKEN as problem:
        raise ModelFileError(f"{path}: must follow format {FORMAT}; got {_brief(problem)}.") from None
    return model


def _write(path: Path, tensors: Tensors, content: str) -> None:
    """Write the file, whole or not at all."""
    try:
        with whole_file(path) as temporary, temporary.open("xb") as file:
            file.write(safetensors_bytes(tensors, metadata={KEY: content}))
            file.flush()
            os.fsync(file.fileno())
    except TableError:
        raise ModelFileError(f"{path}: the folder must exist; got no folder {str(path.parent)!r}.") from None
    except (OSError, SafetensorError) as problem:
        raise ModelFileError(f"{path}: must be a file that can be written; got {_brief(problem)}.") from None


def _read(path: Path) -> tuple[dict[str, str], Tensors]:
    """Return the header and the tensors of a safetensors file."""
    if not path.is_file():
        got = "a folder" if path.is_dir() else "nothing"
        raise ModelFileError(f"{path}: a model file must exist there; got {got}.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, *BROKEN) as problem:
        raise ModelFileError(f"{path}: must be a whole safetensors file; got {_brief(problem)}.") from None


def _content(header: dict[str, str], tensors: Tensors) -> dict:
    """Return what the header says about the model, if this version can read it and it is what was written."""
    if KEY not in header:
        raise ModelFileError("must be written by eigenwood.save; got a safetensors file of another kind.")
    content = _parsed(header[KEY])
    _check_keys("its header", content, {"format", "version", "model", "digest"})
    if type(content["format"]) is not int or not 1 <= content["format"] <= FORMAT:
        raise ModelFileError(
            f"its format must be at most {FORMAT} for this version of eigenwood; got "
            f"{_brief(content['format'])}, written by eigenwood {_brief(content['version'])}."
        )
    if content["digest"] != _digest(content, tensors):
        raise ModelFileError("the file must be as it was written; got other content (its digest differs).")
    return content


def _parsed(text: str) -> Any:
    """Return JSON as Python has it; numbers that are not finite and keys that come twice are refused."""
    return json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_unique)


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ModelFileError(f"its numbers must be finite; got {_brief(text)}.")
    return float(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ModelFileError("its keys must be different; got one twice.")
    return content


def _check_keys(what: str, content: Any, wanted: set[str], later: frozenset[str] = frozenset()) -> None:
    """Raise unless a dict has the wanted keys; old files may lack those that came ``later``."""
    if not isinstance(content, dict) or set(content) | later != wanted:
        got = ", ".join(content) if isinstance(content, dict) else type(content).__name__
        raise ModelFileError(f"{what} must hold exactly {', '.join(sorted(wanted))}; got {_brief(got)}.")


def _node(model: Any, tensors: Tensors, home: str = "") -> dict:
    """Return the description of a model; its arrays go into ``tensors``, under ``home`` where it has one."""
    if type(model) is Pipeline:
        steps = [[name, _node(step, tensors, home and f"{home}/{i}")] for i, (name, step) in enumerate(model.steps)]
        return {"class": "Pipeline", "steps": steps}
    registry.entry_of(model)
    who = type(model).__name__
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelFileError(f"{who}: the model must be fitted to be saved; got one that is not.") from None
    home = home or str(len({name.split("/")[0] for name in tensors}))
    params = {name: _plain_parameter(who, name, getattr(model, name)) for name in model.PARAMS}
    fitted = {
        name: _plain_attribute(f"{home}/{name}", getattr(model, name), tensors)
        for name in model.FITTED
        if hasattr(model, name)
    }
    return {"class": who, "params": params, "fitted": fitted}


def _plain_parameter(who: str, name: str, value: Any) -> Any:
    """Return a hyper-parameter as JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, np.ndarray) and value.ndim >= 1:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_plain_parameter(who, name, part) for part in value]}
    if isinstance(value, type) and issubclass(value, np.number):
        return {"dtype": np.dtype(value).name}
    if isinstance(value, dict):
        return {"pairs": [[_plain_parameter(who, name, part) for part in pair] for pair in value.items()]}
    if hasattr(value, "get_params"):
        return {"estimator": _plain_estimator(value)}
    raise ModelFileError(
        f"{who}: {name} must be a number, a string or None to be saved; got {value!r} "
        f"(set_params({name}=…) changes it on the fitted model)."
    )


def _plain_estimator(estimator: Any) -> dict:
    """Return an estimator before any fit, which is a parameter of another, as JSON."""
    if type(estimator) is Pipeline:
        return {"class": "Pipeline", "steps": [[name, _plain_estimator(step)] for name, step in estimator.steps]}
    registry.entry_of(estimator)
    who = type(estimator).__name__
    params = {name: _plain_parameter(who, name, getattr(estimator, name)) for name in estimator.PARAMS}
    return {"class": who, "params": params}


def _plain_attribute(key: str, value: Any, tensors: Tensors) -> Any:
    """Return a fitted attribute as JSON; numeric arrays go into ``tensors``."""
    if isinstance(value, Certificate):
        return {"certificate": [_plain_claim(claim) for claim in value]}
    if sparse.issparse(value):
        names = {part: _tensor(f"{key}/{part}", getattr(value, part), tensors) for part in CSR_PARTS}
        return {"csr": names, "shape": value.shape}
    if isinstance(value, dict):
        return {"terms": sorted(value, key=value.__getitem__)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        return {"labels": value.tolist(), "kind": value.dtype.kind}
    if isinstance(value, np.ndarray):
        return {"tensor": _tensor(key, value, tensors)}
    if isinstance(value, tuple) and type(value).__name__ in RECORDS:
        arrays = {name: _tensor(f"{key}/{name}", array, tensors) for name, array in value._asdict().items()}  # type: ignore[attr-defined]
        return {"record": type(value).__name__, "tensors": arrays}
    if isinstance(value, list) and value and all(hasattr(part, "get_params") for part in value):
        return {"models": [_node(part, tensors, f"{key}/{i}") for i, part in enumerate(value)]}
    if hasattr(value, "get_params"):
        return {"model": _node(value, tensors, key)}
    if isinstance(value, list) and any(isinstance(part, np.ndarray) for part in value):
        return {"several": [_plain_attribute(f"{key}/{i}", part, tensors) for i, part in enumerate(value)]}
    return value.item() if isinstance(value, np.generic) else value


def _plain_claim(claim: Claim) -> dict:
    return {**asdict(claim), "value": _plain_number(claim.value), "bound": _plain_number(claim.bound)}


def _plain_number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _tensor(key: str, array: np.ndarray, tensors: Tensors) -> str:
    tensors[key] = _in_file_order(array)
    return key


def _in_file_order(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _model(node: Any, tensors: Tensors, level: int = 1) -> Any:
    """Return the model that a node describes, checked by its class's rules; it takes its ``tensors`` out."""
    if node["class"] == "Pipeline":
        return _pipeline(node, lambda step: _model(step, tensors, level + 1), level)
    _known_class(node)
    _check_keys("a model", node, {"class", "params", "fitted"})
    model = _made(node, level)
    state = {name: _attribute(value, tensors, level) for name, value in node["fitted"].items()}
    check_state(node["class"], model.FITTED, state, OPTIONAL | getattr(model, "OPTIONAL", frozenset()))
    for name, value in state.items():
        setattr(model, name, value)
    if hasattr(model, "check_fitted"):
        model.check_fitted()
    if hasattr(model, "derive"):
        model.derive()
    return model


def _estimator(node: Any, level: int) -> Any:
    """Return the estimator, not fitted, that a node describes."""
    if node["class"] == "Pipeline":
        return _pipeline(node, lambda step: _estimator(step, level + 1), level)
    _known_class(node)
    _check_keys("an estimator", node, {"class", "params"})
    return _made(node, level)


def _known_class(node: Any) -> type:
    """Return the class that a node names, if it is one of ours."""
    entry = registry.BY_CLASS.get(node["class"])
    if entry is None:
        raise ModelFileError(f"its class must be one of eigenwood's estimators; got {_brief(node['class'])}.")
    return entry.estimator


def _made(node: Any, level: int) -> Any:
    """Return an estimator with the parameters of a node, checked by its class's rules."""
    made = _known_class(node)
    params: set[str] = set(made.PARAMS)  # type: ignore[attr-defined]
    later: frozenset[str] = getattr(made, "LATER_PARAMS", frozenset())
    _check_keys(f"the params of {node['class']}", node["params"], params, later)
    estimator = made(**{name: _parameter(value, level) for name, value in node["params"].items()})
    check_params(estimator)
    return estimator


def _check_level(what: str, level: int) -> None:
    if level > MOST_LEVELS:
        raise ModelFileError(f"{what} must stand at most {MOST_LEVELS} deep in each other; got more.")


def _pipeline(node: dict, step_of: Callable[[Any], Any], level: int) -> Pipeline:
    """Return the pipeline that a node describes; ``step_of`` makes a step of its node."""
    _check_keys("a pipeline", node, {"class", "steps"})
    _check_level("pipelines", level)
    if not 1 <= len(node["steps"]) <= MOST_STEPS:
        raise ModelFileError(f"a pipeline must have 1 to {MOST_STEPS} steps; got {len(node['steps'])}.")
    steps = [(_text(name), step_of(step)) for name, step in node["steps"]]
    if len(dict(steps)) < len(steps):
        raise ModelFileError("the steps of a pipeline must have different names; got one twice.")
    if not all(hasattr(step, "transform") for _, step in steps[:-1]):
        raise ModelFileError("the steps of a pipeline before its last must be transformers; got another.")
    return Pipeline(steps)


def _parameter(value: Any, level: int) -> Any:
    if not isinstance(value, dict):
        return value
    if "estimator" in value:
        _check_level("ensembles", level)
        return _estimator(value["estimator"], level + 1)
    if "dtype" in value:
        return np.dtype(_text(value["dtype"])).type
    if "tuple" in value:
        return tuple(_parameter(part, level) for part in value["tuple"])
    return [_parameter(part, level) for part in value["list"]] if "list" in value else dict(value["pairs"])


def _attribute(value: Any, tensors: Tensors, level: int) -> Any:
    """Return a fitted attribute from its JSON."""
    if not isinstance(value, dict):
        return value
    if "certificate" in value:
        return Certificate(tuple(_claim(claim) for claim in value["certificate"]))
    if "terms" in value:
        return {_text(term): column for column, term in enumerate(value["terms"])}
    if "labels" in value:
        dtype = object if value["kind"] == "O" else np.str_
        return np.array([_text(label) for label in value["labels"]], dtype=dtype)
    if "models" in value:
        _check_level("ensembles", level)
        return [_model(part, tensors, level + 1) for part in value["models"]]
    if "model" in value:
        _check_level("ensembles", level)
        return _model(value["model"], tensors, level + 1)
    if "several" in value:
        return [_attribute(part, tensors, level) for part in value["several"]]
    if "record" in value:
        record = RECORDS[value["record"]]
        return record(**{name: tensors.pop(key) for name, key in value["tensors"].items()})
    if "csr" in value:
        return _csr(value["shape"], *(tensors.pop(value["csr"][part]) for part in CSR_PARTS))
    return tensors.pop(value["tensor"])


def _claim(content: dict) -> Claim:
    _check_keys("a claim", content, set(CLAIM_TYPES))
    numbers = {name: NOT_FINITE.get(content[name], content[name]) for name in ("value", "bound")}
    claim = Claim(**{**content, **numbers})
    for name, wanted in CLAIM_TYPES.items():
        if not isinstance(getattr(claim, name), wanted):
            raise ModelFileError(f"a claim's {name} must be of another type; got {_brief(content[name])}.")
    return claim


def _csr(shape: list[int], data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> sparse.csr_array:
    if not {indices.dtype.name, indptr.dtype.name} <= {"int32", "int64"}:
        raise ModelFileError("the places in a sparse array must be int32 or int64; got another dtype.")
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)
    return matrix


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelFileError(f"its names must be strings; got {_brief(value)}.")
    return value


def _digest(content: dict, tensors: Tensors) -> str:
    """Return the sha256 of all that a file says: the description without its digest, and every tensor."""
    told = {key: value for key, value in content.items() if key != "digest"}
    total = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in sorted(tensors):
        array = _in_file_order(tensors[name])
        total.update(f"{name} {array.dtype.name} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _brief(told: Any) -> str:
    """Return a value from a file, or an error of another library, in a few printable words on one line."""
    if isinstance(told, Exception):
        told = f"{type(told).__name__}: {str(told).split('. ')[0]}"
    words = " ".join((told if isinstance(told, str) else repr(told)).split()).rstrip(".")
    words = "".join(letter if letter.isprintable() else "?" for letter in words)
    return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]} …"
