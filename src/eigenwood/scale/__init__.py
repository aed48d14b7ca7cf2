"""More than one machine: the same fit on the workers of a Dask cluster, to the same bits.

    with eigenwood.scale.cluster("tcp://10.0.0.1:8786"):
        PCA(20).fit(data.blocks(["part-0.parquet", "part-1.parquet"]))

Workers compute pure functions of blocks that the row numbers fix; this process merges their results in order.
"""

from eigenwood.errors import MissingExtraError

try:
    import distributed  # noqa: F401 - an extra, which may not be there
except ImportError as error:
    raise MissingExtraError("eigenwood.scale: needs pip install 'eigenwood[scale]'.") from error

from eigenwood.scale.clusters import Cluster, cluster
from eigenwood.scale.tables import blocks

__all__ = ["Cluster", "blocks", "cluster"]
