"""Work in pieces: its pauses, its result, and what happens to those who leave."""

import pytest

from eigenwood.core.pieces import at_once


def adding(numbers, done):
    total = 0
    for number in numbers:
        total += number
        done.append(number)
        yield
    return total


def twice(numbers, done):
    first = yield from adding(numbers, done)
    second = yield from adding(numbers, done)
    return first, second


def test_the_result_of_all_pieces():
    done = []
    assert at_once(twice([1, 2], done)) == (3, 3)
    assert done == [1, 2, 1, 2]


def test_every_piece_has_its_pause():
    done = []
    for n_pauses, _ in enumerate(twice([1, 2], done), 1):
        assert len(done) == n_pauses


def test_an_error_comes_out():
    def failing():
        yield
        raise LookupError("no")

    with pytest.raises(LookupError):
        at_once(failing())
