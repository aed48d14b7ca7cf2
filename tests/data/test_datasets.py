"""Data sets: the bundled ones give the lectures' numbers, the large ones the counts that were published."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sklearn.datasets

from eigenwood.data import datasets
from eigenwood.data.sets import home, images, tabular
from eigenwood.data.tables import target_task
from eigenwood.errors import TableError

BUNDLED = ("uk_foods", "play_tennis", "ten_points", "reviews", "heart")


def counts(values):
    labels, numbers = np.unique(np.asarray(values).astype(str), return_counts=True)
    return dict(zip(labels.tolist(), numbers.tolist(), strict=True))


# --- by name -----------------------------------------------------------------------------------------


def test_every_name_has_a_description():
    assert set(BUNDLED) < set(datasets.names())
    assert list(datasets.describe()) == list(datasets.names())
    assert all(len(line) < 100 and "\n" not in line for line in datasets.describe().values())


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(TableError, match=r"^datasets: name must be one of .*; got 'hart' \(did you mean 'heart'\?\).$"):
        datasets.load("hart")


def test_the_data_home_is_the_variable_if_set(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENWOOD_DATA", str(tmp_path))
    assert datasets.data_home() == tmp_path
    monkeypatch.setenv("EIGENWOOD_DATA", str(tmp_path / "no"))
    with pytest.raises(TableError, match=r"^EIGENWOOD_DATA: must be an existing folder; got '.*no'.$"):
        datasets.data_home()


def test_the_data_home_is_found_from_a_folder_below(tmp_path, monkeypatch):
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "repository" / "notebooks").mkdir(parents=True)
    monkeypatch.delenv("EIGENWOOD_DATA", raising=False)
    monkeypatch.chdir(tmp_path / "repository" / "notebooks")
    assert datasets.data_home() == tmp_path / "shared" / "data"


def test_without_a_data_home_there_is_none(tmp_path, monkeypatch):
    monkeypatch.delenv("EIGENWOOD_DATA", raising=False)
    monkeypatch.setattr(home, "usual_places", lambda: [tmp_path / "no"])
    assert datasets.data_home() is None


# --- the bundled sets --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_set_knows_its_shape(name):
    data = datasets.load(name)
    assert data.name == name
    table = data.table()
    assert table.name == name
    assert set(data.feature_names) <= set(table.frame.column_names)
    if data.y is not None:
        assert len(data.y) == table.n_rows
        assert target_task(table, data.target_name) == "classification"


def test_uk_foods_gives_the_lecture_s_components():
    data = datasets.load("uk_foods")
    assert data.row_labels["country"] == ["England", "N Ireland", "Scotland", "Wales"]
    assert data.X.shape == (4, 17)
    assert data.X[1, data.feature_names.index("Fresh potatoes")] == 1033
    U, S, Vt = np.linalg.svd(data.X - data.X.mean(axis=0), full_matrices=False)
    assert (100 * S**2 / (S**2).sum())[:3] == pytest.approx([67.44, 29.05, 3.50], abs=0.005)
    sign = np.sign(U[1, 0])
    assert sign * U[:, 0] * S[0] == pytest.approx([-145.0, 477.4, -91.9, -240.5], abs=0.05)
    loading = dict(zip(data.feature_names, sign * Vt[0], strict=True))
    assert loading["Fresh fruit"] == pytest.approx(-0.633, abs=5e-4)
    assert loading["Alcoholic drinks"] == pytest.approx(-0.464, abs=5e-4)
    assert loading["Fresh potatoes"] == pytest.approx(0.401, abs=5e-4)
    assert data.table().kinds()["country"] == "id"


def entropy(labels):
    shares = np.array(list(counts(labels).values())) / len(labels)
    return -(shares * np.log2(shares)).sum()


def test_play_tennis_gives_the_lecture_s_gains():
    data = datasets.load("play_tennis")
    gains = {}
    for name, column in zip(data.feature_names, data.X.T, strict=True):
        left = sum((column == value).mean() * entropy(data.y[column == value]) for value in set(column))
        gains[name] = entropy(data.y) - left
    assert gains == pytest.approx({"outlook": 0.247, "temperature": 0.029, "humidity": 0.152, "wind": 0.048}, abs=6e-4)
    assert data.table().kinds()["day"] == "id"


def test_ten_points_give_the_first_round_of_boosting():
    data = datasets.load("ten_points")
    first = np.where(data.X[:, 0] < 2.5, 1, -1)
    assert (first != data.y).mean() == 0.30
    assert data.y.sum() == 0


def test_reviews_are_liked_but_for_the_second():
    data = datasets.load("reviews")
    assert data.y.tolist() == ["liked", "not liked", "liked", "liked"]
    assert "boring" in data.X[1]
    assert data.X[0].count("loved") == 2
    assert data.table().kinds()["review"] == "text"


def test_heart_counts_and_kinds():
    data = datasets.load("heart")
    assert counts(data.y) == {"no": 164, "yes": 139}
    table = data.table()
    missing = {column.name: column.n_missing for column in table.columns if column.n_missing}
    assert missing == {"vessels": 4, "thal": 2}
    numbers = {name for name, kind in table.kinds().items() if kind == "number"}
    assert numbers == {
        "age",
        "resting_pressure",
        "cholesterol",
        "max_heart_rate",
        "st_depression",
        "vessels",
    }
    assert set(table.kinds().values()) == {"number", "category"}
    assert counts(data.X["sex"]) == {"female": 97, "male": 206}


@pytest.mark.data
def test_heart_is_the_original_in_words():
    words = {
        "sex": {0: "female", 1: "male"},
        "chest_pain": {1: "typical angina", 2: "atypical angina", 3: "non-anginal pain", 4: "asymptomatic"},
        "high_fasting_sugar": {0: "no", 1: "yes"},
        "rest_ecg": {0: "normal", 1: "ST-T abnormality", 2: "ventricular hypertrophy"},
        "exercise_angina": {0: "no", 1: "yes"},
        "st_slope": {1: "up", 2: "flat", 3: "down"},
        "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
        "disease": {0: "no", 1: "yes", 2: "yes", 3: "yes", 4: "yes"},
    }
    raw = (datasets.data_home() / "heart_cleveland" / "processed.cleveland.data").read_text().split()
    frame = datasets.load("heart").table().frame
    for column, name in zip(zip(*(line.split(",") for line in raw), strict=True), frame.column_names, strict=True):
        values = [None if value == "?" else float(value) for value in column]
        if name in words:
            values = [value if value is None else words[name][value] for value in values]
        assert frame[name].to_pylist() == values


def test_a_set_that_is_no_table_says_so():
    data = datasets.Dataset("paths", "", {"a": "b"}, None, (), None)
    with pytest.raises(TableError, match=r"^paths: table must come from an array, a frame or texts; got dict.$"):
        data.table()


# --- the large sets ----------------------------------------------------------------------------------


@pytest.mark.data
def test_covertype(loaded):
    data = loaded("covertype")
    assert data.X.shape == (581_012, 54)
    assert data.X.dtype == np.float32
    assert np.bincount(data.y).tolist() == [0, 211840, 283301, 35754, 2747, 9493, 17367, 20510]
    assert data.X[:, 0].mean(dtype=float) == pytest.approx(2959.37, abs=0.005)
    assert (data.X[:, 10:14].sum(axis=1) == 1).all()
    assert (data.X[:, 14:].sum(axis=1) == 1).all()
    assert data.feature_names[0] == "Elevation"


@pytest.mark.data
def test_covertype2_is_the_lecture_s_split(loaded):
    data = loaded("covertype2")
    assert np.bincount(data.y).tolist() == [0, 211840, 283301]
    train, test = data.split
    assert (train.size, test.size) == (49_514, 445_627)
    assert np.array_equal(np.sort(np.concatenate(data.split)), np.arange(495_141))
    # The split is the same for good: this is the fingerprint of its training rows.
    assert hashlib.sha256(train.astype("<i8").tobytes()).hexdigest()[:16] == "d1e10c968d041265"
    assert data.y[train].mean() == pytest.approx(data.y.mean(), abs=0.01)


@pytest.mark.data
def test_mnist(loaded):
    data = loaded("mnist")
    assert data.X.shape == (70_000, 784)
    train, test = data.split
    assert np.bincount(data.y[train]).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(data.y[test]).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.X[train].mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert data.extras["image_shape"] == (28, 28)


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape"), [("faces", (64, 64)), ("orl_faces", (112, 92))])
def test_faces(loaded, name, shape):
    data = loaded(name)
    assert data.X.shape == (400, shape[0] * shape[1])
    assert data.extras["image_shape"] == shape
    assert (data.X.min(), data.X.max()) == (0, 1)
    assert np.bincount(data.y).tolist() == [10] * 40
    assert len(np.unique(data.X, axis=0)) == 400
    squares = (data.X**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * data.X @ data.X.T
    np.fill_diagonal(distances, np.inf)
    # The nearest picture shows the same person; with labels in another order it would in 1 of 44 cases.
    assert (data.y[distances.argmin(axis=1)] == data.y).mean() > 0.9


@pytest.mark.data
@pytest.mark.parametrize("name", ["faces", "orl_faces"])
def test_faces_are_upright(loaded, name):
    """A face is nearly the mirror image of itself, left to right; not top to bottom."""
    data = loaded(name)
    mean = data.X.mean(axis=0).reshape(data.extras["image_shape"])
    across = np.corrcoef(mean.ravel(), mean[:, ::-1].ravel())[0, 1]
    down = np.corrcoef(mean.ravel(), mean[::-1].ravel())[0, 1]
    assert across > 0.9 > down


@pytest.mark.data
def test_genomes(loaded):
    data = loaded("genomes")
    assert data.X.shape == (2_504, 23_770) == (2_504, len(data.feature_names))
    assert data.X.flags.c_contiguous
    assert np.unique(data.X).tolist() == [0, 1, 2]
    assert counts(data.y) == {"AFR": 661, "AMR": 347, "EAS": 504, "EUR": 503, "SAS": 489}
    assert len(counts(data.row_labels["population"])) == 26
    assert data.row_labels["sample"][0] == "HG00096"
    assert len(data.feature_names[0].split(":")) == 4


@pytest.mark.data
def test_hapmap3(loaded):
    data = loaded("hapmap3")
    assert counts(data.y) == {
        "MKK": 140, "YRI": 108, "CEU": 107, "GIH": 87, "LWK": 87, "JPT": 85, "TSI": 84, "CHB": 81, "CHD": 81,
        "ASW": 49, "MEX": 48,
    }  # fmt: skip
    for name, people, snps in (
        ("hapmap3", 957, 14_389),
        ("hapmap3_overlap", 957, 14_079),
        ("genomes_overlap", 1_092, 14_079),
    ):
        packed = data.X[name].read_bytes()
        assert packed[:3] == b"\x6c\x1b\x01"  # PLINK's magic number, SNP-major
        assert len(packed) == 3 + snps * -(-people // 4)
        assert len(data.X[name].with_suffix(".bim").read_text().splitlines()) == snps
    assert (data.extras["genomes_populations"] != "").sum() == 1_047
    assert len(data.extras["genomes_people"]) == 1_092


@pytest.mark.data
def test_adult(loaded):
    data = loaded("adult")
    train, test = data.split
    assert counts(data.y[train]) == {"<=50K": 24720, ">50K": 7841}
    assert counts(data.y[test]) == {"<=50K": 12435, ">50K": 3846}
    missing = np.any([pc.is_null(column).to_numpy() for column in data.X.columns], axis=0)
    assert (missing[train].sum(), missing[test].sum()) == (2_399, 1_221)
    kinds = data.table().kinds()
    assert sum(kinds[name] == "category" for name in data.feature_names) == 8
    assert sum(kinds[name] == "number" for name in data.feature_names) == 6


@pytest.mark.data
def test_a9a(loaded):
    data = loaded("a9a")
    train, test = data.split
    assert data.X.shape == (48_842, 123)
    assert counts(data.y[train]) == {"-1": 24720, "1": 7841}
    assert counts(data.y[test]) == {"-1": 12435, "1": 3846}
    assert (data.X[train].nnz, data.X[test].nnz) == (451_592, 225_731)
    with pytest.raises(TableError, match=r"^a9a: table must come from an array, a frame or texts; got csr_"):
        data.table()


@pytest.mark.data
def test_a9a_and_adult_are_the_same_people(loaded):
    signs = np.where(loaded("adult").y == ">50K", 1, -1)
    assert np.array_equal(signs, loaded("a9a").y)


@pytest.mark.data
def test_california_housing(loaded):
    data = loaded("california_housing")
    assert data.X.shape == (20_640, 8)
    assert (data.y.min(), data.y.max()) == (0.14999, 5.00001)
    assert data.y.mean() == pytest.approx(2.068558, abs=1e-6)
    # The first row as scikit-learn documents it.
    assert data.X[0] == pytest.approx([8.3252, 41, 6.98412698, 1.02380952, 322, 2.55555556, 37.88, -122.23])
    assert target_task(data.table(), data.target_name) == "regression"


@pytest.mark.data
def test_spambase(loaded):
    data = loaded("spambase")
    assert data.X.shape == (4_601, 57)
    assert np.bincount(data.y).tolist() == [2_788, 1_813]
    column = dict(zip(data.feature_names, data.X.mean(axis=0), strict=True))
    assert column["word_freq_george"] == pytest.approx(0.7673, abs=5e-5)
    assert column["char_freq_!"] == pytest.approx(0.26907, abs=5e-6)
    assert column["capital_run_length_total"] == pytest.approx(283.29, abs=5e-3)


@pytest.mark.data
def test_sms_spam(loaded):
    data = loaded("sms_spam")
    assert len(data.X) == 5_574
    assert counts(data.y) == {"ham": 4_827, "spam": 747}
    assert data.X[0].startswith("Go until jurong point, crazy..")
    assert data.table().kinds() == {"message": "text", "label": "category"}


@pytest.mark.data
def test_polarity(loaded):
    data = loaded("polarity")
    assert counts(data.y) == {"liked": 1_000, "not liked": 1_000}
    assert len(set(data.X)) == 2_000
    assert data.X[0].startswith("plot : two teen couples go to a church party")


@pytest.mark.data
def test_enwiki(loaded):
    (text,) = loaded("enwiki").X
    words = text.split()
    assert (len(text), len(words), len(set(words))) == (30_000_000, 5_086_341, 119_160)


@pytest.mark.data
def test_word_eval(loaded):
    data = loaded("word_eval")
    assert data.X.shape == (19_544, 4)
    assert len(set(data.row_labels["section"])) == 14
    assert data.X[0].tolist() == ["Athens", "Greece", "Baghdad", "Iraq"]
    assert len(data.extras["wordsim353"]) == 353
    assert len(data.extras["simlex999"]) == 999
    assert data.extras["simlex999"][0] == ("old", "new", 1.58)


# --- from the internet -------------------------------------------------------------------------------


@pytest.fixture
def empty_home(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENWOOD_DATA", str(tmp_path))


@pytest.mark.usefixtures("empty_home")
@pytest.mark.parametrize(
    ("name", "fetcher", "file"),
    [
        ("covertype", "fetch_covtype", "covtype/covtype.parquet"),
        ("covertype2", "fetch_covtype", "covtype/covtype.parquet"),
        ("mnist", "fetch_openml", "mnist/train-images-idx3-ubyte.gz"),
        ("faces", "fetch_olivetti_faces", "olivetti_orl/olivettifaces.mat"),
        ("california_housing", "fetch_california_housing", "california_housing/cal_housing.data.xz"),
        ("adult", "fetch_openml", "adult/adult.data.xz"),
        ("spambase", "fetch_openml", "spambase/spambase.data.xz"),
    ],
)
def test_without_file_and_network_the_sentence_names_the_file(monkeypatch, name, fetcher, file):
    def unreachable(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, fetcher, unreachable)
    with pytest.raises(TableError) as caught:
        datasets.load(name)
    assert str(caught.value) == (
        f"datasets: {name} is not in the data home and could not be fetched; "
        f"set EIGENWOOD_DATA to a folder that holds {file}."
    )


@pytest.mark.usefixtures("empty_home")
def test_a_set_that_nobody_offers_names_the_file():
    with pytest.raises(TableError) as caught:
        datasets.load("enwiki")
    assert str(caught.value) == (
        "datasets: enwiki is not in the data home and cannot be fetched; "
        "set EIGENWOOD_DATA to a folder that holds enwiki/enwiki_text8style_30MB.txt.zst."
    )


def reply(**fields):
    return lambda *args, **kwargs: SimpleNamespace(**fields)


@pytest.mark.usefixtures("empty_home")
def test_fetched_sets_have_the_shape_of_the_stored_ones(monkeypatch):
    rng = np.random.default_rng(0)
    bunch = {"data": rng.normal(size=(60, 54)), "target": np.repeat([1, 2, 3], 20)}
    monkeypatch.setattr(sklearn.datasets, "fetch_covtype", reply(**bunch, feature_names=[f"f{j}" for j in range(54)]))
    covertype = datasets.load("covertype")
    assert (covertype.X.dtype, covertype.y.dtype) == (np.float32, np.int64)

    monkeypatch.setattr(tabular, "COVERTYPE2_TRAIN_ROWS", 10)
    covertype2 = datasets.load("covertype2")
    assert len(covertype2.y) == 40
    assert [part.size for part in covertype2.split] == [10, 30]

    monkeypatch.setattr(images, "N_DIGITS_TRAIN", 60)
    pixels = rng.integers(0, 256, size=(70, 784)).astype(float)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", reply(data=pixels, target=np.array(["7"] * 70)))
    mnist = datasets.load("mnist")
    assert (mnist.X.dtype, mnist.y[0]) == (np.uint8, 7)
    assert mnist.split.test.size == 10

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", reply(data=rng.random((400, 4096), np.float32)))
    assert datasets.load("faces").X.shape == (400, 4096)

    monkeypatch.setattr(
        sklearn.datasets, "fetch_california_housing", reply(data=np.ones((5, 8)), target=np.arange(5.0))
    )
    assert datasets.load("california_housing").y[4] == 4.0


@pytest.mark.usefixtures("empty_home")
def test_fetched_codes_become_words_again(monkeypatch):
    data = np.zeros((3, 14))
    data[:, 1] = [1, np.nan, 0]
    data[:, 0] = [39, 50, np.nan]
    bunch = reply(
        data=data,
        target=np.array(["<=50K", ">50K", "<=50K"], dtype=object),
        feature_names=["age", "workclass", *"abcdefghijkl"],
        categories={"workclass": ["Private", "State-gov"]},
    )
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", bunch)
    adult = datasets.load("adult")
    assert adult.X["workclass"].to_pylist() == ["State-gov", None, "Private"]
    assert adult.X["age"].to_pylist() == [39, 50, None]
    assert isinstance(adult.X, pa.Table)
    assert adult.split is None
