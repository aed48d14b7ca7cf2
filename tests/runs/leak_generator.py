"""Random tables, clean or with one leak planted, of 30 to 5,000 rows and 3 to 200 columns.

A clean table has honest columns of every strength, redundant ones, ids, dates, texts, values that are missing more
often for some targets, and sometimes so few values that rows are equal by nature. ``planted`` adds one leak to it.

    draw(seed) ──► Draft(columns, y, score, split) ──► plant(draft) ──► Case(table, task, split, leak, kinds)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from eigenwood.data.tables import Table, read_table, target_task
from eigenwood.estimators.registry import CLASSIFICATION
from eigenwood.runs.leaks.findings import COPY, DUPLICATES, FILLED, GROUPS, NEARLY_ALONE, ORDER
from eigenwood.runs.settings import Split

TARGET = "outcome"
MOST_VALUES = 100_000  # in a table: the longest have 20 columns, those of up to 500 rows any number
LEAK = "suspect"  # the column that is planted


class Case(NamedTuple):
    """A table to be watched, and what was planted in it: nothing, or one leak of one of some kinds."""

    table: Table
    task: str
    split: Split
    leak: str = ""  # the name of the function that planted it
    kinds: tuple[str, ...] = ()

    def is_found(self, findings, serious=False):
        """Whether a finding is of the right kind and names the column."""
        return any(
            finding.kind in self.kinds
            and (not serious or finding.serious)
            and (finding.kind == DUPLICATES or any(name.startswith(LEAK) for name in finding.columns))
            for finding in findings
        )


@dataclass
class Draft:
    """A table in the making."""

    rng: np.random.Generator
    score: np.ndarray  # what the target was made from
    y: np.ndarray
    columns: dict = field(default_factory=dict)
    split: Split | None = None

    @property
    def n(self) -> int:
        return self.y.size

    @property
    def are_labels(self) -> bool:
        return self.y.dtype.kind in "OU"

    def classes(self):
        return np.unique(self.y, return_inverse=True)

    def between(self, low, high):
        return self.rng.uniform(low, high)

    def whole(self, low, high):
        """Return a whole number, of all sizes alike."""
        return round(np.exp(self.between(np.log(low), np.log(high))))

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, options):
        return options[self.rng.integers(len(options))]


# --- clean tables ------------------------------------------------------------------------------------


def draw(seed) -> Draft:
    """Return a clean table in the making."""
    rng = np.random.default_rng(seed)
    n = round(np.exp(rng.uniform(np.log(30), np.log(5000))))
    factors = rng.normal(size=(n, 4))
    score = factors @ rng.normal(size=4) * rng.uniform(0, 1) + rng.normal(size=n) * rng.uniform(0.2, 1.5)
    score = (score - score.mean()) / score.std()
    draft = Draft(rng, score, labels_from(rng, score) if rng.random() < 0.6 else amounts_from(rng, score))
    n_columns = draft.whole(3, min(200, MOST_VALUES // n))
    makers = (few_values,) if draft.chance(0.08) else MAKERS
    for j in range(min(n_columns, 5) if len(makers) == 1 else n_columns):
        values = draft.pick(makers)(draft, factors[:, rng.integers(4)])
        draft.columns[f"x{j}"] = with_gaps(draft, values)
    stratify = draft.y if draft.are_labels else None
    train, test = train_test_split(np.arange(n), test_size=0.25, random_state=seed % 2**31, stratify=stratify)
    draft.split = Split(np.sort(train), np.sort(test))
    return draft


def labels_from(rng, score):
    """Return 2 to 7 labels, some of them rare, in the order of the score or not."""
    n, k = score.size, rng.integers(2, 8)
    while True:
        sizes = rng.dirichlet(np.full(k, rng.choice([0.7, 2.0, 20.0]))) * n
        if sizes.min() >= max(5, 0.005 * n):
            break
        k = max(2, k - rng.integers(2))
    ranks = np.argsort(np.argsort(score))
    codes = np.searchsorted(np.cumsum(sizes)[:-1], ranks)
    names = np.array(["no", "yes"] if k == 2 else [f"class {c}" for c in rng.permutation(k)], dtype=object)
    return names[codes]


def amounts_from(rng, score):
    shape = rng.integers(4)
    if shape == 0:
        return np.exp(score * rng.uniform(0.3, 1.5)) * 100
    if shape == 1:
        return np.round(score * 100 + 500)
    if shape == 2:
        return np.round(np.maximum(score, -0.5) * 10, 1)  # many rows with the lowest amount
    return score * rng.uniform(0.1, 1e4)


def number(draft, factor):
    """Return a number that says nothing, something through a factor, or something of the score itself."""
    signal = draft.pick([np.zeros(draft.n), factor, draft.score])
    strength = draft.between(0, 0.8)
    x = strength * signal + np.sqrt(1 - strength**2) * draft.rng.normal(size=draft.n)
    shape = draft.rng.integers(5)
    if shape == 0:
        return np.exp(x)
    if shape == 1:
        return np.round(x * draft.whole(1, 50))
    if shape == 2:
        return np.where(x > draft.between(-1, 1), x, 0.0)  # mostly zero, or seldom
    return x * draft.between(0.01, 1e4)


def strong(draft, factor):
    """Return a number that says much, as an honest one may."""
    r = draft.between(0.8, 0.95)
    return r * draft.score + np.sqrt(1 - r**2) * draft.rng.normal(size=draft.n)


def flag(draft, factor):
    return (number(draft, factor) > draft.between(0, 2)).astype(float)


def category(draft, factor):
    """Return a category of 2 to 40 levels, cut from a number that says something or nothing."""
    x = draft.between(0, 0.85) * draft.pick([factor, draft.score, 0 * factor]) + draft.rng.normal(size=draft.n) * 0.6
    k = draft.whole(2, 40)
    codes = np.searchsorted(np.sort(draft.rng.normal(size=k - 1)), x)
    return np.array([f"level {c}" for c in draft.rng.permutation(k)], dtype=object)[codes]


def few_values(draft, factor):
    return np.array(list("abcd"), dtype=object)[
        np.searchsorted([-1.0, 0.5, 1.5], factor + draft.rng.normal(size=draft.n))
    ]


def redundant(draft, factor):
    """Return another column in other words."""
    numbers = [values for values in draft.columns.values() if values.dtype == float]
    return numbers[-1] * 2 + 1 if numbers else number(draft, factor)


def row_number(draft, factor):
    return draft.rng.permutation(draft.n) + draft.rng.integers(1, 10_000)


def id_code(draft, factor):
    letters = np.array(list("ABCDEFGH"), dtype=object)[draft.rng.integers(8, size=draft.n)]
    return np.array([f"{a}-{i:05d}" for a, i in zip(letters, row_number(draft, factor), strict=True)], dtype=object)


def person(draft, factor):
    """Return groups of a few rows that have nothing to do with the target."""
    codes = draft.rng.integers(max(2, draft.n // draft.whole(2, 10)), size=draft.n)
    return np.array([f"P{c}" for c in codes], dtype=object) if draft.chance(0.5) else codes * 7.0


def date(draft, factor):
    return (
        15_000 + np.sort(draft.rng.uniform(0, 900, size=draft.n))
        if draft.chance(0.5)
        else 15_000 + np.floor(factor * 99)
    )


def text(draft, factor):
    words = np.array(
        [f"{word} " for word in "cold hot small large very old new red blue soft hard".split()], dtype=object
    )
    return words[draft.rng.integers(words.size, size=(draft.n, 8))].sum(axis=1)


MAKERS = (
    *[number] * 10,
    strong,
    *[flag] * 3,
    *[category] * 5,
    few_values,
    redundant,
    row_number,
    id_code,
    person,
    date,
    text,
)


def with_gaps(draft, values):
    """Return the values with some missing, at random or more often where the target is high."""
    if draft.chance(0.7) or values.dtype.kind == "i":
        return values
    rate = draft.between(0, 0.5)
    if draft.chance(0.3):
        rate = rate * 1.8 / (1 + np.exp(-draft.between(-1, 1) * draft.score))
    return without(values, draft.rng.random(draft.n) < rate)


def without(values, gone):
    values = values.astype(object) if values.dtype == object else values.astype(float)
    values[gone] = None if values.dtype == object else np.nan
    return values


# --- leaks -------------------------------------------------------------------------------------------


def exchanged(draft, values, most=0.05):
    """Return the values, a half of the time with up to 5 % of the rows exchanged among each other and 20 % missing."""
    values = values.copy()
    if draft.chance(0.5):
        rows = np.flatnonzero(draft.rng.random(draft.n) < draft.between(0.01, most))
        values[rows] = values[draft.rng.permutation(rows)]
    return without(values, draft.rng.random(draft.n) < draft.between(0, 0.2)) if draft.chance(0.3) else values


def recoded(draft):
    """The labels under other names or numbers."""
    names, codes = draft.classes()
    other = draft.rng.permutation(names.size) * 3.0 + 1
    if draft.chance(0.5):
        other = np.array([f"{c:.0f}/b" for c in other], dtype=object)
    return {LEAK: exchanged(draft, other[codes])}, (COPY,)


def one_hot(draft):
    """A column for each label, or for one of them."""
    names, codes = draft.classes()
    chosen = range(names.size) if draft.chance(0.5) else [draft.rng.integers(names.size)]
    return {f"{LEAK}_{c}": exchanged(draft, (codes == c).astype(float)) for c in chosen}, (COPY,)


def noisy_labels(draft):
    """A number around a place for each label."""
    _, codes = draft.classes()
    return {LEAK: exchanged(draft, codes + draft.rng.normal(size=draft.n) * draft.between(0.02, 0.15), 0.02)}, (
        NEARLY_ALONE,
    )


def other_scale(draft):
    """The amounts scaled, shifted, negated, or bent."""
    y = draft.y - draft.y.min() + 1
    bent = draft.pick([draft.y * 0.5, -3 * draft.y + 7, np.log(y), np.sqrt(y), y**2, 1 / y])
    return {LEAK: exchanged(draft, bent)}, (COPY,)


def noisy_amounts(draft):
    """The amounts with 1 to 5 % of their spread as noise, or rounded to 20 to 100 values."""
    if draft.chance(0.5):
        step = (np.quantile(draft.y, 0.95) - np.quantile(draft.y, 0.05)) / draft.whole(20, 100)
        return {LEAK: exchanged(draft, np.round(draft.y / step) * step)}, (COPY,)
    noise = draft.rng.normal(size=draft.n) * draft.score.std() * draft.between(0.01, 0.05)
    return {LEAK: exchanged(draft, draft.score + noise)}, (COPY,)


def ranges(draft):
    """The amounts cut into 2 to 10 ranges, as words."""
    k = draft.whole(2, min(10, draft.n // 10))
    codes = np.searchsorted(np.quantile(draft.y, np.arange(1, k) / k), draft.y)
    return {LEAK: exchanged(draft, np.array([f"band {c}" for c in draft.rng.permutation(k)], dtype=object)[codes])}, (
        COPY,
    )


def filled_after(draft):
    """A column that is filled, or missing, only for one label or above an amount."""
    inside = one_side(draft)
    marked = np.where(inside, draft.rng.random(draft.n) < draft.between(0.6, 1), draft.rng.random(draft.n) < 0.005)
    values = draft.pick([number, category, date])(draft, draft.rng.normal(size=draft.n))
    gone = marked if draft.chance(0.3) else ~marked
    return {LEAK: without(values, gone)}, (FILLED,)


def one_side(draft):
    if draft.are_labels:
        names, codes = draft.classes()
        return codes == draft.rng.integers(names.size)
    return draft.y > np.quantile(draft.y, draft.between(0.2, 0.9))


def ordered_id(draft):
    """An id that follows the target but for a few rows: row numbers, numbers with gaps, or a prefix for each label."""
    _, codes = draft.classes()
    order = np.lexsort((draft.rng.random(draft.n), codes))
    place = np.empty(draft.n, dtype=int)
    place[order] = np.arange(draft.n)
    rows = np.flatnonzero(draft.rng.random(draft.n) < draft.between(0, 0.05))
    place[rows] = place[draft.rng.permutation(rows)]
    shape = draft.rng.integers(3)
    if shape == 0:
        return {LEAK: place + 1}, (ORDER,)
    if shape == 1:
        gaps = np.cumsum(draft.rng.integers(1, 9, size=draft.n))
        return {f"{LEAK}_id": gaps[place]}, (ORDER,)
    prefixes = np.array([f"{'ABCDEFGH'[c % 8]}-" for c in codes], dtype=object)
    letters = prefixes if draft.are_labels else np.full(draft.n, "N-", dtype=object)
    numbers = draft.rng.permutation(draft.n) if draft.are_labels else place
    return {LEAK: np.array([f"{a}{i:06d}" for a, i in zip(letters, numbers, strict=True)], dtype=object)}, (ORDER,)


def persons(draft):
    """Persons with a few rows each, whose label is the same, or whose amounts are near each other."""
    size = min(draft.whole(3, 10), draft.n // 10)
    if draft.are_labels:
        codes = draft.classes()[1]
        place = np.concatenate([np.arange(count) for count in np.bincount(codes)])
        order = np.argsort(codes, kind="stable")
        number_of = np.empty(draft.n, dtype=int)
        number_of[order] = codes[order] * draft.n + place // size
    else:
        near = draft.score + draft.between(0.02, 0.15) * draft.rng.normal(size=draft.n)
        number_of = np.argsort(np.argsort(near)) // size
    _, number_of = np.unique(number_of, return_inverse=True)
    names = draft.rng.permutation(number_of.max() + 1) * 13.0 + 7
    if draft.chance(0.6):
        names = np.array([f"patient {c:.0f}" for c in names], dtype=object)
    return {LEAK: exchanged(draft, names[number_of], 0.03)}, (GROUPS,)


def copied_rows(draft):
    """Test rows that are rows of training once more, some of them with another target."""
    many = max(4, round(draft.between(0.03, 0.3) * draft.split.test.size))
    test = draft.rng.permutation(draft.split.test)[:many]
    train = draft.rng.permutation(draft.split.train)[: test.size]
    for values in draft.columns.values():
        if values.dtype.kind != "i":  # row numbers stay
            values[test] = values[train]
    draft.columns["measured"] = draft.rng.normal(size=draft.n)  # without a measurement rows may be equal by nature
    draft.columns["measured"][test] = draft.columns["measured"][train]
    keeps = draft.rng.random(test.size) < 0.9
    draft.y[test[keeps]] = draft.y[train[keeps]]
    return {}, (DUPLICATES,)


OF_LABELS = (recoded, one_hot, noisy_labels, filled_after, ordered_id, persons, copied_rows)
OF_AMOUNTS = (other_scale, noisy_amounts, ranges, filled_after, ordered_id, persons, copied_rows)


# --- cases -------------------------------------------------------------------------------------------


def clean(seed) -> Case:
    """Return a table without a leak."""
    return case_of(draw(seed))


def planted(seed) -> Case:
    """Return a table with one leak."""
    draft = draw(seed)
    plant = draft.pick(OF_LABELS if draft.are_labels else OF_AMOUNTS)
    columns, kinds = plant(draft)
    draft.columns |= columns
    return case_of(draft, plant.__name__, kinds)


def case_of(draft, leak="", kinds=()):
    names = draft.rng.permutation(list(draft.columns))
    shuffled = {name: draft.columns[name] for name in names}
    table = read_table(
        {**{k: v.tolist() if v.dtype == object else v for k, v in shuffled.items()}, TARGET: draft.y.tolist()}
    )
    task = target_task(table, TARGET)
    assert (task == CLASSIFICATION) == draft.are_labels
    return Case(table, task, draft.split, leak, kinds)
