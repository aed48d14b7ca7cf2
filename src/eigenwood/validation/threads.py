"""``n_jobs`` means what it means in scikit-learn: None is 1 unless a joblib context says otherwise, -1 is all."""

from __future__ import annotations

from joblib import effective_n_jobs

from eigenwood.errors import InputError
from eigenwood.validation.params import AnyOf, Nothing, Number

N_JOBS = AnyOf(Nothing(), Number(integer=True))


def thread_count(who: str, n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` asks for."""
    if n_jobs == 0:
        raise InputError(f"{who}: n_jobs must be None or an integer other than 0; got 0.")
    return effective_n_jobs(n_jobs)
