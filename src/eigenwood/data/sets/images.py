"""Data sets that are pictures: one row per picture, its pixels in reading order."""

import gzip
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from eigenwood.data.sets.record import Dataset
from eigenwood.data.sets.tabular import leading_split

N_DIGITS_TRAIN = 60_000
DIGIT_SHAPE = (28, 28)
IDX_HEADER_BYTES = {"images": 16, "labels": 8}

N_PEOPLE, N_PICTURES = 40, 10
FACE_SHAPE = (64, 64)
ORL_SHAPE = (112, 92)


def pixel_names(shape: tuple[int, int]) -> tuple[str, ...]:
    return tuple(f"pixel_{row}_{column}" for row in range(shape[0]) for column in range(shape[1]))


def image_dataset(
    name: str, description: str, X: np.ndarray, y: np.ndarray, shape, target: str, **more: Any
) -> Dataset:
    return Dataset(name, description, X, y, pixel_names(shape), target, extras={"image_shape": shape}, **more)


# --- digits ---------------------------------------------------------------------------------------


def mnist(description: str, home: Path) -> Dataset:
    """Pixels are bytes, 0 to 255; the training images come first."""
    parts = ("train", "t10k")
    images = [read_idx(home / "mnist", part, "images").reshape(-1, 784) for part in parts]
    labels = [read_idx(home / "mnist", part, "labels") for part in parts]
    return mnist_dataset(description, np.concatenate(images), np.concatenate(labels))


def read_idx(folder: Path, part: str, what: str) -> np.ndarray:
    """Return the bytes of an idx file behind its header."""
    dimensions = {"images": 3, "labels": 1}[what]
    packed = gzip.decompress((folder / f"{part}-{what}-idx{dimensions}-ubyte.gz").read_bytes())
    return np.frombuffer(packed, dtype=np.uint8, offset=IDX_HEADER_BYTES[what])


def fetch_mnist(description: str) -> Dataset:
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    return mnist_dataset(description, bunch.data.astype(np.uint8), bunch.target)


def mnist_dataset(description: str, X: np.ndarray, y: np.ndarray) -> Dataset:
    split = leading_split(y.size, N_DIGITS_TRAIN)
    return image_dataset("mnist", description, X, y.astype(np.int64), DIGIT_SHAPE, "digit", split=split)


# --- faces ----------------------------------------------------------------------------------------


def person_of_each_picture() -> np.ndarray:
    return np.repeat(np.arange(N_PEOPLE), N_PICTURES)


def faces(description: str, home: Path) -> Dataset:
    """The file holds one picture per column, each written column by column."""
    stored = scipy.io.loadmat(home / "olivetti_orl" / "olivettifaces.mat")["faces"]
    upright = stored.T.reshape(-1, *FACE_SHAPE).transpose(0, 2, 1)
    return faces_dataset(description, upright.reshape(len(upright), -1))


def fetch_faces(description: str) -> Dataset:
    from sklearn.datasets import fetch_olivetti_faces

    return faces_dataset(description, fetch_olivetti_faces().data)


def faces_dataset(description: str, pixels: np.ndarray) -> Dataset:
    return image_dataset("faces", description, unit_range(pixels), person_of_each_picture(), FACE_SHAPE, "person")


def unit_range(pixels: np.ndarray) -> np.ndarray:
    """Return the pixels as float32 from 0 to 1, as scikit-learn scales the faces."""
    pixels = pixels.astype(np.float32) - np.float32(pixels.min())
    return pixels / pixels.max()


def orl_faces(description: str, home: Path) -> Dataset:
    """The same people in full size. The order of the pictures is not that of ``faces``."""
    size = ORL_SHAPE[0] * ORL_SHAPE[1]
    with tarfile.open(home / "olivetti_orl" / "orl_faces.tar.xz") as archive:
        members = {
            member.name: archive.extractfile(member).read()[-size:]  # type: ignore[union-attr]
            for member in archive
            if member.name.endswith(".pgm")
        }
    pictures = [
        np.frombuffer(members[f"orl_faces/s{person}/{picture}.pgm"], dtype=np.uint8)
        for person in range(1, N_PEOPLE + 1)
        for picture in range(1, N_PICTURES + 1)
    ]
    X = unit_range(np.array(pictures))
    return image_dataset("orl_faces", description, X, person_of_each_picture(), ORL_SHAPE, "person")
