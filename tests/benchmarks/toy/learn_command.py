"""A command that learns and predicts as ``eigenwood`` does, at once and badly: what the whole-command benchmarks start.

TOY_FAULT makes it misbehave: "late" (a second and a half too late), "silent" (no report), "forgetful" (--resume gives
another model), "untouched" (--resume gives another record).
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def main(words):
    options = {name: value for name, value in zip(words, words[1:], strict=False) if name.startswith("--")}
    if words[0] == "learn":
        learn(words[1], options["--target"], float(options.get("--time", "1s")[:-1]), Path(options["--out"]))
    else:
        predict(Path(words[1]), words[2], options["--out"])


def read(file):
    return pyarrow.csv.read_csv(file) if file.endswith(".csv") else pyarrow.parquet.read_table(file)


def learn(file, target, seconds, out):
    """Keep the two most frequent values of the target."""
    began, fault, is_resumed = time.perf_counter(), os.environ.get("TOY_FAULT", ""), "--resume" in sys.argv
    values, counts = np.unique(np.array(read(file)[target].to_pylist()), return_counts=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "model.safetensors").write_text(
        json.dumps(values[np.argsort(-counts)][:2].tolist() + [fault] * (fault == "forgetful" and is_resumed))
    )
    if fault == "late":
        time.sleep(seconds + 1.5 - (time.perf_counter() - began))
    time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
    if fault != "silent":
        (out / "report.html").write_text("a report")
    record = {"rows": counts.sum().item(), "other": fault == "untouched" and is_resumed, "seconds": time.time()}
    (out / "run.json").write_text(json.dumps(record))


def predict(model, file, out):
    """Predict the most frequent value everywhere."""
    first, second = json.loads(model.read_text())[:2]
    n_rows = read(file).num_rows
    shares = {f"probability of {first}": np.full(n_rows, 0.7), f"probability of {second}": np.full(n_rows, 0.3)}
    pyarrow.parquet.write_table(pa.table({"prediction": [first] * n_rows, **shares}), out)


if __name__ == "__main__":
    main(sys.argv[1:])
