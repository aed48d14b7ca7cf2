"""What every data set is handed out as."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eigenwood.data.tables import Table, clean_table
from eigenwood.errors import TableError


class Split(NamedTuple):
    """The rows a data set is trained on and the rows it is judged on, as indices."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named data set.

    ``X`` is what fits the data: an ndarray, a CSR matrix, a pyarrow.Table with categories and missing values,
    a list of texts, or a mapping of paths. ``y`` is None where there is nothing to learn.
    """

    name: str
    description: str
    X: Any = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    target_name: str | None
    split: Split | None = field(default=None, repr=False)  # where the data set comes with one
    row_labels: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what else is known of each row
    extras: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what is not one value per row

    def table(self) -> Table:
        """Return row labels, features and target as one table.

        >>> from eigenwood.data.datasets import load
        >>> load("heart").table().kinds()["chest_pain"]
        'category'
        """
        columns = {**self.row_labels, **self._feature_columns()}
        if self.y is not None:
            columns[str(self.target_name)] = self.y
        # The values are clean: no string stands for "missing" any more.
        return clean_table(pa.table(columns), (), self.name, self.name)

    def _feature_columns(self) -> dict[str, Any]:
        if isinstance(self.X, pa.Table):
            return dict(zip(self.X.column_names, self.X.columns, strict=True))
        if isinstance(self.X, list):
            return {self.feature_names[0]: self.X}
        if isinstance(self.X, np.ndarray):
            return dict(zip(self.feature_names, self.X.T, strict=True))
        raise TableError(f"{self.name}: table must come from an array, a frame or texts; got {type(self.X).__name__}.")
