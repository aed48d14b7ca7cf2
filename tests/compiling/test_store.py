"""The file of machine code: what was written is read, and what was changed is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwood.compiling.store import HEAD, BadStoreError, Made, Store, write_store

MADE = [
    Made("a:f", "int64", b"machine code of f", "f_1", "env_1", ["a:C", "float64"], ["memset"]),
    Made("a:f", "float64 1C readonly, int64", b"more of it", "f_2", "env_2", [], []),
    Made("b:g", "none", b"g", "g", "env_g", [], ["memcpy", "exp"]),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "folder" / "some.code"
    write_store(path, "stamp", MADE)
    return path


def codes(store: Store) -> list[bytes | None]:
    found = [store.entry(one.place, one.signature) for one in MADE]
    return [None if entry is None else store.object_code(entry) for entry in found]


def test_what_was_written_is_read(path):
    store = Store(path)
    assert store.stamp == "stamp"
    assert store.n_entries == len(MADE)
    assert sorted(store.places()) == sorted((one.place, one.signature) for one in MADE)
    assert codes(store) == [one.object_code for one in MADE]
    for one in MADE:
        entry = store.entry(one.place, one.signature)
        assert (entry.symbol, entry.environment, entry.constants, entry.needs) == one[3:]


def test_code_for_arrays_that_are_read_serves_those_that_may_be_written(path):
    store = Store(path)
    assert store.entry("a:f", "float64 1C, int64") == store.entry("a:f", "float64 1C readonly, int64")


def test_what_is_not_there_is_none(path):
    store = Store(path)
    assert store.entry("a:f", "float64") is None
    assert store.entry("c:h", "int64") is None


def test_the_same_entries_in_any_order_make_the_same_file(path, tmp_path):
    write_store(tmp_path / "other.code", "stamp", MADE[::-1])
    assert (tmp_path / "other.code").read_bytes() == path.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["other.code"]


def test_a_file_that_is_cut_off_anywhere_gives_right_code_or_none(path, tmp_path):
    whole, short = path.read_bytes(), tmp_path / "short.code"
    for length in range(len(whole)):
        short.write_bytes(whole[:length])
        assert_right_or_refused(short)


@settings(max_examples=200)
@given(st.data())
def test_a_file_with_changed_bytes_gives_right_code_or_none(path, tmp_path_factory, data):
    changed = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    other = tmp_path_factory.mktemp("changed") / "changed.code"
    other.write_bytes(changed)
    assert_right_or_refused(other)


def assert_right_or_refused(path) -> None:
    try:
        store = Store(path)
    except BadStoreError:
        return
    assert all(code in (None, one.object_code) for code, one in zip(codes(store), MADE, strict=True))


def test_a_length_beyond_memory_is_refused(tmp_path):
    path = tmp_path / "long.code"
    path.write_bytes(HEAD.pack(b"EWCODE1\n", 2**62, b"\0" * 32))
    with pytest.raises(BadStoreError):
        Store(path)


def test_a_file_that_goes_away_gives_none(path, tmp_path):
    copy = tmp_path / "copy.code"
    copy.write_bytes(path.read_bytes())
    store = Store(copy)
    copy.unlink()
    assert codes(store) == [None, None, None]


def test_a_failure_while_writing_leaves_nothing(tmp_path):
    def broken():
        yield MADE[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_store(tmp_path / "some.code", "stamp", broken())
    assert list(tmp_path.iterdir()) == []
