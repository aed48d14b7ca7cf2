"""The small data sets that come with the package: the tables of the lectures, and heart disease."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pyarrow as pa

from eigenwood.data.sets.record import Dataset
from eigenwood.data.tables import Table, read_table


@contextmanager
def bundled_file(name: str) -> Iterator[Path]:
    """Yield the path of a bundled file, also when the package is a zip archive."""
    with as_file(files("eigenwood.data") / "bundled" / name) as path:
        yield path


def bundled_table(name: str) -> Table:
    with bundled_file(name) as path:
        return read_table(path)


def strings(frame: pa.Table, names: list[str]) -> np.ndarray:
    """Return string columns as one array of objects, shape (n_rows, len(names))."""
    return np.array([frame[name].to_pylist() for name in names], dtype=object).T


def numbers(frame: pa.Table, names: list[str]) -> np.ndarray:
    """Return number columns as one array, shape (n_rows, len(names))."""
    return np.column_stack([frame[name].to_numpy() for name in names])


def uk_foods(description: str) -> Dataset:
    """The file holds foods x countries, as the lecture prints it; X holds countries x foods."""
    frame = bundled_table("uk_foods.csv").frame
    countries = frame.column_names[1:]
    return Dataset(
        name="uk_foods",
        description=description,
        X=np.ascontiguousarray(numbers(frame, countries).T),
        y=None,
        feature_names=tuple(frame["food"].to_pylist()),
        target_name=None,
        row_labels={"country": countries},
    )


def play_tennis(description: str) -> Dataset:
    frame = bundled_table("play_tennis.csv").frame
    features = frame.column_names[1:-1]
    return Dataset(
        name="play_tennis",
        description=description,
        X=strings(frame, features),
        y=strings(frame, ["play_tennis"]).ravel(),
        feature_names=tuple(features),
        target_name="play_tennis",
        row_labels={"day": frame["day"]},
    )


def ten_points(description: str) -> Dataset:
    frame = bundled_table("ten_points.csv").frame
    return Dataset(
        name="ten_points",
        description=description,
        X=numbers(frame, ["x1", "x2"]),
        y=frame["label"].to_numpy().astype(np.int64),
        feature_names=("x1", "x2"),
        target_name="label",
    )


def reviews(description: str) -> Dataset:
    frame = bundled_table("reviews.csv").frame
    return Dataset(
        name="reviews",
        description=description,
        X=frame["review"].to_pylist(),
        y=strings(frame, ["opinion"]).ravel(),
        feature_names=("review",),
        target_name="opinion",
    )


def heart(description: str) -> Dataset:
    frame = bundled_table("heart.csv").frame
    return Dataset(
        name="heart",
        description=description,
        X=frame.drop_columns(["disease"]),
        y=strings(frame, ["disease"]).ravel(),
        feature_names=tuple(frame.column_names[:-1]),
        target_name="disease",
    )
