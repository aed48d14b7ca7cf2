"""The same fit on workers that are real processes: the same bits, also when they die."""

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eigenwood import PCA, BaggingClassifier, DecisionTreeClassifier, RandomForestClassifier, scale, verify
from eigenwood.data.blocks import blocks
from eigenwood.data.row_blocks import Sections
from eigenwood.errors import ClusterError, InputError, TableError
from eigenwood.scale import clusters
from eigenwood.scale.mapping import MOST_BLOCKS, runs_of

pytestmark = pytest.mark.slow

N_ROWS, BLOCK_ROWS = 5_000, 300
LEARNT = ("components_", "explained_variance_", "explained_variance_interval_", "mean_", "noise_variance_")


@pytest.fixture(scope="module")
def workers():
    with scale.cluster(2) as two:
        yield two


def numbers():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N_ROWS, 8)) @ rng.normal(size=(8, 8)) + 3.0


def as_arrow(X):
    return pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})


def write_parts(X, folder, cuts):
    paths = []
    for i, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(X)], strict=True)):
        paths.append(folder / f"part-{i}.parquet")
        pyarrow.parquet.write_table(as_arrow(X[start:stop]), paths[-1], row_group_size=700)
    return paths


def streams(X, folder):
    """Return the same rows, partitioned in different ways."""
    np.save(folder / "t.npy", X)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    sources = {
        "npy": folder / "t.npy",
        "parts": write_parts(X, folder, [1, 2_000, 2_000, 2_650]),
        "array": X,
        "dask array": dask.array.from_array(X, chunks=((777, 0, 4_223), (5, 3))),
        "dask frame": dask.dataframe.from_pandas(frame, npartitions=7),
    }
    return {name: scale.blocks(source, block_rows=BLOCK_ROWS) for name, source in sources.items()}


def assert_the_same(model, other):
    for name in LEARNT:
        assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)


def test_any_partition_of_the_rows_gives_the_bits_of_one_process(workers, tmp_path):
    X = numbers()
    alone = {solver: PCA(3, svd_solver=solver).fit(blocks(X, block_rows=BLOCK_ROWS)) for solver in ("auto", "krylov")}
    before = workers.record().tasks
    with clusters.computed_by(workers.workers):
        for stream in streams(X, tmp_path).values():
            for solver, model in alone.items():
                assert_the_same(PCA(3, svd_solver=solver).fit(stream), model)
    assert workers.record().tasks > before


def test_weights_scores_and_verify(workers, tmp_path):
    X, weights = numbers(), np.random.default_rng(1).integers(0, 4, N_ROWS)
    rows = streams(X, tmp_path)["parts"]
    alone = PCA(2, scale=True).fit(rows, sample_weight=weights)
    expected = verify(alone, rows, sample_weight=weights)
    with clusters.computed_by(workers.workers):
        model = PCA(2, scale=True).fit(rows, sample_weight=weights)
        certificate = verify(model, rows, sample_weight=weights)
        scores = np.concatenate(list(model.transform(rows)))
        assert_the_same(PCA(1).fit(model.transform(rows)), PCA(1).fit(blocks(scores, block_rows=BLOCK_ROWS)))
        wrong = PCA(2, scale=True).fit(rows, sample_weight=weights)
        wrong.components_ = wrong.components_[::-1]
        assert verify(wrong, rows, sample_weight=weights).holds is False
    assert_the_same(model, alone)
    assert certificate.holds is True
    assert [claim.value for claim in certificate] == [claim.value for claim in expected]
    assert_array_equal(scores, np.concatenate(list(alone.transform(rows))))


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(12, oob_score=True, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), 6, oob_score=True, random_state=0),
    ],
    ids=["forest", "bagging"],
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_trees_are_tasks(workers, learner):
    X = numbers()[:1_500]
    y = (X[:, 0] > X[:, 1]).astype(int)
    alone = learner.fit(X, y).predict_proba(X), learner.oob_score_
    before = workers.record().tasks
    with clusters.computed_by(workers.workers):
        learner.fit(X, y)
    assert workers.record().tasks > before
    assert_array_equal(learner.predict_proba(X), alone[0])
    assert learner.oob_score_ == alone[1]


def test_the_record_tells_what_each_worker_needed(workers):
    grown = workers.client.submit(lambda: bool(np.ones(2**27).any()), pure=False).result()  # 1 GiB
    peaks = sorted(workers.record().peak_bytes.values())
    assert grown
    assert len(peaks) == 2
    assert peaks[1] > 2**30 > peaks[0]


# --- workers that are lost --------------------------------------------------------------------------


def reading_once_with(blow, flag, read, start, stop):
    """Yield rows; whoever is the first to read after row 2,000 is struck, and never reads to the end."""
    if start > 2_000 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), blow)
    yield from read(start, stop)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
def test_a_worker_that_is_lost_changes_nothing(blow, tmp_path, monkeypatch):
    if blow == signal.SIGSTOP:  # seconds without a sign of life; too few, and workers of a busy machine are given up
        monkeypatch.setitem(clusters.OWN_SCHEDULER, "distributed.scheduler.worker-ttl", "8s")
    rows = streams(numbers(), tmp_path)["parts"]
    struck = replace(
        rows,
        sections=Sections(
            rows.sections.starts, partial(reading_once_with, blow, tmp_path / "flag", rows.sections.read)
        ),
    )
    with scale.cluster(2) as here:
        model = PCA(3).fit(struck)
        lost = here.record().lost_workers
    assert (tmp_path / "flag").exists()
    assert lost >= 1
    assert_the_same(model, PCA(3).fit(rows))


# --- what cannot be ---------------------------------------------------------------------------------


def refused(where):
    with pytest.raises(ClusterError) as error, scale.cluster(where):
        pass
    return str(error.value)


def test_who_cannot_be_reached_is_named(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 1)
    sentence = refused("tcp://127.0.0.1:9")
    assert sentence.startswith("cluster: tcp://127.0.0.1:9 must be the address of a Dask scheduler; got ")
    for where in (0, True, 2.5, None):
        expected = f"must be a Dask client, the address of a scheduler or a number of processes; got {where!r}."
        assert refused(where) == f"cluster: {expected}"


def test_workers_of_other_versions_are_refused(workers, monkeypatch):
    monkeypatch.setattr(clusters, "versions_here", lambda: {"numpy": f"of process {os.getpid()}"})
    with pytest.raises(ClusterError, match="workers must have the versions of this process; got numpy"):
        clusters.check_workers(workers.client)


def test_bad_rows_are_named_as_in_one_process(workers, tmp_path):
    X = numbers()
    X[2_345, 1] = np.nan
    rows = streams(X, tmp_path)["parts"]
    with pytest.raises(InputError) as alone:
        PCA(2).fit(rows)
    with clusters.computed_by(workers.workers), pytest.raises(InputError) as on_workers:
        PCA(2).fit(rows)
    assert str(on_workers.value) == str(alone.value)
    Path(tmp_path / "part-3.parquet").unlink()
    with clusters.computed_by(workers.workers), pytest.raises(TableError, match=r"part-3\.parquet"):
        PCA(2).fit(rows)


# --- how rows become tasks --------------------------------------------------------------------------


@given(
    n_blocks=st.integers(1, 60),
    rest=st.integers(1, 10),
    starts=st.lists(st.integers(0, 600), max_size=8),
)
def test_runs_are_whole_blocks_one_after_the_other(n_blocks, rest, starts):
    n_rows = (n_blocks - 1) * 10 + rest
    runs = list(runs_of(n_rows, 10, tuple(starts)))
    assert [run.start for run in runs] == [0, *(run.stop for run in runs[:-1])]
    assert runs[-1].stop == n_rows
    assert all(run.start % 10 == 0 and 0 < run.stop - run.start <= 10 * MOST_BLOCKS for run in runs)
    ends = {run.start for run in runs}
    assert all(start // 10 * 10 in ends for start in starts if start // 10 * 10 < n_rows)
