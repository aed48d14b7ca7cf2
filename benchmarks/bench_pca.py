"""PCA: the shapes of the lectures, a mean far from zero, no structure, files larger than memory, sparse rows.

The answer is scored by the variance that its components hold on the rows themselves, as a share of all variance;
where the numbers are to be right to the digit, by the largest relative error of the variances it states.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.case import Arrays, Case, Quality
from benchmarks.data import mnist_split

SCORED_ROWS = 20_000  # a block of rows while a result is scored
STREAM_SHAPE, STREAM_BLOCK = (4_000_000, 200), 20_000
SCORED_OF_STREAM = 400_000  # its first rows
SPARSE_SHAPE, SPARSE_SHARE = (200_000, 50_000), 0.001


# ---- data


def mean_of_a_hundred(seed: int = 0) -> Arrays:
    """Return 500,000 x 100 float32 with mean 100 and variances from 1 to 4."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500_000, 100), dtype=np.float32) * np.sqrt(np.linspace(4.0, 1.0, 100, dtype=np.float32))
    X += np.float32(100.0)
    exact = np.linalg.eigvalsh(np.cov(X.astype(np.float64).T))[::-1][:10]
    return {"X": X, "exact": exact, "source": np.array("generated")}


def digits() -> Arrays:
    return {"X": mnist_split()["X"], "source": np.array("mnist")}


def people() -> Arrays:
    """Return 2,504 people x 23,770 SNPs."""
    from eigenwood.data.datasets import load

    return {"X": load("genomes").X.astype(np.float32), "source": np.array("genomes")}


def noise(seed: int = 0) -> Arrays:
    """Return 1,387 x 200,000 numbers without structure: the spectrum falls as slowly as it can."""
    rng = np.random.default_rng(seed)
    return {"X": rng.standard_normal((1_387, 200_000), dtype=np.float32), "source": np.array("generated")}


def many_faces(seed: int = 0) -> Arrays:
    """Return 2,500 pictures of 256 x 256: mixtures of the ORL faces, enlarged, with a little noise."""
    from eigenwood.data.datasets import load

    rng = np.random.default_rng(seed)
    faces = load("faces").X.reshape(-1, 64, 64).repeat(4, axis=1).repeat(4, axis=2).reshape(-1, 256 * 256)
    mixing = rng.dirichlet(np.full(faces.shape[0], 0.02), size=2_500).astype(np.float32)
    X = mixing @ faces + 0.01 * rng.standard_normal((2_500, 65_536), dtype=np.float32)
    return {"X": X.astype(np.float32), "source": np.array("faces, mixed")}


def sparse_rows(seed: int = 0) -> Arrays:
    """Return a csr matrix of 200,000 x 50,000, 0.1 % full, columns of falling weight as words have."""
    rng = np.random.default_rng(seed)
    per_row = round(SPARSE_SHAPE[1] * SPARSE_SHARE)
    X = sparse.random_array(SPARSE_SHAPE, density=SPARSE_SHARE, format="csr", rng=rng, dtype=np.float64)
    X.data *= 1.0 / np.sqrt(1.0 + X.indices % 997)
    return {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "source": np.array(f"generated, {per_row} entries a row"),
    }


def stream_file(ending: str) -> Arrays:
    """Return the names of two files in the folder for temporary ones, whole and small; they are written once."""
    paths = [stream_path(n_rows, ending) for n_rows in (STREAM_SHAPE[0], STREAM_BLOCK)]
    for path, n_rows in zip(paths, (STREAM_SHAPE[0], STREAM_BLOCK), strict=True):
        if not path.exists():
            WRITERS[ending](path, n_rows)
    return {"path": np.array([str(path) for path in paths]), "source": np.array("generated")}


def stream_path(n_rows: int, ending: str) -> Path:
    return Path(tempfile.gettempdir()) / f"eigenwood-bench-pca-{n_rows}x{STREAM_SHAPE[1]}{ending}"


def stream_blocks(n_rows: int):
    """Yield blocks of rows with 30 strong directions and a mean."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((30, STREAM_SHAPE[1]), dtype=np.float32) * np.linspace(3.0, 0.5, 30)[:, None]
    for start in range(0, n_rows, STREAM_BLOCK):
        size = (min(STREAM_BLOCK, n_rows - start), 30)
        rows = rng.standard_normal(size, dtype=np.float32) @ mixing.astype(np.float32)
        yield rows + rng.standard_normal(rows.shape, dtype=np.float32) + np.float32(10.0)


def write_npy(path: Path, n_rows: int) -> None:
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, STREAM_SHAPE[1]))
    for i, block in enumerate(stream_blocks(n_rows)):
        out[i * STREAM_BLOCK : i * STREAM_BLOCK + len(block)] = block
    out.flush()


def write_parquet(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"column {j}" for j in range(STREAM_SHAPE[1])]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for block in stream_blocks(n_rows):
            writer.write_table(pa.table(list(np.asfortranarray(block).T), schema=schema))


WRITERS = {".npy": write_npy, ".parquet": write_parquet}


# ---- contenders


def ours(**options):
    def contender(threads):
        from eigenwood import PCA

        return lambda arrays: PCA(n_jobs=threads, **options).fit(arrays["X"])

    return contender


def theirs(**options):
    def contender(threads):
        from sklearn.decomposition import PCA

        return lambda arrays: PCA(**options).fit(arrays["X"])

    return contender


def intelex(**options):
    def contender(threads):
        import daal4py
        from sklearnex.decomposition import PCA

        daal4py.daalinit(threads)
        return lambda arrays: PCA(**options).fit(arrays["X"])

    return contender


def in_memory(n_components):
    return {
        "eigenwood": ours(n_components=n_components),
        "scikit-learn": theirs(n_components=n_components),
        "scikit-learn-intelex": intelex(n_components=n_components),
    }


def ours_sparse(threads):
    from eigenwood import PCA

    return lambda arrays: PCA(20, n_jobs=threads).fit(as_csr(arrays))


def theirs_sparse(threads):
    from sklearn.decomposition import PCA

    return lambda arrays: PCA(20, svd_solver="arpack", random_state=0).fit(as_csr(arrays))


def as_csr(arrays):
    n = arrays["indptr"].size - 1
    return sparse.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, SPARSE_SHAPE[1]))


def ours_streamed(threads):
    from eigenwood import PCA
    from eigenwood.data.blocks import blocks

    return lambda arrays: PCA(20, n_jobs=threads).fit(blocks(str(arrays["path"][0])))


def theirs_streamed(threads):
    import pyarrow.parquet as pq
    from sklearn.decomposition import IncrementalPCA

    def batches(path):
        if path.endswith(".npy"):
            for start in range(0, np.load(path, mmap_mode="r").shape[0], STREAM_BLOCK):
                yield np.array(np.load(path, mmap_mode="r")[start : start + STREAM_BLOCK])
        else:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=STREAM_BLOCK):
                yield np.column_stack([column.to_numpy() for column in batch.columns])

    def run(arrays):
        model = IncrementalPCA(20)
        for batch in batches(str(arrays["path"][0])):
            model.partial_fit(batch)
        return model

    return run


# ---- quality


def share_of_variance(arrays, model) -> float:
    return held_share([arrays["X"][i : i + SCORED_ROWS] for i in range(0, arrays["X"].shape[0], SCORED_ROWS)], model)


def share_of_sparse_variance(arrays, model) -> float:
    X = as_csr(arrays)
    V = orthonormal(model.components_)
    mean = np.asarray(X.mean(axis=0)).ravel()
    scores = X @ V - mean @ V
    total = float((X.data**2).sum()) - X.shape[0] * float(mean @ mean)
    return float((scores**2).sum()) / total


def share_of_streamed_variance(arrays, model) -> float:
    return held_share(stream_blocks(SCORED_OF_STREAM), model)


def held_share(blocks, model) -> float:
    """Return the share of the variance that lies in the span of the components, in float64."""
    V = orthonormal(model.components_)
    mean = np.asarray(model.mean_, dtype=np.float64)
    held = total = 0.0
    for block in blocks:
        centred = block.astype(np.float64) - mean
        held += float(((centred @ V) ** 2).sum())
        total += float((centred**2).sum())
    return held / total


def orthonormal(components) -> np.ndarray:
    return np.linalg.qr(np.asarray(components, dtype=np.float64).T)[0]


def worst_error(arrays, model) -> float:
    exact = arrays["exact"]
    return float(np.abs(model.explained_variance_[: exact.size] / exact - 1.0).max())


HELD = Quality("share of variance", share_of_variance, better="higher")
SPARSE_HELD = Quality("share of variance", share_of_sparse_variance, better="higher")
STREAM_HELD = Quality("share of variance", share_of_streamed_variance, better="higher")
ERROR = Quality("largest relative error", worst_error, better="lower")


def fewer_columns(arrays: Arrays) -> Arrays:
    """Return a part of a wide table for the warm-up: rows and columns that still make several blocks of work."""
    return {**arrays, "X": np.ascontiguousarray(arrays["X"][:600, :3_000])}


def some_rows(arrays: Arrays) -> Arrays:
    return {**arrays, "X": arrays["X"][:2_000]}


def some_sparse_rows(arrays: Arrays) -> Arrays:
    last = arrays["indptr"][2_000]
    return {
        "data": arrays["data"][:last],
        "indices": arrays["indices"][:last],
        "indptr": arrays["indptr"][:2_001],
    }


def small_file(arrays: Arrays) -> Arrays:
    return {"path": arrays["path"][1:]}


def npy_file() -> Arrays:
    return stream_file(".npy")


def parquet_file() -> Arrays:
    return stream_file(".parquet")


STREAMED = {"eigenwood": ours_streamed, "scikit-learn IncrementalPCA": theirs_streamed}

CASES = [
    Case("mean_100_k10", mean_of_a_hundred, in_memory(10), ERROR, "as fast as scikit-learn, 1e-5", small=some_rows),
    Case("digits_90_percent", digits, in_memory(0.9), HELD, "1.5 x the fastest rival", small=some_rows),
    Case("genomes_k10", people, in_memory(10), HELD, "3 x", small=fewer_columns),
    Case("noise_k2", noise, in_memory(2), HELD, "2 x, and exact", small=fewer_columns),
    Case("faces_k150", many_faces, in_memory(150), HELD, "3 x", small=fewer_columns),
    Case("npy_out_of_core", npy_file, STREAMED, STREAM_HELD, "5 x, at most 400 MB", small=small_file),
    Case("parquet_out_of_core", parquet_file, STREAMED, STREAM_HELD, "5 x, at most 400 MB", small=small_file),
    Case(
        "sparse_k20",
        sparse_rows,
        {"eigenwood": ours_sparse, "scikit-learn arpack": theirs_sparse},
        SPARSE_HELD,
        "1.5 x scikit-learn's arpack",
        small=some_sparse_rows,
    ),
]
