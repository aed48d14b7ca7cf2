"""Borrowed tests: what is deselected must fail, and the fixtures that scikit-learn's tests ask for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.drop_in.borrowed import chance_of, is_foreign, reason_of


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's mark for tests that run on one thread")


def pytest_collection_modifyitems(items):
    """Leave foreign cases out; expect deselected tests to fail, strictly: one that passes has to leave the list."""
    items[:] = [item for item in items if not is_foreign(item)]
    for item in items:
        loan = getattr(getattr(item, "module", None), "LOAN", None)
        if loan is None:
            continue
        if (reason := reason_of(item, loan)) is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        elif (reason := chance_of(item, loan)) is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))


@pytest.fixture
def pyplot():
    """Matplotlib without a screen, and no figure left open."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param
