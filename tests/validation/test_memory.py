"""How much memory a method may use: what was said, or half of what is free."""

from pathlib import Path

import pytest

from eigenwood.validation import memory
from eigenwood.validation.memory import MEMORY_LIMIT, UNKNOWN_BYTES, free_bytes, memory_bytes


def files(monkeypatch, contents):
    """Let these be the only files of the system, by the end of their path."""

    def read_text(path):
        for name, text in contents.items():
            if str(path).endswith(name):
                return text
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", read_text)


MEMINFO = "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable:    4000 kB\n"


def test_a_limit_is_in_megabytes():
    assert memory_bytes(1.5) == 1_500_000.0


def test_without_a_limit_it_is_half_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 10.0)
    assert memory_bytes(None) == 5.0


@pytest.mark.parametrize(("value", "allowed"), [(None, True), (0.5, True), (100, True), (0, False), ("1 GB", False)])
def test_what_a_limit_may_be(value, allowed):
    assert MEMORY_LIMIT.allows(value) is allowed


def test_what_is_available_counts_not_what_is_unused(monkeypatch):
    files(monkeypatch, {"meminfo": MEMINFO})
    assert free_bytes() == 4000 * 1024


def container(limit, used, cached=0):
    stat = f"anon 7\ninactive_file {cached}\nactive_file 9\n"
    return {"meminfo": MEMINFO, "memory.max": f"{limit}\n", "memory.current": f"{used}\n", "memory.stat": stat}


@pytest.mark.parametrize(("limit", "expected"), [(3_000_000, 2.9e6), ("max", 4000 * 1024), (9e9, 4000 * 1024)])
def test_a_container_may_have_less(monkeypatch, limit, expected):
    files(monkeypatch, container(limit, used=100_000))
    assert free_bytes() == expected


def test_what_files_take_in_a_container_is_given_back(monkeypatch):
    files(monkeypatch, container(1_000_000, used=990_000, cached=600_000))
    assert free_bytes() == 610_000.0


def test_a_container_that_is_full_has_nothing(monkeypatch):
    files(monkeypatch, container(100, used=150))
    assert free_bytes() == 0.0


def test_other_systems_are_asked_for_their_free_pages(monkeypatch):
    files(monkeypatch, {})
    monkeypatch.setattr(memory.os, "sysconf_names", {"SC_AVPHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(memory.os, "sysconf", lambda name: {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}[name])
    assert free_bytes() == 40960.0


def test_a_system_that_does_not_tell_gets_a_guess(monkeypatch):
    files(monkeypatch, {"meminfo": "MemTotal: 9000 kB\n"})
    monkeypatch.setattr(memory.os, "sysconf_names", {})
    assert free_bytes() == UNKNOWN_BYTES


def test_here_it_is_a_sensible_number():
    assert 1e6 < free_bytes() < 1e16
