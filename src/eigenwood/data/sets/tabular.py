"""Data sets that are tables: cover type, census income, housing, spam counts."""

import lzma
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import scipy.sparse

from eigenwood.data.kinds import MISSING_IN_TEXT_FILES
from eigenwood.data.sets.record import Dataset, Split
from eigenwood.data.tables import clean_table

# The lecture's experiment: two classes, 49,514 rows to train on and 445,627 to judge on.
COVERTYPE2_CLASSES = (1, 2)
COVERTYPE2_TRAIN_ROWS = 49_514
COVERTYPE2_SEED = 0

# fmt: off
ADULT_FEATURES = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country",
]
HOUSING_COLUMNS = [
    "longitude", "latitude", "age", "rooms", "bedrooms", "population", "households", "income", "value",
]
HOUSING_FEATURES = (
    "MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude",
)
SPAM_WORDS = (
    "make", "address", "all", "3d", "our", "over", "remove", "internet", "order", "mail", "receive", "will",
    "people", "report", "addresses", "free", "business", "email", "you", "credit", "your", "font", "000",
    "money", "hp", "hpl", "george", "650", "lab", "labs", "telnet", "857", "data", "415", "85", "technology",
    "1999", "parts", "pm", "direct", "cs", "meeting", "original", "project", "re", "edu", "table",
    "conference",
)
# fmt: on
SPAM_FEATURES = (
    *(f"word_freq_{word}" for word in SPAM_WORDS),
    *(f"char_freq_{char}" for char in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
)

N_ADULT_TRAIN = 32_561
N_A9A_FEATURES = 123
HOUSING_UNIT = 100_000.0


def read_headless(path: Path, names: list[str]) -> pa.Table:
    """Return a comma-separated .xz file that has no header row, as strings."""
    with lzma.open(path) as stream:
        return pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(column_names=names),
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )


def cleaned(raw: pa.Table, name: str) -> pa.Table:
    return clean_table(raw, MISSING_IN_TEXT_FILES, name, name).frame


def leading_split(n_rows: int, n_train: int) -> Split:
    """Return the split whose training rows come first."""
    return Split(np.arange(n_train), np.arange(n_train, n_rows))


# --- cover type -----------------------------------------------------------------------------------


def covertype(description: str, home: Path) -> Dataset:
    frame = pyarrow.parquet.read_table(home / "covtype" / "covtype.parquet")
    features = frame.column_names[:-1]
    X = np.empty((frame.num_rows, len(features)), dtype=np.float32)
    for j, name in enumerate(features):
        X[:, j] = frame[name].to_numpy()
    return covertype_dataset(description, X, frame["Cover_Type"].to_numpy(), tuple(features))


def fetch_covertype(description: str) -> Dataset:
    from sklearn.datasets import fetch_covtype

    bunch = fetch_covtype()
    return covertype_dataset(description, bunch.data.astype(np.float32), bunch.target, tuple(bunch.feature_names))


def covertype_dataset(description: str, X: np.ndarray, y: np.ndarray, features: tuple[str, ...]) -> Dataset:
    return Dataset("covertype", description, X, y.astype(np.int64), features, "Cover_Type")


def covertype2(description: str, home: Path) -> Dataset:
    return two_classes(description, covertype("", home))


def fetch_covertype2(description: str) -> Dataset:
    return two_classes(description, fetch_covertype(""))


def two_classes(description: str, everything: Dataset) -> Dataset:
    """Return spruce-fir and lodgepole pine only, split at random (not stratified) by a fixed seed."""
    assert everything.y is not None
    kept = np.isin(everything.y, COVERTYPE2_CLASSES)
    X, y = everything.X[kept], everything.y[kept]
    # RandomState is the old generator: NumPy has frozen its numbers, so the split is the same for good.
    order = np.random.RandomState(COVERTYPE2_SEED).permutation(y.size)
    train, test = np.split(order, [COVERTYPE2_TRAIN_ROWS])
    split = Split(np.sort(train), np.sort(test))
    return Dataset("covertype2", description, X, y, everything.feature_names, everything.target_name, split)


# --- census income --------------------------------------------------------------------------------


def adult(description: str, home: Path) -> Dataset:
    """The training file first, then the test file, whose labels end in a full stop."""
    names = [*ADULT_FEATURES, "income"]
    files = ("adult.data.xz", "adult.test.xz")
    raw = pa.concat_tables([read_headless(home / "adult" / file, names) for file in files])
    frame = cleaned(raw, "adult")
    y = np.array([label.rstrip(".") for label in frame["income"].to_pylist()], dtype=object)
    split = leading_split(frame.num_rows, N_ADULT_TRAIN)
    return adult_dataset(description, frame.drop_columns(["income"]), y, split)


def fetch_adult(description: str) -> Dataset:
    """OpenML mixes the two files, so there is no split."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml("adult", version=2, as_frame=False, parser="liac-arff")
    columns = [decoded(bunch.data[:, j], bunch.categories.get(name)) for j, name in enumerate(bunch.feature_names)]
    return adult_dataset(description, pa.table(columns, names=ADULT_FEATURES), bunch.target, None)


def decoded(codes: np.ndarray, categories: list | None) -> pa.Array:
    """Return numbers as they are, and codes as the categories they stand for."""
    missing = np.isnan(codes)
    if categories is None:
        return pa.array(codes, mask=missing)
    words = np.asarray(categories, dtype=object)[np.where(missing, 0, codes).astype(np.intp)]
    return pa.array(words, mask=missing)


def adult_dataset(description: str, frame: pa.Table, y: np.ndarray, split: Split | None) -> Dataset:
    return Dataset("adult", description, frame, y, tuple(ADULT_FEATURES), "income", split)


def a9a(description: str, home: Path) -> Dataset:
    from sklearn.datasets import load_svmlight_file

    parts = []
    for file in ("a9a.xz", "a9a.t.xz"):
        with lzma.open(home / "a9a" / file) as stream:
            parts.append(load_svmlight_file(stream, n_features=N_A9A_FEATURES))
    X = scipy.sparse.vstack([X for X, _ in parts], format="csr")
    y = np.concatenate([y for _, y in parts]).astype(np.int64)
    features = tuple(f"x{j}" for j in range(1, N_A9A_FEATURES + 1))
    return Dataset("a9a", description, X, y, features, "label", leading_split(y.size, N_ADULT_TRAIN))


# --- housing and spam -----------------------------------------------------------------------------


def california_housing(description: str, home: Path) -> Dataset:
    """Averages per household and values in 100,000 dollars, as scikit-learn makes them from the same file."""
    path = home / "california_housing" / "cal_housing.data.xz"
    frame = cleaned(read_headless(path, HOUSING_COLUMNS), "california_housing")
    of = {name: frame[name].to_numpy() for name in HOUSING_COLUMNS}
    X = np.column_stack(
        [
            of["income"],
            of["age"],
            of["rooms"] / of["households"],
            of["bedrooms"] / of["households"],
            of["population"],
            of["population"] / of["households"],
            of["latitude"],
            of["longitude"],
        ]
    )
    return housing_dataset(description, X, of["value"] / HOUSING_UNIT)


def fetch_housing(description: str) -> Dataset:
    from sklearn.datasets import fetch_california_housing

    bunch = fetch_california_housing()
    return housing_dataset(description, bunch.data, bunch.target)


def housing_dataset(description: str, X: np.ndarray, y: np.ndarray) -> Dataset:
    return Dataset("california_housing", description, X, y, HOUSING_FEATURES, "MedHouseVal")


def spambase(description: str, home: Path) -> Dataset:
    names = [*SPAM_FEATURES, "spam"]
    frame = cleaned(read_headless(home / "spambase" / "spambase.data.xz", names), "spambase")
    columns = np.column_stack([frame[name].to_numpy() for name in names])
    return spambase_dataset(description, columns[:, :-1], columns[:, -1])


def fetch_spambase(description: str) -> Dataset:
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml("spambase", version=1, as_frame=False, parser="liac-arff")
    return spambase_dataset(description, bunch.data, bunch.target)


def spambase_dataset(description: str, X: np.ndarray, y: np.ndarray) -> Dataset:
    X = np.ascontiguousarray(X, dtype=np.float64)
    return Dataset("spambase", description, X, y.astype(np.int64), SPAM_FEATURES, "spam")
