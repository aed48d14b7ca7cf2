"""Model files made by hand, with a digest that is right, so that a test reaches the rules behind the digest."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import eigenwood
from eigenwood.errors import ModelFileError

Content = dict[str, Any]
Tensors = dict[str, np.ndarray]


def opened(path: Path) -> tuple[Content, Tensors]:
    """Return what stands in a model file: its JSON and its tensors."""
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["eigenwood"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def digest(content: Content, tensors: Tensors) -> str:
    """Return the digest of format 1."""
    told = {key: value for key, value in content.items() if key != "digest"}
    total = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.name} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()


def crafted(path: Path, content: Content, tensors: Tensors) -> Path:
    """Write a file that says ``content``, with the digest that belongs to it."""
    content = {**content, "digest": digest(content, tensors)} if "digest" in content else content
    return written(path, json.dumps(content), tensors)


def written(path: Path, text: str, tensors: Tensors) -> Path:
    """Write a safetensors file with ``text`` where the JSON of a model stands."""
    save_file(tensors, path, metadata={"eigenwood": text})
    return path


def changed(path: Path, change: Callable[[Content, Tensors], None]) -> Path:
    """Write the file again, after ``change`` has been at it, with a right digest."""
    content, tensors = opened(path)
    change(content, tensors)
    return crafted(path, content, tensors)


def raw(header: bytes, body: bytes = b"") -> bytes:
    """Return a safetensors file from the bytes of its header."""
    return struct.pack("<Q", len(header)) + header + body


def refused(path: Path) -> str:
    """Return the one sentence with which a file is refused, without the file's name."""
    with pytest.raises(ModelFileError) as caught:
        eigenwood.load(path)
    return without_name(str(caught.value), path)


def without_name(sentence: str, path: Path) -> str:
    """Return the sentence behind the file's name; it must be one sentence, on one line."""
    assert sentence.startswith(f"{path}: ")
    sentence = sentence.removeprefix(f"{path}: ")
    assert_one_sentence(sentence)
    return sentence


def assert_one_sentence(sentence: str) -> None:
    assert sentence.endswith(".")
    assert not sentence.endswith("..")
    assert sentence.isprintable()
    assert not re.search(r"[.!?] [A-Z]", sentence), sentence
    assert len(sentence) < 500
