"""The cluster that computes: one that is there, or processes that are started here and end with the block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import dask
import distributed

from eigenwood.errors import ClusterError
from eigenwood.estimators.blockwise import computed_by
from eigenwood.scale.mapping import Workers
from eigenwood.scale.record import ClusterRecord, versions_here

CONNECT_SECONDS = 10
START_SECONDS = 120
HUNG_SECONDS = 60  # without a sign of life, and a worker of our own is started anew; its tasks go to others
WITHOUT_WARNING = 2**30  # bytes of one task: blocks of tables in memory are part of their tasks
OWN_SCHEDULER = {
    "distributed.scheduler.worker-ttl": f"{HUNG_SECONDS}s",
    "distributed.scheduler.allowed-failures": 10,  # of workers, before a task that they had is held to be the cause
    "distributed.admin.large-graph-warning-threshold": WITHOUT_WARNING,
}


class Cluster:
    """Workers, and what they have done so far."""

    def __init__(self, client: distributed.Client) -> None:
        self.client = client
        self.workers = Workers(client)

    def record(self) -> ClusterRecord:
        """Return what the workers are and did: tasks, bytes that came back, peak memory, and workers that were lost."""
        return ClusterRecord.of(self.client, self.workers.n_tasks, self.workers.n_bytes)


@contextmanager
def cluster(where: Any = 2, *, security: Any = None, memory_limit: str | int | None = "auto") -> Iterator[Cluster]:
    """Let the workers of a cluster compute whatever is fitted, transformed and verified from blocks inside.

    Parameters
    ----------
    where : a Dask client, the address of a scheduler, or an integer
        An integer starts so many processes of one thread on this machine, which end with the block.
    security : distributed.Security or None
        Certificates for TLS, for an address.
    memory_limit : str, int or None
        Of each process that is started here: one that takes more is started anew. Workers elsewhere have their own.
    """
    with ExitStack() as stack:
        client = stack.enter_context(connected(where, security, memory_limit))
        check_workers(client)
        here = Cluster(client)
        stack.enter_context(computed_by(here.workers))
        yield here


@contextmanager
def connected(where: Any, security: Any, memory_limit: str | int | None) -> Iterator[distributed.Client]:
    """Give a client: the user's own stays open, any other is closed at the end."""
    if isinstance(where, distributed.Client):
        yield where
        return
    if isinstance(where, bool) or not isinstance(where, int | str) or (isinstance(where, int) and where < 1):
        raise ClusterError(
            f"cluster: must be a Dask client, the address of a scheduler or a number of processes; got {where!r}."
        )
    if isinstance(where, str):
        with client_of(where, security) as client:
            yield client
        return
    with (
        dask.config.set(OWN_SCHEDULER),
        distributed.LocalCluster(
            n_workers=where,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory_limit,
            dashboard_address=":0",
            silence_logs=50,  # critical: a worker that is lost is in the record, not on the terminal
        ) as processes,
        distributed.Client(processes) as client,
    ):
        wait_for_workers(client, where)
        yield client


def wait_for_workers(client: distributed.Client, n_workers: int) -> None:
    """Return when all processes are there; raise if that takes too long."""
    try:
        client.wait_for_workers(n_workers, timeout=START_SECONDS)
    except TimeoutError as error:
        n_there = len(client.nthreads())
        raise ClusterError(
            f"cluster: {n_workers} processes must start within {START_SECONDS} s; got {n_there}."
        ) from error


def client_of(address: str, security: Any) -> distributed.Client:
    """Return a client of a scheduler; raise where nobody answers."""
    try:
        return distributed.Client(address, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ClusterError(f"cluster: {address} must be the address of a Dask scheduler; got {reason}.") from error


def check_workers(client: distributed.Client) -> None:
    """Raise unless there are workers, and they have the versions that are here: others would give other bits."""
    answers = client.run(versions_here)
    if not answers:
        raise ClusterError("cluster: the scheduler must have at least one worker; got none.")
    here = versions_here()
    for worker, versions in answers.items():
        for name, version in here.items():
            if versions.get(name) != version:
                raise ClusterError(
                    f"cluster: workers must have the versions of this process; got {name} {versions.get(name)} on "
                    f"{worker} and {version} here."
                )
