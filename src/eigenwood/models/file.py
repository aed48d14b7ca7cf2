"""One model, one file: safetensors for the arrays, JSON in its header for the rest. Data only; nothing in it is run.

    header   __metadata__  {"eigenwood": {"format": 1, "version": …, "model": node, "digest": sha256}}
    node     {"class": "Perceptron", "params": {…}, "fitted": {"coef_": {"tensor": "0/coef_"}, "n_iter_": 7, …}}
             {"class": "Pipeline", "steps": [["encode", node], ["model", node]]}
    body     the tensors, named "<number of the node>/<attribute>"

A class is looked up in the registry, never imported by name. What was read is checked three times: by safetensors (the
file is whole), by the digest (it is what was written), and by the class's own rules ``PARAMS`` and ``FITTED`` (it can be
used without reading out of bounds).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import eigenwood.estimators.registry as registry
from eigenwood.errors import InputError, ModelFileError
from eigenwood.estimators.state import OPTIONAL
from eigenwood.proofs.claim import Certificate
from eigenwood.validation.params import check_params
from eigenwood.validation.state import check_state

FORMAT = 1
KEY = "eigenwood"
MOST_STEPS = 64
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")

Tensors = dict[str, np.ndarray]


def save(model: Any, path: str | os.PathLike) -> Path:
    """Write a fitted model to ``path``, whole or not at all.

    >>> import eigenwood, tempfile, pathlib
    >>> model = eigenwood.Perceptron().fit([[0.0], [1.0]], ["no", "yes"])
    >>> path = eigenwood.save(model, pathlib.Path(tempfile.mkdtemp()) / "model.safetensors")
    >>> eigenwood.load(path).predict([[1.0]])
    array(['yes'], dtype='<U3')
    """
    path = Path(path)
    tensors: Tensors = {}
    content = {"format": FORMAT, "version": version("eigenwood"), "model": _node(model, tensors)}
    content["digest"] = _digest(content, tensors)
    header = {KEY: json.dumps(content, allow_nan=False)}
    if not path.parent.is_dir():
        raise ModelFileError(f"{path}: the folder must exist; got no folder {str(path.parent)!r}.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        save_file(tensors, temporary, metadata=header)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def load(path: str | os.PathLike) -> Any:
    """Return the fitted model that ``save`` wrote."""
    path = Path(path)
    header, tensors = _read(path)
    try:
        content = _content(header)
        model = _model(content["model"], tensors)
    except ModelFileError as problem:
        raise ModelFileError(f"{path}: {problem}") from None
    except InputError as problem:
        raise ModelFileError(f"{path}: the model in it is not valid: {problem}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as problem:
        raise ModelFileError(f"{path}: the model in it must follow format {FORMAT}; got {_brief(problem)}.") from None
    if content["digest"] != _digest(content, tensors):
        raise ModelFileError(f"{path}: the file must be as it was written; got other content (its digest differs).")
    return model


def _read(path: Path) -> tuple[dict[str, str], Tensors]:
    """Return the header and the tensors of a safetensors file."""
    if not path.is_file():
        raise ModelFileError(f"{path}: a model file must exist there; got {'a folder' if path.is_dir() else 'nothing'}.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError, KeyError) as problem:
        raise ModelFileError(f"{path}: must be a whole safetensors file; got {_brief(problem)}.") from None


def _content(header: dict[str, str]) -> dict:
    """Return what the header says about the model, if this version can read it."""
    if KEY not in header:
        raise ModelFileError("must be written by eigenwood.save; got a safetensors file of another kind.")
    content = json.loads(header[KEY], parse_constant=_refuse_constant)
    wanted = {"format", "version", "model", "digest"}
    if not isinstance(content, dict) or set(content) != wanted:
        raise ModelFileError(f"its header must hold {', '.join(sorted(wanted))}; got something else.")
    if not isinstance(content["format"], int) or not 1 <= content["format"] <= FORMAT:
        raise ModelFileError(
            f"its format must be at most {FORMAT} for this version of eigenwood; got {content['format']!r}, "
            f"written by eigenwood {content['version']}."
        )
    return content


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"its numbers must be finite; got {name}.")


def _node(model: Any, tensors: Tensors) -> dict:
    """Return the description of a model; its arrays go into ``tensors``."""
    if isinstance(model, Pipeline):
        return {"class": "Pipeline", "steps": [[name, _node(step, tensors)] for name, step in model.steps]}
    registry.entry_of(model)
    check_is_fitted(model)
    who = type(model).__name__
    number = len({name.split("/")[0] for name in tensors})
    params = {name: _plain_parameter(who, name, getattr(model, name)) for name in model.PARAMS}
    fitted = {
        name: _plain_attribute(f"{number}/{name}", getattr(model, name), tensors)
        for name in model.FITTED
        if hasattr(model, name)
    }
    return {"class": who, "params": params, "fitted": fitted}


def _plain_parameter(who: str, name: str, value: Any) -> Any:
    """Return a hyper-parameter as JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, dict):
        pairs = [[_plain_parameter(who, name, key), _plain_parameter(who, name, item)] for key, item in value.items()]
        return {"pairs": pairs}
    raise ModelFileError(
        f"{who}: {name} must be a number, a string or None to be saved; got {value!r} "
        f"(set_params({name}=…) changes it on the fitted model)."
    )


def _plain_attribute(key: str, value: Any, tensors: Tensors) -> Any:
    """Return a fitted attribute as JSON; numeric arrays go into ``tensors``."""
    if isinstance(value, Certificate):
        return {"certificate": value.as_dict()}
    if sparse.issparse(value):
        parts = {"data": value.data, "indices": value.indices.astype(np.int64), "indptr": value.indptr.astype(np.int64)}
        return {"csr": {part: _tensor(f"{key}/{part}", array, tensors) for part, array in parts.items()}, "shape": value.shape}
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        return {"labels": value.tolist(), "kind": value.dtype.kind}
    if isinstance(value, np.ndarray):
        return {"tensor": _tensor(key, value, tensors)}
    return value.item() if isinstance(value, np.generic) else value


def _tensor(key: str, array: np.ndarray, tensors: Tensors) -> str:
    tensors[key] = np.ascontiguousarray(array)
    return key


def _model(node: dict, tensors: Tensors) -> Any:
    """Return the model that a node describes, checked by its class's rules."""
    if node["class"] == "Pipeline":
        if not 1 <= len(node["steps"]) <= MOST_STEPS:
            raise ModelFileError(f"a pipeline must have 1 to {MOST_STEPS} steps; got {len(node['steps'])}.")
        return Pipeline([(_text(name), _model(step, tensors)) for name, step in node["steps"]])
    entry = registry.BY_CLASS.get(node["class"])
    if entry is None:
        raise ModelFileError(f"its class must be one of {', '.join(registry.BY_CLASS)}; got {node['class']!r}.")
    if set(node) != {"class", "params", "fitted"} or set(node["params"]) != set(entry.estimator.PARAMS):  # type: ignore[attr-defined]
        raise ModelFileError(f"its {node['class']} must have exactly the parameters of this version.")
    model = entry.estimator(**{name: _parameter(value) for name, value in node["params"].items()})
    check_params(model)
    state = {name: _attribute(value, tensors) for name, value in node["fitted"].items()}
    optional = OPTIONAL | getattr(model, "OPTIONAL", frozenset())
    check_state(node["class"], model.FITTED, state, optional)
    for name, value in state.items():
        setattr(model, name, value)
    return model


def _parameter(value: Any) -> Any:
    return {key: item for key, item in value["pairs"]} if isinstance(value, dict) else value


def _attribute(value: Any, tensors: Tensors) -> Any:
    """Return a fitted attribute from its JSON."""
    if not isinstance(value, dict):
        return value
    if "certificate" in value:
        return Certificate.from_dict(value["certificate"])
    if "labels" in value:
        return np.array([_text(label) for label in value["labels"]], dtype=object if value["kind"] == "O" else None)
    if "csr" in value:
        parts = value["csr"]
        arrays = (_array(parts["data"], tensors), _array(parts["indices"], tensors), _array(parts["indptr"], tensors))
        matrix = sparse.csr_array(arrays, shape=tuple(value["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    return _array(value["tensor"], tensors)


def _array(key: str, tensors: Tensors) -> np.ndarray:
    array = tensors[key]
    if array.dtype.name not in DTYPES:
        raise ModelFileError(f"its tensors must be one of {', '.join(DTYPES)}; got {array.dtype.name}.")
    return array


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelFileError(f"its names must be strings; got {value!r}.")
    return value


def _digest(content: dict, tensors: Tensors) -> str:
    """Return the sha256 of all that a file says: the description without its digest, and every tensor."""
    told = {key: value for key, value in content.items() if key != "digest"}
    total = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _brief(problem: Exception) -> str:
    """Return an error of another library in a few words, on one line."""
    words = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {words[:120]}" if words else type(problem).__name__
