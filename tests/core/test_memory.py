"""Memory that comes by the page and goes back."""

import gc
import sys

import numpy as np
import pytest

from eigenwood.core.memory import LARGE, lazy_zeros


@pytest.mark.parametrize("shape", [(0,), (0, 3), (7, 3), (LARGE // 8,), (LARGE, 3)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_room_is_zero_and_can_be_written(shape, dtype):
    room = lazy_zeros(shape, dtype)
    assert (room.shape, room.dtype) == (shape, dtype)
    assert room.flags.c_contiguous
    assert room.flags.writeable
    assert not room.any()
    room[...] = 3
    assert (room == 3).all()


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages of this process as Linux tells them")
def test_what_is_not_written_does_not_count_and_all_goes_back():
    gc.collect()
    before, size = resident_bytes(), 256 << 20
    room = lazy_zeros((size,), np.uint8)
    assert resident_bytes() - before < size // 8
    room[: size // 2] = 1
    assert resident_bytes() - before > size // 4
    del room
    assert resident_bytes() - before < size // 8
