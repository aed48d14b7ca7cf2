"""The tables of the whole-command benchmarks, and how they are parted."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from benchmarks import learn_tables
from benchmarks.learn_scores import METRICS
from benchmarks.learn_tables import RANKED, TABLES, TIMED, chosen, integers_where_whole, parts, whole, write

DRAWN = ("thirty", "dates", "fraud", "friedman", "clusters", "wine", "digits")


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(learn_tables.VARIABLE, str(tmp_path_factory.mktemp("tables")))
        yield


@pytest.mark.parametrize("name", DRAWN)
def test_a_table_is_the_same_each_time(name):
    made = TABLES[name].make()
    assert made.equals(TABLES[name].make())
    assert whole(name).equals(made)


@pytest.mark.parametrize("name", ["thirty", "friedman", "dates"])
def test_parts_are_all_rows_each_once(name):
    found, target = parts(name, 3), TABLES[name].target
    assert target not in found.blind.column_names
    blind = found.blind.append_column(target, pa.array(found.truth))
    both = pa.concat_tables([found.train, blind.cast(found.train.schema)])
    assert sorted(map(str, both.to_pylist())) == sorted(map(str, whole(name).to_pylist()))


def test_a_quarter_is_blind_or_all_but_the_wanted_rows():
    assert parts("wine", 0).train.num_rows == 178 - 44
    assert parts("thirty", 0).train.num_rows == 30


def test_parts_follow_from_the_seed():
    assert parts("wine", 1).train.equals(parts("wine", 1).train)
    assert not parts("wine", 1).train.equals(parts("wine", 2).train)


def test_one_payment_in_two_hundred_is_a_fraud():
    frauds = np.array(whole("fraud")["fraud"].to_pylist()) == "yes"
    assert frauds.mean() == 0.005


def test_weekends_show_in_sales():
    sales = whole("dates").to_pandas()
    at_weekend = sales.sold_at.dt.day_of_week.to_numpy() >= 5
    away = (sales["shop"] != "station").to_numpy()
    assert sales.sales[at_weekend & away].mean() - sales.sales[~at_weekend & away].mean() > 40
    assert sales.sales[at_weekend & ~away].mean() - sales.sales[~at_weekend & ~away].mean() < -20


def test_fifteen_tables_are_ranked_and_twelve_are_timed():
    assert len(RANKED) == 15
    assert len(TIMED) == len(set(TIMED)) == 12
    assert {*RANKED, *TIMED} <= set(TABLES)
    assert {table.metric for table in TABLES.values()} <= set(METRICS)


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "sms_spam", "california", "a9a"])
def test_tables_of_the_data_home_have_their_target(name):
    made = TABLES[name].make()
    assert made.column_names[-1] == TABLES[name].target
    assert made.num_rows > 5_000


def test_whole_numbers_are_integers_and_fractions_are_not():
    table = pa.chunked_array([[1.0, None, 3.0]]), pa.chunked_array([[1.0, 2.5]]), pa.chunked_array([["a"]])
    assert [integers_where_whole(column).type for column in table] == [pa.int32(), pa.float64(), pa.string()]
    assert integers_where_whole(table[0]).to_pylist() == [1, None, 3]


@pytest.mark.parametrize(("suffix", "read"), [(".csv", pa.csv.read_csv), (".parquet", pa.parquet.read_table)])
def test_rows_are_written_as_the_name_says(suffix, read, tmp_path):
    rows = pa.table({"number": [1.5, None], "word": ["a, b", 'c "d"']})
    assert read(write(rows, tmp_path / f"rows{suffix}"))["word"].to_pylist() == ["a, b", 'c "d"']


def test_unknown_tables_are_named():
    assert chosen(None, ("wine",)) == ["wine"]
    with pytest.raises(ValueError, match="--tables must be among thirty, .*; got whine"):
        chosen(["wine", "whine"], ())
