"""Sets of bits: what is put in comes out in order, and nothing stays behind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_array_equal

from eigenwood.core.bits import ONE, add_member, is_member, lowest_bit, taken_out, word_count


@njit
def compiled_lowest_bit(word):
    return lowest_bit(word)


def as_bits(members, n_words):
    bits = np.zeros(n_words, dtype=np.uint64)
    for member in members:
        bits[member // 64] |= ONE << np.uint64(member % 64)
    return bits


@pytest.mark.parametrize("place", range(64))
def test_the_lowest_bit_is_found_whatever_stands_above_it(place):
    for above in (0, 1, 0b1011, 2**63):
        word = np.uint64(((above << (place + 1)) | (1 << place)) % 2**64)
        assert lowest_bit(word) == compiled_lowest_bit(word) == place


@pytest.mark.parametrize(("n", "n_words"), [(0, 0), (1, 1), (63, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_as_many_words_as_are_needed(n, n_words):
    assert word_count(n) == n_words


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 299)))
def test_equals_the_sorted_set(members):
    n_words = word_count(300)
    bits, found = as_bits(members, n_words), np.full(300, -1)
    n = taken_out(bits, n_words, found)
    assert_array_equal(found[:n], sorted(members))
    assert_array_equal(found[n:], -1)
    assert not bits.any()


def test_only_the_words_that_are_asked_for_are_read():
    bits, found = as_bits({3, 70, 130}, 3), np.full(3, -1)
    assert taken_out(bits, 2, found) == 2
    assert_array_equal(found, [3, 70, -1])
    assert_array_equal(bits, as_bits({130}, 3))


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 199)))
def test_members_are_those_that_were_added(members):
    bits = np.zeros(word_count(200), dtype=np.uint64)
    for member in members:
        add_member(bits, member)
    assert_array_equal(bits, as_bits(members, bits.size))
    assert {member for member in range(200) if is_member(bits, member)} == members
