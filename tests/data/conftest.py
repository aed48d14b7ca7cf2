"""Fixtures of the data tests: each large data set is loaded once per session."""

import functools

import pytest

from eigenwood.data import datasets


@pytest.fixture(scope="session")
def loaded(tmp_path_factory):
    """A function that loads a data set by name and keeps it for the next test."""
    options = {"hapmap3": {"cache_dir": tmp_path_factory.mktemp("hapmap3")}}

    @functools.cache
    def load(name):
        return datasets.load(name, **options.get(name, {}))

    return load


@pytest.fixture
def text_file(tmp_path):
    """A function that writes a text file and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
