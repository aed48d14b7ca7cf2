"""Whole tables for ``learn`` and its rivals: real ones from the data home, others drawn from a fixed seed.

TABLES ─► whole(table) ─► parts(table, seed): rows to learn from, blind rows, the truth about them
          (kept as Parquet in the folder EIGENWOOD_BENCH, else in the temporary one)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

VARIABLE = "EIGENWOOD_BENCH"
VERSION = 1  # of the drawn tables: a changed one is drawn again
BLIND_SHARE = 0.25

CLASSES, AMOUNTS = "classes", "amounts"


class Table(NamedTuple):
    """A table, the column to predict, and the score that ranks."""

    make: Callable[[], pa.Table]
    target: str
    metric: str  # one of learn_scores.METRICS
    suffix: str = ".csv"
    n_train: int | None = None  # None: three quarters of the rows

    @property
    def task(self) -> str:
        return AMOUNTS if self.metric == "r2" else CLASSES


class Parts(NamedTuple):
    """What every system is given, and what none is."""

    train: pa.Table
    blind: pa.Table  # without the target
    truth: np.ndarray


def from_data_home(name: str) -> pa.Table:
    """Return a data set of ours as a table; whole numbers are integers, as in its source."""
    from eigenwood.data.datasets import load

    frame = load(name).table().frame
    return pa.table({column: integers_where_whole(frame[column]) for column in frame.column_names})


def integers_where_whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of floats as integers if it loses nothing by it, any other as it is."""
    if not pa.types.is_floating(column.type):
        return column
    try:
        return column.cast(pa.int32())
    except pa.ArrowInvalid:  # a fraction, or too large
        return column


def sparse_census() -> pa.Table:
    """Return a9a, 123 columns of zeros and ones, as a dense table."""
    from eigenwood.data.datasets import load

    census = load("a9a")
    X = census.X.toarray().astype(np.int8)
    return pa.table(dict(zip(census.feature_names, X.T, strict=True)) | {"label": census.y})


def from_scikit_learn(loader: str, target: str) -> Callable[[], pa.Table]:
    """Return a maker of one of scikit-learn's bundled tables."""

    def make() -> pa.Table:
        from sklearn import datasets

        bunch = getattr(datasets, loader)()
        names = [str(name).replace(" ", "_") for name in bunch.feature_names]
        return pa.table(dict(zip(names, bunch.data.T, strict=True)) | {target: bunch.target})

    return make


def numbered(X: np.ndarray, y: np.ndarray, target: str = "y") -> pa.Table:
    """Return columns x0, x1, … and the target."""
    return pa.table({f"x{j}": column for j, column in enumerate(X.T)} | {target: y})


def friedman() -> pa.Table:
    """Return Friedman's first function with noise: five columns count, five do not."""
    from sklearn.datasets import make_friedman1

    return numbered(*make_friedman1(5_000, 10, noise=1.0, random_state=0))


def clusters() -> pa.Table:
    """Return four classes in twelve clusters; 5 % of the labels are drawn at random."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        10_000, 20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=3, flip_y=0.05, random_state=0
    )
    return numbered(X, np.array(["north", "east", "south", "west"])[y])


def thirty() -> pa.Table:
    """Return two classes that five of eight columns tell apart: 30 rows to learn from, the others are blind."""
    from sklearn.datasets import make_classification

    X, y = make_classification(2_030, 8, n_informative=4, n_redundant=1, class_sep=1.5, flip_y=0.0, random_state=1)
    return numbered(X, np.array(["no", "yes"])[y])


def wide() -> pa.Table:
    """Return 400 rows of 10,000 columns of which 20 count."""
    from sklearn.datasets import make_classification

    X, y = make_classification(400, 10_000, n_informative=20, n_redundant=0, class_sep=2.0, random_state=0)
    return numbered(X.astype(np.float32), y)


def fraud(n_rows: int = 60_000, seed: int = 0) -> pa.Table:
    """Return payments of which one in two hundred is a fraud: large for their customer, at night, from afar."""
    rng = np.random.default_rng(seed)
    usual = rng.lognormal(3.5, 0.7, n_rows)
    amount = usual * rng.lognormal(0.0, 0.6, n_rows)
    hour = rng.choice(24, n_rows, p=np.r_[np.full(6, 0.01), np.full(18, 0.94 / 18)])
    distance = rng.exponential(30.0, n_rows)
    age = rng.exponential(900.0, n_rows)
    trade = rng.choice(
        ["food", "fuel", "travel", "jewels", "games", "phones"], n_rows, p=[0.4, 0.2, 0.15, 0.05, 0.1, 0.1]
    )
    risk = (
        1.4 * np.log(amount / usual)
        + 1.5 * (hour < 6)
        + 0.012 * distance
        - 0.0012 * age
        + np.select([trade == "jewels", trade == "phones", trade == "games"], [1.5, 1.0, 0.7], 0.0)
        + rng.logistic(0.0, 0.8, n_rows)
    )
    is_fraud = np.zeros(n_rows, dtype=bool)
    is_fraud[np.argsort(-risk)[: n_rows // 200]] = True
    columns = {"amount": amount.round(2), "usual_amount": usual.round(2), "hour": hour, "kilometres": distance.round(1)}
    columns |= {"customer_days": age.round(), "trade": trade}
    columns |= {f"signal_{j}": rng.standard_normal(n_rows).round(4) for j in range(6)}
    return pa.table(columns | {"fraud": np.where(is_fraud, "yes", "no")})


def dates(n_rows: int = 6_000, seed: int = 0) -> pa.Table:
    """Return sales of shops over four years, with a weekend, a summer and a growth that only the date tells."""
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 4 * 365 * 24 * 3600, n_rows)
    when = np.datetime64("2020-01-01T00:00:00") + seconds.astype("timedelta64[s]")
    day = when.astype("datetime64[D]")
    weekday = (day.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    day_of_year = (day - day.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64)
    hour = (seconds // 3600) % 24
    shop = rng.choice(["station", "centre", "suburb", "airport"], n_rows)
    price = rng.uniform(2.0, 6.0, n_rows)
    sales = (
        80.0
        + 45.0 * (weekday >= 5) * (shop != "station")
        - 25.0 * (weekday >= 5) * (shop == "station")
        + 20.0 * np.sin(2 * np.pi * (day_of_year - 80) / 365.25)
        + 15.0 * np.exp(-(((hour - 17) / 3.0) ** 2))
        + 0.01 * (seconds / 86_400)
        - 9.0 * price
        + rng.normal(0.0, 8.0, n_rows)
    )
    columns = {
        "sold_at": pa.array(when.astype("datetime64[ms]")),
        "shop": pa.array(shop),
        "price": pa.array(price.round(2)),
    }
    return pa.table(columns | {"sales": pa.array(sales.round(1))})


# The names and the metrics were chosen before anything was run.
TABLES: dict[str, Table] = {
    "thirty": Table(thirty, "y", "accuracy", n_train=30),
    "wine": Table(from_scikit_learn("load_wine", "cultivar"), "cultivar", "accuracy"),
    "heart": Table(lambda: from_data_home("heart"), "disease", "accuracy"),
    "wide": Table(wide, "y", "accuracy", ".parquet"),
    "diabetes": Table(from_scikit_learn("load_diabetes", "progression"), "progression", "r2"),
    "breast_cancer": Table(from_scikit_learn("load_breast_cancer", "benign"), "benign", "accuracy"),
    "digits": Table(from_scikit_learn("load_digits", "digit"), "digit", "accuracy"),
    "polarity": Table(lambda: from_data_home("polarity"), "opinion", "accuracy", ".parquet"),
    "spambase": Table(lambda: from_data_home("spambase"), "spam", "accuracy"),
    "friedman": Table(friedman, "y", "r2"),
    "sms_spam": Table(lambda: from_data_home("sms_spam"), "label", "accuracy"),
    "dates": Table(dates, "sales", "r2", ".parquet"),
    "clusters": Table(clusters, "y", "accuracy"),
    "california": Table(lambda: from_data_home("california_housing"), "MedHouseVal", "r2"),
    "adult": Table(lambda: from_data_home("adult"), "income", "accuracy"),
    "a9a": Table(sparse_census, "label", "accuracy"),
    "fraud": Table(fraud, "fraud", "auc"),
    "covertype": Table(lambda: from_data_home("covertype"), "Cover_Type", "accuracy", ".parquet"),
}
# a9a is the census again, wine is solved by everybody, 400 x 10,000 is for the clock: these three are not ranked
# unless they are asked for.
RANKED = tuple(name for name in TABLES if name not in ("a9a", "wine", "wide"))
TIMED = ("thirty", "wine", "heart", "wide", "digits", "polarity", "sms_spam", "california", "adult", "a9a", "fraud",
         "covertype")  # fmt: skip


def home() -> Path:
    """Return the folder in which tables are kept."""
    return Path(os.environ.get(VARIABLE) or Path(gettempdir()) / "eigenwood-bench")


def chosen(names: list[str] | None, default: tuple[str, ...]) -> list[str]:
    """Return the names that were asked for; a ValueError says which there are."""
    unknown = [name for name in names or () if name not in TABLES]
    if unknown:
        raise ValueError(f"--tables must be among {', '.join(TABLES)}; got {', '.join(unknown)}.")
    return list(default if names is None else names)


def whole(name: str) -> pa.Table:
    """Return a table with all its rows; it is made once and kept."""
    file = home() / f"{name}-{VERSION}.parquet"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        pyarrow.parquet.write_table(TABLES[name].make(), temporary, compression="zstd")
        os.replace(temporary, file)
    return pyarrow.parquet.read_table(file)


def parts(name: str, seed: int) -> Parts:
    """Return the rows to learn from and the blind rows, drawn at random by the seed."""
    table, rows = TABLES[name], whole(name)
    n_train = rows.num_rows - round(BLIND_SHARE * rows.num_rows) if table.n_train is None else table.n_train
    train, blind = np.split(np.random.default_rng(seed).permutation(rows.num_rows), [n_train])
    return Parts(
        rows.take(train),
        rows.drop_columns([table.target]).take(blind),
        np.asarray(rows[table.target].take(blind).to_pylist()),
    )


def write(rows: pa.Table, file: Path) -> Path:
    """Write rows as CSV or Parquet, as the name says."""
    if file.suffix == ".csv":
        pyarrow.csv.write_csv(rows, file)
    else:
        pyarrow.parquet.write_table(rows, file)
    return file
