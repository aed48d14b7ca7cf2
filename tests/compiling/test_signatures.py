"""Types as text, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import from_dtype, typeof, types

from eigenwood.compiling.kernel import Kernel
from eigenwood.compiling.signatures import (
    LIST,
    READONLY,
    SCALARS,
    NoTextError,
    class_at,
    constant_of,
    constant_text,
    listed,
    serves,
    text_of,
    types_of,
    writable,
)

RECORD = from_dtype(np.dtype([("row", np.int64), ("share", np.float32)]))


class Pair(NamedTuple):
    one: np.ndarray
    other: float


scalars = st.sampled_from(list(SCALARS.values()))
elements = st.one_of(st.sampled_from([kind for name, kind in SCALARS.items() if name != "none"]), st.just(RECORD))
arrays = st.builds(
    lambda element, n_dims, layout, is_readonly, is_aligned: types.Array(
        element, n_dims, layout, is_readonly, aligned=is_aligned
    ),
    elements,
    st.integers(1, 4),
    st.sampled_from("ACF"),
    st.booleans(),
    st.booleans(),
)
single = st.one_of(scalars, arrays)
kinds = st.recursive(
    single,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: types.BaseTuple.from_types(tuple(parts))),
        st.tuples(inner, inner).map(lambda parts: types.BaseTuple.from_types(parts, Pair)),
    ),
    max_leaves=6,
)


@given(st.lists(kinds, max_size=4).map(tuple))
def test_a_text_stands_for_its_types(asked):
    assert types_of(text_of(asked)) == asked


@given(st.lists(kinds, min_size=1, max_size=3).map(tuple), st.lists(kinds, min_size=1, max_size=3).map(tuple))
def test_different_types_have_different_texts(one, other):
    assert (text_of(one) == text_of(other)) == (one == other)


def test_text_of_what_numba_sees_in_a_call():
    X = np.ones((2, 3), dtype=np.float32)
    X.flags.writeable = False
    asked = (X, Pair(np.ones(2), 1.0), (1, None), True, X[:, 1:])
    text = f"float32 2C readonly, {__name__}:Pair(float64 1C, float64), (int64, none), bool, float32 2A readonly"
    assert text_of(tuple(map(typeof, asked))) == text


@pytest.mark.parametrize("odd", [typeof("word"), typeof(1j), types.Omitted(1), types.Array(types.complex64, 1, "C")])
def test_other_types_have_no_text(odd):
    with pytest.raises(NoTextError):
        text_of((odd,))


@given(st.lists(kinds, min_size=1, max_size=3).map(tuple))
def test_code_that_writes_nowhere_serves_all_and_code_that_writes_serves_no_array_to_be_read(asked):
    text = text_of(asked)
    assert serves(text, text)
    assert serves(text, writable(text))
    assert serves(writable(text), text) == (READONLY not in text)


def test_code_for_other_types_does_not_serve():
    assert not serves("float64 2C readonly", "float32 2C")
    assert not serves("float64 2A readonly", "float64 2C")


@pytest.mark.parametrize("constant", [Pair, np.dtype(np.float64), np.dtype(bool), np.dtype(np.uint16)])
def test_constants_come_back(constant):
    assert constant_of(constant_text(constant)) is constant


def test_the_list_is_in_order_and_every_line_is_a_kernel_that_exists():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines), key=lambda line: writable(line).partition("(")[::2])
    for place, text in listed():
        assert isinstance(class_at(place), Kernel)
        assert len(types_of(text)) == class_at(place).py_func.__code__.co_argcount
    assert len(lines) > 100
