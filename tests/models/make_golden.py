"""Write the golden model files: ``python -m tests.models.make_golden``, run by hand when a method or format is new.

A golden file is never written again: files of every released version must load for ever. What exists is left alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

import eigenwood
from tests.models.samples import MAKERS, outputs, sample

GOLDEN = Path(__file__).parent / "golden"


def as_json(X: Any) -> dict:
    """Return the queries as JSON: columns of a frame, documents, or rows and their dtype."""
    if isinstance(X, list):
        return {"documents": X, "dtype": "float32"}
    if isinstance(X, pd.DataFrame):
        return {"columns": X.to_dict(orient="list")}
    if isinstance(X, pa.Table):
        return {"columns": X.to_pydict()}
    if sparse.issparse(X):
        return {"rows": X.toarray().tolist(), "dtype": X.dtype.name, "sparse": True}
    return {"rows": X.tolist(), "dtype": X.dtype.name}


def from_json(told: dict) -> Any:
    """Return the queries that ``as_json`` wrote down."""
    if "documents" in told:
        return told["documents"]
    if "columns" in told:
        return pa.table(told["columns"])
    X = np.array(told["rows"], dtype=told["dtype"])
    return sparse.csr_array(X) if told.get("sparse") else X


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name in MAKERS:
        path = GOLDEN / f"{name}.safetensors"
        if path.exists():
            print(f"{path.name} exists and stays as it is")
            continue
        model, X, _ = sample(name)
        expected = {method: values.tolist() for method, values in outputs(model, X).items()}
        eigenwood.save(model, path)
        path.with_suffix(".json").write_text(json.dumps({"queries": as_json(X), "expected": expected}, indent=1) + "\n")
        print(f"{path.name} written")


if __name__ == "__main__":
    main()
