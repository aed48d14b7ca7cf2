"""From a table with numbers and categories to a matrix of numbers: fill, scale, one column for each category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from eigenwood.estimators.naming import input_names
from eigenwood.estimators.state import FEATURE_STATE
from eigenwood.estimators.watching import Deadline
from eigenwood.proofs.claim import ROUNDING, Claim, at_most
from eigenwood.validation.arrays import check_rows, frame_of
from eigenwood.validation.frames import FrameColumns, check_columns, check_encoder_state
from eigenwood.validation.params import Flag, Number, check_params
from eigenwood.validation.state import Array, TextLists

MISSING = "(missing)"
LARGEST_PLAIN = 1e140  # squares of numbers up to this, and down to its inverse, can be added


class TableEncoder(TransformerMixin, BaseEstimator):
    """Make numbers of a table: missing numbers become the median, numbers are scaled, categories become 0/1 columns.

    Takes pandas, polars and pyarrow frames, whose strings are categories, and plain arrays of numbers. Scikit-learn
    does the same with a ColumnTransformer of SimpleImputer, StandardScaler and OneHotEncoder; this one is a single
    estimator whose state fits in a model file.

    Parameters
    ----------
    scale : bool, default=True
        Whether numbers get mean 0 and variance 1.
    max_categories : int, default=100
        The most frequent categories of a column that get a column of their own; all others are zeros.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from eigenwood import TableEncoder
    >>> table = pa.table({"age": [20.0, None, 60.0], "sex": ["f", "m", "m"]})
    >>> encoder = TableEncoder(scale=False).fit(table)
    >>> encoder.transform(table)
    array([[20.,  1.,  0.],
           [40.,  0.,  1.],
           [60.,  0.,  1.]])
    >>> encoder.get_feature_names_out()
    array(['age', 'sex=f', 'sex=m'], dtype=object)
    """

    PARAMS = {"scale": Flag(), "max_categories": Number(at_least=1, integer=True)}
    FITTED = {
        **FEATURE_STATE,
        "is_number_": Array("b", ("n_features",)),
        "fill_": Array("f", ("n_numbers",)),
        "mean_": Array("f", ("n_numbers",)),
        "scale_": Array("f", ("n_numbers",)),
        "categories_": TextLists("n_categorical"),
    }

    def __init__(self, *, scale=True, max_categories=100):
        self.scale = scale
        self.max_categories = max_categories

    def fit(self, X, y=None):
        """Learn medians, means, scales and categories."""
        check_params(self)
        columns = self._columns(X, reset=True)

        numbers = columns.numbers
        imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(numbers) if numbers.shape[1] else None
        filled = numbers if imputer is None else imputer.transform(numbers)
        unit = units_of(filled)
        plain = filled if (unit == 1.0).all() else filled / unit
        scaler = StandardScaler().fit(plain) if self.scale and numbers.shape[1] else None
        categories = [frequent_categories(column, self.max_categories) for column in columns.texts.T]

        n_numbers = numbers.shape[1]
        self.is_number_ = columns.is_number
        self.fill_ = np.zeros(0) if imputer is None else imputer.statistics_.astype(np.float64)
        self.mean_ = np.zeros(n_numbers) if scaler is None else scaler.mean_ * unit
        self.scale_ = np.ones(n_numbers) if scaler is None else scaler.scale_ * unit
        self.categories_ = categories
        return self

    def check_fitted(self) -> None:
        """Raise unless the fitted attributes fit together: what a model file says is not taken on trust."""
        check_encoder_state(type(self).__name__, self.is_number_, self.fill_, self.scale_, self.categories_)

    def transform(self, X):
        """Return the matrix of numbers: first the numbers, then the columns of the categories."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        filled = np.where(np.isnan(columns.numbers), self.fill_, columns.numbers)
        numbers = (filled - self.mean_) / self.scale_
        if not self.categories_:
            return numbers.astype(columns.numbers.dtype)
        return np.hstack([numbers, self._one_hot(columns.texts)])

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns: 'age' for numbers, 'sex=male' for categories."""
        check_is_fitted(self)
        names = input_names(self, input_features)
        numbers = [_quoted(name) for name in names[self.is_number_]]
        texts = zip(names[~self.is_number_], self.categories_, strict=True)
        words = [f"{_quoted(name)}={_quoted(category)}" for name, categories in texts for category in categories]
        return np.array([*numbers, *words], dtype=object)

    def _columns(self, X: Any, reset: bool) -> FrameColumns:
        """Return the numbers and the texts of X."""
        known_texts = not reset and not self.is_number_.all()
        if known_texts or frame_of("TableEncoder", X) is not None:
            return check_columns(self, X, None if reset else self.is_number_, reset=reset, missing_text=MISSING)
        rows = check_rows(self, X, reset=reset, missing=True)
        return FrameColumns(rows, np.empty((rows.shape[0], 0), dtype=object), np.ones(rows.shape[1], dtype=bool))

    def _one_hot(self, texts: np.ndarray) -> np.ndarray:
        """Return the 0/1 columns; a category that was not seen in fit is all zeros."""
        categories = [np.array(names, dtype=object) for names in self.categories_]
        encoder = OneHotEncoder(categories=categories, handle_unknown="ignore", sparse_output=False)
        return encoder.fit(texts[:1]).transform(texts)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def units_of(numbers: np.ndarray) -> np.ndarray:
    """Return what each column is divided by, so that its squares are finite and not 0: a power of two, mostly 1.

    >>> units_of(np.array([[3.0, 0.0, 2.0**600], [-5.0, 0.0, 1.0]])) == [1.0, 1.0, 2.0**600]
    array([ True,  True,  True])
    """
    largest = np.abs(numbers).max(axis=0).astype(np.float64)
    is_far = (largest > LARGEST_PLAIN) | ((largest > 0.0) & (largest < 1.0 / LARGEST_PLAIN))
    return np.where(is_far, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def frequent_categories(values: np.ndarray, most: int) -> list[str]:
    """Return the ``most`` frequent values, in alphabetical order.

    >>> frequent_categories(np.array(["b", "a", "c", "b", "a"], dtype=object), 2)
    ['a', 'b']
    """
    counts = Counter(values)
    return sorted(sorted(counts, key=lambda name: (-counts[name], name))[:most])


def _quoted(name: str) -> str:
    """Return a name in quotes if it holds the sign between columns and categories."""
    return repr(name) if "=" in str(name) else str(name)


def verify_encoder(model: TableEncoder, X: Any, deadline: Deadline) -> Iterator[Claim]:
    """Yield what the encoded rows must show: medians in the middle, means of 0 and variances of 1."""
    columns = model._columns(X, reset=False)
    numbers = columns.numbers.astype(np.float64)
    if numbers.shape[1] > 0:
        deadline.check()
        off = off_medians(model, numbers)
        yield at_most("medians", "share of a column's values that is too much on one side", off, 0.0)
        deadline.check()
        yield from scaling_claims(model, np.where(np.isnan(numbers), model.fill_, numbers))
    deadline.check()
    yield categories_claim(model, columns.texts)


def scaling_claims(model: TableEncoder, filled: np.ndarray) -> Iterator[Claim]:
    """Yield the claims about scaled columns without missing values."""
    if model.scale:
        encoded = (filled - model.mean_) / model.scale_
        rounding = ROUNDING * float((1.0 + np.abs(model.mean_) / model.scale_).max())
        varies = filled.max(axis=0) > filled.min(axis=0)
        spread = np.abs(encoded.var(axis=0) - 1.0)[varies].max(initial=0.0)
        yield at_most("means", "largest mean of an encoded column", np.abs(encoded.mean(axis=0)).max(), rounding)
        yield at_most("variances", "largest |variance - 1| of an encoded column that varies", spread, rounding)


def off_medians(model: TableEncoder, numbers: np.ndarray) -> float:
    """Return by how much more than half of a column's values lie on one side of what fills its holes."""
    known = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
    sides = np.maximum((numbers < model.fill_).sum(axis=0), (numbers > model.fill_).sum(axis=0))
    return max(float((sides / known).max()) - 0.5, 0.0)


def categories_claim(model: TableEncoder, texts: np.ndarray) -> Claim:
    """Return that no category without a column of its own is more frequent than one that has it."""
    n_more = 0
    for column, names in zip(texts.T, model.categories_, strict=True):
        counts = Counter(column)
        least = min(counts[name] for name in names)
        n_more += sum(count > least or least == 0 for name, count in counts.items() if name not in names)
    return at_most("categories", "categories left out that are more frequent than one that was kept", n_more, 0)
