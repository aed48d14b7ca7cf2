"""A thousand random accidents: a spoilt file is refused, or its model is the one that was written."""

from __future__ import annotations

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eigenwood
from eigenwood.errors import ModelFileError
from tests.models.crafting import without_name
from tests.models.samples import assert_same_model, assert_same_outputs, sample

NAMES = (
    "perceptron",
    "perceptron-strings",
    "kernel-perceptron-sparse",
    "kernel-perceptron-voted",
    "decision-tree-table",
    "regression-tree-missing",
    "table-encoder",
    "pipeline",
)
WORDS = (
    b"true",
    b"false",
    b"null",
    b"NaN",
    b"0",
    b"1",
    b"-1",
    b"1e999",
    b'\\"',
    b",",
    b"}",
    b"[",
    b"Pipeline",
    b"F32",
    b"I64",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    return {name: eigenwood.save(sample(name).model, folder / name).read_bytes() for name in NAMES}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("spoilt") / "model.safetensors"


def flipped(draw, data):
    at = draw(st.integers(0, len(data) - 1))
    return data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]


def inserted(draw, data):
    at = draw(st.integers(0, len(data)))
    return data[:at] + draw(st.binary(min_size=1, max_size=9)) + data[at:]


def deleted(draw, data):
    at = draw(st.integers(0, len(data) - 1))
    return data[:at] + data[at + draw(st.integers(1, 64)) :]


def repeated(draw, data):
    at = draw(st.integers(0, len(data) - 1))
    end = at + draw(st.integers(1, 64))
    return data[:end] + data[at:]


def swapped(draw, data):
    """Two regions of equal length change places."""
    length = draw(st.integers(1, 16))
    one, other = sorted(draw(st.integers(0, len(data) - length)) for _ in range(2))
    if other < one + length:
        return data
    middle = data[one + length : other]
    return data[:one] + data[other : other + length] + middle + data[one : one + length] + data[other + length :]


def reworded(draw, data):
    """A word takes the place of some letters of the header, whose length is put right."""
    (length,) = struct.unpack("<Q", data[:8])
    header, body = data[8 : 8 + length], data[8 + length :]
    at = draw(st.integers(0, length - 1))
    header = header[:at] + draw(st.sampled_from(WORDS)) + header[at + draw(st.integers(0, 8)) :]
    return struct.pack("<Q", len(header)) + header + body


def moved(draw, data):
    """The header says that it ends elsewhere."""
    (length,) = struct.unpack("<Q", data[:8])
    return struct.pack("<Q", max(0, length + draw(st.integers(-32, 32)))) + data[8:]


ACCIDENTS = (flipped, inserted, deleted, repeated, swapped, reworded, moved)


@st.composite
def accidents(draw, good):
    name = draw(st.sampled_from(NAMES))
    data = good[name]
    for _ in range(draw(st.integers(1, 3))):
        data = draw(st.sampled_from(ACCIDENTS))(draw, data) if data else data
    return name, data


@pytest.mark.slow
@settings(
    max_examples=1000,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_spoilt_file_is_refused_or_says_the_same(data, good, place):
    name, content = data.draw(accidents(good))
    place.write_bytes(content)
    try:
        loaded = eigenwood.load(place)
    except ModelFileError as problem:
        without_name(str(problem), place)
        return
    assert_same_model(loaded, sample(name).model)
    assert_same_outputs(loaded, sample(name).model, sample(name).X)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perceptron", "table-encoder"])
def test_no_byte_can_be_changed_unnoticed(name, good, place):
    """Every single byte, turned over; what still loads is the same model."""
    data = good[name]
    n_loaded = 0
    for at in range(len(data)):
        place.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        try:
            loaded = eigenwood.load(place)
        except ModelFileError as problem:
            without_name(str(problem), place)
            continue
        n_loaded += 1
        assert_same_model(loaded, sample(name).model)
    assert n_loaded < len(data) // 10
