"""Sets of small integers as bits of 64-bit words: adding is one instruction, and reading them back sorts them.

word      0                 1
bit       0 1 2 3 … 63      0 1 …
set       0 1 1 0 … 0       1 0 …       holds 1, 2 and 64
"""

from __future__ import annotations

import numpy as np

from eigenwood.compiling import instructions_in, njit

instructions_in("eigenwood.core.llvm.bits")

ONE = np.uint64(1)


def lowest_bit(word) -> int:
    """Return the place of the lowest bit that is set; the word is not 0.

    >>> lowest_bit(np.uint64(12))
    2
    """
    return (int(word) & -int(word)).bit_length() - 1


@njit
def word_count(n):
    """Return how many words hold a set of integers below ``n``."""
    return (n + 63) >> 6


@njit
def add_member(bits, member):
    """Add an integer to the set."""
    bits[member >> 6] |= ONE << np.uint64(member & 63)


@njit
def is_member(bits, member):
    """Return whether an integer is in the set."""
    return (bits[member >> 6] >> np.uint64(member & 63)) & ONE != 0


@njit
def have_common(bits, others):
    """Return whether two sets have a member in common."""
    for k in range(bits.size):
        if bits[k] & others[k] != 0:
            return True
    return False


@njit
def taken_out(bits, n_words, members):
    """Write the members of the set to ``members``, in order, and return their number; the set is empty then."""
    n = 0
    for i in range(n_words):
        word = bits[i]
        if word != 0:
            bits[i] = 0
            while word != 0:
                members[n] = 64 * i + lowest_bit(word)
                n += 1
                word &= word - ONE
    return n
