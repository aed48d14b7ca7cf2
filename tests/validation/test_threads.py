"""``n_jobs`` means what it means in scikit-learn."""

import joblib
import numpy as np
import pytest

from eigenwood.errors import InputError
from eigenwood.validation.threads import N_JOBS, thread_count

CORES = joblib.cpu_count()


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(None, 1), (1, 1), (3, 3), (np.int64(2), 2), (-1, CORES), (-2, max(CORES - 1, 1)), (-10_000, 1)],
)
def test_how_many_threads(n_jobs, expected):
    assert N_JOBS.allows(n_jobs)
    assert thread_count("Who", n_jobs) == expected


def test_none_asks_the_context():
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert thread_count("Who", None) == 3
        assert thread_count("Who", 2) == 2
    assert thread_count("Who", None) == 1


def test_zero_has_no_meaning():
    with pytest.raises(InputError) as caught:
        thread_count("Who", 0)
    assert str(caught.value) == "Who: n_jobs must be None or an integer other than 0; got 0."


@pytest.mark.parametrize("n_jobs", [1.5, "2", True])
def test_what_is_no_number_of_jobs(n_jobs):
    assert not N_JOBS.allows(n_jobs)
    assert str(N_JOBS) == "None or an integer"
