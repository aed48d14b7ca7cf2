"""From a table with numbers, categories, dates and texts to one with numbers and categories alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenwood.core.calendar import date_parts, has_times, on_a_circle
from eigenwood.core.pairs import Pairs, correlated_pairs, sums_and_differences
from eigenwood.data.cleaning import AS_IN_TRAINING, Asked, AskedColumns, clean_columns, columns_as_asked
from eigenwood.data.kinds import (
    CATEGORY,
    CONSTANT,
    DATE,
    ID,
    KINDS,
    MISSING_IN_FRAMES,
    NUMBER,
    TEXT,
    is_stringlike,
    to_text,
)
from eigenwood.data.naming import unknown_column
from eigenwood.data.readings import READINGS, plainly_read
from eigenwood.data.tables import check_types, to_arrow
from eigenwood.estimators.naming import input_names
from eigenwood.estimators.state import FEATURE_STATE
from eigenwood.estimators.text.choosing import TextTerms, chosen_terms, term_claims, term_columns
from eigenwood.estimators.watching import Deadline
from eigenwood.importing import imported
from eigenwood.proofs.claim import ROUNDING, Claim, at_most
from eigenwood.validation.arrays import check_finite, check_rows, frame_of, one_sentence
from eigenwood.validation.columns import (
    check_column_state,
    check_has_rows,
    check_is_frame,
    check_names_no_column,
    check_pairs,
    check_some_column,
)
from eigenwood.validation.params import (
    AnyOf,
    Choice,
    ColumnWords,
    Flag,
    Nothing,
    Number,
    check_params,
    check_values,
)
from eigenwood.validation.state import Array, TextLists, Words

ALL_KINDS = (*KINDS, ID, CONSTANT)
PLAIN_PARTS = ("year", "month", "weekday", "day", "hour", "days")
OUTPUT = AnyOf(Nothing(), Choice(("default", "pandas", "polars")))
LEAST_CORRELATION, MOST_PAIRS = 0.7, 10  # of numbers that become a pair
MOST_PAIRED = 100  # columns of numbers; of more, nobody looks for pairs
CYCLES = {"month": 12.0, "weekday": 7.0, "hour": 24.0}


class TableColumns(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Make numbers and categories of the columns of a table: of dates their parts, of texts the weights of their terms.

    Takes pandas, polars and pyarrow frames and gives pyarrow tables; numbers and categories stay as they are, columns
    that are IDs or always the same are left out. Plain arrays are numbers already and stay arrays. Scikit-learn has a
    TfidfVectorizer for texts, and nothing for dates.

    Parameters
    ----------
    kinds : dict or None, default=None
        What columns are: 'number', 'category', 'date' or 'text'; 'id' and 'constant' say that a column is used as the
        number or category it looks like. Columns that are not named are looked at.
    readings : dict or None, default=None
        How dates and numbers of columns are written, where several ways are possible: ``Table.readings()``.
    cyclic : bool, default=False
        Whether months, weekdays and hours become a sine and a cosine, so that December stands beside January: for
        methods that take encoded numbers.
    max_terms : int, default=1000
        The most terms of a text that get a column of their own: those that go most with the target.
    pairs : bool, default=False
        Whether the standardized sum and difference of strongly correlated numbers, their two principal components,
        become columns beside them: for trees, which ask about one column at a time.

    Attributes
    ----------
    kinds_ : array of str of shape (n_features,)
    readings_ : array of str of shape (n_features,), how strings became numbers or dates; '' where nothing was needed
    first_dates_ : array of shape (n_dates,), days since 1970-01-01
    has_times_ : array of bool of shape (n_dates,), whether the times of day vary
    terms_ : list of lists of terms, one for each text
    term_weights_ : array of shape (n_terms,), ln((1 + documents) / (1 + documents with the term)) + 1
    pairs_ : array of int of shape (n_pairs, 2), the columns of each pair; with ``pairs`` alone, as the next two
    pair_means_, pair_scales_ : arrays of shape (n_pairs, 2), by which they are standardized
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import pyarrow as pa
    >>> from eigenwood import TableColumns
    >>> table = pa.table({"when": ["31.12.2024", "6.1.2025"], "size": ["1,5", "2,5"]})
    >>> columns = TableColumns().fit(table)
    >>> columns.transform(table).to_pylist()[1]
    {'when: year': 2025.0, 'when: month': 1.0, 'when: weekday': 0.0, 'when: day': 6.0, 'when: days': 6.0, 'size': 2.5}
    """

    PARAMS = {
        "kinds": AnyOf(Nothing(), ColumnWords(ALL_KINDS)),
        "readings": AnyOf(Nothing(), ColumnWords(tuple(READINGS))),
        "cyclic": Flag(),
        "max_terms": Number(at_least=1, integer=True),
        "pairs": Flag(),
    }
    FITTED = {
        **FEATURE_STATE,
        "kinds_": Words("n_features", ALL_KINDS),
        "readings_": Words("n_features", ("", *READINGS)),
        "first_dates_": Array("f", ("n_dates",)),
        "has_times_": Array("b", ("n_dates",)),
        "terms_": TextLists("n_texts"),
        "term_weights_": Array("f", ("n_terms",)),
        "pairs_": Array("i", ("n_pairs", 2), below="n_features"),
        "pair_means_": Array("f", ("n_pairs", 2)),
        "pair_scales_": Array("f", ("n_pairs", 2)),
    }
    OPTIONAL = frozenset({"pairs_", "pair_means_", "pair_scales_"})
    LATER_PARAMS = frozenset({"pairs"})  # that model files of earlier versions do not have

    def __init__(self, *, kinds=None, readings=None, cyclic=False, max_terms=1000, pairs=False):
        self.kinds = kinds
        self.readings = readings
        self.cyclic = cyclic
        self.max_terms = max_terms
        self.pairs = pairs

    def fit(self, X, y=None):
        """Learn what columns are, the first dates, and the terms of texts."""
        self._fit(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Learn from the table and return its columns; texts are read once."""
        learnt = self._fit(X, y)
        if learnt is None:
            return self._given(self._with_pairs(check_rows(self, X, reset=False, missing=True)))
        return self._given(self._columns(learnt.table, [found.rows for found in learnt.texts]))

    def transform(self, X):
        """Return numbers and categories as they are, parts of dates, and weights of terms, as a table."""
        check_is_fitted(self)
        if frame_of(type(self).__name__, X) is None and not self._is_table():
            return self._given(self._with_pairs(check_rows(self, X, reset=False, missing=True)))
        table = self._table(X)
        texts = zip(self._names(TEXT), self._terms(), strict=True)
        return self._given(self._columns(table, [term_columns(table[name], terms) for name, terms in texts]))

    def set_output(self, *, transform=None):
        """Choose what ``transform`` gives of frames: 'default' for pyarrow tables, 'pandas' or 'polars'."""
        check_values(type(self).__name__, {"transform": OUTPUT}, {"transform": transform})
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # the name that clone knows
        return self

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns: 'when: month' for parts of dates, 'text: word' for terms."""
        check_is_fitted(self)
        names = input_names(self, input_features)
        plain = [name for part in self._names_out(names) for name in part]
        return np.array([*plain, *self._pair_names(names, set(plain))], dtype=object)

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit together: what a model file says is not taken on trust."""
        counts = {kind: int((self.kinds_ == kind).sum()) for kind in ALL_KINDS}
        check_column_state(type(self).__name__, counts, self.first_dates_.size, self.terms_, self.term_weights_)
        given = {name: getattr(self, name, None) for name in self.OPTIONAL}
        check_pairs(type(self).__name__, self.pairs, given, self.kinds_)

    def _fit(self, X: Any, y: Any) -> Learnt | None:
        """Store what the columns are; return the clean table, or None for an array of numbers."""
        check_params(self)
        who = type(self).__name__
        if frame_of(who, X) is None:
            check_names_no_column(who, X, {**(self.kinds or {}), **(self.readings or {})})
            rows = check_rows(self, X, reset=True, missing=True)
            kinds = {f"x{j}": NUMBER for j in range(rows.shape[1])}
            self._store(learnt_columns(kinds, {}, pa.table({}), y, self.max_terms))
            self._store_pairs(rows)
            return None
        check_names(self, X, reset=True)
        raw = to_arrow(X)
        check_types(who, raw.schema)
        kinds = kinds_of(who, raw, self.kinds or {}, self.readings or {})
        check_some_column(who, sum(kind in KINDS for kind in kinds.values()), list(kinds.values()))
        table, readings = used_columns(who, raw, kinds, self.readings or {})
        learnt = learnt_columns(kinds, readings, table, y, self.max_terms)
        self._store(learnt)
        self._store_pairs(self._numbers(table) if self.pairs else np.empty((0, 0)))
        return learnt

    def _store(self, learnt: Learnt) -> None:
        self.kinds_ = np.array(list(learnt.kinds.values()), dtype=np.str_)
        self.readings_ = np.array([learnt.readings.get(name, "") for name in learnt.kinds], dtype=np.str_)
        self.first_dates_ = np.array([dates.first for dates in learnt.dates])
        self.has_times_ = np.array([dates.has_times for dates in learnt.dates], dtype=bool)
        self.terms_ = [found.terms.names for found in learnt.texts]
        self.term_weights_ = np.concatenate([np.zeros(0), *(found.terms.weights for found in learnt.texts)])

    def _store_pairs(self, numbers: np.ndarray) -> None:
        """Store which numbers are paired; ``numbers`` has a column for each NUMBER."""
        for name in self.OPTIONAL:
            self.__dict__.pop(name, None)
        if self.pairs:
            own = np.flatnonzero(self.kinds_ == NUMBER)
            known = numbers.astype(np.float64) if own.size <= MOST_PAIRED else np.empty((0, 0))
            found = correlated_pairs(known, LEAST_CORRELATION, MOST_PAIRS)
            self.pairs_ = own[found.places].reshape(-1, 2).astype(np.int64)
            self.pair_means_, self.pair_scales_ = found.means.reshape(-1, 2), found.scales.reshape(-1, 2)

    def _numbers(self, table: pa.Table) -> np.ndarray:
        """Return the columns of numbers, (n_rows, n_numbers)."""
        names = self._names(NUMBER)
        return np.column_stack([numbers_of(table[name]) for name in names]) if names else np.empty((table.num_rows, 0))

    def _paired(self, numbers: np.ndarray) -> np.ndarray:
        """Return the sums and differences of pairs."""
        places = np.searchsorted(np.flatnonzero(self.kinds_ == NUMBER), self.pairs_)
        return sums_and_differences(numbers, Pairs(places, self.pair_means_, self.pair_scales_))

    def _with_pairs(self, rows: np.ndarray) -> np.ndarray:
        """Return an array of numbers with the columns of pairs behind them."""
        return np.hstack([rows, self._paired(rows).astype(rows.dtype)]) if self.pairs and self.pairs_.size else rows

    def _pair_names(self, names: np.ndarray, taken: set[str]) -> list[str]:
        """Return the names of the columns of pairs; one that there is already is put in quotes."""
        if not self.pairs:
            return []
        made = [f"{names[a]} {sign} {names[b]}" for a, b in self.pairs_ for sign in "+-"]
        return [repr(name) if name in taken else name for name in made]

    def _given(self, columns: Any) -> Any:
        """Return columns as the kind of frame that was asked for."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if asked == "default":
            return columns
        if isinstance(columns, np.ndarray):
            columns = pa.table(list(columns.T), names=self.get_feature_names_out().tolist())
        return columns.to_pandas() if asked == "pandas" else imported("polars").from_arrow(columns)

    def _is_table(self) -> bool:
        return not (self.kinds_ == NUMBER).all()

    def _known(self) -> dict[str, str]:
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return dict(zip(names, self.kinds_.tolist(), strict=True))

    def _names(self, kind: str) -> list[str]:
        return [name for name, own in self._known().items() if own == kind]

    def _terms(self) -> list[TextTerms]:
        stops = np.cumsum([len(names) for names in self.terms_], dtype=np.int64)
        return [
            TextTerms(names, self.term_weights_[stop - len(names) : stop])
            for names, stop in zip(self.terms_, stops, strict=True)
        ]

    def _table(self, X: Any) -> pa.Table:
        """Return the columns that are used, of the kinds that they had in training."""
        who = type(self).__name__
        check_is_frame(who, X, frame_of(who, X))
        check_names(self, X, reset=False)
        raw = to_arrow(X)
        readings = {name: word for name, word in zip(self._known(), self.readings_.tolist(), strict=True) if word}
        return used_columns(who, raw, self._known(), readings, AS_IN_TRAINING).table

    def _columns(self, table: pa.Table, texts: list[np.ndarray]) -> pa.Table:
        """Return the columns of the output, made of clean ones and of the weights of terms."""
        dates = dict(zip(self._names(DATE), zip(self.first_dates_, self.has_times_, strict=True), strict=True))
        weights = dict(zip(self._names(TEXT), texts, strict=True))
        made = list[Any]()
        for name, kind in self._known().items():
            if kind == DATE:
                made += [pa.array(part, from_pandas=True) for part in parts_of(table[name], *dates[name], self.cyclic)]
            elif kind == TEXT:
                made += [pa.array(column) for column in weights[name].T]
            elif kind in KINDS:
                made.append(table[name])
        if self.pairs and self.pairs_.size:
            made += [pa.array(column, from_pandas=True) for column in self._paired(self._numbers(table)).T]
        return pa.table(made, names=self.get_feature_names_out().tolist())

    def _names_out(self, names: np.ndarray) -> list[list[str]]:
        """Return the names of the output columns for each input column."""
        times, terms = iter(self.has_times_), iter(self.terms_)
        made = {
            name: date_names(name, next(times), self.cyclic)
            if kind == DATE
            else [f"{name}: {term}" for term in next(terms)]
            for name, kind in zip(names, self.kinds_, strict=True)
            if kind in (DATE, TEXT)
        }
        taken = {name for part in made.values() for name in part}
        plain = {name: [repr(name) if name in taken else name] for name in names}
        return [made.get(name, plain[name]) for name, kind in zip(names, self.kinds_, strict=True) if kind in KINDS]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# --- what is learnt -----------------------------------------------------------------------------------


class Dates(NamedTuple):
    """What is learnt of a column of dates."""

    first: float
    has_times: bool


class FoundTerms(NamedTuple):
    """The terms of a text, and their weights in the rows that they were learnt from."""

    terms: TextTerms
    rows: np.ndarray


class Learnt(NamedTuple):
    """All that is learnt of a table, and its clean columns."""

    kinds: dict[str, str]
    readings: dict[str, str]
    dates: list[Dates]
    texts: list[FoundTerms]
    table: pa.Table


def learnt_columns(kinds: dict[str, str], readings: dict[str, str], table: pa.Table, y: Any, max_terms: int) -> Learnt:
    """Return what is learnt of the columns of a table."""
    dates = [dates_of(numbers_of(table[name])) for name, kind in kinds.items() if kind == DATE]
    texts = [FoundTerms(*chosen_terms(table[name], y, max_terms)) for name, kind in kinds.items() if kind == TEXT]
    return Learnt(kinds, readings, dates, texts, table)


def dates_of(days: np.ndarray) -> Dates:
    """Return the first of some dates, 1970-01-01 if there is none, and whether their times vary."""
    present = days[~np.isnan(days)]
    return Dates(float(present.min()) if present.size else 0.0, has_times(days))


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Record the names of a frame's columns, or raise where they are others than in fit."""
    try:
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
    except (ValueError, TypeError) as problem:
        raise one_sentence(type(estimator).__name__, problem) from problem
    check_has_rows(type(estimator).__name__, len(X))


def kinds_of(who: str, raw: pa.Table, asked: dict[str, str], readings: dict[str, str]) -> dict[str, str]:
    """Return the kind of every column: the one that was asked for, or the one that it looks like."""
    check_known_columns(who, (*asked, *readings), raw.column_names)
    wanted = {name: kind if kind in KINDS else usable_kind(raw[name]) for name, kind in asked.items()}
    if len(wanted) < raw.num_columns:
        columns = clean_columns(raw, MISSING_IN_FRAMES, who, asked=Asked(wanted, readings))
        wanted = {name: column.kind for name, column in zip(raw.column_names, columns, strict=True)}
    return {name: wanted[name] for name in raw.column_names}


def check_known_columns(who: str, names: Iterable[str], known: list[str]) -> None:
    """Raise for the first name that is none of a column."""
    own = set(known)
    for name in names:
        if name not in own:
            raise unknown_column(who, name, known)


def usable_kind(values: pa.ChunkedArray) -> str:
    """Return as what a column is used that looks like an ID or is always the same: a number, or else a category."""
    is_number = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
    return NUMBER if is_number or (is_stringlike(values.type) and plainly_read(to_text(values))) else CATEGORY


def used_columns(
    who: str, raw: pa.Table, kinds: dict[str, str], readings: dict[str, str], why: str = Asked().why
) -> AskedColumns:
    """Return the columns that are used, clean and of their kinds, and how their strings are read, now or later."""
    used = {name: kind for name, kind in kinds.items() if kind in KINDS}
    found = columns_as_asked(raw, MISSING_IN_FRAMES, who, 1, Asked(used, readings, why))
    for name, kind in used.items():
        if kind == DATE:
            check_finite(who, numbers_of(found.table[name])[:, np.newaxis], np.array([name]), missing=True)
    return found._replace(readings={**readings, **found.readings})


def numbers_of(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column of numbers as floats, NaN for missing."""
    return column.to_numpy().astype(np.float64, copy=False)


# --- dates --------------------------------------------------------------------------------------------


def parts_of(column: pa.ChunkedArray, first: float, with_hour: bool, cyclic: bool) -> list[np.ndarray]:
    """Return the columns that a column of dates becomes, in the order of ``date_names``."""
    days = numbers_of(column)
    parts = {**date_parts(days)._asdict(), "days": days - first}
    return [
        values
        for part in used_parts(with_hour)
        for values in (on_a_circle(parts[part], CYCLES[part]) if cyclic and part in CYCLES else (parts[part],))
    ]


def date_names(name: str, with_hour: bool, cyclic: bool) -> list[str]:
    """Return the names of the columns that a column of dates becomes.

    >>> date_names("when", False, False)
    ['when: year', 'when: month', 'when: weekday', 'when: day', 'when: days']
    """
    return [
        f"{name}: {words}"
        for part in used_parts(with_hour)
        for words in ((f"sine of {part}", f"cosine of {part}") if cyclic and part in CYCLES else (part,))
    ]


def used_parts(with_hour: bool) -> list[str]:
    return [part for part in PLAIN_PARTS if with_hour or part != "hour"]


# --- verifying ------------------------------------------------------------------------------------------


def verify_columns(model: TableColumns, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield what the rows must show: the kinds of columns, the first dates, and the best terms with their weights."""
    deadline.check()
    if frame_of(type(model).__name__, X) is None:
        rows = check_rows(model, X, reset=False, missing=True)
        others = int((model.kinds_ != NUMBER).sum()) + rows.shape[1] - model.kinds_.size
        yield at_most("kinds", "columns that are of another kind", others, 0)
        if others == 0:
            yield from pair_claims(model, rows)
        return
    check_names(model, X, reset=False)
    who, raw = type(model).__name__, to_arrow(X)
    kinds = kinds_of(who, raw, model.kinds or {}, model.readings or {})
    deadline.check()
    others = sum(model._known()[name] != kind for name, kind in kinds.items())
    yield at_most("kinds", "columns that are of another kind", others, 0)
    if others == 0:
        table, readings = used_columns(who, raw, kinds, model.readings or {})
        deadline.check()
        yield from reading_claims(model, readings)
        yield from date_claims(model, table)
        if model.pairs:
            yield from pair_claims(model, model._numbers(table))
        for name, terms in zip(model._names(TEXT), model._terms(), strict=True):
            deadline.check()
            yield from term_claims(name, table[name], y, terms, model.max_terms)


def reading_claims(model: TableColumns, readings: dict[str, str]) -> Iterator[Claim]:
    """Yield that the strings of columns are read as the model says."""
    others = sum(
        word != readings.get(name, "") for name, word in zip(model._known(), model.readings_.tolist(), strict=True)
    )
    yield at_most("readings", "columns whose strings are read in another way", others, 0)


def pair_claims(model: TableColumns, numbers: np.ndarray) -> Iterator[Claim]:
    """Yield that pairs are standardized by what the rows give, and that no pair of stronger correlation is missing."""
    own = np.flatnonzero(model.kinds_ == NUMBER)
    if not model.pairs or own.size > MOST_PAIRED or own.size < 2:
        return
    X = numbers.astype(np.float64)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a value, or that are always the same
        means = np.nanmean(X, axis=0)
        filled = np.where(np.isnan(X), means, X)
        sizes = np.triu(np.nan_to_num(np.abs(np.corrcoef(filled.T))), k=1)
    chosen = np.zeros(sizes.shape, dtype=bool)
    places = np.searchsorted(own, model.pairs_)
    chosen[places[:, 0], places[:, 1]] = True
    off = np.abs(means[places] - model.pair_means_) / model.pair_scales_
    off = np.maximum(off, np.abs(filled.std(axis=0)[places] / model.pair_scales_ - 1.0))
    bound = ROUNDING * float((1.0 + np.abs(model.pair_means_) / model.pair_scales_).max(initial=1.0))
    yield at_most(
        "pair scaling", "largest distance to the mean or deviation of a paired column", off.max(initial=0.0), bound
    )
    least = sizes[chosen].min(initial=1.0) if chosen.sum() == MOST_PAIRS else LEAST_CORRELATION
    n_wrong = int((sizes[chosen] < LEAST_CORRELATION - ROUNDING).sum() + (sizes[~chosen] > least + ROUNDING).sum())
    yield at_most("pairs", "pairs that are correlated too little, or left out though more than another", n_wrong, 0)


def date_claims(model: TableColumns, table: pa.Table) -> Iterator[Claim]:
    """Yield that the first dates are those of the table, and which columns have times."""
    dates = [dates_of(numbers_of(table[name])) for name in model._names(DATE)]
    off = max((abs(own.first - first) for own, first in zip(dates, model.first_dates_, strict=True)), default=0.0)
    yield at_most("first dates", "largest distance in days to the first date", off, 0.0)
    others = sum(own.has_times != flag for own, flag in zip(dates, model.has_times_, strict=True))
    yield at_most("times", "columns of dates whose times vary, or not, against what the model says", others, 0)
